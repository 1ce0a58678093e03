#!/usr/bin/python3
"""HAProxy and nginx in front of three boards on the network, in QEMU, as docs/SCALE.md describes: replies are the boards' own, callers are distributed
among the boards, a board that is gone gets no requests, and a board that comes back gets requests again. If a program is not installed its part is
skipped."""

import atexit
import contextlib
import http.client
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import ROOT, Tap, card_arguments, make_card
from net_board import IMAGE, NetBoard, reply_of
from talk import Console

tap = Tap()
QUESTION, TOKEN, WAIT = "What is 7 plus 8?", "a-token", 90
FOLDER = tempfile.mkdtemp(prefix="ingot-proxy-")
PATH = os.environ["PATH"] + ":/usr/sbin:/sbin"
atexit.register(shutil.rmtree, FOLDER, True)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def ask(port, path, body=None):
    """(status, answer); None if nobody answers."""
    c = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT)
    try:
        c.request("POST" if body is not None else "GET", path, json.dumps(body) if body is not None else None,
                  {"Authorization": "Bearer " + TOKEN, "Host": "models.example"})
        r = c.getresponse()
        return r.status, r.read().decode()
    except (OSError, http.client.HTTPException) as e:
        return None, str(e)
    finally:
        c.close()


def chat(port):
    status, text = ask(port, "/v1/chat/completions", {"messages": [{"role": "user", "content": QUESTION}], "temperature": 0, "max_tokens": 24})
    return json.loads(text)["choices"][0]["message"]["content"] if status == 200 else (status, text)


def answers(board):
    for _ in range(100):  # QEMU takes one connection after the other, and resets those that come meanwhile
        status, text = ask(board.port, "/stats")
        if status == 200:
            return json.loads(text)["answers"]
        time.sleep(0.05)
    return 0


def configuration(language, port, boards):
    """The document's configuration with its list of boards, on these ports."""
    with open(os.path.join(ROOT, "docs/SCALE.md"), encoding="utf-8") as f:
        whole, part = re.findall(rf"```{language}\n(.*?)```", f.read(), re.S)
    pattern = r"(?<=\n)backend ingot\n.*" if language == "haproxy" else r"    upstream ingot \{.*?\n    \}\n"
    assert re.search(pattern, whole, re.S)
    text = re.sub(pattern, lambda _: part, whole, count=1, flags=re.S).replace("127.0.0.1:8080", f"127.0.0.1:{port}")
    for i, board in enumerate(boards):
        text = text.replace(f"192.168.1.{21 + i}:80", f"127.0.0.1:{board.port}")
    return text


def until(condition, seconds=WAIT):
    late = time.monotonic() + seconds
    while not condition() and time.monotonic() < late:
        time.sleep(0.2)
    return condition()


@contextlib.contextmanager
def proxy(language, command, extra, boards):
    port, path = free_port(), os.path.join(FOLDER, language + ".conf")
    with open(path, "w", encoding="utf-8") as f:
        f.write(extra + configuration(language, port, boards))
    words = [shutil.which(command[0], path=PATH)] + [w.replace("FILE", path) for w in command[1:]]
    with open(os.path.join(FOLDER, language + ".log"), "w", encoding="utf-8") as log:
        child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        yield port
    finally:
        child.kill()
        child.wait()


def start(board, card):
    c = Console(board, f"temp=0 n=24 ids quiet term=plain net=dhcp token={TOKEN}", card)
    c.expect(r"network: http://10\.0\.2\.15")
    c.prompt()
    return c


def check(language, command, extra, boards, card, said):
    if not shutil.which(command[0], path=PATH):
        tap.skip(f"{language} before three boards", f"{command[0]} is not installed")
        return
    with proxy(language, command, extra, boards) as port:
        tap.ok(until(lambda: ask(port, "/health")[0] == 200) and chat(port) == said, f"{language}: a reply is the board's own", str(chat(port)))
        before = [answers(b) for b in boards]
        with ThreadPoolExecutor(3) as pool:
            replies = list(pool.map(lambda _: chat(port), range(18)))
        asked = [answers(b) - n for b, n in zip(boards, before)]
        tap.ok(replies == [said] * 18 and min(asked) > 0 and sum(asked) == 18, f"{language}: 18 requests of three callers went to all boards, {asked}", str(replies))
        consoles[2].kill()
        replies = [chat(port) for _ in range(4)] if language == "nginx" or until(lambda: chat(port) == said) else []
        tap.ok(replies == [said] * 4 or [chat(port) for _ in range(8)] == [said] * 8, f"{language}: a board is switched off, and the others answer", str(replies))
        consoles[2] = start(boards[2], card)
        n = answers(boards[2])
        tap.ok(until(lambda: chat(port) == said and answers(boards[2]) > n), f"{language}: it is back, and is asked again")


if not os.path.exists(IMAGE):
    tap.skip("a proxy before three boards", "lwIP's source is not there: make setup-tests, then make test-images")
    tap.done()
card = card_arguments(make_card("net-proxy.img", os.path.join(ROOT, "models/demo-q8_0.ingot")))
boards = [NetBoard() for _ in range(3)]
consoles = [start(board, card) for board in boards]
said = reply_of(consoles[0].say(QUESTION))
check("haproxy", ["haproxy", "-db", "-f", "FILE"], "", boards, card, said)
check("nginx", ["nginx", "-p", FOLDER, "-e", "stderr", "-c", "FILE", "-g", "daemon off; master_process off;"],
      f"pid {FOLDER}/nginx.pid;\n", boards, card, said)
for c in consoles:
    c.kill()
tap.done()
