#!/usr/bin/python3
"""Counts the instructions of a token in layers of hybrids and of experts, compared with dense layers of as many
bytes; with --parts, those of each mixer and feed-forward without its matrices.

usage: mixers.py [--parts] [--seconds N] [--shape NAME] virt-arm64|virt-riscv64 ..."""

import argparse
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import parts
from figures import COUNTED, ICOUNT, print_table, text, write_csv
from machine import HOST, WORK, card_arguments, make_card
from tokens import MACHINES, make_prompt

SHAPES = ["lfm2-350m", "qwen3.5-0.8b", "olmoe-1b-7b"] # shapes of synth, each as -layers and as -dense
TYPE = "q4_0"
PROMPT = 32    # tokens; the count includes the head of the last token
NEW = 4        # new tokens, which take one pass less
SECONDS = 1800 # for one run: with VLEN 128, two runs at a time, on a busy computer


class Model:
    """A packed model; it is packed again if the packer is newer."""

    def __init__(self, name):
        path = os.path.join(WORK, f"bench-{name}-{TYPE}.ingot")
        if not os.path.exists(path) or os.path.getmtime(path) < os.path.getmtime(HOST):
            subprocess.run([HOST, "synth", "--shape", name, "--type", TYPE, "-o", path],
                           check=True, capture_output=True, timeout=SECONDS)
        self.name = name
        self.card = make_card(f"bench-{name}.img", path)
        self.prompt = make_prompt(path, PROMPT)


def words_of(model):
    return f'prompt="{model.prompt}" n={NEW} temp=0 ticks'


def count_run(machine, model, seconds):
    """(decode, prefill) in instructions per token, of one boot on one core."""
    status, console = machine.run(words_of(model), 1, card_arguments(model.card) + ICOUNT, None,
                                  seconds)
    ticks = re.search(r"^ticks: prefill (\d+) decode (\d+) of (\d+) per second$", console, re.M)
    size = re.search(r"^\[(\d+) prompt \+ (\d+) new tokens?", console, re.M)
    if status != 0 or not ticks or not size:
        sys.exit(f"{machine.label}, {model.name}: status {status}\n{console[-2000:]}")
    if [int(i) for i in size.groups()] != [PROMPT, NEW]:
        sys.exit(f"{machine.label}, {model.name}: the reply ended early: {size.group(0)}")
    prefill, decode, hz = (int(i) for i in ticks.groups())
    return decode * 10**9 / hz / (NEW - 1), prefill * 10**9 / hz / PROMPT


def run_all(machines, models, run):
    """{(machine label, model name): what run gives}"""
    pairs = [(machine, model) for model in models for machine in machines]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda pair: run(*pair), pairs))
    return {(machine.label, model.name): counts
            for (machine, model), counts in zip(pairs, found)}


def show_layers(machines, shapes, seconds):
    models = [Model(f"{shape}-{kind}") for shape in shapes for kind in ("layers", "dense")]
    found = run_all(machines, models, lambda *pair: count_run(*pair, seconds))
    rows, lines = [], []
    for shape in shapes:
        for machine in machines:
            layers, dense = (found[machine.label, f"{shape}-{kind}"]
                             for kind in ("layers", "dense"))
            for i, figure in enumerate(("decode", "prefill")):
                rows.append([shape, machine.label, figure, text(layers[i]), text(dense[i]),
                             f"{layers[i] / dense[i]:.3f}"])
                lines += [(machine.label, f"{shape}-{kind}", figure, round(of[i]),
                           "instructions/token", COUNTED)
                          for kind, of in (("layers", layers), ("dense", dense))]
    print_table(f"Instructions per token, {TYPE}, {COUNTED}: no board's speed",
                ["shape", "machine", "of", "layers", "dense", "ratio"], rows)
    write_csv("bench-mixers.csv", lines)


def show_parts(machines, shapes, seconds):
    """Prints the sums for both layers of a kind, and for all feed-forwards."""
    plugin = parts.make_plugin()
    models = [Model(f"{shape}-layers") for shape in shapes]
    found = run_all(machines, models, lambda machine, model: parts.count(
        machine, plugin, words_of(model), model.card, PROMPT, seconds))
    rows, lines = [], []
    for (label, name), counts in found.items():
        for (part, figure), (matrices, rest) in counts.items():
            rows.append([name, label, part, figure, text(matrices), text(rest),
                         f"{rest / matrices:.3f}"])
            lines += [(label, f"{name}, {part}", f"{figure}, {what}", round(value),
                       "instructions/token", parts.COUNTED)
                      for what, value in (("matrices", matrices), ("rest", rest))]
    print_table(f"Instructions per token, {TYPE}, {parts.COUNTED}",
                ["shape", "machine", "part", "of", "matrices", "rest", "rest / matrices"], rows)
    write_csv("bench-mixer-parts.csv", lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("boards", nargs="+", choices=list(MACHINES))
    parser.add_argument("--parts", action="store_true")
    parser.add_argument("--seconds", type=int, default=SECONDS)
    parser.add_argument("--shape", choices=SHAPES, action="append")
    words = parser.parse_args()
    os.makedirs(WORK, exist_ok=True)
    machines = [machine for name in words.boards for machine in MACHINES[name]]
    (show_parts if words.parts else show_layers)(machines, words.shape or SHAPES, words.seconds)


if __name__ == "__main__":
    main()
