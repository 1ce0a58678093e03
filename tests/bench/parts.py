"""Counts the instructions of each mixer and feed-forward, separately for its matrices and for the rest. A QEMU plugin
counts them for each function and each caller."""

import bisect
import collections
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
from machine import BUILD, WORK, card_arguments

BESIDE, OUTSIDE = "between", "outside"
COUNTED = "counted in QEMU by a plugin, 1 core: no board's speed"
# The functions in which a part begins: their source file and the beginning of their names.
PARTS = {"attention": ("mixer_attention.c", "run"), "delta": ("mixer_delta.c", "run"),
         "short convolution": ("mixer_shortconv.c", "run"), "Mamba2": ("mixer_mamba2.c", "run"),
         "feed-forward": ("ffn_dense.c", ("ffn_dense_run", "run")),
         "experts": ("ffn_experts.c", "run"), "head": ("transformer.c", "head_work"),
         BESIDE: ("layer.c", ("run_block", "layer_run", "run_parallel_mixer", "run_mixers")),
         OUTSIDE: ("transformer.c", ("transformer_pass", "transformer_logits", "layer_work"))}
NAMES = list(PARTS)
MATRIX = re.compile(r"gem[vm]_f32_(?!f32_|f16_)")
NEW_PASS = 0xff


def functions(elf):
    """[(address, end, name)] of the image, ascending."""
    out = subprocess.run(["nm", "-n", elf], check=True, capture_output=True, text=True).stdout
    found = [(int(at, 16), name)
             for at, name in re.findall(r"^([0-9a-f]+) [tT] ([\w.]+)$", out, re.M)
             if not name.startswith((".L", "$"))]
    return [(at, after[0], name) for (at, name), after in zip(found, found[1:])]


def files(elf, found):
    """{address: name of the source file}"""
    out = subprocess.run(["addr2line", "-e", elf], check=True, capture_output=True, text=True,
                         input="".join(f"{at:#x}\n" for at, _, _ in found)).stdout
    return {at: os.path.basename(line.split(":")[0])
            for (at, _, _), line in zip(found, out.splitlines())}


def write_marks(elf, found, path):
    candidates = [f for f in found if f[2].startswith(("run", "ffn_dense_run", "head_work",
                                                       "layer_", "transformer_"))]
    file_of = files(elf, candidates)
    with open(path, "w", encoding="ascii") as f:
        for at, end, name in candidates:
            for number, (source, names) in enumerate(PARTS.values()):
                names = (names,) if isinstance(names, str) else names
                if file_of[at] == source and name.split(".")[0] in names:
                    f.write(f"{at:x} {end:x} {number:x}\n")
            if name == "transformer_pass":
                f.write(f"{at:x} {end:x} {NEW_PASS:x}\n")


def make_plugin():
    out = os.path.join(BUILD, "tests/bench/parts.so")
    os.makedirs(os.path.dirname(out), exist_ok=True)
    subprocess.run([os.environ.get("CC", "cc"), "-O2", "-shared", "-fPIC", "-o", out,
                    os.path.join(HERE, "parts_plugin.c")], check=True, timeout=60)
    return out


def count_functions(machine, plugin, words, card, seconds):
    """{(pass, part, function): instructions} of one boot on one core."""
    elf = os.path.join(BUILD, machine.board, "ingot.elf")
    stem = os.path.join(WORK, os.path.basename(card) + "-" + machine.label.replace(" ", "-"))
    marks, out = stem + ".marks", stem + ".parts"
    found = functions(elf)
    starts = [at for at, _, _ in found]
    write_marks(elf, found, marks)
    status, console = machine.run(words, 1, card_arguments(card) + [
        "-plugin", f"{plugin},marks={marks},out={out}"], None, seconds)
    if status != 0 or not os.path.exists(out):
        sys.exit(f"{machine.label}: status {status}\n{console[-2000:]}")
    total = collections.Counter()
    with open(out, encoding="ascii") as lines:
        for line in lines:
            number, part, address, n = line.split()
            at = bisect.bisect_right(starts, int(address, 16)) - 1
            total[int(number), NAMES[int(part)], found[at][2] if at >= 0 else "?"] += int(n)
    return total


def split(total, passes, n_tokens):
    """{part: [instructions of matrices, other instructions]} per token."""
    found = {}
    for (number, part, function), n in total.items():
        if number in passes:
            found.setdefault(part, [0, 0])[not MATRIX.match(function)] += n / n_tokens
    return found


def count(machine, plugin, words, card, n_prompt, seconds):
    """{(part, "decode" or "prefill"): (matrices, rest)} in instructions a token. The pass
    with the most instructions computes the prompt; each later pass computes one token."""
    total = count_functions(machine, plugin, words, card, seconds)
    passes = collections.Counter()
    for (number, _, _), n in total.items():
        if number != 0:
            passes[number] += n
    prompt = passes.most_common(1)[0][0]
    behind = [number for number in passes if number > prompt]
    both = {"decode": split(total, behind, len(behind)),
            "prefill": split(total, [prompt], n_prompt)}
    return {(part, figure): tuple(both[figure][part]) for part in NAMES for figure in both
            if both[figure].get(part, [0])[0] != 0 and part not in (OUTSIDE, "head")}
