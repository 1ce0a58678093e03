"""Makes assistants of Gemma 4, and computes model and assistant from the tensors of GGUF files in F32, in plain Python and double precision, as
the models are described. The suites compare the logits by which an assistant guesses with these. It is slow, and meant for models of a few
thousand weights."""

import array
import math
import random
import struct

import gguf_files
from hf_reference import add, attend, gelu, heads_of, multiply, rms_norm, rotate, softcap


class Gguf:
    """The values and tensors of a gguf_files.Gguf, found by their names."""

    def __init__(self, g, architecture):
        self.architecture = architecture
        self.values = {key: (kind, raw) for key, kind, raw in g.values}
        self.t = {}
        for name, dims, _, raw in g.tensors:
            values = list(array.array("f", raw))
            if len(dims) == 2:
                values = [values[i:i + dims[0]] for i in range(0, len(values), dims[0])]
            self.t[name] = values

    def number(self, key):
        kind, raw = self.values[self.architecture + key]
        return struct.unpack("<f" if kind == 6 else "<I", raw)[0]

    def flags(self, key):
        return [byte != 0 for byte in self.values[self.architecture + key][1][12:]]


class Layers:
    """The computation that a model and its assistant have in common."""

    def __init__(self, g, architecture):
        self.g = Gguf(g, architecture)
        self.t, number = self.g.t, self.g.number
        self.dim, self.n_layers = number(".embedding_length"), number(".block_count")
        self.n_heads, self.eps = number(".attention.head_count"), number(".attention.layer_norm_rms_epsilon")
        self.local = self.g.flags(".attention.sliding_window_pattern")
        self.window = number(".attention.sliding_window")

    def norm(self, name, x):
        return rms_norm(x, self.t[name + ".weight"], self.eps)

    def turn(self, head, position, local):
        """Rotate a head; only layers without a window have factors of rotation."""
        n = len(head)
        base = self.g.number(".rope.freq_base_swa" if local else ".rope.freq_base")
        factors = [1.0] * (n // 2) if local else self.t["rope_freqs.weight"]
        return rotate(head, position, [base ** (-2 * i / n) / f for i, f in enumerate(factors)], 1.0)

    def queries(self, layer, x, position):
        at = f"blk.{layer}."
        q = heads_of(multiply(self.t[at + "attn_q.weight"], x), self.n_heads)
        return [self.turn(self.norm(at + "attn_q_norm", h), position, self.local[layer]) for h in q]

    def rest(self, layer, x, attended):
        """Compute a layer from the end of its attention up to its scale."""
        at = f"blk.{layer}."
        y = multiply(self.t[at + "attn_output.weight"], attended)
        x = add(x, self.norm(at + "post_attention_norm", y))
        h = self.norm(at + "ffn_norm", x)
        gate, up = (multiply(self.t[at + name + ".weight"], h) for name in ("ffn_gate", "ffn_up"))
        y = multiply(self.t[at + "ffn_down.weight"], [gelu(a) * b for a, b in zip(gate, up)])
        return add(x, self.norm(at + "post_ffw_norm", y))

    def scaled(self, layer, x):
        return [v * self.t[f"blk.{layer}.layer_output_scale.weight"][0] for v in x]


class Model(Layers):
    """Gemma 4 after a sequence of tokens: logits, hidden states, and the keys and values of each layer."""

    def __init__(self, g, tokens):
        super().__init__(g, "gemma4")
        self.per_layer = self.g.number(".embedding_length_per_layer_input")
        own = self.n_layers - self.g.number(".attention.shared_kv_layers")
        self.keys, self.values = [], []
        xs = [self.embedding(token) for token in tokens]
        inputs = [self.inputs(token, x) for token, x in zip(tokens, xs)]
        for layer in range(self.n_layers):
            normed = [self.norm(f"blk.{layer}.attn_norm", x) for x in xs]
            if layer < own:
                kept = [self.kept(layer, x, i) for i, x in enumerate(normed)]
                self.keys.append([k for k, _ in kept])
                self.values.append([v for _, v in kept])
            else:
                self.keys.append(self.keys[self.last(self.local[layer], own)])
                self.values.append(self.values[self.last(self.local[layer], own)])
            xs = [self.layer(layer, x, normed[i], inputs[i][layer], i) for i, x in enumerate(xs)]
        self.hidden = [self.norm("output_norm", x) for x in xs]

    def last(self, local, n):
        """The last of the first n layers that has a window (if local), or that has none."""
        return max(i for i in range(n) if self.local[i] == local)

    def embedding(self, token):
        return [v * math.sqrt(self.dim) for v in self.t["token_embd.weight"][token]]

    def inputs(self, token, x):
        """The vectors that the layers add for a token, one for each layer."""
        n = self.per_layer
        row = [v * math.sqrt(n) for v in self.t["per_layer_token_embd.weight"][token]]
        made = [v / math.sqrt(self.dim) for v in multiply(self.t["per_layer_model_proj.weight"], x)]
        return [[(a + b) / math.sqrt(2) for a, b in zip(self.norm("per_layer_proj_norm", made[i:i + n]), row[i:i + n])]
                for i in range(0, len(row), n)]

    def kept(self, layer, x, position):
        at = f"blk.{layer}."
        n = self.g.number(".attention.head_count_kv")
        keys = [self.turn(self.norm(at + "attn_k_norm", h), position, self.local[layer])
                for h in heads_of(multiply(self.t[at + "attn_k.weight"], x), n)]
        values = heads_of(multiply(self.t[at + "attn_v.weight"], x), n)
        return keys, [rms_norm(v, [1.0] * len(v), self.eps) for v in values]

    def layer(self, layer, x, normed, more, position):
        at = f"blk.{layer}."
        x = self.rest(layer, x, attend(self.queries(layer, normed, position), self.keys[layer], self.values[layer], position,
                                       self.window if self.local[layer] else None, 1.0, None))
        gated = [gelu(a) * b for a, b in zip(multiply(self.t[at + "inp_gate.weight"], x), more)]
        return self.scaled(layer, add(x, self.norm(at + "post_norm", multiply(self.t[at + "proj.weight"], gated))))

    def logits(self, position):
        cap = self.g.number(".final_logit_softcapping")
        return [softcap(v, cap) for v in multiply(self.t["token_embd.weight"], self.hidden[position])]


class Assistant(Layers):
    """An assistant of a Model that has computed all tokens of a sequence except the last token."""

    def __init__(self, g, model):
        super().__init__(g, "gemma4-assistant")
        self.model = model

    def guess(self, token, n):
        """The logits of n guesses after the last token; each guess takes the likeliest token of the previous guess."""
        hidden, rows = self.model.hidden[-1], []
        position = len(self.model.hidden)  # the position of the last token, which all guesses use
        for _ in range(n):
            x = multiply(self.t["nextn.pre_projection.weight"], self.model.embedding(token) + hidden)
            for layer in range(self.n_layers):
                local = self.local[layer]
                source = self.model.last(local, self.model.n_layers)
                q = self.queries(layer, self.norm(f"blk.{layer}.attn_norm", x), position)
                y = attend(q, self.model.keys[source], self.model.values[source], position, self.window if local else None, 1.0, None)
                x = self.scaled(layer, self.rest(layer, x, y))
            x = self.norm("output_norm", x)
            rows.append(multiply(self.t["token_embd.weight"], x))
            hidden = multiply(self.t["nextn.post_projection.weight"], x)
            token = max(range(len(rows[-1])), key=rows[-1].__getitem__)
        return rows


# ---- files -----------------------------------------------------------------------------------------

WIDTH, VOCAB = 64, 512  # sizes of the model
# Keys whose values an assistant shares with its model.
COMMON = (".context_length", ".attention.layer_norm_rms_epsilon", ".attention.head_count_kv", ".attention.key_length", ".attention.value_length",
          ".rope.dimension_count", ".rope.freq_base", ".attention.key_length_swa", ".attention.value_length_swa", ".rope.dimension_count_swa",
          ".rope.freq_base_swa", ".attention.sliding_window", ".final_logit_softcapping")


def assistant_of(model, weights, dim=32, heads=4, hidden=48, pattern=(1, 1, 1, 0)):
    """An assistant; `pattern` says for each layer whether it sees a window (1) or everything (0). weights(name, rows,
    columns) makes a tensor."""
    g, given = gguf_files.Gguf("gemma4-assistant"), {key: rest for key, *rest in model.values}
    for key, rest in given.items():
        if key.startswith("tokenizer."):
            g.add(key, *rest)
    for key in COMMON:
        g.add(key, *given["gemma4" + key])
    for key, n in ((".embedding_length", dim), (".block_count", len(pattern)), (".attention.head_count", heads),
                   (".feed_forward_length", hidden), (".embedding_length_out", WIDTH), (".nextn_predict_layers", len(pattern)),
                   (".attention.shared_kv_layers", len(pattern)), (".embedding_length_per_layer_input", 0)):
        g.u32(key, n)
    g.array(".attention.sliding_window_pattern", 7, [bytes([local]) for local in pattern])
    g.tensors += [t for t in model.tensors if t[0] == "rope_freqs.weight"]

    def add(name, *shape):
        g.floats(name + ".weight", shape, weights(name, *([1] + list(shape))[-2:]))
    add("token_embd", VOCAB, dim)
    add("output_norm", dim)
    add("nextn.pre_projection", dim, 2 * WIDTH)
    add("nextn.post_projection", WIDTH, dim)
    for i, local in enumerate(pattern):
        wide = heads * (16 if local else 32)
        for name, *shape in (("attn_norm", dim), ("attn_q", wide, dim), ("attn_q_norm", wide // heads), ("attn_output", dim, wide),
                             ("post_attention_norm", dim), ("ffn_norm", dim), ("ffn_gate", hidden, dim), ("ffn_up", hidden, dim),
                             ("ffn_down", dim, hidden), ("post_ffw_norm", dim), ("layer_output_scale", 1)):
            add(f"blk.{i}.{name}", *shape)
    return g


def noise(seed):
    chosen = random.Random(seed)
    return lambda name, rows, cols: [chosen.gauss(1 if name.endswith(("norm", "scale")) else 0, .2) for _ in range(rows * cols)]
