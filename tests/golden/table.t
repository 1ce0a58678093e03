#!/usr/bin/python3
"""One model gives the same ids and logits on every machine, with every number of cores, resident and streamed.

Prints the table, and fails for every cell that differs from the host's resident cell. The host's F32 cell must continue like the reference
outputs of other engines."""

import os
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import (ARM64, ASSETS, FLASH_BYTES, HOST, LONG, RISCV64, RISCV64_ANY, RISCV64_V, Reply, Tap,
                     card_arguments, digest, segments, flash_arguments, make_card, make_flash,
                     nvme_arguments, pack, run, usb_arguments)

MACHINES = [ARM64, RISCV64_V, RISCV64]
STORIES = os.path.join(ASSETS, "llama2c/stories260K.bin")
RANDOM = os.path.join(ASSETS, "synthetic/synthetic-llama-d256-F32.gguf")
SOURCES = {"f32": STORIES, "q8_0": STORIES, "q4_0": STORIES, "f16": STORIES, "q4_k_m": RANDOM}
TYPES = list(SOURCES)
TOKENS = {"f32": 128 if LONG else 32, **{t: 48 if LONG else 32 for t in ("q8_0", "q4_0", "f16", "q4_k_m")}}
MODES = ["resident", "streamed", "in place"]
# Types that only add kernels: two corners of the table are enough.
CORNERS = {"f16": [(1, "resident"), (4, "streamed")], "q4_k_m": [(1, "resident"), (4, "streamed")]}
# Models on devices other than virtio's card: one type here, all types in test-long.
DEVICES = {"NVMe": nvme_arguments, "USB": usb_arguments}
DEVICE_TYPES = TYPES if LONG else ["q8_0"]
# One type has all six cells on arm64 and three on riscv64, whose emulator is slowest. The other types have three cells on arm64, one on
# riscv64 with vectors and one without. test-long runs the rest.
FEW = [(1, "resident"), (4, "streamed"), (4, "in place")]


def cells_of(machine, kind):
    if LONG or machine == "host" or (machine, kind) == (ARM64, "q8_0"):
        return CORNERS.get(kind, ALL)
    if machine is ARM64 or kind == "q8_0":
        return CORNERS.get(kind, FEW)
    return FEW[1:2] if machine is RISCV64_V else FEW[:1]


tap = Tap()
for path in (STORIES, RANDOM):
    if not os.path.exists(path):
        tap.skip("the golden table", "no " + path + " (set INGOT_ASSETS)")
        tap.done()


def two_layers(path):
    """A memory limit for two layers and the pages that must stay, so that everything else streams."""
    return 2 * max(size for _, size in segments(path)[1:-1]) + 2 * 4096


models = {t: pack(SOURCES[t], t, f"golden-{t}.ingot") for t in TYPES}
limits = {t: two_layers(models[t]) for t in TYPES}
card = make_card("golden-card.img", *models.values())
flashes = {(t, m.board): make_flash(models[t], FLASH_BYTES[m.board], f"flash-{t}-{m.board}.img")
           for t in TYPES if t not in CORNERS for m in (ARM64, RISCV64)}


def host_cell(kind, cores, mode):
    command = [HOST, "run", models[kind], "-p", "", "-n", str(TOKENS[kind]), "--temp", "0",
               "--ids", "--threads", str(cores)]
    if mode == "streamed":
        command += ["--mem", str(limits[kind])]
    elif mode == "in place":
        command += ["--mmap"]
    return run(command)


def image_cell(machine, kind, cores, mode):
    words = f'prompt="" temp=0 n={TOKENS[kind]} ids cores={cores}'
    if mode == "in place":
        return machine.run(words + " model=flash", cores,
                           flash_arguments(flashes[kind, machine.board]))
    device, _, residency = mode.rpartition(" ")
    if residency == "streamed":
        words += f" mem={limits[kind]}"
    return machine.run(words + f" model=golden-{kind}", cores, DEVICES.get(device, card_arguments)(card))


def cell(key):
    machine, kind, cores, mode = key
    status, console = (host_cell(kind, cores, mode) if machine == "host"
                       else image_cell(machine, kind, cores, mode))
    reply = Reply(console)
    reply.status = status
    return reply


ALL = [(c, mode) for c in (1, 4) for mode in MODES]
keys = [(m, t, c, mode) for t in TYPES for m in ["host"] + MACHINES
        for c, mode in cells_of(m, t)]
# Two corners for each device, so that both machines use each; in test-long all corners.
keys += [(m, t, c, f"{device} {mode}") for t in DEVICE_TYPES for m in (ARM64, RISCV64_ANY)
         for device in DEVICES for c in (1, 4) for mode in ("resident", "streamed")
         if LONG or (c == 4) == (mode == "streamed")]
with ThreadPoolExecutor(os.cpu_count()) as pool:
    cells = dict(zip(keys, pool.map(cell, keys)))


def label(key):
    machine, kind, cores, mode = key
    name = machine if machine == "host" else machine.label
    return f"{kind:6} {name:18} {cores} core{'s' if cores > 1 else ' '} {mode:13}"


tap.note("type   machine            cores   residency      tokens ids       logits of 32 positions")
for key, reply in cells.items():
    tap.note(f"{label(key)} {len(reply.ids or []):6} {digest(reply.ids)}  {reply.hash}")

for key, reply in cells.items():
    machine, kind, cores, mode = key
    expected = cells["host", kind, 1, "resident"]
    good = (reply.ids is not None and reply.ids == expected.ids and
            len(reply.ids) == TOKENS[kind] and reply.positions == 32 and
            reply.hash == expected.hash)
    tap.ok(good, label(key) + " agrees", reply.console)
    device, _, residency = mode.rpartition(" ")
    if device in DEVICES:
        tap.ok(f"storage: {device} drive at" in reply.console, label(key) + f" came from a drive at {device}", reply.console)
    if not mode.endswith("resident"):
        words = {"place": "in place"}.get(residency, residency)
        tap.ok(f", {words}" in reply.stats, label(key) + " was " + words, reply.console)
    if residency == "streamed":
        read = reply.figure(r"read ([\d.]+ \w+) a \w+")
        tap.ok(read is not None and read == reply.figure(r"planned ([\d.]+ \w+)\)"),
               label(key) + " reads the planned bytes", reply.stats)

with open(os.path.join(ASSETS, "refs/llama2c/stories260K.t0.n256.txt"), encoding="utf-8") as f:
    reference = f.read()
text = Reply(run([HOST, "run", models["f32"], "-p", "", "-n", "128", "--temp", "0", "--ids"])[1]).text
tap.ok(len(text) > 200 and reference.startswith(text.strip("\n")),
       "f32 continues as llama2.c does, 128 tokens", text)

with open(os.path.join(ASSETS, "refs/llama.cpp/stories260K.txt"), encoding="utf-8") as f:
    greedy = next(l for l in f if l.startswith("greedy_tokens:")).split()[1:]
_, console = run([HOST, "run", models["f32"], "-p", "Once upon a time", "-n", str(len(greedy)),
                  "--temp", "0", "--ids"])
tap.ok(Reply(console).ids == [int(i) for i in greedy], "f32 gives llama.cpp's greedy ids", console)
tap.done()
