"""Reads and writes safetensors: a table in JSON, then the numbers (huggingface.co/docs/safetensors)."""

import json
import struct

import numpy


def _bf16(raw):
    return (numpy.frombuffer(raw, numpy.uint16).astype(numpy.uint32) << 16).view(numpy.float32)


READ = {"F32": lambda raw: numpy.frombuffer(raw, numpy.float32),
        "F16": lambda raw: numpy.frombuffer(raw, numpy.float16).astype(numpy.float32), "BF16": _bf16}


def read_safetensors(path):
    """{name: F32 array}; ValueError: a type that is none of F32, F16 and BF16."""
    with open(path, "rb") as f:
        table = json.loads(f.read(struct.unpack("<Q", f.read(8))[0]))
        data = f.read()
    out = {}
    for name, entry in table.items():
        if name == "__metadata__":
            continue
        if entry["dtype"] not in READ:
            raise ValueError(f"{path}: {name} is {entry['dtype']}")
        first, last = entry["data_offsets"]
        out[name] = READ[entry["dtype"]](data[first:last]).reshape(entry["shape"])
    return out


def write_safetensors(path, tensors):
    table, at = {}, 0
    for name, array in tensors.items():
        table[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [at, at + 4 * array.size]}
        at += 4 * array.size
    head = json.dumps(table, separators=(",", ":")).encode()
    head += b" " * (-len(head) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(head)) + head)
        for array in tensors.values():
            f.write(numpy.ascontiguousarray(array, numpy.float32).tobytes())
