#!/usr/bin/python3
"""The Linux program under ThreadSanitizer: cores and the thread that reads have no data race, whether weights stream, tokens are guessed, or keys
and values spill. The logits equal those of the normal program."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kv_model
from bounded import fixed_addresses
from machine import BUILD, HOST, LONG, ROOT, WORK, Reply, Tap, run, segments

TSAN = os.path.join(BUILD, "tsan/ingot")
DEMO = os.path.join(ROOT, "models/demo-q8_0.ingot")
CORES = (1, 2, 3, 4) if LONG else (2, 4)
PROMPT = "Tell me a story about a fox and an owl, and a fox and an owl."
tap = Tap()
fixed_addresses()
os.makedirs(WORK, exist_ok=True)


def streamed(path):
    return ["--mem", str(2 * max(size for _, size in segments(path)[1:-1]) + 4 * 4096)]


def spilled(path):
    """Keys and values in a file, while weights stream too."""
    file = os.path.join(WORK, "threads.kv")
    with open(file, "wb") as f:
        f.truncate(kv_model.file_bytes("f16"))
    return ["--kv", "card", "--kv-file", file, "-c", str(kv_model.CONTEXT),
            "--mem", str(kv_model.memory(path, "f16", True))]


def reply(program, model, cores, options, n):
    status, text = run([program, "run", model, "-p", PROMPT, "-n", str(n), "--temp", "0", "--ids",
                        "-t", str(cores), *options])
    return status, text, Reply(text)


def check(what, model, options, n=12, cores=CORES):
    status, text, wanted = reply(HOST, model, 1, options, n)
    tap.ok(status == 0 and wanted.hash, f"{what}: logits {wanted.hash}", text)
    for n_cores in cores:
        status, text, got = reply(TSAN, model, n_cores, options, n)
        tap.ok(status == 0 and got.hash == wanted.hash and got.ids == wanted.ids and
               "ThreadSanitizer" not in text, f"{what}: on {n_cores} cores the same, without a race",
               f"status {status}\n{text}")


kv = kv_model.model()
check("resident", DEMO, [])
# There are two heads of keys, so three cores have to share one.
check("keys and values of eight bits", DEMO, ["--kv", "rot_q8"], cores=(2, 3))
check("keys and values of four bits", DEMO, ["--kv", "rot_q4"], cores=(3,))
check("in place", DEMO, ["--mmap"])
check("streamed", DEMO, streamed(DEMO))
check("streamed and guessed", DEMO, streamed(DEMO) + ["--spec", "ngram"], 40)
check("streamed and spilled", kv, spilled(kv), 80)
tap.done()
