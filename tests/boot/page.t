#!/usr/bin/python3
"""The page of `ingot serve`, in a headless browser: a conversation with the keyboard only, and the server's counters; pages of other sites reach
nothing. page_board.t tests a board over Web Serial; page_care.t tests hostile boards and accessibility. INGOT_PICTURES=FOLDER keeps
screenshots."""

import atexit
import http.client
import http.server
import json
import os
import re
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import browser
from machine import BUILD, HOST, ROOT, Tap, run

MODEL = os.path.join(ROOT, "models/demo-q8_0.ingot")
PAGE = os.path.join(BUILD, "gen/page.html")  # written by make_page.py
PICTURES = os.environ.get("INGOT_PICTURES")
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


server = Server("--temp", "0", "--mem", "900K")
if server.port == 0:
    tap.skip("the page", "node-llhttp or libwslay-dev is not installed")
    tap.done()
    sys.exit(0)
status, headers, page = server.get("/")
with open(PAGE, "rb") as f:
    tap.ok(status == 200 and page == f.read() and headers["content-type"].startswith("text/html"), "the server returns the page", (status, headers))
policy = headers.get("content-security-policy", "")
tap.ok("default-src 'none'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy and "script-src 'sha256-" in policy and "style-src 'sha256-" in policy,
       "the page has a policy that allows only its own scripts and style", policy)
tap.ok(not re.search(rb"(src|href)=\"(?!data:)|@import|url\(|innerHTML *=|eval\(", page), "the page loads nothing else, and does not make markup of texts")
tap.ok(server.get("/", Host="evil.example")[0] == 403, "the page is not returned under another name")
guarded = Server("--token", "secret")
tap.ok(guarded.get("/")[0] == 200 and guarded.get("/v1/models")[0] == 401, "only the page is returned without the token")

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
tap.ok(window.check("document.getElementById('state').textContent === 'demo-q8_0.ingot'"),
       "the page says which model it talks to", window.value("document.body.innerText"))
picture(window, "page-empty")
window.value("document.getElementById('temp').value = 0, document.getElementById('temp').dispatchEvent(new Event('change'))")
tap.ok(window.value("document.activeElement.id") == "text", "the field for questions has the focus at once")
got = window.value("(() => { const s = document.createElement('script'); s.textContent = 'window.hit = 1'; document.body.append(s); const d = document.createElement('p'); d.setAttribute('style', 'color: red'); document.body.append(d); const out = [window.hit ?? 0, getComputedStyle(d).color === 'rgb(255, 0, 0)']; s.remove(); d.remove(); return out; })()")
tap.ok(got == [0, False] and len(window.said) >= 2 and all("Content Security Policy" in s for s in window.said), "another script or style is refused by the browser", (got, window.said))
window.said.clear()
window.type("What is 7 plus 8?")
window.press("Enter")
tap.ok(window.check(said(0)) and window.value(said(0)) == want("What is 7 plus 8?"),
       "a question typed and sent by keyboard gets a reply", window.value(said(0)))
window.type("And 2 plus 2?")
window.press("Enter")
talk = [{"role": "user", "content": "What is 7 plus 8?"}, {"role": "assistant", "content": want("What is 7 plus 8?")}, {"role": "user", "content": "And 2 plus 2?"}]
c = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
c.request("POST", "/v1/chat/completions", json.dumps({"messages": talk, "temperature": 0}))
second = json.loads(c.getresponse().read())["choices"][0]["message"]["content"].strip()
tap.ok(window.check(said(1)) and window.value(said(1)) == second, "a conversation continues", (window.value(said(1)), second))
tap.ok(window.check("document.getElementById('server').innerText.includes('Requests\\n2') || document.getElementById('server').innerText.includes('Requests\\n3')"),
       "the server's counters are right",
       window.value("document.getElementById('server').innerText"))
text = window.value("document.getElementById('side').innerText")
about = json.loads(server.get("/boards")[2])["boards"]
tap.ok(len(about) == 1 and about[0]["line"] is None and about[0]["replies"] >= 2 and about[0]["plan"]["layers_streamed"] > 0 and "MEMORY OF THE SERVER" in text.upper() and
       "from the disk" in text and browser.shows_a_plan_that_streams(window, text, "disk", 4) and window.value("document.querySelectorAll('#memory svg rect').length") > 5,
       "the page shows memory and plan of the server's model", (about, text))
tap.ok(re.search(r"Tokens a second\n[\d.]+\n", text) and re.search(r"Context\n\d+ of 512", text) and re.search(r"Disk\n[\d.]+ MB/s", text) and "Speed:" in text and "Disk:" in text, "the page shows the model's figures with plots", text)
tap.ok("on the server's own computer" in window.value("server.what()"), "the page does not call the server's model a board")
tap.ok(window.value("document.querySelectorAll('#numbers dt').length") >= 4 and "tokens" in window.value("document.getElementById('numbers').innerText").lower(),
       "a reply has its figures")
window.type("Tell me a story about a fox.")
window.press("Enter")
tap.ok(window.check(said(2)) and len(window.value(said(2))) > 100, "a request for a story gets a reply")
picture(window, "page")
window.type("<img src=x onerror=alert(1)> & <b>")
window.press("Enter")
tap.ok(window.check(said(3)) and window.value("document.querySelectorAll('#talk img, #talk b').length") == 0 and
       "<img src=x" in window.value("[...document.querySelectorAll('.mine p')].at(-1).textContent"), "markup in a reply stays text")
window.value("document.getElementById('fresh').click()")
tap.ok(window.value("document.querySelectorAll('.said').length === 0 && !!document.querySelector('.empty')"), "a new conversation begins empty")
names = window.value("[...document.querySelectorAll('button, input, textarea')].filter(e => !(e.innerText || e.ariaLabel || e.labels?.length || e.getAttribute('aria-label'))).map(e => e.outerHTML).join()")
tap.ok(names == "" and window.value("document.documentElement.lang") == "en" and window.value("!!document.querySelector('[role=log][aria-live=polite]')"),
       "each button and field has a name, and replies are announced", names)
tap.ok(window.said == [], "no error in the browser's log", window.said)
server.process.kill()
window.type("Hello")
window.press("Enter")
tap.ok(window.check("document.querySelectorAll('.said.error').length === 1"), "the page says that the server is gone")
window.end()

window = browser.Browser(420, 800, dark=True)
atexit.register(window.end)
window.go(f"http://127.0.0.1:{guarded.port}/")
tap.ok(window.check("document.getElementById('state').textContent.includes('token')"),
       "the page asks for the server's token", window.value("document.body.innerText"))
tap.ok(window.value("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 26)", "the page is dark if the system's theme is")
tap.ok(window.value("document.documentElement.scrollWidth <= innerWidth"), "on the width of a telephone, the page does not scroll sideways")
window.value("document.getElementById('more').focus()")
window.press("Enter")
tap.ok(window.value("document.body.classList.contains('side') && document.getElementById('more').getAttribute('aria-expanded')") == "true",
       "on the width of a telephone, figures have a separate page")
window.press("Escape")
tap.ok(window.value("!document.body.classList.contains('side') && document.activeElement.id") == "more", "Escape leaves the side panel")
window.value("document.getElementById('more').click()")
window.value("document.getElementById('token').value = 'secret', document.getElementById('token').dispatchEvent(new Event('change'))")
tap.ok(window.check("document.getElementById('state').textContent === 'demo-q8_0.ingot'"), "with the token the server answers")
picture(window, "page-narrow")
window.end()

# A page of another site may try to load anything, but gets nothing from the server.
class Elsewhere(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>elsewhere</title>")


# A link can fill the text field, but whoever made the link cannot send anything.
def asked(of):
    """The number of requests that the server has ended, runs or keeps waiting."""
    counts = dict(re.findall(r"^ingot_(requests_\w+) (\d+)$", of.get("/metrics")[2].decode(), re.M))
    return sum(int(counts[k]) for k in ("requests_total", "requests_running", "requests_waiting"))


linked = Server("--temp", "0", "--ctx", "160")
address = f"http://127.0.0.1:{linked.port}/"
field = "document.getElementById('text').value"
window = browser.Browser()
atexit.register(window.end)
window.go(address + "#ask=What%20is%207%20plus%208%3F%0A%0A%0Ax%E2%80%AEy")
tap.ok(window.check("server.boards.length === 1") and window.value(field) == "What is 7 plus 8?\nx\ufffdy", "#ask= fills the field", window.value(field))
window.value("location.hash = '#ask=Another', new Promise(go => setTimeout(go, 500))")
tap.ok(asked(linked) == 0 and window.value("document.querySelectorAll('.said').length") == 0 and "Another" not in window.value(field), "#ask= sends nothing, also when the address changes later",
       (asked(linked), window.value("document.body.innerText")))
window.value("dispatchEvent(new MessageEvent('message', { data: 'Hello', origin: 'http://evil.example' })), name = 'Hello', dispatchEvent(new StorageEvent('storage', { key: 'ingot.talk', newValue: 'Hello' })),"
             "dispatchEvent(new HashChangeEvent('hashchange')), dispatchEvent(new PopStateEvent('popstate', { state: 'Hello' })), text.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', repeat: true, bubbles: true })),"
             "new Promise(go => setTimeout(go, 300))")
tap.ok(asked(linked) == 0, "messages, names, storage and a held key send nothing", asked(linked))
window.value("document.getElementById('text').value = ''")
window.go(address + "#ask=What%20is%207%20plus%208%3F")
window.go(address + "?ask=Hello&prompt=Hello#ask=What%20is%207%20plus%208%3F")
window.value("document.getElementById('temp').value = 0")
tap.ok(window.check("server.boards.length === 1") and window.value(field) == "What is 7 plus 8?" and asked(linked) == 0,
       "only the part of the address after # is read", window.value(field))
window.press("Enter")
tap.ok(window.check(said(0)) and window.value(said(0)) == want("What is 7 plus 8?", "--ctx", "160") and asked(linked) == 1,
       "Enter sends the filled field", window.value(said(0)))

# When the context is full, the page continues, and after a reload it still has the conversation.
for i in range(9):
    window.check("!busy")
    window.type(f"Tell me a story about a dog and {i} cats.")
    window.press("Enter")
    if not window.check(f"{said(i + 1)} && !busy"):
        break
errors = window.value("document.querySelectorAll('.said.error').length")
told = window.value("messages.length")
tap.ok(errors == 0 and window.value("document.querySelectorAll('.said.its').length") == 10 and told < 20 and "no longer sees what is above" in window.value("document.getElementById('talk').innerText"),
       "a conversation that is longer than the context continues", (errors, told, window.value("document.body.innerText")))
window.type("word " * 400)
window.press("Enter")
tap.ok(window.check("document.querySelectorAll('.said.error').length === 1 && !busy") and window.value(field).startswith("word word"),
       "a message that is too long is put back into the field", window.value(field)[:40])
window.value("document.getElementById('text').value = ''")
before = window.value("[messages.length, messages.at(-1).content]")
window.call("Page.reload")
tap.ok(window.check("document.readyState === 'complete' && typeof server === 'object' && server.boards.length === 1 && messages.length > 0") and window.value("[messages.length, messages.at(-1).content]") == before and
       window.value("document.querySelectorAll('.said').length") == before[0], "the page loaded again has the conversation", (before, window.value("document.body.innerText")))
window.type("What is 7 plus 8?")
window.press("Enter")
tap.ok(window.check("messages.length > 1 && !busy && document.querySelectorAll('.said.error').length === 0 && messages.at(-1).role === 'assistant' && messages.at(-2).content === 'What is 7 plus 8?'"), "the page loaded again continues the conversation",
       window.value("document.body.innerText"))
window.value("document.getElementById('fresh').click()")
window.call("Page.reload")
tap.ok(window.check("document.readyState === 'complete' && typeof server === 'object' && server.boards.length === 1") and window.value("document.querySelectorAll('.said').length") == 0,
       "a new conversation forgets the old one")
tap.ok(all("400" in s for s in window.said), "no other error in the browser's log", window.said)
window.end()
linked.process.kill()

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
  try {{ await fetch('http://127.0.0.1:{victim.port}/boards'); out.push('boards'); }} catch (e) {{ out.push('refused'); }}
  out.push(await new Promise(told => {{ const s = new WebSocket('ws://127.0.0.1:{victim.port}/ws'); s.onopen = () => told('a socket'); s.onerror = () => told('refused'); }}));
  return out.join();
}})()""")
metrics = victim.get("/metrics")[2].decode()
tap.ok(got in ("refused,refused,opaque0,refused,refused", "refused,refused,refused,refused,refused") and "ingot_requests_total 0" in metrics, "a hostile page reaches nothing", (got, metrics[:300]))
got = window.value(f"""(async () => {{
  const w = window.open('http://127.0.0.1:{victim.port}/#ask=Hello', 'Hello');
  for (let i = 0; i < 20; i++) {{
    await new Promise(go => setTimeout(go, 100));
    for (const data of ['Hello', {{ ask: 'Hello' }}, {{ prompt: 'Hello' }}]) w?.postMessage(data, '*');
    if (w && i > 10) w.location = 'http://127.0.0.1:{victim.port}/#ask=' + i;
  }}
  return !!w;
}})()""")
tap.ok(got and asked(victim) == 0, "a hostile page reaches nothing through a window of the page that it opens", (got, asked(victim)))
window.end()
victim.process.kill()

tap.done()
