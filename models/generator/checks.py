"""Checks if a reply is right; the generator knows the answers to its questions."""

import json
import re

import stories
import things
import words

GAPS = {"{a}": r"an? (?P<k>\w+)", "{adja}": r"an? \w+", "{k}": r"(?P<k>\w+)", "{n}": r"(?P<n>\w+)",
        "{inp}": r"(?P<inp>\w+ [\w ]+?)", "{Inp}": r"(?P<inp>\w+ [\w ]+?)",
        "{gender}": r"a (?:girl|boy)"}
FRIEND = [r"{fn} the (\w+)", r"{fn}, an? (?:(?:wise old|little|young) )?(\w+)",
          r"an? (\w+) (?:called|named) {fn}", r"{fn}.* said the (\w+)",
          r"[Tt]he (\w+) was called {fn}"]


def opening(pattern):
    """Return the regular expression for an opening sentence."""
    out = re.escape(pattern).replace(r"\{", "{").replace(r"\}", "}").replace(r"\ ", " ")
    for gap, regex in GAPS.items():
        out = out.replace(gap, regex, 1)
    return re.compile(out)


OPENINGS = [opening(o) for o in stories.OPENING + things.OPENING]


def recall(story):
    """Return what a story says about its cast, for the gaps of a question about it; None if it is no story."""
    found = next((m for m in (o.match(story or "") for o in OPENINGS) if m), None)
    if found is None:
        return None
    facts = found.groupdict()
    facts["inp"] = facts.get("inp", "").lower() or None
    others = [w for w in re.findall(r"\w+", story) if w in words.SHE + words.HE and w != facts["n"]]
    facts["fn"] = others[0] if others else "?"
    matches = (re.search(p.replace("{fn}", re.escape(facts["fn"])), story) for p in FRIEND)
    facts["f"] = next((m.group(1) for m in matches if m), None)
    return facts


def repeats(reply):
    """True if a sentence occurs twice."""
    said = [s.strip(" \"") for s in re.split(r"[.!?]", reply)]
    said = [s for s in said if s]
    return len(set(said)) != len(said)


def contains(reply, words_wanted):
    """True if one of the words, which bars separate, occurs."""
    return any(w.lower() in reply.lower() for w in words_wanted.split("|"))


def called(reply):
    """Return the pin, or else the action, that a reply calls; "?" for a malformed call, None for prose."""
    if not reply.lstrip().startswith("{"):
        return None
    try:
        said = json.loads(reply)
        return said.get("line", said["action"])
    except (ValueError, KeyError, AttributeError):
        return "?"


def is_wrong_pin(exchange, reply):
    """True if the reply calls something other than the request."""
    return called(reply) not in (None, exchange.wanted.get("pin"))


def passes(exchange, reply, before):
    """True if the reply is right. exchange: the question; before: recall() of the story that it is about, if any."""
    check, wanted = exchange.check, exchange.wanted
    if check == "sum":
        said = re.findall(r"\d+", reply)
        return bool(said) and int(said[-1]) == wanted["total"]
    if check == "action":
        return reply.strip() == exchange.reply
    if check == "says":
        return called(reply) is None and all(contains(reply, must) for must in wanted["must"])
    if check == "exact":
        return reply.strip() == wanted["text"]
    if check == "story":
        named = all(contains(reply, must) for must in wanted["must"])
        return named and recall(reply) is not None and not repeats(reply)
    if check == "recall":
        right = before[wanted["which"]] if before else None
        return right is not None and right.lower() in reply.lower()
    return any(m in reply for m in wanted["marks"])
