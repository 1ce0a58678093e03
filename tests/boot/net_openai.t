#!/usr/bin/python3
"""OpenAI's own packages from npm and PyPI, in the versions of tests/clients, with a board on QEMU's network, on both virt machines. They use what a board supports:
models, chat, streams, completions, errors. Replies equal those of the serial line."""

import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import ARM64, BUILD, RISCV64_ANY, ROOT, WORK, Tap, card_arguments, make_card
from net_board import NetBoard, reply_of
from talk import Console

tap = Tap()
QUESTION = "What is 3 plus 4?"
CLIENTS = os.path.join(BUILD, "clients")
PYTHON = os.path.join(CLIENTS, "python/bin/python")
CHECKS = ["models", "a chat", "a stream", "the package's own gathering of a stream", "a text that goes on, and its length alone", "errors as the package's own",
          "a stream that is aborted"]
os.makedirs(WORK, exist_ok=True)


def check_node(net, said):
    if not os.path.isdir(os.path.join(CLIENTS, "node_modules/openai")) or not shutil.which("node"):
        tap.skip("the OpenAI package of npm", "node, or npm's openai in build/clients, is not installed: make setup-tests")
        return
    want = {"prompt": QUESTION, "reply": said, "long": {"temperature": 1.5, "max_tokens": 450}, "checks": CHECKS}
    done = subprocess.run(["node", os.path.join(ROOT, "tests/boot/openai.mjs"), CLIENTS, net.url + "/v1", json.dumps(want)], capture_output=True, text=True, timeout=200)
    for line in done.stdout.splitlines():
        tap.ok(line.startswith("ok "), f"{net.board}: openai (npm): " + line.split(" ", 2 if line.startswith("not") else 1)[-1].split(":")[0], line)
    tap.ok(done.returncode == 0 and done.stdout.count("\n") == len(CHECKS), f"{net.board}: openai (npm): all checks ran", done.stderr[-2000:])


def check_python(net):
    if not os.path.exists(PYTHON):
        tap.skip("the OpenAI package of PyPI", "it is not in build/clients/python: make setup-tests")
        return
    done = subprocess.run([PYTHON, os.path.join(ROOT, "tests/clients/with_openai.py"), net.url, "chat", "stream"], capture_output=True, text=True, timeout=300)
    cases = [line.split("\t") for line in done.stdout.splitlines()]
    for cell, name, why in cases:
        tap.ok(why == "ok", f"{net.board}: openai (PyPI): {cell}: {name}", why)
    tap.ok({cell for cell, *_ in cases} == {"chat", "stream"} and done.returncode == 0, f"{net.board}: openai (PyPI): both cells were tried", done.stderr[-2000:])


for machine in (ARM64, RISCV64_ANY):
    net, board = NetBoard(machine), machine.board
    if not os.path.exists(net.image):
        tap.skip(f"{board}: OpenAI's clients", "lwIP's source is not there: make setup-tests, then make test-images")
        continue
    card = card_arguments(make_card(f"net-openai-{board}.img", os.path.join(ROOT, "models/demo-q8_0.ingot")))
    with Console(net, "temp=0 n=200 ids quiet term=plain net=dhcp token=secret", card) as c:
        c.expect(r"network: http://10\.0\.2\.15")
        c.prompt()
        said = reply_of(c.say(QUESTION))
        check_node(net, said)
        check_python(net)
        tap.ok(said in c.say("/reset") + c.say(QUESTION), f"{board}: the serial line answers after the package's requests", c.seen)

tap.done()
