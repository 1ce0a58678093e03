#!/usr/bin/python3
"""To add a board, only its folder is needed, as docs/PORTING.md says: make, the program's tables and the shell's completion know a copy of the
template, and no other file has to change. In make test-long its image is also linked, and its stacks are measured."""

import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from boards import names
from machine import BUILD, LONG, ROOT, WORK, Tap

NAME = "nova"
COPY = os.path.join(WORK, "new-board")
tap = Tap()


def make(*words, timeout=900):
    done = subprocess.run(["make", "--no-print-directory", "O=out", *words], cwd=COPY, capture_output=True, text=True,
                          timeout=timeout, env={k: v for k, v in os.environ.items() if k != "MAKEFLAGS"})
    return done.returncode, done.stdout + done.stderr


def guide():
    """The two commands with which the guide makes the folder, unchanged."""
    with open(os.path.join(ROOT, "docs/PORTING.md"), encoding="utf-8") as f:
        lines = re.findall(r"^(?:cp|sed) .*board/NAME.*$", f.read(), re.M)
    return [line.replace("NAME", NAME) for line in lines]


def names_of_board(text):
    return re.findall(rf"\b{NAME}\b", text)


shutil.rmtree(COPY, ignore_errors=True)
shutil.copytree(ROOT, COPY, symlinks=True, ignore=shutil.ignore_patterns("build", ".git", "__pycache__", "node_modules"))
os.makedirs(os.path.join(COPY, "out"))
os.symlink(os.path.join(BUILD, "newlib"), os.path.join(COPY, "out/newlib"))

status, text = make("BOARD=" + NAME, "-n", "image")
tap.ok(status != 0 and NAME in text, "before the folder is made, the board does not exist", text)
commands = guide()
for command in commands:
    subprocess.run(command, shell=True, cwd=COPY, check=True, timeout=60)
tap.ok(len(commands) == 2 and os.path.exists(os.path.join(COPY, "board", NAME, "board.def")), "the guide's two commands make its folder",
       str(commands))

_, text = make("help")
tap.ok(names_of_board(text), "make help names the new board", text)
status, text = make("BOARD=" + NAME, f"out/{NAME}/obj/board/{NAME}/board.c.o", "qemu-command")
tap.ok(status == 0 and "qemu-system-riscv64 -M virt" in text, "the new board's code compiles, and make knows how QEMU starts it", text)
status, text = make("out/host/obj/host/plan/board_table.c.o", "out/host/obj/host/plan/cmd_plan.c.o")
with open(os.path.join(COPY, "out/gen/board_rows.inc"), encoding="utf-8") as f:
    rows = f.read()
with open(os.path.join(COPY, "out/host/obj/host/plan/board_table.c.o"), "rb") as f:
    table = f.read()
with open(os.path.join(COPY, "out/host/obj/host/plan/cmd_plan.c.o"), "rb") as f:
    choices = f.read()
tap.ok(status == 0 and f"board/{NAME}/board.def" in rows and NAME.encode() + b"\0" in table and
       re.search(" ".join(sorted([*names(), NAME])).encode() + b" ", choices), "plan, info and card have a row for the new board", text + rows)
status, text = make("-n", "test-images")
tap.ok(status == 0 and f"out/{NAME}/ingot.bin" in text, "make test builds the new board's images", text[-2000:])

if LONG:
    status, text = make("BOARD=" + NAME, f"out/{NAME}/ingot.bin", f"out/{NAME}/ingot.stack")
    tap.ok(status == 0, "the new board's image links, and its stacks suffice", text[-3000:])
shutil.rmtree(COPY)
tap.done()
