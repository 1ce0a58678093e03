#!/usr/bin/python3
"""Streaming against its arithmetic: time per token over max(bytes / rate, computing alone), and the
planner's prediction over what was measured.

usage: stream.py [virt-arm64|host ...] [--rates 5,20,80]

A row is a rate of the card and a ratio of computing to transfer; the model and the bytes that
stream are those of a list that come nearest to it. This computer is faster than its cards: there
the card's rate follows from the ratio. QEMU's time is that of this computer and of
whatever else runs on it: it stands here only against itself, run beside run."""

import os
import re
import statistics
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from figures import print_table
from machine import ARM64, HOST, WORK, card_arguments, make_card, run

BOARDS = {"virt-arm64": ARM64, "host": None}  # a machine of machine.py, or this program
MODELS = [("s15m", "q4_0"), ("s15m", "q8_0"), ("smol135", "q4_0"), ("smol135", "q8_0")]
RATES = [5, 20, 80]   # MB/s
RATIOS = [0.3, 1, 3]  # computing / transfer
TOKENS = 5            # new ones of a run; the first comes with the prompt
RUNS = int(os.environ.get("STREAM_RUNS", "3"))
SECONDS = 500
HEAD = ["board", "MB/s", "model", "streams", "computing / transfer", "s / token",
        "over the larger", "foretold / measured"]


class Model:
    def __init__(self, shape, kind):
        self.name = f"{shape} {kind}"
        self.path = os.path.join(WORK, f"bench-{shape}-{kind}.ingot")
        if not os.path.exists(self.path):
            subprocess.run([HOST, "synth", "--shape", shape, "--type", kind, "-o", self.path],
                           check=True, capture_output=True, timeout=300)
        self.card = None
        self.alone = {}  # board: seconds of a token with everything in memory
        self.limits = list(self.find_limits())

    def find_limits(self):
        """(mem=, bytes of a token) of every number of pinned layers, from the planner."""
        size = os.path.getsize(self.path)
        seen = set()
        for step in range(1, 121):
            limit = size * step // 120
            out = subprocess.run([HOST, "plan", self.path, "--mem", str(limit), "-c", "128",
                                  "--mem-bw", "1G"], capture_output=True, text=True, timeout=60)
            found = re.search(r"pinned (\d+) of.*?head\n.*; ([\d.]+) ([KMG]iB) read", out.stdout, re.S)
            if found and found.group(1) not in seen and "head in tiles" not in out.stdout:
                seen.add(found.group(1))
                scale = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}[found.group(3)]
                yield limit, float(found.group(2)) * scale

    def run(self, board, memory, rate):
        """Seconds of a token, and the rate of tokens that was foretold."""
        words = {"temp": 0, "n": TOKENS, "ctx": 128, "spec": "off", "cores": 1}
        if memory:
            words["mem"] = memory
        if board == "host":
            flags = [w for k, v in words.items() if k != "spec"
                     for w in (("-n" if k == "n" else "-t" if k == "cores" else f"--{k}"), str(v))]
            out = run([HOST, "run", self.path, "-p", "a", *flags, "--spec", "off", "--ticks"] +
                      (["--card", f"{rate}M"] if rate else []), SECONDS)[1]
        else:
            self.card = self.card or make_card(os.path.basename(self.path) + ".img", self.path)
            pace = f",throttling.bps-read={rate * 1000000}" if rate else ""
            out = BOARDS[board].run(" ".join(f"{k}={v}" for k, v in words.items()) +
                                    " prompt=a ticks", 1, card_arguments(self.card, pace),
                                    timeout=SECONDS)[1]
        ticks = re.search(r"decode (\d+) of (\d+) per second", out)
        foretold = re.search(r"predicted: decode ([\d.]+)", out)
        if not ticks:
            sys.exit(f"{self.name} on {board}, mem={memory}: no figures\n{out[-2000:]}")
        return (int(ticks.group(1)) / int(ticks.group(2)) / (TOKENS - 1),
                float(foretold.group(1)) if foretold else 0.0)


def choose(models, board, rate, ratio):
    """The model and limit whose ratio is nearest, and the ratio."""
    best = None
    for model in models:
        for limit, size in model.limits:
            is_ratio = model.alone[board] / (size / (rate * 1e6))
            off = max(is_ratio / ratio, ratio / is_ratio)
            if best is None or off < best[0]:
                best = (off, model, limit, size)
    return best[1:]


def rows(models, board, rates):
    for model in models:
        model.alone[board] = min(model.run(board, 0, 0)[0] for _ in range(2))
    for rate in rates[:1] if board == "host" else rates:
        for ratio in RATIOS:
            if board == "host":
                model = models[-1]
                limit, size = model.limits[len(model.limits) // 2]
                rate = max(1, round(size * ratio / model.alone[board] / 1e6))
            else:
                model, limit, size = choose(models, board, rate, ratio)
            runs = []
            for _ in range(RUNS):  # computing alone beside it, for the computer's moods
                alone = model.run(board, 0, 0)[0]
                token, foretold = model.run(board, limit, rate)
                transfer = size / (rate * 1e6)
                runs.append((token / max(alone, transfer), foretold * token, alone / transfer,
                             token))
            best = sorted(runs)[len(runs) // 2]
            yield [board, rate, model.name, f"{size / 1e6:.1f} MB", f"{best[2]:.2f}",
                   f"{best[3]:.3f}", f"{best[0]:.2f}",
                   f"{statistics.median(r[1] for r in runs):.2f}"]


def main():
    arguments = sys.argv[1:]
    rates = RATES
    if "--rates" in arguments:
        at = arguments.index("--rates")
        rates = [int(r) for r in arguments[at + 1].split(",")]
        del arguments[at:at + 2]
    os.makedirs(WORK, exist_ok=True)
    models = [Model(*m) for m in MODELS]
    table = [row for board in arguments or BOARDS for row in rows(models, board, rates)]
    print_table("Streaming, time of this computer against itself", HEAD, table)


main()
