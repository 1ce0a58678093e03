#!/usr/bin/python3
"""Measures the gain of a second thread on this computer (x86-64), and the share of the computer's multiplications that a whole prompt uses, by
tokens per second of the Linux program.

usage: threads.py [OLDER_PROGRAM]

Processes with one and with two threads take turns. Each answers the same prompt a few times; the first time does not count, because pages and cores
are new to the process. A ratio divides the medians of two neighbouring processes; the result is the median of THREADS_RUNS=9 such ratios. Then this
is repeated while an endless loop occupies one of two processors. Before and after, the rates at which one thread and two threads read and multiply
are measured; their ratio is printed. A prompt's share of the multipliers is its tokens per second times the weights of its layers, divided by the
highest rate of multiply-adds that vpdpbusd reached just before; attention, norms and the rest are not counted. This share is printed for a
process's median pass and for its best pass, because other programs on the core's second thread slow passes down, and the highest rate is measured
without them. OLDER_PROGRAM is another build of `ingot`: the prefill of both with one thread is compared, in turns. Run this on an idle
computer, because other programs lower the figures."""

import os
import re
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
from figures import print_table
from machine import BUILD, HOST, WORK, run
from tokens import cpu_name, make_models, make_prompt

NATIVE = os.path.join(BUILD, "tests/bench/native")
MODELS = [("smol135", "q4_0"), ("smol135", "q8_0"), ("tl2", "q4_k_m")]
# Weights that a token of a prompt multiplies: the matrices of the layers; only the last token uses the head.
LAYER_WEIGHTS = {"smol135": 30 * (2 * 576 * 576 + 2 * 576 * 192 + 3 * 576 * 1536),
                 "tl2": 2 * (2 * 2048 * 2048 + 2 * 2048 * 256 + 3 * 2048 * 5632)}
PROMPT, TOKENS, PASSES = 256, 48, 4
RUNS = int(os.environ.get("THREADS_RUNS", "9"))


def tell(program, model, prompt, threads):
    """Tokens per second of a process: medians of prefill and decode, and the best prefill."""
    asked = (prompt.replace("\n", " ") + "\n/reset\n") * PASSES
    status, said = run([program, "chat", model, "-n", str(TOKENS), "--temp", "0", "-t", str(threads), "--spec", "off"], 120,
                       asked.encode())
    passes = [(float(prefill), float(decode))
              for prefill, decode in re.findall(r"prefill ([\d.]+) tok/s, decode ([\d.]+) tok/s", said)]
    if status != 0 or len(passes) != PASSES:
        sys.exit(f"{program} {model}: status {status}\n{said[-2000:]}")
    prefill, decode = zip(*passes[1:])
    return statistics.median(prefill), statistics.median(decode), max(prefill)


def limits(threads):
    """Bytes read per second; multiply-adds per second of the best available instruction."""
    status, said = run([NATIVE, "--threads", str(threads), "--row", "nothing of that name"], 120)
    read = re.search(r"^read ([\d.e+]+)$", said, re.M)
    peaks = [float(rate) for rate in re.findall(r"^peak .* ([\d.e+]+)$", said, re.M)]
    if status != 0 or not read or not peaks:
        sys.exit(f"{NATIVE}: status {status}\n{said[-2000:]}")
    return float(read.group(1)), max(peaks)


def older_model(program, shape, kind):
    """The same shape packed by the older program, whose files have another version of the format."""
    path = os.path.join(WORK, f"bench-older-{shape}-{kind}.ingot")
    status, said = run([program, "synth", "--shape", shape, "--type", kind, "-o", path], 120)
    if status != 0:
        sys.exit(f"{program} synth: status {status}\n{said[-2000:]}")
    return path


def side_by_side(first, second, n):
    """n pairs of results of two functions, which are called alternately."""
    return [(first(), second()) for _ in range(n)]


def ratio_of(pairs, which):
    return statistics.median(second[which] / first[which] for first, second in pairs)


def threads_rows(name, model, prompt):
    """A row with the speed of two threads and the ratio to one thread, on a quiet computer, then while a loop occupies the
    first processor."""
    one, two = (lambda n=n: tell(HOST, model.path, prompt, n) for n in (1, 2))
    quiet = side_by_side(one, two, RUNS)
    with subprocess.Popen(["taskset", "-c", "0", "sh", "-c", "while :; do :; done"]) as loop:
        try:
            beside = side_by_side(one, two, RUNS)
        finally:
            loop.kill()
    row = [name]
    for pairs in (quiet, beside):
        for which in (1, 0):
            row += [f"{statistics.median(p[0][which] for p in pairs):.0f}", f"{ratio_of(pairs, which):.2f}"]
    return row


def share_of_peak(model, prompt, weights):
    """The percentage of one thread's highest rate of multiplications that a process reaches, in its median pass and in its best pass."""
    pairs = side_by_side(lambda: limits(1)[1], lambda: tell(HOST, model.path, prompt, 1), RUNS)
    return [statistics.median(100 * done[which] * weights / peak for peak, done in pairs) for which in (0, 2)]


def main():
    older = sys.argv[1] if len(sys.argv) > 1 else None
    if not os.path.exists(NATIVE):
        sys.exit("this computer's peak is known for x86-64 alone")
    before = [limits(n) for n in (1, 2)]
    rows, shares = [], []
    for (shape, kind), model in zip(MODELS, make_models(MODELS, [])):
        prompt = make_prompt(model.path, PROMPT)
        rows.append(threads_rows(model.name, model, prompt))
        shares.append((model, prompt, LAYER_WEIGHTS[shape], older and older_model(older, shape, kind)))
    after = [limits(n) for n in (1, 2)]
    print_table(f"Tokens per second with one thread and what two are of it ({cpu_name()}), medians of {RUNS} by turns",
                ["model", "decode", "2 / 1", "prefill", "2 / 1", "decode beside a loop", "2 / 1",
                 "prefill beside a loop", "2 / 1"], rows)
    print_table("What this computer gives, before and after", ["threads", "GB/s read", "G multiply-adds/s"],
                [[n, f"{b[0] / 1e9:.1f}, {a[0] / 1e9:.1f}", f"{b[1] / 1e9:.0f}, {a[1] / 1e9:.0f}"]
                 for n, b, a in zip((1, 2), before, after)])
    table = []
    for model, prompt, weights, before_it in shares:
        more = ""
        if older:
            pairs = side_by_side(lambda m=before_it, p=prompt: tell(older, m, p, 1),
                                 lambda m=model, p=prompt: tell(HOST, m.path, p, 1), RUNS)
            more = f"{ratio_of(pairs, 0):.2f}"
        median, best = share_of_peak(model, prompt, weights)
        table.append([model.name, f"{median:.0f} %", f"{best:.0f} %", more])
    print_table("Prefill with one thread", ["model", "of the multipliers, median", "best", "over the older program"], table)


if __name__ == "__main__":
    main()
