#!/usr/bin/python3
"""Measures what the low-bit types cost on the stories models: the error of the weights, and the perplexity of a part of the text, compared with
the figures of docs/experiments/low-bits-on-small-models.md. The models are widened with zeros, so that every matrix can have the type in
question instead of a fallback."""

import os
import random
import re
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../models/generator"))
import generator
from gguf_files import tinystories_656k
from machine import ASSETS, HOST, LONG, ROOT, WORK, Tap, run
from widened import read_gguf, widened_folder, widened_gguf

TEXT = os.path.join(ASSETS, "text/tinystories-eval-64K.txt")
PART_BYTES = 12 << 10
COLUMNS = 256
MOST, MOST_LOSS = 1.01, 1.003  # the largest measured figures, as multiples of those listed here
# For each type: perplexity of the part, NMSE of the matrices, and NMSE of llama.cpp's quantizer if it has the type. The output matrix is Q6_K; --type
# q2_k stores some matrices as Q3_K.
FIGURES = {
    "stories260K": {"q4_0": (10.32, .00373, .004236), "iq4_nl": (10.39, .00312, .003386),
                    "fig4": (10.64, .00399, None), "q3_k": (12.92, .0117, .01286),
                    "q2_k": (28.66, .0313, .03913), "tq2_0": (233.4, .0707, .3059)},
    "TinyStories-656K": {"q4_0": (527.7, .00399, .004506), "iq4_nl": (557.2, .00328, .003547),
                         "fig4": (515.2, .00471, None), "q3_k": (515.9, .0123, .01360),
                         "q2_k": (553.6, .0288, .03630), "tq2_0": (1513.5, .0788, .3532)},
    "demo": {"q4_0": (2.10, .00499, None), "iq4_nl": (2.14, .00393, None),
             "fig4": (2.15, .00575, None), "q3_k": (2.27, .0148, None),
             "q2_k": (2.68, .0400, None), "tq2_0": (85.86, .0957, None)},
}
# For each type: the types of the layers' matrices.
TYPES = {"q4_0": {"q4_0"}, "iq4_nl": {"iq4_nl"}, "fig4": {"fig4"}, "q3_k": {"q3_k"},
         "q2_k": {"q2_k", "q3_k"}, "tq2_0": {"tq2_0"}}

tap = Tap()
os.makedirs(WORK, exist_ok=True)


def write_part(name, text):
    path = os.path.join(WORK, f"low-bits-{name}.txt")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text[:PART_BYTES])
    return path


def stories():
    """Text like the demo model's training text, in an order that the model has not seen."""
    rng, told = random.Random(5), ""
    while len(told) < PART_BYTES:
        told += "".join(e.reply + "\n" for e in generator.conversation(rng, 250, generator.EXAM)[1]
                        if len(e.reply) > 200)
    return write_part("demo", told)


def sources():
    """{name: (model, made wider, text)}"""
    wide = {name: os.path.join(WORK, f"low-bits-{name}") for name in FIGURES}
    folder = os.path.join(ROOT, "models/demo")
    widened_folder(folder, wide["demo"], COLUMNS)
    out = {"demo": (folder, wide["demo"], stories())}
    if not os.path.isdir(os.path.join(ASSETS, "hf/TinyStories-656K")) or not os.path.exists(TEXT):
        tap.skip("the stories models", "no hf/TinyStories-656K (set INGOT_ASSETS)")
        return out
    with open(TEXT, encoding="utf-8") as f:
        part = write_part("stories", f.read())
    models = [("stories260K", read_gguf(os.path.join(ASSETS, "gguf/stories260K.gguf")))]
    models += [("TinyStories-656K", tinystories_656k())] * LONG  # a third model, with the same types
    for name, model in models:
        plain, wider = wide[name] + "-as-it-is.gguf", wide[name] + ".gguf"
        model.write(plain)
        widened_gguf(model, COLUMNS).write(wider)
        out[name] = (plain, wider, part)
    return out


def measure(job):
    """(perplexity, NMSE, the types of the layers' matrices) of a model packed as a type."""
    source, kind, text = job
    model = os.path.join(WORK, f"{os.path.basename(source)}-{kind}.ingot")
    head = "f32" if kind == "f32" else "q6_k"
    status, said = run([HOST, "pack", source, "-o", model, "-q", "--type", kind, "--head", head,
                        "--report"], timeout=300)
    loss = re.search(r"^NMSE of all that was quantized: (\S+), ", said, re.M)
    types = set(re.findall(r"^\d+ +\w+ +\d+ x \d+ +\w+ +(\w+) ", said, re.M))
    if status == 0:
        _, said = run([HOST, "perplexity", model, "-f", text, "-q", "-t", "1"], timeout=300)
    found = re.search(r"^perplexity ([\d.]+) ", said, re.M)
    return float(found.group(1)) if found else float("nan"), float(loss.group(1)) if loss else 0, types


def judge(name, kind, figure, loss, types):
    most, most_loss, theirs = FIGURES[name].get(kind, (0, 0, None))
    tap.ok(types == TYPES[kind], f"{name} {kind}: no other type stands in", types)
    tap.ok(figure <= MOST * most, f"{name} {kind}: perplexity {figure:.2f} of at most {most}")
    tap.ok(0 < loss <= MOST_LOSS * most_loss, f"{name} {kind}: NMSE {loss:.4g} of at most {most_loss}")
    if theirs is not None:
        tap.ok(loss < theirs, f"{name} {kind}: less than llama.cpp's {theirs}", loss)


for name, (plain, wider, text) in sources().items():
    jobs = [(plain, "f32", text), (wider, "f32", text)] + [(wider, kind, text) for kind in TYPES]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        before, floats, *rest = pool.map(measure, jobs)
    tap.ok(abs(floats[0] / before[0] - 1) < 1e-4,
           f"{name}: perplexity {floats[0]:.4f} as floats, made wider as it was before", before[0])
    for kind, found in zip(TYPES, rest):
        judge(name, kind, *found)
tap.done()
