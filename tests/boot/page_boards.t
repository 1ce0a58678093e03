#!/usr/bin/python3
"""The page of `ingot serve` with three boards: one in QEMU whose layers stream, one that is unplugged and plugged in again, and a script that reports
a temperature. Memory, plan and figures are drawn as over Web Serial (page_board.t), and text from a board is shown only as text."""

import atexit
import http.client
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import browser
from board_line import Board
from machine import ARM64, HOST, ROOT, WORK, Tap, make_card, run

MODEL = os.path.join(ROOT, "models/demo-q8_0.ingot")
PICTURES = os.environ.get("INGOT_PICTURES")
FOLDER = tempfile.mkdtemp(prefix="ingot-page-")
os.makedirs(WORK, exist_ok=True)
tap = Tap()
atexit.register(shutil.rmtree, FOLDER, True)
if not browser.PROGRAM:
    tap.skip("the page with boards", "chromium is not installed")
    tap.done()
    sys.exit(0)
CARD = make_card("page-boards-card.img", MODEL, os.path.join(ROOT, "models/demo-q4_0.ingot"))


class Script:
    """A board that prints the given events."""

    plan = {"residency": "streamed", "layers": 28, "layers_streamed": 20, "slots": 2, "slot_bytes": 5000000, "memory_bytes": 8000000, "read_bytes_per_pass": 90000000}
    stats = {"temperature_c": 48.3, "memory": [{"name": "weights", "used_bytes": 1, "bytes": 1200128}, {"name": "kv", "used_bytes": 1, "bytes": 1048576}]}
    done = {"reason": "end", "decode_tokens_per_s": 4.5, "first_token_ms": 250, "context_tokens": 40, "temperature_c": 48.3, "card_mb_per_s": 21.5, "stalled_percent": 12.5}

    model = "demo-q8_0.ingot"

    def __init__(self, name):
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(f"{FOLDER}/{name}")
        self.listener.listen()
        self.line = f"unix:{FOLDER}/{name}"
        self.s = None
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            self.s, _ = self.listener.accept()
            try:
                self.ready()
                self.talk()
            except OSError:  # `ingot serve` closes a line after checking that it exists, and opens it again
                pass

    def talk(self):
        rest = b""
        while data := self.s.recv(4096):
            rest += data
            if b"\x05" in rest or b"\x03" in rest:
                rest = b""
                self.ready()
            *lines, rest = rest.split(b"\n")
            for line in lines:
                if line.startswith(b"{"):
                    self.answer(json.loads(line))

    def say(self, event, **fields):
        self.s.sendall(json.dumps({"event": event, **fields}).encode() + b"\r\n")

    def ready(self):
        self.say("ready", protocol=1, board="script", model=self.model, context_limit_tokens=512, line_limit_bytes=8191)

    def answer(self, request):
        id_ = {"id": request["id"]} if "id" in request else {}
        for kind in ("plan", "stats"):
            if kind in request:
                self.say(kind, **id_, **getattr(self, kind))
        if "models" in request:
            for name in ("demo-q8_0.ingot", "demo-q4_0.ingot", "<b>bold</b>.ingot"):
                self.say("model", **id_, bytes=1234567, loaded=name == self.model, model=name)
        if "load" in request:
            self.model = request["load"]
            self.ready()
        if "messages" in request:
            self.say("token", **id_, token=1, text="A reply.")
            self.say("usage", **id_, prompt_tokens=30, cached_tokens=0, completion_tokens=10)
            self.say("done", **id_, **self.done)
        else:
            self.say("done", **id_, reason="command")


def get(path, **headers):
    c = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    c.request("GET", path, headers=headers)
    r = c.getresponse()
    return r.status, r.read().decode()


def about(board):
    return next(b for b in json.loads(get("/boards")[1])["boards"] if b["line"] == board.line)


def wait(good, seconds=30):
    late = time.monotonic() + seconds
    while not good() and time.monotonic() < late:
        time.sleep(0.05)
    return good()


def state():
    return window.value("document.getElementById('state').textContent")


def side():
    return window.value("document.getElementById('side').innerText")


def last(selector):
    return window.value(f"[...document.querySelectorAll('{selector}')].at(-1)?.textContent")


def ask(text):
    n = window.value("document.querySelectorAll('.said.its').length")
    window.check("!busy")
    window.value("document.getElementById('text').focus()")
    window.type(text)
    window.press("Enter")
    return window.check(f"!busy && document.querySelectorAll('.said.its:not(.busy)').length > {n}")


def picture(name):
    if PICTURES:
        window.picture(os.path.join(PICTURES, name + ".png"))


board, other, script = (Board(ARM64, FOLDER, "kitchen", CARD, "mode=json temp=0 mem=900K model=demo-q8_0"), Board(ARM64, FOLDER, "garden", CARD, "mode=json temp=0 model=demo-q8_0"),
                        Script("attic"))
server = subprocess.Popen([HOST, "serve", board.line, other.line, script.line, "--port", "0", "--temp", "0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
atexit.register(server.kill)
found = re.search(r"http://127.0.0.1:(\d+)", server.stdout.readline())
if not found:
    tap.skip("the page with boards", "node-llhttp or libwslay-dev is not installed")
    tap.done()
    sys.exit(0)
port = int(found.group(1))
tap.ok(wait(lambda: all(about(b)["there"] and about(b)["plan"] and about(b)["stats"] for b in (board, other, script))),
       "the page shows each board's plan and memory before the first question", get("/boards"))
here = about(board)
tap.ok((here["machine"], here["model"], here["replies"], here["figures"]["temperature_c"]) == ("virt-arm64", "demo-q8_0.ingot", 0, None) and
       here["plan"]["layers_streamed"] > 0 and about(other)["plan"]["layers_streamed"] == 0 and about(script)["figures"]["temperature_c"] == 48.3, "each board's plan and memory are its own", here)
window = browser.Browser(1100, 700)
atexit.register(window.end)
window.go(f"http://127.0.0.1:{port}/")
window.value("document.getElementById('temp').value = 0, document.getElementById('temp').dispatchEvent(new Event('change')), 0")
tap.ok(window.check("document.getElementById('state').textContent === '3 boards, demo-q8_0.ingot' && !document.getElementById('plan-box').hidden"), "the page says how many boards are there", window.value("document.body.innerText"))
text = side()
tap.ok("MEMORY OF VIRT-ARM64 (KITCHEN)" in text.upper() and browser.shows_a_plan_that_streams(window, text, "card", 4) and
       window.value("document.querySelectorAll('#memory svg rect').length") > 5, "memory and plan of the first board are shown as over Web Serial", text)
seen = {}
for who in ("You are a cat.", "You are a dog.", "You are a fox."):  # new conversations go to the board that is idle for longest, so each board gets one
    window.value(f"document.getElementById('system').value = '{who}'")
    ask("Who are you?")
    by = last(".said.its small").split(", ")[-1]
    window.check(f"document.getElementById('h-memory').textContent === 'Memory of {by}'", 10)
    seen[by] = (window.value("document.getElementById('numbers').innerText"), window.value("document.getElementById('h-memory').textContent"), last(".said.its p"), who, window.value("document.getElementById('plots').innerText"))
    if len(seen) < 3:
        window.value("document.getElementById('fresh').click()")
tap.ok(wait(lambda: [about(b)["replies"] for b in (board, other, script)] == [1, 1, 1]), "each of three questions goes to another board", get("/boards"))
mine, its = seen.get("virt-arm64 (kitchen)", ("",) * 5), next((v for k, v in seen.items() if k.startswith("script")), ("",) * 5)
tap.ok(len(seen) == 3 and mine[2] == run([HOST, "run", MODEL, "-p", "Who are you?", "--system", mine[3], "--temp", "0", "-q"])[1].strip() and re.search(r"Tokens a second\n[\d.]+\n", mine[0]) and re.search(r"Context\n\d+ of 512", mine[0]) and
       re.search(r"Card\n[\d.]+ MB/s", mine[0]) and "Temperature" not in mine[0],
       "the page shows figures of the board that answered: speed, context, card", seen)
tap.ok("4.5" in its[0] and "21.5 MB/s" in its[0] and "12.5 %" in its[0] and "48.3 °C" in its[0] and "40 of 512" in its[0] and "Temperature: 48.3" in its[4] and
       its[1].startswith("Memory of script"), "a board that knows its temperature shows it", its)
metrics = get("/metrics")[1]
figure = {name: value for name, value in re.findall(r'^ingot_board_(\w+)\{line="' + re.escape(script.line) + r'"\} (\S+)$', metrics, re.M)}
tap.ok(figure == {**figure, "temperature_celsius": "48.3", "card_bytes_per_second": "21500000", "decode_tokens_per_second": "4.5", "first_token_seconds": "0.25", "card_stalled_ratio": "0.125"} and
       f'ingot_board_temperature_celsius{{line="{board.line}"}}' not in metrics and f'ingot_board_card_bytes_per_second{{line="{board.line}"}}' in metrics,
       "the metrics have the temperatures of boards that know them", metrics[-2500:])

# Another board is selected, with the keyboard only.
chosen = []
for i, name in enumerate(("virt-arm64 (kitchen)", "virt-arm64 (garden)", "script (attic)")):
    window.value(f"document.querySelectorAll('#boards button')[{i}].focus()")
    window.press("Enter")
    chosen.append(window.check(f"document.getElementById('h-memory').textContent === 'Memory of {name}'", 5))
tap.ok(chosen == [True] * 3 and window.check("document.getElementById('h-memory').textContent.startsWith('Memory of script') && document.querySelectorAll('#plan rect.streamed').length === 20") and "8 of 28" in side() and
       window.value("document.querySelectorAll('#boards [aria-pressed=true]').length === 1 && document.activeElement === document.querySelectorAll('#boards button')[2]"),
       "another board can be selected", side())
window.value("document.getElementById('boards-box').scrollIntoView()")
picture("page-10-boards")

# The board gets warmer without a conversation; then it prints invalid events.
Script.stats = {**Script.stats, "temperature_c": 61.5}
tap.ok(wait(lambda: about(script)["figures"]["temperature_c"] == 61.5, 20), "a board's figures are refreshed while the page is open", about(script))
EVIL = "<img src=x onerror='window.hit=1'>\u202e"
Script.plan = {"layers": EVIL, "memory_bytes": [EVIL], "layers_streamed": -4}
Script.stats = {"temperature_c": "hot", "memory": [{"name": EVIL, "bytes": 5000}, EVIL, {"bytes": 1e300}]}
script.ready()
tap.ok(wait(lambda: (about(script)["stats"] or {}).get("temperature_c") == "hot" and about(script)["figures"]["temperature_c"] is None, 20) and
       window.check("document.getElementById('memory').innerText.includes('<img src=x') && !window.hit && document.querySelectorAll('#side img').length === 0"),
       "text from a board is shown as text", side())
Script.stats = {"memory": [{"name": "n" * 3000, "bytes": 1}]}
script.ready()
tap.ok(wait(lambda: about(script)["there"] and about(script)["stats"] is None, 20) and get("/metrics")[0] == 200, "/stats with a name that is too long is dropped", get("/boards")[1][:500])

# A board is unplugged, and plugged in again.
other.kill()
tap.ok(window.check("document.getElementById('state').textContent === '2 of 3 boards, demo-q8_0.ingot' && document.getElementById('boards').innerText.includes('away')", 20),
       "the page reports an unplugged board at once", state())
picture("page-11-away")
other.start()
tap.ok(window.check("document.getElementById('state').textContent === '3 boards, demo-q8_0.ingot' && !document.getElementById('boards').innerText.includes('away')"), "the page shows that the unplugged board is back", state())
tap.ok(ask("What is 7 plus 8?") and window.value("document.querySelectorAll('.said.error').length") == 0, "the chat continues with one board", window.value("document.body.innerText"))
# Another model, by keyboard.
def models():
    return window.value("[...document.querySelectorAll('#models li')].map(li => li.innerText.replace(/\\s+/g, ' '))")


tap.ok(window.check("document.querySelectorAll('#models li').length === 3") and models() == ["demo-q4_0.ingot 708 KiB Load", "demo-q8_0.ingot 1.22 MiB loaded", "<b>bold</b>.ingot 1.18 MiB Load"] and
       window.value("document.getElementById('put').hidden"), "the page lists the models on the cards", models())
window.value("document.querySelector('#models button').focus()")
window.press("Enter")
tap.ok(window.check("document.getElementById('state').textContent === '3 boards, demo-q4_0.ingot' && document.querySelectorAll('.said').length === 0") and
       window.check("document.querySelectorAll('#models li')[0].innerText.includes('loaded')"),
       "all boards load another model, and a new conversation begins", (side(), state()))
ask("Who are you?")
tap.ok(last(".said.its p") in (run([HOST, "run", os.path.join(ROOT, "models/demo-q4_0.ingot"), "-p", "Who are you?", "--temp", "0", "-q"])[1].strip(), "A reply.") and
       all(about(b)["model"] == "demo-q4_0.ingot" for b in (board, other, script)), "all boards answer with the other model", last(".said.its p"))
tap.ok(window.said == [], "no error in the browser's log", window.said)
for path in ("/boards", "/metrics"):
    got = [get(path, **h)[0] for h in ({}, {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Host": "evil.example"}, {"Origin": f"http://127.0.0.1:{port}"})]
    tap.ok(got == [200, 403, 403, 403, 200], f"{path}: not for pages of other sites", got)
for b in (board, other):
    b.kill()
window.end()
tap.done()
