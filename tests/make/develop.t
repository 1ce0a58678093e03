#!/usr/bin/python3
"""The files for an editor and a debugger: compile_commands.json covers every room, and make gdb stops in the image and prints its
arena and its session."""

import json
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import BUILD, ROOT, WORK, Tap

tap = Tap()
os.makedirs(WORK, exist_ok=True)


def make(*words, timeout=300):
    done = subprocess.run(["make", "--no-print-directory", *words, "O=" + BUILD], cwd=ROOT, capture_output=True, text=True,
                          timeout=timeout, stdin=subprocess.DEVNULL,
                          env={k: v for k, v in os.environ.items() if k != "MAKEFLAGS"})
    return done.returncode, done.stdout + done.stderr


status, text = make("compile_commands.json")
path = os.path.join(ROOT, "compile_commands.json")
entries = json.load(open(path, encoding="utf-8")) if status == 0 else []
files = {entry["file"]: entry["arguments"] for entry in entries}
wanted = ("host/cli/main.c", "runtime/session/session.c", "boot/main.c", "boot/arm64/core.c", "boot/riscv64/core.c", "board/rpi5/board.c",
          "board/drivers/usb/xhci.c", "tests/unit/text/json_test.c", "tests/fuzz/json_fuzz.c", "tests/kernels/main.c")
missing = [name for name in wanted if name not in files]
tap.ok(status == 0 and not missing, f"compile_commands.json has a command for each of {len(files)} files", [text[-1500:], missing])
wrong = [name for name in files if not os.path.exists(os.path.join(ROOT, name))]
tap.ok(files and not wrong, "each file of compile_commands.json exists", wrong)
tap.ok("--target=riscv64-unknown-elf" in files.get("boot/riscv64/core.c", []) and
       "--target=aarch64-none-elf" in files.get("boot/arm64/core.c", []), "the command for boot code names the processor")

if shutil.which("clangd"):
    names = ("runtime/session/session.c", "boot/main.c", "board/rpi5/board.c", "tests/unit/text/json_test.c")
    failed = [name for name in names if subprocess.run(["clangd", "--check=" + name], cwd=ROOT, capture_output=True, timeout=120,
                                                       check=False).returncode != 0]
    tap.ok(not failed, f"clangd finds no error in {len(names)} of these files", failed)
else:
    tap.skip("clangd reads compile_commands.json", "clangd is not installed: apt-get install clangd")

if shutil.which("gdb-multiarch"):
    script = os.path.join(WORK, "develop.gdb")
    with open(script, "w", encoding="utf-8") as f:
        f.write("ingot-session\nhbreak chat_loop\ncontinue\ningot-arena\ningot-session\n")
    status, text = make("gdb", "BOARD=virt-arm64", "GDB_COMMANDS=" + script)
    tap.ok(status == 0 and "hit Breakpoint 1, boot_start" in text, "make gdb stops at the first C function", text[-2000:])
    tap.ok("the application has not been opened yet" in text, "before the application exists, the printers say so", text[-2000:])
    weights = re.search(r"weights = at 0x[0-9a-f]+, (\S+ \w+) of (\S+ \w+)", text)
    tap.ok(weights is not None and weights.group(1) != "0 B", "at the prompt ingot-arena prints the regions", text[-2000:])
    tap.ok("session: 0 tokens cached of 0, 0 guesses, context " in text, "at the prompt ingot-session prints the sequence", text[-2000:])
else:
    tap.skip("make gdb prints the arena and the session", "gdb-multiarch is not installed: apt-get install gdb-multiarch")
tap.done()
