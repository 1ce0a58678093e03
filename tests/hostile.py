"""What the suites of hostile models share: a good model to damage, packing under ASan and UBSan, and
the check that a file is refused by one sentence."""

import os
import struct
import subprocess

from machine import BUILD
from gguf_files import Gguf

SECONDS = 30
INGOT = os.path.join(BUILD, "asan/ingot")
NAN = struct.pack("<f", float("nan"))
HUGE = struct.pack("<Q", 1 << 63)
# of good()
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
