"""The conversations of the examination. They are drawn with other seeds, and training never has their first
prompts word for word. The plain forms of the generator's own lists are not drawn here, because the model
must know "Hello"; nor are stories about invented words, which only teach copying and which nobody asks
for."""

import random

import generator
import talk
import words

SEED, MORE_SEED, PROMPTS = 20261, 20263, 200
# Prompts that are longer than this are hardly ever drawn twice.
LONG = 50
KINDS = set(words.ANIMALS + words.PEOPLE + words.THINGS + generator.NAMES)


def plain_forms():
    forms = [p for table in (talk.SELF, talk.TALK) for _, prompts, _, _ in table for p in prompts]
    forms += generator.ASK_ANY + generator.ASK_NAME
    small = [p[0].lower() + p[1:] for p in forms]
    return {form for p in forms + small
            for form in (p, p.lower(), p.rstrip(".?!"), p.lower().rstrip(".?!"))}


def is_about_something(exchanges):
    """True if no story of the conversation is about an invented word."""
    asked = [e.wanted["must"] for e in exchanges if e.check == "story"]
    return all(not must or must[0] in KINDS for must in asked)


def mixed():
    """[(system, exchanges)]: PROMPTS exchanges of all kinds; every second one has several parts."""
    rng, plain, out, seen, left = random.Random(SEED), plain_forms(), [], set(), PROMPTS
    while left > 0:
        least = 250 if len(out) % 2 else 1
        system, exchanges = generator.conversation(rng, least, generator.EXAM)
        first = exchanges[0].user
        if first not in plain and first not in seen:
            out.append((system, exchanges[:left]))
            seen.add(first)
            left -= len(out[-1][1])
    return out


def conversations():
    """Return those of mixed() that are about something, with stories in place of the others."""
    out = [c for c in mixed() if is_about_something(c[1])]
    rng, left = random.Random(MORE_SEED), PROMPTS - sum(len(exchanges) for _, exchanges in out)
    while left > 0:
        exchanges = generator.story(rng)[:left]
        if len(exchanges[0].user) > LONG and is_about_something(exchanges):
            out.append((None, exchanges))
            left -= len(exchanges)
    return out


def first_prompts():
    """Return the first prompts of all that were drawn, asked or not; training leaves them out."""
    return {exchanges[0].user for _, exchanges in mixed() + conversations()}
