"""Widens Llamas with zeros, so that they compute the same, but a type with blocks of 256 columns can be measured on a narrower
model."""

import array
import json
import math
import os
import re
import shutil
import struct

from gguf_files import F32, U32, Gguf, load_safetensors
from gguf_reader import read_contents


def read_gguf(path):
    """A file of F32 tensors as a Gguf."""
    values, tensors, raw, start = read_contents(path)
    g = Gguf("llama")
    for key, kind, _, value in values:
        g.add(key, kind, value)
    for name, dims, kind, offset in tensors:
        assert kind == 0
        g.tensor(name, dims, kind, raw[start + offset:start + offset + 4 * math.prod(dims)])
    return g


def up(n, to):
    return -(-n // to) * to


class Widths:
    """A Llama's dimensions, and their new values. Only whole heads are added, as many for keys as for values."""

    def __init__(self, dim, hidden, heads, kv_heads, multiple):
        self.share = heads // kv_heads
        self.old = {"dim": dim, "hidden": hidden, "q": dim, "kv": dim // self.share}
        self.times = up(dim, multiple) // dim
        wide = dim * self.times
        assert wide % multiple == 0
        self.new = {"dim": wide, "hidden": up(hidden, multiple), "q": wide,
                    "kv": wide // self.share}

    def widen(self, name, shape, values):
        """(shape, values) of a tensor by its GGUF or Hugging Face name; shape as in Hugging Face."""
        if len(shape) == 1:
            scale = math.sqrt(self.old["dim"] / self.new["dim"])  # zeros make the mean square smaller by this factor's square
            more = self.new["dim"] - shape[0]
            return [self.new["dim"]], array.array("f", [x * scale for x in values] + [0] * more)
        parts = {"attn_q": ("q", "dim"), "q_proj": ("q", "dim"), "attn_k": ("kv", "dim"),
                 "k_proj": ("kv", "dim"), "attn_v": ("kv", "dim"), "v_proj": ("kv", "dim"),
                 "attn_output": ("dim", "q"), "o_proj": ("dim", "q"),
                 "ffn_down": ("dim", "hidden"), "down_proj": ("dim", "hidden"),
                 "ffn_gate": ("hidden", "dim"), "gate_proj": ("hidden", "dim"),
                 "ffn_up": ("hidden", "dim"), "up_proj": ("hidden", "dim")}
        by_row, by_col = parts.get(name.split(".")[-2], (None, "dim"))
        rows, cols = shape
        assert cols == self.old[by_col] and (by_row is None or rows == self.old[by_row])
        more = self.new[by_col] - cols
        out = array.array("f")
        for r in range(rows):
            out += values[r * cols:(r + 1) * cols]
            out.frombytes(bytes(4 * more))
        if by_row is not None:
            rows = self.new[by_row]
            out.frombytes(bytes(4 * (rows * (cols + more) - len(out))))
        return [rows, cols + more], out


def widened_gguf(g, multiple):
    """A Gguf of floats with all columns multiples of `multiple`."""
    old = {key: struct.unpack("<I", raw)[0] for key, kind, raw in g.values if kind == U32}
    epsilon, = (struct.unpack("<f", raw)[0] for key, _, raw in g.values if "rms_epsilon" in key)
    w = Widths(old["llama.embedding_length"], old["llama.feed_forward_length"],
               old["llama.attention.head_count"], old["llama.attention.head_count_kv"], multiple)
    out = Gguf(g.architecture)
    out.values = list(g.values)
    out.u32(".embedding_length", w.new["dim"])
    out.u32(".feed_forward_length", w.new["hidden"])
    for key in (".attention.head_count", ".attention.head_count_kv"):
        out.u32(key, old["llama" + key] * w.times)
    out.f32(".attention.layer_norm_rms_epsilon", epsilon / w.times)
    for name, dims, _, raw in g.tensors:
        out.floats(name, *w.widen(name, dims[::-1], array.array("f", raw)))
    return out


def widened_folder(folder, to, multiple, layers=None):
    """Widen a Hugging Face folder with one file of floats, and write it to another folder; optionally only its first layers."""
    os.makedirs(to, exist_ok=True)
    with open(os.path.join(folder, "config.json"), encoding="utf-8") as f:
        c = json.load(f)
    w = Widths(c["hidden_size"], c["intermediate_size"], c["num_attention_heads"],
               c["num_key_value_heads"], multiple)
    layers = layers or c["num_hidden_layers"]
    c.update(num_hidden_layers=layers, hidden_size=w.new["dim"], intermediate_size=w.new["hidden"],
             num_attention_heads=c["num_attention_heads"] * w.times,
             num_key_value_heads=c["num_key_value_heads"] * w.times,
             rms_norm_eps=c["rms_norm_eps"] / w.times)
    with open(os.path.join(to, "config.json"), "w", encoding="utf-8") as f:
        json.dump(c, f)
    for name in os.listdir(folder):
        if name.endswith(".json") and name != "config.json":
            shutil.copy(os.path.join(folder, name), to)
    table, data = {}, b""
    for name, (shape, values) in load_safetensors(os.path.join(folder,
                                                               "model.safetensors")).items():
        layer = re.search(r"layers\.(\d+)\.", name)
        if layer and int(layer[1]) >= layers:
            continue
        shape, values = w.widen(name, shape, array.array("f", values))
        table[name] = {"dtype": "F32", "shape": shape,
                       "data_offsets": [len(data), len(data) + 4 * len(values)]}
        data += values.tobytes()
    head = json.dumps(table).encode()
    with open(os.path.join(to, "model.safetensors"), "wb") as f:
        f.write(struct.pack("<Q", len(head)) + head + data)
