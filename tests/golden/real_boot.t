#!/usr/bin/python3
"""A published model on both virt machines: a user who starts SmolLM2-135M-Instruct as `make run` does and asks for the capital of France gets Paris.
Resident and streamed, it has the same ids and logits as on this computer. If its GGUF is there: the size of the packed file, and its distance from
the model in F32."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

try:
    import numpy
except ImportError:
    numpy = None
try:
    import pexpect
except ImportError:
    pexpect = None

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import ARM64, BUILD, HOST, RISCV64_WIDE, ROOT, WORK, Reply, Tap, card_arguments, end, make_card, run

STEM = os.path.join(BUILD, "models/published/smollm2-135m")
GGUF, OWN, FLOATS = STEM + ".gguf", os.path.join(WORK, "real-boot.ingot"), os.path.join(WORK, "real-boot-f32.ingot")
QUESTION, ANSWER, N = "What is the capital of France?", "The capital of France is Paris.", 8
STREAMED = "64M"  # mem=: two thirds of the weights
SECONDS = 500
ASKED = 5
TEXT = ("A lighthouse is a tower with a strong lamp, built where ships need to know their place. In former times a keeper lived in it, who lit the oil "
        "every evening and cleaned the glass every morning. Today most of them work by themselves, and sailors look at a screen.")
LARGEST, FURTHEST = 1.03, 0.006  # of the GGUF's bytes; mean KL to F32 in nats (measured .0030 on 958 tokens)

tap = Tap()
if not os.path.exists(GGUF) and not os.path.exists(STEM + ".ingot"):
    print("1..0 # SKIP SmolLM2-135M is not there: make model NAME=smollm2-135m brings it")
    sys.exit(0)
os.makedirs(WORK, exist_ok=True)
model = STEM + ".ingot"
if os.path.exists(GGUF):
    defaults = subprocess.run([sys.executable, os.path.join(ROOT, "toolchain/published.py"), "defaults", os.path.basename(STEM)],
                              capture_output=True, text=True, check=True, timeout=60).stdout.strip()
    status, said = run([HOST, "pack", GGUF, "-o", OWN, "--defaults", defaults])
    model = OWN
    tap.ok(status == 0 and os.path.getsize(OWN) <= LARGEST * os.path.getsize(GGUF) and "quantized" not in said,
           f"packed as it is: {os.path.getsize(OWN)} bytes of {os.path.getsize(GGUF)}", said)
else:
    tap.skip("packed as it is", f"no {GGUF}")

# ---- as a user asks: only the question is sent ------------------------------------------------

card = make_card("real-boot.img", model)
replies = [run([HOST, "run", model, "-p", QUESTION, "-q"])[1].strip() for _ in range(ASKED)]
tap.ok(sum("Paris" in reply for reply in replies) == ASKED, f"host: {QUESTION} {replies[0]}", "\n".join(replies))


def talk(machine):
    """The board's answer to somebody at its line. It gets no boot options."""
    if pexpect is None:
        return None
    command = machine.command("", 2, card_arguments(card))
    console = pexpect.spawn(command[0], command[1:], timeout=SECONDS, echo=False)
    try:
        console.expect(r"(?:^|\n)> $")
        console.send(QUESTION + "\r")
        console.expect(r"\[\d+ prompt \+ \d+ new tokens?")
        return console.before.decode("utf-8", "replace")
    except (pexpect.TIMEOUT, pexpect.EOF):
        return "no answer: " + console.before.decode("utf-8", "replace")
    finally:
        end(console)


machines = (ARM64, RISCV64_WIDE)
with ThreadPoolExecutor(os.cpu_count()) as pool:
    answers = list(pool.map(talk, machines))
for machine, answer in zip(machines, answers):
    if answer is None:
        tap.skip(f"{machine.board}: {QUESTION}", "python3-pexpect is not installed")
    else:
        tap.ok("Paris" in answer.replace(QUESTION, "") and not answer.startswith("no answer"), f"{machine.board}: {QUESTION} Paris", answer[-2000:])

# ---- the same ids and logits everywhere --------------------------------------------------------------

words = f'prompt="{QUESTION}" temp=0 n={N} ids cores=2'
host = [HOST, "run", model, "-p", QUESTION, "--temp", "0", "-n", str(N), "--ids", "-q"]
cells = {
    "host, resident": lambda: run(host),
    "host, streamed": lambda: run([*host, "--mem", STREAMED]),
    **{f"{machine.board}, {mode}": lambda machine=machine, more=more: machine.run(words + more, 2, card_arguments(card), timeout=SECONDS)
       for machine in (ARM64, RISCV64_WIDE) for mode, more in (("resident", ""), ("streamed", f" mem={STREAMED}"))},
}
with ThreadPoolExecutor(os.cpu_count()) as pool:
    results = dict(zip(cells, pool.map(lambda cell: cell(), cells.values())))
first = Reply(results["host, resident"][1])
if os.path.exists(GGUF):
    tap.ok(ANSWER in results["host, resident"][1], f"{QUESTION} {ANSWER}", results["host, resident"][1])
for name, (status, console) in results.items():
    reply = Reply(console)
    tap.ok(status == 0 and reply.ids and reply.ids == first.ids and reply.hash == first.hash, f"{name}: ids {reply.ids}, logits {reply.hash}", console)
    if not name.startswith("host"):
        tap.ok(f", {name.rpartition(', ')[2]}" in reply.stats, f"{name}: is {name.rpartition(', ')[2]}", reply.stats)

# ---- the distance from F32 -------------------------------------------------------------------------


def log_probabilities(path):
    out = os.path.join(WORK, "real-boot.logits")
    status, said = run([HOST, "logits", path, "-p", TEXT, "-n", "0", "-o", out, "-q"])
    if status != 0:
        sys.exit(said)
    rows = numpy.fromfile(out, numpy.float32).reshape(-1, 49152).astype(numpy.float64)
    rows -= rows.max(axis=1, keepdims=True)
    return rows - numpy.log(numpy.exp(rows).sum(axis=1, keepdims=True))


if numpy is None or model != OWN:
    tap.skip("the distance from F32", "python3-numpy is not installed" if numpy is None else f"no {GGUF}")
    tap.done()
status, said = run([HOST, "pack", GGUF, "-o", FLOATS, "--type", "f32", "-q"])
exact, ours = log_probabilities(FLOATS), log_probabilities(OWN)
divergence = float((numpy.exp(exact) * (exact - ours)).sum(axis=1)[4:].mean())
tap.ok(0 < divergence < FURTHEST, f"KL to F32 over {len(exact)} tokens: {divergence:.4f}", said)
for path in (FLOATS, OWN, card):
    os.remove(path)
tap.done()
