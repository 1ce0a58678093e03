#!/usr/bin/python3
"""The page with a board over Web Serial. A replacement of Web Serial carries the bytes over a WebSocket to a board in QEMU (tests/web_serial.py).
The tests: a conversation, memory and plan, another model, the terminal, files for the card, and what a person sees if no board answers or the board
is gone. The page is the file that `make web` makes. INGOT_PICTURES=FOLDER keeps screenshots."""

import atexit
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import browser
from machine import BUILD, HOST, ROOT, WORK, Tap, make_card, run
from web_serial import Board, Carrier

MODEL = os.path.join(ROOT, "models/demo-q8_0.ingot")
OTHER = os.path.join(ROOT, "models/demo-q4_0.ingot")
LILA = os.path.join(ROOT, "presets/lila.txt")
MODULES = os.path.join(ROOT, "host/web/node_modules")
PAGE = os.path.join(BUILD, "web/ingot.html")
PICTURES = os.environ.get("INGOT_PICTURES")
FOLDER = tempfile.mkdtemp(prefix="ingot-page-")
ENV = {**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin", "MTOOLSRC": "/dev/null", "LC_ALL": "C.UTF-8"}
os.makedirs(WORK, exist_ok=True)
tap = Tap()
if not browser.PROGRAM:
    tap.skip("the page with a board", "chromium is not installed")
    tap.done()
    sys.exit(0)
subprocess.run(["make", "-s", "--no-print-directory", "-C", ROOT, "O=" + BUILD, "web"], check=True, capture_output=True, timeout=60)
atexit.register(shutil.rmtree, FOLDER, True)


def picture(name):
    if PICTURES:
        window.picture(os.path.join(PICTURES, name + ".png"))


def want(text, *options):
    return run([HOST, "run", MODEL, "-p", text, "--temp", "0", "-q", *options])[1].strip()


def state():
    return window.value("document.getElementById('state').textContent")


def said(n):
    return f"document.querySelectorAll('.said.its:not(.busy):not(.error) p')[{n}]?.textContent"


def body():
    return window.value("document.body.innerText")


def click(id_):
    window.value(f"document.getElementById('{id_}').click()")


def ask(text):
    window.check("!busy")
    window.value("document.getElementById('text').focus()")
    window.type(text)
    window.press("Enter")


def volume():
    out = os.path.join(FOLDER, "volume.img")
    with open(card, "rb") as f, open(out, "wb") as to:
        f.seek(1 << 20)
        to.write(f.read())
    return out


def on_card(path):
    out = os.path.join(FOLDER, "out")
    subprocess.run(["mcopy", "-o", "-n", "-i", volume(), "::" + path, out], capture_output=True, env=ENV)
    if not os.path.exists(out):
        return None
    with open(out, "rb") as f:
        data = f.read()
    os.unlink(out)
    return data


def content(path):
    with open(path, "rb") as f:
        return f.read()


card = make_card("page-card.img", "--size", "40", MODEL)
board = Board(FOLDER, card, "temp=0 mem=900K")
atexit.register(board.kill)
carrier = Carrier(board.line)
window = browser.Browser(1100, 700)
atexit.register(window.end)

# The page is opened as a file, without a board: its policy applies, and it says what to do.
window.go("file://" + PAGE)
tap.ok("Connect a board" in window.value("document.getElementById('talk').innerText"), "the page, opened as a file, says what to do")
got = window.value(f"fetch('http://127.0.0.1:{carrier.server.port}/').then(() => 'reached', () => 'refused')")
tap.ok(got == "refused" and len(window.said) <= 2 and all("Content Security Policy" in s for s in window.said),
       "the page reaches no other address", (got, window.said))
picture("page-1-open")
window.said.clear()
window.go("file://" + os.path.join(ROOT, "host/web/index.html"))
tap.ok("Connect a board" in body() and not window.value("hasTerminal") and window.said == [],
       "the page's source files work without a build, except for the terminal", (body(), window.said))
window.end()

# The page is opened as a file, with a board, and without its policy, which would refuse the requests of the replacement of Web
# Serial.
window = browser.Browser(1100, 700)
atexit.register(window.end)
window.call("Page.setBypassCSP", enabled=True)
carrier.deaf.add("230400")
window.go("file://" + PAGE, carrier.script())
window.value("document.getElementById('temp').value = 0, document.getElementById('baud').value = '230400', Board.greetMs = 2500, Board.pieceBytes = 16384, 0")
click("serial")
tap.ok(window.check("document.querySelectorAll('.said.error').length === 1", 30) and "No board answers" in body() and "Is its TX connected to the adapter's RX" in body(),
       "at a wrong rate no board answers, and the page says what helps", body())
picture("page-2-nobody")
click("serial")
window.check("document.getElementById('serial').textContent === 'Connect a board'")
window.value("document.getElementById('baud').value = '115200', Board.greetMs = 12000")
click("serial")
tap.ok(window.check("document.getElementById('state').textContent === 'virt-arm64, demo-q8_0.ingot'"), "a board that talked to people is connected", body())
tap.ok(window.value("rates.join()") == "230400,115200", "the board is connected at its own rate", window.value("rates"))
window.check("!document.getElementById('plan-box').hidden")
picture("page-3-connected")
ask("What is 7 plus 8?")
tap.ok(window.check(said(0)) and window.value(said(0)) == want("What is 7 plus 8?"), "the board's reply is shown", window.value(said(0)))
window.check("!busy")
side = window.value("document.getElementById('side').innerText")
tap.ok("weights" in side and "free" in side and window.value("document.querySelectorAll('#models li').length") == 1,
       "the board's memory and models are shown", side)
tap.ok(browser.shows_a_plan_that_streams(window, side, "card", 4), "the board's plan shows layers of four that stream through two slots", side)
ask("Tell me a story about a fox.")
window.check("document.querySelector('.said.busy p')?.textContent.length > 20")
window.press("Escape")
tap.ok(window.check(said(1)) and len(window.value(said(1))) < len(want("Tell me a story about a fox.")) and "stopped" in window.value("[...document.querySelectorAll('.said.its small')].at(-1).textContent"),
       "Escape stops a reply", window.value(said(1)))
window.check("!busy")
picture("page-4-talk")

# The terminal is the board's own console: bytes pass unchanged in both directions.
if not os.path.isdir(MODULES):
    tap.ok(window.value("document.getElementById('tabs').hidden"), "without the package xterm.js there is no terminal")
    tap.skip("the terminal", "xterm.js is not installed (make setup-tests)")
else:
    click("tab-terminal")
    tap.ok(window.check("terminal?.xterm.buffer.active.getLine(terminal.xterm.buffer.active.cursorY)?.translateToString().startsWith('> ')"), "the terminal has the board's prompt", body())
    window.check("!busy")
    shown = "[...Array(terminal.xterm.rows).keys()].map(i => terminal.xterm.buffer.active.getLine(i + terminal.xterm.buffer.active.viewportY)?.translateToString(true)).join('\\n')"
    window.check("document.activeElement.classList.contains('xterm-helper-textarea')")
    window.keys("What is 2 plus 2?")
    window.press("Enter")
    tap.ok(window.check(f"/tok\\/s[^]*> $/.test({shown}.trimEnd() + ' ')"), "the terminal works like one at the board", window.value(shown))
    tap.ok(b"\r" in carrier.seen[-40:], "typed bytes are sent unchanged", carrier.seen[-60:])
    tap.ok(window.value("terminal.xterm.cols") >= 80 and window.value("document.querySelector('.xterm-screen').getBoundingClientRect().right <= document.querySelector('#screen').getBoundingClientRect().right"),
           "the terminal fits its area")
    window.keys("/plan")
    window.press("Enter")
    window.check(f"/q4_0[^]*> $/.test({shown}.trimEnd() + ' ')")
    picture("page-5-terminal")
    window.press("Tab")
    tap.ok(window.check("!document.activeElement.classList.contains('xterm-helper-textarea')"), "Tab leaves the terminal")
    window.value("terminal.focus()")
    window.keys("half a line")
    window.value("document.getElementById('tab-chat').focus()")
    click("tab-chat")
    tap.ok(window.check("!document.getElementById('chat').hidden && !busy") and state() == "virt-arm64, demo-q8_0.ingot", "the page goes back from the terminal to the chat, also from half a line", body())
    ask("What is 7 plus 8?")
    tap.ok(window.check(said(2)) and "15" in window.value(said(2)), "the chat continues after the terminal", window.value(said(2)))
    window.check("!busy")

# A file for the card is cut in the middle, resumed, and loaded.
wrong = os.path.join(FOLDER, "model.gguf")
with open(wrong, "wb") as f:
    f.write(b"GGUF" + bytes(100))
window.choose("#file", wrong)
tap.ok(window.check("document.getElementById('upload-note').textContent.includes('ingot pack')"),
       "a file that a card cannot take is refused", window.value("document.getElementById('upload').innerText"))
window.check("!busy")
window.choose("#file", OTHER)
tap.ok(window.check("document.getElementById('upload-bar').value > 11 && /kB.s, [0-9]+:[0-9]+ left/.test(document.getElementById('upload-rate').textContent)"),
       "an upload shows the time left",
       window.value("document.getElementById('upload').innerText"))
window.value("document.getElementById('upload').scrollIntoView({ block: 'center' })")
picture("page-6-upload")
click("upload-stop")
tap.ok(window.check("document.getElementById('upload-note').textContent.includes('Stopped at')"),
       "an upload can be stopped", window.value("document.getElementById('upload').innerText"))
tap.ok(on_card("models/demo-q4_0.ingot") is None, "a stopped upload leaves no file under its name")
window.check("!busy")
ask("What is 7 plus 8?")
n = window.value("document.querySelectorAll('.said.its:not(.busy):not(.error)').length")
tap.ok(window.check("!busy && document.getElementById('stop').hidden") and "15" in window.value("[...document.querySelectorAll('.said.its p')].at(-1).textContent"),
       "the board replies as before after a stopped upload", body())
window.value("Upload.prototype.progress = (f => function (t) { window.resumed = t.resumed; f.call(this, t); })(Upload.prototype.progress)")
window.choose("#file", OTHER)
tap.ok(window.check("document.getElementById('upload-note').textContent.includes('The file is on the card')", 120) and window.value("resumed > 0"),
       "the next try continues where the upload stopped", window.value("document.getElementById('upload').innerText"))
tap.ok(on_card("models/demo-q4_0.ingot") == content(OTHER) and on_card("models/demo-q8_0.ingot") == content(MODEL),
       "the card has the bytes of the upload and of the other file")
window.check("!busy && document.querySelectorAll('#models li').length === 2")
click("upload-go")
tap.ok(window.check("document.getElementById('state').textContent === 'virt-arm64, demo-q4_0.ingot' && !busy"), "the uploaded model is loaded", state())
ask("What is 7 plus 8?")
tap.ok(window.check(said(0)) and window.value(said(0)) == run([HOST, "run", OTHER, "-p", "What is 7 plus 8?", "--temp", "0", "-q"])[1].strip(), "the loaded model answers as on this computer", window.value(said(0)))
window.check("!busy")
if PICTURES:  # pictures of the page in use: a story, the dark theme, and the size of a telephone
    ask("Tell me a story about a fox.")
    window.check("!busy && document.getElementById('stop').hidden")
    window.dark(True)
    window.value("document.getElementById('side').scrollTop = 0")
    picture("page-7-dark")
    window.dark(False)
    window.size(420, 760)
    picture("page-8-narrow")
    window.size(1100, 700)
window.choose("#file", LILA)
tap.ok(window.check("document.getElementById('upload-note').textContent.includes('/preset lila')") and on_card("presets/lila.txt") == content(LILA),
       "a preset is stored in its folder", window.value("document.getElementById('upload').innerText"))
window.check("!busy")
window.value("document.querySelector('#models button').click()")
tap.ok(window.check("document.getElementById('state').textContent === 'virt-arm64, demo-q8_0.ingot' && !busy"), "a button loads another model", state())

# The board is disconnected, which restores its mode, and connected again; then it is unplugged.
click("serial")
tap.ok(window.check("document.getElementById('state').textContent === 'not connected'") and b'"/mode chat"' in carrier.seen[-200:],
       "a disconnected board talks to people again", carrier.seen[-200:])
click("serial")
tap.ok(window.check("document.getElementById('state').textContent === 'virt-arm64, demo-q8_0.ingot' && !busy"),
       "a disconnected board can be connected again", body())
window.type("Tell me a story about a fox.")
window.press("Enter")
window.check("document.querySelector('.said.busy p')?.textContent.length > 20")
window.value("unplug()")
tap.ok(window.check("document.querySelectorAll('.said.error').length === 1") and "Plug it in" in body() and state() == "the board is gone",
       "a board that is unplugged during a reply is reported once", body())
picture("page-9-unplugged")
tap.ok(window.value("document.getElementById('stop').hidden && !document.getElementById('send').hidden && document.getElementById('memory-box').hidden"), "a reply of an unplugged board leaves nothing on the page")
tap.ok(window.said == [], "no error in the browser's log", window.said)
board.kill()
window.end()
tap.done()
