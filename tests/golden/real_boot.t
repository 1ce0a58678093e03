#!/usr/bin/python3
"""A published model on both virt machines: somebody who starts SmolLM2-135M-Instruct like `make run` and asks for the capital of France is told Paris.
A shorter question has the same ids and logits as on this computer, resident and streamed. The prompts are short because QEMU computes one token a
second: the suite takes a minute and a half of one core."""

import os
import sys
from concurrent.futures import ThreadPoolExecutor

try:
    import pexpect
except ImportError:
    pexpect = None

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import ARM64, BUILD, HOST, RISCV64_ANY, RISCV64_WIDE, WORK, Reply, Tap, card_arguments, end, make_card, run

MODEL = os.path.join(BUILD, "models/published/smollm2-135m.ingot")
QUESTION, ANSWER = "What is the capital of France?", "The capital of France is Paris"
SHORT, N = "Hi", 4
STREAMED = "64M"  # mem=: two thirds of the weights
SECONDS = 500

tap = Tap()
CHATS = (ARM64, RISCV64_ANY)
CELLS = ((ARM64, "resident", 1), (ARM64, "streamed", 2), (RISCV64_WIDE, "resident", 1), (RISCV64_ANY, "streamed", 2))
CHAT_NAMES = [f"{machine.board}: {QUESTION} Paris" for machine in CHATS]
CELL_NAMES = [f"{machine.label}, {mode}" for machine, mode, _ in CELLS]
if not os.path.exists(MODEL):
    for row in (f"host: {QUESTION}", *CHAT_NAMES, "host, streamed", *CELL_NAMES):
        tap.skip(row, "SmolLM2-135M is not there: make model NAME=smollm2-135m brings it")
    tap.done()
    sys.exit(0)
os.makedirs(WORK, exist_ok=True)
card = make_card("real-boot.img", MODEL)


def talk(machine):
    """The board's answer to a typed question. The board gets no boot options, so template and system prompt are the model's own."""
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


def same_question(machine, mode, cores):
    words = f'prompt="{SHORT}" system="" temp=0 n={N} ids cores={cores}' + (f" mem={STREAMED}" if mode == "streamed" else "")
    return machine.run(words, cores, card_arguments(card), timeout=SECONDS)


with ThreadPoolExecutor(os.cpu_count()) as pool:
    chats = [pool.submit(talk, machine) for machine in CHATS]
    cells = [pool.submit(same_question, *cell) for cell in CELLS]
_, reply = run([HOST, "run", MODEL, "-p", QUESTION, "-q"])
tap.ok(ANSWER in reply, f"host: {QUESTION} {reply.strip()}", reply)
for name, chat in zip(CHAT_NAMES, chats):
    answer = chat.result()
    if answer is None:
        tap.skip(name, "python3-pexpect is not installed")
    else:
        tap.ok(ANSWER in answer and not answer.startswith("no answer"), name, answer[-2000:])

host = [HOST, "run", MODEL, "-p", SHORT, "--system", "", "--temp", "0", "-n", str(N), "--ids", "-q"]
first, streamed = Reply(run(host)[1]), Reply(run([*host, "--mem", STREAMED])[1])
tap.ok(len(first.ids or ()) == N and streamed.ids == first.ids and streamed.hash == first.hash, f"host, streamed: ids {streamed.ids}, logits {streamed.hash}")
for name, (_, mode, _), cell in zip(CELL_NAMES, CELLS, cells):
    status, console = cell.result()
    reply = Reply(console)
    tap.ok(status == 0 and reply.ids == first.ids and reply.hash == first.hash and f", {mode}" in reply.stats,
           f"{name}: ids {reply.ids}, logits {reply.hash}, {reply.stats}", console)
os.remove(card)
tap.done()
