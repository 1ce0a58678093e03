#!/usr/bin/python3
"""The image boots on every CPU, exception level and core count that the virt machines have, in
time and small enough, and powers off."""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import BUILD, HOST, WORK, Machine, Reply, Tap, card_arguments, make_card

PROMPT_LIMIT_MS = 500          # guest time from entry to the prompt, loading excluded
IMAGE_LIMIT_BYTES = 256 * 1024  # without weights

tap = Tap()
os.makedirs(WORK, exist_ok=True)
MODEL = os.path.join(WORK, "boot-tiny.ingot")
subprocess.run([HOST, "synth", "--shape", "tiny", "--type", "q8_0", "-o", MODEL], check=True,
               capture_output=True, timeout=60)
CARD = make_card("boot-card.img", MODEL)

ELF = os.path.join(BUILD, "virt-arm64/ingot.elf")
machines = [(Machine("virt-arm64", f"virt-arm64 {cpu}", ["-cpu", cpu]), 4, None)
            for cpu in ("cortex-a53", "cortex-a72", "cortex-a76", "max")]
machines += [
    (Machine("virt-arm64", "virt-arm64 from EL2", ["-M", "virt,virtualization=on"]), 4, None),
    (Machine("virt-arm64", "virt-arm64 from EL3", ["-M", "virt,secure=on"]), 1, ELF),
    (Machine("virt-arm64", "virt-arm64 GICv3", ["-M", "virt,gic-version=3"]), 8, None),
    (Machine("virt-arm64", "virt-arm64 4 GiB", ["-m", "4G"]), 2, None),
]
machines += [(Machine("virt-riscv64", f"virt-riscv64 VLEN {n}",
                      ["-cpu", f"rv64,v=true,vlen={n}"]), 4, None) for n in (128, 256, 512, 1024)]
machines += [
    (Machine("virt-riscv64", "virt-riscv64 no V", ["-cpu", "rv64,v=false"]), 8, None),
    (Machine("virt-riscv64", "virt-riscv64 4 GiB", ["-m", "4G"]), 1, None),
]


def boot(row):
    machine, cores, kernel = row
    return machine.run("prompt=Hello n=4 temp=0 ids", cores, card_arguments(CARD), kernel, 90)


def time_to_prompt(console):
    ready = re.search(r"ready: entry to prompt (\d+) ms", console)
    return int(ready.group(1)) if ready else None


with ThreadPoolExecutor(os.cpu_count()) as pool:
    results = list(pool.map(boot, machines))
first = None
for (machine, cores, kernel), (status, console) in zip(machines, results):
    reply = Reply(console)
    first = first or reply.ids
    tap.ok(status == 0 and "power off" in console and reply.ids is not None and
           reply.ids == first, f"{machine.label}: boots, answers, powers off", console)
    tap.ok(f"cores: {cores} of {cores} at work" in console,
           f"{machine.label}: {cores} cores at work", console)
    took = time_to_prompt(console)
    for _ in range(4):  # guest time goes on while other tests have the processors
        if took is None or took < PROMPT_LIMIT_MS:
            break
        took = time_to_prompt(boot((machine, cores, kernel))[1])
    tap.ok(took is not None and took < PROMPT_LIMIT_MS,
           f"{machine.label}: entry to prompt in {took} ms of guest time, under "
           f"{PROMPT_LIMIT_MS}", console)

for board in ("virt-arm64", "virt-riscv64"):
    size = os.path.getsize(os.path.join(BUILD, board, "ingot.bin"))
    tap.ok(size < IMAGE_LIMIT_BYTES, f"{board}: image of {size} bytes, under {IMAGE_LIMIT_BYTES}")
    for ending in ("map", "dis"):
        beside = os.path.join(BUILD, board, "ingot." + ending)
        tap.ok(os.path.getsize(beside) > 1000, f"{board}: {ending} beside the image")

    status, console = Machine(board).run("prompt=Hello n=4 temp=0 ids model=initrd", 2,
                                         ["-initrd", MODEL], timeout=90)
    tap.ok(status == 0 and Reply(console).ids == first and "in place" in console,
           f"{board}: a model that the firmware preloaded is used where it lies", console)
tap.done()
