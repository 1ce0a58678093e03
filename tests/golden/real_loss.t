#!/usr/bin/python3
"""Published models that `make model NAME=...` fetched are packed with their own types, and with those that docs/QUALITY.md recommends. Each
file's size, and its mean divergence (KL) from the same weights as floats, must stay below a limit. A model that is missing is skipped by
name."""

import os
import sys

try:
    import numpy
except ImportError:
    numpy = None

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import BUILD, HOST, WORK, Tap, run

TEXT = ("A lighthouse is a tower with a strong lamp, built where ships need to know their place. In former times a keeper lived in it, who lit the oil "
        "every evening and cleaned the glass every morning. Today most of them work by themselves, and sailors look at a screen.")
BEGIN = 4  # positions with next to no text before them do not count
# Each row: --type, largest size in bytes of the GGUF, largest mean KL in nats. In docs/QUALITY.md, on longer texts, these rows
# have a KL of .0030, .0039, .0488 (SmolLM2) and .0044, .0024, .0078 (Gemma 3).
MODELS = {
    "smollm2-135m": (49152, ((None, 1.03, 0.006), ("q8_0", 1.5, 0.008), ("q4_k_m", 1.1, 0.09))),
    "gemma3-270m": (262144, ((None, 1.03, 0.009), ("q8_0", 1.2, 0.006), ("q4_k_m", 1.03, 0.016))),
}
tap = Tap()


def log_probabilities(path, vocabulary):
    """(tokens, vocabulary) of TEXT."""
    out = os.path.join(WORK, "real-loss.logits")
    status, said = run([HOST, "logits", path, "-p", TEXT, "-n", "0", "-o", out, "-q"], timeout=300)
    if status != 0:
        sys.exit(said)
    rows = numpy.fromfile(out, numpy.float32).reshape(-1, vocabulary)[BEGIN:].astype(numpy.float64)
    os.remove(out)
    rows -= rows.max(axis=1, keepdims=True)
    return rows - numpy.log(numpy.exp(rows).sum(axis=1, keepdims=True))


def packed(gguf, kind):
    out = os.path.join(WORK, "real-loss.ingot")
    status, said = run([HOST, "pack", gguf, "-o", out, *(["--type", kind] if kind else [])], timeout=300)
    if status != 0:
        sys.exit(said)
    return out, said


def check(name, vocabulary, rows):
    gguf = os.path.join(BUILD, f"models/published/{name}.gguf")
    if not os.path.exists(gguf) or numpy is None:
        why = f"no {gguf}: make model NAME={name} brings it" if numpy is not None else "python3-numpy is not installed"
        for kind, _, _ in rows:
            tap.skip(f"{name}, {kind or 'as it is'}: size and KL", why)
        return
    path, _ = packed(gguf, "f32")
    exact = log_probabilities(path, vocabulary)
    weights = numpy.exp(exact)
    for kind, largest, furthest in rows:
        path, said = packed(gguf, kind)
        size, original = os.path.getsize(path), os.path.getsize(gguf)
        kl = float((weights * (exact - log_probabilities(path, vocabulary))).sum(axis=1).mean())
        tap.ok(size <= largest * original and (kind is not None or "NMSE" not in said), f"{name}, {kind or 'as it is'}: {size / original:.3f} of the GGUF", said)
        tap.ok(0 < kl <= furthest, f"{name}, {kind or 'as it is'}: KL {kl:.4f} over {len(exact)} tokens, at most {furthest}")
    os.remove(path)


os.makedirs(WORK, exist_ok=True)
for each, (size_of_vocabulary, bounds) in MODELS.items():
    check(each, size_of_vocabulary, bounds)
tap.done()
