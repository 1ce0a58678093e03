#!/usr/bin/python3
"""Latent keys and values (DeepSeek's attention), compared with the equivalent attention that first makes every head's keys and values, in double
precision; over more than one tile of the cache, with every type. A file with the matrices of all heads in one tensor, also in blocks, packs to the
same model."""

import array
import math
import os
import random
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from gguf_files import Gguf
from machine import ASSETS, HOST, WORK, Reply, Tap, run

DIM, HEADS, RANK, Q_RANK, NOPE, ROPE, VALUE, HIDDEN, LAYERS, VOCAB = 64, 4, 32, 48, 32, 32, 16, 64, 2, 40
BASE, EPS, FACTOR, CONTEXT, LOG = 10000.0, 1e-6, 4.0, 256, 0.08
N = 70  # positions, more than one tile of 64
BOUNDS = {"f32": 1e-11, "f16": 1e-6, "q8": 1e-3}

tap = Tap()
os.makedirs(WORK, exist_ok=True)
chosen = random.Random(3)


def matrix(rows, cols, scale=None):
    scale = scale or cols ** -0.5
    return [list(array.array("f", [chosen.gauss(0, scale) for _ in range(cols)])) for _ in range(rows)]


def vector(n):
    return list(array.array("f", [1 + chosen.gauss(0, 0.1) for _ in range(n)]))


def make_layer():
    """kv_b: for each head the rows of its key, then those of its value."""
    return {"attn_norm": vector(DIM), "attn_q_a": matrix(Q_RANK, DIM), "attn_q_a_norm": vector(Q_RANK),
            "attn_q_b": matrix(HEADS * (NOPE + ROPE), Q_RANK, 0.4),
            "attn_kv_a_mqa": matrix(RANK + ROPE, DIM), "attn_kv_a_norm": vector(RANK),
            "attn_kv_b": matrix(HEADS * (NOPE + VALUE), RANK, 0.4),
            "attn_output": matrix(DIM, HEADS * VALUE), "ffn_norm": vector(DIM),
            "ffn_gate": matrix(HIDDEN, DIM), "ffn_up": matrix(HIDDEN, DIM),
            "ffn_down": matrix(DIM, HIDDEN)}


MODEL = {"token_embd": matrix(VOCAB, DIM, 1), "output_norm": vector(DIM), "output": matrix(VOCAB, DIM)}
BLOCKS = [make_layer() for _ in range(LAYERS)]


# ---- the definition ---------------------------------------------------------------------------


def times(w, x):
    return [sum(a * b for a, b in zip(row, x)) for row in w]


def rms(x, w):
    scale = 1 / math.sqrt(sum(a * a for a in x) / len(x) + EPS)
    return [a * scale * b for a, b in zip(x, w)]


def frequencies():
    """YaRN's frequencies for a model that was trained with a context of CONTEXT / FACTOR."""
    context = CONTEXT / FACTOR

    def pair(turns):
        return ROPE * math.log(context / (turns * 2 * math.pi)) / (2 * math.log(BASE))

    low, high = max(math.floor(pair(32)), 0), min(math.ceil(pair(1)), ROPE - 1)
    out = []
    for i in range(ROPE // 2):
        ramp = min(max((i - low) / max(high - low, 0.001), 0), 1)
        out.append(BASE ** (-2 * i / ROPE) * (1 - ramp + ramp / FACTOR))
    return out


def rotate(x, position):
    out = []
    for i, frequency in enumerate(frequencies()):
        c, s = math.cos(position * frequency), math.sin(position * frequency)
        out += [x[2 * i] * c - x[2 * i + 1] * s, x[2 * i] * s + x[2 * i + 1] * c]
    return out


def attend(layer, xs, kv_b):
    scale = (1 + LOG * math.log(FACTOR)) ** 2 / math.sqrt(NOPE + ROPE)
    keys, values, out = [], [], []
    for position, x in enumerate(xs):
        a = times(layer["attn_kv_a_mqa"], x)
        rope = rotate(a[RANK:], position)
        made = times(kv_b, rms(a[:RANK], layer["attn_kv_a_norm"]))
        heads = [made[h * (NOPE + VALUE):(h + 1) * (NOPE + VALUE)] for h in range(HEADS)]
        keys.append([head[:NOPE] + rope for head in heads])
        values.append([head[NOPE:] for head in heads])
        q = times(layer["attn_q_b"], rms(times(layer["attn_q_a"], x), layer["attn_q_a_norm"]))
        attended = []
        for h in range(HEADS):
            query = q[h * (NOPE + ROPE):(h + 1) * (NOPE + ROPE)]
            query = query[:NOPE] + rotate(query[NOPE:], position)
            scores = [scale * sum(a * b for a, b in zip(query, k[h])) for k in keys]
            weights = [math.exp(s - max(scores)) for s in scores]
            attended += [sum(w * v[h][i] for w, v in zip(weights, values)) / sum(weights)
                         for i in range(VALUE)]
        out.append(times(layer["attn_output"], attended))
    return out


def feed(layer, x):
    gate, up = times(layer["ffn_gate"], x), times(layer["ffn_up"], x)
    return times(layer["ffn_down"], [g / (1 + math.exp(-g)) * u for g, u in zip(gate, up)])


def define(ids, kv_b):
    xs = [list(MODEL["token_embd"][i]) for i in ids]
    for layer, matrices in zip(BLOCKS, kv_b):
        added = attend(layer, [rms(x, layer["attn_norm"]) for x in xs], matrices)
        xs = [[a + b for a, b in zip(x, y)] for x, y in zip(xs, added)]
        xs = [[a + b for a, b in zip(x, feed(layer, rms(x, layer["ffn_norm"])))] for x in xs]
    return [y for x in xs for y in times(MODEL["output"], rms(x, MODEL["output_norm"]))]


# ---- files ------------------------------------------------------------------------------------


def q8_0(row):
    """A row as blocks of Q8_0, and the values they represent."""
    raw, stand_for = b"", []
    for i in range(0, len(row), 32):
        d = struct.unpack("<e", struct.pack("<e", max(abs(x) for x in row[i:i + 32]) / 127))[0]
        q = [round(x / d) for x in row[i:i + 32]]
        raw += struct.pack("<e32b", d, *q)
        stand_for += [d * x for x in q]
    return raw, stand_for


def split(kv_b):
    """The matrices that make keys (transposed), and the matrices that make values."""
    step = NOPE + VALUE
    keys = [[kv_b[h * step + c][r] for c in range(NOPE)] for h in range(HEADS) for r in range(RANK)]
    return keys, [kv_b[h * step + NOPE + i] for h in range(HEADS) for i in range(VALUE)]


def put(g, name, m):
    if isinstance(m[0], list):
        g.floats(name, [len(m), len(m[0])], [x for row in m for x in row])
    else:
        g.floats(name, [len(m)], m)


def add_heads(g, at, kv_b, form):
    if form == "apart":
        keys, values = split(kv_b)
        put(g, at + "attn_k_b.weight", keys)
        put(g, at + "attn_v_b.weight", values)
        for tensor, rows in zip(g.tensors[-2:], (RANK, VALUE)):
            tensor[1] = [tensor[1][0], rows, HEADS]
    elif form == "blocks":
        g.tensor(at + "attn_kv_b.weight", [RANK, len(kv_b)], "Q8_0",
                 b"".join(q8_0(row)[0] for row in kv_b))
    else:
        put(g, at + "attn_kv_b.weight", kv_b)


def write(form, kind="f32"):
    """The .ingot of a file whose head matrices are separate, in one tensor, or in one tensor of blocks."""
    g = Gguf("deepseek2")
    g.string("general.name", "latent")
    g.letters(VOCAB)
    wide = form != "apart"
    for key, number in (("context_length", CONTEXT), ("embedding_length", DIM),
                        ("block_count", LAYERS), ("feed_forward_length", HIDDEN),
                        ("attention.head_count", HEADS),
                        ("attention.head_count_kv", HEADS if wide else 1),
                        ("attention.key_length", NOPE + ROPE if wide else RANK + ROPE),
                        ("attention.value_length", VALUE if wide else RANK),
                        ("attention.kv_lora_rank", RANK), ("attention.q_lora_rank", Q_RANK),
                        ("rope.dimension_count", ROPE),
                        ("rope.scaling.original_context_length", int(CONTEXT / FACTOR))):
        g.u32("." + key, number)
    if not wide:
        g.u32(".attention.key_length_mla", NOPE + ROPE)
        g.u32(".attention.value_length_mla", VALUE)
    g.string(".rope.scaling.type", "yarn")
    for key, number in (("attention.layer_norm_rms_epsilon", EPS), ("rope.freq_base", BASE),
                        ("rope.scaling.factor", FACTOR), ("rope.scaling.yarn_log_multiplier", LOG)):
        g.f32("." + key, number)
    for name, m in MODEL.items():
        put(g, name + ".weight", m)
    for i, layer in enumerate(BLOCKS):
        for name, m in layer.items():
            if name == "attn_kv_b":
                add_heads(g, f"blk.{i}.", m, form)
            else:
                put(g, f"blk.{i}.{name}.weight", m)
    path = os.path.join(WORK, f"latent-{form}.gguf")
    g.write(path)
    status, console = run([HOST, "pack", path, "-o", path + ".ingot", "--type", kind, "-q"])
    tap.ok(status == 0, f"{form}: packed as {kind}", console)
    if form == "apart" and kind == "f32":
        status, console = run([HOST, "pack", path, "-o", path + ".ingot", "--type", "q8_0", "-q",
                               "--calibrate", __file__])
        tap.ok(status != 0 and "layer 0 lacks one of them" in console, "a model that cannot be calibrated is refused with the layer", console)
    if form == "blocks":
        # The keys' half of attn_kv_b is cut across its blocks, so only floats can represent its values.
        run([HOST, "pack", path, "-o", path + ".own", "-q"])
        _, console = run([HOST, "info", path + ".own"])
        types = {line.split()[0]: line.split()[1] for line in console.splitlines() if "attn_" in line}
        tap.ok(types.get("attn_k_b") == "f32" and types.get("attn_v_b") == "q8_0", "attn_kv_b in Q8_0: keys are F32, values are kept", console)
        os.remove(path + ".own")
    os.remove(path)
    return path + ".ingot"


def compute(model, kv, *options):
    out = os.path.join(WORK, "latent.logits")
    status, console = run([HOST, "logits", model, "--tokens", " ".join(map(str, IDS)), "-n", "0",
                           "-o", out, "-q", "--kv", kv, *options])
    if status != 0:
        tap.note(console)
        return b""
    with open(out, "rb") as f:
        return f.read()


def nmse(raw, expected):
    ours = struct.unpack(f"<{len(raw) // 4}f", raw)
    if len(ours) != len(expected):
        return float("nan")
    return (sum((a - b) ** 2 for a, b in zip(ours, expected)) / sum(b * b for b in expected))


def same_bytes(*paths):
    found = []
    for path in paths:
        with open(path, "rb") as f:
            found.append(f.read())
    return found[0] == found[1]


IDS = [chosen.randrange(VOCAB) for _ in range(N)]
apart, joined, blocks = write("apart"), write("joined"), write("blocks")
tap.ok(same_bytes(apart, joined), "in one matrix or apart: the same bytes")
wanted = define(IDS, [layer["attn_kv_b"] for layer in BLOCKS])
for kv, bound in BOUNDS.items():
    first = compute(apart, kv, "-t", "1", "--chunk", "1")
    away = nmse(first, wanted)
    tap.ok(away < bound, f"{kv}: NMSE {away:.2g} of the definition, below {bound:g}")
    for options in (("-t", "3", "--chunk", "5"), ("-t", "4", "--chunk", "128")):
        tap.ok(compute(apart, kv, *options) == first, f"{kv}: the same bits with {' '.join(options)}")
rounded = define(IDS, [[q8_0(row)[1] for row in layer["attn_kv_b"]] for layer in BLOCKS])
away = nmse(compute(blocks, "f32"), rounded)
tap.ok(away < BOUNDS["f32"], f"from blocks: NMSE {away:.2g} of what they stand for")
for path in (apart, joined, blocks):
    os.remove(path)

# Keys and values of up to four layers are on a card, with streamed weights or without, and with guesses.
path = os.path.join(ASSETS, "arch/deepseek2_v3.gguf")
if os.path.exists(path):
    model, kept = os.path.join(WORK, "latent-card.ingot"), os.path.join(WORK, "latent.kv")
    run([HOST, "pack", path, "-o", model, "--type", "f32", "-q"])
    with open(kept, "wb") as f:
        f.truncate(1 << 20)
    command = [HOST, "run", model, "-p", "Once upon a time there was a time. " * 5, "-n", "60",
               "--temp", "0", "--ids", "-c", "512"]
    base = Reply(run(command)[1])
    for memory in ("700K", "600K", "500K"):
        status, console = run([*command, "--kv", "card", "--kv-file", kept, "--mem", memory])
        r = Reply(console)
        tap.ok(status == 0 and r.ids and r.ids == base.ids and r.hash == base.hash and
               "layers on the card" in console, f"on a card with {memory}: as in memory", console)
    os.remove(model)
    os.remove(kept)
else:
    tap.skip("keys and values on a card", path)

# The matrices of single heads get only types with Q8 activations, whatever types the other matrices have.
RANK = 256
BLOCKS = [make_layer() for _ in range(LAYERS)]
mixed = write("apart", "q4_k")
_, console = run([HOST, "info", mixed])
types = {line.split()[0]: line.split()[1] for line in console.splitlines() if "attn_" in line}
tap.ok(types.get("attn_v_b") == "q8_0" and types.get("attn_k_b") == "q8_0",
       "q4_k: matrices of heads are q8_0", console)
if os.path.exists(os.path.join(ASSETS, "arch/deepseek2_v3.gguf")):
    made = os.path.join(WORK, "latent-named.ingot")
    _, console = run([HOST, "pack", os.path.join(ASSETS, "arch/deepseek2_v3.gguf"), "--type", "q3_k", "-o", made])
    lines = [line for line in console.splitlines() if "attn_k_b" in line]
    tap.ok(len(lines) == 1 and "stored as q8_0" in lines[0] and "attn_v_b" in lines[0], "q3_k: the types of heads' matrices are named as stored", console)
    os.remove(made)
first = compute(mixed, "q8", "-t", "1", "--chunk", "1")
tap.ok(first != b"" and compute(mixed, "q8", "-t", "3", "--chunk", "7") == first,
       "3 threads in chunks of 7 give the same bits")
os.remove(mixed)
tap.done()
