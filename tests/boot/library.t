#!/usr/bin/python3
"""The library, linked into other programs: its names, a C++ program, hello.c, and firmware for both virt machines whose replies and logits are
those of `ingot run`."""

import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import BUILD, HOST, ROOT, WORK, Reply, Tap, run

MODEL = os.path.join(ROOT, "models/demo-q8_0.ingot")
QUESTION = "Hello! Who are you?"
HEADER = os.path.join(ROOT, "include/ingot.h")
# The functions that a program must provide; on a host, compiler and libc provide them.
ASKED = {"memchr", "memcmp", "memcpy", "memmove", "memset", "strcmp", "strlen"}
ASKED_ON_HOST = {"__assert_fail", "__cpu_model", "__cpu_features2", "__cpu_indicator_init", "_GLOBAL_OFFSET_TABLE_"}
TOOLS = {"host": "", "virt-arm64": "aarch64-linux-gnu-", "virt-riscv64": "riscv64-unknown-elf-"}
MOST_STATE = 8  # the most bytes of variables; they say which kernel computes checksums

tap = Tap()
os.makedirs(WORK, exist_ok=True)


def output(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    return done.stdout + done.stderr


def library(board):
    return os.path.join(BUILD, board, "libingot.a")


def declared():
    with open(HEADER, encoding="utf-8") as f:
        code = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
    code = re.sub(r"^(typedef|#define).*$", "", code, flags=re.M)
    return set(re.findall(r"\b(ingot_\w+)\(", code))


def check_names(board, tools):
    table = [line.split() for line in output(tools + "nm", library(board)).split("\n")]
    given = {row[2] for row in table if len(row) == 3 and row[1].isupper()}
    asked = {row[1] for row in table if len(row) == 2 and row[0] == "U"}
    more = ASKED_ON_HOST if board == "host" else set()
    tap.ok(given == declared(), f"{board}: every global name is one of ingot.h", given ^ declared())
    tap.ok(asked <= ASKED | more, f"{board}: asks for {', '.join(sorted(asked))}", asked)
    sections = re.findall(r"^(\.s?bss\S*|\.s?data\S*)\s+(\d+)", output(tools + "size", "-A", library(board)), re.M)
    state = sum(int(n) for name, n in sections if not name.startswith(".data.rel.ro"))
    tap.ok(state <= MOST_STATE, f"{board}: {state} bytes of variables", sections)


CPP = r"""
#include "ingot.h"
#include <cstdio>
static uint64_t ticks(void *) { return 0; }
int main()
{
    ingot_setup setup = {};
    ingot_model *model = nullptr;
    setup.clock.ticks = ticks;
    std::printf("%s\n", ingot_error_text(ingot_open(&setup, &model)));
    return ingot_close(model) == INGOT_BAD_ARGUMENT ? 0 : 1;
}
"""


def check_cpp():
    source, program = os.path.join(WORK, "library.cpp"), os.path.join(WORK, "library-cpp")
    with open(source, "w", encoding="utf-8") as f:
        f.write(CPP)
    said = output("g++", "-std=c++11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I", os.path.dirname(HEADER),
                  source, library("host"), "-o", program)
    status, text = run([program], timeout=60) if said == "" else (None, said)
    tap.ok(status == 0 and "NULL" in text, f"a C++ program: {text.strip()}", text)


def check_c():
    """The header needs only C11, and only what a freestanding program has."""
    for flags in (["-std=c11"], ["-std=c11", "-ffreestanding"]):
        said = output("gcc", *flags, "-Wall", "-Wextra", "-Wpedantic", "-Wundef", "-Wstrict-prototypes", "-Werror",
                      "-fsyntax-only", "-x", "c", HEADER)
        tap.ok(said == "", f"ingot.h with {' '.join(flags)}", said)


def check_examples():
    """Both examples compile without a warning as C and as C++, with every standard that supports what the header needs."""
    for name in ("hello.c", "firmware/main.c"):
        for compiler, standard in (("gcc", "c11"), ("gcc", "c2x"), ("g++", "c++11"), ("g++", "c++17"), ("g++", "c++20")):
            said = output(compiler, "-x", "c" if compiler == "gcc" else "c++", f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow",
                          "-Werror", "-fsyntax-only", "-I", os.path.dirname(HEADER), "-I", os.path.join(ROOT, "examples/firmware"),
                          os.path.join(ROOT, "examples", name))
            tap.ok(said == "", f"examples/{name} as {standard}", said)
    source, program = os.path.join(ROOT, "examples/hello.c"), os.path.join(WORK, "hello-cpp")
    said = output("g++", "-x", "c++", "-I", os.path.dirname(HEADER), source, "-x", "none", library("host"), "-o", program)
    status, text = run([program, MODEL, QUESTION], timeout=60) if said == "" else (None, said)
    tap.ok(status == 0 and "Ingot" in text, f"hello.c as a C++ program: {text.strip()}", text)


def check_hello():
    hello = os.path.join(BUILD, "host/examples/hello")
    status, said = run([hello, MODEL, QUESTION], timeout=60)
    tap.ok(status == 0 and "Ingot" in said, f"hello: {said.strip()}", said)
    status, said = run([hello, HEADER, QUESTION], timeout=60)
    tap.ok(status == 1 and "not an .ingot file" in said, f"hello: {said.strip()}", said)
    with open(os.path.join(ROOT, "examples/hello.c"), encoding="utf-8") as f:
        tap.ok(len(f.readlines()) < 40, "in under 40 lines")


def check_threads():
    """Run examples/threads.c, with two turns and two threads."""
    source, program = os.path.join(ROOT, "examples/threads.c"), os.path.join(WORK, "library-threads")
    said = output("gcc", "-Wall", "-Wextra", "-Werror", "-pthread", "-I", os.path.dirname(HEADER), source,
                  library("host"), "-o", program)
    status, text = run([program, MODEL, QUESTION, "What is 7 plus 8?"], timeout=60) if said == "" else (None, said)
    tap.ok(status == 0 and f"{answer}\n" in text and "15" in text, f"threads: {text.strip()!r}", text)


def firmware(board, machine):
    return run([*machine, "-m", "128M", "-nographic", "-nic", "none", "-no-reboot", "-kernel",
                os.path.join(BUILD, board, "examples/firmware.elf")], timeout=120)


CELLS = {
    "virt-arm64, cortex-a53": ("virt-arm64", ["qemu-system-aarch64", "-M", "virt", "-cpu", "cortex-a53"]),
    "virt-arm64, max": ("virt-arm64", ["qemu-system-aarch64", "-M", "virt", "-cpu", "max"]),
    "virt-riscv64, no V": ("virt-riscv64", ["qemu-system-riscv64", "-M", "virt", "-cpu", "rv64,v=false"]),
}

for name, prefix in TOOLS.items():
    check_names(name, prefix)
check_c()
if shutil.which("g++"):
    check_cpp()
else:
    tap.skip("a C++ program", "no g++")
status, console = run([HOST, "run", MODEL, "-p", QUESTION, "--temp", "0", "--ids", "-q"], timeout=60)
reply = Reply(console)
answer = reply.text.strip()
tap.ok(status == 0 and reply.hash is not None and answer != "", f"ingot run: {answer}", console)
check_examples()
check_hello()
check_threads()
with ThreadPoolExecutor(os.cpu_count()) as pool:
    booted = dict(zip(CELLS, pool.map(lambda cell: firmware(*cell), CELLS.values())))
for name, (status, said) in booted.items():
    tap.ok(status == 0 and f"\n{answer}\n" in said, f"{name}: the firmware says the same, and switches off", said)
    tap.ok(f"\nlogits: {reply.hash}\n" in said, f"{name}: logits {reply.hash}", said)
tap.done()
