#!/usr/bin/python3
"""The depth of the stacks is computed from the image; anything that cannot be computed or does not fit is refused: an unknown call, a cycle, a stack
or a guard that is too small."""

import functools
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, ".."), os.path.join(HERE, "../../toolchain")]
import stack as program
from machine import BUILD, ROOT, WORK, Tap

CROSS = {"virt-arm64": "aarch64-linux-gnu-", "virt-riscv64": "riscv64-unknown-elf-"}
TABLE = os.path.join(ROOT, "toolchain/indirect_calls.txt")
STACKS = os.path.join(ROOT, "boot/stacks.h")
tap = Tap()
os.makedirs(WORK, exist_ok=True)


def changed(path, pattern, with_what):
    out = os.path.join(WORK, "stack-" + os.path.basename(path))
    with open(path, encoding="utf-8") as f:
        text = f.read()
    with open(out, "w", encoding="utf-8") as f:
        f.write(re.sub(pattern, with_what, text, count=1, flags=re.M))
    return out


read_functions = functools.cache(program.read_functions)


def stack(board, image="ingot", table=TABLE, stacks=STACKS):
    """(exit status, output) of toolchain/stack.py in a child process, forked after the image's instructions were read, because reading takes most
    of the time and does not depend on the table."""
    elf = os.path.join(BUILD, board, image + ".elf")
    read_functions(CROSS[board], elf, tuple(program.Table(table).vectors))
    with tempfile.TemporaryFile("w+") as said:
        child = os.fork()
        if child == 0:
            os.dup2(said.fileno(), 1)
            os.dup2(said.fileno(), 2)
            program.read_functions = lambda cross, path, vectors: read_functions(cross, path, tuple(vectors))
            sys.argv = ["stack.py", CROSS[board], elf, table, stacks]
            status = 2
            try:
                program.main()
            except SystemExit as end:
                status = end.code
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(status)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        said.seek(0)
        return status, said.read()


def refused(what, says, *arguments, **files):
    status, text = stack(*arguments, **files)
    tap.ok(status == 1 and re.search(says, text), what, f"{status}\n{text[-3000:]}")


def suffices(board):
    status, text = stack(board)
    found = dict(re.findall(r": ([a-z-]+): (\d+) of \d+ bytes of stack", text))
    # A gemm's tile of 8 KiB is on every core's stack, and the report of a trap has a frame of registers.
    tap.ok(status == 0 and len(found) == 4 and int(found["other-cores"]) > 8192 and
           int(found["boot-core"]) > int(found["other-cores"]) and
           300 < int(found["traps-and-interrupts"]) < 4096, f"{board}: all stacks suffice: {found}", text)


def data_between(directive):
    """Data after a function's end is not executed, so the function does not continue into the next one, which calls it."""
    source, elf = os.path.join(WORK, "stack-data.s"), os.path.join(WORK, "stack-data.elf")
    with open(source, "w", encoding="ascii") as f:
        f.write(f".globl _start\n_start: bl first\nret\n.type first, %function\nfirst: ret\n{directive} 1\n"
                ".balign 4\n.type second, %function\nsecond: bl first\nret\n")
    subprocess.run([CROSS["virt-arm64"] + "gcc", "-nostdlib", "-static", "-o", elf, source], check=True)
    called = {name: [c for c, _ in f.calls] for name, f in read_functions(CROSS["virt-arm64"], elf, ()).items()}
    read_functions.cache_clear()
    tap.ok(called == {"_start": ["first"], "first": [], "second": ["first"]},
           f"{directive} after a function is taken as data", str(called))


for board in CROSS:
    suffices(board)
for directive in (".word", ".short", ".byte", ".inst"):
    data_between(directive)
board = "virt-arm64"
refused("a stack that is too small", r"other-cores may take \d+ bytes of stack, and STACK_OTHER "
        r"is 8192: core_start > member_main > do_part > layer_work > layer_run > (?:run_mixers > )?run_block > ", board,
        stacks=changed(STACKS, r"^(#define STACK_OTHER) .*", r"\1 8192"))
refused("a guard that is smaller than a frame", r"gemm_\w+ has a frame of \d+ bytes, which can",
        board, stacks=changed(STACKS, r"^(#define STACK_GUARD) .*", r"\1 4096"))
refused("a pointer that the table does not know",
        r"do_part calls a pointer at .*workers.c:\d+.*, work\): name", board,
        table=changed(TABLE, "^work: .*$", ""))
refused("a row whose functions are not there", r"do_part at .*none of nobody is in the image",
        board, table=changed(TABLE, "^work: .*$", "work: nobody"))
refused("a circle without a bound", r"a circle of calls, which the table does not bound: .*console_write",
        board, table=changed(TABLE, "^circle utf8_writer_put .*$", ""))
refused("one that calls itself", r"a circle of calls, which the table does not bound: descend\n",
        board, "traps", table=changed(TABLE, r"^work: .*$", "trap: descend"))
tap.done()
