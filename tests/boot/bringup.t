#!/usr/bin/python3
"""How a new board informs its first user: by the lines of the option `diag`, which are compared with QEMU's machine, and by the LED if the
start fails before the serial line works."""

import json
import os
import re
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import BUILD, SD_ADMA2, VERSION, WORK, Machine, Tap, sd_arguments

tap = Tap()
os.makedirs(WORK, exist_ok=True)
CARD = os.path.join(WORK, "bringup-card.img")
with open(CARD, "wb") as blank:
    blank.truncate(64 << 20)

# ---- diag -------------------------------------------------------------------------------------


def diag(board, cores=1, drives=(), extra=()):
    """Start without a model; returns the boot options, {name: [values]} of the `diag` lines, and the console's text."""
    words = f'diag prompt="a fox" cores={cores}'
    _, console = Machine(board, extra=extra).run(words, cores, drives, timeout=90)
    facts = {}
    for name, value in re.findall(r"diag ([^:\n]+): ?(.*)", console):
        facts.setdefault(name, []).append(value.strip())
    return words, facts, console


def expect(board, wants, **more):
    """Compare `diag` lines with wants, {name: value}, in which a value is an exact text or a pattern."""
    words, facts, console = diag(board, **more)
    wants = {"ingot": VERSION, "board": board, "boot arguments": words,
             "boot arguments bytes": str(len(words)), "stray interrupts": "0", **wants}
    for name, want in wants.items():
        found = facts.get(name, [None])[0]
        good = found is not None and (want.fullmatch(found) if hasattr(want, "fullmatch") else found == want)
        tap.ok(good, f"{board}: diag {name}: {found}", console)
    return facts


HEX = re.compile("0x[0-9a-f]+")
ARM = {"midr": HEX, "ctr": HEX, "id_aa64mmfr0": HEX}
# QEMU's card has manufacturer AA, OEM "XY", product "QEMU!", revision 0.1 and serial number DEADBEEF. The card's capacity is the file's
# size; the controller's capabilities are those that the test gives.
SD = {"card kind": "SD", "card cid": re.compile("aa585951 454d5521 01deadbe ef[0-9a-f]{6}"),
      "card bytes": "64.0 MiB", "card scr": re.compile("[0-9a-f]{8} [0-9a-f]{8}"), "card errors": "0"}

facts = expect("virt-arm64", {
    **ARM, "entered at exception level": "1", "cores": "3", "core 0 id": "0x0", "core 2 id": "0x2",
    "second-level cache": "1.00 MiB",
    "counter": re.compile(r"\d+ Hz"), "ram": "512.0 MiB", "storage": re.compile("SD card at .*"),
    "controller capabilities": f"{SD_ADMA2:08x} 00000000", **SD}, cores=3, drives=sd_arguments(CARD))
ranges = [[int(at, 16) for at in facts[name][0].split(" to ")] for name in ("image", "free ram 0")]
tap.ok(all(a < b for a, b in ranges) and (ranges[0][1] <= ranges[1][0] or ranges[1][1] <= ranges[0][0]) and
       all(0x40000000 <= at <= 0x60000000 for pair in ranges for at in pair),
       "virt-arm64: image and free RAM lie in RAM and do not overlap", facts)
expect("virt-arm64", {"entered at exception level": "2"}, extra=["-M", "virt,virtualization=on"])

expect("virt-riscv64", {
    "entered in mode": "S", "cores": "2", "core 1 id": re.compile("0x[01]"), "sbi implementation": "1",
    "sbi version": re.compile("0x[1-3]00000[0-9]"), "mvendorid": "0x0",
    "counter": "10000000 Hz", **SD}, cores=2, drives=sd_arguments(CARD))

PI = {**ARM, "emulated": "yes", "uart clock": "48000000 Hz", "uart divisor in 1/64": "1667", "cores": "4",
      "clock of the uart": "3000000 Hz", "clock of the cores": "700000000 Hz", "device tree": "none",
      "entered at exception level": "2", "reset status": HEX}
SLOT = ["-drive", f"if=sd,format=raw,snapshot=on,file={CARD}"]
for board, revision, model, memory in (("rpi3", "0xa02082", "0x8", "00000000 3c000000"),
                                       ("rpi4", "0xb03115", "0x11", "00000000 3c000000")):
    expect(board, {**PI, **SD, "board revision": revision, "board model": model,
                   "memory of the cores": memory}, cores=4, drives=SLOT)
expect("rpi4", {"led": "42", "storage problem": re.compile("no card answers.*")}, cores=4)

_, console = Machine("virt-riscv64").run("prompt=x", timeout=60)
tap.ok("diag" not in console and "error: no card" in console, "without the option diag, none of its lines is printed", console)

# ---- the LED ----------------------------------------------------------------------------------


def broken_image(board, function, word):
    """The linked image, with the instruction `word` at the beginning of a function."""
    elf = os.path.join(BUILD, board, "ingot.elf")
    nm = subprocess.run(["aarch64-linux-gnu-nm", elf], check=True, capture_output=True, text=True).stdout
    places = {name.split(".")[0]: int(at, 16) for at, _, name in re.findall(r"^(\w+) (\w) (\S+)$", nm, re.M)}
    path = os.path.join(WORK, f"{board}-{function}.bin")
    with open(elf[:-4] + ".raw", "rb") as f:
        image = bytearray(f.read())
    at = places[function] - places["image_start"]
    image[at:at + 4] = word.to_bytes(4, "little")
    with open(path, "wb") as f:
        f.write(image)
    return path


class Monitor:
    def __init__(self, path):
        end = time.time() + 20
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(20)
        while True:
            try:
                self.socket.connect(path)
                break
            except OSError:
                if time.time() > end:
                    raise
                time.sleep(0.05)
        self.lines = self.socket.makefile("rw")
        self.lines.readline()
        self.ask({"execute": "qmp_capabilities"})

    def ask(self, question):
        self.lines.write(json.dumps(question) + "\n")
        self.lines.flush()
        while True:
            answer = json.loads(self.lines.readline())
            if "return" in answer:
                return answer["return"]

    def word(self, address):
        text = self.ask({"execute": "human-monitor-command",
                         "arguments": {"command-line": f"xp /1wx {address:#x}"}})
        return int(text.split(":")[1], 16)


def start(board, kernel, more):
    command = Machine(board).command("", 4, more, kernel)
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


GPLEV1, LED = 0xfe200038, 1 << 10  # of GPIO 42


def lit_times(board, function, word, seconds, is_enough):
    """[(lit, seconds)] of a Pi 4's LED if `function` begins with the instruction `word`, and what was printed."""
    path = os.path.join(WORK, f"{board}-lamp.qmp")
    if os.path.exists(path):
        os.unlink(path)
    process = start(board, broken_image(board, function, word), ["-qmp", f"unix:{path},server=on,wait=off"])
    runs, end = [], time.time() + seconds
    try:
        monitor = Monitor(path)
        since, was = time.time(), bool(monitor.word(GPLEV1) & LED)
        while time.time() < end and not is_enough(runs + [(was, time.time() - since)]):
            lit = bool(monitor.word(GPLEV1) & LED)
            if lit != was:
                runs.append((was, time.time() - since))
                since, was = time.time(), lit
            time.sleep(0.01)
        runs.append((was, time.time() - since))
    except OSError:
        pass  # QEMU has ended
    finally:
        process.kill()
    return runs, process.communicate()[0].decode()


def codes(runs):
    """The number of short flashes after each long flash, for rounds that were seen completely."""
    found, count = [], None
    for lit, seconds in runs:
        if lit and seconds > 0.6:
            if count is not None:
                found.append(count)
            count = 0
        elif lit and count is not None:
            count += 1
    return found


UNDEFINED, STAY = 0x00000000, 0x14000000  # udf #0; b .
# A busy host may miss a flash, so one complete round is enough.
runs, text = lit_times("rpi4", "rpi4_early_init", UNDEFINED, 60, lambda r: 3 in codes(r))
tap.ok(3 in codes(runs), "rpi4: a trap in the board's set-up flashes once long and three times short", runs)
tap.ok(text == "", "the trap came before the serial line was ready", text)
runs, text = lit_times("rpi4", "pl011_init", STAY, 60, lambda r: r[-1][0] and r[-1][1] > 1.5)
tap.ok(runs and runs[-1][0] and runs[-1][1] > 1.5 and text == "", "rpi4: a hang in the board's set-up leaves the LED on", (runs, text))
for _ in range(3):  # on any computer flashes take their time, and a busy computer may need more tries
    begun = time.time()
    status, text = Machine("rpi4").run("", 4, kernel=broken_image("rpi4", "image_main", UNDEFINED), timeout=60)
    took = time.time() - begun
    if took < 13:
        break
tap.ok(status == 0 and "trap: undefined instruction" in text and text.rstrip().endswith("power off") and took < 13,
       "rpi4: once there is a line, it has the report, and an emulator no flashes (13.5 s)", (took, text))

# With this clock an instruction takes a nanosecond: a start that works must not wait for flashes, and must not ask
# the firmware for any.
for board in ("rpi3", "rpi4"):
    _, console = Machine(board).run("prompt=x cores=1", 4, ["-icount", "shift=0,sleep=off"], timeout=90)
    tap.ok(console.startswith("[    0.000] Ingot "), f"{board}: a start that works prints its first line within 1 ms",
           console)

# The firmware switches raspi3b's LED: the eight messages of a round make one long flash and three short flashes.
trace = os.path.join(WORK, "lamp-trace")
if os.path.exists(trace):
    os.unlink(trace)
process = start("rpi3", broken_image("rpi3", "rpi3_early_init", UNDEFINED),
                ["-d", "trace:bcm2835_mbox_property", "-D", trace])
end = time.time() + 60
events = ""
while events.count("tag:0x00038041") < 12 and time.time() < end:
    time.sleep(0.2)
    if os.path.exists(trace):
        with open(trace, encoding="utf-8", errors="replace") as f:
            events = f.read()
still = process.poll() is None
process.kill()
process.communicate()
known = subprocess.run([Machine("rpi3").command("")[0], "-trace", "help"], capture_output=True, text=True, timeout=60)
if "bcm2835_mbox_property" not in known.stdout + known.stderr:
    tap.skip("rpi3: the light by the firmware", "this QEMU has no such trace events")
else:
    tap.ok(events.count("tag:0x00038041") >= 12 and events.count("tag:0x00010002") == 1 and still,
           "rpi3: it asks which board this is, and goes on to flash by the firmware's expander", events[-2000:])
os.unlink(CARD)
tap.done()
