#!/usr/bin/python3
"""A board on the network, on both virt machines, used through its /line by `ingot serve http://HOST`, by the Python client, and by a browser with the board's page: all get
the serial line's answers. It also tests a board that disappears and comes back, and a wrong token."""

import http.client
import json
import os
import re
import subprocess
import sys
import time

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."), os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../clients/python")]
import browser
from ingot import Ingot, IngotError
from machine import ARM64, HOST, RISCV64_ANY, ROOT, WORK, Tap, card_arguments, make_card
from net_board import NetBoard, reply_of
from talk import Console

tap = Tap()
WAIT, QUESTION, STORY = 60, "What is 7 plus 8?", "Tell me a story about a fox."
os.makedirs(WORK, exist_ok=True)


class Server:
    """`ingot serve` in front of the board."""

    def __init__(self, net):
        self.child = subprocess.Popen([HOST, "serve", net.url, "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                      env={**os.environ, "INGOT_TOKEN": "secret"})
        self.said = ""
        while (line := self.child.stdout.readline()):
            self.said += line
            if found := re.search(r"http://127\.0\.0\.1:(\d+)", line.replace(net.url, "")):
                self.port = int(found[1])
                break

    def chat(self, question, **more):
        return self.ask("POST", "/v1/chat/completions", {"messages": [{"role": "user", "content": question}], "temperature": 0, "max_tokens": 24, **more})

    def ask(self, method, path, body):
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT)
        try:
            c.request(method, path, json.dumps(body))
            r = c.getresponse()
            return r.status, r.read().decode()
        finally:
            c.close()


def content(answer):
    return json.loads(answer[1])["choices"][0]["message"]["content"] if answer[0] == 200 else answer


def check_python(net, said):
    os.environ["INGOT_TOKEN"] = "wrong"
    try:
        Ingot(net.url, wait=10)
        tap.ok(False, "Python, with a wrong token")
    except IngotError as e:
        tap.ok("token" in str(e), "Python is told that the token is wrong", str(e))
    os.environ["INGOT_TOKEN"] = "secret"
    with Ingot(net.url) as board:
        tap.ok(board.ready["board"] == net.board and ("demo-q8_0.ingot", True) in [(m[0], m[2]) for m in board.models()], "Python knows the board and its models", str(board.ready))
        reply = board.ask(QUESTION, temp=0, n=24)
        tap.ok(reply == said and reply.usage["completion_tokens"] > 0, "Python's client gets the reply that the serial line gives", repr(reply))
        pieces = board.stream(STORY, temp=0, n=200)
        first = next(pieces)
        pieces.close()
        tap.ok(first and board.ask(QUESTION, temp=0, n=24) == said, "Python's client gets the same reply after one that it abandoned")
        try:
            board.command("/off")
            tap.ok(False, "a command works over the network")
        except IngotError as e:
            tap.ok(e.name == "field", "commands print the same as on the line", str(e))


def check_load(net, server):
    """Load another model by name: first from Python, then from `ingot serve`, which makes its boards load it."""
    with Ingot(net.url) as board:
        try:
            board.load("gpt-4")
            tap.ok(False, "Python, for a model that the card does not have")
        except IngotError as e:
            tap.ok(e.name == "failed" and board.models() and "15" in board.ask(QUESTION, temp=0, n=24), "Python is told that the card has no such model", str(e))
        tap.ok(board.load("demo-q4_0.ingot")["model"] == "demo-q4_0.ingot" and "15" in board.ask(QUESTION, temp=0, n=24),
               "Python's client loads a model that the card has", str(board.ready))
        board.load("demo-q8_0.ingot")
    status, text = server.ask("POST", "/models/load", {"model": "demo-q4_0"})
    late, answer = time.monotonic() + WAIT, (None, "{}")
    while json.loads(answer[1]).get("model") != "demo-q4_0.ingot" and time.monotonic() < late:
        time.sleep(0.5)
        answer = server.chat(QUESTION)
    tap.ok(status == 200 and answer[0] == 200 and "15" in content(answer),
           "`ingot serve` makes the board load another model", f"{status} {text} {answer} {server.said}")


def check_page(net, said):
    window = browser.Browser()
    try:
        window.go(net.url)
        tap.ok(window.check("document.getElementById('state').textContent.includes('Authorization')"), "the board's page says that it needs a token")
        window.value("document.getElementById('token').value='secret';document.getElementById('token').onchange()")
        tap.ok(window.check("document.getElementById('state').textContent==='demo-q8_0.ingot'"), "with the token, the page shows the model's name")
        window.value("{const f=window.fetch;window.fetch=(u,o)=>f(u,o&&o.body?{...o,body:JSON.stringify({...JSON.parse(o.body),temperature:0,max_tokens:24})}:o)}")
        window.value("document.getElementById('text').focus()")
        window.type(QUESTION)
        window.press("Enter")
        tap.ok(window.check("document.getElementById('send').textContent==='Send'&&document.querySelector('.assistant')?.textContent!==''") and
               window.value("document.querySelector('.assistant').textContent") == said, "a question by keyboard is answered as at the line",
               str(window.value("document.getElementById('log').textContent")))
        others = [s for s in window.said if "401" not in s]  # the first question has no token
        tap.ok(not others, "the browser reports no error", str(others))
    finally:
        window.end()


def check(net, card):
    words = "temp=0 n=24 ids quiet term=plain net=dhcp token=secret model=demo-q8_0.ingot"
    with Console(net, words, card) as c:
        c.expect(r"network: http://10\.0\.2\.15")
        c.prompt()
        said = reply_of(c.say(QUESTION))
        check_python(net, said)
        if browser.PROGRAM:
            check_page(net, said)
        else:
            tap.skip("the board's page in a browser", "chromium is not installed")
        server = Server(net)
        tap.ok(content(server.chat(QUESTION)) == said, "`ingot serve` answers with the board's reply", server.said)
        status, text = server.chat(QUESTION, stream=True)
        tap.ok(status == 200 and text.rstrip().endswith("[DONE]"), "ingot serve streams the board's reply", text)
        tap.ok("15" in c.say(QUESTION), "the line answers in addition to the network", c.seen)
    with Console(net, words, card) as c:
        c.expect(r"network: http://10\.0\.2\.15")
        c.prompt()
        late, answer = time.monotonic() + WAIT, (None, "")
        while answer[0] != 200 and time.monotonic() < late:
            answer = server.chat(QUESTION)
            time.sleep(0.5)
        tap.ok(content(answer) == said, "a board answers again after it was off", str(answer))
        check_load(net, server)
    server.child.kill()
    server.child.wait()


for machine in (ARM64, RISCV64_ANY):
    net = NetBoard(machine)
    if not os.path.exists(net.image):
        tap.skip(f"{net.board}: ingot serve with a board on the network", "lwIP's source is not there: make setup-tests, then make test-images")
        continue
    tap.note(net.board)
    check(net, card_arguments(make_card(f"net-serve-{net.board}.img", *(os.path.join(ROOT, f"models/demo-{kind}.ingot") for kind in ("q8_0", "q4_0")))))
tap.done()
