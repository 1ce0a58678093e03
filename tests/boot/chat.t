#!/usr/bin/python3
"""A person at the serial line: the prompt comes, replies stream, Ctrl-C stops a reply, and after bad input come a message and the
prompt."""

import os
import re
import subprocess
import sys

import pexpect

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import ARM64, HOST, RISCV64_ANY, WORK, Tap, card_arguments, end, make_card

tap = Tap()
os.makedirs(WORK, exist_ok=True)
MODEL = os.path.join(WORK, "chat-tiny.ingot")
subprocess.run([HOST, "synth", "--shape", "tiny", "--type", "q4_0", "-o", MODEL], check=True,
               capture_output=True, timeout=60)
CARD = make_card("chat-card.img", MODEL)
FIGURES = r"\[\d+ prompt \+ (\d+) new tokens?, prefill [^\]]*\]\r+\n"


def prompt(console):
    console.expect(r"(?:^|\n)> $", timeout=60)


def talk(machine):
    command = machine.command("temp=0 n=24", 4, card_arguments(CARD))
    console = pexpect.spawn(command[0], command[1:], timeout=60, echo=False)
    name = machine.board

    def check(what, good):
        tap.ok(good, f"{name}: {what}", console.before.decode("utf-8", "replace")[-2000:])

    try:
        prompt(console)
        check("the prompt comes, after the log", b"ready: entry to prompt" in console.before)

        console.send("Hello\r")
        console.expect(FIGURES)
        check("a reply ends with its figures", int(console.match.group(1)) > 0)
        prompt(console)

        console.send("Helxx\x7f\x7flo\r")
        console.expect(FIGURES)
        check("backspace takes back", b"\x08" in console.before)
        prompt(console)

        console.send("nothing of this\x15\r")
        prompt(console)
        check("Ctrl-U clears the line", b"new tokens" not in console.before)

        console.send("half a line\x03")
        prompt(console)
        check("Ctrl-C abandons a line", b"new tokens" not in console.before)

        for at in range(0, 100000, 1000):
            console.send("x" * 1000)
        console.send("\r")
        console.expect("error: a line may have", timeout=120)
        prompt(console)
        check("a line of 100 kB is refused", True)

        console.send(b"caf\xc3\xa9 \xff\xfe\xc3(\r")
        console.expect(FIGURES)
        check("invalid UTF-8 is answered", True)
        text = console.before.decode("utf-8", "strict")
        check("and everything printed is UTF-8", len(text) > 0)
        prompt(console)

        console.send("\x04")
        console.expect("Ctrl-D has no effect here: /off switches off", timeout=30)
        prompt(console)
        check("Ctrl-D on an empty line ends nothing, and says so", True)
        console.send("/quit\r")
        console.expect("/off switches it off", timeout=30)
        prompt(console)
        console.send("/off\r")
        console.expect("power off", timeout=30)
        console.expect(pexpect.EOF, timeout=30)
        check("nor does /quit; /off does", True)
    except (pexpect.TIMEOUT, pexpect.EOF) as error:
        check(f"goes on ({type(error).__name__})", False)
    finally:
        end(console)


def stop(machine):
    """Ctrl-C in a long reply; the next reply is complete."""
    command = machine.command("temp=0", 2, card_arguments(CARD))
    console = pexpect.spawn(command[0], command[1:], timeout=60, echo=False)
    try:
        prompt(console)
        console.send("Tell me a long story\r")
        console.expect(r"story\r+\n.", timeout=60)
        console.send("\x03")
        console.expect(r"\(stopped\)")
        console.expect(FIGURES)
        before = int(console.match.group(1))
        prompt(console)
        tap.ok(True, f"{machine.board}: Ctrl-C stops a reply (after {before} tokens)")
        console.send("Again\r")
        console.expect(r"Again\r+\n.", timeout=60)
        tap.ok(True, f"{machine.board}: the next reply begins after a stopped one")
    except (pexpect.TIMEOUT, pexpect.EOF) as error:
        tap.ok(False, f"{machine.board}: Ctrl-C stops a reply", f"{type(error).__name__}\n" +
               console.before.decode("utf-8", "replace")[-2000:])
    finally:
        end(console)


for board in (ARM64, RISCV64_ANY):
    talk(board)
    stop(board)
tap.done()
