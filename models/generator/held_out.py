"""The conversations that the model is examined on: drawn with another seed, and their first prompts
never occur in what it learns from, word for word. The plain forms of the generator's own lists are
not drawn here, for the model shall know "Hello"."""

import random

import generator
import talk

SEED, PROMPTS = 20261, 200


def plain_forms():
    forms = [p for table in (talk.SELF, talk.TALK) for _, prompts, _, _ in table for p in prompts]
    forms += generator.ASK_ANY + generator.ASK_NAME
    small = [p[0].lower() + p[1:] for p in forms]
    return {form for p in forms + small
            for form in (p, p.lower(), p.rstrip(".?!"), p.lower().rstrip(".?!"))}


def conversations():
    """[(system, exchanges)], PROMPTS exchanges in all; every second one has more than one part."""
    rng, plain, out, seen, left = random.Random(SEED), plain_forms(), [], set(), PROMPTS
    while left > 0:
        system, exchanges = generator.conversation(rng, 250 if len(out) % 2 else 1, generator.EXAM)
        first = exchanges[0].user
        if first not in plain and first not in seen:
            out.append((system, exchanges[:left]))
            seen.add(first)
            left -= len(out[-1][1])
    return out


def first_prompts():
    return {exchanges[0].user for _, exchanges in conversations()}
