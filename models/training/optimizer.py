"""The optimizers: an orthogonal step (Muon) changes the matrices inside the layers, PyTorch's AdamW the embedding and
the norms."""

import torch

from model import HALF


def orthogonal(g):
    """Return roughly the nearest semi-orthogonal matrices to g (n, rows, columns), rows <= columns, by five
    Newton-Schulz steps whose coefficients make small singular values grow fast."""
    a, b, c = 3.4445, -4.7750, 2.0315
    x = (g / (g.norm(dim=(1, 2), keepdim=True) + 1e-7)).to(HALF)
    for _ in range(5):
        s = x @ x.transpose(1, 2)
        x = a * x + (b * s + c * (s @ s)) @ x
    return x.float()


class Muon:
    """Each matrix is divided into parts that are separate matrices: q, k and v, gate and up."""

    def __init__(self, groups, momentum=0.95):
        """groups: [(parameters of one shape, parts)]"""
        self.groups, self.momentum = groups, momentum
        self.speed = [torch.zeros(self.stack(p, parts).shape) for p, parts in groups]

    @staticmethod
    def stack(parameters, parts):
        return torch.cat([torch.stack(p.detach().chunk(parts)) for p in parameters])

    def step(self, rate):
        for (parameters, parts), speed in zip(self.groups, self.speed):
            g = torch.cat([torch.stack(p.grad.chunk(parts)) for p in parameters])
            speed.mul_(self.momentum).add_(g, alpha=1 - self.momentum)
            g = g.lerp(speed, self.momentum)
            tall = g.shape[1] > g.shape[2]
            move = orthogonal(g.transpose(1, 2) if tall else g)
            move = move.transpose(1, 2) if tall else move
            scale = rate * max(1.0, g.shape[1] / g.shape[2]) ** 0.5
            for p, m in zip(parameters, move.split(parts)):
                p.data.add_(m.reshape(p.shape), alpha=-scale)

    def state(self):
        return self.speed

    def load(self, speed):
        self.speed = speed
