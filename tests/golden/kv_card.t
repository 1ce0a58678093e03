#!/usr/bin/python3
"""Keys and values on a card: ids and logits equal those with keys and values in memory, for each type, with weights in memory and streamed, on one
core and four, on this computer and on machines with a card."""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kv_model
from machine import ARM64, HOST, WORK, Machine, Reply, Tap, make_card, run
from machine import LONG as MORE
from talk import own_copy, sd_drive

tap = Tap()
MODEL = kv_model.model()
FILE = os.path.join(WORK, "kv-card.kv")
with open(FILE, "wb") as f:
    f.truncate(kv_model.file_bytes("f16"))
SHORT = "Once."
LONG = "It rained for a week, and then it snowed. " * 7  # one token per letter: five pages
CARD = make_card("kv-card.img", "--power-of-two", "--kv", "2", MODEL)


def on_host(prompt, kv, cores=1, n=90, more=()):
    command = [HOST, "run", MODEL, "-p", prompt, "-n", str(n), "--temp", "0", "--ids", "--kv", kv,
               "-t", str(cores), "-c", str(kv_model.CONTEXT), "--kv-file", FILE]
    status, console = run(command + list(more))
    r = Reply(console)
    r.status = status
    return r


def spilled(r):
    """Layers on the card, bytes read and bytes written are those of the plan."""
    plan = re.search(r"; (\d+) of 5 layers on the card", r.console)
    figures = re.search(r"keys and values: read ([^,]*), wrote ([^,\]]*)", r.stats)
    return (int(plan.group(1)) if plan else 0,
            bool(figures) and figures.group(1) != "0 B" and figures.group(2) != "0 B")


def same(r, base):
    return r.status == 0 and r.ids and r.ids == base.ids and r.hash == base.hash


for kind, name in (("f16", "card"), ("q8", "card,q8")):
    for prompt, label in ((SHORT, "short"), (LONG, "long")):
        base = on_host(prompt, kind)
        # One type with the longer prompt runs in all four ways. The other types run in two of these ways, which
        # differ in streaming and in the number of cores.
        ways = [(False, 1), (True, 1), (False, 4), (True, 4)]
        for streamed, cores in ways if MORE or (kind, label) == ("f16", "long") else ways[1:3]:
            r = on_host(prompt, name, cores, more=["--mem", str(kv_model.memory(MODEL, kind, streamed))])
            tap.ok(same(r, base) and spilled(r) == (5, True) and ("streamed" if streamed else "resident") in r.stats,
                   f"host, kv={name}, {label}, {'streamed' if streamed else 'resident'}, {cores} cores: as in memory",
                   r.console)

base = on_host(LONG, "f16")
limit = kv_model.memory(MODEL, "f16", False)
r = on_host(LONG, "card", more=["--mem", str(limit), "--spec", "ngram"])
tap.ok(same(r, base) and "guesses right" in r.stats, "with guesses, replies are as in memory", r.console)
r = on_host(LONG, "card", more=["--mem", str(limit), "--chunk", "16"])
tap.ok(same(r, base), "with a prompt of many chunks, replies are as in memory", r.console)
whole = kv_model.page_bytes("f16") * kv_model.CONTEXT // kv_model.TILE
r = on_host(LONG, "card", more=["--mem", str(limit + whole + 8192)])
tap.ok(same(r, base) and spilled(r) == (4, True), "a layer that fits stays in memory", r.console)
r = on_host(LONG, "card")
tap.ok(same(r, base) and spilled(r) == (0, False), "if all layers fit, nothing is written", r.console)
status, text = run([HOST, "plan", MODEL, "-c", str(kv_model.CONTEXT), "--kv", "card", "--mem",
                    str(limit), "--card", "1M", "--mem-bw", "5G"])
seconds = kv_model.file_bytes("f16") / 1e6
tap.ok(status == 0 and "5 of 5 layers on the card: up to 1.25 MiB there" in text and
       f"with a full context the card takes at least {seconds:.2f} s a token" in text,
       "the plan says what keys and values on the card cost", text)

# QEMU's card has 1 MB/s on rpi4.
for machine, n in ((ARM64, 40), (Machine("rpi4"), 40)) if MORE else ((ARM64, 24),):
    base = on_host(LONG, "f16", n=n)
    for streamed in (False, True):
        card = own_copy(CARD, f"kv-card-{machine.board}.img")
        drive = ["-drive", f"if=none,id=card,format=raw,cache=unsafe,file={card}",
                 "-device", "virtio-blk-device,drive=card"]
        words = (f'prompt="{LONG}" n={n} temp=0 ids spec=off ctx={kv_model.CONTEXT} kv=card '
                 f"mem={kv_model.memory(MODEL, 'f16', streamed)}")
        status, console = machine.run(words, 4, drive if machine is ARM64
                                      else sd_drive(machine.board, card), timeout=300)
        r = Reply(console)
        r.status = status
        tap.ok(same(r, base) and spilled(r) == (5, True),
               f"{machine.label}, {'streamed' if streamed else 'resident'}: as the host in memory",
               console)
        os.unlink(card)
tap.done()
