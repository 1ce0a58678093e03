#!/usr/bin/python3
"""Draws docs/experts.svg, in which experts arrive while others are computed.

usage: experts_picture.py [OUT.svg]

The trained mixture runs on two cores of virt-arm64, with half of its experts in the cache and a
card of 40 MB/s. The image prints its trace (trace=1); the busiest milliseconds of the reply are
drawn."""

import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
from machine import ARM64, ROOT, WORK, card_arguments, make_card

MODEL = os.path.join(ROOT, "models/mixture-q4_0.ingot")
OUT = os.path.join(ROOT, "docs/experts.svg")
WORDS = 'cores=2 mem=1800K temp=0 spec=off n=40 trace=1 prompt="Tell me a story about a fox."'
RATE, CARD, SPAN = 40_000_000, 64, 12_000  # bytes per second, the card's line in the trace, microseconds


def events_of(console):
    lines = console.split("\n[\n")[-1].split("\n]\n")[0]
    return json.loads(f"[{lines}]")


def busiest(events):
    """The SPAN microseconds of the reply in which most experts arrive."""
    reply = min(e["ts"] for e in events if e["name"].startswith("head"))
    begins = [e["ts"] for e in events if e["tid"] == CARD and e["ts"] > reply]
    return max(begins, key=lambda t: sum(t <= b < t + SPAN for b in begins)) - SPAN // 20


def main(out=OUT):
    card = make_card("experts-picture.img", MODEL)
    drives = card_arguments(card, f",throttling.bps-read={RATE}")
    status, console = ARM64.run(WORDS, 2, drives=drives, timeout=300)
    if status != 0 or "\n[\n" not in console:
        sys.exit(f"no trace\n{console[-2000:]}")
    events = events_of(console)
    path = os.path.join(WORK, "experts-trace.json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump(events, f)
    start = busiest(events)
    subprocess.run([os.path.join(HERE, "trace_svg.py"), path, out, str(start / 1000),
                    str((start + SPAN) / 1000)], check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
