#!/usr/bin/python3
"""One stick for any machine: what `ingot card efi` writes starts under AAVMF with ACPI and with a device tree, U-Boot on
arm64 and riscv64, and OVMF, by the firmware's own boot order, and says what the same model says on this computer, bit for bit:
resident and streamed, on one core and on four."""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from efi import FIRMWARE, PROGRAMS, make_stick
from machine import HOST, ROOT, WORK, Reply, Tap, run

MODEL = os.path.join(ROOT, "models/demo-q8_0.ingot")
PROMPT = "Hello! Who are you?"
WORDS = f'prompt="{PROMPT}" temp=0 ids'
STREAMED = "600K"  # mem=: half of the weights
CELLS = [("AAVMF with ACPI", 1, "resident"), ("AAVMF with ACPI", 4, "streamed"), ("AAVMF with a tree", 4, "resident"),
         ("U-Boot arm64", 1, "streamed"), ("U-Boot arm64", 4, "resident"), ("U-Boot riscv64", 1, "resident"),
         ("U-Boot riscv64", 4, "streamed"), ("OVMF", 1, "streamed"), ("OVMF", 4, "resident")]

tap = Tap()
status, console = run([HOST, "run", MODEL, "-p", PROMPT, "--temp", "0", "--ids", "-q"])
want = Reply(console)
tap.ok(status == 0 and want.hash, f"this computer: logits {want.hash}", console)
sticks = {}
if any(not f.missing() for f in FIRMWARE.values()):
    sticks = {"resident": make_stick("efi-resident.img", WORDS, MODEL),
              "streamed": make_stick("efi-streamed.img", f"{WORDS} mem={STREAMED}", MODEL)}


def boot(cell):
    name, cores, residency = cell
    return FIRMWARE[name].missing() or FIRMWARE[name].run(sticks[residency], cores)


# ---- one stick ----------------------------------------------------------------------------------

if sticks:
    listed = subprocess.run(["sgdisk", "-p", sticks["resident"]], capture_output=True, text=True, timeout=60)
    tap.ok(re.search(r"^ +1 .* EF00 ", listed.stdout, re.M), "the stick has a GPT with an EFI system partition", listed.stdout)
    names = subprocess.run(["mdir", "-i", sticks["resident"] + "@@1M", "-/", "-b", "::"], capture_output=True, text=True, timeout=60).stdout
    lacks = [n for f in FIRMWARE.values() if not f.missing() for n in [PROGRAMS[f.board]] if f"/EFI/BOOT/{n}" not in names]
    tap.ok(not lacks and "/ingot.txt" in names and "/README.txt" in names, "it has every program, ingot.txt and README.txt", names)

# ---- each machine -------------------------------------------------------------------------------

with ThreadPoolExecutor(2) as pool:
    results = list(pool.map(boot, CELLS))
for (name, cores, residency), result in zip(CELLS, results):
    what = f"{name}, {cores} cores, {residency}"
    if isinstance(result, str):
        tap.skip(what, result)
        continue
    status, console = result
    reply = Reply(console)
    tap.ok(status == 0 and reply.hash == want.hash and reply.ids == want.ids, f"{what}: logits {reply.hash}", console)
    tap.ok(f"cores: {cores} of {cores} at work" in console and f", {residency}" in reply.stats and "only one core is used" not in console,
           f"{what}: as it should be", console)

# ---- reads in flight (BlockIO2), which EDK2 has for an NVMe drive -------------------------------

what = "AAVMF with ACPI, NVMe, streamed"
aavmf = FIRMWARE["AAVMF with ACPI"]
if aavmf.missing():
    tap.skip(what, aavmf.missing())
else:
    stick = make_stick("efi-flying.img", f"{WORDS} mem={STREAMED} diag", MODEL)
    status, console = run(aavmf.start(stick, 1, disk="nvme,drive=card,serial=ingot,romfile="), 150)
    reply = Reply(console)
    tap.ok(status == 0 and reply.hash == want.hash and reply.ids == want.ids, f"{what}: logits {reply.hash}", console)
    tap.ok("diag reads: in flight (BlockIO2)" in console, f"{what}: reads are in flight", console)
tap.done()
