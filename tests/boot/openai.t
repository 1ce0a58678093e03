#!/usr/bin/python3
"""`ingot serve` with OpenAI's package from npm, a client that was not written for it, in the version of tests/clients, which `make
setup-tests` installs. openai.mjs has the checks."""

import atexit
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import BUILD, HOST, LONG_REPLY, ROOT, Tap, run

DEMO = os.path.join(ROOT, "models/demo-q8_0.ingot")
CLIENTS = os.path.join(BUILD, "clients")
PROMPT = "What is 3 plus 4?"
tap = Tap()

if not os.path.isdir(os.path.join(CLIENTS, "node_modules/openai")) or not shutil.which("node"):
    tap.skip("the OpenAI client", "node, or npm's openai in build/clients, is not installed: make setup-tests")
    tap.done()
    sys.exit(0)
server = subprocess.Popen([HOST, "serve", DEMO, "--port", "0", "--token", "secret", "-q"], stdout=subprocess.PIPE, text=True)
atexit.register(server.kill)
found = re.search(r"http://127.0.0.1:(\d+)", server.stdout.readline())
if not found:
    tap.skip("the OpenAI client", "node-llhttp or libwslay-dev is not installed")
    tap.done()
    sys.exit(0)


def cancelled():
    asked = urllib.request.Request(f"{found.group(0)}/metrics", headers={"Authorization": "Bearer secret"})
    with urllib.request.urlopen(asked, timeout=20) as answer:
        return int(re.search(r"^ingot_requests_cancelled_total (\d+)$", answer.read().decode(), re.M).group(1))


want = {"prompt": PROMPT, "long": {**LONG_REPLY, "n": 8}, "reply": run([HOST, "run", DEMO, "-p", PROMPT, "--temp", "0", "--spec", "off", "-q"])[1].strip()}
done = subprocess.run(["node", os.path.join(ROOT, "tests/boot/openai.mjs"), CLIENTS, found.group(0) + "/v1", json.dumps(want)], capture_output=True, text=True, timeout=200)
for line in done.stdout.splitlines():
    tap.ok(line.startswith("ok "), line.split(" ", 2 if line.startswith("not") else 1)[-1].split(":")[0], line)
tap.ok(done.returncode == 0 and done.stdout.count("\n") == 14, "all checks ran", done.stderr[-2000:])
late = time.monotonic() + 60
while cancelled() != 8 and time.monotonic() < late:
    time.sleep(0.05)
tap.ok(cancelled() == 8, "aborted replies have ended in the server", cancelled())
server.send_signal(signal.SIGTERM)
tap.ok(server.wait(20) == 0, "the server ends with status 0")
tap.done()
