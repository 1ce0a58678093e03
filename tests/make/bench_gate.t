#!/usr/bin/python3
"""Tests the gate of counted figures with made-up figures: it accepts counted figures within 2 % of the baseline and any native figures, and
nothing else. `make bench-gate` counts the real figures."""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../bench"))
from figures import COUNTED, write_csv
from machine import ROOT, WORK, Tap

GATE = os.path.join(ROOT, "tests/bench/gate")
COMMITTED = os.path.join(ROOT, "tests/bench/gate.csv")
tap = Tap()
os.makedirs(WORK, exist_ok=True)

figures = [(f"machine {i // 2}", "model", ("decode", "prefill")[i % 2], 1000000 * (i + 1),
            "instructions/token", COUNTED) for i in range(12)]
native = ("host, 1 threads", "model", "decode", 100.0, "tokens/second", "native, noisy")


def csv_file(name, rows):
    path = os.path.join(WORK, name)
    write_csv(path, rows)
    return path


def scaled(row, factor):
    return row[:3] + (row[3] * factor,) + row[4:]


def gate(measured, rows=None):
    base = csv_file("gate-baseline.csv", figures + [native] if rows is None else rows)
    done = subprocess.run([GATE, base, csv_file("gate-measured.csv", measured)],
                          capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr


def expect(status, words, what, measured, rows=None):
    got, text = gate(measured, rows)
    tap.ok(got == status and words in text and text.count("\n") == 1, what, text)


def one_off(factor):
    return figures[:5] + [scaled(figures[5], factor)] + figures[6:]


expect(0, "12 figures within 2%", "equal figures pass", figures)
for factor in (1.019, 0.981):
    expect(0, "12 figures", f"a figure {factor} of its baseline passes", one_off(factor))
expect(1, "machine 2, model, prefill: 6180000 instructions for 6000000, +3.0 %",
       "a figure that is 3 % dearer fails", one_off(1.03))
expect(1, "keep the gain", "a figure that is 3 % cheaper fails", one_off(0.97))
for factor in (1.03, 0.97):
    expect(1, "machine 2, model, prefill", f"a baseline {factor} of the truth fails", figures,
           one_off(factor))
expect(1, "machine 5, model, prefill: was not counted", "a figure that is missing fails",
       figures[:-1])
expect(1, "has no baseline", "a figure without a baseline fails",
       figures + [("machine 9",) + figures[0][1:]])
expect(1, "11 counted figures", "a baseline of eleven figures fails", figures[:11], figures[:11])
expect(0, "12 figures", "native figures are free", figures + [scaled(native, 0.5)])

done = subprocess.run([GATE, COMMITTED, COMMITTED], capture_output=True, text=True, timeout=60)
tap.ok(done.returncode == 0, "the committed baseline has its figures", done.stdout + done.stderr)
tap.done()
