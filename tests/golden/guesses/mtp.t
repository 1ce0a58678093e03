#!/usr/bin/python3
"""MTP heads of Qwen3.5, as llama.cpp writes them into a GGUF: packed separately as a draft, they guess tokens, and text, ids and logits equal those
of plain decoding, whatever the head's weights are.

Random weights show that. In one model the next token follows from the previous token; there, all guesses are right only if the head gets the right
token's row and the right hidden state."""

import array
import os
import random
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
from gguf_files import read_gguf
from machine import ARM64, ASSETS, HOST, RISCV64_ANY, WORK, Reply, Tap, card_arguments, make_card, must, run, segments

ARCH = os.path.join(ASSETS, "arch")
tap = Tap()
if not os.path.exists(os.path.join(ARCH, "qwen35_gqa.gguf")):
    tap.skip("MTP heads", "no " + ARCH)
    tap.done()
    sys.exit()
os.makedirs(WORK, exist_ok=True)
DIM, TOKENS, ORBIT = 64, 40, 64


def zeros(n):
    return array.array("f", bytes(4 * n))


def number(g, key):
    return int.from_bytes(next(raw for k, _, raw in g.values if k.endswith(key)), "little")


def with_head(name, weights, own_norm=True):
    """The model with one more block at its end, which has the last layer's tensors with other weights, and the tensors of an MTP head."""
    g = read_gguf(os.path.join(ARCH, name + ".gguf"))
    n = number(g, ".block_count")
    for tensor, dims, kind, raw in [t for t in g.tensors if t[0].startswith(f"blk.{n - 1}.")]:
        values = array.array("f", raw)
        g.tensor(f"blk.{n}." + tensor.split(".", 2)[2], dims, kind, weights(tensor, values).tobytes())
    g.tensor(f"blk.{n}.nextn.eh_proj.weight", [2 * DIM, DIM], 0, weights("eh_proj", zeros(2 * DIM * DIM)).tobytes())
    norms = ["enorm", "hnorm"] + (["shared_head_norm"] if own_norm else [])
    for norm in norms:
        g.tensor(f"blk.{n}.nextn.{norm}.weight", [DIM], 0, weights(norm, zeros(DIM)).tobytes())
    g.u32(".block_count", n + 1)
    g.u32(".nextn_predict_layers", 1)
    return g


def pack_both(g, name, kind):
    path, model, head = (os.path.join(WORK, name + end) for end in (".gguf", ".ingot", "-head.ingot"))
    g.write(path)
    must([HOST, "pack", path, "-o", model, "--type", kind, "-q"], 120)
    must([HOST, "pack", path, "-o", head, "--type", kind, "-q", "--mtp"], 120)
    return model, head


def reply(model, *words):
    status, console = run([HOST, "run", model, "--ids", "-n", str(TOKENS), *words])
    r = Reply(console)
    r.status = status
    return r


def guesses(r):
    found = re.search(r"(\d+) of (\d+) guesses right", r.stats)
    found = found or re.search(r"(\d+) guesses, (\d+)", r.stats)
    return found and tuple(int(n) for n in found.groups())


# ---- random weights ---------------------------------------------------------------------------------

def noise(seed):
    chosen = random.Random(seed)
    return lambda name, values: array.array("f", (chosen.gauss(1 if name.endswith("norm") else 0, .2) for _ in values))


made = {}
for name, kind, own in (("qwen35_gqa", "q8_0", True), ("qwen35_gqa", "f32", False), ("qwen35moe", "q4_0", True)):
    model, head = pack_both(with_head(name, noise(5), own), f"mtp-{name}-{kind}", kind)
    made[name, kind] = model, head
    tiles = 2 * max(size for _, size in segments(model)[1:-1]) + 2 * 4096
    limit = str(tiles + segments(model)[0][1] + 4096)
    for label, words in (("greedy", ["-p", "Once upon a time", "--temp", "0"]),
                         ("at temp 0.9", ["-p", "the cat sat on the mat and then ", "--temp", "0.9", "--seed", "3"]),
                         ("with penalties", ["-p", "b", "--temp", "0.7", "--repeat", "1.3", "--seed", "4"])):
        plain = reply(model, *words, "--spec", "off")
        for where, more in (("resident", []), ("two threads", ["-t", "2"]), ("streamed", ["--mem", limit]),
                            ("asked for", ["--spec", "ngram"])):
            r = reply(model, *words, "--draft", head, *more)
            tap.ok(r.status == 0 and plain.ids and r.ids == plain.ids and r.hash == plain.hash and
                   r.text == plain.text, f"{name} {kind}, {label}, {where}: the same ids, logits and text", r.console)
            tap.ok("guesses" in r.stats, f"{name} {kind}, {label}, {where}: it guessed: {r.stats}", r.console)
        r = reply(model, *words, "--draft", head, "--mem", str(tiles))
        tap.ok(r.status == 0 and r.ids == plain.ids and r.hash == plain.hash and "streamed" in r.stats,
               f"{name} {kind}, {label}, the output in tiles: the same ids and logits: {r.stats}", r.console)
        r = reply(model, *words, "--draft", head, "--spec", "off")
        tap.ok(r.ids == plain.ids and "guesses" not in r.stats, f"{name} {kind}, {label}, spec=off: no guesses", r.console)

# ---- weights that know ------------------------------------------------------------------------------

chosen = random.Random(9)
BASES = [[chosen.choice((-1.0, 1.0)) for _ in range(DIM)] for _ in range(512 // ORBIT)]
ROWS = [base[-k:] + base[:-k] for base in BASES for k in range(ORBIT)]  # row o * 64 + k belongs to token o * 64 + k


def after(token):
    return token // ORBIT * ORBIT + (token + 1) % ORBIT


def knowing(half):
    """In this model the next token is the token whose row equals the current token's row rotated by one. With half "token" the head
    returns its token's row unchanged. With half "hidden" it rotates the hidden state of the previous token."""
    def weights(name, values):
        if name == "eh_proj":
            for row in range(DIM):
                values[row * 2 * DIM + (row if half == "token" else DIM + (row - 1) % DIM)] = 1
            return values
        if name.endswith("norm") or name.endswith("norm.weight"):
            return array.array("f", [1.0] * len(values))
        return zeros(len(values)) if "attn_output" in name or "ffn_down" in name else values

    g = with_head("qwen35_gqa", weights)
    out = [list(zeros(DIM)) for _ in ROWS]
    for token, row in enumerate(ROWS):
        out[after(token)] = row
    for t in g.tensors:
        if any(part in t[0] for part in ("attn_output", "ffn_down", "ssm_out")):
            t[3] = bytes(len(t[3]))
        elif t[0] == "output_norm.weight":
            t[3] = array.array("f", [1.0] * DIM).tobytes()
        elif t[0] == "token_embd.weight":
            t[3] = array.array("f", [x for row in ROWS for x in row]).tobytes()
    g.floats("output.weight", [512, DIM], [x for row in out for x in row])
    return g


for half in ("token", "hidden"):
    model, head = pack_both(knowing(half), f"mtp-{half}", "f32")
    for label, words in (("a short prompt", ["-p", "z"]), ("a long one", ["-p", "the cat sat on the mat " * 30 + "z"])):
        plain = reply(model, *words, "--temp", "0", "--spec", "off")
        r = reply(model, *words, "--temp", "0", "--spec", "ngram", "--draft", head)
        right = guesses(r)
        tap.ok(plain.ids and len(plain.ids) == TOKENS and plain.ids[1:] == [after(t) for t in plain.ids[:-1]],
               f"{half}, {label}: each token follows from the one before", plain.console)
        tap.ok(r.ids == plain.ids and r.hash == plain.hash and "(100.0 %)" in r.stats,
               f"{half}, {label}: every guess is right: {r.stats}", r.console)

# ---- boards -----------------------------------------------------------------------------------------

model, head = made["qwen35_gqa", "q8_0"]
card = make_card("mtp-card.img", model, head)
base = reply(model, "-p", "Once upon a time", "--temp", "0", "--spec", "off")
for machine in (ARM64, RISCV64_ANY):
    status, console = machine.run(f'prompt="Once upon a time" model={os.path.basename(model)[:-6]} cores=2 ids '
                                  f'n={TOKENS} temp=0 draft={os.path.basename(head)[:-6]}', 2, card_arguments(card))
    r = Reply(console)
    tap.ok(r.ids and r.ids == base.ids and r.hash == base.hash and "guesses" in r.stats,
           f"{machine.label}: the ids and logits of the host, with guesses", console)

# ---- files that are refused -------------------------------------------------------------------------

gguf = os.path.join(WORK, "mtp-qwen35_gqa-q8_0.gguf")
out = os.path.join(WORK, "mtp-never.ingot")


def refused(command, *parts):
    status, console = run(command)
    tap.ok(status == 1 and console.strip().count("\n") == 0 and all(p in console for p in parts),
           "refused: " + console.strip(), console)


refused([HOST, "run", head, "-p", "a"], "MTP head", "--draft")
refused([HOST, "pack", os.path.join(ARCH, "qwen35_gqa.gguf"), "--mtp", "-o", out], "nextn_predict_layers is 0")
refused([HOST, "pack", os.path.join(ARCH, "llama_gqa.gguf"), "--mtp", "-o", out], "architecture 'llama'")
g = read_gguf(gguf)
g.u32(".nextn_predict_layers", 2)
g.write(os.path.join(WORK, "mtp-two.gguf"))
refused([HOST, "pack", os.path.join(WORK, "mtp-two.gguf"), "--mtp", "-o", out], "nextn_predict_layers is 2")
for gone in ("eh_proj", "enorm", "hnorm"):
    g = read_gguf(gguf)
    g.tensors = [t for t in g.tensors if gone not in t[0]]
    g.write(os.path.join(WORK, "mtp-gone.gguf"))
    refused([HOST, "pack", os.path.join(WORK, "mtp-gone.gguf"), "--mtp", "-o", out], "missing")
g = read_gguf(gguf)
g.tensor("blk.8.nextn.embed_tokens.weight", [DIM, 512], 0, bytes(4 * DIM * 512))
g.write(os.path.join(WORK, "mtp-own.gguf"))
refused([HOST, "pack", os.path.join(WORK, "mtp-own.gguf"), "--mtp", "-o", out], "embed_tokens")
tap.done()
