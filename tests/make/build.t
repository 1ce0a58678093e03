#!/usr/bin/python3
"""The build itself: equal sources give equal bytes wherever they lie, includes point one way, the
image stays small, and the commands that people call exist."""

import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import BUILD, LONG, ROOT, WORK, Tap

tap = Tap()
os.makedirs(WORK, exist_ok=True)


# A whole image is built here, by a computer that may be slow: five minutes were too few for one.
def make(*words, cwd=ROOT, timeout=900):
    done = subprocess.run(["make", "--no-print-directory", *words], cwd=cwd, capture_output=True,
                          text=True, timeout=timeout)
    return done.returncode, done.stdout + done.stderr


def build_elsewhere(name, board, out):
    """Copy the sources to another folder (with another length of path) and build the image."""
    folder = os.path.join(WORK, name)
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT, folder, symlinks=True,
                    ignore=shutil.ignore_patterns("build", ".git", "__pycache__"))
    newlib = os.path.join(folder, out, "newlib")
    os.makedirs(os.path.dirname(newlib), exist_ok=True)
    os.symlink(os.path.join(BUILD, "newlib"), newlib)
    status, text = make(f"O={out}", f"BOARD={board}", f"{out}/{board}/ingot.bin", cwd=folder)
    image = os.path.join(folder, out, board, "ingot.bin")
    if status != 0 or not os.path.exists(image):
        return None, text
    with open(image, "rb") as f:
        return f.read(), text


for board in ("virt-arm64", "virt-riscv64") if LONG else ("virt-riscv64",):
    first, log = build_elsewhere("another-folder", board, "out")
    with open(os.path.join(BUILD, board, "ingot.bin"), "rb") as f:
        tap.ok(first is not None and f.read() == first,
               f"{board}: equal bytes from another folder ({len(first or b'')})", log)
    status, text = make("size", f"BOARD={board}", "O=" + BUILD)
    tap.ok(status == 0 and "image without weights" in text, f"{board}: make size", text)

# Every object knows its headers: one that changed (-W) is compiled again, for the image, the program
# and the library under the sanitizers.
header, source = "runtime/model/model.h", "runtime/session/session.c"
out = BUILD.removeprefix(ROOT + os.sep)  # as the Makefile spells it
for what in ("host/ingot", "asan/libingot.a", "virt-riscv64/ingot.elf"):
    status, text = make("-n", "-W", header, "O=" + BUILD, "BOARD=virt-riscv64", f"{out}/{what}")
    tap.ok(status == 0 and f"-c {source} " in text, f"{what} is made anew when {header} changes", text[-2000:])

status, text = make("layers")
tap.ok(status == 0, "make layers: includes point one way", text)
status, text = make("help")
tap.ok(status == 0 and all(f"\n  {word} " in text for word in
                           ("setup", "run", "host", "image", "test", "card", "size", "layers",
                            "bench", "bench-kernels", "lib", "examples", "install", "static",
                            "release")),
       "make help lists what people call", text)
shutil.rmtree(os.path.join(WORK, "another-folder"), ignore_errors=True)
tap.done()
