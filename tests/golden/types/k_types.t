#!/usr/bin/python3
"""The K types of 5, 3 and 2 bits: logits of llama.cpp's files are compared with those of their dequantized weights, and have the same bits on
every ISA and with every chunk size; which matrices of a mixture have which type; the packer's quantization error compared with that of llama.cpp's
files; perplexity."""

import array
import json
import os
import re
import struct
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
from machine import ASSETS, HOST, WORK, Tap, pack, run, segments

tap = Tap()
os.makedirs(WORK, exist_ok=True)
OUT = os.path.join(WORK, "k-types.logits")
MODEL = os.path.join(WORK, "k-types.ingot")
FLOATS = os.path.join(ASSETS, "arch/lowbit_q5_k_m.gguf")


def logits(ids, *words):
    status, said = run([HOST, "logits", MODEL, "--tokens", " ".join(map(str, ids)), "-n", "0",
                        "--no-bos", "-o", OUT, "-q", "--kv", "f32", *words])
    if status != 0:
        return array.array("f"), said
    with open(OUT, "rb") as f:
        return array.array("f", f.read()), said


def nmse(ours, theirs):
    if len(ours) != len(theirs):
        return float("inf")
    return sum((a - b) ** 2 for a, b in zip(ours, theirs)) / sum(b * b for b in theirs)


def isas():
    return [name for name in ("ref", "neon", "dotprod", "i8mm", "rv64gc", "rvv", "avx2", "avxvnni", "vnni")
            if logits([1], "--isa", name)[0]]


def types():
    """{role: type} of the packed model's matrices."""
    return dict(re.findall(r"^(\w+) +(q\d_\w+) ", run([HOST, "info", MODEL])[1], re.M))


FILES = {"q5_k_m": {"attn_q": "q5_k", "attn_v": "q6_k"},
         "q3_k_m": {"attn_q": "q3_k", "attn_v": "q5_k", "attn_out": "q4_k", "ffn_down": "q4_k"},
         "q2_k": {"attn_q": "q2_k", "attn_v": "q4_k", "attn_out": "q3_k", "ffn_down": "q3_k"}}
for name, some in FILES.items():
    gguf = os.path.join(ASSETS, f"arch/lowbit_{name}.gguf")
    if not os.path.exists(gguf):
        tap.skip(name, f"no {gguf} (set INGOT_ASSETS)")
        continue
    with open(gguf[:-4] + "json", encoding="utf-8") as f:
        reference = json.load(f)
    ids, theirs = reference["ids"], reference["native_vs_exact"]["nmse"]
    exact = [x for row in reference["logits"] for x in row]
    run([HOST, "pack", gguf, "-o", MODEL, "-q", "--type", "f32"])
    floats, said = logits(ids)
    tap.ok(nmse(floats, exact) < 1e-8, f"{name} as floats: NMSE {nmse(floats, exact):.2g}", said)
    status, said = run([HOST, "pack", gguf, "-o", MODEL])
    tap.ok(status == 0 and "stored as" not in said, f"{name} is kept as it is", said)
    own = types()
    tap.ok(own.items() >= some.items(), f"{name}: {own}")
    ours, said = logits(ids)
    tap.ok(nmse(ours, exact) < 1e-3 and nmse(ours, exact) < 1.01 * theirs,
           f"{name} with int8 activations: NMSE {nmse(ours, exact):.4g}, llama.cpp's own "
           f"{theirs:.4g}", said)
    same = [logits(ids, "--isa", isa, "--chunk", chunk)[0] == ours
            for isa in isas() for chunk in ("1", "5", "128")]
    tap.ok(len(same) >= 6 and all(same),
           f"{name}: the same bits on {len(same) // 3} ISAs, in chunks of 1, 5 and 128")
    # A Q3_K matrix of a GGUF file stays in GGML's blocks; --type q3_k unpacks it: the type's name and the
    # bits of the logits are the same, but it takes more bytes.
    narrow = os.path.getsize(MODEL)
    run([HOST, "pack", gguf, "-o", MODEL, "-q", "--type", name])
    wider = os.path.getsize(MODEL) > narrow
    tap.ok(types() == own and logits(ids)[0] == ours and wider == ("q3_k" in own.values()),
           f"--type {name} of the same file: the same logits in {os.path.getsize(MODEL)} bytes, not {narrow}", types())
    run([HOST, "pack", FLOATS, "-o", MODEL, "-q", "--type", name])
    tap.ok(types() == own, f"--type {name}: the same matrices in the same types", types())


# ---- error, tensor by tensor ---------------------------------------------------------------------

def matrices(path):
    """{(role, layer): floats} of an .ingot of floats without padding."""
    with open(path, "rb") as f:
        raw = f.read()
    at, _, _, n = struct.unpack_from("<QQII", raw, 88 + 128 + 5 * 24)
    places = [offset for offset, _ in segments(path)]
    found = {}
    for i in range(n):
        entry = struct.unpack_from("<HHBBBBIIIIQQ", raw, at + 64 * i)
        start = places[entry[9]] + entry[10]
        if entry[6] > 1:
            found[entry[:2]] = array.array("f", raw[start:start + entry[11]])
    return found


def floats_of(gguf, *words):
    """The weights after packing with these options, and the matrices as floats."""
    run([HOST, "pack", gguf, "-o", MODEL, "-q", *words])
    return matrices(MODEL)


def report_of(gguf, kind):
    _, said = run([HOST, "pack", gguf, "-o", MODEL, "-q", "--type", kind, "--report"])
    return re.findall(r"(\w+) +\d+ x \d+ +\w+ +(q\d_\w+) +[\d.]+ +(\S+) +\S+(?:  matters more)?$", said, re.M), said


# The original weights of these files are available only in 5 and 6 bits, and the loss of these types is not counted as ours.
for kind in ("q3_k_m", "q2_k") if os.path.exists(FLOATS) else ():
    exact = floats_of(FLOATS, "--type", "f32")
    theirs = floats_of(os.path.join(ASSETS, f"arch/lowbit_{kind}.gguf"), "--type", "f32")
    errors = [nmse(theirs[key], exact[key]) for key in exact if theirs[key] != exact[key]]
    found, said = report_of(FLOATS, kind)
    gains = [float(ours) / (error - 1.5e-3) for (_, to, ours), error in zip(found, errors)
             if to == kind[:4]]
    tap.ok(len(found) == len(errors) == 7 and len(gains) > 3 and max(gains) < 1,
           f"{kind}: the NMSE of each matrix of {kind[:4]} is {100 * (1 - max(gains, default=2)):.0f} to "
           f"{100 * (1 - min(gains, default=2)):.0f} % below that of llama.cpp's file", said)

# ---- perplexity ------------------------------------------------------------------------------------

SOURCES = (("stories260K", "gguf/stories260K.gguf"), ("TinyStories-656K", "hf/TinyStories-656K"))
TEXT = os.path.join(ASSETS, "text/tinystories-eval-64K.txt")
BOUNDS = {"q5_k_m": 1.02, "q3_k_m": 1.1, "q2_k": 1.15}


def perplexity(job):
    source, kind = job
    model = pack(source, kind, f"k-{os.path.basename(source)}-{kind}.ingot")
    status, out = run([HOST, "perplexity", model, "-f", TEXT, "-q", "-t", "1"], timeout=300)
    found = re.search(r"^perplexity ([\d.]+) ", out, re.M)
    return float(found.group(1)) if status == 0 and found else float("nan")


# These models have no matrices with a multiple of 256 columns, so other types replace the K types.
for name, path in SOURCES:
    source = os.path.join(ASSETS, path)
    if not os.path.exists(source) or not os.path.exists(TEXT):
        tap.skip("perplexity of " + name, f"no {source} or {TEXT}")
        continue
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        kinds = ["f32", *BOUNDS]
        figures = dict(zip(kinds, pool.map(perplexity, [(source, kind) for kind in kinds])))
    for kind, bound in BOUNDS.items():
        tap.ok(figures[kind] / figures["f32"] < bound,
               f"{name} {kind}: perplexity {figures[kind]:.4f}, "
               f"{100 * (figures[kind] / figures['f32'] - 1):.1f} % above F32")
tap.done()
