#!/usr/bin/python3
"""Hostile Hugging Face folders, made here: the program, built with ASan and UBSan, refuses each within seconds, with exit status 1 and one error
message that names the field or the tensor. (safetensors_test.c and hf_config_test.c have many more.)"""

import json
import os
import shutil
import struct
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import Tap
from hf_files import random_model
from hostile import HUGE, NAN, check, pack

tap = Tap()
WEIGHTS = "model.safetensors"
NORM = "model.layers.1.input_layernorm.weight"


def rewrite(name, change):
    """Return a function that changes the bytes of a file in the folder by `change`."""
    def act(where):
        path = os.path.join(where, name)
        with open(path, "rb") as f:
            raw = f.read()
        with open(path, "wb") as f:
            f.write(change(raw))
    return act


def header(change):
    """Return a function that changes the text of the weights' header by `change`, and corrects its length."""
    def act(raw):
        size = struct.unpack_from("<Q", raw)[0]
        new = change(raw[8:8 + size].decode()).encode()
        return struct.pack("<Q", len(new)) + new + raw[8 + size:]
    return rewrite(WEIGHTS, act)


def entry(name, **fields):
    def change(text):
        whole = json.loads(text)
        whole[name].update(fields)
        return json.dumps(whole)
    return header(change)


def first_weight(name, raw):
    def change(whole):
        size = struct.unpack_from("<Q", whole)[0]
        at = 8 + size + json.loads(whole[8:8 + size])[name]["data_offsets"][0]
        return whole[:at] + raw + whole[at + len(raw):]
    return rewrite(WEIGHTS, change)


def config(text):
    return rewrite("config.json", lambda raw: b"{" + text.encode() + b", " + raw.lstrip()[1:])


def large(name, front):
    """A file of 2 GB, mostly a hole."""
    def act(where):
        with open(os.path.join(where, name), "wb") as f:
            f.write(front)
            f.truncate(1 << 31)
    return act


def index(text):
    def act(where):
        os.unlink(os.path.join(where, WEIGHTS))
        with open(os.path.join(where, WEIGHTS + ".index.json"), "w") as f:
            f.write(text)
    return act


def circle(where):
    os.unlink(os.path.join(where, "config.json"))
    os.symlink("config.json", os.path.join(where, "config.json"))


def pieces(*tokens):
    """tokenizer.model in place of tokenizer.json."""
    def act(where):
        os.unlink(os.path.join(where, "tokenizer.json"))
        with open(os.path.join(where, "tokenizer.model"), "wb") as f:
            f.write(b"".join(tokens))
    return act


FOLDERS = [
    ("2^63 bytes of header", rewrite(WEIGHTS, lambda b: HUGE + b[8:]),
     ["header needs 9223372036854775808 bytes"]),
    ("2 GB of header", large(WEIGHTS, struct.pack("<Q", (1 << 31) - 8)), ["bytes of JSON"]),
    ("2^63 rows", entry(NORM, shape=[1 << 63]), [NORM, "shape"]),
    ("no rows", entry(NORM, shape=[0]), [NORM, "shape"]),
    ("doubles", entry(NORM, dtype="F64", shape=[20]), [NORM, "is F64", "save the model again as F32"]),
    ("no dimensions", entry(NORM, shape=[], data_offsets=[0, 4]), [NORM]),
    ("offsets past the end", entry(NORM, data_offsets=[1 << 40, (1 << 40) + 160]),
     [NORM, "data_offsets"]),
    ("offsets of 2^63", entry(NORM, data_offsets=[1 << 63, (1 << 63) + 160]),
     [NORM, "data_offsets"]),
    ("tensors that overlap", entry(NORM, data_offsets=[0, 160]), [NORM, "overlap"]),
    ("a tensor twice", header(lambda t: t.rstrip()[:-1] + ', "' + NORM +
                              '": {"dtype": "F32", "shape": [40], "data_offsets": [0, 160]}}'),
     [NORM, "appears twice"]),
    ("a NaN weight", first_weight("lm_head.weight", NAN), ["output", "not finite"]),
    ("an infinite norm", first_weight(NORM, struct.pack("<f", float("inf"))),
     ["attn_norm", "not finite"]),
    ("an index that names itself", index('{"weight_map": {"x": "' + WEIGHTS + '.index.json"}}'),
     ["is a JSON file, not safetensors"]),
    ("an index that leaves the folder", index('{"weight_map": {"x": "../x"}}'), ["weight_map"]),
    ("a config that is a link to itself", circle, ["symbolic links"]),
    ("a field twice", config('"hidden_size": 8'), ["hidden_size", "appears twice"]),
    ("two rotations", config('"rope_parameters": {"rope_type": "default", "rope_theta": 5e5}'),
     ["rope_scaling", "differs from", "rope_parameters"]),
    ("two rotations of one kind", config('"rope_parameters": {"rope_type": "llama3", "factor": 4}'),
     ["rope_scaling", "differs from", "rope_parameters"]),
    ("a field that only rope_parameters has", rewrite("config.json", lambda b: json.dumps(
        {**(c := json.loads(b)), "rope_parameters": {**c["rope_scaling"], "attention_factor": 3}}
    ).encode()), ["rope_scaling", "differs from", "rope_parameters"]),
    ("two bases", rewrite("config.json", lambda b: json.dumps(
        {**json.loads(b), "rope_scaling": {"type": "default", "rope_theta": 1e4},
         "rope_parameters": {"rope_theta": 5e5}}).encode()), ["rope_scaling", "differs from"]),
    ("rope_scaling that is a list", rewrite("config.json", lambda b: (
        b'{"rope_scaling": [1], "rope_parameters": {"rope_theta": 5e5}, ' +
        b.replace(b"rope_scaling", b"unused").lstrip()[1:])), ["rope_scaling", "differs from"]),
    ("a width of 2^63", rewrite("config.json", lambda b: b.replace(
        b'"hidden_size": 40', b'"hidden_size": 9223372036854775808')), ["hidden_size"]),
    ("no layers", rewrite("config.json", lambda b: b.replace(
        b'"num_hidden_layers": 3', b'"num_hidden_layers": 0')), ["n_layers"]),
    ("2 GB of config.json", large("config.json", b"{"), ["bytes of JSON"]),
    ("2 GB of tokenizer.json", large("tokenizer.json", b"{"), ["bytes of JSON"]),
    ("a token of 2^63 bytes", pieces(b"\x0a" + b"\xff" * 8 + b"\x7f"), ["SentencePiece"]),
    ("a piece of 2 GB", lambda where: (
        pieces()(where), large("tokenizer.model", b"\x0a\xfa\xff\xff\xff\x07" +
                               b"\x0a\xf4\xff\xff\xff\x07")(where)), ["SentencePiece"]),
]


def pack_folder(row):
    number, (_, change, _) = row
    where = random_model("llama", f"hostile-{number}-")
    change(where)
    result = pack(where)
    shutil.rmtree(where)
    return result


where = random_model("llama", "hostile-")
status, said = pack(where)
tap.ok(status == 0, "the folder that all are made of is packed", said)
shutil.rmtree(where)
with ThreadPoolExecutor(os.cpu_count()) as pool:
    for (name, _, words), (status, said) in zip(FOLDERS, pool.map(pack_folder,
                                                                  enumerate(FOLDERS))):
        check(tap, "folder: " + name, words, status, said)
tap.done()
