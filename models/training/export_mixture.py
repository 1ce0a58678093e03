#!/usr/bin/python3
"""Writes the trained mixture as a Hugging Face folder that `ingot pack` reads.

usage: export_mixture.py FOLDER OUT     FOLDER: of train_mixture.py"""

import os
import shutil
import sys

import torch

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from export import CONFIG, write_json, write_safetensors
from mixture import EXPERT_HIDDEN, EXPERTS, USED, Mixture, named_as_mixtral

DEMO = os.path.join(HERE, "../demo")


def main(folder, out):
    os.makedirs(out, exist_ok=True)
    for name in ("generation_config.json", "tokenizer.json", "tokenizer_config.json"):
        shutil.copy(os.path.join(DEMO, name), os.path.join(out, name))
    config = {k: v for k, v in CONFIG.items() if k not in ("attention_bias", "mlp_bias")}
    config.update({"architectures": ["MixtralForCausalLM"], "model_type": "mixtral",
                   "intermediate_size": EXPERT_HIDDEN, "num_local_experts": EXPERTS,
                   "num_experts_per_tok": USED, "sliding_window": None})
    write_json(out, "config.json", config)
    model = Mixture(os.path.join(DEMO, "model.safetensors"))
    trained = os.path.join(folder, "trained.pt")
    if os.path.exists(trained):
        model.load_state_dict(torch.load(trained, map_location="cpu"))
    else:
        state = torch.load(os.path.join(folder, "state.pt"), map_location="cpu")
        print(f"not trained to the end: step {state['done']}")
        model.load_state_dict(state["model"])
    write_safetensors(os.path.join(out, "model.safetensors"), list(named_as_mixtral(model)))


if __name__ == "__main__":
    main(*sys.argv[1:3])
