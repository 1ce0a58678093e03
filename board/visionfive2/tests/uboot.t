#!/usr/bin/python3
"""U-Boot starts the VisionFive 2's card, on QEMU's virt machine and with virt's image on the card: upstream's U-Boot finds it by
itself; StarFive's U-Boot of 2021.10 reads uEnv.txt (partition 3, uenvcmd); StarFive's U-Boot from May 2023 on reads vf2_uEnv.txt
(boot2). If the tree calls the monitor hart okay, that hart is disabled; the memory is what U-Boot measured."""

import os
import re
import shutil
import sys

import pexpect

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../tests"))
from machine import BUILD, HOST, WORK, Tap, end, run

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
UBOOT = "/usr/lib/u-boot/qemu-riscv64_smode/u-boot.bin"
BOARD = os.path.join(ROOT, "board/visionfive2")
PROMPT = r"\n=> $"
# StarFive's include/configs/starfive-visionfive2.h. In all releases the fdt of U-Boot says 4 GiB, which visionfive2_mem_set corrects, and
# files are looked for in partition 3. mmc is virtio here.
VENDOR = ["setenv loadaddr 0x90000000", "setenv memory_addr 80000000", "setenv memory_size 18000000", "virtio scan"]
# Up to VF2_v2.11.5 (2023-03-21): mmcbootenv sets bootpart to DEVICE:3, loads uEnv.txt to loadaddr, imports it as text and runs uenvcmd.
EARLY = VENDOR + [
    "setenv visionfive2_mem_set 'fdt memory ${memory_addr} ${memory_size};'",
    "setenv bootpart 0:3",
    "fatload virtio ${bootpart} ${loadaddr} uEnv.txt && env import -t ${loadaddr} ${filesize}",
    "setenv ingot_device virtio",
], "run uenvcmd"
# From VF2_v3.0.4 (2023-05-31) to VF2_v3.4.5 (2023-08-04): mmcbootenv reads uEnv.txt before it sets bootpart, or not at all, so nothing runs
# uenvcmd. CONFIG_BOOTCOMMAND then loads vf2_uEnv.txt and runs boot2.
MIDDLE = VENDOR + [
    "setenv visionfive2_mem_set 'fdt memory ${memory_addr} ${memory_size};'",
    "setenv bootdev virtio; setenv devnum 0; setenv bootpart 0:3; setenv testenv vf2_uEnv.txt",
    "setenv load_vf2_env 'fatload virtio ${bootpart} ${loadaddr} ${testenv}'",
    "setenv importbootenv 'env import -t ${loadaddr} ${filesize}'",
], "run load_vf2_env;run importbootenv;run boot2"
# From VF2_v3.6.1 (2023-08-17) on nothing runs uenvcmd: sdk_boot_env sets bootdev and devnum, loads vf2_uEnv.txt and runs boot2. Its
# visionfive2_mem_set ends with cma_resize, which fails in U-Boot's own tree.
LATE = VENDOR + [
    "setenv bootpart 3",
    "setenv cma_resize 'fdt set /reserved-memory/linux,cma size <0x0 0x20000000>;'",
    "setenv visionfive2_mem_set 'fdt memory ${memory_addr} ${memory_size};run cma_resize; '",
    "setenv load_sdk_uenv 'fatload ${bootdev} ${devnum}:${bootpart} ${loadaddr} ${bootenv_sdk};env import -t ${loadaddr} ${filesize}; '",
    "setenv bootdev virtio; setenv devnum 0; setenv bootenv_sdk vf2_uEnv.txt",
], "run load_sdk_uenv; run boot2"

# U-Boot changes quotes, backslashes and variables, in `append` and in imported texts, and loads a file for "initrd=" in an `append`.
TEXT = r'''It's "so", ${arch} $(arch) C:\x initrd=/x'''
WORDS = r'''prompt="It's \"so\", ${arch} $(arch) C:\\x initrd=/x" n=4 temp=0 ids'''

tap = Tap()
image = os.path.join(BUILD, "virt-riscv64/ingot.bin")
if not os.path.exists(UBOOT):
    tap.skip("U-Boot", f"no {UBOOT} (install u-boot-qemu)")
    tap.done()


def make_board():
    """Make a folder of boards as flash_image/card/card.mk does, with this board only and with virt's image."""
    boards = os.path.join(WORK, "uboot-boards")
    folder = os.path.join(boards, "visionfive2")
    shutil.rmtree(boards, ignore_errors=True)
    os.makedirs(os.path.join(folder, "card"))
    shutil.copytree(os.path.join(BOARD, "card"), os.path.join(folder, "card/files"))
    shutil.copy(os.path.join(ROOT, "flash_image/card/card_readme.txt"), os.path.join(folder, "card/readme.txt"))
    shutil.copy(image, os.path.join(folder, "ingot.bin"))
    with open(os.path.join(BOARD, "board.mk"), encoding="utf-8") as f:
        told = dict(re.findall(r"^CARD_(\w+) := (.*)$", f.read(), re.M))
    with open(os.path.join(folder, "card/about"), "w", encoding="utf-8") as f:
        f.write(f"image {told['IMAGE']}\nslot {told['SLOT']}\nmost_words {told['MOST_WORDS']}\n")
    return boards


def make_card(table, words=WORDS):
    """Make a card; returns its path, the program's exit status and its output."""
    card = os.path.join(WORK, f"uboot-{table}.img")
    return card, run([HOST, "card", "visionfive2", "--boards", make_board(), "--table", table, "-o", card,
                      *(["--cmdline", words] if words else []), MODEL])


def ids(text):
    found = re.search(r"^ids: [\d ]+", text, re.M)
    return found[0].strip() if found else text


def uboot(card):
    return pexpect.spawn("qemu-system-riscv64",
                         ["-machine", "virt", "-smp", "3", "-m", "512M", "-nographic", "-no-reboot",
                          "-global", "virtio-mmio.force-legacy=false", "-kernel", UBOOT,
                          "-drive", f"if=none,id=card,format=raw,file={card},snapshot=on",
                          "-device", "virtio-blk-device,drive=card"], encoding="utf-8", codec_errors="replace", timeout=100)


def console_of(child):
    try:
        child.expect(["power off", pexpect.EOF], timeout=100)
    except pexpect.TIMEOUT:
        pass
    return (child.before or "") + str(child.after)


def boots_by_itself(card):
    child = uboot(card)
    try:
        return console_of(child)
    finally:
        end(child)


def starts(card):
    """The console of a card without boot options, on which the program does not end by itself."""
    child = uboot(card)
    try:
        child.expect(["model uboot-tiny.ingot", "Unhandled exception", "Error parsing", pexpect.EOF])
        return (child.before or "") + str(child.after)
    except pexpect.TIMEOUT:
        return child.before or ""
    finally:
        end(child)


def boots_as_vendor(card, lines, start):
    child, said = uboot(card), ""
    try:
        child.expect("stop autoboot")
        child.send(" ")
        child.expect(PROMPT)
        for line in lines:
            child.sendline(line)
            child.expect(PROMPT)
            said += child.before
        child.sendline(start)
        return said + console_of(child)
    except (pexpect.TIMEOUT, pexpect.EOF):
        return said + (child.before or "")
    finally:
        end(child)


MODEL = os.path.join(WORK, "uboot-tiny.ingot")
status, said = run([HOST, "synth", "--shape", "tiny", "--type", "q8_0", "-o", MODEL])
assert status == 0, said
expected = ids(run([HOST, "run", MODEL, "-p", TEXT, "-n", "4", "--temp", "0", "--ids"])[1])
# CONFIG_SYS_CBSIZE is 256 with upstream's U-Boot for this board; a quote takes two characters of an `append`.
for n, fits in ((255, True), (256, False)):
    status, said = make_card("mbr", 'system="it\'s' + "a" * (n - 14) + '"')[1]
    tap.ok(status == 0 if fits else status != 0 and f"{n} characters" in said and "takes 255" in said,
           f"boot arguments of {n} characters {'fit' if fits else 'are refused by name'}", said)
# An empty `append` is an error for U-Boot (parse_sliteral).
card, (status, said) = make_card("mbr", "")
assert status == 0, said
console = starts(card)
tap.ok("model uboot-tiny.ingot" in console, "a card without boot arguments starts by itself", console)
for table in ("mbr", "gpt"):
    card, (status, said) = make_card(table)
    assert status == 0, said
    console = boots_by_itself(card)
    tap.ok("Found /extlinux/extlinux.conf" in console and "model uboot-tiny.ingot" in console and ids(console) == expected,
           f"{table}: upstream's U-Boot finds partition 3, and the model answers the prompt as it was typed", console)
    console = boots_as_vendor(card, *LATE)
    tap.ok("model uboot-tiny.ingot" in console and ids(console) == expected and "384.0 MiB RAM" in console,
           f"{table}: StarFive's later way by vf2_uEnv.txt starts it, too, with the measured memory", console)
    console = boots_as_vendor(card, *MIDDLE)
    tap.ok("model uboot-tiny.ingot" in console and ids(console) == expected and "384.0 MiB RAM" in console,
           f"{table}: StarFive's VF2_v3.0.4 to VF2_v3.4.5 start it by vf2_uEnv.txt, too", console)
    console = boots_as_vendor(card, *EARLY)
    tap.ok("model uboot-tiny.ingot" in console and ids(console) == expected,
           f"{table}: StarFive's way by uEnv.txt starts it, with the card's boot arguments", console)
    tap.ok("384.0 MiB RAM" in console, f"{table}: memory is what U-Boot measured, not what its tree says", console)
    tap.ok(re.search(r"virt-riscv64: [23] x", console) and re.search(r"cores: (\d) of \1", console),
           f"{table}: a hart that is disabled is not counted, unless it is the one that boots", console)
tap.done()
