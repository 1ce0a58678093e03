#!/usr/bin/python3
"""Writes the trained weights as a Hugging Face folder that `ingot pack` reads.

usage: export.py FOLDER OUT     FOLDER: of train.py; OUT: models/demo"""

import json
import os
import struct
import sys

import torch

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import model
from tokenizer import END, END_OF_TEXT, LLAMA3, SPECIAL, Tokenizer

TEMPLATE = ("{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + "
            "message['content'] + '<|im_end|>' + '\\n' }}{% endfor %}"
            "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}")

CONFIG = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "torch_dtype": "float32",
    "vocab_size": model.VOCABULARY, "hidden_size": model.WIDTH, "intermediate_size": model.HIDDEN,
    "num_hidden_layers": model.LAYERS, "num_attention_heads": model.HEADS,
    "num_key_value_heads": model.HEADS, "head_dim": model.HEAD_DIM,
    "max_position_embeddings": model.CONTEXT, "rope_theta": model.THETA,
    "rms_norm_eps": model.EPSILON, "hidden_act": "silu", "tie_word_embeddings": True,
    "attention_bias": False, "mlp_bias": False, "bos_token_id": END_OF_TEXT, "eos_token_id": END}


def added(i):
    return {"id": i, "content": SPECIAL[i], "single_word": False, "lstrip": False, "rstrip": False,
            "normalized": False, "special": True}


def tokenizer_json(tokenizer):
    split = {"type": "Split", "pattern": {"Regex": LLAMA3}, "behavior": "Isolated", "invert": False}
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True,
                  "use_regex": False}
    return {"version": "1.0", "truncation": None, "padding": None,
            "added_tokens": [added(i) for i in range(len(SPECIAL))], "normalizer": None,
            "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, byte_level]},
            "post_processor": None, "decoder": {"type": "ByteLevel", "add_prefix_space": True,
                                                "trim_offsets": True, "use_regex": True},
            "model": {"type": "BPE", "dropout": None, "unk_token": None, "fuse_unk": False,
                      "byte_fallback": False, "vocab": tokenizer.ids,
                      "merges": [" ".join(m) for m in tokenizer.merges]}}


def write_json(folder, name, value):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
        json.dump(value, f, ensure_ascii=False, indent=1)
        f.write("\n")


def write_safetensors(path, tensors):
    """[(name, tensor)]: F32, one after the other, as the header says."""
    header, at = {"__metadata__": {"format": "pt"}}, 0
    for name, t in tensors:
        end = at + 4 * t.numel()
        header[name] = {"dtype": "F32", "shape": list(t.shape), "data_offsets": [at, end]}
        at = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text)
        for _, t in tensors:
            f.write(t.detach().contiguous().numpy().astype("<f4").tobytes())


def load(folder):
    demo = model.Demo()
    finished = os.path.join(folder, "trained.pt")
    if os.path.exists(finished):
        demo.load_state_dict(torch.load(finished, map_location="cpu"))
    else:
        state = torch.load(os.path.join(folder, "state.pt"), map_location="cpu")
        print(f"not trained to the end: step {state['done']}")
        demo.load_state_dict(state["model"])
    return demo


def main(folder, out):
    os.makedirs(out, exist_ok=True)
    with open(os.path.join(folder, "merges.json"), encoding="utf-8") as f:
        tokenizer = Tokenizer(json.load(f))
    write_json(out, "config.json", CONFIG)
    write_json(out, "generation_config.json", {"bos_token_id": END_OF_TEXT,
                                               "eos_token_id": [END, END_OF_TEXT]})
    write_json(out, "tokenizer.json", tokenizer_json(tokenizer))
    write_json(out, "tokenizer_config.json", {
        "tokenizer_class": "PreTrainedTokenizerFast", "add_bos_token": False,
        "eos_token": SPECIAL[END], "bos_token": SPECIAL[END_OF_TEXT],
        "model_max_length": model.CONTEXT,
        "added_tokens_decoder": {str(i): {k: v for k, v in added(i).items() if k != "id"}
                                 for i in range(len(SPECIAL))}, "chat_template": TEMPLATE})
    tensors = list(model.named_as_llama(load(folder)))
    write_safetensors(os.path.join(out, "model.safetensors"), tensors)


if __name__ == "__main__":
    main(*sys.argv[1:3])
