#!/usr/bin/python3
"""The Versal board was written only with docs/PORTING.md. With a model on its own SD controllers it computes the same ids and logits as the
host, with one core and with two, resident and streamed, and a person can use it at its serial line."""

import os
import re
import subprocess
import sys

import pexpect

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../tests"))
from machine import (BUILD, HOST, WORK, Machine, Reply, Tap, end, segments, make_board_card,
                     run)

VERSAL, CORES = Machine("versal"), 4  # two of these cores are Cortex-R5, which Ingot does not use
SLOTS = ["SD card at 0xf1040000", "SD card at 0xf1050000"]
PROMPT, N = "Once upon", 16

tap = Tap()
os.makedirs(WORK, exist_ok=True)
MODEL = os.path.join(WORK, "versal-tiny.ingot")
subprocess.run([HOST, "synth", "--shape", "tiny", "--type", "q8_0", "-o", MODEL], check=True,
               capture_output=True, timeout=60)
CARD, _ = make_board_card("versal", "versal-card.img", MODEL=MODEL)
STREAM = f" mem={2 * max(size for _, size in segments(MODEL)[1:-1]) + 2 * 4096}"
WORDS = f'prompt="{PROMPT}" temp=0 n={N} ids'
want = Reply(run([HOST, "run", MODEL, "-p", PROMPT, "-n", str(N), "--temp", "0", "--ids"])[1])


def slot(index):
    return ["-drive", f"if=sd,index={index},format=raw,snapshot=on,file={CARD}"]


for name, words, drives, says in (
        ("2 cores, resident", "", slot(0), ["cores: 2 of 2", SLOTS[0] + ", 64.0 MiB", ", resident"]),
        ("1 core, streamed", " cores=1" + STREAM, slot(0), ["cores: 1 of 2", ", streamed"]),
        ("2 cores, streamed, the second slot", STREAM, slot(1),
         [SLOTS[0] + ": there is no card in the slot", SLOTS[1] + ", 64.0 MiB", ", streamed"]),
        ("from an initrd", "", ["-initrd", MODEL], [", in place"])):
    status, console = VERSAL.run(WORDS + words, CORES, drives)
    reply = Reply(console)
    tap.ok(status == 0 and want.ids and reply.ids == want.ids and reply.hash == want.hash,
           f"versal: {name}: the host's ids and logits, and QEMU ends", console)
    tap.ok("on versal: 2 x Cortex-A72, 512.0 MiB RAM" in console and "] warning" not in console and
           all(text in console for text in says), f"versal: {name}: " + "; ".join(says), console)

status, console = VERSAL.run(WORDS, CORES)
tap.ok("error: " in console and "power off" in console, "versal: no card: says so, ends", console)

with open(os.path.join(BUILD, "versal/ingot.dis"), encoding="utf-8") as f:
    tap.ok(not re.search(r"\t(sdot|smmla|whilelo)\t", f.read()), "versal: no kernels of other CPUs")

command = VERSAL.command("temp=0 n=8", CORES, slot(0))
console = pexpect.spawn(command[0], command[1:], timeout=60, echo=False)
try:
    console.expect(r"(?:^|\n)> $")
    console.send("Hello\r")
    console.expect(r"\[\d+ prompt \+ \d+ new tokens?, [^\]]*\]")
    console.expect(r"(?:^|\n)> $")
    tap.ok(True, "versal: a line is answered, and the prompt comes back")
except (pexpect.TIMEOUT, pexpect.EOF) as late:
    tap.ok(False, f"versal: a line is answered ({type(late).__name__})",
           console.before.decode("utf-8", "replace")[-2000:])
finally:
    end(console)
tap.done()
