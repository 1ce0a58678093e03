#!/usr/bin/python3
"""Trains the demo model on the rows that rows.py wrote.

usage: train.py FOLDER [--threads N]

FOLDER/state.pt is written every few minutes, and the next call continues from it. At the end FOLDER/trained.pt has the
weights."""

import argparse
import os
import sys
import time

import numpy
import torch

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from copying import lay_in
from model import Demo
from optimizer import Muon

SEED = 8
LEARNED = 0x8000
# (rows, length, rows a step, steps, share of the full rate at the first and after the last, every
# second step as Q4_0). The length of the first stage can be changed without the rest. The last stage has the actions,
# at the full rate again.
STAGES = [("rows-128.bin", 128, 16, 200, 1.0, 1.0, False),
          ("rows-256.bin", 256, 8, 1400, 1.0, 1.0, False),
          ("rows-256.bin", 256, 8, 800, 1.0, 0.3, False),
          ("rows-512.bin", 512, 4, 900, 0.3, 0.0923, True),
          ("rows-last.bin", 512, 4, 800, 0.2, 0.0, True),
          ("rows-acting.bin", 512, 8, 10000, 1.0, 0.0, True)]
MUON_RATE, ADAM_RATE, WARM_UP, SAVE_EVERY = 0.008, 0.004, 50, 100


def open_rows(folder, name, length):
    return numpy.fromfile(os.path.join(folder, name), numpy.uint16).reshape(-1, length + 1)


def batch(rows, first, size, device):
    """Return rows in the order of the file; after the last row it begins again."""
    at = (numpy.arange(size) + first) % len(rows)
    ids = torch.from_numpy(rows[at].astype(numpy.int64)).to(device)
    return ids & (LEARNED - 1), (ids[:, 1:] & LEARNED) != 0


class Training:
    stages = STAGES

    def __init__(self, folder, device):
        torch.manual_seed(SEED)
        self.rows, self.folder, self.device = folder, folder, device
        self.model = Demo()
        lay_in(self.model)
        self.model.to(device)
        m = self.model
        self.muon = Muon([(list(m.qkv), 3), (list(m.out), 1), (list(m.gate_up), 2),
                          (list(m.down), 1)])
        self.muon.load([s.to(device) for s in self.muon.state()])
        self.adam = torch.optim.AdamW([m.embedding, *m.norms], lr=ADAM_RATE, betas=(0.9, 0.98),
                                      weight_decay=0.0)
        self.adam_rate, self.done = ADAM_RATE, 0
        self.seconds, self.cpu = 0.0, 0.0

    def path(self, name):
        return os.path.join(self.folder, name)

    def save(self):
        state = {"model": self.model.state_dict(), "muon": self.muon.state(),
                 "adam": self.adam.state_dict(), "done": self.done, "seconds": self.seconds,
                 "cpu": self.cpu}
        torch.save(state, self.path("state.tmp"))
        os.replace(self.path("state.tmp"), self.path("state.pt"))

    def resume(self):
        if not os.path.exists(self.path("state.pt")):
            return
        state = torch.load(self.path("state.pt"), map_location=self.device)
        self.model.load_state_dict(state["model"])
        self.muon.load(state["muon"])
        self.adam.load_state_dict(state["adam"])
        self.done, self.seconds, self.cpu = state["done"], state["seconds"], state["cpu"]
        print(f"resumed after step {self.done}", flush=True)

    def step(self, ids, learned, share, as_q4):
        self.model.as_q4 = as_q4
        loss = self.model.loss(ids, learned)
        loss.backward()
        self.muon.step(MUON_RATE * share)
        for group in self.adam.param_groups:
            group["lr"] = self.adam_rate * share
        self.adam.step()
        for p in self.model.parameters():
            p.grad = None
        return loss.item()

    def stage(self, first, first_row, name, length, size, steps, rate, last_rate, q4):
        """Do those of the steps first ... first + steps - 1 that are not done yet."""
        rows = open_rows(self.rows, name, length)
        while self.done < first + steps:
            i = self.done - first
            share = min(1.0, (self.done + 1) / WARM_UP) * (rate + (last_rate - rate) * i / steps)
            ids, learned = batch(rows, first_row + i * size, size, self.device)
            # Every second step rounds to Q4_0, so the weights suit both, as they are and as Q4_0.
            self.losses.append(self.step(ids, learned, share, q4 and i % 2 == 1))
            self.done += 1
            self.report()

    def report(self):
        now = time.time()
        if self.done % 20 == 0:
            self.seconds += now - self.last
            self.cpu += time.process_time() - self.last_cpu
            self.last, self.last_cpu = now, time.process_time()
            left = (sum(s[3] for s in self.stages) - self.done) * self.seconds / self.done
            loss = sum(self.losses) / len(self.losses)
            print(f"step {self.done}, loss {loss:.4f}, {self.seconds:.0f} s, {self.cpu:.0f} s of "
                  f"CPU, {left / 60:.0f} minutes left", flush=True)
            self.losses = []
        if self.done % SAVE_EVERY == 0:
            self.save()

    def run(self):
        self.last, self.last_cpu, self.losses = time.time(), time.process_time(), []
        first, rows = 0, {}
        for s in self.stages:
            name, _, size, steps = s[:4]
            self.stage(first, rows.get(name, 0), *s)
            first += steps
            rows[name] = rows.get(name, 0) + size * steps
        torch.save(self.model.state_dict(), self.path("trained.pt"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    a = parser.parse_args()
    torch.set_num_threads(a.threads)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    training = Training(a.folder, device)
    print(f"{sum(p.numel() for p in training.model.parameters())} parameters, on {device}, "
          f"{a.threads} threads, PyTorch {torch.__version__}", flush=True)
    training.resume()
    training.run()


if __name__ == "__main__":
    main()
