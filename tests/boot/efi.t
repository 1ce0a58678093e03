#!/usr/bin/python3
"""The stick that `ingot card efi` makes starts under five firmwares (AAVMF with ACPI and with a device tree, U-Boot on arm64 and riscv64, OVMF) by
their own boot order. It answers as the model does on this computer, bit for bit: resident and streamed, on one core, on four and on ten, with reads
in flight if the firmware supports them (BlockIO2), with 64 GiB, and with memory in two nodes. A token takes as many instructions as on virt-arm64,
and the prompt comes as early as there."""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from efi import FIRMWARE, NVME, PROGRAMS, SATA, VIRTIO, make_stick
from machine import BUILD, HOST, ROOT, Machine, Reply, Tap, run, text_of

MODEL = os.path.join(ROOT, "models/demo-q8_0.ingot")
PROMPT = "Hello! Who are you?"
WORDS = f'prompt="{PROMPT}" temp=0 ids'
STREAMED = "600K"  # mem=: half of the weights
CELLS = [(name, cores, residency) for name in FIRMWARE for cores, residency in
         ((1, "resident"), (4, "resident"), (1, "streamed"), (4, "streamed"))]
CELLS += [("AAVMF with a tree", 1, "streamed", NVME), ("AAVMF with ACPI", 4, "streamed", NVME), ("OVMF", 4, "streamed", SATA),
          ("AAVMF with ACPI", 10, "streamed"), ("U-Boot riscv64", 10, "resident"), ("OVMF", 10, "resident")]
MANY = {"efi-arm64": ["-M", "gic-version=3"]}  # more than eight cores


def nodes(memory):
    """QEMU's options for two nodes, each with half of the memory."""
    return [w for n in ("a", "b") for w in ("-object", f"memory-backend-ram,id={n},size={memory}M", "-numa", f"node,memdev={n}")]


# Additional options of some cells. The 64 GiB are never written, so this computer does not need them.
LARGE = ("AAVMF with ACPI", 1, "resident")
MORE = {("AAVMF with a tree", 4, "resident"): nodes(512), ("AAVMF with ACPI", 4, "streamed"): nodes(512), ("OVMF", 4, "resident"): nodes(128),
        LARGE: ["-m", "64G", "-object", "memory-backend-ram,id=all,size=64G,reserve=off", "-M", "memory-backend=all"]}

tap = Tap()
status, console = run([HOST, "run", MODEL, "-p", PROMPT, "--temp", "0", "--ids", "-q"])
want = Reply(console)
tap.ok(status == 0 and want.hash, f"this computer: logits {want.hash}", console)
sticks = {}
if any(not f.missing() for f in FIRMWARE.values()):
    sticks = {"resident": make_stick("efi-resident.img", WORDS, MODEL),
              "streamed": make_stick("efi-streamed.img", f"{WORDS} mem={STREAMED} diag", MODEL)}


def boot(cell):
    name, cores, residency, *disk = cell
    f = FIRMWARE[name]
    more = MORE.get(cell, []) + (MANY.get(f.board, []) if cores > 8 else [])
    return f.missing() or f.run(sticks[residency], cores, more, timeout=150 if cores <= 8 else 300, disk=disk[0] if disk else VIRTIO)


# ---- one stick ----------------------------------------------------------------------------------

if sticks:
    listed = subprocess.run(["sgdisk", "-p", sticks["resident"]], capture_output=True, text=True, timeout=60)
    tap.ok(re.search(r"^ +1 .* EF00 ", listed.stdout, re.M), "the stick has a GPT with an EFI system partition", listed.stdout)
    names = subprocess.run(["mdir", "-i", sticks["resident"] + "@@1M", "-/", "-b", "::"], capture_output=True, text=True, timeout=60).stdout
    lacks = [n for f in FIRMWARE.values() if not f.missing() for n in [PROGRAMS[f.board]] if f"/EFI/BOOT/{n}" not in names]
    tap.ok(not lacks and "/ingot.txt" in names and "/README.txt" in names, "the stick has every program, ingot.txt and README.txt", names)

# ---- each machine -------------------------------------------------------------------------------

with ThreadPoolExecutor(2) as pool:
    results = list(pool.map(boot, CELLS))
for cell, result in zip(CELLS, results):
    name, cores, residency, *disk = cell
    what = f"{name}, {cores} cores, {residency}" + (", reads in flight" if disk else "")
    if isinstance(result, str):
        tap.skip(what, result)
        continue
    status, console = result
    reply = Reply(console)
    tap.ok(status == 0 and reply.hash == want.hash and reply.ids == want.ids, f"{what}: logits {reply.hash}", console)
    tap.ok(f"cores: {cores} of {cores} at work" in console and f", {residency}" in reply.stats and "only one core is used" not in console,
           f"{what}: the console has the expected lines", console)
    has_nodes = "-numa" in MORE.get(cell, [])
    tap.ok(("warning: memory has 2 nodes (NUMA)" in console) == has_nodes, f"{what}: {'two nodes are' if has_nodes else 'no node is'} reported", console)
    if cell == LARGE:
        arena = re.search(r"plan: resident, .* of ([\d.]+) GiB", console)
        tap.ok("64.0 GiB RAM" in console and arena and float(arena.group(1)) > 60, f"{what}: 64 GiB, of which {arena and arena.group(1)} are the arena", console)
    if disk:
        tap.ok("diag reads: in flight (BlockIO2)" in console, f"{what}: BlockIO2 is used", console)
    elif residency == "streamed":
        tap.ok("diag reads: by core 0 (BlockIO)" in console, f"{what}: BlockIO is used", console)

# ---- sticks that are made in other ways ----------------------------------------------------------------------


def answers(what, status, console):
    reply = Reply(console)
    tap.ok(status == 0 and reply.hash == want.hash and reply.ids == want.ids, f"{what}: logits {reply.hash}", console)


f = FIRMWARE["AAVMF with a tree"]
if f.missing():
    tap.skip("a stick with exFAT, and make run", f.missing())
else:
    exfat = make_stick("efi-exfat.img", WORDS, MODEL, options=["--format", "exfat"])
    listed = subprocess.run(["sgdisk", "-p", exfat], capture_output=True, text=True, timeout=60).stdout
    tap.ok(re.search(r"^ +1 .* EF00 .*\n +2 .* 0700 ", listed, re.M), "--format exfat: the stick has an EFI system partition, and one for models", listed)
    answers("a stick with exFAT", *f.run(exfat, 2))
    made = subprocess.run(["make", "-s", "--no-print-directory", "run", "BOARD=efi-arm64", "MODEL=" + MODEL, "CMDLINE=" + WORDS, "O=" + BUILD], cwd=ROOT,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=400)
    answers("make run BOARD=efi-arm64 MODEL=", made.returncode, text_of(made.stdout))

# ---- what the firmware costs --------------------------------------------------------------------

# In counted runs an instruction takes a nanosecond of the machine's time.
COUNTED, COST = ["-icount", "shift=0"], f'prompt="{PROMPT}" temp=0 n=24 cores=1 ticks diag verbose'
MOST_PERCENT, MOST_MS = 1, 500


def decode_ticks(console):
    found = re.search(r"ticks: prefill \d+ decode (\d+)", console)
    return int(found.group(1)) if found else 0


f = FIRMWARE["AAVMF with ACPI"]
if f.missing():
    tap.skip("what a token and a start cost", f.missing())
else:
    native = Machine("virt-arm64").command(COST + " model=initrd", 1, ["-initrd", MODEL])
    _, own = run(native + COUNTED, 120)
    _, console = run(f.start(make_stick("efi-cost.img", COST, MODEL), 1) + COUNTED, 240)
    a, b = decode_ticks(own), decode_ticks(console)
    share = 100 * (b / a - 1) if a and b else 100
    tap.ok(abs(share) < MOST_PERCENT, f"AAVMF: a token costs {share:+.2f} % of virt-arm64's instructions, under {MOST_PERCENT} %", own + console)
    ready = re.search(r"ready: entry to prompt (\d+) ms", console)
    tap.ok(ready and int(ready.group(1)) < MOST_MS, f"AAVMF: entry to prompt in {ready and ready.group(1)} ms of a nanosecond an instruction, under {MOST_MS}",
           console)
tap.done()
