#!/usr/bin/python3
"""The first loader of the kit (its model is hss.py) and U-Boot can start the board's card, and U-Boot understands the
lines of wiring.txt."""

import os
import re
import shutil
import struct
import sys
import zlib

import pexpect

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../tests"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import hss
from machine import BUILD, HOST, ROOT, WORK, Tap, end, run

UBOOT = "/usr/lib/u-boot/qemu-riscv64_smode/u-boot.bin"
MIB = 1 << 20
tap = Tap()


def text_of(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return f.read()


# ---- an Icicle's card as HSS reads it (findings 16 and 17) ------------------------------------------

def started(card):
    """The result of HSS for a card (hss.load), or the reason why HSS starts nothing."""
    try:
        return hss.load(card)
    except hss.Refused as refused:
        return str(refused)


# Test the model of HSS: a payload that begins in the first sector, and one in a partition of HSS's type, with a valid table and with a
# wrong sum of the table.
program = os.urandom(3001)
bare = hss.make_payload(program, b"tree" * 10)
starts, memory, second = hss.load(bare)
tap.ok(starts == {h: (0x80200000, 1) for h in range(1, 5)} and memory[0x80200000] == program and second == {1: 0x80200000 + 3001},
       "HSS's loader, as modelled: four harts in S-mode at the program, and a tree right behind it in a1", f"{starts} {second}")
table = bytearray(128 * 128)
table[:16], table[32:40] = bytes.fromhex("4861682149646f6e744e656564454649"), (40).to_bytes(8, "little")
header = bytearray(b"EFI PART" + struct.pack("<IIIIQQQQ16xQIII", 0x10000, 92, 0, 0, 1, 99, 34, 98, 2, 128, 128, zlib.crc32(table)))
header[16:20] = zlib.crc32(header).to_bytes(4, "little")
fake = bytes(512) + bytes(header).ljust(512, b"\0") + bytes(table) + bytes(512 * 6) + bare
tap.ok(started(fake) == hss.load(bare), "it finds a payload in a partition of its type")
tap.ok("magic is 00000000" in started(fake[:1024] + b"\1" + fake[1025:]), "it goes to the first sector if a sum of the table is wrong")
tap.ok("failed CRC" in started(bare[:100] + b"x" + bare[101:]) and "exceeds maximum" in started(hss.make_compressed(os.urandom(1 << 20))),
       "it refuses a header with a wrong sum, and a packed payload, of which it takes packed bytes for a length")

PROGRAM = UBOOT if os.path.exists(UBOOT) else os.path.join(BUILD, "virt-riscv64/ingot.bin")


def make_boards():
    """Make a folder of boards with an Icicle whose image is the image of virt-riscv64."""
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
    """Make an Icicle's card with `ingot card`; returns its path (None after an error) and the program's output."""
    card, model = os.path.join(WORK, f"icicle-{name}.img"), os.path.join(WORK, "icicle-tiny.ingot")
    status, said_of_it = run([HOST, "synth", "--shape", "tiny", "--type", "q8_0", "-o", model])
    assert status == 0, said_of_it
    status, said_of_it = run([HOST, "card", "icicle", "--boards", BOARDS, "-o", card, "--cmdline", 'prompt="Once upon" n=4 temp=0 ids', *options, model])
    return (card if status == 0 else None), said_of_it


def read(path):
    with open(path, "rb") as f:
        return f.read()


wiring = text_of("board/icicle/wiring.txt")
TOLD = [hss.BOOT_TYPE, "b007c0de", "not compressed", "hss-payload-generator", "`emmc` and `boot`", "must not be in the slot", "usbdmsc", "--firmware payload.bin",
        "linux4microchip+fpga-2024.02", "0x1040000000 for 0x90000000"]
if not os.path.exists(os.path.join(BUILD, "virt-riscv64/ingot.bin")):
    tap.skip("an Icicle's card", "no image of virt-riscv64: make image BOARD=virt-riscv64")
    tap.done()
BOARDS = make_boards()
for table in ("mbr", "gpt"):
    plain, said = make_card(table, "--table", table)
    tap.ok("magic is" in started(read(plain)) and "no payload" in said and not [w for w in TOLD if w not in wiring],
           f"icicle, {table}: HSS finds no payload on a card without --firmware; the program says so, and wiring.txt what that means", said)


def write(name, data):
    path = os.path.join(WORK, name)
    with open(path, "wb") as f:
        f.write(data)
    return path


program = read(PROGRAM)
# A file copied from a whole partition ("old") has more bytes than its payload.
PAYLOADS = (("payload", hss.make_payload(program), ()), ("tree", hss.make_payload(program, b"tree" * 2000), ("--format", "exfat")),
            ("old", hss.make_payload(program, version=0) + bytes(3 * MIB), ()))
for name, data, options in PAYLOADS:
    card, said = make_card(name, "--firmware", write(f"{name}.bin", data), *options)
    raw = read(card)
    starts, memory, second = hss.load(raw)
    tap.ok(starts == {h: (hss.ENTRY, hss.PRV_S) for h in hss.U54} and memory[hss.ENTRY] == program and (second != {}) == (name == "tree") and
           "no payload" not in said, f"icicle, {name}: HSS starts all of the card's program, on four harts in S-mode", f"{starts} {second} {said}")
    header = raw[512:512 + 92]
    sums = (zlib.crc32(header[:16] + bytes(4) + header[20:]), zlib.crc32(raw[1024:1024 + 128 * 128]))
    said_sums = (int.from_bytes(header[16:20], "little"), int.from_bytes(header[88:92], "little"))
    tap.ok(sums == said_sums and header[8:12] == bytes.fromhex("00000100"), f"icicle, {name}: the table's sums and revision are what HSS wants", f"{sums} {said_sums}")
    _, checked = run(["sgdisk", "-v", card])
    tap.ok("No problems found" in checked, f"icicle, {name}: the table is whole, and no partition lies over another", checked)
# The default environment of Microchip's U-Boot has no kernel_addr_r from 2023.02 to 2023.09; a U-Boot before 2022.04 passes no tree (wiring.txt).
NAMED, WARNING = b"kernel_addr_r=0x80200000\0", "old.bin has no U-Boot that starts this card"
for where, data, warns in (("in the payload", program + NAMED, False), ("nowhere", program.replace(b"kernel_addr_r=", b"kernel_comp_r="), True),
                           ("only behind the payload", program.replace(b"kernel_addr_r=", b"kernel_comp_r="), True),
                           ("in a U-Boot of 2022.01", program + NAMED + b"U-Boot 2022.01 (Nov 09 2022)", True),
                           ("in a U-Boot of 2022.04", program + NAMED + b"U-Boot 2022.04 (Apr 04 2022)", False)):
    card, said = make_card("old", "--firmware", write("old.bin", hss.make_payload(data) + (NAMED if "behind" in where else b"")))
    tap.ok(card and (WARNING in said) == warns, f"icicle: kernel_addr_r {where}: {'a' if warns else 'no'} warning", said)
whole = hss.make_payload(program)
for name, data, words in (("program", program, "is not a payload for the first loader of icicle (a payload begins with b007c0de)"),
                          ("cut", whole[:-100000], f"ends after {len(whole) - 100000} of its {len(whole)} bytes"),
                          ("head", whole[:1000], "ends after 1000 bytes, within its header"),
                          ("damaged", whole[:100] + b"x" + whole[101:], "its header is damaged"),
                          ("large", hss.make_payload(bytes(2 * MIB)), "HSS takes 2097152 at most"),
                          ("compressed", hss.make_compressed(whole), "it is compressed, which HSS does not take from a card")):
    card, said = make_card(name, "--firmware", write(f"{name}.bin", data))
    tap.ok(card is None and words in said and (name == "cut" or isinstance(started(data + bytes(4096)), str)),
           f"icicle, {name}: HSS would not start it, so the program refuses it: {words}", said)

# ---- wiring.txt's lines for a model over the network, typed into U-Boot ---

# First the lines for Microchip's U-Boot of 2023.02 to 2023.09, which has no kernel_addr_r, then those for a model over the network.
OLD, LINES = [re.findall(r"(?m)^   (\S.*)$", block) for block in re.findall(r"(?m)(?:^   \S.*\n)+", wiring)]
PLACES = {"ingot.bin": "ingot.bin", "model.ingot": "models/icicle-tiny.ingot"}
# bootm_size is from include/configs/microchip_mpfs_generic.h; initrd_high is deleted, because only virt's environment has it. The model
# is tiny, but U-Boot is told that it has 300 MiB.
AS_ON_THE_KIT = ["setenv initrd_high", "setenv bootm_size 0x10000000", "virtio scan",
                 'setenv bootargs \'prompt="Once upon" n=4 temp=0 ids diag model=initrd\'']
LARGE = 300 * MIB


def typed(line):
    loads = re.match(r"tftpboot (\S+) (\S+)$", line)
    return f"fatload virtio 0:1 {loads.group(1)} {PLACES[loads.group(2)]}" if loads else line


def give(child, lines):
    """Type the lines; returns the answers of U-Boot and of the program that U-Boot starts."""
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


def uboot(card, program=UBOOT):
    return pexpect.spawn("qemu-system-riscv64", ["-machine", "virt", "-m", "2G", "-nographic", "-no-reboot", "-global", "virtio-mmio.force-legacy=false",
                                                 "-kernel", program, "-drive", f"if=none,id=card,format=raw,file={card},snapshot=on",
                                                 "-device", "virtio-blk-device,drive=card"], encoding="utf-8", codec_errors="replace", timeout=100)


# QEMU loads what HSS would have put into memory, and OpenSBI starts it there.
card = os.path.join(WORK, "icicle-payload.img")
child = uboot(card, write("icicle-started.bin", hss.load(read(card))[1][hss.ENTRY]))
try:
    child.expect(["power off", pexpect.EOF])
finally:
    console = (child.before or "") + str(child.after)
    end(child)
tap.ok("Found /extlinux/extlinux.conf" in console and "ids: " in console, "icicle: what HSS starts from a card with a payload finds Ingot on it by itself, and the model answers", console)
child = uboot(os.path.join(WORK, "icicle-mbr.img"))
try:
    child.expect("stop autoboot")
    child.send(" ")
    child.expect(r"\n=> $")
    without = give(child, ["virtio scan", "setenv kernel_addr_r", OLD[-1].replace("mmc", "virtio")])
    console = give(child, [line.replace("mmc", "virtio") for line in OLD])
finally:
    end(child)
tap.ok("missing environment variable: kernel_addr_r" in without and "ids: " not in without,
       "icicle: a U-Boot without kernel_addr_r finds Ingot and does not start it", without)
tap.ok("ids: " in console, "icicle: with wiring.txt's lines for it, it does", console)
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
