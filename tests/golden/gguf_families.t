#!/usr/bin/python3
"""The micro-models of hf/tiny as GGUF files of every architecture: the logits equal those of Transformers at every position."""

import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import ASSETS, HOST, WORK, Tap, run
from gguf_files import letter, tiny, tiny_nemotron_h

WORST = 1e-4  # with keys and values as F32

tap = Tap()
os.makedirs(WORK, exist_ok=True)
if not os.path.isdir(os.path.join(ASSETS, "hf/tiny")):
    tap.skip("families of GGUF", "no hf/tiny (set INGOT_ASSETS)")
    tap.done()


def logits_of(path, ids):
    out = os.path.join(WORK, "family.logits")
    status, console = run([HOST, "logits", path, "-p", "".join(letter(i) for i in ids), "-n", "0",
                           "--no-bos", "-o", out, "-q", "-t", "1", "--kv", "f32"])
    if status != 0:
        return None, console
    with open(out, "rb") as f:
        raw = f.read()
    return struct.unpack(f"<{len(raw) // 4}f", raw), console


for family in ("llama", "qwen2", "qwen3", "gemma2", "gemma3", "phi3", "gpt2", "bitnet",
               "nemotron_h"):
    model, sequences, expected = tiny_nemotron_h() if family == "nemotron_h" else tiny(family)
    path = os.path.join(WORK, f"tiny-{family}.gguf")
    model.write(path)
    worst, scale, problem = 0.0, 0.0, ""
    for ids, rows in zip(sequences, expected):
        ours, problem = logits_of(path, ids)
        flat = [x for row in rows for x in row]
        if ours is None or len(ours) != len(flat):
            worst = float("inf")
            break
        worst = max(worst, max(abs(a - b) for a, b in zip(ours, flat)))
        scale = max(scale, max(abs(b) for b in flat))
    tap.ok(worst < WORST, f"{family}: logits within {worst:.2g} of Transformers', "
           f"the largest being {scale:.2g}", problem)


def without(model, *keys):
    """Early files of Gemma 2 lack some values."""
    model.values = [v for v in model.values if not v[0].endswith(keys)]
    path = os.path.join(WORK, "tiny-less.gguf")
    model.write(path)
    return path


model, sequences, _ = tiny("gemma2")
weights = next(t for t in model.tensors if t[0] == "output_norm.weight")
weights[3] = struct.pack("<f", 40.0) * (len(weights[3]) // 4)  # large logits, so that a cap changes them
ids = sequences[0]
for key, value in ((".attn_logit_softcapping", 50.0), (".final_logit_softcapping", 30.0)):
    model.f32(key, value)
path = os.path.join(WORK, "tiny-capped.gguf")
model.write(path)
capped, problem = logits_of(path, ids)
usual, _ = logits_of(without(model, "_logit_softcapping"), ids)
tap.ok(capped is not None and max(map(abs, capped)) > 5.0 and capped == usual,
       "gemma2: a file without caps has the usual ones", problem)
model.f32(".final_logit_softcapping", 0.0)
model.write(path)
capless, problem = logits_of(path, ids)
tap.ok(capless is not None and capless != usual, "gemma2: a cap of 0 is none", problem)

model, sequences, _ = tiny("qwen2")
path = os.path.join(WORK, "tiny-biases.gguf")
for t in model.tensors:
    t[3] = bytes(len(t[3])) if t[0].endswith(".bias") else t[3]
model.write(path)
zero, problem = logits_of(path, sequences[0])
model.tensors = [t for t in model.tensors if not t[0].endswith(".bias")]
model.write(path)
none, said = logits_of(path, sequences[0])
tap.ok(zero is not None and zero == none, "qwen2: without biases", problem + said)

model, sequences, _ = tiny("llama")
path = os.path.join(WORK, "tiny-yarn.gguf")
model.string(".rope.scaling.type", "yarn")
model.f32(".rope.scaling.factor", 4.0)
model.u32(".rope.scaling.original_context_length", 16)
model.write(path)
plain, problem = logits_of(path, sequences[0])
model.f32(".rope.scaling.yarn_ext_factor", 1.0)
model.write(path)
whole, said = logits_of(path, sequences[0])
tap.ok(plain is not None and plain == whole, "yarn: a part of 1 is the usual one", problem + said)
for part in (0.0, 0.5, float("nan")):
    model.f32(".rope.scaling.yarn_ext_factor", part)
    model.write(path)
    ours, said = logits_of(path, sequences[0])
    tap.ok(ours is None and "yarn_ext_factor is" in said and said.count("\n") == 1,
           f"yarn: a part of {part} is refused by name", said)
tap.done()
