#!/usr/bin/env python3
"""Write a seed for gguf_fuzz: a llama of one layer with every type that can be packed and no
weights; the target puts zeros behind it. usage: gguf_seed.py OUT"""
import struct
import sys

U32, F32, STRING, ARRAY, I32 = 4, 6, 8, 9, 5
TEXTS = ["<unk>", "<s>", "</s>", "<|user|>", "<0x0A>", "\u2581a", "b", "ab"]
KINDS = [2, 3, 3, 4, 6, 1, 1, 1]
# GGML's number, bytes of 256 columns
BYTES = {"F32": (0, 1024), "F16": (1, 512), "Q4_0": (2, 144), "Q8_0": (8, 272), "Q4_K": (12, 144),
         "Q6_K": (14, 210), "BF16": (30, 512)}


def text(s):
    raw = s.encode()
    return struct.pack("<Q", len(raw)) + raw


def value(key, kind, raw):
    return text(key) + struct.pack("<I", kind) + raw


def array(key, kind, items):
    return value(key, ARRAY, struct.pack("<IQ", kind, len(items)) + b"".join(items))


values = [
    value("general.architecture", STRING, text("llama")),
    value("tokenizer.ggml.model", STRING, text("llama")),
    array("tokenizer.ggml.tokens", STRING, [text(t) for t in TEXTS]),
    array("tokenizer.ggml.scores", F32, [struct.pack("<f", -i) for i in range(len(TEXTS))]),
    array("tokenizer.ggml.token_type", I32, [struct.pack("<i", k) for k in KINDS]),
    value("tokenizer.chat_template", STRING,
          text("{{ '<|user|>\n' + m['content'] + eos_token }}<|assistant|>")),
    value("llama.attention.layer_norm_rms_epsilon", F32, struct.pack("<f", 1e-5)),
]
for key, number in (("context_length", 64), ("embedding_length", 256), ("block_count", 1),
                    ("feed_forward_length", 512), ("attention.head_count", 4),
                    ("attention.head_count_kv", 2)):
    values.append(value("llama." + key, U32, struct.pack("<I", number)))

tensors, at = b"", 0
matrices = [("token_embd", 256, 8, "BF16"), ("output_norm", 256, 1, "F32"),
            ("output", 256, 8, "F16"), ("blk.0.attn_norm", 256, 1, "F32"),
            ("blk.0.attn_q", 256, 256, "Q4_K"), ("blk.0.attn_k", 256, 128, "Q4_0"),
            ("blk.0.attn_v", 256, 128, "Q6_K"), ("blk.0.attn_output", 256, 256, "Q8_0"),
            ("blk.0.ffn_norm", 256, 1, "F32"), ("blk.0.ffn_gate", 256, 512, "Q4_K"),
            ("blk.0.ffn_up", 256, 512, "Q4_K"), ("blk.0.ffn_down", 512, 256, "Q6_K")]
for name, cols, rows, kind in matrices:
    number, block = BYTES[kind]
    tensors += text(name + ".weight") + struct.pack("<IQQIQ", 2, cols, rows, number, at)
    at += (rows * cols // 256 * block + 31) // 32 * 32

with open(sys.argv[1], "wb") as out:
    out.write(struct.pack("<4sIQQ", b"GGUF", 3, len(matrices), len(values)))
    out.write(b"".join(values) + tensors)
