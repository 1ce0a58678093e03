#!/usr/bin/python3
"""Input while the machine computes: 64 kB pasted at the line's rate arrive complete and in order while every core runs kernels and nobody reads.
Also: input that came before the image ran, kernels that are interrupted, XON/XOFF, a paste and Ctrl-C during a reply, and a UART whose interrupt
never comes. Each instruction of the interrupt handler is checked."""

import array
import fcntl
import os
import random
import re
import select
import struct
import subprocess
import sys
import termios
import time

import pexpect

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from boards import with_expected
from crc32c import crc32c
from machine import (ARM64, BUILD, HOST, LONG, RISCV64_V, ROOT, WORK, Machine, Reply, Tap,
                     card_arguments, end, make_card)
from talk import Monitor

SECONDS = 180
PASTE_BYTES = 64 * 1024
RING_BYTES = 128 * 1024
CTRL_A, CTRL_C, XON, XOFF = b"\x01", b"\x03", b"\x11", b"\x13"
TOLD = re.compile(rb"received (\d+) bytes, crc32c ([0-9a-f]+), lost (\d+); (\d+) kernels, "
                  rb"(\d+) faults")

tap = Tap()
os.makedirs(WORK, exist_ok=True)

# Rows: machine, cores, interrupt controller. All cores compute all the time.
MORE = 4 if LONG else 2
MACHINES = [
    (ARM64, MORE, "GICv2"),
    (Machine("virt-arm64", "virt-arm64 SVE", ["-M", "virt,gic-version=3", "-cpu", "max"]), 2,
     "GICv3"),
    (RISCV64_V, MORE, "PLIC"),
] + [(Machine(board), MORE, controller) for board, (controller, when) in with_expected("PASTE").items() if LONG or when == "always"]
# Rows: bytes per second, bytes in one piece, total bytes; two cores compute meanwhile.
PROFILES = {"115200 baud": (11520, 12, PASTE_BYTES if LONG else PASTE_BYTES // 8), "921600 baud, in bursts": (92160, 9216, PASTE_BYTES),
            "as fast as it goes": (None, PASTE_BYTES, PASTE_BYTES)}


def some_bytes(count, without):
    """Random bytes of all values except `without` and QEMU's escape character; the same bytes every time."""
    values = [v for v in range(256) if bytes([v]) not in (CTRL_A, *without)]
    return bytes(random.Random(count).choices(values, k=count))


class Line:
    """QEMU with its console on a pty. The test reads the console's output all the time, like a terminal."""

    def __init__(self, command):
        self.console = pexpect.spawn(command[0], command[1:], timeout=SECONDS, echo=False)
        os.set_blocking(self.console.child_fd, False)
        self.far = os.open(f"/proc/{self.console.pid}/fd/0", os.O_RDWR | os.O_NOCTTY)
        self.text = b""

    def read(self):
        try:
            self.text += os.read(self.console.child_fd, 65536)
        except BlockingIOError:
            pass
        except OSError:
            return False
        return True

    def write(self, data, rate=None, burst=PASTE_BYTES, stop=None, ahead=None, seconds=SECONDS):
        """Send at this rate, at most `ahead` bytes ahead of the machine, until `stop` is true; returns how many bytes the pty took."""
        start, at = time.monotonic(), 0
        while at < len(data) and time.monotonic() - start < seconds:
            due = len(data)
            if rate is not None:
                due = int((time.monotonic() - start) * rate) // burst * burst + burst
            if at < due and (ahead is None or self.waiting() < ahead):
                try:
                    at += os.write(self.console.child_fd, data[at:min(due, at + burst, len(data))])
                except BlockingIOError:
                    pass
                except OSError:
                    break
            if not self.read() or (stop is not None and stop()):
                break
            select.select([self.console.child_fd], [], [], 0.001)
        return at

    def waiting(self):
        """The number of bytes for which QEMU's UART had no room yet."""
        return array.array("i", fcntl.ioctl(self.far, termios.FIONREAD, bytes(4)))[0]

    def drain(self, seconds=SECONDS):
        """Wait until the UART has had room for everything."""
        end = time.monotonic() + seconds
        while self.waiting() and time.monotonic() < end:
            select.select([self.console.child_fd], [], [], 0.001)
            self.read()

    def wait(self, pattern, seconds=SECONDS, since=0):
        end = time.monotonic() + seconds
        while True:
            found = re.search(pattern, self.text[since:])
            if found or time.monotonic() > end:
                return found
            select.select([self.console.child_fd], [], [], 0.1)
            if not self.read():
                return re.search(pattern, self.text[since:])

    def close(self):
        os.close(self.far)
        end(self.console)


def busy(machine, cores, words=""):
    kernel = os.path.join(BUILD, machine.board, "paste.bin")
    line = Line(machine.command(words, cores, kernel=kernel))
    line.wait(rb"busy\r+\n")
    return line


def told(line, count=1):
    """Wait for the image's report number `count` of the bytes that it received."""
    line.wait(rb"(?:received [^\n]*faults\r+\n[^r]*){%d}" % count)
    found = TOLD.findall(line.text)
    return tuple(int(v, 16 if i == 1 else 10) for i, v in enumerate(found[-1])) if found else None


def check_paste(machine, cores, controller, profile, part=1):
    """From the first byte to the last, core 0 does not read the line."""
    rate, burst, count = PROFILES[profile]
    count //= part
    data = some_bytes(count, (CTRL_C,))
    line = busy(machine, cores)
    line.write(data, rate, burst)
    line.write(CTRL_C, seconds=SECONDS)
    result = told(line)
    name = f"{machine.label}, {controller}, {profile}"
    tap.ok(result is not None and result[:3] == (count, crc32c(data), 0),
           f"{name}: {count // 1024} kB while all cores compute arrive complete and in order", line.text[-600:])
    tap.ok(result is not None and result[3] > 0 and result[4] == 0,
           f"{name}: {result and result[3]} kernels were interrupted and none is wrong",
           line.text[-600:])
    line.close()


def check_early(machine, cores):
    """Bytes come before the machine runs: it is stopped until its UART, with FIFOs off, has taken the first byte."""
    data = b"typed before the machine runs\r"
    path = os.path.join(WORK, f"paste-{os.getpid()}.sock")
    command = machine.command("", cores, ["-S", "-qmp", f"unix:{path},server=on,wait=off"],
                              os.path.join(BUILD, machine.board, "paste.bin"))
    # With any other monitor, Ctrl-C would end QEMU.
    line = Line(command + ([] if "-serial" in command else ["-serial", "mon:stdio"]))
    monitor = wait_for_monitor(path)
    line.write(data)
    late = time.monotonic() + SECONDS
    while line.waiting() == len(data) and time.monotonic() < late:
        time.sleep(0.01)
    taken = len(data) - line.waiting()
    monitor.do("cont")
    monitor.close()
    line.wait(rb"busy\r+\n")
    line.drain()
    line.write(CTRL_C)
    tap.ok(taken > 0 and told(line) is not None and
           told(line)[:3] == (len(data), crc32c(data), 0),
           f"{machine.label}: bytes that came before the UART was set up are kept", line.text[-600:])
    line.close()
    if os.path.exists(path):
        os.unlink(path)


def wait_for_monitor(path):
    """Wait until QEMU listens; from then on its console is raw, and echoes nothing."""
    late = time.monotonic() + SECONDS
    while True:
        try:
            return Monitor(path)
        except OSError:
            if time.monotonic() > late:
                raise
            time.sleep(0.01)


def check_overflow(machine):
    """A sender that ignores XOFF loses the bytes for which the ring has no room, and these are counted."""
    beyond = 5000
    data = some_bytes(RING_BYTES + beyond, (CTRL_C,))
    line = busy(machine, 1)
    line.write(data)
    line.write(CTRL_C)
    tap.ok(told(line) is not None and
           told(line)[:3] == (RING_BYTES, crc32c(data[:RING_BYTES]), beyond),
           f"{machine.label}: {beyond} bytes more than the ring are counted as lost",
           line.text[-600:])
    line.close()


def check_flow(machine):
    """A sender that obeys XOFF is paused before anything is lost, and continues afterwards."""
    data = some_bytes((3 if LONG else 2) * PASTE_BYTES, (CTRL_C, XON, XOFF))
    line = busy(machine, 1, "flow again")
    sent = line.write(data, burst=512, ahead=1024, stop=lambda: XOFF in line.text)
    tap.ok(PASTE_BYTES < sent < RING_BYTES, f"{machine.label}: XOFF after {sent} bytes that nobody "
           "reads", line.text[-600:])
    line.write(CTRL_C)
    told(line)
    tap.ok(line.wait(rb"\x13.*\x11(?s:.*)") is not None, f"{machine.label}: XON when the bytes are read",
           line.text[-600:])
    line.write(data[sent:], burst=512, ahead=1024)
    line.write(CTRL_C)
    tap.ok(told(line, 2) is not None and told(line, 2)[:3] == (len(data), crc32c(data), 0),
           f"{machine.label}: all {len(data)} bytes arrive", line.text[-600:])
    line.close()


def check_trap(machine):
    line = busy(machine, 2, "trap")
    line.write(b"x")
    line.wait(rb"power off")
    text = line.text.decode("utf-8", "replace")
    tap.ok(re.search(r"trap: .* at 0x700000000[^\n]*\n", text) and "  core 0  " in text and
           len(re.findall(r"called from 0x", text)) >= 1 and "another trap" not in text,
           f"{machine.label}: a trap within the handler is reported", text[-3000:])
    line.close()


# ---- a conversation ----

PROMPT = "Once upon a time"
LINE_BYTES = 3000  # more tokens than the context has, so the answer comes immediately
HOST_TOKENS = 240 if LONG else 120


def host_text(model, n):
    """The text of the reply's first n tokens."""
    out = subprocess.run([HOST, "run", model, "-p", PROMPT, "-n", str(n), "--temp", "0", "--ids"],
                         check=True, capture_output=True, timeout=60)
    return Reply(out.stdout.decode("utf-8", "replace")).text


def printed(line, since):
    """The text without the lines of a prompt's progress, which appear only on a busy computer."""
    text = line.text[since:].decode("utf-8", "replace").replace("\r", "")
    return re.sub(r"^\[ *\d+\.\d{3}\] prompt, .*\n", "", text, flags=re.M)


def tokens_in(text, model):
    """The number of tokens of the reply that are printed completely."""
    low, high = 0, HOST_TOKENS
    while low < high:
        middle = (low + high + 1) // 2
        if len(host_text(model, middle)) <= len(text):
            low = middle
        else:
            high = middle - 1
    return low


def start_reply(line, words=2):
    """Send the prompt and wait for the first words of its reply; returns where they begin."""
    at = len(line.text)
    line.write(PROMPT.encode() + b"\r")
    echo = line.wait(PROMPT.encode() + rb"\r+\n", since=at)
    at += echo.end() if echo else 0
    line.wait(rb"\A(?:\[[^\n]*\n)*(?!\[)[^\n]*?(?:\S+ ){%d}" % words, since=at)
    return at


def check_chat(machine, card, model):
    """Lines are typed during a reply, then Ctrl-C: the reply stops, and the lines are read."""
    count = -(-(PASTE_BYTES if LONG else PASTE_BYTES // 4) // LINE_BYTES)
    letters = random.Random(1)
    lines = ["".join(letters.choices("abcdefghijklmnopqrstuvwxyz", k=LINE_BYTES - 1))
             for _ in range(count)]
    line = Line(machine.command("temp=0", 1, card_arguments(card)))
    line.wait(rb"\n> $")
    at = start_reply(line)
    line.write("".join(text + "\r" for text in lines).encode(), rate=46080, burst=512,
               ahead=1024)
    line.drain()
    text = printed(line, at)
    line.write(CTRL_C)
    tap.ok("[" not in text, f"{machine.label}: a reply streams during all of a paste", text[-600:])
    figures = line.wait(rb"\(stopped\)\r+\n\[\d+ prompt \+ (\d+) new tokens?", since=at)
    got = int(figures.group(1)) if figures else None
    seen = tokens_in(text, model)
    tap.ok(got is not None and seen <= got <= seen + 1 < HOST_TOKENS,
           f"{machine.label}: Ctrl-C after {count * LINE_BYTES} pasted bytes after {seen} tokens stops "
           f"the reply at {got}", printed(line, at)[:2000])
    line.wait(lines[-1].encode() + rb"\r+\nerror: [^\n]*\n> $", since=at)
    echoed = re.findall(r"^> ([a-z]+)\nerror: the prompt does not fit", printed(line, at), re.M)
    tap.ok(echoed == lines, f"{machine.label}: the {count} lines pasted are read whole, in order",
           [len(text) for text in echoed])
    check_held(line, machine)
    line.close()


def check_held(line, machine):
    at = start_reply(line)
    line.write(XOFF)
    line.wait(rb"never", 1)
    before = len(line.text)
    line.wait(rb"never", 2)
    tap.ok(len(line.text) == before, f"{machine.label}: XOFF holds the output",
           printed(line, at)[-600:])
    line.write(XON)
    tap.ok(line.wait(rb"\S+ \S+ ", since=before), f"{machine.label}: XON continues the output",
           printed(line, at)[-600:])
    line.write(XOFF)
    line.wait(rb"never", 1)
    line.write(CTRL_C)
    tap.ok(line.wait(rb"\(stopped\)", since=at), f"{machine.label}: Ctrl-C stops the reply although XOFF holds the output",
           printed(line, at)[-600:])


def check_prefill(machine, card):
    """Ctrl-C before the first token: no layer after the current one is computed."""
    line = Line(machine.command("temp=0", 1, card_arguments(card)))
    line.wait(rb"\n> $")
    at = len(line.text)
    line.write("".join("abcdefgh"[i % 8] for i in range(180)).encode() + b"\r")
    line.wait(rb"\r+\n", since=at)
    line.write(CTRL_C)
    stopped = line.wait(rb"\(stopped\)\r+\n> ", since=at)
    tap.ok(stopped is not None, f"{machine.label}: Ctrl-C stops a prefill before the first token",
           printed(line, at))
    line.close()


def check_hash(machine, card):
    """Results have the same bits whether or not core 0 is interrupted ten thousand times."""
    words = 'prompt="Hello there" n=50 temp=0 ids'
    quiet = Reply(machine.run(words, 2, card_arguments(card))[1])
    noise = some_bytes(4 * RING_BYTES, (CTRL_C, XON, XOFF))
    flooded = Reply(machine.run(words, 2, card_arguments(card), stdin=noise)[1])
    tap.ok(quiet.hash is not None and quiet.hash == flooded.hash and quiet.ids == flooded.ids and
           "\x13" in flooded.console and "\x13" not in quiet.console,
           f"{machine.label}: logits {flooded.hash} with and without a flood of input",
           quiet.console + flooded.console)


# ---- instructions of the handler ----

# The function that an interrupt enters, and patterns for functions that are called by address.
ENTRY = {"virt-arm64": "interrupt", "virt-riscv64": "trap_entry"}
BY_ADDRESS = re.compile(r"serve|(gic|gic_v[23]|plic)_serve|receive_on_interrupt|"
                        r"(pl011|ns16550)_(receive|send)")
CALL = re.compile(r"(?:\b(?:bl?|j|jal)\t(?:ra,|t0,)?|# )([0-9a-f]+) <")
NOT_GENERAL = {
    "virt-arm64": re.compile(r"\b[bhsdqvz]\d+\b|\bp\d+[./]"),
    "virt-riscv64": re.compile(r"\t(f(?!ence)|v)|\bf[ats]\d+\b|\bv\d+\b"),
}


def functions(board):
    """{address: (name, instructions)} of every function of the image."""
    found = {}
    with open(os.path.join(BUILD, board, "ingot.dis"), encoding="utf-8") as f:
        for text in f:
            head = re.match(r"([0-9a-f]+) <(.+)>:$", text)
            if head:
                body = []
                found[int(head.group(1), 16)] = head.group(2), body
            elif re.match(r" +[0-9a-f]+:\t", text):
                body.append("\t" + text.split("\t", 2)[-1].rstrip())
    return found


def reachable(code, roots):
    """The addresses of these functions and of all that they call, recursively, except the report of a trap, which never returns."""
    todo, seen = list(roots), set()
    while todo:
        at = todo.pop()
        if at in seen or at not in code or code[at][0] in ("trap_report", "trap_save"):
            continue
        seen.add(at)
        todo += [int(to, 16) for text in code[at][1] for to in CALL.findall(text)]
    return seen


def not_general(board, text):
    return NOT_GENERAL[board].search(re.sub(r"<.*>", "", text))


def check_instructions(board):
    code = functions(board)
    path = reachable(code, [at for at, (name, _) in code.items()
                            if BY_ADDRESS.fullmatch(name.split(".")[0]) or name == ENTRY[board]])
    names = {code[at][0] for at in path}
    wrong = [f"{code[at][0]}: {text}" for at in path for text in code[at][1]
             if not_general(board, text)]
    expected = {"serial_receive", ENTRY[board],
                "pl011_receive" if board == "virt-arm64" else "ns16550_receive"}
    tap.ok(expected <= names and not wrong,
           f"{board}: the handler's {sum(len(code[at][1]) for at in path)} instructions in "
           f"{len(path)} functions use only general registers", f"{sorted(names)}\n" +
           "\n".join(wrong[:20]))
    kernel = "gemv_f32_q8x8_q8_neon" if board == "virt-arm64" else "gemv_f32_q8x8_q8_rvv"
    tap.ok(any(not_general(board, text) for name, body in code.values() if name == kernel
               for text in body), f"{board}: the check finds the other registers that {kernel} uses")


MODEL = os.path.join(WORK, "paste-s15m.ingot")
subprocess.run([HOST, "synth", "--shape", "s15m", "--type", "q4_0", "-o", MODEL], check=True,
               capture_output=True, timeout=60)
CARD = make_card("paste-card.img", MODEL)



def tree_with_wrong_line():
    """QEMU's own tree, changed so that the UART has no working interrupt."""
    path = os.path.join(WORK, "paste-wrong-line.dtb")
    command = Machine("virt-arm64", "", ["-M", "virt,dumpdtb=" + path]).command("")
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    with open(path, "rb") as f:
        tree = f.read()
    header = struct.unpack(">10I", tree[:40])
    bytes_ = max(header[2] + header[9], header[3] + header[8])  # without the free space that QEMU leaves in the tree
    line = tree.index(struct.pack(">3I", 0, 1, 4), tree.index(b"pl011@"))
    tree = (tree[:4] + struct.pack(">I", bytes_) + tree[8:line] + struct.pack(">3I", 0, 0x55, 4) +
            tree[line + 12:bytes_])
    with open(path, "wb") as f:
        f.write(tree)
    return path


def check_wrong_line():
    """Input does not depend on the UART's interrupt: a person types at the prompt."""
    command = ARM64.command("", 2, ["-dtb", tree_with_wrong_line()])
    k = pexpect.spawn(command[0], command[1:], timeout=SECONDS, echo=False)
    try:
        k.expect_exact("> ")
        time.sleep(1)  # wait until the core sleeps
        k.send("/off\r")
        k.expect_exact("power off")
        heard = True
    except (pexpect.TIMEOUT, pexpect.EOF):
        heard = False
    tap.ok(heard, "virt-arm64: a tree that names a wrong line for the UART: the keyboard works",
           (k.before or b"").decode("utf-8", "replace"))
    end(k)


only = sys.argv[1:]
if not only or ARM64.label in only:
    check_wrong_line()
for machine, cores, controller in MACHINES:
    if only and machine.label not in only:
        continue
    if controller == "GICv3" and not (LONG or only):
        continue
    if machine.board != "virt-riscv64":  # on virt-riscv64 OpenSBI sets the UART up before the image runs
        check_early(machine, cores)
    whole = machine is ARM64 or (LONG and machine is RISCV64_V)
    for profile in PROFILES if whole else ["921600 baud, in bursts"]:
        check_paste(machine, cores, controller, profile, 1 if whole or LONG else 4)
    if machine is RISCV64_V and not LONG:
        check_trap(machine)
        check_instructions(machine.board)
    if machine is ARM64 or (LONG and machine.board.startswith("virt-")):
        check_hash(machine, CARD)
    if whole:
        check_overflow(machine)
        check_flow(machine)
        check_trap(machine)
        check_chat(machine, CARD, MODEL)
        check_prefill(machine, CARD)
        check_instructions(machine.board)
tap.done()
