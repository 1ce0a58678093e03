"""Writes GGUF files for the suites, among them the micro-models of hf/tiny in the form of the usual converters, so that the same weights are read from
both formats."""

import array
import json
import math
import os
import random
import struct
import sys

from gguf_reader import read_contents
from machine import ASSETS, ROOT

sys.path.append(os.path.join(ROOT, "toolchain"))
from weight_types import IN_GGUF

U32, I32, F32, BOOL, STRING, ARRAY, U64 = 4, 5, 6, 7, 8, 9, 10
TYPES = {t.NAME: t.gguf for t in IN_GGUF}


def text(s):
    raw = s if isinstance(s, bytes) else s.encode()
    return struct.pack("<Q", len(raw)) + raw


class Gguf:
    """A GGUF file: values and tensors in order, which can be changed before the file is written."""

    def __init__(self, architecture):
        self.architecture = architecture
        self.values = []   # (key, kind, raw)
        self.tensors = []  # [name, dims (columns first), type number, raw]
        self.alignment = 32
        self.string("general.architecture", architecture)

    def add(self, key, kind, raw):
        key = self.architecture + key if key.startswith(".") else key
        self.values = [v for v in self.values if v[0] != key] + [(key, kind, raw)]

    def drop(self, *keys):
        """Remove values by their keys; a key such as ".context_length" stands for one with the architecture's name
        before it."""
        full = [self.architecture + k if k.startswith(".") else k for k in keys]
        self.values = [v for v in self.values if v[0] not in full]

    def string(self, key, value):
        self.add(key, STRING, text(value))

    def u32(self, key, value):
        self.add(key, U32, struct.pack("<I", value))

    def f32(self, key, value):
        self.add(key, F32, struct.pack("<f", value))

    def flag(self, key, value):
        self.add(key, BOOL, struct.pack("<?", value))

    def array(self, key, kind, items):
        self.add(key, ARRAY, struct.pack("<IQ", kind, len(items)) + b"".join(items))

    def tensor(self, name, dims, kind, raw):
        self.tensors.append([name, list(dims), TYPES.get(kind, kind), raw])

    def floats(self, name, shape, values):
        """Add a tensor in F32 from rows of floats; shape is in Hugging Face's order."""
        self.tensor(name, shape[::-1], "F32", array.array("f", values).tobytes())

    def letters(self, n):
        """Add a vocabulary of n letters without merges, so that each letter of a prompt is a token."""
        self.string("tokenizer.ggml.model", "llama")
        self.array("tokenizer.ggml.tokens", STRING, [text(letter(i)) for i in range(n)])
        self.array("tokenizer.ggml.scores", F32, [struct.pack("<f", 0)] * n)
        self.array("tokenizer.ggml.token_type", I32, [struct.pack("<i", 1)] * n)
        self.flag("tokenizer.ggml.add_bos_token", False)
        self.flag("tokenizer.ggml.add_space_prefix", False)

    def parts(self):
        """Header, values, tensor table, padding and data, as a list of bytes."""
        values = b"".join(text(k) + struct.pack("<I", kind) + raw for k, kind, raw in self.values)
        table, data = b"", b""
        for name, dims, kind, raw in self.tensors:
            data += bytes(-len(data) % self.alignment)
            table += (text(name) + struct.pack("<I", len(dims)) +
                      b"".join(struct.pack("<Q", d) for d in dims) +
                      struct.pack("<IQ", kind, len(data)))
            data += raw
        head = struct.pack("<4sIQQ", b"GGUF", 3, len(self.tensors), len(self.values))
        front = head + values + table
        return [head, values, table, bytes(-len(front) % self.alignment), data]

    def write(self, path):
        with open(path, "wb") as out:
            out.write(b"".join(self.parts()))

    def split(self, n, bare_first=False):
        """Split into n parts, as llama-gguf-split does: the first part has all values, and the tensors stay in order.
        bare_first: the first part has no tensors."""
        parts = [Gguf(self.architecture) for _ in range(n)]
        parts[0].values = list(self.values)
        first = 1 if bare_first else 0
        share = -(-len(self.tensors) // (n - first))
        for i, part in enumerate(parts):
            if i > 0:
                part.values = []
            part.add("split.no", 2, struct.pack("<H", i))
            part.add("split.count", 2, struct.pack("<H", n))
            part.add("split.tensors.count", I32, struct.pack("<i", len(self.tensors)))
            if i >= first:
                part.tensors = self.tensors[(i - first) * share:(i - first + 1) * share]
        return parts


def read_gguf(path):
    """Read a file into a Gguf, which can be changed."""
    blocks = {t.gguf: (t.of, t.bytes) for t in IN_GGUF}
    values, tensors, raw, start = read_contents(path)
    g = Gguf(next(value for key, _, value, _ in values if key == "general.architecture"))
    g.values = [(key, kind, own) for key, kind, _, own in values]
    for name, dims, kind, offset in tensors:
        elements, size = blocks[kind]
        n = math.prod(dims) // elements * size
        g.tensors.append([name, dims, kind, raw[start + offset:start + offset + n]])
    return g


def part_name(stem, i, n):
    return f"{stem}-{i + 1:05}-of-{n:05}.gguf"


def write_parts(stem, parts):
    """The paths of the parts."""
    paths = [part_name(stem, i, len(parts)) for i in range(len(parts))]
    for path, part in zip(paths, parts):
        part.write(path)
    return paths


def letter(i):
    return chr(ord("a") + i) if i < 26 else chr(ord("A") + i - 26)


def load_safetensors(path):
    """name -> (shape, floats); F32 only."""
    with open(path, "rb") as f:
        raw = f.read()
    size = struct.unpack_from("<Q", raw)[0]
    out = {}
    for name, entry in json.loads(raw[8:8 + size]).items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            start, end = entry["data_offsets"]
            values = array.array("f")
            values.frombytes(raw[8 + size + start:8 + size + end])
            out[name] = (entry["shape"], values)
    return out


def transpose(shape, values):
    rows, cols = shape
    return [cols, rows], [values[r * cols + c] for c in range(cols) for r in range(rows)]


def permute(shape, values, heads):
    """Change the order of each head's rows from halves to pairs: row i of the first half becomes row 2i, and row i of the second half becomes
    row 2i + 1."""
    rows = shape[0]
    cols = len(values) // rows
    half = rows // heads // 2
    order = [h * 2 * half + part * half + i for h in range(heads) for i in range(half)
             for part in (0, 1)]
    return shape, [values[r * cols + c] for r in order for c in range(cols)]


LLAMA_NAMES = {
    "model.embed_tokens.weight": "token_embd.weight", "model.norm.weight": "output_norm.weight",
    "lm_head.weight": "output.weight", "input_layernorm.weight": "attn_norm.weight",
    "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output", "self_attn.qkv_proj": "attn_qkv",
    "self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm",
    "post_attention_layernorm.weight": "ffn_norm.weight", "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up", "mlp.gate_up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
    "self_attn.attn_sub_norm": "attn_sub_norm", "mlp.ffn_sub_norm": "ffn_sub_norm",
}
ARCHITECTURES = {"bitnet": "bitnet-b1.58"}  # architectures whose name is not that of the family
GEMMA_NAMES = dict(LLAMA_NAMES)
GEMMA_NAMES.update({
    "post_attention_layernorm.weight": "post_attention_norm.weight",
    "pre_feedforward_layernorm.weight": "ffn_norm.weight",
    "post_feedforward_layernorm.weight": "post_ffw_norm.weight",
})
GPT2_NAMES = {
    "wte.weight": "token_embd.weight", "wpe.weight": "position_embd.weight",
    "ln_f": "output_norm", "ln_1": "attn_norm", "attn.c_attn": "attn_qkv",
    "attn.c_proj": "attn_output", "ln_2": "ffn_norm", "mlp.c_fc": "ffn_up",
    "mlp.c_proj": "ffn_down",
}


def gguf_name(name, names):
    for prefix, layer in (("model.layers.", True), ("h.", True), ("", False)):
        if name.startswith(prefix):
            rest = name[len(prefix):]
            number, _, rest = rest.partition(".") if layer else ("", "", rest)
            for theirs, ours in names.items():
                if rest.startswith(theirs):
                    start = f"blk.{number}." if layer else ""
                    return start + ours + rest[len(theirs):]
    return None


def tiny(family, source=None):
    """(Gguf, sequences, logits) of a micro-model of hf/tiny."""
    folder = os.path.join(ASSETS, "hf/tiny")
    stem = os.path.join(folder, f"tiny_{family}")
    with open(stem + "_logits.json") as f:
        expected = json.load(f)
    if os.path.exists(stem + "_config.json"):
        with open(stem + "_config.json") as f:
            config = json.load(f)
    else:
        config = expected["config"]
    g = Gguf(ARCHITECTURES.get(family, family))
    set_params(g, family, config)
    weights = load_safetensors(source or stem + ".safetensors")
    names = GPT2_NAMES if family == "gpt2" else \
        GEMMA_NAMES if family.startswith("gemma") else LLAMA_NAMES
    for name, (shape, values) in weights.items():
        out = gguf_name(name, names)
        if out is None or name.endswith("inv_freq") or name.endswith(".attn.bias"):
            continue
        if out == "output.weight" and config.get("tie_word_embeddings"):
            continue
        if family == "gpt2" and len(shape) == 2 and name.startswith("h."):
            shape, values = transpose(shape, values)
        if family == "llama" and "attn_q." in out:
            shape, values = permute(shape, values, config["num_attention_heads"])
        if family == "llama" and "attn_k." in out:
            shape, values = permute(shape, values, config["num_key_value_heads"])
        if family.startswith("gemma") and len(shape) == 1:
            values = [1.0 + v for v in values]
        g.floats(out, shape, values)
    return g, expected["sequences"], expected["logits"]


def shuffled(g, seed):
    """A Llama (F32) with its columns and hidden units in another order: it computes the same, but a quantizer finds other neighbours in a
    block."""
    chosen = random.Random(seed)
    out = Gguf(g.architecture)
    out.values = list(g.values)
    orders = {}

    def order(key, n):
        if key not in orders:
            orders[key] = chosen.sample(range(n), n)
        return orders[key]

    for name, dims, kind, raw in g.tensors:
        cols, rows = dims[0], dims[1] if len(dims) > 1 else 1
        layer, short = name.rsplit(".", 2)[0], name.split(".")[-2]
        by_col, by_row = order("width", cols) if short != "attn_output" else range(cols), range(rows)
        if short == "attn_output":
            by_row = order("width", rows)
        elif short in ("ffn_gate", "ffn_up"):
            by_row = order(layer, rows)
        elif short == "ffn_down":
            by_col, by_row = order(layer, cols), order("width", rows)
        values = array.array("f", raw)
        out.tensor(name, dims, kind, array.array("f", [values[r * cols + c] for r in by_row
                                                       for c in by_col]).tobytes())
    return out


def plain_q4_0(raw):
    """F32 as Q4_0 by GGML's plain rule: the largest element becomes -8."""
    values, out = array.array("f", raw), bytearray()
    for i in range(0, len(values), 32):
        block = values[i:i + 32]
        d = max(block, key=abs) / -8
        q = [min(15, int(x / d + 8.5)) if d else 8 for x in block]
        out += struct.pack("<e", d) + bytes(q[j] | q[j + 16] << 4 for j in range(16))
    return bytes(out)


def set_params(g, family, c):
    if family == "gpt2":
        g.letters(c["vocab"])
        g.u32(".context_length", c["n_ctx"])
        g.u32(".embedding_length", c["n_embd"])
        g.u32(".block_count", c["n_layer"])
        g.u32(".feed_forward_length", 4 * c["n_embd"])
        g.u32(".attention.head_count", c["n_head"])
        g.f32(".attention.layer_norm_epsilon", 1e-5)
        return
    head_dim = c.get("head_dim", c["hidden_size"] // c["num_attention_heads"])
    g.letters(c["vocab_size"])
    g.u32(".context_length", c["max_position_embeddings"])
    g.u32(".embedding_length", c["hidden_size"])
    g.u32(".block_count", c["num_hidden_layers"])
    g.u32(".feed_forward_length", c["intermediate_size"])
    g.u32(".attention.head_count", c["num_attention_heads"])
    g.u32(".attention.head_count_kv", c["num_key_value_heads"])
    g.f32(".attention.layer_norm_rms_epsilon", c["rms_norm_eps"])
    g.f32(".rope.freq_base", c["rope_theta"] if "rope_theta" in c else c["rope_parameters"]["rope_theta"])
    g.u32(".rope.dimension_count", int(head_dim * c.get("partial_rotary_factor", 1)))
    if "head_dim" in c:
        g.u32(".attention.key_length", head_dim)
        g.u32(".attention.value_length", head_dim)
    if c.get("sliding_window"):
        g.u32(".attention.sliding_window", c["sliding_window"])
    if c.get("sliding_window_pattern"):
        g.u32(".attention.sliding_window_pattern", c["sliding_window_pattern"])
    if c.get("rope_local_base_freq"):
        g.f32(".rope.freq_base_swa", c["rope_local_base_freq"])
    if c.get("query_pre_attn_scalar"):
        g.f32(".attention.scale", 1 / math.sqrt(c["query_pre_attn_scalar"]))
    if c.get("attn_logit_softcapping"):
        g.f32(".attn_logit_softcapping", c["attn_logit_softcapping"])
    if c.get("final_logit_softcapping"):
        g.f32(".final_logit_softcapping", c["final_logit_softcapping"])


def tinystories_656k():
    """hf/TinyStories-656K as it was converted for llama.cpp's perplexity measurements: the vocabulary is SentencePiece's, and all tokens have
    the same score."""
    folder = os.path.join(ASSETS, "hf/TinyStories-656K")
    with open(os.path.join(folder, "config.json")) as f:
        config = json.load(f)
    with open(os.path.join(folder, "tokenizer.json")) as f:
        tokenizer = json.load(f)
    tokens = sorted(tokenizer["model"]["vocab"], key=tokenizer["model"]["vocab"].get)
    for added in tokenizer["added_tokens"]:
        tokens[added["id"]] = added["content"]
    n = len(tokens)
    g = Gguf("llama")
    set_params(g, "llama", config)
    g.array("tokenizer.ggml.tokens", STRING, [text(t) for t in tokens])
    g.array("tokenizer.ggml.scores", F32, [struct.pack("<f", -1000)] * n)
    g.array("tokenizer.ggml.token_type", I32,
            [struct.pack("<i", 2 if i == 0 else 3 if i < 3 else 1) for i in range(n)])
    for key, value in (("bos", 1), ("eos", 2), ("unknown", 0)):
        g.u32(f"tokenizer.ggml.{key}_token_id", value)
    g.flag("tokenizer.ggml.add_bos_token", True)
    g.flag("tokenizer.ggml.add_space_prefix", True)
    heads = {"attn_q.": config["num_attention_heads"], "attn_k.": config["num_key_value_heads"]}
    for name, (shape, values) in load_safetensors(os.path.join(folder,
                                                               "model.safetensors")).items():
        out = gguf_name(name, LLAMA_NAMES)
        for part, count in heads.items():
            if part in out:
                shape, values = permute(shape, values, count)
        g.floats("token_embd.weight" if out == "output.weight" else out, shape, values)
    return g


NEMOTRON_NAMES = {
    "model.embeddings.weight": "token_embd.weight", "model.norm_f.weight": "output_norm.weight",
    "lm_head.weight": "output.weight", "norm.weight": "attn_norm.weight",
    "mixer.in_proj.": "ssm_in.", "mixer.out_proj.": "ssm_out.", "mixer.conv1d.": "ssm_conv1d.",
    "mixer.A_log": "ssm_a", "mixer.D": "ssm_d", "mixer.dt_bias": "ssm_dt.bias",
    "mixer.norm.": "ssm_norm.", "mixer.q_proj.": "attn_q.", "mixer.k_proj.": "attn_k.",
    "mixer.v_proj.": "attn_v.", "mixer.o_proj.": "attn_output.", "mixer.up_proj.": "ffn_up.",
    "mixer.down_proj.": "ffn_down.",
}


def widen(shape, values, width, by_cols):
    """Make heads one number wider, with zeros, which change no score and no sum of values."""
    rows, cols = shape
    lines = [list(values[r * cols:(r + 1) * cols]) for r in range(rows)]
    if by_cols:
        lines = [[x for i, x in enumerate(line) for x in [x] + [0.0] * (i % width == width - 1)]
                 for line in lines]
    else:
        lines = [line for i, line in enumerate(lines)
                 for line in [line] + [[0.0] * cols] * (i % width == width - 1)]
    return [len(lines), len(lines[0])], [x for line in lines for x in line]


def tiny_nemotron_h():
    """Like tiny(): a micro-model whose layers have one block each. The micro-model's heads are 3 wide, which the
    packer refuses, so here they are 4 wide."""
    stem = os.path.join(ASSETS, "hf/tiny/tiny_nemotronh")
    with open(stem + "_logits.json") as f:
        expected = json.load(f)
    with open(stem + "_config.json") as f:
        c = json.load(f)
    g, kinds, width = Gguf("nemotron_h"), c["hybrid_override_pattern"], c["head_dim"]
    inner = c["mamba_num_heads"] * c["mamba_head_dim"]
    g.letters(c["vocab_size"])
    for key, number in (("context_length", 64), ("embedding_length", c["hidden_size"]),
                        ("block_count", len(kinds)),
                        ("attention.head_count", c["num_attention_heads"]),
                        ("attention.key_length", width + 1),
                        ("attention.value_length", width + 1), ("ssm.conv_kernel", c["conv_kernel"]),
                        ("ssm.state_size", c["ssm_state_size"]), ("ssm.group_count", c["n_groups"]),
                        ("ssm.time_step_rank", c["mamba_num_heads"]), ("ssm.inner_size", inner)):
        g.u32("." + key, number)
    g.f32(".attention.layer_norm_rms_epsilon", c["layer_norm_epsilon"])
    g.f32(".attention.scale", 1 / math.sqrt(width))
    for key, kind, number in (("attention.head_count_kv", "*", c["num_key_value_heads"]),
                              ("feed_forward_length", "-", c["intermediate_size"])):
        g.array("." + key, I32, [struct.pack("<i", number * (k == kind)) for k in kinds])
    for name, (shape, values) in load_safetensors(stem + ".safetensors").items():
        out = gguf_name(name, NEMOTRON_NAMES)
        if "conv1d.weight" in out:
            shape = [shape[0], shape[2]]
        elif out.endswith("ssm_a"):
            shape, values = [len(values), 1], [-math.exp(x) for x in values]
        elif any(part in out for part in ("attn_q.", "attn_k.", "attn_v.", "attn_output.")):
            shape, values = widen(shape, values, width, "attn_output." in out)
        g.floats(out, shape, values)
    return g, expected["sequences"], expected["logits"]
