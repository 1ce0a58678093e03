#!/usr/bin/python3
"""A weight type is one row of flash_image/format/types.def, its blocks, references, quantizer, kernels and vectors: no other file names a type that
needs no special treatment, and few files name a type at all."""

import os
import re
import subprocess
import sys

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), folder) for folder in ("..", "../../toolchain")]
import house
from machine import ROOT, Tap
from weight_types import BLOCKS, DEF, MIXTURES, PACKED, STORED, TYPES, bits, group_bytes

tap = Tap()

# ---- the rows ----

ids = sorted(t.id for t in STORED)
NAMES = [t.name for t in STORED if t.kind != "PACKED"]  # a packed type has the name of its GGUF type
tap.ok(ids == list(range(len(STORED))) and len(set(NAMES)) == len(NAMES), f"{len(STORED)} types have numbers from 0 on without gaps", ids)
tap.ok(len(BLOCKS) >= 16 and {t.act for t in BLOCKS} == {"q8", "q8k"} and MIXTURES == ["q3_k_m", "q4_k_m", "q5_k_m"],
       "every row of types.def is read completely", TYPES)
wrong = [t.NAME for t in BLOCKS if t.cols % t.of or group_bytes(t) < 8 * t.cols // t.of * t.bytes or bits(t) > 8.6]
tap.ok(not wrong, "a block of eight rows is at least as large as eight blocks of one row", wrong)

done = subprocess.run([sys.executable, os.path.join(ROOT, "toolchain/weight_types.py"), "--check"], capture_output=True, text=True, timeout=60, check=False)
tap.ok(done.returncode == 0, "the tables of the documents are those of the rows", done.stdout + done.stderr)

# ---- the files that name a type ----

# A type's own files: its row, its blocks, the C that defines and makes it, its kernels, its test vectors.
OWN = (DEF, "kernels/blocks.h", "kernels/ref/", "kernels/arm64/", "kernels/riscv64/", "kernels/x86_64/", "flash_image/quantize/",
       "tests/unit/flash_image/", "tests/golden/file_types.t")
# The packer's choice of a type if the requested type does not support a row's columns.
STANDS_IN = "flash_image/pack/pack_types.c"
# Files that list several types: a new type adds to them.
SHARED = (DEF, "kernels/blocks.h", "kernels/ref/dot.h", "kernels/ref/quantize.c", "flash_image/quantize/dequantize.c", "flash_image/quantize/interleave.c",
          "kernels/arm64/kernels.inc", "kernels/riscv64/kernels.inc", "kernels/x86_64/kernels.inc", "tests/unit/flash_image/dequantize_test.c")
# Pages and pictures that explain types or give measurements, and tests that use some type as an example.
TEXTS = r"\.md$|^tests/fuzz/seeds/gguf_seed\.py$|^tests/faults/models\.t$|^tests/golden/report\.t$|^tests/make/types\.t$|^models/published\.ini$|^tests/mutate/|^toolchain/figures\.py$|^tests/unit/image/|lock\.json$|\.svg$"
MOST, MOST_SHARED = 35, 12


def files_of(name):
    """Tracked files in which a type is named, by its name or its layout's."""
    t = next(t for t in STORED if t.name == name)
    pattern = rf"(^|[^a-z0-9])({t.name}|{t.layout})([^0-9]|$)|_({t.name}|{t.layout})([^0-9]|$)"
    found = subprocess.run(["git", "grep", "-l", "-i", "-I", "-E", pattern], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False).stdout
    return [path for path in found.split() if not re.search(TEXTS, path)]


for name in ("q4_1", "q5_0", "q5_1"):
    files = files_of(name)
    if not files:
        tap.skip(f"files that name {name}", "not a clone with git")
        continue
    elsewhere = [path for path in files if not path.startswith(OWN) and path != STANDS_IN]
    tap.ok(not elsewhere, f"{name}: no file names the type, except its own files", elsewhere)
    shared = [path for path in files if path.startswith(SHARED)]
    tap.ok(len(files) <= MOST and len(shared) <= MOST_SHARED, f"{name}: {len(files)} files name it, at most {MOST}, {len(shared)} of them shared, at most {MOST_SHARED}", files)

# Files that name one of the types that shared code names most often, as `make house` counts them.
if os.path.exists(os.path.join(ROOT, ".git")):
    tree = house.tracked(ROOT)
    for name, pattern in house.TYPES.items():
        files, shared, _ = house.of_type(tree, pattern)
        # If the type has a packed form, interleave_packed.c and ref/unpack.c name it too.
        most = MOST_SHARED + 2 * (name in PACKED.values())
        tap.ok(files <= MOST and shared <= most, f"{name}: {files} files of code name it, at most {MOST}, {shared} of them shared, at most {most}")
else:
    tap.skip("files that name a type of the K formats", "not a clone with git")
tap.done()
