#!/usr/bin/python3
"""The packer's output and resources: memory that does not grow with the model, types that it changes, progress on a terminal."""

import json
import os
import pty
import random
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, ".."), os.path.join(HERE, "../bench")]
from gguf_files import IN_GGUF, TYPES, Gguf
from hf_files import random_model
from machine import ASSETS, HOST, ROOT, LONG, WORK, Reply, Tap, run
from pack_memory import MIXED, SMALL, SMALL_MIXTURE, measure

tap = Tap()
os.makedirs(WORK, exist_ok=True)

RANDOM = random.Random(5)
LAYERS = 32 if LONG else 16
for shape, types in ((SMALL, ("q4_k_m",)), (SMALL_MIXTURE, MIXED)):
    few = {what: kilobytes for what, _, _, kilobytes, _, _ in measure(shape, *types)}
    for what, total, status, kilobytes, _, said in measure({**shape, "layers": LAYERS}, *types):
        tap.ok(status == 0 and kilobytes < few[what] + (total >> 10) // 16,
               f"{what}: {kilobytes >> 10} MiB for {total >> 20} MiB of weights, {few[what] >> 10} for "
               f"{SMALL['layers']} of {LAYERS} layers", said)

# Every type that GGUF files have, one at a time as the type of attn_q: no other type replaces it, and the matrix takes at most 1.03 times its
# bytes in the file.
BLOCKS = {t.NAME: (t.of, t.bytes) for t in IN_GGUF}
# Types that are converted only with --type, and the bytes of a block that hold the exponents of its fp16 scale.
ASKED = {"Q8_1": (1,), "NVFP4": (), "IQ1_S": (1,), "IQ1_M": (53, 55), "IQ2_XXS": (1,), "IQ2_XS": (1,), "IQ2_S": (1,), "IQ3_XXS": (1,), "IQ3_S": (1,)}
OUT = os.path.join(WORK, "pack-type.ingot")
PATH = os.path.join(WORK, "pack-type.gguf")


def model(kind):
    g = Gguf("llama")
    g.letters(12)
    for key, value in (("context_length", 64), ("embedding_length", 256), ("block_count", 1),
                       ("feed_forward_length", 256), ("attention.head_count", 4)):
        g.u32("." + key, value)
    g.f32(".attention.layer_norm_rms_epsilon", 1e-5)
    shapes = [("token_embd", (256, 12)), ("output_norm", (256,)), ("blk.0.attn_norm", (256,)),
              ("blk.0.ffn_norm", (256,))]
    shapes += [("blk.0." + n, (256, 256)) for n in ("attn_q", "attn_k", "attn_v", "attn_output",
                                                    "ffn_gate", "ffn_up", "ffn_down")]
    for name, dims in shapes:
        elements = dims[0] * (dims[1] if len(dims) > 1 else 1)
        of, size = BLOCKS[kind] if name == "blk.0.attn_q" else BLOCKS["F32"]
        raw = bytes(elements // of * size)
        if name == "blk.0.attn_q" and kind in ASKED:
            raw = b"".join(small_block(kind, size) for _ in range(elements // of))
        g.tensor(name + ".weight", dims, kind if name == "blk.0.attn_q" else "F32", raw)
    g.write(PATH)


def small_block(kind, size):
    """A block with random values, whose scale is finite and small."""
    block = bytearray(RANDOM.randbytes(size))
    for at in range(4 if kind == "NVFP4" else 0):
        block[at] &= 0x3f
    for at in ASKED[kind]:
        block[at] = block[at] & 0x03 | 0x20 if kind != "IQ1_M" else block[at] & 0x0f | (0x20 if at == 55 else 0)
    return bytes(block)


if os.path.exists(OUT):  # the output of the rows above, or of an earlier run
    os.remove(OUT)
for kind in ASKED:
    model(kind)
    status, said = run([HOST, "pack", PATH, "-o", OUT])
    tap.ok(status == 1 and f"attn_q has weights in {kind}, " in said and "`ingot pack --type q8_0`" in said and "q4_k_m" in said and not os.path.exists(OUT),
           f"{kind}: is refused without --type, and the error says which", said)
    status, said = run([HOST, "run", PATH, "-p", "a", "-n", "1"])
    tap.ok(status == 1 and f"weights in {kind}, " in said, f"{kind}: `ingot run` says the same", said)
    status, said = run([HOST, "pack", PATH, "-o", OUT, "--head", "q8_0"])
    tap.ok(status == 1 and f"weights in {kind}, " in said, f"{kind}: --head alone names no type for it", said)
    for to in ("q8_0", "f32", "q4_k_m"):
        status, said = run([HOST, "pack", PATH, "-o", OUT, "--type", to])
        lost = re.search(r"differ from the file's by an NMSE of (\S+) ", said)
        tap.ok(status == 0 and (to == "f32" or f"{kind} weights are quantized again as {to[:4]}" in said) and
               (float(lost.group(1)) < {"q8_0": 1e-4, "q4_k_m": 0.02}[to] if lost else to != "q4_k_m"),
               f"{kind}: --type {to} converts it" + (f", NMSE {lost.group(1)}" if lost else ""), said)
        status, said = run([HOST, "run", OUT, "-p", "a", "-n", "2"])
        tap.ok(status == 0, f"{kind}: and the result runs", said)
        os.remove(OUT)

for kind in TYPES:
    if kind in ASKED:
        continue
    model(kind)
    status, said = run([HOST, "pack", PATH, "-o", OUT])
    told = re.findall(r": (\S+) weights are stored as (\w+)", said)
    wanted = [(kind, "f16")] if kind == "BF16" else []
    info = run([HOST, "info", OUT, "--json"])[1]
    ours = {c["tensors"]: c["bytes"] for c in json.loads(info)["classes"]}["attn_q"] if status == 0 else 1 << 40
    of, size = BLOCKS[kind]
    tap.ok(status == 0 and told == wanted and ours <= 1.03 * (256 * 256 // of * size),
           f"{kind}: " + ("becomes f16, which is said" if wanted else "needs no other type") + f", {ours / (256 * 256 // of * size):.3f} of its bytes", said)
model("Q6_K")
status, said = run([HOST, "pack", PATH, "-o", OUT, "--type", "q4_0"])
tap.ok(status == 0 and "Q6_K weights are quantized again as q4_0" in said,
       "a type that was asked for and rounds once more is said too", said)
status, said = run([HOST, "pack", PATH, "-o", OUT, "--head", "q4_0"])
tap.ok(status == 0 and "weights are" not in said,
       "a type that --head asked for is not taken for the packer's choice", said)
DEMO = os.path.join(ROOT, "models/demo")
status, said = run([HOST, "pack", DEMO, "-o", OUT, "--head", "q2_k"])
tap.ok(status == 0 and "stored as iq4_nl, because their columns are not a multiple of 256: token_embedding\n" in said,
       "--head alone: a type that does not suit the columns is named", said)
os.remove(OUT)
status, said = run([HOST, "pack", PATH, "-o", OUT, "--type", "auto", "--size", "9K"])
tap.ok(status == 1 and said.count("\n") == 1 and "does not fit into 9216 bytes" in said and not os.path.exists(OUT),
       "--type auto: if the size is too small, nothing is said about types", said)
status, said = run([HOST, "pack", DEMO, "-o", OUT, "--type", "q4_k_m"])
tap.ok(status == 0 and re.search("as q5_., because .*: .*attn_v", said) and re.search("as q8_0, because .*: .*attn_v", said),
       "a role whose layers get two types is in the lists of both", said)
status, said = run([HOST, "pack", DEMO, "-o", OUT, "--type", "q4_0"])
lost = re.search(r"differ from the file's by an NMSE of (\S+) ", said)
tap.ok(status == 0 and lost and 1e-4 < float(lost.group(1)) < 0.02, f"how much is lost is said: NMSE {lost.group(1) if lost else '?'}", said)
status, said = run([HOST, "pack", DEMO, "-o", OUT])
tap.ok(status == 0 and "NMSE" not in said, "a packing that loses nothing says nothing about loss", said)
status, said = run([HOST, "pack", PATH, "-o", OUT, "--type", "q4_0", "-q"])
tap.ok(status == 0 and said == "", "-q: nothing is said", said)
SHORT = random_model("llama", "pack-")  # trained for 64 tokens
CONFIG = os.path.join(SHORT, "config.json")
LETTERS = os.path.join(WORK, "pack-letters.txt")
for text, wanted in (("Once upon a time " * 40, " before, "), ("Once", "a window needs 64: take a longer text\n")):
    with open(LETTERS, "w") as f:
        f.write(text)
    status, said = run([HOST, "pack", SHORT, "-o", OUT, "--type", "q4_0", "--calibrate", LETTERS, "-q"])
    tap.ok(status == (0 if "before" in wanted else 1) and wanted in said,
           f"--calibrate of a model that was trained for 64 tokens: {wanted.strip()}", said)
status, said = run([HOST, "pack", CONFIG, "-o", OUT])
tap.ok(status == 1 and said.count("\n") == 1 and "give the folder" in said,
       f"config.json by itself: {said.strip().split(': ', 2)[-1]}", said)
LINK, PIPE = os.path.join(WORK, "pack-link.gguf"), os.path.join(WORK, "pack-pipe")
for path in (LINK, PIPE):
    if os.path.lexists(path):
        os.unlink(path)
os.link(PATH, LINK)
os.mkfifo(PIPE)
for out, words in ((PATH, "it is the input"), (LINK, "it is the input"), (WORK, "not an ordinary file"),
                   (PIPE, "not an ordinary file"), (OUT + "/x", "cannot be written")):
    status, said = run([HOST, "pack", PATH, "-o", out])
    tap.ok(status == 1 and said.count("\n") == 1 and words in said and
           os.path.exists(out) == (out != OUT + "/x"),
           f"-o {os.path.basename(out)}: {said.strip().split(': ', 2)[-1]}", said)
with open(PATH, "rb") as f:
    tap.ok(f.read(4) == b"GGUF" and not os.path.isfile(PIPE), "no refused output was changed")
for word, wrong in (("--type", "q9"), ("--head", "q4_k_m"), ("--experts-type", "q4_k_m"),
                    ("--colour", "red")):
    status, said = run([HOST, "pack", PATH, "-o", OUT, word, wrong])
    tap.ok(status == 2 and said.count("\n") == 1 and "pack --help" in said,
           f"{word} {wrong}: {said.strip()}", said)

model("F32")
with open(PATH, "rb") as f:
    raw = f.read()
run([HOST, "pack", PATH, "-o", OUT, "-q"])
with open(OUT, "rb") as f:
    three = f.read()
with open(PATH, "wb") as f:
    f.write(raw[:4] + b"\2" + raw[5:])
status, said = run([HOST, "pack", PATH, "-o", OUT, "-q"])
with open(OUT, "rb") as f:
    tap.ok(status == 0 and f.read() == three, "GGUF version 2 is packed to the same bytes", said)

# llama2.c's checkpoints, compared with llama2.c's own output; int8 in groups of 4, compared with the floats that they represent.
LLAMA2C, REFS = (os.path.join(ASSETS, d) for d in ("llama2c", "refs/llama2c"))
SHOGGOTH = "One day, Lily met a Shoggoth"
for name, prompt, ref in (("stories260K.bin", SHOGGOTH, "stories260K.t0.n64.prompt-shoggoth"),
                          ("stories260K.v1.bin", "", "stories260K.t0.n64"),
                          ("stories260K-q8-group4.bin", "", "stories260K-q8-group4.t0.n64")):
    if not os.path.exists(os.path.join(LLAMA2C, name)):
        tap.skip(name, f"no {LLAMA2C} (set INGOT_ASSETS)")
        continue
    status, said = run([HOST, "run", os.path.join(LLAMA2C, name), "-p", prompt, "-n", "64",
                        "--temp", "0", "-q"])
    text = prompt + Reply(said).text if prompt else Reply(said).text
    with open(os.path.join(REFS, ref + ".txt"), encoding="utf-8") as f:
        wanted = f.read().strip("\n")
    # llama2.c's count of tokens includes the prompt's tokens
    tap.ok(status == 0 and len(wanted) > 100 and text.startswith(wanted),
           f"{name}: {len(wanted)} characters as llama2.c has them", f"{text}\n{wanted}\n{said}")

# Progress is shown after a second of work: 135 million weights.
master, slave = pty.openpty()
child = subprocess.Popen([HOST, "synth", "--shape", "smol135", "--type", "q8_0", "-o", OUT],
                         stderr=slave, stdout=slave, stdin=subprocess.DEVNULL)
os.close(slave)
shown = b""
while True:
    try:
        piece = os.read(master, 4096)
    except OSError:
        break
    if not piece:
        break
    shown += piece
child.wait(timeout=300)
os.close(master)
os.unlink(OUT)
bars = re.findall(r"\rpacking \[([#.]{32})\] +(\d+) % of (\d+) MB, \d+ MB/s", shown.decode())
tap.ok(child.returncode == 0 and (bars or len(shown) == 0) and
       [int(b[1]) for b in bars] == sorted(int(b[1]) for b in bars) and
       all(abs(b[0].count("#") - int(b[1]) * .32) < 1.5 for b in bars),
       f"a bar that grows with the work, drawn {len(bars)} times", shown[-300:])
tap.done()
