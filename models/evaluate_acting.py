#!/usr/bin/python3
"""Examines how a packed demo model acts: a hundred requests in sentences that it has not seen, its answers to the
results, and twenty prompts that have nothing to do with its table of actions.

usage: evaluate_acting.py [-v] [--seed N] MODEL.ingot...
Answers are greedy, or with --seed drawn with the usual settings.     INGOT_BUILD: where host/ingot is"""

import collections
import os
import sys

import evaluate
import acting_held_out
from checks import called, is_wrong_pin, passes, recall


class Result:
    """requests: numbers of right and of all, by kind; wrong: number of calls for something other than the request."""

    def __init__(self):
        self.passed, self.asked, self.wrong, self.failures = collections.Counter(), collections.Counter(), [], []

    def add(self, kind, exchange, reply):
        right = passes(exchange, reply, recall(reply))
        self.asked[kind] += 1
        self.passed[kind] += right
        wrong = is_wrong_pin(exchange, reply)
        self.wrong += [(exchange.user, reply)] if wrong else []
        if wrong or not right:
            self.failures.append((kind, exchange.user, exchange.reply, reply))

    def line(self):
        kinds = ", ".join(f"{self.passed[k]} of {n} {k}" for k, n in self.asked.items())
        return f"{kinds}; {len(self.wrong)} wrong calls"


def kind_of(exchange):
    return "requests" if acting_held_out.is_request(exchange) else "results"


def examine(model, tokenizer, seed=None, answers=evaluate.answers):
    """Examine one model. answers: the function that has a conversation with it, on this computer or a board."""
    result = Result()
    for system, exchanges in acting_held_out.conversations():
        replies = answers(model, tokenizer, system, [e.user for e in exchanges], seed)
        for e, (reply, _) in zip(exchanges, replies):
            result.add(kind_of(e), e, reply)
    for system, exchanges in acting_held_out.asides():
        (reply, _), = answers(model, tokenizer, system, [exchanges[0].user], seed)
        result.add("asides", exchanges[0], reply)
    return result


def main(arguments):
    verbose, seed = "-v" in arguments, None
    if "--seed" in arguments:
        at = arguments.index("--seed")
        seed = arguments[at + 1]
        del arguments[at:at + 2]
    tokenizer = evaluate.read_tokenizer(os.path.join(evaluate.HERE, "demo", "tokenizer.json"))
    for model in (m for m in arguments if m != "-v"):
        result = examine(model, tokenizer, seed)
        print(f"{model}: {result.line()}", flush=True)
        for failure in result.failures if verbose else []:
            print("  ", *failure, sep=" | ")


if __name__ == "__main__":
    main(sys.argv[1:])
