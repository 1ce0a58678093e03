"""A Llama in numpy, forward and backward: its weights do not change, its adapters (LoRA) have gradients."""

import glob
import json
import math
import os

import numpy

from safetensors_file import read_safetensors

MATRICES = {"q_proj": "self_attn", "k_proj": "self_attn", "v_proj": "self_attn", "o_proj": "self_attn",
            "gate_proj": "mlp", "up_proj": "mlp", "down_proj": "mlp"}
# Fields of config.json, with the only values that this file supports.
PLAIN = {"model_type": "llama", "hidden_act": "silu", "rope_scaling": None, "attention_bias": False,
         "mlp_bias": False, "sliding_window": None}


class Refused(Exception):
    pass


class Matrix:
    """y = x W^T + scale (x A^T) B^T."""

    def __init__(self, weight):
        self.weight, self.a, self.b, self.scale = weight, None, None, 0.0

    def adapt(self, rank, scale, draw):
        rows, columns = self.weight.shape
        self.a = draw.standard_normal((rank, columns)).astype(self.weight.dtype) / math.sqrt(columns)
        self.b = numpy.zeros((rows, rank), self.weight.dtype)
        self.scale = scale

    def forward(self, x):
        self.x = x
        y = x @ self.weight.T
        if self.a is not None:
            self.u = x @ self.a.T
            y = y + self.scale * (self.u @ self.b.T)
        return y

    def backward(self, dy):
        dx = dy @ self.weight
        if self.a is not None:
            du = self.scale * (dy @ self.b)
            self.db = self.scale * (dy.T @ self.u)
            self.da = du.T @ self.x
            dx = dx + du @ self.a
        return dx


class Norm:
    def __init__(self, weight, epsilon):
        self.weight, self.epsilon = weight, epsilon

    def forward(self, x):
        self.inverse = 1 / numpy.sqrt((x * x).mean(-1, keepdims=True) + self.epsilon)
        self.normed = x * self.inverse
        return self.normed * self.weight

    def backward(self, dy):
        d = dy * self.weight
        return (d - self.normed * (d * self.normed).mean(-1, keepdims=True)) * self.inverse


def softmax(x):
    e = numpy.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


class Attention:
    def __init__(self, layer, heads, kv_heads, head, theta):
        self.m = layer
        self.heads, self.kv_heads, self.head = heads, kv_heads, head
        self.frequency = theta ** (-numpy.arange(0, head, 2) / head)

    def rotate(self, x, sign):
        """Rotate x (T, heads, head), whose pairs are half a head apart; sign -1 is for the gradient."""
        angle = numpy.arange(len(x))[:, None, None] * self.frequency
        cos, sin = numpy.cos(angle).astype(x.dtype), sign * numpy.sin(angle).astype(x.dtype)
        a, b = numpy.split(x, 2, -1)
        return numpy.concatenate((a * cos - b * sin, a * sin + b * cos), -1)

    def forward(self, x):
        t, group = len(x), self.heads // self.kv_heads
        q = self.rotate(self.m["q_proj"].forward(x).reshape(t, self.heads, self.head), 1)
        k = self.rotate(self.m["k_proj"].forward(x).reshape(t, self.kv_heads, self.head), 1)
        v = self.m["v_proj"].forward(x).reshape(t, self.kv_heads, self.head)
        self.q = q.transpose(1, 0, 2) / math.sqrt(self.head)
        self.k = k.transpose(1, 0, 2).repeat(group, 0)
        self.v = v.transpose(1, 0, 2).repeat(group, 0)
        scores = self.q @ self.k.transpose(0, 2, 1)
        scores[:, numpy.triu_indices(t, 1)[0], numpy.triu_indices(t, 1)[1]] = -numpy.inf
        self.share = softmax(scores)
        y = (self.share @ self.v).transpose(1, 0, 2).reshape(t, -1)
        return self.m["o_proj"].forward(y)

    def of_kv(self, d):
        """Add the gradients of heads that share keys: (heads, T, head) to (T, kv_heads, head)."""
        h, t, n = d.shape
        return d.reshape(self.kv_heads, h // self.kv_heads, t, n).sum(1).transpose(1, 0, 2)

    def backward(self, dy):
        t = len(dy)
        d = self.m["o_proj"].backward(dy).reshape(t, self.heads, self.head).transpose(1, 0, 2)
        dshare = d @ self.v.transpose(0, 2, 1)
        dscores = self.share * (dshare - (dshare * self.share).sum(-1, keepdims=True))
        dq = (dscores @ self.k).transpose(1, 0, 2) / math.sqrt(self.head)
        dk = self.of_kv(dscores.transpose(0, 2, 1) @ self.q)
        dv = self.of_kv(self.share.transpose(0, 2, 1) @ d)
        return (self.m["q_proj"].backward(self.rotate(dq, -1).reshape(t, -1)) +
                self.m["k_proj"].backward(self.rotate(dk, -1).reshape(t, -1)) +
                self.m["v_proj"].backward(dv.reshape(t, -1)))


class FeedForward:
    def __init__(self, layer):
        self.m = layer

    def forward(self, x):
        self.gate, self.up = self.m["gate_proj"].forward(x), self.m["up_proj"].forward(x)
        self.share = 1 / (1 + numpy.exp(-self.gate))
        return self.m["down_proj"].forward(self.gate * self.share * self.up)

    def backward(self, dy):
        d = self.m["down_proj"].backward(dy)
        dgate = d * self.up * self.share * (1 + self.gate * (1 - self.share))
        return self.m["gate_proj"].backward(dgate) + self.m["up_proj"].backward(d * self.gate * self.share)


def check_config(config, folder):
    for field, value in PLAIN.items():
        if config.get(field, value) != value:
            raise Refused(f"{folder}: {field} is {config[field]}, and only {value} can be trained here; "
                          f"PEFT trains it, and `ingot adapter` reads what PEFT saves")


def read_folder(folder):
    with open(os.path.join(folder, "config.json"), encoding="utf-8") as f:
        config = json.load(f)
    check_config(config, folder)
    tensors = {}
    try:
        for path in sorted(glob.glob(os.path.join(glob.escape(folder), "*.safetensors"))):
            tensors.update(read_safetensors(path))
    except ValueError as error:
        raise Refused(f"{error}: only models of floats can be trained") from error
    if not tensors:
        raise Refused(f"{folder}: it has no .safetensors file")
    return config, tensors


class Llama:
    def __init__(self, folder):
        self.build(*read_folder(folder))

    def build(self, config, tensors):
        heads, width = config["num_attention_heads"], config["hidden_size"]
        kv_heads = config.get("num_key_value_heads", heads)
        head = config.get("head_dim") or width // heads
        theta, epsilon = config.get("rope_theta", 10000.0), config.get("rms_norm_eps", 1e-6)
        self.context = config.get("max_position_embeddings", 2048)
        # If the two are tied, some files have the head, others the embedding.
        self.embedding = tensors.get("model.embed_tokens.weight", tensors.get("lm_head.weight"))
        if self.embedding is None:
            raise Refused("the model's files have neither model.embed_tokens.weight nor lm_head.weight: is one of them missing?")
        self.vocabulary = len(self.embedding)
        self.head = tensors.get("lm_head.weight", self.embedding)
        self.matrices, self.blocks, self.rank = {}, [], 0
        for i in range(config["num_hidden_layers"]):
            layer = {}
            for name, part in MATRICES.items():
                full = f"model.layers.{i}.{part}.{name}"
                layer[name] = self.matrices[full] = Matrix(tensors[full + ".weight"])
            at = f"model.layers.{i}."
            self.blocks.append((Norm(tensors[at + "input_layernorm.weight"], epsilon),
                                Attention(layer, heads, kv_heads, head, theta)))
            self.blocks.append((Norm(tensors[at + "post_attention_layernorm.weight"], epsilon),
                                FeedForward(layer)))
        self.norm = Norm(tensors["model.norm.weight"], epsilon)

    def adapt(self, rank, alpha, modules, last_layers, seed):
        """Give adapters to the matrices of these names in the last `last_layers` layers (0: all)."""
        wrong = [name for name in modules if name not in MATRICES]
        if wrong:
            raise Refused(f"--modules: {wrong[0]} is not one of {', '.join(MATRICES)}")
        draw = numpy.random.default_rng(seed)
        n_layers = len(self.blocks) // 2
        self.rank = rank
        for name, matrix in self.matrices.items():
            layer, module = int(name.split(".")[2]), name.rsplit(".", 1)[1]
            if module in modules and layer >= n_layers - (last_layers or n_layers):
                matrix.adapt(rank, alpha / rank, draw)

    def names(self):
        return [name for name, m in self.matrices.items() if m.a is not None]

    def pairs(self):
        return [(name, (self.matrices[name].a, self.matrices[name].b)) for name in self.names()]

    def adapters(self):
        return [half for _, pair in self.pairs() for half in pair]

    def forward(self, ids, learned):
        """Return -log p of the learned tokens, and the probabilities of all tokens at their positions."""
        x = self.embedding[ids[:-1]]
        for norm, block in self.blocks:
            x = x + block.forward(norm.forward(x))
        self.at = numpy.flatnonzero(learned[1:])
        logits = self.norm.forward(x)[self.at] @ self.head.T
        shares = softmax(logits)
        targets = numpy.asarray(ids[1:])[self.at]
        return -numpy.log(shares[numpy.arange(len(targets)), targets] + 1e-30), shares, targets

    def loss(self, ids, learned):
        """(mean, how many)."""
        losses, _, _ = self.forward(ids, learned)
        return float(losses.mean()), len(losses)

    def gradients(self, ids, learned):
        """(mean loss, [d A, d B, ...] like adapters())."""
        losses, shares, targets = self.forward(ids, learned)
        shares[numpy.arange(len(targets)), targets] -= 1
        d = numpy.zeros((len(ids) - 1, self.embedding.shape[1]), shares.dtype)
        d[self.at] = shares @ self.head / len(targets)
        d = self.norm.backward(d)
        for norm, block in reversed(self.blocks):
            d = d + norm.backward(block.backward(d))
        return float(losses.mean()), [half for name in self.names()
                                      for half in (self.matrices[name].da, self.matrices[name].db)]
