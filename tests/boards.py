"""The facts in each board's folder, for suites that run on any board, so that no suite lists the boards."""

import functools
import glob
import importlib.util
import os
import re
import sys

from machine import ROOT


@functools.cache
def names():
    """Every board in the tree except the template."""
    return sorted(os.path.basename(os.path.dirname(path))
                  for path in glob.glob(os.path.join(ROOT, "board/*/board.mk")) if "/template/" not in path)


@functools.cache
def row(board):
    """The members of board.def: numbers as int, lists of numbers as lists, the rest as text."""
    with open(os.path.join(ROOT, "board", board, "board.def"), encoding="utf-8") as f:
        members = re.findall(r"\.(\w+) = (\"[^\"]*\"|\{[^}]*\}|\d+)", f.read())
    return {name: int(value) if value.isdigit() else
            [int(n) for n in re.findall(r"\d+", value)] if value[0] == "{" else value.strip('"') for name, value in members}


@functools.cache
def makes(board, variable):
    """The text that board.mk gives to a variable; None if board.mk does not set it."""
    with open(os.path.join(ROOT, "board", board, "board.mk"), encoding="utf-8") as f:
        found = re.search(rf"^{variable} *[:?]?= *(.*)$", f.read(), re.M)
    return found[1] if found else None


@functools.cache
def module(board, file):
    """Load a Python file of the board's folder; None if the folder does not have it."""
    path = os.path.join(ROOT, "board", board, file)
    if not os.path.exists(path):
        return None
    sys.path.insert(0, os.path.join(ROOT, "tests/boards"))
    spec = importlib.util.spec_from_file_location(f"{board}_{file[:-3]}", path)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    sys.path.pop(0)
    return loaded


def expected(board, name, default=None):
    """A value of the board's expected.py, which suites expect of the board (docs/PORTING.md, step 6)."""
    return getattr(module(board, "expected.py"), name, default)


def with_expected(name):
    """{board: value} for the boards whose expected.py has the value."""
    return {board: expected(board, name) for board in names() if expected(board, name) is not None}


def published():
    """(MB/s of memory, MB/s of the card) of each board that is not an emulator."""
    return {board: (row(board)["memory_mb"], row(board)["card_kb"] // 1000) for board in names() if "memory_mb" in row(board)}


def emulators():
    return [board for board in names() if "memory_mb" not in row(board)]


def has_slot(board):
    """True if the board's machine in QEMU has its own slot for a card."""
    return "if=sd" in (makes(board, "QEMU_CARD") or "")


def slot_drive(board, image):
    """QEMU's arguments for a card in that slot. image: the card's file, perhaps with more of QEMU's options."""
    return makes(board, "QEMU_CARD").replace("$(1)", image).split()
