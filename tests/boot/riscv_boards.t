#!/usr/bin/python3
"""RISC-V boards with their own card slot: each reads the model from its SD controller and from SPI NOR, with 1 and 4 cores, resident and streamed,
and gives the host's ids and logits. Its card is written, and a saved conversation continues after a restart, if the emulated firmware supports
restarts."""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from boards import expected as expected_of
from boards import has_slot, makes, names, with_expected
from machine import (ASSETS, BUILD, HOST, LONG, VERSION, WORK, Machine, Reply, Tap, segments,
                     make_card, make_flash, pack, run, written_sectors)
from talk import Console, make_model, own_copy

STORIES = os.path.join(ASSETS, "llama2c/stories260K.bin")
TOKENS = {"resident": 48 if LONG else 24, "streamed": 48 if LONG else 4} # streamed, each token reads the card once
NOR_BYTES = 32 << 20
MACHINES = [Machine(board) for board in names() if makes(board, "ISA") == "riscv64" and has_slot(board)]

tap = Tap()
if not os.path.exists(STORIES):
    tap.skip("RISC-V boards", "no " + STORIES + " (set INGOT_ASSETS)")
    tap.done()

model = pack(STORIES, "q8_0", "riscv-boards-q8_0.ingot")
limit = 2 * max(size for _, size in segments(model)[1:-1]) + 2 * 4096
card = make_card("riscv-boards.img", "--power-of-two", model)
nor = make_flash(model, NOR_BYTES, "riscv-boards-nor.img")


def sd(extra=""):
    return ["-drive", f"if=sd,format=raw,file={card},snapshot=on{extra}"]


def words(*more, mode="resident"):
    return " ".join(['prompt=""', "temp=0", f"n={TOKENS[mode]}", "ids", *more])


def host_reply(mode):
    status, console = run([HOST, "run", model, "-p", "", "-n", str(TOKENS[mode]), "--temp", "0",
                           "--ids"])
    reply = Reply(console)
    tap.ok(status == 0 and len(reply.ids or []) == TOKENS[mode], f"the host's reply, {mode}", console)
    return reply


replies = {mode: host_reply(mode) for mode in TOKENS}
expected = replies["resident"]


def agrees(label, machine, arguments, drives, cores, *expect):
    mode = "streamed" if ", streamed" in expect else "resident"
    status, console = machine.run(words(f"cores={cores}", *arguments, mode=mode), cores, drives,
                                  timeout=600)
    reply = Reply(console)
    tap.ok(status == 0 and reply.ids == replies[mode].ids and reply.hash == replies[mode].hash,
           f"{label}: the machine ends by itself, with the same ids and logits", console)
    for text in (f"cores: {cores} of ",) + expect:
        tap.ok(text in console, f"{label}: says \"{text}\"", console)
    return console


def rate(label, console):
    """Report the card's rate as a person sees it, by the log's own clock."""
    loading = re.search(r"and (\d+) ms of loading, ([\d.]+) KiB at", console)
    if not tap.ok(loading, f"{label}: the log times the loading", console):
        return
    seconds = max(int(loading.group(1)), 1) / 1000
    tap.note(f"{label}: {float(loading.group(2)) / seconds:.0f} KiB/s in this emulator")


for machine in MACHINES:
    for cores in (1, 4) if LONG else (4,):  # boards.t tests both
        label = f"{machine.board}, {cores} cores, SD"
        console = agrees(label, machine, [], sd(), cores, makes(machine.board, "QEMU_CARD_SAYS"), ", resident")
        rate(label, console)
    if LONG:  # boards.t tests it
        agrees(f"{machine.board}, 4 cores, SD streamed", machine, [f"mem={limit}"], sd(), 4, ", streamed")
    tap.ok(any(f"Ingot {VERSION} on {machine.board}: {cores}" in console for cores in expected_of(machine.board, "CORES_SAY", ["4 x "])),
           f"{machine.board}: four harts have numbers, the monitor's has none", console)

flash = ["-drive", f"if=mtd,format=raw,readonly=on,file={nor}"]
for board, says in with_expected("NOR_SAYS").items():
    machine = Machine(board)
    for cores in (1, 4) if LONG else (4,):
        console = agrees(f"{board}, {cores} cores, SPI NOR", machine, ["model=flash"], flash, cores, says, ", resident")
    rate(f"{board}, SPI NOR", console)
    agrees(f"{board}, SPI NOR streamed", machine, [f"mem={limit}"], flash, 4, ", streamed")

for machine in MACHINES:
    status, console = machine.run(words(), 1)
    tap.ok("error: " in console and "attach a card" in console or "no card" in console,
           f"{machine.board}: a start without a card says so", console)
    status, console = machine.run(words(), 1, ["-initrd", model])
    tap.ok(status == 0 and Reply(console).hash == expected.hash and "in place" in console,
           f"{machine.board}: a model in an initrd is used in place", console)

# ---- what is written ---------------------------------------------------------------------------


def writable(path):
    return ["-drive", f"if=sd,format=raw,cache=unsafe,file={path}"]


for machine in MACHINES:
    good, console = written_sectors(machine, writable)
    tap.ok(good, f"{machine.board}: a sector and 300 are written and read back", console)

talking = make_model("riscv-talk", 3)
saves = make_card("riscv-saves.img", "--power-of-two", "--save", "1", talking)


def ids(text):
    found = re.search(r"^ids: .*", text, re.M)
    return found.group(0) if found else text


for machine in MACHINES:
    restarts = expected_of(machine.board, "RESTARTS")
    board, own = machine.board, own_copy(saves, f"{machine.board}-saves.img")
    with Console(machine, "temp=0 n=8 ids", writable(own), 4, reboots=True) as k:
        k.prompt()
        k.stats("Hello there")
        tap.ok("tokens are saved in saves/chat.sav" in k.say("/save"), f"{board}: /save", k.seen)
        unbroken = k.stats("Second")
        k.send("/reboot\r")
        if restarts:
            k.expect("OpenSBI v")
        else:
            tap.ok("a board that can restart itself" in k.prompt() and k.stats("Third")[1] == 8,
                   f"{board}: /reboot says that the firmware cannot restart the board, and the prompt comes back", k.seen)
            continue
        k.prompt()
        tap.ok("go on" in k.say("/load"), f"{board}: /reboot, then /load", k.seen)
        after = k.stats("Second")
        tap.ok(after[:2] == unbroken[:2] and ids(after[2]) == ids(unbroken[2]),
               f"{board}: the conversation goes on with the same tokens", unbroken[2] + after[2])

# ---- what fails --------------------------------------------------------------------------------

# A sector of the model cannot be read, once or permanently.
CONFIG = """[inject-error]
event = "read_aio"
errno = "5"
sector = "{sector}"
once = "{once}"
"""


def model_sector():
    """The number of a sector on the card, in the model's last layer."""
    offset, _ = segments(model)[-2]
    with open(model, "rb") as f:
        f.seek(offset)
        piece = f.read(512)
    with open(card, "rb") as f:
        return f.read().index(piece) // 512


for machine in MACHINES:
    for once in ("on", "off"):
        config = os.path.join(WORK, f"riscv-blkdebug-{once}.cfg")
        with open(config, "w", encoding="utf-8") as f:
            f.write(CONFIG.format(sector=model_sector(), once=once))
        drive = ["-drive", f"if=sd,format=raw,file.driver=blkdebug,file.config={config},"
                           f"file.image.driver=file,file.image.filename={card}"]
        status, console = machine.run(words(), 1, drive, timeout=600)
        if once == "on":
            tap.ok(Reply(console).hash == expected.hash, f"{machine.board}: one bad read is tried "
                   "again", console)
        else:
            # QEMU's card does not report the failed read, but the checksum detects the wrong data.
            tap.ok("layer 4: the checksum does not match" in console and "power off" in console,
                   f"{machine.board}: an unreadable sector is detected", console)
tap.done()
