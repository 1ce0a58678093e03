#!/usr/bin/python3
"""The build itself: equal sources give equal bytes in any folder, includes point one way, the image stays small, and the commands that people use
exist."""

import concurrent.futures
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import BUILD, LONG, ROOT, WORK, Tap, write_whole

tap = Tap()
os.makedirs(WORK, exist_ok=True)


# A whole image is built here, and on a slow computer five minutes were not enough for it.
def make(*words, cwd=ROOT, timeout=900, **more):
    done = subprocess.run(["make", "--no-print-directory", *words], cwd=cwd, capture_output=True, text=True,
                          timeout=timeout, env={k: v for k, v in os.environ.items() if k != "MAKEFLAGS"} | more)
    return done.returncode, done.stdout + done.stderr


def build_elsewhere(name, board, *targets, out="out"):
    """Copy the sources to another folder, whose path has another length, and make these targets there; returns (the folder, what
    was printed)."""
    folder = os.path.join(WORK, name)
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT, folder, symlinks=True,
                    ignore=shutil.ignore_patterns("build", ".git", "__pycache__"))
    newlib = os.path.join(folder, out, "newlib")
    os.makedirs(os.path.dirname(newlib), exist_ok=True)
    os.symlink(os.path.join(BUILD, "newlib"), newlib)
    _, text = make(f"O={out}", f"BOARD={board}", *(f"{out}/{target}" for target in targets), cwd=folder)
    return os.path.join(folder, out), text


def bytes_of(path):
    if not os.path.exists(path):
        return b""
    with open(path, "rb") as f:
        return f.read()


def code_of(path):
    """Code, data and symbols of an object. The rest differs: the debug information contains the folder, and the part for link-time optimization
    contains a random number."""
    out = os.path.join(WORK, "build-object.o")
    if os.path.exists(path):
        subprocess.run(["riscv64-unknown-elf-objcopy", "-g", "-w", "-R", ".gnu.lto_*", "-N", "__gnu_lto_*", path, out],
                       check=True, timeout=60)
    return bytes_of(out) if os.path.exists(path) else b""


# Suites that run in parallel call make at the same time, and each make checks the files whose text may have changed.
out = os.path.relpath(os.path.join(WORK, "build-rows"), ROOT)
rows = os.path.join(out, "gen", "board_rows.inc")
folder = os.path.join(ROOT, out, "gen")
shutil.rmtree(folder, ignore_errors=True)
failed = []
for _ in range(3):
    makes = [subprocess.Popen(["make", "-s", f"O={out}", rows], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, env={k: v for k, v in os.environ.items() if k != "MAKEFLAGS"}) for _ in range(8)]
    said = [m.communicate(timeout=300)[0] for m in makes]
    failed += [text for m, text in zip(makes, said) if m.returncode != 0]
tap.ok(not failed and os.listdir(folder) == ["board_rows.inc"] and b"board.def" in bytes_of(os.path.join(ROOT, rows)),
       "eight makes at a time write one file without disturbing each other", "\n".join(failed))

# Threads of one suite share a process, and the gate of counted instructions starts machines from several threads.
path = os.path.join(WORK, "build-whole", "text")
with concurrent.futures.ThreadPoolExecutor(8) as pool:
    list(pool.map(lambda n: [write_whole(path, f"{n}" * 1000) for _ in range(50)], range(8)))
text = bytes_of(path).decode()
tap.ok(text == text[:1] * 1000 and os.listdir(os.path.dirname(path)) == ["text"],
       "eight threads write one file, which is whole, and leave no other")

# test-long builds whole images, each of which takes a minute. One object of every rule and of most rooms is enough, because a path or a date gets
# into an object by a flag or a header that all objects share. Objects that the boards of an ISA share lie in the ISA's folder.
OBJECTS = [f"{'virt-' if name == 'kernels/dispatch.c' else ''}riscv64/obj/{name}.o" for name in
           ("boot/main.c", "boot/riscv64/start.S", "boot/platform_from_board.c", "board/drivers/serial/serial.c", "kernels/dispatch.c",
            "kernels/riscv64/attention/accumulate_f32_f16_rvv.S", "kernels/riscv64/vector/add_f32_rvv.S", "kernels/ref/vector.c", "runtime/base/crc32c.c",
            "runtime/screen/screen_draw.c", "runtime/stream/stream.c")]
# The other folder's path has characters with which a shell does more than read a word.
ELSEWHERE = "another's-(folder)&$HOME;\"n\"|m"
folder, log = build_elsewhere(ELSEWHERE, "virt-riscv64", *OBJECTS)
# The page of the Linux program has characters that an old character set lacks.
status, text = make("O=out", "out/gen/page.html", cwd=os.path.join(WORK, ELSEWHERE), LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
tap.ok(status == 0, "the page is made in any locale", text)
status, text = make("O=other", "newlib", "CROSS_COMPILE=nosuch-", cwd=os.path.join(WORK, ELSEWHERE))
tap.ok(status == 2 and "nosuch-gcc is missing: run 'make setup'" in text and "not found" not in text, "a missing compiler is named with the cure", text)
here = [code_of(os.path.join(BUILD, name)) for name in OBJECTS]
there = [code_of(os.path.join(folder, name)) for name in OBJECTS]
tap.ok(here == there and all(here), f"virt-riscv64: {len(OBJECTS)} objects have equal bytes from another folder ({sum(map(len, there))})",
       [name for name, a, b in zip(OBJECTS, here, there) if a != b or not a] + [log])
for board in ("virt-arm64", "virt-riscv64"):
    if LONG:
        folder, log = build_elsewhere(ELSEWHERE, board, f"{board}/ingot.bin")
        first = bytes_of(os.path.join(folder, board, "ingot.bin"))
        tap.ok(first and first == bytes_of(os.path.join(BUILD, board, "ingot.bin")),
               f"{board}: equal bytes from another folder ({len(first)})", log)
    status, text = make("size", f"BOARD={board}", "O=" + BUILD)
    tap.ok(status == 0 and "image without weights" in text, f"{board}: make size", text)

# Every object knows its headers: if one changed (-W), it is compiled again, for the image, the program and the library under the sanitizers.
header, source = "runtime/model/model.h", "runtime/session/session.c"
out = BUILD.removeprefix(ROOT + os.sep)  # the path as the Makefile spells it
for what in ("host/ingot", "asan/libingot.a", "virt-riscv64/ingot.elf"):
    status, text = make("-n", "-W", header, "O=" + BUILD, "BOARD=virt-riscv64", f"{out}/{what}")
    tap.ok(status == 0 and f"-c {source} " in text, f"{what} is made anew when {header} changes", text[-2000:])

# With -j the makes of two boards run at the same time. A file that both need is made before them, or by the virt machine of its ISA, which comes
# first. Here nothing is built yet, so otherwise each make would make the file.
VIRT = {"test-image-virt-arm64", "test-image-virt-riscv64"}
before, boards, board, order = set(), {}, None, []
_, text = make("-n", "--trace", "-j1", "O=" + os.path.join(WORK, "nothing-yet"), "test-images")
for name in re.findall(r"target '([^']+)' (?:due|does)", text):
    if name.startswith("test-image-"):
        board = name
        order.append(name)
    elif board is None:
        before.add(name)
    else:
        boards.setdefault(name, set()).add(board)
twice = [name for name, by in boards.items() if len(by) > 1 and name not in before and len(by & VIRT) != 1]
tap.ok(set(order[:2]) == VIRT and len(order) > 5 and len(boards) > 1000 and not twice,
       f"no file of {len(boards)} is made by the makes of two boards at once", [order, twice])

status, text = make("layers")
tap.ok(status == 0, "make layers: includes point one way", text)
# A downloaded archive of the sources is not a clone; GIT_CEILING_DIRECTORIES hides the clone around the folder.
status, text = make("layers", cwd=os.path.join(WORK, ELSEWHERE), GIT_CEILING_DIRECTORIES=WORK)
tap.ok(status == 0 and "format: this is not a clone" in text and "structure: 0 beyond" in text, "make layers in sources without .git", text)
status, text = make("help")
said = re.findall(r"^  ([a-z-]+) ", text, re.M)
tap.ok(status == 0 and len(said) == 10 and {"setup", "run", "host", "image", "test", "card"} <= set(said), "make help lists ten targets", text)
status, text = make("help-all")
tap.ok(status == 0 and set(said) < set(re.findall(r"^  ([a-z-]+) ", text, re.M)) and all(f"\n  {word} " in text for word in
       ("setup-tests", "size", "layers", "bench", "bench-kernels", "lib", "examples", "install", "static", "release")),
       "make help-all lists them and the others", text)
shutil.rmtree(os.path.join(WORK, ELSEWHERE), ignore_errors=True)
tap.done()
