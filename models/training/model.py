"""A Llama in PyTorch that is small enough for training on one core of a CPU."""

import math

import torch
import torch.nn.functional as F

VOCABULARY, WIDTH, LAYERS, HEADS, HIDDEN = 2048, 128, 4, 4, 384
HEAD_DIM = WIDTH // HEADS
CONTEXT, THETA, EPSILON = 512, 10000.0, 1e-5


def multiplies_bf16():
    """True if this computer multiplies bfloat16 in hardware, which is twice as fast and exact enough here."""
    try:
        with open("/proc/cpuinfo", encoding="ascii") as f:
            return "avx512_bf16" in f.read()
    except OSError:
        return False


HALF = torch.bfloat16 if torch.cuda.is_available() or multiplies_bf16() else torch.float32


class Q4(torch.autograd.Function):
    """Round weights as Q4_0 does, in blocks of 32 of a row; gradients pass unchanged."""

    @staticmethod
    def forward(ctx, w):
        blocks = w.reshape(-1, 32)
        at = blocks.abs().argmax(1, keepdim=True)
        d = (blocks.gather(1, at) / -8).half().float()
        inverse = torch.where(d != 0, 1 / d, torch.zeros_like(d))
        return ((blocks * inverse + 8.5).floor().clamp(0, 15) - 8).mul_(d).reshape(w.shape)

    @staticmethod
    def backward(ctx, gradient):
        return gradient


class RmsNorm(torch.autograd.Function):
    """Compute x / rms(x) * w, with a backward pass that stores little."""

    @staticmethod
    def forward(ctx, x, w):
        inverse = x.pow(2).mean(-1, keepdim=True).add_(EPSILON).rsqrt_()
        normed = x * inverse
        ctx.save_for_backward(normed, inverse, w)
        return (normed * w).to(HALF)

    @staticmethod
    def backward(ctx, gradient):
        normed, inverse, w = ctx.saved_tensors
        gradient = gradient.float()
        both = gradient * normed
        share = (both @ w).div_(w.shape[0]).unsqueeze(-1)
        dx = (gradient * w).addcmul_(normed, share, value=-1).mul_(inverse)
        return dx, both.sum((0, 1))


class SwiGlu(torch.autograd.Function):
    """Compute silu(gate) * up of the two halves of x by the sigmoid, whose gradient is cheap."""

    @staticmethod
    def forward(ctx, x):
        gate, up = x.chunk(2, -1)
        share = torch.sigmoid(gate)
        ctx.save_for_backward(x, share)
        return (gate * share).mul_(up)

    @staticmethod
    def backward(ctx, gradient):
        x, share = ctx.saved_tensors
        gate, up = x.chunk(2, -1)
        silu = gate * share
        d_gate = torch.addcmul(share, silu, 1 - share).mul_(up).mul_(gradient)
        return torch.cat((d_gate, silu.mul_(gradient)), -1)


class CrossEntropy(torch.autograd.Function):
    """Compute the mean of -log softmax(logits)[target], and at the same time the gradient, in place."""

    @staticmethod
    def forward(ctx, logits, target):
        share = logits.softmax(-1)
        right = share.gather(1, target[:, None])
        share.scatter_add_(1, target[:, None], torch.full_like(right, -1))
        ctx.save_for_backward(share)
        return -right.clamp_min(1e-30).log().mean()

    @staticmethod
    def backward(ctx, gradient):
        share, = ctx.saved_tensors
        return share * (gradient / share.shape[0]), None


def rope_tables(length):
    """Cosines and sines, (length, HEAD_DIM / 2)."""
    frequency = THETA ** (-torch.arange(0, HEAD_DIM, 2).float() / HEAD_DIM)
    angle = torch.arange(length).float()[:, None] * frequency[None, :]
    return angle.cos(), angle.sin()


class Demo(torch.nn.Module):
    def __init__(self):
        super().__init__()

        def matrix(rows, columns, scale):
            return torch.nn.Parameter(torch.randn(rows, columns) * scale)

        near = 1 / math.sqrt(WIDTH)
        out = 0.02 * near
        self.embedding = matrix(VOCABULARY, WIDTH, 0.05)
        self.qkv = torch.nn.ParameterList([matrix(3 * WIDTH, WIDTH, near) for _ in range(LAYERS)])
        self.out = torch.nn.ParameterList([matrix(WIDTH, WIDTH, out) for _ in range(LAYERS)])
        self.gate_up = torch.nn.ParameterList([matrix(2 * HIDDEN, WIDTH, near)
                                               for _ in range(LAYERS)])
        self.down = torch.nn.ParameterList([matrix(WIDTH, HIDDEN, out) for _ in range(LAYERS)])
        self.norms = torch.nn.ParameterList([torch.nn.Parameter(torch.ones(WIDTH))
                                             for _ in range(2 * LAYERS + 1)])
        cos, sin = rope_tables(CONTEXT)
        self.register_buffer("cos", cos.to(HALF), persistent=False)
        self.register_buffer("sin", sin.to(HALF), persistent=False)
        mask = torch.full((CONTEXT, CONTEXT), float("-inf")).triu(1)
        self.register_buffer("mask", mask.to(HALF), persistent=False)
        self.as_q4 = False

    def weight(self, w):
        return (Q4.apply(w) if self.as_q4 else w).to(HALF)

    def rotate(self, x):
        """Rotate x (B, T, heads, HEAD_DIM), whose pairs are half a head apart."""
        a, b = x.chunk(2, -1)
        cos, sin = self.cos[:x.shape[1], None], self.sin[:x.shape[1], None]
        return torch.cat((a * cos - b * sin, a * sin + b * cos), -1)

    def attend(self, x, layer):
        b, t, _ = x.shape
        qkv = F.linear(x, self.weight(self.qkv[layer])).view(b, t, 3 * HEADS, HEAD_DIM)
        qk = self.rotate(qkv[:, :, :2 * HEADS]).permute(0, 2, 1, 3)
        v = qkv[:, :, 2 * HEADS:].transpose(1, 2)
        q, k = qk[:, :HEADS] * (HEAD_DIM ** -0.5), qk[:, HEADS:]
        share = (q @ k.transpose(-1, -2)).add_(self.mask[:t, :t]).softmax(-1)
        y = (share @ v).transpose(1, 2).reshape(b, t, WIDTH)
        return F.linear(y, self.weight(self.out[layer]))

    def feed(self, x, layer):
        h = SwiGlu.apply(F.linear(x, self.weight(self.gate_up[layer])))
        return F.linear(h, self.weight(self.down[layer]))

    def loss(self, ids, learned):
        """Return the loss. ids (B, T + 1); learned (B, T) is true where the model must learn the next id."""
        embedding = Q4.apply(self.embedding) if self.as_q4 else self.embedding
        x = F.embedding(ids[:, :-1], embedding)
        for i in range(LAYERS):
            x = x + self.attend(RmsNorm.apply(x, self.norms[2 * i]), i)
            x = x + self.feed(RmsNorm.apply(x, self.norms[2 * i + 1]), i)
        x = RmsNorm.apply(x, self.norms[-1])[learned]
        return CrossEntropy.apply(F.linear(x, embedding.to(HALF)).float(), ids[:, 1:][learned])


def named_as_llama(model):
    """Return the tensors by the names of Hugging Face's Llama, in order."""
    yield "model.embed_tokens.weight", model.embedding
    for i in range(LAYERS):
        at = f"model.layers.{i}."
        yield at + "input_layernorm.weight", model.norms[2 * i]
        for name, part in zip("qkv", model.qkv[i].chunk(3)):
            yield f"{at}self_attn.{name}_proj.weight", part
        yield at + "self_attn.o_proj.weight", model.out[i]
        yield at + "post_attention_layernorm.weight", model.norms[2 * i + 1]
        for name, part in zip(("gate", "up"), model.gate_up[i].chunk(2)):
            yield f"{at}mlp.{name}_proj.weight", part
        yield at + "mlp.down_proj.weight", model.down[i]
    yield "model.norm.weight", model.norms[-1]
