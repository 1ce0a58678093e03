#!/usr/bin/python3
"""A model of almost 4 GiB with 256 MiB of memory gives the same id and logits on the host and in the image. On the card it begins after 2 GiB and
ends after 6 GiB. This takes a minute, and 9 GB of disk for a while, so only `make test-long` runs it."""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import ARM64, HOST, ROOT, WORK, Reply, Tap, card_arguments, run

SECONDS = 3000
tap = Tap()
if not os.environ.get("INGOT_LONG"):
    tap.skip("a model of 4 GiB", "INGOT_LONG is not set")
    tap.done()
os.makedirs(WORK, exist_ok=True)
MODEL = os.path.join(WORK, "large.ingot")
CARD = os.path.join(WORK, "large.img")
subprocess.run([HOST, "synth", "--shape", "4g", "-o", MODEL], check=True, capture_output=True,
               timeout=SECONDS)
size = os.path.getsize(MODEL)
tap.ok((1 << 32) - (1 << 17) < size < (1 << 32), f"{size} bytes, the most that FAT32 holds")
subprocess.run(["fallocate", "-d", MODEL], check=False)  # mostly zeros


def on_host(n):
    return Reply(run([HOST, "run", MODEL, "-p", "a", "-n", str(n), "--temp", "0", "-c", "64",
                      "--mem", "256M", "--spec", "off", "--ids"], SECONDS)[1])


reference, longer = on_host(1), on_host(2)
tap.ok(reference.ids and len(longer.ids) == 2 and longer.ids[:1] == reference.ids and
       reference.hash is not None and "streamed" in longer.stats, "streams on the host",
       longer.console)
read = longer.figure(r"read ([\d.]+ \w+) a token")
tap.ok(read is not None and read == longer.figure(r"planned ([\d.]+ \w+)\)"),
       f"the reply reads the {read} that the plan names", longer.stats)

try:
    subprocess.run([os.path.join(ROOT, "tests/card.sh"), CARD, "--start", "2048", MODEL],
                   check=True, capture_output=True, timeout=SECONDS)
    subprocess.run(["fallocate", "-d", CARD], check=False)
    os.unlink(MODEL)
    status, console = ARM64.run("prompt=a n=1 temp=0 ctx=64 mem=256M spec=off ids", 2,
                                card_arguments(CARD), timeout=SECONDS)
    reply = Reply(console)
    tap.ok(reference.ids and reply.hash == reference.hash and reply.ids == reference.ids,
           "virt-arm64 gives the same reply", console)
finally:
    for path in (MODEL, CARD):
        if os.path.exists(path):
            os.unlink(path)
tap.done()
