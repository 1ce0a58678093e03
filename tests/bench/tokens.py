#!/usr/bin/python3
"""Measures what a token costs: instructions on the emulated boards, seconds on this computer.

usage: tokens.py virt-arm64|virt-riscv64|host ..."""

import os
import re
import statistics
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from figures import COUNTED, ICOUNT, print_table, text, write_csv
from machine import (ASSETS, BUILD, HOST, RISCV64, WORK, Machine, card_arguments,
                     make_card, pack, reply_text, run)

MACHINES = {"virt-arm64": [Machine("virt-arm64", f"virt-arm64 {cpu}", ["-cpu", cpu])
                           for cpu in ("cortex-a72", "cortex-a76")],
            "virt-riscv64": [Machine("virt-riscv64", f"virt-riscv64 VLEN {n}",
                                     ["-cpu", f"rv64,v=true,vlen={n}"]) for n in (128, 256)] +
                            [RISCV64]}
MODELS = [("smol135", "q4_0"), ("smol135", "q8_0"), ("tl2", "q4_k_m"), # slow models first
          ("s15m", "q4_0"), ("s15m", "q8_0")]
REAL = [("gguf/stories260K.gguf", "stories260K", ["q4_0", "q8_0"]), # under INGOT_ASSETS
        ("synthetic/synthetic-llama-d256-Q4_K_M.gguf", "d256", ["q4_k_m"])]

SHORT, LONG = 16, 80  # tokens of the prompts; prefill is their difference
FEW, MANY = 8, 24     # new tokens after the short prompt; decode is their difference
NATIVE_TOKENS, NATIVE_RUNS = 96, 3
NATIVE = os.path.join(BUILD, "tests/bench/native") # only for x86-64
SECONDS = 280         # for one run


class Model:
    def __init__(self, name, path):
        self.name = name
        self.path = path
        self.card = make_card(f"bench-{name}.img", path)
        self.short = make_prompt(path, SHORT)
        self.long = make_prompt(path, LONG)


def make_models(shapes, real):
    os.makedirs(WORK, exist_ok=True)
    for shape, kind in shapes:
        path = os.path.join(WORK, f"bench-{shape}-{kind}.ingot")
        if not os.path.exists(path) or os.path.getmtime(path) < os.path.getmtime(HOST):
            subprocess.run([HOST, "synth", "--shape", shape, "--type", kind, "-o", path],
                           check=True, capture_output=True, timeout=120)
        yield Model(f"{shape} {kind}", path)
    for source, name, kinds in real:
        source = os.path.join(ASSETS, source)
        if not os.path.exists(source):
            print(f"skipped: {name}, {source} is not there")
            continue
        for kind in kinds:
            yield Model(f"{name} {kind}", pack(source, kind, f"bench-{name}-{kind}.ingot"))


def count_tokens(path, prompt):
    done = subprocess.run([HOST, "tokenize", path, "--ids"], input=prompt, text=True, check=True,
                          capture_output=True, timeout=60)
    return len(done.stdout.split())


def make_prompt(path, n):
    """A text of exactly n tokens, BOS included."""
    prompt, count = "Once", 0
    while count != n:
        for more in (" upon a time there was a", " little", " a", " x", "7"):
            count = count_tokens(path, prompt + more)
            if count <= n:
                prompt += more
                break
        else:
            sys.exit(f"{path}: no prompt of {n} tokens was found")
    return prompt


def count_run(machine, model, prompt, n):
    """(instructions of prefill, of decode, the reply) of one boot on one core."""
    status, console = machine.run(f'prompt="{prompt}" n={n} temp=0 ticks', 1,
                                  card_arguments(model.card) + ICOUNT, None, SECONDS)
    ticks = re.search(r"^ticks: prefill (\d+) decode (\d+) of (\d+) per second$", console, re.M)
    size = re.search(r"^\[(\d+) prompt \+ (\d+) new tokens?", console, re.M)
    if status != 0 or not ticks or not size:
        sys.exit(f"{machine.label}, {model.name}: status {status}\n{console[-2000:]}")
    if [int(i) for i in size.groups()] != [LONG if prompt == model.long else SHORT, n]:
        sys.exit(f"{machine.label}, {model.name}: the reply ended early: {size.group(0)}")
    prefill, decode, hz = (int(i) for i in ticks.groups())
    return prefill * 10**9 / hz, decode * 10**9 / hz, reply_text(console)


def count_all(pairs):
    """{(machine label, model name): (prefill, decode, reply)} in instructions per token."""
    jobs = [(machine, model, prompt, n) for machine, model in pairs
            for prompt, n in ((model.long, 1), (model.short, MANY), (model.short, FEW))]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = iter(list(pool.map(lambda job: count_run(*job), jobs)))
    found = {}
    for machine, model in pairs:
        long, many, few = next(runs), next(runs), next(runs)
        found[machine.label, model.name] = ((long[0] - many[0]) / (LONG - SHORT),
                                            (many[1] - few[1]) / (MANY - FEW), many[2])
    return found


def counted_lines(pairs):
    """Rows of a CSV file for the machines and models in `pairs`; all machines must give the same reply with the same
    model."""
    found, replies, lines = count_all(pairs), {}, []
    for (machine, model), (prefill, decode, reply) in found.items():
        if replies.setdefault(model, reply) != reply:
            sys.exit(f"{model}: the machines do not agree: {replies[model]!r}, {reply!r}")
        lines += [(machine, model, figure, round(value), "instructions/token", COUNTED)
                  for figure, value in (("decode", decode), ("prefill", prefill))]
    return lines


def show_counted(machines, models):
    lines = counted_lines([(machine, model) for model in models for machine in machines])
    rows = [[decode[1], decode[0], text(decode[3]), text(prefill[3])]
            for decode, prefill in zip(lines[::2], lines[1::2])]
    print_table(f"Instructions per token, {COUNTED}: no board's speed",
                ["model", "machine", "decode", "prefill"], rows)
    return lines


def native_run(model, threads):
    status, console = run([HOST, "run", model.path, "-p", model.long, "-n", str(NATIVE_TOKENS),
                           "--temp", "0", "-t", str(threads)], 120)
    found = re.search(r"prefill ([\d.]+) tok/s, decode ([\d.]+) tok/s", console)
    if status != 0 or not found:
        sys.exit(f"native, {model.name}: status {status}\n{console[-2000:]}")
    return float(found.group(2)), float(found.group(1))


def show_native(models):
    how = f"native, median of {NATIVE_RUNS}, noisy"
    rows, lines = [], []
    for model in models:
        for threads in (1, 2):
            runs = [native_run(model, threads) for _ in range(NATIVE_RUNS)]
            decode, prefill = (statistics.median(column) for column in zip(*runs))
            rows.append([model.name, threads, text(decode), text(prefill)])
            lines += [(f"host, {threads} threads", model.name, figure, value, "tokens/second", how)
                      for figure, value in (("decode", decode), ("prefill", prefill))]
    print_table(f"Tokens per second on this computer ({cpu_name()}), {how}",
                ["model", "threads", "decode", "prefill"], rows)
    return lines


def native_shares(threads):
    """{"read" or "peak ISA": work per second}, {(kernel, shape): (work per second, percent)}"""
    status, console = run([NATIVE, "--threads", str(threads)], 120)
    if status != 0:
        sys.exit(f"{NATIVE}: status {status}\n{console[-2000:]}")
    words = [line.split() for line in console.splitlines()]
    limits = {" ".join(line[:-1]): float(line[-1]) for line in words if line[0] in ("read", "peak")}
    return limits, {(line[1], f"{line[2]} x {line[3]}"): (float(line[4]), float(line[5]))
                    for line in words if line[0] in ("gemv", "gemm")}


def show_shares():
    """Measures a gemv's share of the memory's rate, and a gemm's share of the multipliers' highest rate."""
    if not os.path.exists(NATIVE):
        print("skipped: shares of memory and multipliers, known for x86-64 alone")
        return []
    how = "native, 95th percentile of 100 turns"
    rows, lines, found = [], [], {threads: native_shares(threads) for threads in (1, 2)}
    for name in found[1][0]:
        rates = [found[threads][0][name] / 1e9 for threads in (1, 2)]
        rows.append([name, "", f"{rates[0]:.1f}", "", f"{rates[1]:.1f}", ""])
        lines += [(f"host, {i + 1} threads", name, "limit", rate * 1e9, "1/second", how)
                  for i, rate in enumerate(rates)]
    for kernel, shape in found[1][1]:
        cells = [found[threads][1][kernel, shape] for threads in (1, 2)]
        rows.append([kernel, shape] + [cell for rate, percent in cells
                                       for cell in (f"{rate / 1e9:.1f}", f"{percent:.0f} %")])
        lines += [(f"host, {i + 1} threads", kernel, f"share of {shape}", percent, "percent", how)
                  for i, (_, percent) in enumerate(cells)]
    print_table("Of one or two threads: GB of weights per second read, and by each gemv, whose "
                f"is of\nthe first; G multiply-adds per second at most, and by each gemm ({how})",
                ["limit or kernel", "shape", "1 thread", "share", "2 threads", "share"], rows)
    return lines


def cpu_name():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        found = re.search(r"^model name\s*: (.*)$", f.read(), re.M)
    return found.group(1) if found else os.uname().machine


def main():
    wanted = sys.argv[1:]
    unknown = [name for name in wanted if name != "host" and name not in MACHINES]
    if unknown or not wanted:
        sys.exit(f"no figures of {' '.join(unknown) or 'nothing'}: QEMU counts exactly on "
                 f"{', '.join(MACHINES)}; and there is host")
    models = list(make_models(MODELS, REAL))
    machines = [machine for name in wanted if name in MACHINES for machine in MACHINES[name]]
    lines = show_native(models) + show_shares() if "host" in wanted else []
    if machines:
        lines += show_counted(machines, models)
    write_csv("bench.csv", lines)


if __name__ == "__main__":
    main()
