#!/usr/bin/python3
"""The cost of adapters: instructions per token of a model of smol135's shape, without an adapter and with random adapters on
q and v (one core, counted by the architectural counter under -icount). usage: adapters.py [MACHINE ...]; MACHINE is a part
of a machine's label"""

import json
import os
import random
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tokens
from tokens import FEW, HOST, ICOUNT, LONG, MACHINES, MANY, SHORT, WORK, count_run, make_card, make_models

LAYERS, DIM = 30, 576
ROWS = {"q_proj": 576, "v_proj": 192}
RANKS = (4, 8, 16, 32)

tokens.SECONDS = 900 # for one run, while other programs use the computer


def make_adapter(base, rank):
    """Make a PEFT folder of small random numbers, and pack it with `ingot adapter`; returns the packed file."""
    source = random.Random(rank)
    header, body = {}, bytearray()
    for layer in range(LAYERS):
        for module, rows in ROWS.items():
            for half, shape in (("A", (rank, DIM)), ("B", (rows, rank))):
                raw = struct.pack(f"<{shape[0] * shape[1]}f",
                                  *(source.uniform(-0.02, 0.02) for _ in range(shape[0] * shape[1])))
                header[f"base_model.model.model.layers.{layer}.self_attn.{module}.lora_{half}.weight"] = {
                    "dtype": "F32", "shape": shape, "data_offsets": [len(body), len(body) + len(raw)]}
                body += raw
    folder = os.path.join(WORK, f"bench-adapter-{rank}")
    os.makedirs(folder, exist_ok=True)
    text = json.dumps(header).encode()
    with open(os.path.join(folder, "adapter_model.safetensors"), "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + body)
    with open(os.path.join(folder, "adapter_config.json"), "w", encoding="utf-8") as f:
        json.dump({"peft_type": "LORA", "r": rank, "lora_alpha": rank, "bias": "none"}, f)
    out = os.path.join(WORK, f"bench-rank{rank}.ingot")
    subprocess.run([HOST, "adapter", folder, "--base", base, "-o", out], check=True, capture_output=True, timeout=60)
    return out


class With:
    """A machine with one more boot option."""

    def __init__(self, machine, word):
        self.machine, self.word, self.label = machine, word, machine.label

    def run(self, words, *more):
        return self.machine.run(words + self.word, *more)


def main():
    model = next(iter(make_models([("smol135", "q4_0")], [])))
    files = {rank: make_adapter(model.path, rank) for rank in RANKS}
    model.card = make_card("bench-adapters.img", model.path,
                           *(word for rank, path in files.items() for word in ("--root", f"{path}:adapters/rank{rank}.ingot")))
    machines = [m for all_ in MACHINES.values() for m in all_
                if len(sys.argv) == 1 or any(word in m.label for word in sys.argv[1:])]
    words = {0: ""} | {rank: f" adapter=rank{rank}" for rank in RANKS}
    cells = [(m, rank) for m in machines for rank in words]
    jobs = [(With(m, words[rank]), model, prompt, n) for m, rank in cells
            for prompt, n in ((model.long, 1), (model.short, MANY), (model.short, FEW))]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = iter(list(pool.map(lambda job: count_run(*job), jobs)))
    base = {}
    print("| smol135 Q4_0, adapter on q and v | decode, M | | prefill, M | |\n|---|---|---|---|---|")
    for m, rank in cells:
        long, many, few = next(runs), next(runs), next(runs)
        counts = ((many[1] - few[1]) / (MANY - FEW) / 1e6, (long[0] - many[0]) / (LONG - SHORT) / 1e6)
        base[m.label] = base.get(m.label, counts)
        more = [f"{n:.2f} | {100 * (n / b - 1):+.1f} %" for n, b in zip(counts, base[m.label])]
        print(f"| {m.label}, {'none' if rank == 0 else f'rank {rank}'} | {more[0]} | {more[1]} |", flush=True)


main()
