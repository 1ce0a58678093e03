#!/usr/bin/python3
"""The board's card and its words are read as the kit's first loader and U-Boot read them."""

import os
import re
import shutil
import sys

import pexpect

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../tests"))
from machine import BUILD, HOST, ROOT, WORK, Tap, end, run

UBOOT = "/usr/lib/u-boot/qemu-riscv64_smode/u-boot.bin"
MIB = 1 << 20
tap = Tap()


def text_of(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return f.read()


# ---- an Icicle's card as HSS reads it (findings 16 and 17) ------------------------------------------

BOOT_TYPE = "21686148-6449-6E6F-744E-656564454649"
MAGIC = bytes.fromhex("b007c0de")[::-1]


def guid(raw):
    """As text: the first three parts are little-endian (UEFI 5.3.3)."""
    parts = [raw[3::-1], raw[5:3:-1], raw[7:5:-1], raw[8:10], raw[10:16]]
    return "-".join(p.hex() for p in parts).upper()


def payload_of(card):
    """The sector where HSS would find a payload: that of the partition of its type, or 0; None: it finds none, and stops."""
    entries = range(0)
    if card[512:520] == b"EFI PART":
        at = int.from_bytes(card[512 + 72:512 + 80], "little") * 512
        entries = range(at, at + 128 * 128, 128)
    starts = [int.from_bytes(card[e + 32:e + 40], "little") for e in entries if guid(card[e:e + 16]) == BOOT_TYPE] or [0]
    return next((s for s in starts if card[s * 512:s * 512 + 4] == MAGIC), None)


fake = bytearray(64 * 512)
fake[512:520], fake[512 + 72] = b"EFI PART", 2
fake[1024:1040] = bytes.fromhex("4861682149646f6e744e656564454649")
fake[1024 + 32] = 40
tap.ok(payload_of(fake) is None, "this reader of a card finds no payload in a partition of HSS's type without one")
fake[40 * 512:40 * 512 + 4] = MAGIC
tap.ok(payload_of(fake) == 40, "and finds one where it is")


def make_card(table):
    """An Icicle's card as `ingot card` makes it, with virt's image for its own."""
    boards, card = os.path.join(WORK, "icicle-boards"), os.path.join(WORK, f"icicle-{table}.img")
    folder, model = os.path.join(boards, "icicle"), os.path.join(WORK, "icicle-tiny.ingot")
    shutil.rmtree(boards, ignore_errors=True)
    os.makedirs(os.path.join(folder, "card"))
    shutil.copytree(os.path.join(ROOT, "board/icicle/card"), os.path.join(folder, "card/files"))
    shutil.copy(os.path.join(ROOT, "flash_image/card/card_readme.txt"), os.path.join(folder, "card/readme.txt"))
    shutil.copy(os.path.join(BUILD, "virt-riscv64/ingot.bin"), os.path.join(folder, "ingot.bin"))
    told = dict(re.findall(r"^CARD_(\w+) := (.*)$", text_of("board/icicle/board.mk"), re.M))
    with open(os.path.join(folder, "card/about"), "w", encoding="utf-8") as f:
        f.write("".join(f"{k.lower()} {v}\n" for k, v in told.items()))
    for command in ([HOST, "synth", "--shape", "tiny", "--type", "q8_0", "-o", model],
                    [HOST, "card", "icicle", "--boards", boards, "--table", table, "-o", card, "--cmdline", 'prompt="Once upon" n=4 temp=0 ids', model]):
        status, said_of_it = run(command)
        assert status == 0, said_of_it
    return card


wiring = text_of("board/icicle/wiring.txt")
TOLD = [BOOT_TYPE, "b007c0de", "hss-payload-generator", "`emmc` and `boot`", "Do not leave this card in the slot", "usbdmsc"]
if not os.path.exists(os.path.join(BUILD, "virt-riscv64/ingot.bin")):
    tap.skip("an Icicle's card", "no image of virt-riscv64: make image BOARD=virt-riscv64")
    tap.done()
cards = {table: make_card(table) for table in ("mbr", "gpt")}
for table, path in cards.items():
    with open(path, "rb") as f:
        found = payload_of(f.read())
    missing = [w for w in TOLD if w not in wiring]
    tap.ok(found is not None or not missing, f"icicle, {table}: HSS finds {'a' if found is not None else 'no'} payload on its card, and wiring.txt says what that means",
           f"{missing}\n{wiring}")
tap.ok("does not start from this card" in text_of("docs/CARDS.md"), "CARDS.md says so, too")

# ---- its lines for a model over the network (finding 18), typed into U-Boot as wiring.txt has them ---

LINES = re.findall(r"(?m)^   (\S.*)$", wiring)
PLACES = {"ingot.bin": "ingot.bin", "model.ingot": "models/icicle-tiny.ingot"}
# include/configs/microchip_mpfs_generic.h has this size; virt's own environment has initrd_high already. The model is tiny; that it takes
# 300 MiB is said to U-Boot.
AS_ON_THE_KIT = ["setenv initrd_high", "setenv bootm_size 0x10000000", "virtio scan",
                 'setenv bootargs \'prompt="Once upon" n=4 temp=0 ids diag model=initrd\'']
LARGE = 300 * MIB


def typed(line):
    loads = re.match(r"tftpboot (\S+) (\S+)$", line)
    return f"fatload virtio 0:1 {loads.group(1)} {PLACES[loads.group(2)]}" if loads else line


def give(child, lines):
    """Type the lines; return the answers of U-Boot and of the program that it starts."""
    said_of_it = ""
    try:
        for line in lines:
            if line.startswith("booti"):
                child.sendline(f"setenv filesize {LARGE:x}")
                child.expect(r"\n=> $")
            child.sendline(line)
            child.expect([r"\n=> $", "power off", pexpect.EOF])
            said_of_it += (child.before or "") + str(child.after)
    except (pexpect.TIMEOUT, pexpect.EOF):
        said_of_it += child.before or ""
    return said_of_it


if not os.path.exists(UBOOT):
    tap.skip("U-Boot", f"no {UBOOT} (install u-boot-qemu)")
    tap.done()
child = pexpect.spawn("qemu-system-riscv64", ["-machine", "virt", "-m", "2G", "-nographic", "-no-reboot", "-global", "virtio-mmio.force-legacy=false",
                                              "-kernel", UBOOT, "-drive", f"if=none,id=card,format=raw,file={cards['mbr']},snapshot=on",
                                              "-device", "virtio-blk-device,drive=card"], encoding="utf-8", codec_errors="replace", timeout=100)
try:
    child.expect("stop autoboot")
    child.send(" ")
    child.expect(r"\n=> $")
    without = give(child, [*AS_ON_THE_KIT, *map(typed, LINES[1:])])
    console = give(child, map(typed, LINES))
finally:
    end(child)
tap.ok(LINES[0].startswith("setenv initrd_high") and "allocation error" in without, "icicle: U-Boot refuses 300 MiB without the first of wiring.txt's lines", without)
tap.ok(f"diag initrd: 0x90000000 to {0x90000000 + LARGE:#x}" in console and "model initrd: " in console and "ids: " in console,
       "icicle: with all of them the model stays where it was loaded, and answers", console)
tap.done()
