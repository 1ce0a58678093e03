#!/usr/bin/python3
"""board/template runs unchanged, as docs/PORTING.md says."""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import HOST, WORK, Machine, Reply, Tap, run

PROMPT, N = "Once upon", 16

tap = Tap()
os.makedirs(WORK, exist_ok=True)
MODEL = os.path.join(WORK, "porting-tiny.ingot")
subprocess.run([HOST, "synth", "--shape", "tiny", "--type", "q8_0", "-o", MODEL], check=True,
               capture_output=True, timeout=60)
WORDS = f'prompt="{PROMPT}" temp=0 n={N} ids'
want = Reply(run([HOST, "run", MODEL, "-p", PROMPT, "-n", str(N), "--temp", "0", "--ids"])[1])

for cores in (1, 4):
    status, console = Machine("template").run(WORDS, cores, ["-initrd", MODEL])
    reply = Reply(console)
    tap.ok(status == 0 and want.ids and reply.ids == want.ids and reply.hash == want.hash and
           f"on template: {cores} x" in console and f"cores: {cores} of {cores}" in console,
           f"template: as it is, with {cores} cores: the host's ids and logits", console)
tap.done()
