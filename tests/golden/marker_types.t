#!/usr/bin/python3
"""Turn markers whose type in the file is normal text: each is one token if the template writes it, ends a reply if it ends a turn, and cannot be
typed by a user. The vocabularies are made up, for every kind of tokenizer and every family of markers. It needs no assets."""

import json
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from gguf_files import I32, STRING, F32, Gguf, text
from hf_files import folder, random_model, write_json
from machine import HOST, WORK, Tap, run

DIM, NORMAL, CONTROL, USER, BYTE = 32, 1, 3, 4, 6
tap = Tap()
os.makedirs(WORK, exist_ok=True)


def template(start, end, between="\n"):
    """A chat template that puts each message between two strings; ROLE in them stands for the role's name."""
    begin = "'" + start.replace("ROLE", "' + m['role'] + '") + "'"
    return ("{% for m in messages %}{{ " + begin + " + m['content'] + '" + end + between + "' }}{% endfor %}"
            "{% if add_generation_prompt %}{{ '" + start.replace("ROLE", "assistant") + "' }}{% endif %}").replace("\n", "\\n")


def gguf(kind, markers, jinja, types=NORMAL, eos="</s>"):
    """Bytes, letters and markers: SentencePiece by score ("llama"), or byte-level BPE with merges ("gpt2") that join the letters of the first
    marker."""
    g = Gguf("llama")
    for key, value in ((".context_length", 64), (".embedding_length", DIM), (".block_count", 1), (".feed_forward_length", DIM),
                       (".attention.head_count", 2), (".attention.head_count_kv", 2)):
        g.u32(key, value)
    g.f32(".attention.layer_norm_rms_epsilon", 1e-5)
    if kind == "gpt2":
        names = [chr(b) if 33 <= b <= 126 else chr(256 + b) for b in range(127)]
        tokens = [(n, NORMAL) for n in names]
        joined, merges = "", []
        for c in markers[0] if markers[0].isascii() else "":
            if joined:
                merges.append(f"{joined} {c}")
                tokens += [(joined + c, NORMAL)] if joined + c not in markers else []
            joined += c
        g.string("tokenizer.ggml.pre", "falcon3")
        g.array("tokenizer.ggml.merges", STRING, [text(m) for m in merges])
        tokens = [("<unk>", CONTROL), ("<s>", CONTROL), (eos, CONTROL)] + tokens
    else:
        tokens = [("<unk>", 2), ("<s>", CONTROL), (eos, CONTROL)] + [(f"<0x{b:02X}>", BYTE) for b in range(256)]
    tokens += [(m, types) for m in markers if m != eos]
    g.string("tokenizer.ggml.model", kind)
    g.array("tokenizer.ggml.tokens", STRING, [text(t) for t, _ in tokens])
    if kind != "gpt2":
        g.array("tokenizer.ggml.scores", F32, [struct.pack("<f", -1.0)] * len(tokens))
    g.array("tokenizer.ggml.token_type", I32, [struct.pack("<i", t) for _, t in tokens])
    g.u32("tokenizer.ggml.bos_token_id", 1)
    g.u32("tokenizer.ggml.eos_token_id", 2)
    if jinja is not None:
        g.string("tokenizer.chat_template", jinja)
    ones, zeros = struct.pack("<f", 1.0) * DIM, bytes(4 * DIM * DIM)
    g.tensor("token_embd.weight", (DIM, len(tokens)), "F32", bytes(4 * DIM * len(tokens)))
    for name in ("output_norm", "blk.0.attn_norm", "blk.0.ffn_norm"):
        g.tensor(name + ".weight", (DIM,), "F32", ones)
    for name in ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"):
        g.tensor(f"blk.0.{name}.weight", (DIM, DIM), "F32", zeros)
    path = os.path.join(WORK, "markers.gguf")
    g.write(path)
    return path


def info(path):
    status, console = run([HOST, "info", path, "--json"])
    return (json.loads(console[console.index("{"):]) if status == 0 else None), console


def names(tokens):
    return {t["text"] for t in tokens}


FAMILIES = [  # markers, the template's strings, the end of a turn
    ("ChatML", ["<|im_start|>", "<|im_end|>"], "<|im_start|>ROLE\n", "<|im_end|>"),
    ("Llama 3", ["<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"], "<|start_header_id|>ROLE<|end_header_id|>\n\n", "<|eot_id|>"),
    ("Gemma", ["<start_of_turn>", "<end_of_turn>"], "<start_of_turn>ROLE\n", "<end_of_turn>"),
    ("Phi 3", ["<|user|>", "<|assistant|>", "<|system|>", "<|end|>"], "<|ROLE|>\n", "<|end|>"),
    ("Zephyr", ["<|user|>", "<|assistant|>", "<|system|>", "</s>"], "<|ROLE|>\n", "</s>"),
    ("OpenChat", ["<|end_of_turn|>"], "GPT4 ROLE: ", "<|end_of_turn|>"),
    ("Granite", ["<|start_of_role|>", "<|end_of_role|>", "<|end_of_text|>"], "<|start_of_role|>ROLE<|end_of_role|>", "<|end_of_text|>"),
    ("Command R", ["<|START_OF_TURN_TOKEN|>", "<|END_OF_TURN_TOKEN|>"], "<|START_OF_TURN_TOKEN|>ROLE: ", "<|END_OF_TURN_TOKEN|>"),
    ("DeepSeek", ["<\uff5cUser\uff5c>", "<\uff5cend\u2581of\u2581sentence\uff5c>"], "<\uff5cUser\uff5c>ROLE: ", "<\uff5cend\u2581of\u2581sentence\uff5c>"),
    ("made up", ["<turn:begin>", "<turn:over>"], "<turn:begin>ROLE\n", "<turn:over>"), ("brackets", ["[BEGIN]", "[DONE]"], "[BEGIN]ROLE: ", "[DONE]"),
]
for family, markers, start, end in FAMILIES:
    for kind in ("llama", "gpt2"):
        for types in (NORMAL, USER, 0):
            model, console = info(gguf(kind, markers, template(start, end), types))
            control = names(model["tokenizer"]["control"]["first"]) if model else set()
            tap.ok(model is not None and set(markers) <= control, f"{family}, {kind}, type {types}: control tokens", console)
            tap.ok(model is not None and end in names(model["stops_at"]), f"{family}, {kind}, type {types}: a reply ends at {end}", console)
    path = gguf("gpt2" if markers[0].isascii() else "llama", markers, template(start, end))
    status, said = run([HOST, "pack", path, "-o", os.path.join(WORK, "markers.ingot")])
    tap.ok(status == 0 and ("with the type of normal text" in said) == (markers != ["</s>"]) and markers[0] in said, f"{family}: the file's fault is reported", said)
    status, ids = run([HOST, "tokenize", path, "-p", "".join(m for m in markers if m != "</s>"), "--ids", "--no-bos"])
    tap.ok(status == 0 and len(ids.split()) > 3, f"{family}: a user's text stays text", ids)

# Names of tokens that end a reply if there is no template, and a name that only looks similar.
for name in ("<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<end_of_turn>", "<|end|>", "<|return|>", "<|endoftext|>", "<|end_of_text|>", "<|call|>",
             "<|eot|>", "<end_of_utterance>", "<EOT>", "[EOT]", "_<EOT>"):
    model, console = info(gguf("llama", [name], None))
    tap.ok(model is not None and name in names(model["stops_at"]), f"{name} ends a reply", console)
for name in ("</s>", "<b>", "<|>", "<| |>", "<|1|>", "[0]", "<turn:over>", "<tool>"):
    model, console = info(gguf("llama", [name], None, eos="<eos>"))
    tap.ok(model is not None and name not in names(model["stops_at"]) and name not in names(model["tokenizer"]["control"]["first"]),
           f"{name} stays text", console)
model, console = info(gguf("llama", ["<think>", "</think>", "<|im_end|>"], template("<|im_start|>ROLE\n", "<|im_end|>").replace(
    "<|im_start|>assistant\\n' }}{% endif", "<|im_start|>assistant\\n<think>' }}{% endif")))
tap.ok(model is not None and "<think>" in names(model["tokenizer"]["user_defined"]["first"]), "the mark of thoughts is one token that is shown", console)

# A folder's generation_config.json gives the end tokens as numbers. A line feed among the end tokens is still text.
where = random_model("llama", "markers-")
with open(os.path.join(where, "tokenizer.json"), encoding="utf-8") as f:
    tokenizer = json.load(f)
vocab = tokenizer["model"]["vocab"]
old = next(t for t, i in vocab.items() if i == 50)
del vocab[old]
vocab["<over>"] = 50
write_json(where, "tokenizer.json", tokenizer)
write_json(where, "generation_config.json", {"eos_token_id": [50, 51]})
model, console = info(where)
tap.ok(model is not None and {50, 51} <= {t["id"] for t in model["stops_at"]} and names(model["tokenizer"]["control"]["first"]) == {"<s>", "<over>"},
       "an end by its number in generation_config.json", console)

# ---- tokens of a text over JSON equal those of the command line

for kind in ("llama", "gpt2"):
    path = gguf(kind, ["<|im_end|>"], template("<|im_start|>ROLE\n", "<|im_end|>"))
    for words in ("ab", " ab", "a b", "\u00e9", ""):
        said = run([HOST, "chat", path, "--mode", "json"], stdin=(json.dumps({"tokenize": words}) + "\n").encode())[1]
        line = run([HOST, "tokenize", path, "-p", words, "--ids", "--no-bos"])[1]
        events = [json.loads(row) for row in said.split("\n") if row.startswith("{")]
        rows = [row for row in line.split("\n") if row.replace(" ", "").isdigit()]
        ids = next((e["ids"] for e in events if e.get("event") == "tokens"), None)
        tap.ok(ids == [int(i) for i in " ".join(rows).split()], f"{kind}: tokens of {words!a} over JSON", f"{ids} for {line} {said}")
tap.done()
