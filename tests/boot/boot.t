#!/usr/bin/python3
"""The image boots on the virt machines, on every CPU and exception level and with every number of cores, and powers off; it is fast
and small enough."""

import os
import re
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import (ARM64, BUILD, FLASH_BYTES, HOST, LONG, RISCV64, RISCV64_V, ROOT, WORK, Machine, Reply,
                     Tap, card_arguments, flash_arguments, make_card, make_flash, qemu_command,
                     run, sd_arguments)
from screen import Screen

COUNTED_LIMIT_MS = 100         # the same time by the clock that counts instructions, a billion per second
PROMPT_LIMIT_MS = 2000         # guest time from entry to the prompt, without loading: under 100 at rest, but
                               # QEMU's time depends on this computer's other programs
IMAGE_LIMIT_BYTES = 512 * 1024  # as in linker/image.ld.S: without weights, but with the kernels of every CPU

tap = Tap()
os.makedirs(WORK, exist_ok=True)
MODEL = os.path.join(WORK, "boot-tiny.ingot")
subprocess.run([HOST, "synth", "--shape", "tiny", "--type", "q8_0", "-o", MODEL], check=True,
               capture_output=True, timeout=60)
CARD = make_card("boot-card.img", MODEL)

ELF = os.path.join(BUILD, "virt-arm64/ingot.elf")
SVE = "neon dotprod i8mm sve"


def arm64(label, cores, extra, name="Cortex-A72", kernels="neon", kernel=None):
    return Machine("virt-arm64", "virt-arm64 " + label, extra), cores, kernel, name, kernels


def riscv64(label, cores, extra, name="rv64gcv, VLEN 128", kernels="rv64gc rvv"):
    return Machine("virt-riscv64", "virt-riscv64 " + label, extra), cores, None, name, kernels


def with_capacities(tree, capacities):
    """Replace each core's riscv,cbom-block-size by capacity-dmips-mhz, which fits because its name is shorter."""
    old, new = b"riscv,cbom-block-size\0", b"capacity-dmips-mhz\0"
    at = tree.index(old)
    tree = tree[:at] + new.ljust(len(old), b"\0") + tree[at + len(old):]
    head = struct.pack(">III", 3, 4, at - struct.unpack_from(">I", tree, 12)[0])
    pieces = tree.split(head)
    if len(pieces) != len(capacities) + 1:
        raise SystemExit(f"Bail out! {len(pieces) - 1} cores in QEMU's tree")
    return pieces[0] + b"".join(head + struct.pack(">I", c) + p[4:] for c, p in zip(capacities, pieces[1:]))


def device_tree(name, cpu, cores, changes, capacities=()):
    """The machine's own device tree with some bytes changed, as another firmware might write it."""
    path = os.path.join(WORK, name)
    subprocess.run(qemu_command("virt-riscv64", cores) + ["-M", "virt,dumpdtb=" + path, "-cpu", cpu],
                   check=True, capture_output=True, timeout=60)
    with open(path, "rb") as f:
        tree = f.read()
    for old, new in changes:
        if old not in tree or len(old) != len(new):
            raise SystemExit(f"Bail out! {name}: QEMU's tree has no {old}")
        tree = tree.replace(old, new)
    if capacities:
        tree = with_capacities(tree, capacities)
    with open(path, "wb") as f:
        f.write(tree)
    return ["-cpu", cpu, "-dtb", path]


def packed_elf():
    """Make an ELF file of the packed image, loaded at the address in the image's header, for a machine without firmware. The file also sets
    core_pen, which lies after the loaded image, to what an earlier start may have left there."""
    symbols = {line.split()[2]: int(line.split()[0], 16) for line in subprocess.run(
        ["aarch64-linux-gnu-nm", ELF], check=True, capture_output=True, text=True).stdout.splitlines()
        if len(line.split()) == 3}
    path = os.path.join(WORK, "packed.elf")
    at = hex(symbols["image_start"])
    subprocess.run(["aarch64-linux-gnu-ld", "-b", "binary", "--section-start=.data=" + at, "-e", at, "-o", path,
                    os.path.join(BUILD, "virt-arm64/ingot.bin")], check=True, capture_output=True)
    left = []
    for core in range(1, 4):
        left += ["-device", f"loader,addr={symbols['core_pen'] + 8 * core:#x},data=1,data-len=8"]
    return path, left


PACKED_ELF, LEFT_IN_PEN = packed_elf()

# Rows: machine, cores, kernel, name of the CPU, features for kernels.
machines = [
    arm64("cortex-a53", 4, ["-cpu", "cortex-a53"], "Cortex-A53"),
    arm64("cortex-a72", 4, ["-cpu", "cortex-a72"]),
    arm64("cortex-a76", 4, ["-cpu", "cortex-a76"], "Cortex-A76", "neon dotprod"),
    arm64("neoverse-v1", 4, ["-cpu", "neoverse-v1"], "Neoverse-V1, SVE 256", SVE),
    arm64("max", 4, ["-cpu", "max"], "QEMU max CPU, SVE 2048", SVE),
    arm64("no I8MM, SVE 512", 2, ["-cpu", "a64fx"], "ARMv8-A, MIDR 0x461f0010, SVE 512",
          "neon sve"),
    arm64("from EL2", 4, ["-M", "virt,virtualization=on"]),
    arm64("from EL2, SVE", 2, ["-M", "virt,virtualization=on", "-cpu", "neoverse-v1"],
          "Neoverse-V1, SVE 256", SVE),
    arm64("from EL3", 1, ["-M", "virt,secure=on"], kernel=ELF),
    arm64("from EL3, SVE", 2, ["-M", "virt,secure=on", "-cpu", "neoverse-v1"],
          "Neoverse-V1, SVE 256", SVE, ELF),
    arm64("packed, from EL3", 4, ["-M", "virt,secure=on", *LEFT_IN_PEN], kernel=PACKED_ELF),
    arm64("GICv3", 8, ["-M", "virt,gic-version=3"]),
    arm64("4 GiB", 2, ["-m", "4G"]),
]
machines += [riscv64(f"VLEN {n}", 4, ["-cpu", f"rv64,v=true,vlen={n}"], f"rv64gcv, VLEN {n}")
             for n in (128, 256, 512, 1024)]
machines += [
    riscv64("no V", 8, ["-cpu", "rv64,v=false"], "rv64gc", "rv64gc"),
    riscv64("4 GiB", 1, ["-m", "4G"]),
    riscv64("Zvfh, Zvknha", 2, ["-cpu", "rv64,v=true,vlen=256,zvfh=true,zvknha=true"], "rv64gcv, VLEN 256",
            "rv64gc rvv zvfh zvknha"),
]
ZVFH = "rv64,v=true,vlen=128,zvfh=true,zvknhb=true"
NO_LIST = (b"\0riscv,isa-extensions\0", b"\0riscv,isa-extensionz\0")
NO_STRING = [(b"rv64imafdcvh_", b"rv64imafdch__"), (b"_zvfh_zvfhmin_zvknhb_", b"_zvfq_zvfhmiq_zvknhq_")]
machines += [
    riscv64("Zvfh and Zvknhb by riscv,isa", 2, device_tree("isa.dtb", ZVFH, 2, [NO_LIST]),
            kernels="rv64gc rvv zvfh zvknha"),
    riscv64("Zvfh and Zvknhb by riscv,isa-extensions", 2, device_tree("list.dtb", ZVFH, 2, NO_STRING),
            kernels="rv64gc rvv zvfh zvknha"),
    riscv64("Zvfh and Zvknhb unsaid", 2, device_tree("unsaid.dtb", ZVFH, 2, [NO_LIST, NO_STRING[1]])),
    riscv64("V unsaid", 2, device_tree("none.dtb", ZVFH, 2, [NO_LIST, NO_STRING[0]]), "rv64gc",
            "rv64gc"),
    riscv64("unequal cores", 4, device_tree("unequal.dtb", ZVFH, 4, [], (1024, 1024, 341, 341)),
            kernels="rv64gc rvv zvfh zvknha"),
]

# OpenSBI boots the first hart in its lottery. Core 0 is this hart; the other cores follow in the order of the tree.
UNEQUAL = re.compile(r"with (37, 37, 12|12, 37, 37), 12 % of the rows\n")


def boot(row):
    machine, cores, kernel = row[:3]
    return machine.run("prompt=Hello n=4 temp=0 ids", cores, card_arguments(CARD), kernel, 90)


def time_to_prompt(console):
    ready = re.search(r"ready: entry to prompt (\d+) ms", console)
    return int(ready.group(1)) if ready else None


with ThreadPoolExecutor(os.cpu_count()) as pool:
    results = list(pool.map(boot, machines))
first = None
for (machine, cores, kernel, name, kernels), (status, console) in zip(machines, results):
    reply = Reply(console)
    first = first or reply.ids
    tap.ok(status == 0 and "power off" in console and reply.ids is not None and
           reply.ids == first, f"{machine.label}: boots, answers, powers off", console)
    tap.ok(f"cores: {cores} of {cores} at work" in console,
           f"{machine.label}: {cores} cores at work", console)
    tap.ok(f": {cores} x {name}, " in console and
           re.search(rf"\] kernels: {kernels}, (no prefetch|prefetch [1-9]\d* B)\n", console),
           f"{machine.label}: is {name}, kernels for {kernels}", console)
    took = time_to_prompt(console)
    for _ in range(4):  # guest time passes also while other tests use the processors
        if took is None or took < PROMPT_LIMIT_MS:
            break
        took = time_to_prompt(boot((machine, cores, kernel))[1])
    tap.ok(bool(UNEQUAL.search(console)) == ("unequal" in machine.label), f"{machine.label}: core kinds are those of the tree", console)
    tap.ok(took is not None and took < PROMPT_LIMIT_MS,
           f"{machine.label}: entry to prompt in {took} ms of guest time, under "
           f"{PROMPT_LIMIT_MS}", console)

machine = Machine("virt-arm64", "virt-arm64 max", ["-cpu", "max"])
for isa, kernels in (("ref", "ref"), ("neon", "neon"), ("i8mm", "neon dotprod i8mm"),
                     ("rvv", SVE), ("sve2", SVE)):
    status, console = machine.run(f"prompt=Hello n=4 temp=0 ids isa={isa}", 1,
                                  card_arguments(CARD), timeout=90)
    tap.ok(status == 0 and Reply(console).ids == first and f"] kernels: {kernels}, " in console,
           f"{machine.label}: isa={isa} chooses {kernels}, same ids", console)
    tap.ok((f"isa={isa} has no effect, because this CPU has no {isa}; it has {SVE}, and ref; the best is used" in console) ==
           (kernels == SVE), f"{machine.label}: isa={isa} is refused with a message if the CPU lacks it", console)

for board in ("virt-arm64", "virt-riscv64"):
    size = os.path.getsize(os.path.join(BUILD, board, "ingot.bin"))
    tap.ok(size < IMAGE_LIMIT_BYTES, f"{board}: image of {size} bytes, under {IMAGE_LIMIT_BYTES}")
    for ending in ("map", "dis"):
        beside = os.path.join(BUILD, board, "ingot." + ending)
        tap.ok(os.path.getsize(beside) > 1000, f"{board}: the file {ending} lies next to the image")

    status, console = Machine(board).run("prompt=Hello n=4 temp=0 ids model=initrd", 2,
                                         ["-initrd", MODEL], timeout=90)
    tap.ok(status == 0 and Reply(console).ids == first and "in place" in console,
           f"{board}: a model that the firmware preloaded is used where it lies", console)

# ---- the first screen that a person at the line sees, up to the first prompt ----------------

SCREEN_ROWS, SCREEN_COLUMNS = 24, 80
COPIES = [MODEL]
for name in "bcdefg":
    COPIES.append(os.path.join(WORK, f"boot-tiny-{name}.ingot"))
    with open(MODEL, "rb") as f, open(COPIES[-1], "wb") as copy:
        copy.write(f.read())
MANY = make_card("boot-many.img", "--power-of-two", *COPIES)
FLASH = flash_arguments(make_flash(MODEL, FLASH_BYTES["virt-arm64"], "boot-flash.img"))
SCREENS = [
    ("virt-arm64, resident", ARM64, "", card_arguments(CARD), r"plan: resident.*MiB of"),
    ("virt-arm64, streamed", ARM64, "mem=160K", card_arguments(CARD),
     r"plan: streamed.*\n.*pinned.*read per token\n.*card [\d.]+ MB/s"),
    ("virt-arm64, in flash", ARM64, "", FLASH, "plan: in place"),
    ("virt-riscv64, seven models", RISCV64_V, "", sd_arguments(MANY), "and 3 more: /models lists"),
    ("virt-arm64, with a draft", ARM64, "draft=boot-tiny-b model=boot-tiny-c", sd_arguments(MANY),
     "draft .*takes"),
    ("rpi4", Machine("rpi4"), "", ["-drive", f"if=sd,format=raw,snapshot=on,file={MANY}"],
     "board: .* MHz"),
]


def first_screen(console):
    """The rows up to the prompt, as a terminal with SCREEN_COLUMNS columns shows them."""
    screen = Screen(SCREEN_COLUMNS)
    at = console.find("[", console.find("\r["))
    screen.feed(console[max(at, 0):console.find("\n> ")].replace("\n", "\r\n") + "\r\n> ")
    return [screen.line(i) for i in range(screen.row + 1)]


for label, machine, more, drives, expect in SCREENS:
    cores = 4 if machine.board == "rpi4" else 2
    status, console = machine.run("temp=0 " + more, cores, drives, stdin=b"\n/off\n")
    shown = first_screen(console)
    text = "\n".join(shown)
    tap.ok(status == 0 and 5 < len(shown) <= SCREEN_ROWS and shown[0].find("Ingot 0") == 12 and
           "/help" in shown[-2] and shown[-1] == "> ",
           f"first screen, {label}: {len(shown)} rows of {SCREEN_ROWS}", console)
    tap.ok(all(re.search(what, console) for what in
               (r"Ingot \d+(?:\.\d+)+ on \S+: \d x \S+.*, \S+ [MG]iB RAM", r"\] cores: \d of \d",
                r"\] kernels: \w+", r"\] storage: ", r"\] model \S+: ", r"\] ready: ", expect)) and
           (more == "mem=160K" or "flash" in label or re.search(r"loading.* at [\d.]+ MB/s", console)),
           f"first screen, {label}: board, cores, RAM, card and rate, model and plan", text)
    if label in ("virt-arm64, resident", "virt-arm64, streamed"):
        # With a prompt, because a conversation with a person also keeps branches, if there is room.
        said = machine.run("temp=0 prompt=Hello n=1 " + more, cores, drives)[1]
        planned = run([HOST, "plan", MODEL, "--board", machine.board, *(["--mem", more[len("mem="):]] if more else [])])[1]
        sizes = [re.search(r"plan: .*, ([\d.]+ \w+) of ", said), re.search(r"weights .* ([\d.]+ \w+) of memory in all", planned)]
        tap.ok(all(sizes) and sizes[0][1] == sizes[1][1], f"{label}: the board needs as much memory as ingot plan --board says", [said, planned])
    elif not LONG:
        continue
    status, console = machine.run("temp=0 verbose " + more, cores, drives, stdin=b"\n/off\n")
    tap.ok(status == 0 and re.search(r"\]   scratch +\d", console) and
           not re.search(r"\]   scratch +\d", text), f"{label}: verbose shows the memory regions", console)

# ---- the first start, timed by the clock that counts instructions; no terminal answers the board's first question ----

DEMO_CARD = make_card("boot-demo.img", os.path.join(ROOT, "models/demo-q8_0.ingot"))
for machine in (ARM64, RISCV64_V, RISCV64):
    for _ in range(5):  # waiting for the card counts, which takes long while other tests use the processors
        status, console = machine.run("", 1, card_arguments(DEMO_CARD) + ["-icount", "shift=0,sleep=off"], stdin=b"\n/off\n")
        took = time_to_prompt(console)
        if took is None or took < COUNTED_LIMIT_MS:
            break
    tap.ok(status == 0 and "\x1b[6n" in console and took is not None and took < COUNTED_LIMIT_MS,
           f"{machine.label}: {took} M instructions from entry to the prompt, card and header read, under {COUNTED_LIMIT_MS}", console)
tap.done()
