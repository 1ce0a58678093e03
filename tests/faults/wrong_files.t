#!/usr/bin/python3
"""Files that are not what the user thinks (a pointer of Git LFS, an HTML page, a checkpoint of another program, an adapter, a part of a model), in
every place where the host program takes a file: a message says what each is, with its path and the cure. Also models with a missing part, and the
text part of models for pictures."""

import json
import os
import shutil
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import WORK, Tap
from gguf_files import STRING, text
from hf_files import folder, random_model, write_json
from hostile import FOREIGN, INGOT, SECONDS, good

tap = Tap()
os.makedirs(WORK, exist_ok=True)
FOLDER = random_model("llama", "wrong-")
GOOD = os.path.join(WORK, "wrong-good.gguf")
good().write(GOOD)
PACKED = os.path.join(WORK, "wrong-good.ingot")


def ingot(*words):
    done = subprocess.run([INGOT, *words], capture_output=True, stdin=subprocess.DEVNULL,
                          timeout=SECONDS)
    return done.returncode, done.stderr.decode("utf-8", "replace")


def write(path, raw):
    with open(path, "wb") as out:
        out.write(raw)
    return path


def refused(name, path, words, result):
    """Check that the program prints one error message, which contains the file's path, and exits with 1."""
    status, said = result
    tap.ok(status == 1 and said.count("\n") == 1 and path in said and
           all(word in said for word in words), f"{name}: {said.split(': ', 2)[-1].strip()[:100]}",
           f"status {status}, wanted {[path] + words}\n{said[-2000:]}")


def pack(where, *more):
    return ingot("pack", where, "-o", where.rstrip("/") + ".out", "-q", *more)


status, said = ingot("pack", GOOD, "-o", PACKED, "-q")
tap.ok(status == 0, "the good GGUF is packed", said)
status, said = ingot("pack", FOLDER, "-o", FOLDER + ".out", "-q")
tap.ok(status == 0, "the good folder is packed", said)

# ---- every kind in every place -----------------------------------------------------------------


def model(n, raw):
    path = write(os.path.join(WORK, f"wrong-{n}.gguf"), raw)
    return path, pack(path)


def other_name(n, raw):
    path = write(os.path.join(WORK, f"wrong-{n}.bin"), raw)
    return path, ingot("run", path, "-q", "-p", "x")


def in_folder(name):
    def act(n, raw):
        where = shutil.copytree(FOLDER, os.path.join(WORK, f"wrong-{name}-{n}"), dirs_exist_ok=True)
        if name == "tokenizer.model":
            os.unlink(os.path.join(where, "tokenizer.json"))
        path = write(os.path.join(where, name), raw)
        result = pack(where)
        shutil.rmtree(where)
        return path, result
    return act


SINGLE = folder("wrong-single")
shutil.copy(os.path.join(FOLDER, "config.json"), SINGLE)


def single(n, raw):
    path = write(os.path.join(SINGLE, f"wrong-{n}.safetensors"), raw)
    return path, pack(path)


# A llama2.c checkpoint of version 0 with one layer and tied output.
DIM, HIDDEN, VOCAB, CONTEXT = 8, 16, 8, 16
CHECKPOINT = write(os.path.join(WORK, "wrong-llama2c.bin"), struct.pack(
    "<7i", DIM, HIDDEN, 1, 2, 2, VOCAB, CONTEXT) + bytes(4 * (
        VOCAB * DIM + DIM + 4 * DIM * DIM + DIM + 3 * DIM * HIDDEN + DIM +
        CONTEXT * DIM // 2)))


def tokenizer(n, raw):
    path = write(os.path.join(WORK, f"wrong-{n}.tokenizer"), raw)
    return path, pack(CHECKPOINT, "--tokenizer", path)


def draft(n, raw):
    path = write(os.path.join(WORK, f"wrong-{n}.draft"), raw)
    return path, ingot("run", PACKED, "--draft", path, "-q", "-n", "1", "-p", "a")


def verify(n, raw):
    path = write(os.path.join(WORK, f"wrong-{n}.ingot"), raw)
    return path, ingot("verify", path)


PLACES = [("model argument", model), ("model of another name", other_name),
          ("one safetensors file", single), ("model.safetensors", in_folder("model.safetensors")),
          ("config.json", in_folder("config.json")),
          ("tokenizer.json", in_folder("tokenizer.json")),
          ("tokenizer.model", in_folder("tokenizer.model")), ("--tokenizer", tokenizer),
          ("--draft", draft), ("verify", verify)]
rows = [(f"{what} as {place}", act, raw, words) for place, act in PLACES
        for what, raw, words in FOREIGN]
with ThreadPoolExecutor(os.cpu_count()) as pool:
    for (name, _, _, words), (path, result) in zip(rows, pool.map(
            lambda row: row[1][1](row[0], row[1][2]), enumerate(rows))):
        refused(name, path, words, result)

# ---- good formats in place of others -----------------------------------------------------------

GGUF = open(GOOD, "rb").read()
JSON = b'{"model": 1}'
WEIGHTS = open(os.path.join(FOLDER, "model.safetensors"), "rb").read()
for name, act, raw, words in [
        ("a GGUF as model.safetensors", in_folder("model.safetensors"), GGUF,
         ["is a GGUF file, not safetensors"]),
        ("a GGUF as tokenizer.model", in_folder("tokenizer.model"), GGUF,
         ["is a GGUF file, not a SentencePiece tokenizer"]),
        ("JSON as model.safetensors", in_folder("model.safetensors"), JSON,
         ["is a JSON file, not safetensors"]),
        ("JSON for --tokenizer", tokenizer, JSON,
         ["is a JSON file, not a llama2.c tokenizer", "give the folder"]),
        ("safetensors by another name", model, WEIGHTS,
         ["is a safetensors file, not a model", "must end in .safetensors"]),
        ("a GGUF to verify", verify, GGUF, ["is a GGUF file, not an .ingot file", "ingot pack"])]:
    path, result = act("format", raw)
    refused(name, path, words, result)
old = bytearray(open(PACKED, "rb").read())
struct.pack_into("<I", old, 8, 3)
path = write(os.path.join(WORK, "wrong-old.ingot"), bytes(old))
refused("an .ingot of the version before", path, ["of version 3", "reads 4", "again"], pack(path))
refused("a folder of nothing", (empty := folder("wrong-empty")), ["is"], pack(empty))
refused("a folder to verify", empty, ["is a folder, not a file"], ingot("verify", empty))

# ---- GGUF files that are not a whole model --------------------------------------------------------


def gguf(name, change, stem="wrong-gguf.gguf"):
    g = good()
    change(g)
    path = os.path.join(WORK, stem)
    g.write(path)
    return path


def u16(g, key, n):
    g.add(key, 2, struct.pack("<H", n))


def split(g):
    u16(g, "split.no", 1)
    u16(g, "split.count", 3)


def adapter(g):
    g.string("general.type", "adapter")
    g.string("adapter.type", "lora")


PART = "wrong-m-00002-of-00003.gguf"
for name, change, stem, words in [
        ("a part without the others", split, PART,
         ["2 of the model's 3 parts are missing", "wrong-m-00001-of-00003.gguf"]),
        ("a part, by its name alone", lambda g: None, PART, ["is part 2 of 3", "no split.count"]),
        ("a part of another name", split, "wrong-part.gguf",
         ["is part 2 of 3", "does not end in -00002-of-00003.gguf"]),
        ("an adapter", adapter, "wrong-gguf.gguf", ["is an adapter (LoRA)", "llama-export-lora"]),
        ("an image part", lambda g: g.string("general.type", "mmproj"), "wrong-gguf.gguf",
         ["is the image part (mmproj)", "GGUF of its text model"]),
        ("an image part, by clip", lambda g: g.string("general.architecture", "clip"),
         "wrong-gguf.gguf", ["is the image part (mmproj)"]),
        ("an importance matrix", lambda g: g.string("general.type", "imatrix"),
         "wrong-gguf.gguf", ["is an importance matrix"])]:
    path = gguf(name, change, stem)
    refused(name, path, words, pack(path))
path = gguf("", lambda g: u16(g, "split.count", 1), "wrong-m-00001-of-00001.gguf")
status, said = pack(path)
tap.ok(status == 0, "a single part of a model with one part is packed", said)

# ---- GGUF files with something missing ---------------------------------------------------------


def without(*keys):
    def change(g):
        g.values = [v for v in g.values if v[0] not in keys]
    return change


def bpe(g):
    g.string("tokenizer.ggml.model", "gpt2")
    g.array("tokenizer.ggml.merges", STRING, [text("a b")])


def no_tokenizer(g):
    g.values = [v for v in g.values if not v[0].startswith("tokenizer.")]
    g.u32("llama.vocab_size", 12)


SPM = "tokenizer.ggml."
for name, change, words in [
        ("no tokens", without(SPM + "tokens"), [SPM + "tokens is missing", "convert"]),
        ("no tokenizer and no size", without(SPM + "model"),
         [SPM + "model is missing", "llama.vocab_size", "convert"]),
        ("no pre-tokenizer", bpe, [SPM + "pre is missing", "words", "--pre-tokenizer"]),
        ("no merges", lambda g: (bpe(g), g.string(SPM + "pre", "gpt-2"),
                                 without(SPM + "merges")(g)), [SPM + "merges is missing"]),
        ("one score", lambda g: g.array(SPM + "scores", 6, [bytes(4)]),
         [SPM + "scores has 1 entry", SPM + "tokens 12"])]:
    path = gguf(name, change)
    refused(name, path, words, pack(path))
for name, change, words in [
        ("no scores", without(SPM + "scores"), [SPM + "scores is missing", "have the same score"]),
        ("no tokenizer", no_tokenizer, [SPM + "model is missing", "ids and no text"]),
        ("a tokenizer of none", lambda g: (no_tokenizer(g), g.string(SPM + "model", "none")),
         [SPM + "model is none", "ids and no text"])]:
    path = gguf(name, change)
    status, said = ingot("pack", path, "-o", path + ".out")
    quiet = pack(path)
    tap.ok(status == 0 and said.count("\n") == 1 and path in said and
           all(word in said for word in words) and quiet == (0, ""),
           f"{name} is packed, and said: {said.split(': ', 1)[-1].strip()[:90]}",
           f"{status} {said} {quiet}")

# ---- folders -----------------------------------------------------------------------------------


def bare(name, *files):
    where = folder(name)
    shutil.copy(os.path.join(FOLDER, "config.json"), where)
    for file in files:
        write(os.path.join(where, file), b"x" * 64)
    return where


for name, files, words in [
        ("a folder of PyTorch weights", ["pytorch_model.bin"],
         ["has pytorch_model.bin, a PyTorch checkpoint", "safetensors"]),
        ("a folder of a .pth", ["consolidated.00.pth"], ["consolidated.00.pth", "safetensors"]),
        ("a folder of ONNX", ["model.onnx"], ["has model.onnx, an ONNX model", "safetensors"]),
        ("a folder of GGUFs", ["b.gguf", "a.gguf"], ["has a.gguf", "give that file"])]:
    where = bare("wrong-bare", *files)
    refused(name, where, words, pack(where))
    os.unlink(os.path.join(where, "config.json"))
    refused(name + " without config.json", where, words, pack(where))
where = folder("wrong-adapter")
write_json(where, "adapter_config.json", {"peft_type": "LORA",
                                          "base_model_name_or_path": "some/base"})
shutil.copy(os.path.join(FOLDER, "model.safetensors"),
            os.path.join(where, "adapter_model.safetensors"))
for path in (where, os.path.join(where, "adapter_model.safetensors")):
    refused("an adapter", path, ["is an adapter (LoRA) of some/base", "merge_and_unload"],
            pack(path))

# ---- tied output -------------------------------------------------------------------------------


def weights(where, change):
    """Change the folder's weights by `change`, which gets {name: (dtype, shape, bytes)}."""
    path = os.path.join(where, "model.safetensors")
    with open(path, "rb") as f:
        raw = f.read()
    size, = struct.unpack_from("<Q", raw)
    tensors = {}
    for name, t in json.loads(raw[8:8 + size]).items():
        first, end = t.get("data_offsets", (0, 0))
        if name != "__metadata__":
            tensors[name] = (t["dtype"], t["shape"], raw[8 + size + first:8 + size + end])
    change(tensors)
    header, data = {}, b""
    for name, (dtype, shape, raw) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape,
                        "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    head = json.dumps(header).encode()
    write(path, struct.pack("<Q", len(head)) + head + data)


HEAD, EMBEDDING = "lm_head.weight", "model.embed_tokens.weight"


def equal_head(tensors):
    tensors[HEAD] = tensors[EMBEDDING]


def wide_head(tensors):
    """Store the embedding as fp16, and the output with the same values as floats."""
    dtype, shape, raw = tensors[EMBEDDING]
    half = b"".join(raw[i + 2:i + 4] for i in range(0, len(raw), 4))
    tensors[EMBEDDING] = ("BF16", shape, half)
    tensors[HEAD] = (dtype, shape, b"".join(b"\0\0" + half[i:i + 2]
                                            for i in range(0, len(half), 2)))


for name, tied, change, good_one in [
        ("tied, and another lm_head", True, lambda t: None, False),
        ("tied, and an equal lm_head", True, equal_head, True),
        ("tied, and an equal lm_head in another type", True, wide_head, True),
        ("not tied, and another lm_head", False, lambda t: None, True)]:
    where = random_model("llama", "wrong-tied-")
    with open(os.path.join(where, "config.json")) as f:
        config = json.load(f)
    write_json(where, "config.json", {**config, "tie_word_embeddings": tied})
    weights(where, change)
    if good_one:
        status, said = pack(where)
        tap.ok(status == 0, name + ": packed", said)
    else:
        refused(name, where, ["tie_word_embeddings is true", "lm_head.weight differs"],
                pack(where))

# ---- the text part of models for pictures ------------------------------------------------------


def make_vision(where, prefix, nested, **root):
    """Turn the folder into the text part of a model for pictures."""
    path = os.path.join(where, "config.json")
    with open(path) as f:
        config = json.load(f)
    if nested:
        config.pop("architectures", None)
        config = {"model_type": "llava", "architectures": ["LlavaForConditionalGeneration"],
                  "text_config": config}
    config.update(root)
    write_json(where, "config.json", config)

    def change(tensors):
        for name in list(tensors):
            tensors[prefix + name] = tensors.pop(name)
        if prefix:
            tensors["vision_tower.blocks.0.weight"] = tensors[prefix + EMBEDDING]
            tensors["multi_modal_projector.linear.weight"] = tensors[prefix + EMBEDDING]
    weights(where, change)


plain = random_model("llama", "wrong-plain-")
pack(plain)
wanted = open(plain + ".out", "rb").read()
TENSORS = wanted[len(wanted) // 2:]
for name, prefix, nested, root in [
        ("text_config, as LLaVA", "language_model.", True, {"image_token_index": 1}),
        ("text_config and vision_config", "model.language_model.", True,
         {"vision_config": {"depth": 1}}),
        ("an image token in a flat config", "", False, {"image_token_id": 1}),
        ("vision_config in a flat config", "", False, {"vision_config": {"depth": 1}})]:
    where = random_model("llama", "wrong-vision-")
    make_vision(where, prefix, nested, **root)
    status, said = ingot("pack", where, "-o", where + ".out")
    packed = open(where + ".out", "rb").read() if status == 0 else b""
    tap.ok(status == 0 and "is the text part of a vision-language model" in said and
           packed[len(packed) // 2:] == TENSORS, f"{name}: named, and the text part is packed",
           said)
where = random_model("llama", "wrong-vision-")
make_vision(where, "language_model.", True, image_token_index=1)
with open(os.path.join(where, "config.json")) as f:
    other = json.load(f)
other["text_config"]["model_type"] = "mamba"
write_json(where, "config.json", other)

# A FIFO into which nobody writes: no command waits for it.
fifo = os.path.join(WORK, "wrong-fifo")
if not os.path.exists(fifo):
    os.mkfifo(fifo)
for words in (["pack", fifo, "-o", fifo + ".out"], ["info", fifo], ["verify", fifo], ["run", fifo, "-p", "x"], ["send", fifo, "--to", "/dev/null"],
              ["run", PACKED, "--draft", fifo, "-q", "-p", "x"]):
    refused(f"ingot {words[0]} of a FIFO", fifo, ["is a device or a pipe"], ingot(*words))
refused("a text part that is not known", where, ["several parts", "'mamba', which is not supp"],
        pack(where))
tap.done()
