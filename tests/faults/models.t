#!/usr/bin/python3
"""Hostile GGUF and .ingot files, made here: the program, built with ASan and UBSan, refuses each within seconds, with exit status 1 and one error
message that names the field. (image_test.c and image_sections_test.c have many more .ingot files; model_folders.t has folders.)"""

import os
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from crc32c import crc32c
from machine import WORK, Tap
from gguf_files import BOOL, F32, I32, STRING, U32, text
from hostile import HUGE, INGOT, NAN, SECONDS, SHAPES, check, good, pack

tap = Tap()
os.makedirs(WORK, exist_ok=True)


def tensor_of(g, name):
    return next(t for t in g.tensors if t[0] == name)


def value(key, kind, raw):
    return lambda g: g.add(key, kind, raw)


def real(key, number):
    return lambda g: g.f32(key, number)


def whole(key, number):
    return lambda g: g.u32(key, number)


def dims(name, *new):
    def change(g):
        tensor_of(g, name)[1] = list(new)
    return change


def kind(name, number, raw):
    """Give a tensor another type: `raw` has the blocks of the first row, and the rest becomes zeros."""
    def change(g):
        entry = tensor_of(g, name)
        entry[2] = number
        entry[3] = raw + bytes(len(entry[3]) - len(raw))
    return change


def data(name, raw, at=0):
    def change(g):
        entry = tensor_of(g, name)
        entry[3] = entry[3][:at] + raw + entry[3][at + len(raw):]
    return change


def more(name, shape, raw):
    return lambda g: g.tensor(name, shape, "F32", raw)


def again(g):
    """Add a key a second time."""
    g.values.append(("llama.block_count", U32, struct.pack("<I", 1)))


def without(key):
    def change(g):
        g.values = [v for v in g.values if v[0] != key]
    return change


def split(g, number):
    g.add("split.no", 2, struct.pack("<H", number))
    g.add("split.count", 2, struct.pack("<H", 3))


def last_part(g):
    """Turn the file into a part that has only the values of the split."""
    g.values = []
    split(g, 2)


def patch(find, at, raw):
    """Replace bytes of the finished file, `at` bytes after the end of `find`."""
    def change(whole_file):
        start = whole_file.index(find) + len(find) + at
        return whole_file[:start] + raw + whole_file[start + len(raw):]
    return change


def offset(name, number):
    """Change the offset in a tensor's entry, which follows dimension count, dimensions and type."""
    count = len(dict(SHAPES)[name])
    return patch(text(name), 4 + 8 * count + 4, struct.pack("<Q", number))


TOKENS = "tokenizer.ggml.tokens"
Q = "blk.0.attn_q.weight"
# Rows: name, change of the model or None, change of the file's bytes or None, words of the error message.
rows = [
    ("2^63 tensors", None, lambda b: b[:8] + HUGE + b[16:], ["tensors"]),
    ("2^63 values", None, lambda b: b[:16] + HUGE + b[24:], ["values"]),
    ("2^63 bytes of a key", None, lambda b: b[:24] + HUGE + b[32:], ["value 0"]),
    ("2^63 bytes of a text", None, patch(text("general.architecture"), 4, HUGE), ["value 0"]),
    ("2^63 tokens", None, patch(text(TOKENS), 8, HUGE), [TOKENS]),
    ("2^62 scores", None, patch(text("tokenizer.ggml.scores"), 8, struct.pack("<Q", 1 << 62)),
     ["tokenizer.ggml.scores"]),
    ("2^63 bytes of a token", None, patch(text(TOKENS), 16, HUGE), [TOKENS]),
    ("2^63 columns", dims(Q, 1 << 63, 256), None, [Q, "dimensions"]),
    ("2^32 rows", dims(Q, 256, 1 << 32), None, [Q, "dimensions"]),
    ("no columns", dims(Q, 0, 256), None, [Q, "dimensions"]),
    ("no rows", dims(Q, 256, 0), None, [Q, "dimensions"]),
    ("no dimensions", dims(Q), None, [Q, "dimensions"]),
    ("three dimensions", dims(Q, 256, 16, 16), None, [Q, "dimensions"]),
    ("five dimensions", dims(Q, 256, 16, 16, 1, 1), None, [Q]),
    ("an offset past the end", None, offset(Q, 1 << 40), [Q, "beyond the file"]),
    ("an offset of 2^64 - 32", None, offset(Q, (1 << 64) - 32), [Q, "beyond the file"]),
    ("an odd offset", None, offset(Q, 33), [Q, "offset", "alignment"]),
    ("tensors that overlap", None, offset(Q, 0), [Q, "overlap"]),
    ("a tensor twice", lambda g: g.tensors.append(list(tensor_of(g, Q))), None,
     [Q, "appears twice"]),
    ("a value twice", again, None, ["llama.block_count", "appears twice"]),
    ("a tensor of layer 300", more("blk.300.attn_q.weight", (256,), bytes(1024)), None,
     ["blk.300.attn_q.weight"]),
    ("a tensor of layer 1", more("blk.1.attn_norm.weight", (256,), bytes(1024)), None, ["layer 1"]),
    ("a tensor of mamba", more("blk.0.ssm_a", (256,), bytes(1024)), None, ["ssm_a", "does not have"]),
    ("a scale of a matrix", more("blk.0.attn_q.scale", (1,), bytes(4)), None,
     ["blk.0.attn_q.scale", "scales another tensor", "Q8_0 or Q4_K_M"]),
    ("a bias without its fellows", more("blk.0.attn_q.bias", (256,), bytes(1024)), None,
     ["attn_k_bias"]),
    ("alignment 0", whole("general.alignment", 0), None, ["general.alignment"]),
    ("alignment 24", whole("general.alignment", 24), None, ["general.alignment"]),
    ("alignment 2^31", whole("general.alignment", 1 << 31), None, ["general.alignment"]),
    ("type 99", kind(Q, 99, b""), None, [Q, "type 99"]),
    ("Q8_1 without --type", kind(Q, 9, b""), None, ["attn_q", "Q8_1", "--type q8_0"]),
    ("Q8_K", kind(Q, 15, b""), None, [Q, "Q8_K"]),
    ("Q4_K of 32 columns", kind("blk.0.ffn_down.weight", 12, b""), None,
     ["blk.0.ffn_down.weight", "columns"]),
    ("a NaN weight", data(Q, NAN, 4000), None, ["attn_q", "not finite"]),
    ("an infinite norm", data("output_norm.weight", struct.pack("<f", float("inf"))), None,
     ["output_norm", "not finite"]),
    ("a NaN scale of Q8_0", kind(Q, 8, struct.pack("<H", 0x7e00)), None, ["attn_q", "not finite"]),
    ("a NaN scale of Q4_0", kind(Q, 2, struct.pack("<H", 0xffff)), None, ["attn_q", "not finite"]),
    ("a NaN scale of Q5_0", kind(Q, 6, struct.pack("<H", 0x7e00)), None, ["attn_q", "not finite"]),
    ("an infinite min of Q4_K", kind(Q, 12, struct.pack("<HH", 0, 0x7c00)), None,
     ["attn_q", "not finite"]),
    ("a NaN scale of Q5_K", kind(Q, 13, struct.pack("<H", 0x7e00)), None,
     ["attn_q", "not finite"]),
    ("a NaN scale of Q6_K", kind(Q, 14, bytes(208) + struct.pack("<H", 0x7e00)), None,
     ["attn_q", "not finite"]),
    ("a NaN scale of Q3_K", kind(Q, 11, bytes(108) + struct.pack("<H", 0x7e00)), None,
     ["attn_q", "not finite"]),
    ("no architecture", without("general.architecture"), None, ["general.architecture"]),
    ("mamba", lambda g: g.string("general.architecture", "mamba"), None,
     ["architecture 'mamba' is not supported; supported: llama"]),
    ("a name with escapes", lambda g: g.string("general.architecture", "x\x1b[2J"), None,
     ["is not supported"]),
    ("no width", without("llama.embedding_length"), None, ["llama.embedding_length"]),
    ("a width of text", value("llama.embedding_length", STRING, text("8")), None,
     ["llama.embedding_length"]),
    ("a width of -8", value("llama.embedding_length", I32, struct.pack("<i", -8)), None, ["dim"]),
    ("2^32 - 1 layers", whole("llama.block_count", 0xffffffff), None, ["n_layers"]),
    ("no layers", whole("llama.block_count", 0), None, ["n_layers"]),
    ("two layers", whole("llama.block_count", 2), None, ["attn_norm of layer 1"]),
    ("no heads", whole("llama.attention.head_count", 0), None, ["head_count"]),
    ("three heads", whole("llama.attention.head_count", 3), None, ["head_count"]),
    ("three kv heads", whole("llama.attention.head_count_kv", 3), None, ["n_kv_heads"]),
    ("no context", whole("llama.context_length", 0), None, ["context"]),
    ("another hidden width", whole("llama.feed_forward_length", 64), None, ["ffn_gate"]),
    ("a vocabulary that is larger", lambda g: g.letters(13), None, ["token_embedding"]),
    ("epsilon NaN", real("llama.attention.layer_norm_rms_epsilon", float("nan")), None,
     ["norm_eps"]),
    ("epsilon 0", real("llama.attention.layer_norm_rms_epsilon", 0), None, ["norm_eps"]),
    ("rope base NaN", real("llama.rope.freq_base", float("nan")), None, ["rope_base"]),
    ("rope base infinite", real("llama.rope.freq_base", float("inf")), None, ["rope_base"]),
    ("rope over 7 dimensions", whole("llama.rope.dimension_count", 7), None, ["rope_dims"]),
    ("rope scaling of -1", real("llama.rope.scaling.factor", -1), None, ["rope scaling"]),
    ("rope scaling NaN", real("llama.rope.scaling.factor", float("nan")), None, ["rope scaling"]),
    ("rope scaling of a kind", value("llama.rope.scaling.type", STRING, text("bent")), None,
     ["rope scaling 'bent'"]),
    ("rope factors NaN", more("rope_freqs.weight", (32,), NAN * 32), None, ["rope scaling"]),
    ("rope factors too few", more("rope_freqs.weight", (16,), NAN * 16), None, ["rope scaling"]),
    ("long factors alone", more("rope_factors_long.weight", (32,), NAN * 32), None,
     ["rope_factors_short"]),
    ("experts", whole("llama.expert_count", 8), None, ["llama.expert_count"]),
    ("a feature unheard of", value("llama.gate", BOOL, b"\1"), None, ["llama.gate"]),
    ("a window in no pattern", lambda g: (g.u32(".attention.sliding_window", 8),
                                          g.u32(".attention.sliding_window_pattern", 3)), None,
     ["sliding_window_pattern"]),
    ("scores of text", value("tokenizer.ggml.scores", STRING, text("0")), None,
     ["tokenizer.ggml.scores"]),
    ("too few scores", lambda g: g.array("tokenizer.ggml.scores", F32, [bytes(4)]), None,
     ["scores"]),
    ("an array of arrays", value("llama.list", 9, struct.pack("<IQ", 9, 1) + bytes(12)), None,
     ["llama.list"]),
    ("a value of type 77", value("llama.list", 77, bytes(8)), None, ["llama.list"]),
    ("version 1", None, lambda b: b[:4] + struct.pack("<I", 1) + b[8:], ["version 1"]),
    ("big-endian", None, lambda b: b[:4] + struct.pack(">I", 3) + b[8:],
     ["version 3, big-endian"]),
    ("the first of three files", lambda g: split(g, 0), None, ["part 1 of 3", "-00001-of-00003.gguf"]),
    ("the last of three files", last_part, None, ["part 3 of 3", "-00003-of-00003.gguf"]),
    ("a split of text", value("split.count", STRING, text("3")), None, ["split.count"]),
]


def sections():
    """Files that are cut at the parts' edges and inside the parts."""
    parts = good().parts()
    names = ["header", "values", "tensor table", "padding", "data"]
    start = 0
    for name, part in zip(names, parts):
        for share in (0, 1, len(part) // 2, len(part) - 1):
            if 8 <= start + share and share < len(part):
                yield (f"cut {share} bytes into the {name}", start + share)
        start += len(part)


rows += [(name, None, lambda b, at=at: b[:at], []) for name, at in sections()]


def run(row):
    number, (name, change, patched, words) = row
    g = good()
    if change is not None:
        change(g)
    whole_file = b"".join(g.parts())
    path = os.path.join(WORK, f"hostile-{number}.gguf")
    with open(path, "wb") as out:
        out.write(patched(whole_file) if patched is not None else whole_file)
    result = pack(path)
    os.unlink(path)
    return result


path = os.path.join(WORK, "hostile-good.gguf")
good().write(path)
status, said = pack(path)
tap.ok(status == 0, "the file that all are made of is packed", said)

with ThreadPoolExecutor(os.cpu_count()) as pool:
    for (name, _, _, words), (status, said) in zip(rows, pool.map(run, enumerate(rows))):
        check(tap, name, words, status, said)

# Texts of 2 GB, in files that are mostly holes.
for key in ("general.name", "tokenizer.chat_template", "general.architecture", "a key of its own"):
    g = good()
    g.values.insert(1, (key, STRING, struct.pack("<Q", 1 << 31)))
    front = struct.pack("<4sIQQ", b"GGUF", 3, 0, len(g.values))
    first = b"".join(text(k) + struct.pack("<I", n) + raw for k, n, raw in g.values[:2])
    rest = b"".join(text(k) + struct.pack("<I", n) + raw for k, n, raw in g.values[2:])
    path = os.path.join(WORK, "hostile-large.gguf")
    with open(path, "wb") as out:
        out.write(front + first)
        out.seek(1 << 31, os.SEEK_CUR)
        out.write(rest)
    status, said = pack(path)
    os.unlink(path)
    check(tap, f"2 GB of {key}", [key] if key != "general.architecture" else [], status, said)

# ---- .ingot -----------------------------------------------------------------------------------

PACKED = os.path.join(WORK, "hostile-good.ingot")
good().write(path := os.path.join(WORK, "hostile-good.gguf"))
subprocess.run([INGOT, "pack", path, "-o", PACKED, "-q", "--type", "q8_0"], check=True,
               timeout=SECONDS)
with open(PACKED, "rb") as f:
    INGOT_FILE = f.read()
PARAMS, SECTIONS = 88, 216
AT = [struct.unpack_from("<Q", INGOT_FILE, SECTIONS + 24 * i)[0] for i in range(6)]
TOKENIZER, CHAT, _, LAYERS, SEGMENTS, TENSORS = AT
LAYER = SEGMENTS + 64
LAYER_AT = struct.unpack_from("<Q", INGOT_FILE, LAYER)[0]
ATTN_Q = TENSORS + 2 * 64
Q_AT = LAYER_AT + struct.unpack_from("<Q", INGOT_FILE, ATTN_Q + 24)[0]

# Rows: name, place, new contents, words of the error message.
FILES = [
    ("2^32 - 1 layers", PARAMS + 8, "<I", 0xffffffff, ["n_layers"]),
    ("no width", PARAMS + 4, "<I", 0, ["dim is 0"]),
    ("2^63 bytes", 16, "<Q", 1 << 63, ["cut short"]),
    ("2^63 bytes of tokenizer", SECTIONS + 8, "<Q", 1 << 63, ["tokenizer.bytes"]),
    ("sections that overlap", SECTIONS + 24, "<Q", 4096, ["chat.offset"]),
    ("a section past the end", SECTIONS + 120, "<Q", 1 << 40, ["tensors.offset"]),
    ("2^31 bytes of token texts", TOKENIZER + 60, "<I", 1 << 31, ["tokenizer: text"]),
    ("2^32 - 1 tokens", TOKENIZER + 8, "<I", 0xffffffff, ["n_tokens"]),
    ("a NaN score", TOKENIZER + 64, None, NAN, ["score", "not finite"]),
    ("a string of 2 GB", CHAT + 8, "<I", 1 << 31, ["chat: string 2"]),
    ("tensors that overlap", ATTN_Q + 64 + 24, "<Q", 1024, ["attn_k: offset"]),
    ("an offset past the end", ATTN_Q + 24, "<Q", 1 << 40, ["attn_q: offset"]),
    ("a tensor twice", ATTN_Q + 64, "<H", 4, ["attn_k", "role 4"]),
    ("2^32 - 1 rows", ATTN_Q + 8, "<I", 0xffffffff, ["attn_q: rows"]),
    ("segments that overlap", LAYER, "<Q", 4096, ["layer 0: offset"]),
    ("a phase past the end", LAYER + 32, "<Q", 1 << 40, ["layer 0: phase_end[0]"]),
    ("an unknown mixer", LAYERS, "<B", 77, ["layer 0: mixer is 77, which this program lacks"]),
    ("2^32 - 1 heads in a layer", LAYERS + 8, "<I", 0xffffffff, ["layer 0: n_heads"]),
    ("the version before", 8, "<I", 2, ["version is 2", "pack the model again"]),
    ("a NaN scale", Q_AT, "<H", 0x7e00, ["layer 0: attn_q", "not finite"]),
    ("an infinite norm", LAYER_AT, "<I", 0x7f800000, ["layer 0: attn_norm", "not finite"]),
]


def seal(raw):
    """All checksums are correct, so the field itself must be the reason for the refusal."""
    count, = struct.unpack_from("<I", INGOT_FILE, SECTIONS + 4 * 24 + 20)
    for i in range(count):
        at, size = struct.unpack_from("<QQ", INGOT_FILE, SEGMENTS + 64 * i)
        if raw[at:at + size] != INGOT_FILE[at:at + size]:
            struct.pack_into("<I", raw, SEGMENTS + 64 * i + 16, crc32c(raw[at:at + size]))
    for i in range(6):
        at, size = struct.unpack_from("<QQ", INGOT_FILE, SECTIONS + 24 * i)
        struct.pack_into("<I", raw, SECTIONS + 24 * i + 16, crc32c(raw[at:at + size]))
    struct.pack_into("<I", raw, 12, 0)
    struct.pack_into("<I", raw, 12, crc32c(raw[:4096]))


for name, at, form, value, words in FILES:
    raw = bytearray(INGOT_FILE)
    at = struct.unpack_from("<I", INGOT_FILE, TOKENIZER + 40)[0] + TOKENIZER if name == \
        "a NaN score" else at
    new = value if form is None else struct.pack(form, value)
    raw[at:at + len(new)] = new
    seal(raw)
    with open(PACKED, "wb") as out:
        out.write(raw)
    done = subprocess.run([INGOT, "verify", PACKED], capture_output=True, timeout=SECONDS)
    check(tap, ".ingot: " + name, words, done.returncode, done.stderr.decode("utf-8", "replace"))
tap.done()
