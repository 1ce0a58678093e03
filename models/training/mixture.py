"""The demo model as a mixture: each dense feed-forward is replaced by sixteen smaller ones, of which a token uses two.
Names and router are those of Mixtral."""

import json
import struct

import torch
import torch.nn.functional as F

from model import HIDDEN, LAYERS, Q4, WIDTH, Demo, SwiGlu, named_as_llama

EXPERTS, USED, EXPERT_HIDDEN = 16, 2, HIDDEN // 2
BALANCE = 0.0002  # weight of the loss for uneven use of experts; this small one leaves the use far from even


def read_safetensors(path):
    """Read {name: tensor} from a file in F32, as export.py writes it."""
    with open(path, "rb") as f:
        header = json.loads(f.read(struct.unpack("<Q", f.read(8))[0]))
        data = bytearray(f.read())
    header.pop("__metadata__", None)
    return {name: torch.frombuffer(data, dtype=torch.float32, count=(t["data_offsets"][1] -
                                   t["data_offsets"][0]) // 4, offset=t["data_offsets"][0])
            .view(t["shape"]) for name, t in header.items()}


def load_dense(model, path):
    """Load the weights of models/demo into a Demo."""
    tensors = read_safetensors(path)
    for name, part in named_as_llama(model):
        part.data.copy_(tensors[name])


class Mixture(Demo):
    """Each expert begins as a random half of the dense part's hidden units, so two of them together give about the
    dense part's result."""

    def __init__(self, dense_path):
        super().__init__()
        load_dense(self, dense_path)
        router = [torch.randn(EXPERTS, WIDTH) / WIDTH ** 0.5 for _ in range(LAYERS)]
        self.router = torch.nn.ParameterList([torch.nn.Parameter(w) for w in router])
        for i in range(LAYERS):
            gate_up, down = self.cut(self.gate_up[i].data, self.down[i].data)
            self.gate_up[i] = torch.nn.Parameter(gate_up)
            self.down[i] = torch.nn.Parameter(down)
        self.balance, self.counts = 0.0, torch.zeros(LAYERS, EXPERTS)

    @staticmethod
    def cut(gate_up, down):
        """(EXPERTS * 2 * EXPERT_HIDDEN, WIDTH) and (EXPERTS * WIDTH, EXPERT_HIDDEN): one expert
        after the other."""
        gates, downs = [], []
        for _ in range(EXPERTS):
            units = torch.randperm(HIDDEN)[:EXPERT_HIDDEN]
            gates.append(torch.cat((gate_up[units], gate_up[HIDDEN + units])))
            downs.append(down[:, units] * (HIDDEN / EXPERT_HIDDEN))
        return torch.cat(gates), torch.cat(downs)

    def route(self, x, layer):
        """Return each token's experts and their weights, which sum to 1."""
        logits = F.linear(x.float(), self.router[layer])
        best, chosen = logits.topk(USED, -1)
        counts = torch.bincount(chosen.flatten(), minlength=EXPERTS)
        self.counts[layer] += counts.cpu()
        share = counts / chosen.numel()
        self.balance = self.balance + EXPERTS * (share * logits.softmax(-1).mean(0)).sum()
        return chosen, best.softmax(-1), counts

    def expert_weights(self, w, rows):
        """Return the weights in F32, because in bfloat16 PyTorch compiles a multiplication again for each number of
        tokens."""
        w = Q4.apply(w) if self.as_q4 else w
        return w.view(EXPERTS, rows, -1).unbind(0)

    def feed(self, x, layer):
        flat = x.reshape(-1, WIDTH)
        chosen, weights, counts = self.route(flat, layer)
        order = chosen.flatten().argsort(stable=True)
        token = order // USED
        gate_up = self.expert_weights(self.gate_up[layer], 2 * EXPERT_HIDDEN)
        down = self.expert_weights(self.down[layer], WIDTH)
        parts = []
        for i, part in enumerate(flat[token].float().split(counts.tolist())):
            parts.append(F.linear(SwiGlu.apply(F.linear(part, gate_up[i])), down[i]))
        y = torch.cat(parts) * weights.flatten()[order][:, None]
        return torch.zeros(flat.shape).to(y).index_add(0, token, y).view(x.shape)

    def loss(self, ids, learned):
        self.balance = 0.0
        return super().loss(ids, learned) + BALANCE * self.balance


def named_as_mixtral(model):
    """Return the tensors by the names of Hugging Face's Mixtral."""
    for name, part in named_as_llama(model):
        if ".mlp." not in name:
            yield name, part
    for i in range(LAYERS):
        at = f"model.layers.{i}.block_sparse_moe."
        yield at + "gate.weight", model.router[i]
        gate_up = model.gate_up[i].view(EXPERTS, 2, EXPERT_HIDDEN, WIDTH)
        down = model.down[i].view(EXPERTS, WIDTH, EXPERT_HIDDEN)
        for e in range(EXPERTS):
            yield f"{at}experts.{e}.w1.weight", gate_up[e, 0]
            yield f"{at}experts.{e}.w3.weight", gate_up[e, 1]
            yield f"{at}experts.{e}.w2.weight", down[e]
