"""A model whose keys and values spill, and the memory limit that makes them spill: shared by the suites of kv=card."""

from machine import segments
from talk import make_model

LAYERS, CONTEXT, HEADS, HEAD_DIM, TILE = 5, 1024, 2, 32, 64


def model():
    return make_model("kv-card", 11, dim=128, layers=LAYERS, context=CONTEXT, head_dim=HEAD_DIM)


def page_bytes(kind):
    return 2 * HEADS * TILE * {"f16": 2 * HEAD_DIM, "q8": HEAD_DIM + 4, "f32": 4 * HEAD_DIM}[kind]


def file_bytes(kind, context=CONTEXT):
    return LAYERS * context // TILE * page_bytes(kind)


def memory(path, kind, streamed, context=CONTEXT):
    """A mem= with which keys and values have two slots, and no room for another layer."""
    sizes = [size for _, size in segments(path)]
    weights = 2 * max(sizes[1:-1]) + 4 * 4096 if streamed else sum(sizes)
    whole = context // TILE * page_bytes(kind)
    return weights + 2 * whole + LAYERS * (page_bytes(kind) + context // TILE * 4 + 64) + 8192
