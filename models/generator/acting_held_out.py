"""The hundred requests of the examination of acting: their sentences are not in acting.py, and their tables and results are drawn with
another seed. As a program it prints those for a board as JSON: the request, and the call, or "" if no call is right."""

import json
import random

import acting
import asking
import generator

SEED = 20270
# The number of requests of each kind, in conversations of two or three.
REQUESTS = {acting.switch: 60, acting.read: 8, acting.temperature: 10, acting.uptime: 6, acting.not_there: 12,
            acting.not_so: 4}
ASIDES = 20  # prompts that have nothing to do with the table
ASKED = asking.Ways(dict(
    switch="""I'd like you to switch the {n} {v}.|Could we have the {n} {v} for a while?|Go ahead and turn the {n} {v}.
Would you be so kind as to switch {v} the {n}?|The {n} needs to be {v} now.|Any chance of the {n} going {v}?
Do me a favour and turn {v} the {n}.|I think the {n} should go {v}.|Somebody has to turn the {n} {v}.
See that the {n} is {v}.|Be so good and put the {n} {v}.|My wish: the {n} {v}.|Just turn the {n} {v}, will you?
It would be great to have the {n} {v}.|I'm going out, turn {v} the {n}.|Let me have the {n} {v}.
Okay board, {n} {v}!|Turn {v} this {n} right away.|Shall we turn the {n} {v}?|Mind switching the {n} {v}?""",
    on="""Go ahead and start the {n}.|We need the {n} running.|Do me a favour and start up the {n}.
I'm cold, let the {n} run.|It would be great if you could activate the {n}.""",
    off="""Please don't keep the {n} on.|I have no use for the {n} any more.|It's enough, stop that {n}.
Go ahead and stop the {n}.|Do me a favour and shut off the {n}.|It would be great if you could stop the {n}.""",
    open="Could you open up the {n} a bit?|The {n} should be open.",
    close="Could you shut the {n} this time?|The {n} should be closed.",
    read="""Have a look at the {n}.|Is somebody at the {n}, is it open?|I wonder whether the {n} is open.
Did I leave the {n} open?|What's up with the {n}?|Find out whether the {n} is on.|Would you check on the {n}?""",
    temperature="""Is it getting hot?|What does the thermometer say?|Find out the temperature.|How hot does it get?
Could you measure how warm you are?|What's your temperature right now?|Are you running hot?
Let me know the board's temperature.|How many degrees do we have?""",
    uptime="""How long ago did you boot?|What's your uptime?|For how many seconds have you been up?
How long has this board been awake?|Let me know how long you have been running.""",
    keep="""Please don't turn the {n} {v} yet.|You should not turn {v} the {n}.|Do not ever switch the {n} {v}.
Don't you touch the {n}.""",
    several="I want the {n} {v} and also the {m}.|Turn all the things {v}.",
    pulse="A pulse of {ms} ms on the {n}, please."))


def plain_pin(rng):
    return rng.choice(acting.PINS)


def asked_of(rng, kinds):
    """Return (system prompt, exchanges) for these kinds of request; the table has what they need."""
    while True:
        table = acting.draw_table(rng, plain_pin)
        if all(acting.possible(k, table) for k in kinds):
            return acting.system_of(rng, table), [e for k in kinds for e in k(rng, table, ASKED)]


BOARD = acting.Table(["light", "fan", "radio", "door", "window"], ["door", "window"], ["temperature", "uptime"])


def on_a_board():
    """Return a hundred requests of the same kinds and sentences, one by one, for a board whose table does not
    change."""
    rng = random.Random(SEED + 2)
    kinds = [k for k, n in REQUESTS.items() for _ in range(n)]
    rng.shuffle(kinds)
    return [k(rng, BOARD, ASKED)[0] for k in kinds]


def conversations():
    """[(system, exchanges)] with the hundred requests, and what the user says of the results."""
    rng = random.Random(SEED)
    kinds, out = [k for k, n in REQUESTS.items() for _ in range(n)], []
    rng.shuffle(kinds)
    while kinds:
        n = rng.choice((1, 2, 3))
        out.append(asked_of(rng, kinds[:n]))
        kinds = kinds[n:]
    return out


def asides():
    """Return [(system, exchanges)]: stories, sums and the rest, each alone after a table. They may have occurred in
    training."""
    rng, out = random.Random(SEED + 1), []
    while len(out) < ASIDES:
        table = acting.draw_table(rng, plain_pin)
        out.append((acting.system_of(rng, table), acting.other_part(rng, generator.EXAM)[:1]))
    return out


def is_request(exchange):
    return not exchange.user.startswith("{")


def prompts():
    """What learning passes over."""
    return {e.user for _, exchanges in conversations() for e in exchanges if is_request(e)}


if __name__ == "__main__":
    print(json.dumps([[e.user, e.reply if e.check == "action" else ""] for e in on_a_board()]))
