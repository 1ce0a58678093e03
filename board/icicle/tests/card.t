#!/usr/bin/python3
"""The board's card and its words are read as the kit's first loader and U-Boot read them."""

import os
import re
import shutil
import sys
import zlib

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
MAGIC, COMPRESSED = bytes.fromhex("dec007b0"), bytes.fromhex("55838bc0")


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
    return next((s for s in starts if card[s * 512:s * 512 + 4] in (MAGIC, COMPRESSED)), None)


fake = bytearray(64 * 512)
fake[512:520], fake[512 + 72] = b"EFI PART", 2
fake[1024:1040] = bytes.fromhex("4861682149646f6e744e656564454649")
fake[1024 + 32] = 40
tap.ok(payload_of(fake) is None, "this reader of a card finds no payload in a partition of HSS's type without one")
fake[40 * 512:40 * 512 + 4] = MAGIC
tap.ok(payload_of(fake) == 40, "it finds the payload in a partition that has one")


PAYLOAD = MAGIC + bytes(range(256)) * 6000  # 1.5 MiB


def make_boards():
    """A folder of boards with an Icicle whose image is virt's."""
    boards = os.path.join(WORK, "icicle-boards")
    folder = os.path.join(boards, "icicle")
    shutil.rmtree(boards, ignore_errors=True)
    os.makedirs(os.path.join(folder, "card"))
    shutil.copytree(os.path.join(ROOT, "board/icicle/card"), os.path.join(folder, "card/files"))
    shutil.copy(os.path.join(ROOT, "flash_image/card/card_readme.txt"), os.path.join(folder, "card/readme.txt"))
    shutil.copy(os.path.join(ROOT, "board/icicle/wiring.txt"), os.path.join(folder, "card/wiring.txt"))
    shutil.copy(os.path.join(BUILD, "virt-riscv64/ingot.bin"), os.path.join(folder, "ingot.bin"))
    told = dict(re.findall(r"^CARD_(\w+) := (.*)$", text_of("board/icicle/board.mk"), re.M))
    with open(os.path.join(folder, "card/about"), "w", encoding="utf-8") as f:
        f.write("".join(f"{k.lower()} {v}\n" for k, v in told.items()))
    return boards


def make_card(name, *options):
    """An Icicle's card as `ingot card` makes it: its path, and what the program says."""
    card, model = os.path.join(WORK, f"icicle-{name}.img"), os.path.join(WORK, "icicle-tiny.ingot")
    status, said_of_it = run([HOST, "synth", "--shape", "tiny", "--type", "q8_0", "-o", model])
    assert status == 0, said_of_it
    status, said_of_it = run([HOST, "card", "icicle", "--boards", BOARDS, "-o", card, "--cmdline", 'prompt="Once upon" n=4 temp=0 ids', *options, model])
    return (card if status == 0 else None), said_of_it


def read(path):
    with open(path, "rb") as f:
        return f.read()


wiring = text_of("board/icicle/wiring.txt")
TOLD = [BOOT_TYPE, "b007c0de", "hss-payload-generator", "`emmc` and `boot`", "must not be in the slot", "usbdmsc", "--firmware payload.bin"]
if not os.path.exists(os.path.join(BUILD, "virt-riscv64/ingot.bin")):
    tap.skip("an Icicle's card", "no image of virt-riscv64: make image BOARD=virt-riscv64")
    tap.done()
BOARDS = make_boards()
for table in ("mbr", "gpt"):
    plain, said = make_card(table, "--table", table)
    tap.ok(payload_of(read(plain)) is None and "no payload" in said and not [w for w in TOLD if w not in wiring],
           f"icicle, {table}: HSS finds no payload on a card without --firmware; the program says so, and wiring.txt what that means", said)
for name, magic, options in (("payload", MAGIC, ()), ("compressed", COMPRESSED, ("--format", "exfat"))):
    file = os.path.join(WORK, f"{name}.bin")
    with open(file, "wb") as f:
        f.write(magic + PAYLOAD[4:])
    card, said = make_card(name, "--firmware", file, *options)
    raw = read(card)
    sector = payload_of(raw)
    tap.ok(sector is not None and raw[sector * 512:].startswith(magic + PAYLOAD[4:]) and "no payload" not in said, f"icicle, {name}: HSS finds all of it on the card", said)
    header = raw[512:512 + 92]
    sums = (zlib.crc32(header[:16] + bytes(4) + header[20:]), zlib.crc32(raw[1024:1024 + 128 * 128]))
    said_sums = (int.from_bytes(header[16:20], "little"), int.from_bytes(header[88:92], "little"))
    tap.ok(sums == said_sums and header[8:12] == bytes.fromhex("00000100"), f"icicle, {name}: the table's sums and revision are what HSS wants", f"{sums} {said_sums}")
    _, checked = run(["sgdisk", "-v", card])
    tap.ok("No problems found" in checked, f"icicle, {name}: the table is whole, and no partition lies over another", checked)
wrong, said = make_card("wrong", "--firmware", os.path.join(BUILD, "virt-riscv64/ingot.bin"))
tap.ok(wrong is None and "is not a payload for the first loader of icicle, which begins with b007c0de" in said, "icicle: another file is refused", said)

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


def uboot(card):
    return pexpect.spawn("qemu-system-riscv64", ["-machine", "virt", "-m", "2G", "-nographic", "-no-reboot", "-global", "virtio-mmio.force-legacy=false",
                                                 "-kernel", UBOOT, "-drive", f"if=none,id=card,format=raw,file={card},snapshot=on",
                                                 "-device", "virtio-blk-device,drive=card"], encoding="utf-8", codec_errors="replace", timeout=100)


child = uboot(os.path.join(WORK, "icicle-payload.img"))
try:
    child.expect(["power off", pexpect.EOF])
finally:
    console = (child.before or "") + str(child.after)
    end(child)
tap.ok("Found /extlinux/extlinux.conf" in console and "ids: " in console, "icicle: U-Boot finds Ingot on a card with a payload by itself, and the model answers", console)
child = uboot(os.path.join(WORK, "icicle-mbr.img"))
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
