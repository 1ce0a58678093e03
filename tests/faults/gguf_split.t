#!/usr/bin/python3
"""Parts of a split GGUF that are missing, wrong or from another model: the program, built with ASan and UBSan, refuses each with one error
message that names the part."""

import os
import shutil
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from gguf_files import part_name, text, write_parts
from hf_files import folder
from hostile import HUGE, check, good, pack
from machine import Tap

tap = Tap()
WHERE = folder("split-faults")
STEM = os.path.join(WHERE, "m")
N = 3
SECOND = part_name(STEM, 1, N)


def u16(part, key, n):
    part.add(key, 2, struct.pack("<H", n))


def write(change=None):
    parts = good().split(N)
    if change is not None:
        change(parts)
    return write_parts(STEM, parts)


def values(i, **changes):
    """Set values of part i; the argument split_no sets split.no."""
    def act(parts):
        for key, n in changes.items():
            u16(parts[i], key.replace("_", "."), n)
    return act


def tensors(n, parts=(0, 1, 2)):
    def act(all_parts):
        for i in parts:
            all_parts[i].add("split.tensors.count", 5, struct.pack("<i", n))
    return act


def moved(parts):
    """In part 3, replace the first tensor by the first tensor of part 2."""
    parts[2].tensors[0] = list(parts[1].tensors[0])


def other_tensors(parts):
    parts[1].tensors = [["blk.0.ssm_a", [256], 0, bytes(1024)] for _ in parts[1].tensors]


def no_values(part):
    def act(parts):
        parts[part].values = []
    return act


def replace(path, raw):
    def act():
        with open(path, "wb") as f:
            f.write(raw)
    return act


def circle():
    os.unlink(SECOND)
    os.symlink(os.path.basename(part_name(STEM, 0, N)), SECOND)


def itself():
    os.unlink(SECOND)
    os.symlink(os.path.basename(SECOND), SECOND)


def cut(path, keep):
    def act():
        with open(path, "rb") as f:
            raw = f.read()
        with open(path, "wb") as f:
            f.write(raw[:keep if keep > 0 else len(raw) + keep])
    return act


def huge_table():
    with open(SECOND, "rb") as f:
        raw = f.read()
    with open(SECOND, "wb") as f:
        f.write(raw[:8] + HUGE + raw[16:])


def remove(*numbers):
    def act():
        for i in numbers:
            os.unlink(part_name(STEM, i, N))
    return act


# Rows: name, change of the parts, change of the files, words of the error message.
ROWS = [
    ("one part missing", None, remove(1), ["1 of the model's 3 parts is missing",
                                           "m-00002-of-00003.gguf", "fetch it"]),
    ("two parts missing", None, remove(0, 1), ["2 of the model's 3 parts are missing",
                                               "m-00001-of-00003.gguf, m-00002-of-00003.gguf"]),
    ("a part that says it is another", values(1, split_no=2), None,
     ["part 3 of 3 of a split GGUF according to its values, but should be part 2 of 3"]),
    ("a part of four", values(1, split_count=4), None, ["part 2 of 4", "but should be part 2 of 3"]),
    ("a part of none", no_values(1), None, ["part 1 of 0", "but should be part 2 of 3"]),
    ("part 2 is a link to part 1", None, circle, ["part 1 of 3", "but should be part 2 of 3"]),
    ("part 2 is a link to itself", None, itself, ["missing", "m-00002-of-00003.gguf"]),
    ("an architecture of its own", lambda p: p[1].string("general.architecture", "qwen2"), None,
     ["another model", "'qwen2'", "'llama'"]),
    ("a count of tensors of its own", tensors(5, (1,)), None,
     ["another model", "split.tensors.count is 5"]),
    ("a count of tensors that lies", tensors(99), None, ["split.tensors.count is 99", "parts have"]),
    ("a count of tensors of -1", tensors(-1), None, ["split.tensors.count"]),
    ("a tensor in two parts", moved, None, ["appears twice"]),
    ("tensors of another model", other_tensors, None, ["blk.0.ssm_a"]),
    ("2^63 tensors in part 2", None, huge_table, ["tensors"]),
    ("part 2 is cut in its header", None, cut(SECOND, 20), ["ends inside its header"]),
    ("part 2 is cut in its values", None, cut(SECOND, 40), ["cut short or damaged in its value"]),
    ("part 2 is cut in its tensors", None, cut(SECOND, -64), ["beyond the file"]),
    ("part 2 is a page", None, replace(SECOND, b"<!doctype html><html>404</html>"),
     ["is an HTML page"]),
    ("part 2 is nothing known", None, replace(SECOND, bytes(range(200, 256)) * 9),
     ["is not a GGUF", "part 2 of 3"]),
    ("part 2 is empty", None, replace(SECOND, b""), ["is empty"]),
    ("split.no beyond split.count", values(2, split_no=7), None, ["split.no is 7", "is 3"]),
    ("65535 parts", values(2, split_count=65535), None, ["split.count is 65535", "1024"]),
]
for name, change, files, words in ROWS:
    paths = write(change)
    if files is not None:
        files()
    status, said = pack(paths[2])
    check(tap, name, words, status, said)
    for path in paths:
        if os.path.lexists(path):
            os.unlink(path)

paths = write(None)
os.rename(paths[2], part_name(STEM, 1, N))
status, said = pack(part_name(STEM, 1, N))
check(tap, "a part under another's name", ["part 3 of 3", "according to its values", "part 2 of 3",
                                           "according to its name"], status, said)
other = os.path.join(WHERE, "other.gguf")
shutil.copy(paths[0], other)
status, said = pack(other)
check(tap, "a part under a free name", ["is part 1 of 3", "-00001-of-00003.gguf",
                                        "original names"], status, said)
good().write(SECOND)
status, said = pack(SECOND)
check(tap, "a part by its name alone", ["is part 2 of 3 by its name", "no split.count"], status,
      said)
tap.done()
