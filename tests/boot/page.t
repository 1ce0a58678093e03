#!/usr/bin/python3
"""The page, in a browser without a window: a conversation over `ingot serve`, by keyboard alone; a board over Web Serial, whose
stand-in carries bytes to one in QEMU; other sites' pages reach nothing. INGOT_PICTURES=FOLDER keeps what a person would see."""

import atexit
import http.client
import http.server
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
from machine import ARM64, HOST, ROOT, WORK, Tap, card_arguments, make_card, run

MODEL = os.path.join(ROOT, "models/demo-q8_0.ingot")
OTHER = os.path.join(ROOT, "models/demo-q4_0.ingot")
PAGE = os.path.join(ROOT, "host/web/index.html")
PICTURES = os.environ.get("INGOT_PICTURES")
FOLDER = tempfile.mkdtemp(prefix="ingot-page-")
atexit.register(shutil.rmtree, FOLDER, True)
os.makedirs(WORK, exist_ok=True)
tap = Tap()


def picture(window, name):
    if PICTURES:
        window.picture(os.path.join(PICTURES, name + ".png"))


class Server:
    def __init__(self, *options):
        self.process = subprocess.Popen([HOST, "serve", MODEL, "--port", "0", *options], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        atexit.register(self.process.kill)
        found = re.search(r"http://127.0.0.1:(\d+)", self.process.stdout.readline())
        self.port = int(found.group(1)) if found else 0

    def get(self, path, **headers):
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        c.request("GET", path, headers=headers)
        r = c.getresponse()
        return r.status, dict(r.getheaders()), r.read()


server = Server("--temp", "0")
if server.port == 0:
    tap.skip("the page", "libwebsockets-dev is not installed")
    tap.done()
    sys.exit(0)
status, headers, page = server.get("/")
with open(PAGE, "rb") as f:
    tap.ok(status == 200 and page == f.read() and headers["content-type"].startswith("text/html"), "serve gives the page", (status, headers))
policy = headers.get("content-security-policy", "")
tap.ok("default-src 'none'" in policy and "'unsafe-inline'" not in policy.split("script-src")[1] and "frame-ancestors 'none'" in policy, "with a policy that lets its own script run alone", policy)
tap.ok(not re.search(rb"(src|href)=\"(https?:)?//|@import|url\(", page), "it loads nothing from elsewhere")
tap.ok(server.get("/", Host="evil.example")[0] == 403, "not by another name")
guarded = Server("--token", "secret")
tap.ok(guarded.get("/")[0] == 200 and guarded.get("/v1/models")[0] == 401, "the page alone comes without the token")

if not browser.PROGRAM:
    tap.skip("the page in a browser", "chromium is not installed")
    tap.done()
    sys.exit(0)


def said(n):
    return f"document.querySelectorAll('.said.its:not(.busy) p')[{n}]?.textContent"


def want(text, *options):
    return run([HOST, "run", MODEL, "-p", text, "--temp", "0", "-q", *options])[1].strip()


window = browser.Browser()
atexit.register(window.end)
window.go(f"http://127.0.0.1:{server.port}/")
tap.ok(window.check("document.getElementById('state').textContent === 'demo-q8_0.ingot'"), "it says whom it talks to", window.value("document.body.innerText"))
picture(window, "page-empty")
window.value("document.getElementById('temp').value = 0, document.getElementById('temp').dispatchEvent(new Event('change'))")
tap.ok(window.value("document.activeElement.id") == "text", "one can type at once")
window.type("What is 7 plus 8?")
window.press("Enter")
tap.ok(window.check(said(0)) and window.value(said(0)) == want("What is 7 plus 8?"), "a reply, by keyboard alone", window.value(said(0)))
window.type("And 2 plus 2?")
window.press("Enter")
talk = [{"role": "user", "content": "What is 7 plus 8?"}, {"role": "assistant", "content": want("What is 7 plus 8?")}, {"role": "user", "content": "And 2 plus 2?"}]
c = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
c.request("POST", "/v1/chat/completions", json.dumps({"messages": talk, "temperature": 0}))
second = json.loads(c.getresponse().read())["choices"][0]["message"]["content"].strip()
tap.ok(window.check(said(1)) and window.value(said(1)) == second, "a conversation goes on", (window.value(said(1)), second))
tap.ok(window.value("document.querySelectorAll('#numbers dt').length") >= 4 and "tokens" in window.value("document.getElementById('numbers').innerText").lower(), "figures")
window.type("Tell me a story about a fox.")
window.press("Enter")
tap.ok(window.check(said(2)) and len(window.value(said(2))) > 100, "a story")
picture(window, "page")
window.type("<img src=x onerror=alert(1)> & <b>")
window.press("Enter")
tap.ok(window.check(said(3)) and window.value("document.querySelectorAll('#talk img, #talk b').length") == 0 and
       "<img src=x" in window.value("[...document.querySelectorAll('.mine p')].at(-1).textContent"), "markup is text")
window.value("document.getElementById('fresh').click()")
tap.ok(window.value("document.querySelectorAll('.said').length === 0 && !!document.querySelector('.empty')"), "a new conversation")
names = window.value("[...document.querySelectorAll('button, input, textarea')].filter(e => !(e.innerText || e.ariaLabel || e.labels?.length || e.getAttribute('aria-label'))).map(e => e.outerHTML).join()")
tap.ok(names == "" and window.value("document.documentElement.lang") == "en" and window.value("!!document.querySelector('[role=log][aria-live=polite]')"),
       "everything that is pressed or filled in has a name, and replies are announced", names)
tap.ok(window.said == [], "no error in the browser's log", window.said)
server.process.kill()
window.type("Hello")
window.press("Enter")
tap.ok(window.check("document.querySelectorAll('.said.error').length === 1"), "a server that is gone is said")
window.end()

window = browser.Browser(420, 800, dark=True)
atexit.register(window.end)
window.go(f"http://127.0.0.1:{guarded.port}/")
tap.ok(window.check("document.getElementById('state').textContent.includes('token')"), "without its token it is asked for", window.value("document.body.innerText"))
tap.ok(window.value("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 26)", "dark, as the system is")
tap.ok(window.value("document.documentElement.scrollWidth <= innerWidth"), "as narrow as a telephone, without scrolling sideways")
window.value("document.getElementById('more').click()")
window.value("document.getElementById('token').value = 'secret', document.getElementById('token').dispatchEvent(new Event('change'))")
tap.ok(window.check("document.getElementById('state').textContent === 'demo-q8_0.ingot'"), "with it the server answers")
picture(window, "page-narrow")
window.end()

# A page of another site: it may load what it likes, and gets nothing of the server.
class Elsewhere(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>elsewhere</title>")


other = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere)
threading.Thread(target=other.serve_forever, daemon=True).start()
victim = Server("--temp", "0")
window = browser.Browser()
atexit.register(window.end)
window.go(f"http://localhost:{other.server_address[1]}/")
got = window.value(f"""(async () => {{
  const out = [];
  for (const options of [{{}}, {{ method: 'POST', body: '{{"prompt":"x","max_tokens":1}}' }}, {{ method: 'POST', mode: 'no-cors', body: '{{"prompt":"x","max_tokens":1}}' }}])
    try {{ const r = await fetch('http://127.0.0.1:{victim.port}/v1/completions', options); out.push(r.type + r.status + await r.text()); }} catch (e) {{ out.push('refused'); }}
  return out.join();
}})()""")
metrics = victim.get("/metrics")[2].decode()
tap.ok(got in ("refused,refused,opaque0", "refused,refused,refused") and "ingot_requests_total 0" in metrics, "a hostile page reaches nothing", (got, metrics[:300]))
window.end()
victim.process.kill()

# A board in QEMU over Web Serial; the page is a file, and no server of ours is there.
line = os.path.join(FOLDER, "board")
card = make_card("page-card.img", MODEL, OTHER)
board = subprocess.Popen(ARM64.command("temp=0 model=demo-q8_0", 1, card_arguments(card)) + ["-serial", f"unix:{line},server=on,wait=off"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL)
atexit.register(board.kill)
late = time.monotonic() + 20
while not os.path.exists(line) and time.monotonic() < late:
    time.sleep(0.02)
wire = socket.socket(socket.AF_UNIX)
wire.connect(line)
wire.settimeout(0.05)


class Carrier(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def answer(self, data):
        self.send_response(200)
        self.send_header("access-control-allow-origin", "*")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        try:
            self.answer(wire.recv(4096))
        except socket.timeout:
            self.answer(b"")

    def do_POST(self):
        wire.sendall(self.rfile.read(int(self.headers["content-length"])))
        self.answer(b"")


carrier = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Carrier)
threading.Thread(target=carrier.serve_forever, daemon=True).start()
STAND_IN = f"""Object.defineProperty(navigator, 'serial', {{ value: {{ requestPort: async () => ({{
  open: async o => {{ window.opened = o; }},
  readable: new ReadableStream({{ async pull(c) {{ for (;;) {{ const b = new Uint8Array(await (await fetch('http://127.0.0.1:{carrier.server_address[1]}/')).arrayBuffer()); if (b.length) {{ c.enqueue(b); return; }} }} }} }}),
  writable: new WritableStream({{ write: b => fetch('http://127.0.0.1:{carrier.server_address[1]}/', {{ method: 'POST', body: b }}) }}),
}}) }} }});"""
window = browser.Browser()
atexit.register(window.end)
window.go("file://" + PAGE, STAND_IN)
tap.ok("Connect a board" in window.value("document.getElementById('talk').innerText"), "a file that is opened says what to do")
window.value("document.getElementById('temp').value = 0")
window.value("document.getElementById('serial').click()")
tap.ok(window.check("document.getElementById('state').textContent === 'virt-arm64, demo-q8_0.ingot'"), "a board that talked to people is connected", window.value("document.body.innerText"))
tap.ok(window.value("opened.baudRate") == 115200, "at its rate")
window.value("document.getElementById('text').focus()")
window.type("What is 7 plus 8?")
window.press("Enter")
tap.ok(window.check(said(0)) and window.value(said(0)) == want("What is 7 plus 8?"), "its reply", window.value(said(0)))
tap.ok(window.check("document.querySelectorAll('#models button').length === 2") and window.check("!document.getElementById('memory-box').hidden") and
       "weights" in window.value("document.getElementById('memory').innerText"), "its models and its memory", window.value("document.getElementById('side').innerText"))
window.type("Tell me a story about a fox.")
window.press("Enter")
window.check("document.querySelector('.said.busy p')?.textContent.length > 20")
window.press("Escape")
tap.ok(window.check(said(1)) and len(window.value(said(1))) < len(want("Tell me a story about a fox.")) and "stopped" in window.value("[...document.querySelectorAll('.said.its small')].at(-1).textContent"),
       "Escape stops a reply", window.value(said(1)))
picture(window, "page-board")
window.value("[...document.querySelectorAll('#models button')].find(b => !b.disabled).click()")
tap.ok(window.check("document.getElementById('state').textContent === 'virt-arm64, demo-q4_0.ingot'"), "another model", window.value("document.getElementById('state').textContent"))
window.type("Hello")
window.press("Enter")
tap.ok(window.check(said(0)), "answers")
tap.ok(window.said == [], "no error in the browser's log", window.said)
board.kill()
window.end()
tap.done()
