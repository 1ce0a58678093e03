#!/usr/bin/python3
"""A split GGUF (NAME-00001-of-0000N.gguf) gives the same packed bytes as the unsplit model, whichever part is named; `ingot info` and `ingot
tokenize` take any part too."""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from gguf_files import write_parts
from hf_files import folder
from hostile import good
from machine import HOST, Tap

tap = Tap()
WHERE = folder("gguf-split")
STEM = os.path.join(WHERE, "m")


def ingot(*words):
    done = subprocess.run([HOST, *words], capture_output=True, timeout=60)
    return done.returncode, done.stdout, done.stderr.decode(errors="replace")


def packed(path):
    out = os.path.join(WHERE, "out.ingot")
    status, _, said = ingot("pack", path, "-o", out, "-q")
    if status != 0:
        return said.encode()
    with open(out, "rb") as f:
        return f.read()


g = good()
g.write(STEM + ".gguf")
whole = packed(STEM + ".gguf")
tap.ok(whole[:5] == b"INGOT" and b"m\0" in whole[24:90], "the whole model is packed", whole[:200])
for n, bare in ((2, False), (3, False), (3, True), (len(g.tensors), False)):
    paths = write_parts(STEM, g.split(n, bare))
    same = [packed(path) == whole for path in (paths[0], paths[n // 2], paths[-1])]
    tap.ok(all(same), f"{n} parts{', the first without tensors' if bare else ''}: any of them gives "
           "the bytes of the whole", f"{same} {packed(paths[-1])[:300]}")
aligned = good()
aligned.u32("general.alignment", 64)
aligned.alignment = 64
parts = aligned.split(2)
parts[0].alignment = 64
paths = write_parts(STEM, parts)
tap.ok(packed(paths[1]) == whole, "each part has its own alignment", packed(paths[1])[:200])

status, said, problem = ingot("info", paths[1])
alone, expected, _ = ingot("info", STEM + ".gguf")
shown = [line for line in said.split(b"\n") if not line.startswith(b"model ")]
wanted = [line for line in expected.split(b"\n") if not line.startswith(b"model ")]
tap.ok(status == alone == 0 and shown == wanted, "ingot info shows the whole model",
       f"{said} {problem}")
os.unlink(paths[1])
parts[1].write(paths[1])
os.unlink(paths[0])
status, said, problem = ingot("tokenize", paths[1], "--ids")
tap.ok(status == 1 and "00001-of-00002" in problem and "no such file" in problem,
       "the tokenizer is in the first part, which is named where it is missing", problem)
parts[0].write(paths[0])
os.unlink(paths[1])
done = subprocess.run([HOST, "tokenize", paths[0], "--ids"], input=b"abc", capture_output=True,
                      timeout=60)
tap.ok(done.returncode == 0 and done.stdout.split() == [b"0", b"1", b"2"],
       "the missing part is the only one that packing needs", done.stderr)
tap.done()
