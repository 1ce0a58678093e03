#!/usr/bin/python3
"""Trains an adapter (LoRA) from the turns of a log, with numpy on the CPU.

usage: lora.py BASE TURNS.jsonl -o OUT [options]

BASE is the Hugging Face folder that the model was packed from: a Llama without experts, biases and
scaled positions. TURNS.jsonl is what `ingot log` prints. Turns that were taken back (/undo) or called
bad (/bad) are left out; the replies of the others are learned. OUT becomes a PEFT folder:

  ingot adapter OUT --base MODEL.ingot -o adapters/NAME.ingot"""

import argparse
import json
import os
import sys

import numpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from lora_llama import Llama, Refused
from safetensors_file import write_safetensors


def read_turns(path, crc=None):
    """Return the turns to learn, in order."""
    turns, ratings = [], {}
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            try:
                row = json.loads(line)
            except ValueError as error:
                raise Refused(f"{path}: line {number} is not JSON: {error}") from error
            if "of" in row:
                ratings[row["of"]] = row["rating"]
            elif "ids" in row and crc in (None, row.get("crc")):
                turns.append(row)
    if len({row.get("crc") for row in turns}) > 1:
        found = ", ".join(sorted({str(row.get("crc")) for row in turns}))
        raise Refused(f"{path}: turns of several models, whose ids mean other words: "
                      f"--crc takes one of {found}")
    return [row for row in turns if ratings.get(row.get("n")) not in ("bad", "undone")]


def conversations(turns, most):
    """Return [(ids, learned)], of `most` tokens at most: learned[i] is true if the model must learn to say ids[i]. A
    turn that begins where the one before ended continues its conversation."""
    talks = []
    for row in turns:
        ids, learned = row["ids"], [i >= row["reply_at"] for i in range(len(row["ids"]))]
        if talks and row["start"] == len(talks[-1][0]):
            learned[0] = talks[-1][2] is not None  # the token that ended the reply before
            ids, learned = talks[-1][0] + ids, talks[-1][1] + learned
            talks.pop()
        talks.append((ids, learned, row["end_id"] if row["end"] == "end" else None))
    ended = [(ids, learned) if end is None else (ids + [end], learned + [True])
             for ids, learned, end in talks]
    return [(ids[:most], learned[:most]) for ids, learned in ended if any(learned[1:most])]


class Adam:
    def __init__(self, parameters, rate):
        self.parameters, self.rate, self.steps = parameters, rate, 0
        self.mean = [numpy.zeros_like(p) for p in parameters]
        self.square = [numpy.zeros_like(p) for p in parameters]

    def step(self, gradients, share):
        self.steps += 1
        rate = self.rate * share * (1 - 0.98 ** self.steps) ** 0.5 / (1 - 0.9 ** self.steps)
        for p, g, m, s in zip(self.parameters, gradients, self.mean, self.square):
            m += 0.1 * (g - m)
            s += 0.02 * (g * g - s)
            p -= rate * m / (numpy.sqrt(s) + 1e-8)


def mean_loss(model, talks):
    pairs = [model.loss(*talk) for talk in talks]
    return sum(loss * n for loss, n in pairs) / sum(n for _, n in pairs)


def train(model, talks, steps, rate, seed):
    """Train on one conversation in each step, in an order that the seed determines; the rate falls to 0."""
    draw = numpy.random.default_rng(seed)
    adam = Adam(model.adapters(), rate)
    order = []
    for step in range(steps):
        if not order:
            order = list(draw.permutation(len(talks)))
        loss, gradients = model.gradients(*talks[order.pop()])
        adam.step(gradients, 1 - step / steps)
        if (step + 1) % max(1, steps // 10) == 0:
            print(f"step {step + 1} of {steps}, loss {loss:.4f}", flush=True)


def save(model, folder, base, alpha):
    os.makedirs(folder, exist_ok=True)
    modules = sorted({name.rsplit(".", 1)[1] for name in model.names()})
    config = {"peft_type": "LORA", "task_type": "CAUSAL_LM", "base_model_name_or_path": base, "r": model.rank,
              "lora_alpha": alpha, "lora_dropout": 0.0, "bias": "none", "fan_in_fan_out": False,
              "target_modules": modules}
    with open(os.path.join(folder, "adapter_config.json"), "w", encoding="utf-8") as f:
        json.dump(config, f, indent=1)
    write_safetensors(os.path.join(folder, "adapter_model.safetensors"),
                      {f"base_model.model.{name}.lora_{half}.weight": array
                       for name, pair in model.pairs() for half, array in zip("AB", pair)})


def read_arguments(words):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("base", help="Hugging Face folder of the model")
    parser.add_argument("turns", help="what `ingot log` prints")
    parser.add_argument("-o", "--output", required=True, help="folder to write")
    parser.add_argument("--rank", type=int, default=8, help="rank of the matrices (default: 8)")
    parser.add_argument("--alpha", type=float, default=16, help="alpha / rank scales the adapter (default: 16)")
    parser.add_argument("--modules", default="q_proj,k_proj,v_proj,o_proj,gate_proj,up_proj,down_proj",
                        help="matrices that get an adapter (default: all seven)")
    parser.add_argument("--layers", type=int, default=0, help="train only the last so many layers (default: all)")
    parser.add_argument("--steps", type=int, default=300, help="conversations to learn from (default: 300)")
    parser.add_argument("--rate", type=float, default=2e-3, help="learning rate (default: .002)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the first A and of the order (default: 1)")
    parser.add_argument("--crc", help="take only the turns of this model")
    return parser.parse_args(words)


def main(words):
    a = read_arguments(words)
    try:
        turns = read_turns(a.turns, a.crc)
        model = Llama(a.base)
        model.adapt(a.rank, a.alpha, a.modules.split(","), a.layers, a.seed)
        talks = conversations(turns, model.context)
        if not talks:
            raise Refused(f"{a.turns}: it has no turn with a reply to learn from; log=on keeps turns on the board")
        if max(max(ids) for ids, _ in talks) >= model.vocabulary:
            raise Refused(f"{a.turns}: they have token ids that {a.base} does not have, so they are from another model")
    except (Refused, OSError, UnicodeDecodeError) as error:
        sys.exit(f"lora.py: {error}")
    before = mean_loss(model, talks)
    print(f"{len(talks)} conversations, {sum(sum(l) for _, l in talks)} tokens to learn, "
          f"loss {before:.4f}", flush=True)
    train(model, talks, a.steps, a.rate, a.seed)
    print(f"loss {before:.4f} -> {mean_loss(model, talks):.4f}")
    save(model, a.output, a.base, a.alpha)
    print(f"{a.output}: `ingot adapter {a.output} --base MODEL.ingot -o adapters/NAME.ingot` makes an adapter of it")


if __name__ == "__main__":
    main(sys.argv[1:])
