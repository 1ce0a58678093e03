"""Shared by the suites with hostile models: a good model to damage, packing under ASan and UBSan, and the check that a file is refused with one
error message."""

import gzip
import io
import os
import pickle
import struct
import subprocess
import tarfile
import zipfile

from machine import BUILD
from gguf_files import Gguf

SECONDS = 30
INGOT = os.path.join(BUILD, "asan/ingot")
NAN = struct.pack("<f", float("nan"))
HUGE = struct.pack("<Q", 1 << 63)
# The tensors of good().
SHAPES = [("token_embd.weight", (256, 12)), ("output_norm.weight", (256,)),
          ("blk.0.attn_norm.weight", (256,)), ("blk.0.ffn_norm.weight", (256,)),
          ("blk.0.attn_q.weight", (256, 256)), ("blk.0.attn_k.weight", (256, 256)),
          ("blk.0.attn_v.weight", (256, 256)), ("blk.0.attn_output.weight", (256, 256)),
          ("blk.0.ffn_gate.weight", (256, 32)), ("blk.0.ffn_up.weight", (256, 32)),
          ("blk.0.ffn_down.weight", (32, 256))]


def good():
    """A llama of one layer whose weights are all zero."""
    g = Gguf("llama")
    g.letters(12)
    for key, value in (("context_length", 64), ("embedding_length", 256), ("block_count", 1),
                       ("feed_forward_length", 32), ("attention.head_count", 4)):
        g.u32("." + key, value)
    g.f32(".attention.layer_norm_rms_epsilon", 1e-5)
    for name, dims in SHAPES:
        elements = dims[0] * (dims[1] if len(dims) > 1 else 1)
        g.tensor(name, dims, "F32", bytes(4 * elements))
    return g


def pack(path):
    try:
        done = subprocess.run([INGOT, "pack", path, "-o", f"{path}.ingot", "-q"],
                              capture_output=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return None, "it takes too long"
    return done.returncode, done.stderr.decode("utf-8", "replace")


def check(tap, name, words, status, said):
    sentence = said.split(": ", 2)[-1]
    tap.ok(status == 1 and said.count("\n") == 1 and all(word in sentence for word in words) and
           len(sentence) > 20 and all(c.isprintable() or c == "\n" for c in said),
           f"{name}: {sentence.strip()[:90]}", f"status {status}, wanted {words}\n{said[-2000:]}")


def lfs(size=134217728):
    return (b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0123456789abcdef" * 4 +
            b"\nsize %d\n" % size)


def stored_zip(name, data):
    """A zip archive of one file that is not compressed."""
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as z:
        z.writestr(zipfile.ZipInfo(name), data)
    return raw.getvalue()


def tar(name, data):
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as t:
        entry = tarfile.TarInfo(name)
        entry.size = len(data)
        t.addfile(entry, io.BytesIO(data))
    return raw.getvalue()


TORCH_MAGIC = 0x1950a86a20f9469cfc6c
# Files that are not what their names say: name, bytes, words of the error message.
FOREIGN = [
    ("a Git LFS pointer", lfs(), [f"is a Git LFS pointer of {len(lfs())} bytes, not the file",
                                  "git lfs pull fetches it"]),
    ("an HTML page", b"\n<!DOCTYPE html>\n<html><head><title>404</title>",
     ["is an HTML page, not the file", "/resolve/"]),
    ("a PyTorch zip", stored_zip("archive/data.pkl", b"\x80\x02}q\x00."),
     ["PyTorch checkpoint (zip)", "safetensors"]),
    ("a PyTorch pickle", pickle.dumps(TORCH_MAGIC, 2) + pickle.dumps({"a": 1}, 2),
     ["PyTorch checkpoint (pickle)", "safetensors"]),
    ("an ONNX model", b"\x08\x08\x12\x07pytorch\x1a\x052.1.0:" + bytes(99),
     ["ONNX model", "safetensors"]),
    ("a GGML file", b"tjgg\x03\x00\x00\x00" + bytes(64), ["GGML file (ggjt)", "GGUF"]),
    ("a gzip file", gzip.compress(b"weights" * 99), ["compressed by gzip", "unpack it"]),
    ("a zip archive", stored_zip("model.gguf", b"GGUF" + bytes(64)), ["zip archive", "unpack it"]),
    ("a tar archive", tar("model.gguf", b"GGUF" + bytes(64)), ["tar archive", "unpack it"]),
    ("a text", b"Entry not found\n", ['text file ("Entry not found")', "again"]),
    ("an empty file", b"", ["is empty (0 bytes)", "fetch"]),
]
