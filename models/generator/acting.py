"""Conversations with a model that may act: a table of actions in the system prompt, requests, the calls that
they need, and the results. The table's words are those of runtime/features/acting/actions_prompt.c."""

import json

import generator
import talk
import words
from asking import LEARNED
from generator import Exchange

# The names that the model is trained for. Each may be an output or an input, as the table says.
PINS = """light lamp led fan pump heater valve siren motor bell buzzer radio kettle relay oven door window gate
lock button""".split()
ONLY_READ, OPENED = {"button"}, {"valve", "door", "window", "gate"}
# Things that people ask for but no table has.
ELSEWHERE = ["television", "coffee machine", "car", "washing machine", "computer", "music", "internet", "shower",
             "fridge", "dishwasher", "vacuum cleaner", "printer", "heating", "alarm", "camera", "blinds", "lift",
             "engine", "garage", "stove"]
MS_MOST = (1000, 2000, 5000, 10000)

CANNOT = ["I cannot do that. It is not among my actions.", "I cannot do that, for I have no such action."]
ONLY_SWITCHED = ["I cannot read that. I can only switch it on or off."]
ONLY_LOOKED_AT = ["I cannot switch that. I can only read it."]
LEFT_ALONE = ["All right, I leave it as it is.", "All right, then I do nothing."]
ONE = ["I can only do one thing at a time. Which one first?"]
FAILED = ["I am sorry, that did not work.", "That did not work."]

ERRORS = ["too many actions: the limit is {n} a minute", "that is no action of the table",
          "this machine does not tell its temperature", "the action needs its argument value",
          "there is no action '{name}'", "the pulse was stopped, and its line is off",
          "the line of {name} cannot be written", "value is on or off", "{name} has no line",
          "ms is a whole number from 1 to {n}", "the action has no argument 'value', or once at most"]


def call(**members):
    return json.dumps(members, separators=(",", ":"))


class Table:
    """outputs, inputs: names, in the order of `pins`; others: temperature and uptime, if the table has them."""

    def __init__(self, pins, inputs, others, ms_most=0):
        self.pins, self.inputs, self.others, self.ms_most = pins, inputs, others, ms_most
        self.outputs = [p for p in pins if p not in inputs]

    def text(self):
        rows = [p if p in self.inputs else p + ": value on|off" for p in self.pins] + self.others
        if self.ms_most:
            rows.append(f"pulse: line {'|'.join(self.outputs)}, ms 1..{self.ms_most}")
        first = dict(value="on") if ":" in rows[0] else {}
        example = call(action=rows[0].split(":")[0], **first)
        return (f"You can act. To act, reply with one line of JSON, such as {example}.\nActions:\n" +
                "\n".join(rows))


def pin_name(rng):
    """Draw a name, mostly from PINS; things and invented words teach the model to copy a name."""
    which = rng.random()
    if which < 0.76:
        return rng.choice(PINS)
    return rng.choice(words.THINGS) if which < 0.9 else words.made_up(rng)


def draw_table(rng, draw=pin_name):
    pins = []
    for _ in range(rng.choice((1, 2, 2, 3, 3, 4, 5)) if rng.random() > 0.03 else 0):
        pins.append(draw(rng))
    pins = list(dict.fromkeys(pins))
    inputs = [p for p in pins if p in ONLY_READ or rng.random() < (0.5 if p in OPENED else 0.2)]
    others = [o for o in ("temperature", "uptime") if rng.random() > 0.08] or ["uptime"]
    outputs = len(pins) - len(inputs)
    return Table(pins, inputs, others, rng.choice(MS_MOST) if outputs and rng.random() < 0.15 else 0)


def result(text, replies, *must):
    return Exchange(call(result=text), replies, "says", must=list(must))


def error(rng):
    text = rng.choice(ERRORS).format(n=rng.choice((5, 10, 20, 30, 60, 1000, 5000)), name=pin_name(rng))
    return Exchange(call(error=text), rng.choice(FAILED), "marks", marks=["not work"])


def acted(rng, prompt, asked, answer):
    """Return the exchanges: the user's request, the call, its result, and the answer."""
    then = answer if rng.random() > 0.07 else error(rng)
    pin = asked.get("line", asked["action"])
    return [Exchange(prompt, call(**asked), "action", pin=pin), then]


def state(rng, name, value, replies):
    text = f"{name} is {value}"
    return result(text, rng.choice(replies).format(n=name, N=name.capitalize(), v=value), name, " " + value)


def switch(rng, table, ways):
    name, value = rng.choice(table.outputs), rng.choice(("on", "off"))
    kind = "switch" if rng.random() < 0.7 else value
    if name in OPENED and rng.random() < 0.3:
        kind = "open" if value == "on" else "close"
    replies = ("The {n} is {v} now.", "Done: the {n} is {v}.", "All right, the {n} is {v} now.")
    return acted(rng, ways.ask(rng, kind, name, value), dict(action=name, value=value),
                 state(rng, name, value, replies))


def read(rng, table, ways):
    name = rng.choice(table.inputs)
    return acted(rng, ways.ask(rng, "read", name), dict(action=name),
                 state(rng, name, rng.choice(("on", "off")), ("The {n} is {v}.", "I looked: the {n} is {v}.")))


def temperature(rng, table, ways):
    degrees = f"{'-' if rng.random() < 0.04 else ''}{rng.randint(5, 99)}.{rng.randint(0, 9)}"
    reply = rng.choice(("It is {} degrees Celsius.", "The temperature is {} degrees Celsius.")).format(degrees)
    return acted(rng, ways.ask(rng, "temperature"), dict(action="temperature"),
                 result(f"temperature is {degrees} C", reply, degrees))


def uptime(rng, table, ways):
    seconds = str(rng.randint(2, rng.choice((60, 1000, 10000, 1000000))))
    reply = rng.choice(("I have been running for {} seconds.", "The board has been on for {} seconds."))
    return acted(rng, ways.ask(rng, "uptime"), dict(action="uptime"),
                 result(f"uptime is {seconds} s", reply.format(seconds), seconds))


def pulse(rng, table, ways):
    name, ms = rng.choice(table.outputs), rng.choice((rng.randint(1, table.ms_most), 100, 200, 250, 500))
    return acted(rng, ways.ask(rng, "pulse", name, ms=ms), dict(action="pulse", line=name, ms=ms),
                 result(f"{name} was on for {ms} ms", f"The {name} was on for {ms} milliseconds.", name, str(ms)))


def declined(prompt, rng, replies):
    """Return an exchange without a call. The marks of a right reply are in each of the replies."""
    return [Exchange(prompt, rng.choice(replies), "marks",
                     marks=[m for m in ("cannot", "All right", "one thing", "at a time") if m in " ".join(replies)])]


def stranger(rng):
    """Draw a name that need not be in the table."""
    which = rng.random()
    if which < 0.5:
        return rng.choice(PINS)
    if which < 0.92:
        return rng.choice(ELSEWHERE if which < 0.65 else words.THINGS if which < 0.85 else words.ANIMALS)
    return words.made_up(rng)


def not_there(rng, table, ways):
    """Ask for something that the table does not have."""
    which = rng.random()
    if which < 0.1 and len(table.others) == 1:
        kind = "uptime" if "temperature" in table.others else "temperature"
        return declined(ways.ask(rng, kind), rng, CANNOT)
    name = stranger(rng)
    while name in table.pins:
        name = stranger(rng)
    kind = rng.choice(("switch", "switch", "switch", "on", "off", "read", "open", "close"))
    return declined(ways.ask(rng, kind, name, rng.choice(("on", "off"))), rng, CANNOT)


def not_so(rng, table, ways):
    """Ask for something that the table has for another use."""
    which, value = rng.random(), rng.choice(("on", "off"))
    if which < 0.35 and table.inputs:
        return declined(ways.ask(rng, "switch", rng.choice(table.inputs), value), rng, ONLY_LOOKED_AT)
    if which < 0.65 and table.outputs:
        return declined(ways.ask(rng, "read", rng.choice(table.outputs)), rng, ONLY_SWITCHED)
    if which < 0.85 and table.outputs:
        return declined(ways.ask(rng, "keep", rng.choice(table.outputs), value), rng, LEFT_ALONE)
    n, m = rng.sample(list(dict.fromkeys(table.pins + ["light", "fan"])), 2)
    return declined(ways.ask(rng, "several", n, value, m=m), rng, ONE)


KINDS = {switch: 0.38, read: 0.1, temperature: 0.09, uptime: 0.06, pulse: 0.04, not_there: 0.22, not_so: 0.11}


def possible(kind, table):
    needs = {switch: table.outputs, read: table.inputs, temperature: "temperature" in table.others,
             uptime: "uptime" in table.others, pulse: table.ms_most, not_so: table.pins}
    return bool(needs.get(kind, True))


def request(rng, table, ways=LEARNED, kinds=None):
    kinds = {k: share for k, share in (kinds or KINDS).items() if possible(k, table)}
    return rng.choices(list(kinds), list(kinds.values()))[0](rng, table, ways)


def system_of(rng, table):
    before = rng.choice(generator.SYSTEMS) + "\n\n" if rng.random() < 0.25 else ""
    return before + table.text()


def other_part(rng, shares):
    """Ask for something that needs no action. A story may be about a thing in the table."""
    while True:
        out = generator.part(rng, shares)
        if not any("temperature" in e.user.lower() for e in out):
            return out


def with_table(rng, at_least):
    table, out = draw_table(rng), []
    while sum(len(e.user) + len(e.reply) + 40 for e in out) < at_least:
        ask = rng.random() < 0.85
        out += request(rng, table) if ask else other_part(rng, generator.LAST)
    return system_of(rng, table), out


def without_table(rng):
    """Ask for an action without a table."""
    kind = rng.choice(("switch", "switch", "on", "off", "open", "close", "read", "temperature", "uptime"))
    prompt = LEARNED.ask(rng, kind, pin_name(rng), rng.choice(("on", "off")))
    return [Exchange(prompt, rng.choice(talk.NOW), "marks", marks=talk.REFUSAL_MARKS)]


MIXED = {**generator.LAST, without_table: 0.05}


def conversation(rng, at_least):
    """Draw a conversation. Three of five have a table, and their replies are shorter than stories; the others are those
    of generator.py."""
    if rng.random() < 0.6:
        return with_table(rng, at_least // 2)
    return generator.conversation(rng, at_least, MIXED)


if __name__ == "__main__":
    import random
    from checks import passes

    rng = random.Random(4)
    for _ in range(4):
        system, exchanges = with_table(rng, 900)
        print(f"== {system}\n")
        for e in exchanges:
            print(f"> {e.user}\n{e.reply}\n")
            assert e.check in ("recall", "story") or passes(e, e.reply, None), (e.check, e.wanted)
