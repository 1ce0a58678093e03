#!/usr/bin/python3
"""What a token costs layers of hybrids and experts, beside dense layers of as many bytes.

usage: mixers.py virt-arm64|virt-riscv64 ..."""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from figures import COUNTED, ICOUNT, print_table, text, write_csv
from machine import HOST, WORK, card_arguments, make_card
from tokens import MACHINES, make_prompt

SHAPES = ["lfm2-350m", "qwen3.5-0.8b", "olmoe-1b-7b"] # synth's, of each -layers and -dense
TYPE = "q4_0"
PROMPT = 32   # tokens; the last one's head is counted with them
NEW = 4       # new tokens: one pass less
SECONDS = 600 # for one run


class Model:
    """Made again where the packer is newer."""

    def __init__(self, name):
        path = os.path.join(WORK, f"bench-{name}-{TYPE}.ingot")
        if not os.path.exists(path) or os.path.getmtime(path) < os.path.getmtime(HOST):
            subprocess.run([HOST, "synth", "--shape", name, "--type", TYPE, "-o", path],
                           check=True, capture_output=True, timeout=SECONDS)
        self.name = name
        self.card = make_card(f"bench-{name}.img", path)
        self.prompt = make_prompt(path, PROMPT)


def count_run(machine, model):
    """(decode, prefill) in instructions per token, of one boot on one core."""
    status, console = machine.run(f'prompt="{model.prompt}" n={NEW} temp=0 ticks', 1,
                                  card_arguments(model.card) + ICOUNT, None, SECONDS)
    ticks = re.search(r"^ticks: prefill (\d+) decode (\d+) of (\d+) per second$", console, re.M)
    size = re.search(r"^\[(\d+) prompt \+ (\d+) new tokens?", console, re.M)
    if status != 0 or not ticks or not size:
        sys.exit(f"{machine.label}, {model.name}: status {status}\n{console[-2000:]}")
    if [int(i) for i in size.groups()] != [PROMPT, NEW]:
        sys.exit(f"{machine.label}, {model.name}: the reply ended early: {size.group(0)}")
    prefill, decode, hz = (int(i) for i in ticks.groups())
    return decode * 10**9 / hz / (NEW - 1), prefill * 10**9 / hz / PROMPT


def count_all(machines, models):
    """{(machine label, model name): what count_run gives}"""
    pairs = [(machine, model) for model in models for machine in machines]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda pair: count_run(*pair), pairs))
    return {(machine.label, model.name): counts
            for (machine, model), counts in zip(pairs, found)}


def main():
    wanted = sys.argv[1:]
    if not wanted or any(name not in MACHINES for name in wanted):
        sys.exit(f"no figures of {' '.join(wanted) or 'nothing'}: there are {', '.join(MACHINES)}")
    os.makedirs(WORK, exist_ok=True)
    machines = [machine for name in wanted for machine in MACHINES[name]]
    models = [Model(f"{shape}-{kind}") for shape in SHAPES for kind in ("layers", "dense")]
    found = count_all(machines, models)
    rows, lines = [], []
    for shape in SHAPES:
        for machine in machines:
            layers, dense = (found[machine.label, f"{shape}-{kind}"] for kind in ("layers", "dense"))
            for i, figure in enumerate(("decode", "prefill")):
                rows.append([shape, machine.label, figure, text(layers[i]), text(dense[i]),
                             f"{layers[i] / dense[i]:.3f}"])
                lines += [(machine.label, f"{shape}-{kind}", figure, round(of[i]),
                           "instructions/token", COUNTED)
                          for kind, of in (("layers", layers), ("dense", dense))]
    print_table(f"Instructions per token, {TYPE}, {COUNTED}: no board's speed",
                ["shape", "machine", "of", "layers", "dense", "ratio"], rows)
    write_csv("bench-mixers.csv", lines)


if __name__ == "__main__":
    main()
