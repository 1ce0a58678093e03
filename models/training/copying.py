"""Initial weights that copy from the first step on. To answer a question about a story, the model must
find words of the prompt again: "after fox came a", so "fox" again. Two attention layers do that: one
looks at the token before, the other looks for the token that followed an equal token. A small model
needs thousands of steps to learn them by itself. This file sets them roughly; training improves
them."""

import torch

from model import HEADS, HEAD_DIM, THETA, WIDTH

# The width has three parts: one that is equal for all tokens, one for the token, and one for the token before
# it.
CONSTANT, BEFORE = 0, WIDTH - HEAD_DIM
CONTENT = slice(1, BEFORE)
SPREAD = 0.05
FAST, SLOW = 6, 8  # pairs 0 ... FAST - 1 distinguish near positions; those from SLOW on hardly rotate


def directions(n):
    """Return (n, WIDTH) orthonormal rows within the part for the token."""
    out = torch.zeros(n, WIDTH)
    out[:, CONTENT] = torch.linalg.qr(torch.randn(BEFORE - 1, n))[0].t()
    return out


def embed(model):
    w = model.embedding.data
    w[:, CONSTANT] = 2 * SPREAD
    w[:, BEFORE:] *= 0.1


def look_back(model, read):
    """Set layer 0, head 0: it attends to the position before, and writes what it reads to BEFORE."""
    qkv, pairs = model.qkv[0].data, HEAD_DIM // 2
    turn = THETA ** (-torch.arange(FAST).float() / pairs)
    q, k, v = (qkv[i * WIDTH:i * WIDTH + HEAD_DIM] for i in range(3))
    for part in (q, k):
        part[:FAST], part[pairs:pairs + FAST] = 0, 0
        part *= 0.3
    q[:FAST, CONSTANT] = 3.0
    k[:FAST, CONSTANT] = 3.0 * turn.cos()
    k[pairs:pairs + FAST, CONSTANT] = 3.0 * turn.sin()
    v.copy_(read)
    model.out[0].data[BEFORE:, :HEAD_DIM] = torch.eye(HEAD_DIM) * SPREAD


def look_for_equal(model, read, head):
    """Set layer 1: it attends to positions whose previous token equals the current token, and outputs the token there.
    Each head compares half of what look_back() read."""
    qkv, half, pairs = model.qkv[1].data, HEAD_DIM // 2, HEAD_DIM // 2
    at = head * HEAD_DIM
    rows = torch.cat((torch.arange(SLOW, pairs), torch.arange(pairs + SLOW, 2 * pairs)))
    q, k, v = (qkv[i * WIDTH + at:i * WIDTH + at + HEAD_DIM] for i in range(3))
    q *= 0.1
    k *= 0.1
    compared = slice(head * half, (head + 1) * half)
    q[rows] = 2 * read[compared]
    k[rows] = 0
    k[rows, torch.arange(BEFORE, WIDTH)[compared]] = 2.0
    said = directions(HEAD_DIM)
    v.copy_(said)
    model.out[1].data[:, at:at + HEAD_DIM] = said.t() * 4 * SPREAD


def lay_in(model):
    assert HEADS >= 2 and HEAD_DIM // 2 == 2 * (HEAD_DIM // 2 - SLOW)
    read = directions(HEAD_DIM)
    embed(model)
    look_back(model, read)
    for head in range(2):
        look_for_equal(model, read, head)
