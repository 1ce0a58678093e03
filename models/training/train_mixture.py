#!/usr/bin/python3
"""Trains the demo mixture: from the weights of models/demo, on the rows that rows.py wrote.

usage: train_mixture.py ROWS FOLDER [--threads N] [--device cpu|cuda]

ROWS: the folder of rows.py. FOLDER/state.pt is written every few minutes, and the next call continues from it. At the
end FOLDER/trained.pt has the weights."""

import argparse
import os
import sys

import torch

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from mixture import EXPERTS, Mixture
from optimizer import Muon
from train import Training

SEED = 11
DENSE = os.path.join(HERE, "../demo/model.safetensors")
# As in train.py; the model can already talk, so the rates are lower.
STAGES = [("rows-512.bin", 512, 4, 700, 0.4, 0.3, False),
          ("rows-last.bin", 512, 4, 700, 0.3, 0.0, True)]
ROUTER_RATE = 0.002


class MixtureTraining(Training):
    stages = STAGES

    def __init__(self, rows, folder, device):
        torch.manual_seed(SEED)
        self.rows, self.folder, self.device = rows, folder, device
        self.model = m = Mixture(DENSE).to(device)
        self.muon = Muon([(list(m.qkv), 3), (list(m.out), 1), (list(m.gate_up), 2 * EXPERTS),
                          (list(m.down), EXPERTS)])
        self.muon.load([s.to(device) for s in self.muon.state()])
        self.adam = torch.optim.AdamW([m.embedding, *m.norms, *m.router], lr=ROUTER_RATE,
                                      betas=(0.9, 0.98), weight_decay=0.0)
        self.adam_rate, self.done = ROUTER_RATE, 0
        self.seconds, self.cpu = 0.0, 0.0

    def report(self):
        super().report()
        if self.done % 100 == 0:
            share = self.model.counts / self.model.counts.sum(1, keepdim=True)
            for i, s in enumerate(share.sort(descending=True)[0]):
                print(f"layer {i}, use in percent:", *(f"{100 * x:.0f}" for x in s), flush=True)
            self.model.counts.zero_()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("rows")
    parser.add_argument("folder")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--device", default="cpu")
    a = parser.parse_args()
    torch.set_num_threads(a.threads)
    os.makedirs(a.folder, exist_ok=True)
    training = MixtureTraining(a.rows, a.folder, a.device)
    print(f"{sum(p.numel() for p in training.model.parameters())} parameters, on {a.device}, "
          f"{a.threads} threads, PyTorch {torch.__version__}", flush=True)
    training.resume()
    training.run()


if __name__ == "__main__":
    main()
