#!/usr/bin/python3
"""`ingot pack --report`: a line for every matrix; bits, NMSE and cosine are right, and the line says why a matrix has another type than the requested
one."""

import array
import math
import os
import re
import struct
import sys

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), folder) for folder in ("..", "../../toolchain")]
from machine import ASSETS, HOST, ROOT, WORK, Tap, run
from weight_types import STORED, bits
from widened import read_gguf, widened_folder

LINE = re.compile(r"^(\S+) +(\w+) +(\d+) x (\d+) +(\S+) +(\w+) +([\d.]+) +(\S+) +([\d.e-]+)(?:  (.*))?$", re.M)
BITS = {t.name: bits(t) for t in STORED if t.kind != "PACKED"}

tap = Tap()
os.makedirs(WORK, exist_ok=True)
MODEL = os.path.join(WORK, "report.ingot")


class Row:
    def __init__(self, found):
        self.layer, self.tensor, rows, cols, self.source, self.to, bits, loss, cosine, self.why = found
        self.shape, self.bits, self.cosine = (int(rows), int(cols)), float(bits), float(cosine)
        self.loss = loss


def report(source, *words):
    _, said = run([HOST, "pack", source, "-o", MODEL, "-q", "--report", *words])
    return [Row(found) for found in LINE.findall(said)], said


def remarks(what, source, words, wanted):
    """wanted: {tensor: (type, remark)} for tensors of layer 0 and those outside layers."""
    if not os.path.exists(source):
        tap.skip(what, f"no {source} (set INGOT_ASSETS)")
        return
    rows, said = report(source, *words)
    got = {row.tensor: (row.to, row.why) for row in rows if row.layer in "-0"}
    tap.ok(got.items() >= wanted.items(), f"{what}: {len(wanted)} remarks", said)


# ---- figures -------------------------------------------------------------------------------------

WIDE = os.path.join(WORK, "report-demo")
widened_folder(os.path.join(ROOT, "models/demo"), WIDE, 256, layers=2)
for kind in BITS:
    if kind in ("f32", "q2_k"):
        continue
    rows, said = report(WIDE, "--type", kind)
    layers = [row for row in rows if row.layer != "-"]
    # with a least-squares scale, cosine^2 is 1 - NMSE; MXFP4's scales are powers of two
    slack = .5 if kind == "mxfp4" else .1
    wrong = [row.tensor for row in layers if row.to != kind or abs(row.bits - BITS[kind]) > .006 or
             abs(row.cosine ** 2 - 1 + float(row.loss)) > slack * float(row.loss) + 4e-6]
    tap.ok(len(layers) == 14 and len(rows) == 15 and not wrong,
           f"{kind}: 14 matrices with their bits, NMSE and cosine", said)

PLAIN = os.path.join(ASSETS, "gguf/stories260K.gguf")
if os.path.exists(PLAIN):
    floats = {name: array.array("f", raw) for name, _, _, raw in read_gguf(PLAIN).tensors}
    rows, said = report(PLAIN, "--type", "f16")
    exact = floats["blk.0.attn_q.weight"]
    half = [struct.unpack("<e", struct.pack("<e", x))[0] for x in exact]
    squares = sum(x * x for x in exact)
    loss = sum((a - b) ** 2 for a, b in zip(half, exact)) / squares
    cosine = sum(a * b for a, b in zip(half, exact)) / math.sqrt(squares * sum(x * x for x in half))
    row = [row for row in rows if (row.layer, row.tensor) == ("0", "attn_q")][0]
    tap.ok(row.loss == f"{loss:.3g}" and abs(row.cosine - cosine) < 1e-6,
           f"f16: NMSE {loss:.3g} and cosine {cosine:.6g} as reckoned here", said)
else:
    tap.skip("f16", f"no {PLAIN} (set INGOT_ASSETS)")

# ---- remarks -------------------------------------------------------------------------------------

DEMO = os.path.join(ROOT, "models/demo")
remarks("columns", DEMO, ["--type", "q2_k"],
        {"token_embedding": ("q8_0", "q6_k takes multiples of 256 columns"),
         "attn_q": ("iq4_nl", "q2_k takes multiples of 256 columns"),
         "attn_v": ("iq4_nl", "q3_k takes multiples of 256 columns")})
remarks("a mixture", WIDE, ["--type", "q2_k"],
        {"token_embedding": ("q6_k", "matters more"), "attn_q": ("q2_k", ""),
         "ffn_down": ("q3_k", "matters more")})
remarks("a head of its own", WIDE, ["--type", "fig4", "--head", "q8_0"],
        {"token_embedding": ("q8_0", "by --head"), "attn_q": ("fig4", "")})
remarks("experts of their own", os.path.join(ASSETS, "arch/olmoe.gguf"),
        ["--type", "q8_0", "--experts-type", "q4_0"],
        {"expert_gate": ("q4_0", "by --experts-type"), "expert_down": ("q4_0", "by --experts-type"),
         "attn_q": ("q8_0", "")})
remarks("as it asks", WIDE, ["--type", "tq2_0"],
        {"token_embedding": ("q6_k", "matters more"), "attn_q": ("tq2_0", "")})
remarks("Q3_K_M", os.path.join(ASSETS, "arch/lowbit_q3_k_m.gguf"), [],
        {"attn_q": ("q3_k", "copied"), "attn_v": ("q5_k", "copied")})
remarks("IQ4_XS", os.path.join(ASSETS, "arch/lowbit_iq4_xs.gguf"), [],
        {"attn_q": ("iq4_xs", "copied")})
remarks("IQ4_XS, on request", os.path.join(ASSETS, "arch/lowbit_iq4_xs.gguf"), ["--type", "iq4_nl"],
        {"attn_q": ("iq4_nl", "scales rounded to 16 bits")})
remarks("TQ1_0", os.path.join(ASSETS, "arch/lowbit_tq1_0.gguf"), [],
        {"attn_q": ("tq1_0", "copied")})
remarks("TQ1_0, on request", os.path.join(ASSETS, "arch/lowbit_tq1_0.gguf"), ["--type", "tq2_0"],
        {"attn_q": ("tq2_0", "the same values in more bits")})
remarks("Q5_0", os.path.join(ASSETS, "arch/lowbit_q5_0.gguf"), [],
        {"attn_q": ("q5_0", "copied")})
remarks("MXFP4, experts", os.path.join(ASSETS, "arch/gptoss_mxfp4.gguf"), ["--type", "fig4"],
        {"expert_gate": ("iq4_nl", "fig4 takes multiples of 128 columns")})
tap.done()
