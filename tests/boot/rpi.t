#!/usr/bin/python3
"""Raspberry Pi 3 and 4 as QEMU emulates them: a start from 0x80000, with and without the firmware's device tree, one core and four, a card at
the board's own controller, clocks, watchdog, power-off. For a Pi 5 there are only tests that need no emulator."""

import json
import os
import re
import socket
import struct
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from device_tree import make_tree, raspberry_pi_tree
from machine import (ARM64, ASSETS, BUILD, HOST, LONG, WORK, Machine, Reply, Tap, card_arguments, segments,
                     make_card, pack, text_of)

STORIES = os.path.join(ASSETS, "llama2c/stories260K.bin")
PROMPT, N = "Once upon a time", 24 if LONG else 6  # streamed, each token reads the card once
CORES = {"rpi3": "Cortex-A53", "rpi4": "Cortex-A72"}
COMPATIBLE = {"rpi3": "raspberrypi,3-model-b", "rpi4": "raspberrypi,4-model-b"}
# The memory that QEMU's machines have for the cores if there is no tree. With a tree only the first GiB counts.
RAM = {"rpi3": "960.0 MiB", "rpi4": "1.94 GiB"}

tap = Tap()
os.makedirs(WORK, exist_ok=True)
TINY = os.path.join(WORK, "rpi-tiny.ingot")
subprocess.run([HOST, "synth", "--shape", "tiny", "--type", "q8_0", "-o", TINY], check=True,
               capture_output=True, timeout=60)
models = {"tiny": TINY}
if os.path.exists(STORIES):
    models["stories"] = pack(STORIES, "q8_0", "rpi-stories.ingot")
    tap.ok(True, "stories260K is there")
else:
    tap.skip("stories260K on the boards", "no " + STORIES + " (set INGOT_ASSETS)")
card = make_card("rpi-card.img", "--power-of-two", *models.values())
SD = ["-drive", f"if=sd,format=raw,snapshot=on,file={card}"]  # QEMU refuses readonly=on


def tree_file(name, board, release=0xd8):
    path = os.path.join(WORK, name)
    with open(path, "wb") as f:
        f.write(make_tree(raspberry_pi_tree(COMPATIBLE[board], release)))
    return ["-dtb", path]


def words_for(model, cores, mode):
    words = f'prompt="{PROMPT}" temp=0 n={N} ids model={os.path.basename(models[model])[:-6]}'
    words += f" cores={cores}" if cores else ""
    if mode == "streamed":
        words += f" mem={2 * max(size for _, size in segments(models[model])[1:-1]) + 2 * 4096}"
    return words


def cell(key):
    model, board, cores, mode, tree = key
    if board == "virt-arm64":
        machine, drives = ARM64, card_arguments(card)
    else:
        machine, drives = Machine(board), SD + (tree_file(f"{board}.dtb", board) if tree else [])
    status, console = machine.run(words_for(model, cores, mode), cores or 4, drives)
    reply = Reply(console)
    reply.status = status
    return reply


# ---- the same ids and logits as on virt-arm64 ------------------------------------------------

CELLS = ((0, "resident", False), (1, "streamed", True), *(((1, "resident", True), (4, "streamed", False)) if LONG else ()))
keys = [(m, b, c, mode, tree) for m in models for b in CORES for c, mode, tree in CELLS
        if LONG or m == "tiny" or not c]  # the tiny model is hardly larger than its tokenizer
keys += [(m, "virt-arm64", 1, "resident", False) for m in models]
with ThreadPoolExecutor(os.cpu_count()) as pool:
    replies = dict(zip(keys, pool.map(cell, keys)))
for key, reply in replies.items():
    model, board, cores, mode, tree = key
    if board == "virt-arm64":
        tap.note(f"{model}: {reply.hash}")
        continue
    expected = replies[model, "virt-arm64", 1, "resident", False]
    console = reply.console
    name = f"{board} {model}, {cores or 'all'} cores, {mode}, {'a' if tree else 'no'} tree"
    tap.ok(reply.status == 0 and console.rstrip().endswith("power off"),
           f"{name}: power off ends QEMU", console)
    tap.ok(reply.ids and len(reply.ids) >= 4 and reply.ids == expected.ids and
           reply.hash is not None and reply.hash == expected.hash,
           f"{name}: ids and logits of virt-arm64", console)
    tap.ok(f", {mode}" in reply.stats and "SD card at" in console, f"{name}: from the card",
           console)
    tap.ok(f"on {board}: 4 x {CORES[board]}, {'960.0 MiB' if tree else RAM[board]} RAM" in console
           and f"cores: {cores or 4} of 4 at work" in console, f"{name}: RAM and cores", console)
    tap.ok("board: 700 MHz, 25.0 C\n" in console and reply.stats.endswith(", 25.0 C]"),
           f"{name}: clock and temperature", console)
    tap.ok("warning" not in console and "kernels: neon, prefetch" in console,
           f"{name}: no warning", console)

# ---- addresses, clocks, pins, and page 0 ---------------------------------------------------------


def one_word(board, words, drives=(), kernel=None):
    return Machine(board).run(words, 4, drives, kernel, timeout=60)


def read_until(process, want, seconds=60):
    text, end = b"", time.time() + seconds
    os.set_blocking(process.stdout.fileno(), False)
    while want.encode() not in text and time.time() < end:
        text += process.stdout.read() or b""
        time.sleep(0.02)
    return text_of(text)


def start(board, words, drives=()):
    """Without -no-reboot a reset starts the image again, and RAM keeps its contents."""
    command = [a for a in Machine(board).command(words, 4, drives) if a != "-no-reboot"]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT)


for board in CORES:
    # QEMU's cores poll only the words at 0xd8, so they never start if the tree names other words.
    status, console = one_word(board, "prompt=x", tree_file(f"{board}-elsewhere.dtb", board, 0x8d8))
    tap.ok(status == 0 and "cores: 1 of 4 at work" in console,
           f"{board}: cores are fetched from the tree's cpu-release-addr", console)

    trace = os.path.join(WORK, f"{board}-trace")
    status, console = one_word(board, "baud=3000000 prompt=x", [
        "-d", "trace:pl011_baudrate_change,trace:bcm2835_mbox_property", "-D", trace])
    with open(trace, encoding="utf-8", errors="replace") as f:
        events = f.read()
    rates = [int(r) for r in re.findall(r"new baudrate (\d+)", events) if r != "0"]
    if not events:
        tap.skip(f"{board}: rate of the UART", "this QEMU has no such trace events")
    else:
        tap.ok(rates and all(abs(r - 115200) < 1152 for r in rates[:2]),
               f"{board}: 115200 baud of the clock set by the mailbox", events)
        tap.ok(rates and abs(rates[-1] - 3000000) < 30000, f"{board}: baud=3000000", events)
        tap.ok(events.count("tag:0x00038002") == 2,
               f"{board}: the clocks of UART and cores are set", events)
    tap.ok("the console continues at 3000000 baud" in console and "power off" in console,
           f"{board}: the console continues", console)

    traps = os.path.join(BUILD, board, "traps.bin")
    for words, says in (("read-null", "read at 0x8: nothing is mapped there"),
                        ("stack-overflow 1", "stack overflow: the guard of core 1")):
        status, console = one_word(board, words, kernel=traps)
        tap.ok(status == 0 and says in console and console.rstrip().endswith("power off"),
               f"{board}: {words} is reported", console)

# Without a tree, boot arguments come from the mailbox, in an answer of 2 KiB.
for board in CORES:
    trace = os.path.join(WORK, f"{board}-words-trace")
    asked = ["-d", "trace:bcm2835_mbox_property", "-D", trace]
    status, console = one_word(board, "n=1 " * 400 + "prompt=x", asked)
    with open(trace, encoding="utf-8", errors="replace") as f:
        events = f.read()
    tap.ok(status == 0 and "boot arguments" not in console, f"{board}: 1,608 bytes of options are read", console)
    if "tag:" in events:
        tap.ok(re.search(r"tag:0x00050001 in_sz:2048", events), f"{board}: the mailbox is asked with room for 2 KiB", events)
    process = start(board, "n=1 " * 600 + "prompt=x")
    console = read_until(process, "\n> ")
    process.kill()
    process.communicate()
    tap.ok("warning: the boot arguments have 2408 bytes, and the limit is 2048: all of them are ignored" in
           console, f"{board}: 2,408 bytes get an error message", console)

# raspi3b is a 3B, whose LED is on the firmware's expander.
trace = os.path.join(WORK, "light-trace")
status, console = one_word("rpi3", words_for("tiny", 1, "resident"),
                           SD + ["-d", "trace:bcm2835_mbox_property", "-D", trace])
with open(trace, encoding="utf-8", errors="replace") as f:
    events = f.read()
if not events:
    tap.skip("rpi3: the light", "this QEMU has no such trace events")
else:
    changes = events.count("tag:0x00038041")
    tap.ok(changes >= 2 and changes % 2 == 0,
           "rpi3: the LED goes on and off while the card is read", events[-2000:])

# On a real Pi 4 the card slot is at this controller; QEMU has the controller without DMA and without a card.
EMMC2 = ["-drive", f"if=none,id=card,format=raw,snapshot=on,file={card}",
         "-device", "sd-card,drive=card,bus=/generic-sdhci/sd-bus"]
status, console = one_word("rpi4", words_for("tiny", 1, "streamed"), EMMC2)
expected = replies["tiny", "virt-arm64", 1, "resident", False]
tap.ok(status == 0 and "SD card at 0xfe340000" in console and Reply(console).ids == expected.ids and
       Reply(console).hash == expected.hash, "rpi4: streamed from EMMC2", console)

# ---- the watchdog, and the report of the next start ----------------------------------------------


def reset(path):
    """Somebody presses the button."""
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(20)
        s.connect(path)
        f = s.makefile("rw")
        f.readline()
        for command in ("qmp_capabilities", "system_reset"):
            f.write(json.dumps({"execute": command}) + "\n")
            f.flush()
            f.readline()


for board in CORES:
    # QEMU's watchdog does not count: it fires as soon as it is armed.
    process = start(board, "watchdog=15")
    console = read_until(process, "while it was starting")
    process.kill()
    process.communicate()
    first = console.split("Ingot ")[1] if console.count("Ingot ") > 1 else "warning"
    tap.ok("warning" not in first and
           re.search(r"warning: the watchdog ended the last run \d\.\d s after its start, while it was "
                     "starting", console), f"{board}: the next start names the watchdog", console)

    path = os.path.join(WORK, f"{board}.qmp")
    process = start(board, "", SD + ["-qmp", f"unix:{path},server=on,wait=off"])
    console = read_until(process, "\n> ")
    time.sleep(0.6)
    if "\n> " in console:
        reset(path)
        console += read_until(process, "of 4 at work")
    process.kill()
    process.communicate()
    tap.ok(re.search(r"warning: a reset cut off the last run \d+\.\d s after its start, "
                     r"while it was (talking|waiting for input)", console),
           f"{board}: the next start names the reset", console)
    tap.ok(console.count("cores: 4 of 4 at work") == 2, f"{board}: the next start has all its cores", console)

# ---- what is linked ---------------------------------------------------------------------------


def instructions(board):
    with open(os.path.join(BUILD, board, "ingot.dis"), encoding="utf-8") as f:
        return set(re.findall(r"^\s*[0-9a-f]+:\s+[0-9a-f]{8}\s+(\S+)", f.read(), re.M))


def size(board):
    return os.path.getsize(os.path.join(BUILD, board, "ingot.bin"))


lacks = {"rpi3": {"sdot", "smmla", "whilelo"}, "rpi4": {"sdot", "smmla", "whilelo"},
         "rpi5": {"smmla", "whilelo"}}
for board, missing in lacks.items():
    used = instructions(board)
    tap.ok(len(used) > 100 and not used & missing and size(board) < size("virt-arm64"),
           f"{board}: no kernels for other CPUs ({size(board)} bytes)", sorted(used & missing))
    with open(os.path.join(BUILD, board, "ingot.bin"), "rb") as f:
        header = f.read(64)
    tap.ok(struct.unpack_from("<Q", header, 8)[0] == 0x80000 and header[56:60] == b"ARM\x64",
           f"{board}: the Image header asks for 0x80000")
tap.ok("sdot" in instructions("rpi5"), "rpi5: the dot product is used")

# ---- what a Cortex-A53 may get wrong ----------------------------------------------------------
# The image must not contain the pairs of instructions of errata 835769 and 843419 (Arm's Software Developers Errata Notice of the Cortex-A53,
# EPM-048406). The test reads the image's instructions, so it also finds such a pair in newlib or in a kernel.


def words_of(board):
    """(address, word) of every instruction of the image, in order."""
    with open(os.path.join(BUILD, board, "ingot.dis"), encoding="utf-8") as f:
        return [(int(a, 16), int(w, 16)) for a, w in
                re.findall(r"^\s*([0-9a-f]+):\s+([0-9a-f]{8})\s", f.read(), re.M)]


def touches_memory(word):
    return word >> 27 & 1 and not word >> 25 & 1  # op0 x1x0: loads and stores


def loads_one_of(word, registers):
    """True for a load of a general register that the next instruction needs: such a pair is harmless."""
    pair = word >> 28 & 3 == 2
    return (not word >> 26 & 1 and (word >> 22 & 1 or not pair and word >> 22 & 3 >= 2) and
            (word & 31 in registers or (pair and word >> 10 & 31 in registers)))


def accumulates(word):
    """MADD, MSUB, SMADDL, UMADDL and similar into 64 bits, with an accumulator other than XZR."""
    return word >> 24 == 0x9b and word >> 21 & 7 in (0, 1, 5) and word >> 10 & 31 != 31


def wrong_sums(code):
    return [hex(at) for (_, before), (at, word) in zip(code, code[1:])
            if accumulates(word) and touches_memory(before) and
            not loads_one_of(before, {word >> 5 & 31, word >> 16 & 31, word >> 10 & 31})]


def wrong_pages(code):
    """Find each ADRP in the last two words of a page that is followed by a load or store and then, within two instructions, by an access
    with an unsigned offset from the ADRP's register."""
    return [hex(at) for n, (at, word) in enumerate(code[:-3])
            if word >> 31 and word >> 24 & 31 == 16 and at & 0xfff in (0xff8, 0xffc) and
            touches_memory(code[n + 1][1]) and
            any(w >> 24 & 0x3b == 0x39 and w >> 5 & 31 == word & 31 for _, w in code[n + 2:n + 4])]


# ldr x1, [x2]; madd x3, x4, x5, x6: wrong. With x1 or XZR as the accumulator the pair is harmless.
tap.ok(wrong_sums([(0, 0xf9400041), (4, 0x9b051883)]) == ["0x4"] and
       not wrong_sums([(0, 0xf9400041), (4, 0x9b050483)]) and
       not wrong_sums([(0, 0xf9400041), (4, 0x9b057c83)]) and
       wrong_pages([(0xff8, 0x90000000), (0xffc, 0xf9400041), (0x1000, 0xf9400403), (0x1004, 0)]) ==
       ["0xff8"], "erratum 835769 and 843419 are known when they are there")


# ldr x0, [x0, #0x400] after a page that an ADR reaches, and after one that it does not reach
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../toolchain"))
import a53_pages
PAGE_END = [(0x80ff8, 0xd0000000), (0x80ffc, 0xf9400041), (0x81000, 0xd503201f), (0x81004, 0xf9420000), (0x81008, 0)]
FAR_END = [(0x80ff8, 0xd0001000)] + PAGE_END[1:]
(near, use), = a53_pages.wrong_pages(PAGE_END)
(far, _), = a53_pages.wrong_pages(FAR_END)
rows = [0x90000, 0x90008]
tap.ok(a53_pages.mend(near, use, rows) == {0x80ff8: 0x10008040} and rows == [0x90000, 0x90008], "843419: an ADRP of a near page becomes an ADR")
tap.ok(a53_pages.mend(far, use, rows) == {0x81004: 0x14003bff, 0x90000: 0xf9420000, 0x90004: 0x17ffc401} and rows == [0x90008],
       "and the use of a far page moves to a veneer, which jumps back")
code = words_of("rpi3")
tap.ok(len(code) > 10000 and sum(accumulates(w) for _, w in code) > 100 and not wrong_sums(code),
       "rpi3: no multiply-accumulate that a Cortex-A53 gets wrong (835769)", wrong_sums(code))
tap.ok(not wrong_pages(code), "rpi3: no address that it gets wrong (843419)", wrong_pages(code))
tap.done()
