#!/usr/bin/python3
"""Weights in several safetensors files: the folder, the index, and any of the files give the same
model. An error message names missing files, and files that are not in the index."""

import json
import os
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
from hf_files import random_model, safetensors, write_json
from machine import HOST, WORK, Tap

tap = Tap()
N = 3
WHERE = random_model("llama", "shards-")
WHOLE = os.path.join(WHERE, "model.safetensors")
INDEX = WHOLE + ".index.json"
PARTS = [f"model-{i + 1:05}-of-{N:05}.safetensors" for i in range(N)]
OUT = os.path.join(WORK, "shards.ingot")


def pack(path):
    """The packed file, or the error message."""
    done = subprocess.run([HOST, "pack", path, "-o", OUT, "-q"], capture_output=True, timeout=60)
    if done.returncode != 0:
        return done.stderr.decode()
    with open(OUT, "rb") as f:
        return f.read()


def path_of(name):
    return os.path.join(WHERE, name)


def load(path):
    with open(path, "rb") as f:
        raw = f.read()
    size = struct.unpack_from("<Q", raw)[0]
    return {name: (e["dtype"], e["shape"], raw[8 + size + e["data_offsets"][0]:
                                               8 + size + e["data_offsets"][1]])
            for name, e in json.loads(raw[8:8 + size]).items() if name != "__metadata__"}


def refused(name, path, *words):
    said = pack(path)
    tap.ok(isinstance(said, str) and said.count("\n") == 1 and all(w in said for w in words), name,
           said[:300])


expected = pack(WHERE)
tap.ok(pack(WHOLE) == expected and expected[:5] == b"INGOT", "the one file is the folder's model",
       expected[:200])
tensors = load(WHOLE)
names = list(tensors)
weight_map = {name: PARTS[i % N] for i, name in enumerate(names)}
for part in PARTS:
    safetensors(path_of(part), {n: tensors[n] for n in names if weight_map[n] == part})
os.unlink(WHOLE)
write_json(WHERE, os.path.basename(INDEX), {"weight_map": weight_map})
for path in (WHERE, INDEX, path_of(PARTS[0]), path_of(PARTS[2])):
    tap.ok(pack(path) == expected, f"{os.path.basename(path)}: the same bytes", pack(path)[:300])
os.unlink(path_of(PARTS[1]))
refused("a file that the index names is missing", path_of(PARTS[0]), PARTS[1], "no such file")
os.rename(INDEX, INDEX + ".kept")
refused("a file that the numbers name is missing", path_of(PARTS[0]), PARTS[1],
        "one of the model's 3")
safetensors(path_of(PARTS[1]), {n: tensors[n] for n in names if weight_map[n] == PARTS[1]})
tap.ok(pack(path_of(PARTS[1])) == expected, "without an index the names tell", pack(WHERE)[:300])
os.rename(INDEX + ".kept", INDEX)
stray = path_of("model-00001-of-00009.safetensors")
safetensors(stray, {})
refused("a file that the index does not name", stray, "model-00001-of-00009", "another model")
os.unlink(INDEX)
refused("a file of nine", stray, "model-00002-of-00009", "no such file")
many = path_of("model-00001-of-09999.safetensors")
safetensors(many, {})
refused("a file of 9999", many, "more than 1024 files")
for bad, words in ((b"{}", ["weight_map"]), (b"[1", ["model.safetensors.index.json"]),
                   (b'{"weight_map": {"a": 7}}', ["weight_map"])):
    with open(INDEX, "wb") as f:
        f.write(bad)
    refused(f"an index of {bad.decode()}", INDEX, *words)
tap.done()
