#!/usr/bin/python3
"""Assistants of Gemma 4, as llama.cpp writes them into a GGUF: packed as a draft, they guess by the keys and values of their model, with the logits
of an independent computation, and text, ids and logits of the model equal those of plain decoding, whatever the assistant's weights are.

In one model the next token follows from the previous token; there, all guesses are right only if the assistant gets the right token's row and the
right hidden state."""

import array
import json
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
from gemma4_assistant import VOCAB, WIDTH, Assistant, Model, assistant_of, noise
from gguf_files import read_gguf
from machine import ARM64, ASSETS, HOST, RISCV64_ANY, WORK, Reply, Tap, card_arguments, make_card, must, run, segments

ARCH = os.path.join(ASSETS, "arch")
tap = Tap()
if not os.path.exists(os.path.join(ARCH, "gemma4.gguf")):
    tap.skip("assistants", "no " + ARCH)
    tap.done()
    sys.exit()
os.makedirs(WORK, exist_ok=True)
TOKENS, ORBIT = 40, 64


def model_file():
    g = read_gguf(os.path.join(ARCH, "gemma4.gguf"))
    g.architecture = "gemma4"
    return g


def packed(g, name, kind):
    path, out = (os.path.join(WORK, f"assistant-{name}{end}") for end in (".gguf", ".ingot"))
    g.write(path)
    must([HOST, "pack", path, "-o", out, "--type", kind, "-q"], 120)
    return out


def reply(model, *words):
    status, console = run([HOST, "run", model, "--ids", "-n", str(TOKENS), *words])
    r = Reply(console)
    r.status = status
    return r


# ---- logits -----------------------------------------------------------------------------------------

MODEL = model_file()
with open(os.path.join(ARCH, "gemma4.json"), encoding="utf-8") as f:
    published = json.load(f)


def nmse(ours, theirs):
    theirs = [x for row in theirs for x in row]
    return sum((a - b) ** 2 for a, b in zip(ours, theirs, strict=True)) / sum(b * b for b in theirs)


def guessed(model, draft, ids, n, *more):
    out = os.path.join(WORK, "assistant.logits")
    must([HOST, "logits", model, "--draft", draft, "--tokens", " ".join(map(str, ids)), "-n", str(n), "-o", out, "-q", "--ctx", "256", *more], 120)
    with open(out, "rb") as f:
        return array.array("f", f.read())


whole = Model(MODEL, published["ids"])
error = nmse([x for i in range(len(published["ids"])) for x in whole.logits(i)], published["logits"])
tap.ok(error < 1e-10, f"the computation in Python is llama.cpp's for the model: NMSE {error:.1e}")
plain = packed(MODEL, "plain", "f32")
for seed, pattern in ((5, (1, 1, 1, 0)), (6, (0, 1)), (7, (0,))):
    g = assistant_of(MODEL, noise(seed), pattern=pattern)
    draft = packed(g, f"noise{seed}", "f32")
    for n in (24, 7, 2):  # sequences longer and shorter than the window of 8
        ids = published["ids"][:n]
        expected = Assistant(g, Model(MODEL, ids[:-1])).guess(ids[-1], 4)
        for more in ([], ["-t", "3"]):
            error = nmse(guessed(plain, draft, ids, 4, "--kv", "f32", *more), expected)
            tap.ok(error < 1e-8, f"layers {pattern}, after {n} tokens{' on three threads' if more else ''}: "
                                 f"the logits of four guesses, NMSE {error:.1e}")
error = nmse(guessed(plain, packed(assistant_of(MODEL, noise(5)), "q8", "q8_0"), published["ids"], 1, "--kv", "q8"),
             Assistant(assistant_of(MODEL, noise(5)), Model(MODEL, published["ids"][:-1])).guess(published["ids"][-1], 1))
tap.ok(error < 1e-2, f"in Q8_0, with keys and values in Q8: NMSE {error:.1e}")

# ---- random weights ---------------------------------------------------------------------------------

made = {}
for kind in ("f32", "q8_0"):
    model, draft = packed(MODEL, kind, kind), packed(assistant_of(MODEL, noise(5)), "draft-" + kind, kind)
    made[kind] = model, draft
    layers = segments(model)[2:-1]  # the layers come after the embedding and the table
    tiles = 2 * max(size for _, size in layers) + 2 * 4096
    limit = str(tiles + segments(model)[0][1] + 4096)
    for label, words in (("greedy", ["-p", "Once upon a time", "--temp", "0"]),
                         ("at temp 0.9", ["-p", "the cat sat on the mat and then ", "--temp", "0.9", "--seed", "3"]),
                         ("with penalties", ["-p", "b", "--temp", "0.7", "--repeat", "1.3", "--seed", "4"])):
        base = reply(model, *words, "--spec", "off")
        for where, more in (("resident", ["--spec", "ngram"]), ("two threads", ["--spec", "ngram", "-t", "2"]),
                            ("streamed", ["--spec", "ngram", "--mem", limit]), ("when it saves time", []),
                            ("the output in tiles", ["--spec", "ngram", "--mem", str(tiles)])):
            r = reply(model, *words, "--draft", draft, *more)
            tap.ok(r.status == 0 and base.ids and r.ids == base.ids and r.hash == base.hash and r.text == base.text,
                   f"{kind}, {label}, {where}: the same ids, logits and text", r.console)
            tap.ok("guesses" in r.stats and ("streamed" in r.stats) == ("--mem" in more), f"{kind}, {label}, {where}: it guessed: {r.stats}", r.console)
        r = reply(model, *words, "--draft", draft, "--spec", "off")
        tap.ok(r.ids == base.ids and "guesses" not in r.stats, f"{kind}, {label}, spec=off: no guesses", r.console)
    for kv in ("q8", "rot_q4", "tiers:64,0,kivi"):
        base, r = (reply(model, "-p", "a text " * 30, "--temp", "0", "--kv", kv, *more)
                   for more in (["--spec", "off"], ["--spec", "ngram", "--draft", draft]))
        tap.ok(base.ids and r.ids == base.ids and r.hash == base.hash and "guesses" in r.stats, f"{kind}, kv={kv}: the same ids and logits", r.console)

# ---- weights that know ------------------------------------------------------------------------------

chosen = random.Random(9)
BASES = [[chosen.choice((-1.0, 1.0)) for _ in range(WIDTH)] for _ in range(VOCAB // ORBIT)]
ROWS = [base[-k:] + base[:-k] for base in BASES for k in range(ORBIT)]  # row o * 64 + k belongs to token o * 64 + k


def after(token):
    return token // ORBIT * ORBIT + (token + 1) % ORBIT


OUT = [None] * VOCAB
for token in range(VOCAB):
    OUT[after(token)] = ROWS[token]


def knowing_model():
    """In this model the next token is the token whose row equals the current token's row rotated by one."""
    g = model_file()
    for t in g.tensors:
        name = t[0].split(".", 2)[-1]
        if name in ("attn_output.weight", "ffn_down.weight", "proj.weight"):
            t[3] = bytes(len(t[3]))
        elif name == "layer_output_scale.weight" or t[0] == "output_norm.weight":
            t[3] = array.array("f", [1.0] * (len(t[3]) // 4)).tobytes()
        elif t[0] == "token_embd.weight":
            t[3] = array.array("f", [x for row in ROWS for x in row]).tobytes()
    g.floats("output.weight", [VOCAB, WIDTH], [x for row in OUT for x in row])
    return g


def knowing(half):
    """With half "token" the assistant returns its token's row unchanged. With half "hidden" it rotates the hidden state of
    the previous token."""
    def weights(name, rows, cols):
        if name == "token_embd":
            return [x for row in OUT for x in row]
        if name.endswith(("norm", "scale")):
            return [1.0] * (rows * cols)
        values = [0.0] * (rows * cols)
        for i in range(WIDTH):
            if name == "nextn.pre_projection":
                values[i * cols + (i if half == "token" else WIDTH + (i - 1) % WIDTH)] = 1.0
            elif name == "nextn.post_projection":
                values[i * cols + i] = 1.0
        return values
    return assistant_of(model_file(), weights, dim=WIDTH)


model = packed(knowing_model(), "knowing", "f32")
for half in ("token", "hidden"):
    draft = packed(knowing(half), half, "f32")
    for label, words in (("a short prompt", ["-p", "z"]), ("a long one", ["-p", "the cat sat on the mat " * 30 + "z"])):
        base = reply(model, *words, "--temp", "0", "--spec", "off")
        r = reply(model, *words, "--temp", "0", "--spec", "ngram", "--draft", draft)
        tap.ok(base.ids and len(base.ids) == TOKENS and base.ids[1:] == [after(t) for t in base.ids[:-1]],
               f"{half}, {label}: each token follows from the one before", base.console)
        tap.ok(r.ids == base.ids and r.hash == base.hash and "(100.0 %), 5 passes" in r.stats,
               f"{half}, {label}: every guess is right, from the first token on: {r.stats}", r.console)

# ---- boards -----------------------------------------------------------------------------------------

# Only the assistant can guess the other model's tokens, each of which is new in its text.
pairs = (("Once upon a time", "guesses right", *made["q8_0"]), ("z", "(100.0 %)", model, draft))
card = make_card("assistant-card.img", *(path for pair in pairs for path in pair[2:]))
for prompt, said, model, draft in pairs:
    base = reply(model, "-p", prompt, "--temp", "0", "--spec", "off")
    limit = 2 * max(size for _, size in segments(model)[2:-1]) + 2 * 4096 + segments(model)[0][1] + 4096
    for machine in (ARM64, RISCV64_ANY):
        for where, more in (("resident", ""), ("streamed", f" mem={limit}")):
            status, console = machine.run(f'prompt="{prompt}" model={os.path.basename(model)[:-6]} cores=2 ids n={TOKENS} temp=0 '
                                          f'spec=ngram draft={os.path.basename(draft)[:-6]}{more}', 2, card_arguments(card))
            r = Reply(console)
            tap.ok(r.ids and r.ids == base.ids and r.hash == base.hash and said in r.stats and where in r.stats,
                   f"{machine.label}, {where}: the ids and logits of the host: {r.stats}", console)

# ---- files that are refused -------------------------------------------------------------------------

out = os.path.join(WORK, "assistant-never.ingot")


def refused(command, *parts):
    status, console = run(command)
    tap.ok(status == 1 and console.strip().count("\n") == 0 and all(p in console for p in parts),
           "refused: " + console.strip(), console)


def refused_file(change, *parts, more=()):
    g = assistant_of(MODEL, noise(5))
    change(g)
    path = os.path.join(WORK, "assistant-bad.gguf")
    g.write(path)
    refused([HOST, "pack", path, "-o", out, "-q", *more], *parts)


def without(name):
    return lambda g: setattr(g, "tensors", [t for t in g.tensors if not t[0].startswith(name)])


def shaped(name, *shape):
    """Let a tensor have another shape."""
    def change(g):
        without(name)(g)
        g.floats(name, shape, [0.0] * (shape[0] * shape[-1]))
    return change


refused([HOST, "run", draft, "-p", "a"], "assistant", "--draft")
refused_file(lambda g: None, "gemma4-assistant", "leave out --mtp", more=["--mtp"])
refused_file(lambda g: g.drop(".embedding_length_out"), "gemma4-assistant.embedding_length_out is missing")
refused_file(lambda g: g.u32(".embedding_length_out", 1 << 17), "target_dim is 131072, must be at most 65536")
refused_file(lambda g: g.u32(".nextn_predict_layers", 3), "nextn_predict_layers is 3", "number of blocks, 4")
refused_file(lambda g: g.u32(".attention.shared_kv_layers", 2), "shared_kv_layers is 2", "number of blocks, 4")
for name, role in (("nextn.pre_projection", "token_embedding"), ("nextn.post_projection", "mtp_state"), ("token_embd", "output"),
                   ("output_norm", "output_norm"), ("blk.1.attn_q.", "attn_q of layer 1")):
    refused_file(without(name), role + " is missing")
refused_file(shaped("nextn.pre_projection.weight", 32, WIDTH), "token_embedding has 32 rows of 64, the parameters demand 32 of 128")
refused_file(shaped("nextn.post_projection.weight", 32, 32), "mtp_state has 32 rows of 32, the parameters demand 64 of 32")
refused_file(shaped("token_embd.weight", VOCAB, WIDTH), "output has 512 rows of 64, the parameters demand 512 of 32")
refused_file(shaped("blk.0.attn_k.weight", 16, 32), "attn_k")
refused_file(shaped("output.weight", VOCAB, 32), "output.weight")
refused_file(shaped("rope_freqs.weight", 1, 8), "8 factors, must be 16")


def misfit(change, model, *parts):
    g = assistant_of(MODEL, noise(5))
    change(g)
    refused([HOST, "run", model, "--draft", packed(g, "misfit", "f32"), "-p", "a"], "give a draft of this model", *parts)


def narrower(g):
    g.u32(".embedding_length_out", 32)
    shaped("nextn.pre_projection.weight", 32, 64)(g)
    shaped("nextn.post_projection.weight", 32, 32)(g)


def wider_heads(g):
    for key in ("key_length_swa", "value_length_swa"):
        g.u32(".attention." + key, 32)
    g.u32(".rope.dimension_count_swa", 32)
    for i in range(3):
        shaped(f"blk.{i}.attn_q.weight", 128, 32)(g)
        shaped(f"blk.{i}.attn_output.weight", 32, 128)(g)
        without(f"blk.{i}.attn_q_norm")(g)
        g.floats(f"blk.{i}.attn_q_norm.weight", [32], [1.0] * 32)


misfit(narrower, plain, "guesses for a model of width 32", "is 64")
misfit(wider_heads, plain, "layer 0 reads keys of 1 x 32")
misfit(lambda g: g.u32(".attention.head_count_kv", 2), plain, "layer 0 reads keys of 2 x 16")
without_windows = packed(read_gguf(os.path.join(ARCH, "llama_gqa.gguf")), "llama", "f32")
misfit(lambda g: None, without_windows, "layer 0 reads keys of 1 x 16")
tap.done()
