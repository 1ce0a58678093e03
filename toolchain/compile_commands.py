#!/usr/bin/env python3
"""Write compile_commands.json for clangd: how make would compile each C file of the Linux program, the tests and the
images of all boards. Asks make for its commands and builds nothing. Usage: compile_commands.py MAKE BUILD OUT."""

import glob
import json
import os
import shlex
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# clangd is based on clang, which stops at options that only gcc has. KEPT has the options that matter to an editor; the others are
# for code generation.
KEPT = ("-I", "-D", "-U", "-std=", "-W", "-isystem", "-nostdinc", "-march=", "-mabi=", "-pthread")
WITH_WORD = ("-isystem", "-I", "-D")
# clang's name of the machine, whatever prefix the cross compiler has.
TARGETS = {"aarch64": "aarch64-none-elf", "riscv64": "riscv64-unknown-elf"}


def asked(make, *words):
    """The commands that make would run for these targets, line by line."""
    done = subprocess.run([make, "-nB", "--no-print-directory", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"compile_commands: make {' '.join(words)} fails:\n{done.stderr[-2000:]}")
    return done.stdout.replace("\\\n", " ").splitlines()


def kept(words):
    flags = []
    following = iter(words)
    for word in following:
        if word in WITH_WORD:
            flags += [word, next(following)]
        elif word.startswith(KEPT) and word != "-Werror":
            flags.append(word)
    return flags


def entry(line):
    """The C file that a command compiles and the words for clangd, or None."""
    try:
        words = shlex.split(line)
    except ValueError:
        return None
    if not words or not words[0].endswith("gcc"):
        return None
    sources = [word for word in words[1:] if word.endswith(".c")]
    if not sources:
        return None
    target = [f"--target={TARGETS[isa]}" for isa in TARGETS if os.path.basename(words[0]).startswith(isa)]
    return sources, ["clang", *target, *kept(words[1:])]


def names(pattern):
    return sorted(os.path.relpath(path, ROOT) for path in glob.glob(os.path.join(ROOT, pattern)))


def main():
    make, build, out = sys.argv[1:]
    tests = [path.replace("tests/unit/", f"{build}/tests/unit/").replace("_test.c", ".t") for path in names("tests/unit/*/*_test.c")]
    fuzzers = [f"{build}/{path.removesuffix('_fuzz.c')}" for path in names("tests/fuzz/*_fuzz.c")]
    machine = os.uname().machine.replace("aarch64", "arm64")
    goals = [("host", f"{build}/tests/kernels/kernels_test.{machine}", *tests, *fuzzers)]
    boards = [path.split("/")[1] for path in names("board/*/board.mk")]
    goals += [(f"BOARD={board}", "image") for board in sorted(boards, key=lambda name: not name.startswith("virt"))]
    found = {}
    # A file's first command is used, because clangd understands commands for this computer best.
    for words in goals:
        for line in asked(make, f"O={build}", *words):
            sources, command = entry(line) or ([], [])
            for source in sources:
                found.setdefault(source, command)
    entries = [{"directory": ROOT, "file": name, "arguments": [*command, "-c", name]} for name, command in sorted(found.items())]
    with open(out + ".new", "w", encoding="utf-8") as f:
        json.dump(entries, f, indent=0)
    os.replace(out + ".new", out)
    print(f"{out}: {len(entries)} files")


main()
