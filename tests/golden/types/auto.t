#!/usr/bin/python3
"""`ingot pack --type auto --size N`: no file is larger than requested, no single type of the same size loses less, and all machines compute the same
results with the chosen types. The demo model is widened with zeros, so that every type can be used."""

import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
from machine import ARM64, HOST, RISCV64_WIDE, ROOT, WORK, Reply, Tap, card_arguments, make_card, run
from widened import widened_folder

LINE = re.compile(r"^(\S+) +(\w+) +(\d+) x (\d+) +(\S+) +(\w+) +[\d.]+ +(\S+) ", re.M)
PROMPT = "Hello! Who are you?"
tap = Tap()
os.makedirs(WORK, exist_ok=True)
WIDE = os.path.join(WORK, "auto-types-demo")
widened_folder(os.path.join(ROOT, "models/demo"), WIDE, 256, layers=2)


def packed(name, *words):
    """(path, what was said, {(layer, tensor): (type, NMSE times weights)})"""
    out = os.path.join(WORK, f"auto-types-{name}.ingot")
    status, said = run([HOST, "pack", WIDE, "-o", out, "--report", *words])
    rows = {(layer, tensor): (to, float(loss.lstrip("<")) * int(rows) * int(cols)) for layer, tensor, rows, cols, _, to, loss in LINE.findall(said)}
    if status == 0:
        return out, said, rows
    return None, said, rows


def size(path):
    return os.path.getsize(path)


# ---- the size is kept, and well used --------------------------------------------------------------

single = {kind: packed(kind, "--type", kind) for kind in ("q8_0", "q6_k", "q5_k", "q4_k", "iq4_nl", "q3_k")}
files = {}
for kind, (path, said, rows) in single.items():
    auto, words, chosen = files[kind] = packed(f"like-{kind}", "--type", "auto", "--size", str(size(path)))
    if auto is None:
        tap.ok(False, f"auto in the bytes of {kind}", words)
        continue
    tap.ok(.97 * size(path) <= size(auto) <= size(path), f"auto in the bytes of {kind}: {size(auto)} of {size(path)}", words)
    ours, theirs = (sum(loss for _, loss in rows.values()) for rows in (chosen, rows))
    tap.ok(len(chosen) == len(rows) and ours <= 1.5 * theirs, f"its matrices lose {ours / theirs:.2f} of what they lose in {kind}, each weight alike", words)
tap.ok(len({to for to, _ in files["q4_k"][2].values()}) > 1, "it takes several types", files["q4_k"][1])
again, _, _ = packed("again", "--type", "auto", "--size", str(size(single["q4_k"][0])))
with open(again, "rb") as one, open(files["q4_k"][0], "rb") as two:
    tap.ok(one.read() == two.read(), "equal input and size give equal bytes")

# ---- the ends ------------------------------------------------------------------------------------------

_, words, _ = packed("none", "--type", "auto", "--size", "1K")
least = re.search(r"the smallest file that --type auto makes has (\d+)", words)
tap.ok(least, "a size that nothing fits names the smallest", words)
if least:
    least = int(least.group(1))
    path, words, _ = packed("least", "--type", "auto", "--size", str(least))
    tap.ok(path and size(path) == least, f"the smallest size is packed: {least} bytes", words)
    path, words, _ = packed("less", "--type", "auto", "--size", str(least - 1))
    tap.ok(path is None, "a size of one byte less is refused", words)
path, words, rows = packed("most", "--type", "auto", "--size", "1G")
tap.ok(path and {loss for _, loss in rows.values()} == {0}, "with a size that is large enough nothing is lost", words)
path, words, rows = packed("head", "--type", "auto", "--size", str(size(single["q5_k"][0])), "--head", "q8_0")
tap.ok(rows.get(("-", "token_embedding"), ("",))[0] == "q8_0" and size(path) <= size(single["q5_k"][0]), "--head is applied, within the size", words)
for words, wrong in ((("--type", "auto"), "--size 90M"), (("--size", "1M"), "--type auto"), (("--type", "auto", "--size", "much"), "--size")):
    status, said = run([HOST, "pack", WIDE, "-o", os.path.join(WORK, "auto-types-no.ingot"), *words])
    tap.ok(status == 2 and wrong in said, f"{' '.join(words)}: a sentence", said)
status, said = run([HOST, "synth", "--shape", "tiny", "--type", "auto", "-o", os.path.join(WORK, "auto-types-no.ingot")])
tap.ok(status == 2 and "made-up" in said, "a made-up model has no such type", said)

# ---- the same on every machine ---------------------------------------------------------------------------

model = files["q4_k"][0]
card = make_card("auto-types.img", model)
cells = {
    "host": lambda: run([HOST, "run", model, "-p", PROMPT, "--temp", "0", "-n", "8", "--ids", "-q"]),
    **{m.board: lambda m=m: m.run(f'prompt="{PROMPT}" temp=0 n=8 ids cores=2', 2, card_arguments(card)) for m in (ARM64, RISCV64_WIDE)},
}
with ThreadPoolExecutor(os.cpu_count()) as pool:
    results = {name: Reply(got[1]) for name, got in zip(cells, pool.map(lambda cell: cell(), cells.values()))}
for name, reply in results.items():
    tap.ok(reply.hash and reply.hash == results["host"].hash and reply.ids == results["host"].ids, f"{name}: logits {reply.hash}", reply.console)
tap.done()
