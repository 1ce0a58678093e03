#!/usr/bin/python3
"""Folders in F8 as Transformers, compressed-tensors, ModelOpt and others write them: they differ in names, shapes and types of the scales. Each gives
the same bits as a folder of floats with the same values. It needs no assets."""

import array
import json
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
from hf_files import f8_code, f8_value, folder, random_model, read_safetensors, safetensors, write_json
from machine import HOST, WORK, Tap, run

TILE = (16, 8)
INV, PLAIN = "_scale_inv", "_scale"
tap = Tap()


def bf16(x):
    return struct.pack("<f", x)[2:]


def rounded(x):
    return struct.unpack("<f", b"\0\0" + bf16(x))[0]


def in_f8(rows, cols, values, high, wide):
    """Codes, the scales of tiles, and the floats that both represent."""
    codes, scales, exact = bytearray(rows * cols), [], array.array("f", bytes(4 * rows * cols))
    for top in range(0, rows, high):
        for left in range(0, cols, wide):
            at = [r * cols + c for r in range(top, min(top + high, rows)) for c in range(left, min(left + wide, cols))]
            scales.append(rounded(max(abs(values[i]) for i in at) / 448))
            for i in at:
                codes[i] = f8_code(values[i] / scales[-1])
                exact[i] = f8_value(codes[i]) * scales[-1]
    return bytes(codes), scales, exact.tobytes()


FORMS = {  # height and width of a tile, shape of the scales
    "[]": (lambda rows, cols: (rows, cols), lambda rows, cols: ()),
    "[1]": (lambda rows, cols: (rows, cols), lambda rows, cols: (1,)),
    "[1, 1]": (lambda rows, cols: (rows, cols), lambda rows, cols: (1, 1)),
    "[rows]": (lambda rows, cols: (1, cols), lambda rows, cols: (rows,)),
    "[rows, 1]": (lambda rows, cols: (1, cols), lambda rows, cols: (rows, 1)),
    "tiles": (lambda rows, cols: TILE, lambda rows, cols: (-(-rows // TILE[0]), -(-cols // TILE[1]))),
    "blocks of 128": (lambda rows, cols: (128, 128), lambda rows, cols: (-(-rows // 128), 1, -(-cols // 128), 1)),
}


def twins(base, form, ending, dtype, quantization, more=None, change=None):
    """Folders of the same weights, in F8 and as floats. form: one form for all matrices, or (a part of a name, the form of matrices with this part in
    their names, the form of the others); more: additional tensors for each matrix; change: a function that changes all tensors."""
    with open(os.path.join(base, "config.json"), encoding="utf-8") as f:
        config = json.load(f)
    packed, floats = {}, {}
    for name, (kind, shape, raw) in read_safetensors(os.path.join(base, "model.safetensors")).items():
        packed[name] = floats[name] = (kind, shape, raw)
        if not name.endswith("_proj.weight"):
            continue
        size, scale_shape = FORMS[form if isinstance(form, str) else form[1] if form[0] in name else form[2]]
        codes, scales, exact = in_f8(*shape, array.array("f", raw), *size(*shape))
        packed[name], floats[name] = ("F8_E4M3", shape, codes), ("F32", shape, exact)
        raw = b"".join(bf16(x) for x in scales) if dtype == "BF16" else array.array("f", scales).tobytes()
        packed[name + ending] = (dtype, scale_shape(*shape), raw)
        for extra, tensor in (more or {}).items():
            packed[name[:-len("weight")] + extra] = tensor
    if change is not None:
        change(packed)
    pair = []
    for end, tensors in (("f8", packed), ("floats", floats)):
        pair.append(folder("hf-f8-" + end))
        words = {"quantization_config": quantization} if end == "f8" and quantization else {}
        write_json(pair[-1], "config.json", {**config, **words})
        safetensors(os.path.join(pair[-1], "model.safetensors"), tensors)
    return pair


def logits(path):
    model, out = os.path.join(WORK, "hf-f8.ingot"), os.path.join(WORK, "hf-f8.logits")
    status, console = run([HOST, "pack", path, "-o", model, "-q", "--type", "f32"])
    if status != 0:
        return None, console
    status, console = run([HOST, "logits", model, "--tokens", "1 5 9 2 20 17 3 11", "-o", out, "-q"])
    if status != 0:
        return None, console
    with open(out, "rb") as f:
        return f.read(), console


def group(strategy, **more):
    return {"quant_method": "compressed-tensors", "format": "float-quantized", "ignore": ["lm_head"],
            "config_groups": {"group_0": {"targets": ["Linear"], "weights": {
                "num_bits": 8, "type": "float", "symmetric": True, "dynamic": False, "strategy": strategy, **more},
                "input_activations": {"num_bits": 8, "type": "float", "dynamic": True, "strategy": "token"}}}}


def groups(*parts):
    """A configuration with one group for each strategy and that group's other fields."""
    whole = group("tensor")
    whole["config_groups"] = {f"group_{i}": group(strategy, **more)["config_groups"]["group_0"] for i, (strategy, more) in enumerate(parts)}
    return whole


BLOCKS = {"block_structure": list(TILE)}
FP8 = {"quant_method": "fp8", "activation_scheme": "dynamic"}
STATIC = {"input_scale": ("F32", (), struct.pack("<f", 0.5))}
CACHE = {"k_scale": ("BF16", (1,), bf16(1.0)), "v_scale": ("F32", (), struct.pack("<f", 1.0)), "output_scale": ("F32", (1,), bytes(4))}
ZERO = {"weight_zero_point": ("F8_E4M3", (1,), b"\0")}
MODELOPT = {"quant_method": "modelopt", "quant_algo": "FP8", "producer": {"name": "modelopt"}}
LLAMA = random_model("llama", "f8-random-")
PHI3 = random_model("phi3", "f8-random-")
for base, form, ending, dtype, quantization, more in (
        (LLAMA, "[]", INV, "F32", FP8, None), (LLAMA, "[]", PLAIN, "F32", FP8, STATIC), (LLAMA, "[1]", PLAIN, "BF16", FP8, STATIC),
        (LLAMA, "[1, 1]", INV, "BF16", {**FP8, "activation_scheme": "static"}, {"activation_scale": STATIC["input_scale"]}),
        (LLAMA, "[]", PLAIN, "F32", MODELOPT, {**STATIC, **CACHE}),
        (LLAMA, "[]", PLAIN, "F32", None, STATIC),  # only hf_quant_config.json describes the types
        (LLAMA, "[rows]", PLAIN, "F32", {**MODELOPT, "quant_algo": "FP8_PER_CHANNEL_PER_TOKEN"}, None),
        (LLAMA, "blocks of 128", PLAIN, "F32", {**MODELOPT, "quant_algo": "FP8_PB_WO"}, None),
        (LLAMA, "[rows, 1]", PLAIN, "F32", {"quant_method": "fbgemm_fp8", "activation_scale_ub": 1200.0,
                                            "modules_to_not_convert": ["lm_head"]}, None),
        (LLAMA, "[rows, 1]", PLAIN, "BF16", group("channel"), ZERO), (LLAMA, "[1]", PLAIN, "BF16", group("tensor"), STATIC),
        (LLAMA, "tiles", PLAIN, "BF16", group("block", block_structure=list(TILE)), None),
        (LLAMA, "tiles", INV, "F32", {**FP8, "weight_block_size": list(TILE)}, None),
        (LLAMA, ("self_attn", "[rows, 1]", "tiles"), PLAIN, "BF16", groups(("channel", {}), ("block", BLOCKS)), None),
        (LLAMA, ("self_attn", "tiles", "[1]"), PLAIN, "F32", groups(("block", BLOCKS), ("tensor", {})), None),
        (LLAMA, ("mlp", "[rows]", "[]"), PLAIN, "F32", groups(("tensor", {}), ("channel", {})), None),
        (LLAMA, "tiles", PLAIN, "BF16", groups(("block", BLOCKS), ("block", BLOCKS)), None),
        (PHI3, "[]", PLAIN, "BF16", group("tensor"), None), (PHI3, "[rows, 1]", PLAIN, "F32", group("channel"), None)):
    packed, floats = twins(base, form, ending, dtype, quantization, more)
    theirs, said = logits(floats)
    ours, console = logits(packed)
    method = (quantization or {}).get("quant_method", "no method")
    form = form if isinstance(form, str) else "{1} of {0}, {2} of others".format(*form)
    what = f"{os.path.basename(base)}, {method}: weight{ending} {form} in {dtype}" + "".join(f", {name}" for name in more or {})
    tap.ok(ours is not None and ours == theirs, what, said + console)

Q = "model.layers.1.self_attn.q_proj.weight"


def refused(what, words, form="[]", quantization=None, change=None):
    packed, _ = twins(LLAMA, form, PLAIN, "F32", FP8 if quantization is None else quantization, None, change)
    out, console = logits(packed)
    tap.ok(out is None and all(w in console for w in words) and console.count("\n") == 1, f"refused: {what}: {console.strip()[-200:]}")


refused("a scale too many", ["attn_q of layer 1", "shape"], change=lambda t: t.update({Q + PLAIN: ("F32", (2,), bytes(8))}))
refused("floats of 8 bits of the other kind", [Q, "F8_E5M2", "F8_E4M3"],
        change=lambda t: t.update({Q: ("F8_E5M2", *t[Q][1:])}))
refused("scales that are powers of two in a byte", [Q + PLAIN, "F8_E8M0"], change=lambda t: t.update({Q + PLAIN: ("F8_E8M0", (), b"\x7f")}))
refused("a second scale, of 4 bits", [Q + "_scale_2", "not part of a model"], change=lambda t: t.update({Q + "_scale_2": ("F32", (), bytes(4))}))
refused("no scale", ["attn_q of layer 1", "missing"], change=lambda t: t.pop(Q + PLAIN))
refused("scales of the other axis", ["shape"], change=lambda t: t.update({Q + PLAIN: ("F32", (1, 40), bytes(160))}))
refused("both names", ["twice"], change=lambda t: t.update({Q + INV: ("F32", (), bytes(4))}))
refused("a zero point that is not 0", ["weight_zero_point"], quantization=group("tensor"),
        change=lambda t: t.update({Q + "_zero_point": ("F8_E4M3", (1,), b"\x40")}))
refused("ModelOpt in 4 bits", ["quant_algo", "NVFP4"], quantization={**MODELOPT, "quant_algo": "NVFP4"})
refused("whole numbers", ["config_groups", "floats of 8 bits"], quantization=group("channel", type="int"))
refused("groups", ["strategy"], quantization=group("group"))
refused("blocks without a size", ["block_structure"], quantization=group("block"))
refused("blocks of two sizes", ["block_structure", "differs between groups"],
        quantization=groups(("block", BLOCKS), ("block", {"block_structure": [8, 8]})))
refused("blocks where no group has them", ["shape"], form="tiles", quantization=groups(("tensor", {}), ("channel", {})))
refused("sparse matrices", ["sparsity_config"], quantization={**group("tensor"), "sparsity_config": {"format": "sparse-24-bitmask"}})
refused("rotations", ["transform_config"], quantization={**group("tensor"), "transform_config": {"config_groups": {"R1": {}}}})
status, console = run([HOST, "pack", twins(LLAMA, "[]", PLAIN, "F32", FP8, STATIC)[0], "-o", os.path.join(WORK, "hf-f8.ingot")])
tap.ok(status == 0 and console.count("scales of activations are ignored") == 1, "scales of activations are ignored, with a note",
       console)
tap.done()
