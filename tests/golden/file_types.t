#!/usr/bin/python3
"""Files in Q4_1, Q5_0 and Q5_1: packing keeps their size and every value, the logits are close to those of the same weights as floats, and every ISA
and board gives the same bits."""

import array
import os
import random
import re
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from gguf_files import Gguf
from machine import ARM64, HOST, RISCV64, RISCV64_WIDE, WORK, Reply, Tap, card_arguments, make_card, run

tap = Tap()
os.makedirs(WORK, exist_ok=True)
DIM, HIDDEN, LAYERS, LETTERS = 256, 1056, 2, 24 # HIDDEN is not a multiple of 256, as in files that have these types
KINDS = ("Q4_1", "Q5_0", "Q5_1")
N = 24
# {type: (bytes of a block after its scales, the least q, the greatest q)}
BLOCKS = {"Q4_1": (16, 0, 15), "Q5_0": (20, -16, 15), "Q5_1": (20, 0, 31)}
MATRICES = {"attn_q": (DIM, DIM), "attn_k": (DIM, DIM), "attn_v": (DIM, DIM), "attn_output": (DIM, DIM),
            "ffn_gate": (DIM, HIDDEN), "ffn_up": (DIM, HIDDEN), "ffn_down": (HIDDEN, DIM)}


def blocks(rng, kind, elements):
    """Blocks with random q, and scales that make the weights about as large as a model's."""
    rest, least, most = BLOCKS[kind]
    out = []
    for _ in range(elements // 32):
        d = rng.uniform(.5, 1.5) * .2 / (most - least) * rng.choice((1, 1, 1, -1))
        scales = struct.pack("<e", d)
        if least == 0:
            scales += struct.pack("<e", -d * most / 2 + rng.uniform(-.02, .02))
        out.append(scales + rng.randbytes(rest))
    return b"".join(out)


def write_model(path, kind_of):
    """A Llama with random weights; kind_of maps the name of a matrix to its type."""
    rng, g = random.Random(7), Gguf("llama")
    g.letters(LETTERS)
    for key, value in (("context_length", 128), ("embedding_length", DIM), ("block_count", LAYERS),
                       ("feed_forward_length", HIDDEN), ("attention.head_count", 4)):
        g.u32("." + key, value)
    g.f32(".attention.layer_norm_rms_epsilon", 1e-5)
    ones = struct.pack(f"<{DIM}f", *[1.0] * DIM)
    g.tensor("token_embd.weight", (DIM, LETTERS), kind_of("token_embd"),
             blocks(rng, kind_of("token_embd"), DIM * LETTERS))
    g.tensor("output_norm.weight", (DIM,), "F32", ones)
    for layer in range(LAYERS):
        for name in ("attn_norm", "ffn_norm"):
            g.tensor(f"blk.{layer}.{name}.weight", (DIM,), "F32", ones)
        for name, dims in MATRICES.items():
            g.tensor(f"blk.{layer}.{name}.weight", dims, kind_of(name),
                     blocks(rng, kind_of(name), dims[0] * dims[1]))
    g.write(path)


def logits(model, *words):
    out = os.path.join(WORK, "file-types.logits")
    status, said = run([HOST, "logits", model, "--tokens", "3 1 4 1 5 9 2 6 5 3 5", "-n", "0", "--no-bos",
                        "-o", out, "-q", "--kv", "f32", *words])
    if status != 0:
        return array.array("f"), said
    with open(out, "rb") as f:
        return array.array("f", f.read()), said


def nmse(ours, exact):
    if len(ours) != len(exact) or len(exact) == 0:
        return float("inf")
    return sum((a - b) ** 2 for a, b in zip(ours, exact)) / sum(b * b for b in exact)


def isas(model):
    return [name for name in ("ref", "neon", "dotprod", "i8mm", "rv64gc", "rvv", "avx2", "avxvnni", "vnni")
            if logits(model, "--isa", name)[0]]


for kind in KINDS:
    gguf = os.path.join(WORK, f"file-types-{kind}.gguf")
    model, floats = (os.path.join(WORK, f"file-types-{kind}{end}.ingot") for end in ("", "-f32"))
    write_model(gguf, lambda name: kind)
    status, said = run([HOST, "pack", gguf, "-o", model, "--report"])
    copied = re.findall(r"^\S+ +(\w+) .*\b" + kind.lower() + r"\b.*\bcopied$", said, re.M)
    tap.ok(status == 0 and "stored as" not in said and "again" not in said and
           {"attn_q", "ffn_down", "token_embedding"} <= set(copied), f"{kind} is kept as it is", said)
    ratio = os.path.getsize(model) / os.path.getsize(gguf)
    tap.ok(ratio <= 1.03, f"{kind}: {ratio:.3f} times the bytes of the GGUF")
    run([HOST, "pack", gguf, "-o", floats, "-q", "--type", "f32"])
    exact, _ = logits(floats)
    ours, said = logits(model)
    tap.ok(nmse(ours, exact) < 2e-3, f"{kind} with int8 activations: NMSE {nmse(ours, exact):.2g} of the "
           "logits", said)
    names = isas(model)
    same = [logits(model, "--isa", isa, "--chunk", chunk)[0] == ours
            for isa in names for chunk in ("1", "3", "128")]
    tap.ok(len(names) > 1 and all(same), f"{kind}: the same bits by {' '.join(names)}, in chunks of 1, 3, 128")

# All three types, with prefill and decode, on the boards.
GGUF, MODEL = (os.path.join(WORK, "file-types-all" + end) for end in (".gguf", ".ingot"))
write_model(GGUF, lambda name: KINDS[sum(map(ord, name)) % 3])
run([HOST, "pack", GGUF, "-o", MODEL, "-q"])
_, info = run([HOST, "info", MODEL])
tap.ok(all(re.search(rf"\b{kind.lower()}\b", info) for kind in KINDS), "a model of all three types", info)
PROMPT = "abcdefghijk"
host = Reply(run([HOST, "run", MODEL, "-p", PROMPT, "-n", str(N), "--temp", "0", "--ids"])[1])
tap.ok(host.ids and len(host.ids) == N and host.hash, f"the host: logits {host.hash}", host.console)
card = make_card("file-types-card.img", MODEL)
for machine in (ARM64, RISCV64_WIDE, RISCV64):
    _, console = machine.run(f'prompt="{PROMPT}" temp=0 n={N} ids cores=2 model=file-types-all', 2,
                             card_arguments(card))
    reply = Reply(console)
    tap.ok(reply.ids == host.ids and reply.hash == host.hash, f"{machine.label}: the same ids and logits",
           console)
tap.done()
