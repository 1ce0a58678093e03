#!/usr/bin/python3
"""The contents of a card made by `make card`: the image, the board's own files with their options, firmware or a list of what is missing, a README;
equal inputs give equal bytes. It also tests that Ingot reads the boot arguments that a Raspberry Pi's firmware makes from
cmdline.txt."""

import filecmp
import glob
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from device_tree import make_tree, raspberry_pi_tree
from machine import BUILD, HOST, ROOT, VERSION, WORK, Machine, Reply, Tap, make_board_card

WORDS = 'prompt="Once upon" temp=0 n=6 ids'
# The text that the firmware of a Pi 4 and of a Pi 5 puts before cmdline.txt.
FIRMWARE_SAYS = {
    "rpi4": "coherent_pool=1M 8250.nr_uarts=0 snd_bcm2835.enable_headphones=0 "
            "cgroup_disable=memory numa_policy=interleave bcm2708_fb.fbwidth=0 bcm2708_fb.fbswap=1 "
            "smsc95xx.macaddr=DC:A6:32:01:02:03 vc_mem.mem_base=0x3ec00000 "
            "vc_mem.mem_size=0x40000000  ",
    "rpi3": "reboot=w coherent_pool=1M 8250.nr_uarts=1 pci=pcie_bus_safe numa=fake=8 "
            "nvme.max_host_mem_size_mb=0 system_heap.max_order=0 iommu_dma_numa_policy=interleave "
            "smsc95xx.macaddr=D8:3A:DD:01:02:03 vc_mem.mem_base=0x3fc00000 "
            "vc_mem.mem_size=0x40000000  "}
COMPATIBLE = {"rpi3": "raspberrypi,3-model-b", "rpi4": "raspberrypi,4-model-b"}

tap = Tap()
os.makedirs(WORK, exist_ok=True)
MODEL = os.path.join(WORK, "cards-tiny.ingot")
subprocess.run([HOST, "synth", "--shape", "tiny", "--type", "q8_0", "-o", MODEL], check=True,
               capture_output=True, timeout=60)
ENVIRONMENT = {**os.environ, "LC_ALL": "C.UTF-8", "MTOOLSRC": "/dev/null"}


def mtools(*command):
    return subprocess.run(command, env=ENVIRONMENT, check=True, capture_output=True,
                          timeout=60).stdout


def files_of(card):
    """{path: bytes} of every file on the card."""
    listed = mtools("mdir", "-i", card + "@@1M", "-/", "-b", "::").decode().split("\n")
    names = [line[3:] for line in listed if line and not line.endswith("/")]
    return {name: mtools("mtype", "-i", card + "@@1M", "::/" + name) for name in names}


def makefile_value(board, name):
    with open(os.path.join(ROOT, "board", board, "board.mk"), encoding="utf-8") as f:
        found = re.search(rf"^{name} := (.*)$", f.read().replace("\\\n", " "), re.M)
    return found.group(1) if found else None


def firmware_of(board):
    """(firmware files that all boards of the image need, files that only some of the boards need)"""
    trees = re.findall(r"(\S+?)([=!])\S+", makefile_value(board, "CARD_TREES") or "")
    return (makefile_value(board, "CARD_FIRMWARE") or "").split(), [name for name, _ in trees]


def bytes_of(path):
    with open(path, "rb") as f:
        return f.read()


boards = sorted(b for b in (os.path.basename(os.path.dirname(p))
                            for p in glob.glob(os.path.join(ROOT, "board/*/board.mk")))
                if makefile_value(b, "CARD_IMAGE"))
tap.ok({"rpi3", "rpi4", "rpi5"} <= set(boards), "boards with files of their own: " +
       " ".join(boards))

for board in boards:
    image = makefile_value(board, "CARD_IMAGE")
    files_needed, trees = firmware_of(board)
    needs = files_needed + trees
    card, log = make_board_card(board, f"cards-{board}.img", MODEL=MODEL, CMDLINE=WORDS,
                                FIRMWARE="")
    files = files_of(card)
    readme = files.get("README.txt", b"").decode()
    ingot = bytes_of(os.path.join(BUILD, board, "ingot.bin"))
    tap.ok(files.get(image) == ingot and len(ingot) > 100000, f"{board}: {image} is the image",
           sorted(files))
    tap.ok(files.get("models/cards-tiny.ingot") == bytes_of(MODEL), f"{board}: the card has the model")
    source = os.path.join(ROOT, "board", board, "card")
    own = [os.path.relpath(os.path.join(at, name), source)
           for at, _, names in os.walk(source) for name in names]
    text = "".join(files.get(name, b"@missing@").decode() for name in own)
    named = image in text or image.startswith("EFI/BOOT/")  # EFI firmware finds the image by its standard name
    tap.ok(own and WORDS in text and named and not re.search(r"@\w+@", text),
           f"{board}: {', '.join(sorted(own))} are there, with image and options", text)
    lines = files["cmdline.txt"].decode().splitlines() if "cmdline.txt" in files else [WORDS]
    tap.ok(lines == [WORDS], f"{board}: the file of options has one line and nothing else", lines)
    tap.ok(f"Ingot {VERSION} for {board}" in readme and "115200" in readme and "\r\n" in readme and
           "@" not in readme and "cards-tiny.ingot" in readme, f"{board}: README.txt", readme)
    with open(os.path.join(ROOT, "board", board, "wiring.txt"), encoding="utf-8") as f:
        wiring = f.read()
    tap.ok(wiring.strip() in readme.replace("\r\n", "\n"), f"{board}: README.txt describes the wiring", readme)
    first = readme.split("\r\n")[0]
    tap.ok(all(n in first and n in log for n in needs) and
           ("FIRMWARE IS MISSING" in first and "bootfs" in first) == bool(needs),
           f"{board}: the first line of README, and make, say which firmware is missing: {' '.join(needs)}", log)

    again, _ = make_board_card(board, f"cards-{board}-again.img", MODEL=MODEL, CMDLINE=WORDS,
                               FIRMWARE="")
    tap.ok(filecmp.cmp(card, again, shallow=False), f"{board}: equal inputs give equal bytes")
    plain, _ = make_board_card(board, f"cards-{board}-again.img", MODEL=MODEL, FIRMWARE="")
    tap.ok(not filecmp.cmp(card, plain, shallow=False), f"{board}: other options give other bytes")

    if not needs:
        continue
    folder = os.path.join(WORK, f"cards-firmware-{board}")
    os.makedirs(folder, exist_ok=True)
    given = {n: f"firmware of {n}".encode() for n in needs}
    for name, data in {**given, "unasked.bin": b"no"}.items():
        os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
        with open(os.path.join(folder, name), "wb") as f:
            f.write(data)
    full, log = make_board_card(board, f"cards-{board}-full.img", MODEL=MODEL, FIRMWARE=folder)
    files = files_of(full)
    tap.ok(all(files.get(name) == data for name, data in given.items()) and
           "unasked.bin" not in files, f"{board}: FIRMWARE= copies {' '.join(given)}",
           sorted(files))
    tap.ok("MISSING" not in files["README.txt"].decode() and "no firmware" not in log and "warning" not in log,
           f"{board}: no firmware file is missing", log)
    for gone in [files_needed[0] if files_needed else trees[1], trees[-1]]:
        os.unlink(os.path.join(folder, gone))
        part, log = make_board_card(board, f"cards-{board}-full.img", MODEL=MODEL, CMDLINE=WORDS,
                                    FIRMWARE=folder)
        tap.ok(gone in files_of(part)["README.txt"].decode() and gone in log,
               f"{board}: the missing firmware file {gone} is named", log)

# ---- boot options that a board's own firmware passes -------------------------------------

for board, compatible in COMPATIBLE.items():
    card = os.path.join(WORK, f"cards-{board}.img")
    drive = ["-drive", f"if=sd,format=raw,snapshot=on,file={card}"]
    cmdline = files_of(card)["cmdline.txt"].decode().splitlines()[0]
    tree = raspberry_pi_tree(compatible)
    tree["chosen"]["bootargs"] = FIRMWARE_SAYS[board] + cmdline
    path = os.path.join(WORK, f"cards-{board}.dtb")
    with open(path, "wb") as f:
        f.write(make_tree(tree))
    status, console = Machine(board).run("", 4, drive + ["-dtb", path])
    reply = Reply(console)
    want = Reply(Machine(board).run(WORDS, 4, drive)[1])
    tap.ok(status == 0 and want.ids and len(want.ids) == 6 and reply.ids == want.ids and
           reply.hash == want.hash,
           f"{board}: options of cmdline.txt, after the firmware's own words, work like those of -append", console)
    tap.ok("] warning" not in console, f"{board}: words of the firmware are ignored without a message",
           console)
tap.done()
