#!/usr/bin/python3
"""Files of models/arch with a value removed or changed: a missing value gets its usual default, and an impossible value gives one error message."""

import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import ASSETS, HOST, WORK, Tap, run
from gguf_files import BOOL, I32, read_gguf

FOLDER = os.path.join(ASSETS, "arch")
IDS = "1 5 9 44 100 7 300 12 13 14 15 16 2 60 61 62 63 64"

tap = Tap()
os.makedirs(WORK, exist_ok=True)
if not os.path.isdir(FOLDER):
    tap.skip("variants of GGUF files", "no arch (set INGOT_ASSETS)")
    tap.done()


def load(name):
    return read_gguf(os.path.join(FOLDER, name + ".gguf"))


def logits(model):
    """(the logits of the changed model or None, what was printed)"""
    path, out = os.path.join(WORK, "variant.gguf"), os.path.join(WORK, "variant.logits")
    model.write(path)
    status, console = run([HOST, "logits", path, "--tokens", IDS, "-n", "0", "-o", out, "-q",
                           "--ctx", "256", "--kv", "f32", "-t", "1"])
    if status != 0:
        return None, console
    with open(out, "rb") as f:
        return f.read(), console


def test_usual_base(name):
    model = load(name)
    model.f32(".rope.freq_base", 123456.0)
    other, _ = logits(model)
    model.drop(".rope.freq_base")
    usual, console = logits(model)
    model.f32(".rope.freq_base", 10000.0)
    given, _ = logits(model)
    tap.ok(usual is not None and usual == given and usual != other,
           f"{name}: without rope.freq_base the base is 10000", console)


def test_usual_expert_width():
    model = load("qwen3moe")
    expected, _ = logits(model)
    model.u32(".feed_forward_length", 16)  # the width of two experts together, each 8 wide
    model.drop(".expert_feed_forward_length")
    ours, console = logits(model)
    tap.ok(ours is not None and ours == expected,
           "qwen3moe: experts used share feed_forward_length", console)
    model = load("qwen35moe")
    model.u32(".feed_forward_length", 16)
    model.drop(".expert_feed_forward_length", ".expert_shared_feed_forward_length")
    ours, console = logits(model)
    tap.ok(ours is None and "has 12 rows of 64, the parameters demand 8 of 64" in console,
           "qwen35moe: the shared expert is as wide as the others", console)


def test_without_biases(name):
    """Without biases of q, k and v, the logits are those of biases of zero."""
    def is_bias(t):
        return t[0].endswith(("attn_q.bias", "attn_k.bias", "attn_v.bias"))

    model = load(name)
    for t in filter(is_bias, model.tensors):
        t[3] = bytes(len(t[3]))
    zero, console = logits(model)
    model.tensors = [t for t in model.tensors if not is_bias(t)]
    none, more = logits(model)
    tap.ok(zero is not None and zero == none, f"{name}: without biases of q, k and v", console + more)


def recurrent(model, items, kind=BOOL):
    model.drop(".full_attention_interval")
    model.array(".attention.recurrent_layers", kind,
                [struct.pack("<?" if kind == BOOL else "<i", x) for x in items])
    return logits(model)


def test_recurrent_layers(name):
    """Newer files of Qwen3.5 list the recurrent layers, in any order, instead of giving a period."""
    model = load(name)
    expected, _ = logits(model)
    usual = [i % 4 != 3 for i in range(8)]
    listed, console = recurrent(model, usual)
    tap.ok(listed is not None and listed == expected, f"{name}: a list of recurrent layers", console)
    listed, console = recurrent(model, usual, I32)
    tap.ok(listed is not None and listed == expected, f"{name}: a list of 0 and 1", console)
    for t in model.tensors:  # layers 2 and 3 in the other order: the period no longer fits
        layer = {"2": "3", "3": "2"}.get(t[0].split(".")[1])
        if layer and t[0].startswith("blk."):
            t[0] = ".".join(["blk", layer] + t[0].split(".")[2:])
    swapped, console = recurrent(model, [True, True, False, True] + usual[4:])
    tap.ok(swapped is not None and swapped != expected, f"{name}: a list without a period", console)
    for wrong in ([True] * 7, [2] * 8):
        ours, console = recurrent(model, wrong, I32)
        tap.ok(ours is None and "is not a list with true or false for each of 8 layers" in console and
               console.count("\n") == 1, f"{name}: a list of {len(wrong)} numbers {wrong[0]:d}", console)
    ours, console = recurrent(load("lfm2"), [True] * 5)
    tap.ok(ours is None and "lfm2.attention.recurrent_layers, which is not supported" in console,
           "lfm2: a list of recurrent layers", console)


def test_leftovers(name):
    """The converter writes sizes of Mamba2, and a list of equal numbers of key heads, also for Granite 4 without Mamba2."""
    model = load(name)
    expected, _ = logits(model)
    for key, n in (("conv_kernel", 4), ("state_size", 128), ("group_count", 1), ("inner_size", 128),
                   ("time_step_rank", 48)):
        model.u32(".ssm." + key, n)
    model.array(".attention.head_count_kv", I32, [struct.pack("<i", 2)] * 3)
    model.flag(".rope.scaling.finetuned", True)
    ours, console = logits(model)
    tap.ok(ours is not None and ours == expected, f"{name}: sizes of Mamba2 mean nothing", console)
    model.u32(".shortconv.l_cache", 3)
    ours, console = logits(model)
    tap.ok(ours is None and f"{model.architecture}.shortconv.l_cache, which its family does not have" in console,
           f"{name}: those of another mixer are refused", console)


def test_windows_with_more_blocks():
    """EXAONE 4.5 lists the windows of its layers, but not the window of the block that guesses further tokens."""
    model = load("exaone4")
    plain, _ = logits(model)
    model.u32(".attention.sliding_window", 6)
    model.array(".attention.sliding_window_pattern", BOOL, [b"\1", b"\0", b"\1"])
    expected, _ = logits(model)
    model.u32(".block_count", 4)
    model.u32(".nextn_predict_layers", 1)
    ours, console = logits(model)
    tap.ok(ours is not None and ours == expected and ours != plain,
           "exaone4: a list of windows without further blocks", console)
    for n in (2, 5):
        model.array(".attention.sliding_window_pattern", BOOL, [b"\1"] * n)
        ours, console = logits(model)
        tap.ok(ours is None and "has a pattern that is not supported" in console,
               f"exaone4: a list of {n} windows is refused", console)


def test_refused(name, key, value, expected):
    model = load(name)
    if isinstance(value, list):
        model.array(key, I32, [struct.pack("<i", n) for n in value])
    else:
        model.u32(key, value)
    ours, console = logits(model)
    tap.ok(ours is None and expected in console and console.count("\n") == 1,
           f"{name}: {expected}", console)


for architecture in ("qwen3moe", "qwen35_gqa", "lfm2", "gptoss_f32", "exaone4", "smollm3", "gemma4"):
    test_usual_base(architecture)
test_usual_expert_width()
for architecture in ("gptoss_f32", "starcoder2"):
    test_without_biases(architecture)
test_recurrent_layers("qwen35_gqa")
test_leftovers("granite")
test_leftovers("granitemoe")
test_windows_with_more_blocks()
test_refused("lfm2moe", ".leading_dense_block_count", 99, "more than the model has layers")
test_refused("lfm2", ".shortconv.l_cache", 4000000000, "4000000000 taps, but may have at most 8")
test_refused("lfm2", ".attention.head_count_kv", [0] * 5, "the model has no attention layer")
tap.done()
