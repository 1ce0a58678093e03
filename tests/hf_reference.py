"""Computes a model in a Hugging Face folder in plain Python and double precision, as the models are described: an oracle
for families and options whose logits the assets do not have. It is slow, and for models of a few thousand weights."""

import json
import math
import os
import struct


def load(folder):
    """(config, {name: list of rows, or list of numbers})"""
    with open(os.path.join(folder, "config.json"), encoding="utf-8") as f:
        config = json.load(f)
    with open(os.path.join(folder, "model.safetensors"), "rb") as f:
        raw = f.read()
    n = struct.unpack_from("<Q", raw)[0]
    tensors = {}
    for name, entry in json.loads(raw[8:8 + n]).items():
        first, end = entry["data_offsets"]
        data = raw[8 + n + first:8 + n + end]
        if entry["dtype"] == "BF16":
            data = b"".join(b"\0\0" + data[i:i + 2] for i in range(0, len(data), 2))
        form = "e" if entry["dtype"] == "F16" else "f"
        values = list(struct.unpack(f"<{len(data) // struct.calcsize(form)}{form}", data))
        if len(entry["shape"]) == 2:
            cols = entry["shape"][1]
            values = [values[i:i + cols] for i in range(0, len(values), cols)]
        tensors[name] = values
    return config, tensors


def dot(a, b):
    return math.fsum(x * y for x, y in zip(a, b))


def multiply(matrix, x):
    return [dot(row, x) for row in matrix]


def add(*vectors):
    return [sum(values) for values in zip(*vectors)]


def transposed(matrix):
    return [list(column) for column in zip(*matrix)]


def rms_norm(x, w, eps, plus=0.0):
    scale = 1 / math.sqrt(dot(x, x) / len(x) + eps)
    return [v * scale * (plus + g) for v, g in zip(x, w)]


def layer_norm(x, w, b, eps):
    mean = sum(x) / len(x)
    centred = [v - mean for v in x]
    scale = 1 / math.sqrt(dot(centred, centred) / len(x) + eps)
    return [v * scale * g + c for v, g, c in zip(centred, w, b)]


def silu(x):
    return x / (1 + math.exp(-x))


def gelu(x):
    return 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


def softcap(x, cap):
    return cap * math.tanh(x / cap) if cap else x


def frequencies(config, dims, base, length, scaled):
    """(the frequency of each pair of dimensions, the factor of cosines and sines)"""
    plain = [base ** (-2 * i / dims) for i in range(dims // 2)]
    s = (config.get("rope_scaling") or {}) if scaled else {}
    kind = s.get("rope_type", s.get("type", "default"))
    trained = config.get("original_max_position_embeddings",
                         s.get("original_max_position_embeddings", 0))
    if kind == "linear":
        return [f / s["factor"] for f in plain], 1.0
    if kind == "llama3":
        out = []
        for f in plain:
            wave = 2 * math.pi / f
            if wave > trained / s["low_freq_factor"]:
                out.append(f / s["factor"])
            elif wave < trained / s["high_freq_factor"]:
                out.append(f)
            else:
                smooth = ((trained / wave - s["low_freq_factor"]) /
                          (s["high_freq_factor"] - s["low_freq_factor"]))
                out.append((1 - smooth) * f / s["factor"] + smooth * f)
        return out, 1.0
    if kind == "longrope":
        factors = s["long_factor" if length > trained else "short_factor"]
        ratio = s.get("factor", config["max_position_embeddings"] / trained)
        return ([f / g for f, g in zip(plain, factors)],
                math.sqrt(1 + math.log(ratio) / math.log(trained)))
    if kind == "yarn":
        factor = s.get("factor", config["max_position_embeddings"] / trained)
        growth = 0.1 * math.log(factor)
        magnitude = growth + 1
        if s.get("mscale") and s.get("mscale_all_dim"):
            magnitude = (growth * s["mscale"] + 1) / (growth * s["mscale_all_dim"] + 1)

        def pair(turns):
            return dims * math.log(trained / (turns * 2 * math.pi)) / (2 * math.log(base))
        low, high = max(math.floor(pair(32)), 0), min(math.ceil(pair(1)), dims - 1)
        ramp = [min(max((i - low) / max(high - low, 0.001), 0), 1) for i in range(dims // 2)]
        return [f / factor * r + f * (1 - r) for f, r in zip(plain, ramp)], magnitude
    return plain, 1.0


def rotate(head, position, freqs, magnitude):
    """Halves of the first dimensions rotate; the others do not change."""
    n = len(freqs)
    out = list(head)
    for i, f in enumerate(freqs):
        c, s = math.cos(position * f) * magnitude, math.sin(position * f) * magnitude
        out[i] = head[i] * c - head[i + n] * s
        out[i + n] = head[i + n] * c + head[i] * s
    return out


def heads_of(x, n):
    size = len(x) // n
    return [x[i * size:(i + 1) * size] for i in range(n)]


def attend(queries, keys, values, position, window, scale, cap):
    """queries: heads of one position; keys and values: heads of all positions so far."""
    first = max(0, position + 1 - window) if window else 0
    group = len(queries) // len(keys[0])
    out = []
    for h, q in enumerate(queries):
        scores = [softcap(dot(q, k[h // group]) * scale, cap) for k in keys[first:position + 1]]
        top = max(scores)
        weights = [math.exp(s - top) for s in scores]
        total = sum(weights)
        mixed = [0.0] * len(values[0][0])
        for w, v in zip(weights, values[first:position + 1]):
            mixed = [m + w / total * x for m, x in zip(mixed, v[h // group])]
        out += mixed
    return out


class Model:
    def __init__(self, folder):
        self.config, self.t = load(folder)
        c = self.config
        self.family = c["model_type"].removesuffix("_text")
        self.plus = 1.0 if self.family.startswith("gemma") else 0.0
        self.dim = c.get("hidden_size", c.get("n_embd"))
        self.n_heads = c.get("num_attention_heads", c.get("n_head"))
        self.n_layers = c.get("num_hidden_layers", c.get("n_layer"))
        self.eps = c.get("rms_norm_eps", c.get("layer_norm_epsilon",
                         1e-5 if self.family in ("phi3", "gpt2") else 1e-6))

    def forward(self, tokens):
        """Logits of every position. longrope: the whole sequence's length selects the factors."""
        length = len(tokens)
        run = self.gpt2_layer if self.family == "gpt2" else self.layer
        xs = [self.embed(token, i) for i, token in enumerate(tokens)]
        for layer in range(self.n_layers):
            xs = run(layer, xs, length)
        return [self.head(x) for x in xs]

    def embed(self, token, position):
        if self.family == "gpt2":
            return add(self.t["wte.weight"][token], self.t["wpe.weight"][position])
        scale = math.sqrt(self.dim) if self.plus else 1.0
        return [v * scale for v in self.t["model.embed_tokens.weight"][token]]

    def head(self, x):
        if self.family == "gpt2":
            x = layer_norm(x, self.t["ln_f.weight"], self.t["ln_f.bias"], self.eps)
            return multiply(self.t["wte.weight"], x)
        x = rms_norm(x, self.t["model.norm.weight"], self.eps, self.plus)
        tied = self.config.get("tie_word_embeddings", bool(self.plus))
        matrix = self.t["model.embed_tokens.weight" if tied else "lm_head.weight"]
        cap = self.cap("final_logit_softcapping", 30.0)
        return [softcap(v, cap) for v in multiply(matrix, x)]

    def norm(self, name, x):
        return rms_norm(x, self.t[name + ".weight"], self.eps, self.plus)

    def linear(self, name, x):
        y = multiply(self.t[name + ".weight"], x)
        return add(y, self.t[name + ".bias"]) if name + ".bias" in self.t else y

    def qkv(self, at, x):
        if at + "qkv_proj.weight" not in self.t:
            return [self.linear(f"{at}{n}_proj", x) for n in "qkv"]
        y = self.linear(at + "qkv_proj", x)
        kv = len(y) * self.config["num_key_value_heads"] // (
            self.n_heads + 2 * self.config["num_key_value_heads"])
        return y[:-2 * kv], y[-2 * kv:-kv], y[-kv:]

    def window_of(self, layer):
        """(window or None, local)"""
        c = self.config
        if "layer_types" in c:
            local = c["layer_types"][layer] == "sliding_attention"
            return (c["sliding_window"] if local else None), local
        if self.family in ("gemma2", "gemma3"):
            every = c.get("sliding_window_pattern", 2 if self.family == "gemma2" else 6)
            return (None, False) if layer % every == every - 1 else (c["sliding_window"], True)
        if self.family in ("qwen2", "qwen3") and not c.get("use_sliding_window"):
            return None, False
        if self.family in ("qwen2", "qwen3") and layer < c["max_window_layers"]:
            return None, False
        return c.get("sliding_window"), False

    def cap(self, name, usual):
        return self.config.get(name, usual if self.family == "gemma2" else None)

    def layer(self, layer, xs, length):
        c, at = self.config, f"model.layers.{layer}."
        n_kv = c["num_key_value_heads"]
        head_dim = c.get("head_dim", self.dim // self.n_heads)
        window, local = self.window_of(layer)
        base = c.get("rope_theta", 1e6 if self.family == "gemma3" else 1e4)
        own = local and self.family == "gemma3"
        base = c.get("rope_local_base_freq", 1e4) if own else base
        dims = int(head_dim * c.get("partial_rotary_factor", 1.0))
        freqs, magnitude = frequencies(c, dims, base, length, not own)
        scale = c.get("query_pre_attn_scalar",
                      256 if self.family in ("gemma2", "gemma3") else head_dim) ** -0.5
        queries, keys, values = [], [], []
        for i, x in enumerate(xs):
            q, k, v = self.qkv(at + "self_attn.", self.norm(at + "input_layernorm", x))
            q, k = heads_of(q, self.n_heads), heads_of(k, n_kv)
            if at + "self_attn.q_norm.weight" in self.t:
                q = [self.norm(at + "self_attn.q_norm", h) for h in q]
                k = [self.norm(at + "self_attn.k_norm", h) for h in k]
            queries.append([rotate(h, i, freqs, magnitude) for h in q])
            keys.append([rotate(h, i, freqs, magnitude) for h in k])
            values.append(heads_of(v, n_kv))
        out = []
        for i, x in enumerate(xs):
            y = attend(queries[i], keys, values, i, window, scale,
                       self.cap("attn_logit_softcapping", 50.0))
            y = self.linear(at + "self_attn.o_proj", y)
            out.append(self.feed_forward(at, x, y))
        return out

    def feed_forward(self, at, x, attended):
        post = at + "pre_feedforward_layernorm.weight" in self.t
        if post:
            attended = self.norm(at + "post_attention_layernorm", attended)
        x = add(x, attended)
        h = self.norm(at + ("pre_feedforward_layernorm" if post else "post_attention_layernorm"), x)
        if at + "mlp.gate_up_proj.weight" in self.t:
            both = self.linear(at + "mlp.gate_up_proj", h)
            gate, up = both[:len(both) // 2], both[len(both) // 2:]
        else:
            gate, up = self.linear(at + "mlp.gate_proj", h), self.linear(at + "mlp.up_proj", h)
        act = gelu if self.plus else silu
        y = self.linear(at + "mlp.down_proj", [act(g) * u for g, u in zip(gate, up)])
        return add(x, self.norm(at + "post_feedforward_layernorm", y) if post else y)

    def conv1d(self, name, x):
        return add(multiply(transposed(self.t[name + ".weight"]), x), self.t[name + ".bias"])

    def gpt2_layer(self, layer, xs, _):
        at = f"h.{layer}."
        norms = [layer_norm(x, self.t[at + "ln_1.weight"], self.t[at + "ln_1.bias"], self.eps)
                 for x in xs]
        qkv = [self.conv1d(at + "attn.c_attn", n) for n in norms]
        parts = [[heads_of(y[p * self.dim:(p + 1) * self.dim], self.n_heads) for y in qkv]
                 for p in range(3)]
        out = []
        for i, x in enumerate(xs):
            y = attend(parts[0][i], parts[1], parts[2], i, None,
                       (self.dim // self.n_heads) ** -0.5, None)
            x = add(x, self.conv1d(at + "attn.c_proj", y))
            h = layer_norm(x, self.t[at + "ln_2.weight"], self.t[at + "ln_2.bias"], self.eps)
            h = [gelu(v) for v in self.conv1d(at + "mlp.c_fc", h)]
            out.append(add(x, self.conv1d(at + "mlp.c_proj", h)))
        return out
