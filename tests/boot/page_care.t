#!/usr/bin/python3
"""Accessibility and hostile boards: readable colours in both themes, the order of the keyboard's focus, replies that a screen reader gets sentence by
sentence, and speech that fails without harm. Output of a board or its model is only text, and never breaks the page. The board is a script in the
page."""

import atexit
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import browser
from machine import BUILD, ROOT, Tap

PAGE = os.path.join(BUILD, "web/ingot.html")
PICTURES = os.environ.get("INGOT_PICTURES")
tap = Tap()
if not browser.PROGRAM:
    tap.skip("the page in a browser", "chromium is not installed")
    tap.done()
    sys.exit(0)
subprocess.run(["make", "-s", "--no-print-directory", "-C", ROOT, "O=" + BUILD, "web"], check=True, capture_output=True, timeout=60)

# The script that stands for a board: obey(request) answers with say(event) and line(text), and `pieces` are the pieces of the next reply. The script also
# replaces the browser's speech.
BOARD = """(() => {
  const encoder = new TextEncoder(), decoder = new TextDecoder();
  let control, rest = '';
  window.line = text => control.enqueue(encoder.encode(text + '\\r\\n'));
  window.say = event => line(JSON.stringify(event));
  window.ready = { event: 'ready', protocol: 1, board: 'fake', model: 'one.ingot', context_limit_tokens: 512 };
  window.pieces = ['A reply', ' in two sentences', '. The', ' second one.'];
  window.asked = [];
  window.models = [{ event: 'model', model: 'one.ingot', bytes: 1282048, loaded: true }, { event: 'model', model: 'two.ingot', bytes: 708000, loaded: false }];
  window.stats = { event: 'stats', memory: [{ name: 'meta', bytes: 81920 }, { name: 'weights', bytes: 1200128 }, { name: 'io', bytes: 458752 }, { name: 'kv', bytes: 1048576 }, { name: 'scratch', bytes: 1996736 }, { name: 'learn', bytes: 90000 }] };
  window.plan_ = { event: 'plan', residency: 'streamed', layers: 28, layers_streamed: 20, slots: 2, slot_bytes: 5000000, memory_bytes: 8000000, taken_bytes: 4876112, read_bytes_per_pass: 90000000, decode_tokens_per_s: 3.1 };
  window.done = { event: 'done', reason: 'end', reply_tokens: 9, decode_tokens_per_s: 4.5, first_token_ms: 250, context_tokens: 40, temperature_c: 48.3, card_mb_per_s: 21.5 };
  window.obey = r => {
    asked.push(r);
    if (r.models) models.forEach(m => say({ ...m, id: r.id }));
    if (r.stats) say({ ...stats, id: r.id });
    if (r.plan) say({ ...plan_, id: r.id });
    if (String(r.command).startsWith('/receive')) { receive(r); return; }
    if (r.prompt !== undefined && window.slow) { window.slow(r); return; }
    if (r.prompt !== undefined) pieces.forEach(text => say({ event: 'token', id: r.id, token: 1, text }));
    say({ ...(r.prompt === undefined ? { event: 'done', reason: 'command' } : done), id: r.id });
  };
  // A file, whose bytes are in `file`; at a rate of `deaf` nothing gets through.
  window.rates = [];
  window.deaf = [];
  window.receive = r => {
    const bytes = +r.command.split(' ')[2], tell = (...f) => { if (!deaf.includes(rates.at(-1))) control.enqueue(frame(...f)); };
    window.file = new Uint8Array(bytes);
    window.at = 0;
    window.transferring = new FrameReader(f => {
      if (deaf.includes(rates.at(-1))) return;
      if (f.kind === 'p') tell('p', f.n);
      if (f.kind === 'q') tell('c', f.n, littleEndian(0, 4));
      if (f.kind === 's') { at = f.n; tell('a', at); }
      if (f.kind === 'd' && window.loses-- > 0) return;
      if (f.kind === 'd' && f.n > at) { tell('n', at); return; }
      if (f.kind === 'd') { file.set(f.data, f.n); at = f.n + f.data.length; tell('a', at); }
      if (f.kind === 'e') tell('r', fromLittleEndian(f.data) === crc32c(0, file) ? 0 : 1);
      if (f.kind === 'x') { transferring = null; setTimeout(() => { say({ event: 'text', id: r.id, text: 'it is there' }); say({ event: 'done', id: r.id, reason: 'command' }); }, 300); }
    });
    window.loses = 2;
    say({ event: 'receive', id: r.id, bytes, frame_bytes: 2048, window_bytes: 32768, baud: +r.command.split(' ')[3] });
  };
  Object.defineProperty(navigator, 'serial', { value: { requestPort: async () => ({
    async open({ baudRate }) {
      rates.push(baudRate);
      this.readable = new ReadableStream({ start(c) { control = c; } });
      this.writable = new WritableStream({ write(b) {
        if (window.transferring) { transferring.take(b); return; }
        rest += decoder.decode(b);
        const lines = rest.split('\\n');
        rest = lines.pop();
        for (const l of lines) if (l.startsWith('{')) obey(JSON.parse(l));
        if (rest.includes('\\x03')) { rest = ''; say(ready); }
      } });
      if (rates.length === 1) setTimeout(() => say(ready), 10);
    },
    async close() { if (this.readable.locked || this.writable.locked) throw new TypeError('locked'); },
  }) } });
  window.heard = [];
  window.spoken = [];
  window.SpeechRecognition = class { start() { window.recognition = this; heard.push('start'); } stop() { heard.push('stop'); this.onend(); } };
  window.SpeechSynthesisUtterance = class { constructor(text) { this.text = text; } };
  Object.defineProperty(window, 'speechSynthesis', { value: { speak: u => spoken.push(u.text), cancel: () => spoken.push('-') } });
})();"""

# Texts and edges whose contrast is too low: WCAG 2's ratio, 4.5 for text, 3 for edges of controls.
CONTRAST = """(() => {
  const rgb = c => { const v = c.match(/[\\d.]+/g).map(Number); return { r: v[0], g: v[1], b: v[2], a: v[3] ?? 1 }; };
  const over = (f, b) => ({ r: f.r * f.a + b.r * (1 - f.a), g: f.g * f.a + b.g * (1 - f.a), b: f.b * f.a + b.b * (1 - f.a), a: 1 });
  const light = c => { const [r, g, b] = [c.r, c.g, c.b].map(v => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4); return .2126 * r + .7152 * g + .0722 * b; };
  const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + .05) / (y + .05); };
  const ground = e => { const all = []; for (; e; e = e.parentElement) all.push(rgb(getComputedStyle(e).backgroundColor)); return all.reduceRight((below, c) => over(c, below), { r: 255, g: 255, b: 255, a: 1 }); };
  const bad = [];
  let n = 0;
  const look = (e, color, least, what) => { n++; const r = ratio(over(rgb(color), ground(e)), ground(what === 'edge' ? e.parentElement : e)); if (r < least) bad.push(`${what} ${r.toFixed(2)} ${e.tagName}#${e.id}.${e.className} ${e.textContent.slice(0, 20)}`); };
  for (const e of document.querySelectorAll('body, body *')) {
    if (!e.checkVisibility({ checkVisibilityCSS: true }) || e.closest('.hide, script, svg, #screen') || e.disabled) continue;
    const style = getComputedStyle(e);
    if ([...e.childNodes].some(c => c.nodeType === 3 && c.data.trim()) || e.matches('input:not([type=checkbox]), select')) look(e, style.color, 4.5, 'text');
    if (e.placeholder) look(e, getComputedStyle(e, '::placeholder').color, 4.5, 'placeholder');
    if (e.matches('button, input:not([type=checkbox]), select, textarea')) look(e, style.borderTopColor, 3, 'edge');
  }
  for (const dot of document.querySelectorAll('.dot, .part0, .part1, .part2, .part3, .part4, .part5')) if (dot.checkVisibility()) {
    const style = getComputedStyle(dot), r = ratio(rgb(dot.matches('.dot') ? style.backgroundColor : style.fill), ground(dot.closest('aside, header'))); n++;
    if (r < 3) bad.push(`mark ${r.toFixed(2)} ${dot.getAttribute('class')}`);
  }
  return { n, bad };
})()"""


def picture(name):
    if PICTURES:
        window.picture(os.path.join(PICTURES, name + ".png"))


def ask(text):
    window.check("!busy")
    window.value("document.getElementById('text').focus()")
    window.type(text)
    window.press("Enter")


def last(selector=".said.its p"):
    return window.value(f"[...document.querySelectorAll('{selector}')].at(-1)?.textContent")


def rest():
    return window.check("!busy && document.getElementById('stop').hidden && !document.querySelector('.busy')", 20)


window = browser.Browser(1280, 800)
atexit.register(window.end)
window.go("file://" + PAGE, BOARD)
window.value("document.getElementById('serial').click()")
tap.ok(window.check("document.getElementById('state').textContent === 'fake, one.ingot' && !document.getElementById('plan-box').hidden && !busy", 20),
       "the page is connected to a board", window.value("document.body.innerText"))

# Sentence by sentence.
window.value("window.slow = r => { window.at = r.id; say({ event: 'token', id: r.id, text: 'A reply' }); say({ event: 'token', id: r.id, text: ' of two' }); }, 0")
ask("Talk.")
window.check("document.querySelector('.busy p')?.textContent === 'A reply of two'")
first = window.value("[...document.querySelectorAll('#told p')].map(p => p.textContent)")
window.value("say({ event: 'token', id: at, text: ' sentences. And' }), say({ event: 'token', id: at, text: ' this' }), 0")
window.check("document.querySelector('.busy p')?.textContent.endsWith('this')")
second = window.value("[...document.querySelectorAll('#told p')].map(p => p.textContent)")
window.dark(False, still=True)
still = window.value("[getComputedStyle(document.querySelector('.busy p'), '::after').animationName, getComputedStyle(document.getElementById('talk')).scrollBehavior]")
window.dark(False)
moves = window.value("getComputedStyle(document.querySelector('.busy p'), '::after').animationName")
window.value("say({ ...done, id: at }), window.slow = null, 0")
rest()
third = window.value("[...document.querySelectorAll('#told p')].map(p => p.textContent)")
tap.ok((first, second, third) == ([], ["A reply of two sentences."], ["A reply of two sentences.", "And this"]),
       "each sentence of a reply is announced when it is complete", (first, second, third))
tap.ok(window.value("document.querySelectorAll('#talk[aria-live], #talk[role=log], #talk [aria-live]').length") == 0 and window.value("!!document.querySelector('#told[role=log][aria-live=polite]')"),
       "single tokens are not announced, because the bubbles are not a live region")
tap.ok(still == ["none", "auto"] and moves == "blink", "nothing moves if the user's system asks for less motion", (still, moves))

# The keyboard.
window.value("document.body.tabIndex = -1, document.body.focus(), document.body.removeAttribute('tabindex')")
order = []
for _ in range(40):
    window.press("Tab")
    here = window.value("(() => { const e = document.activeElement; return e === document.body ? null : [e.id || e.textContent, getComputedStyle(e).outlineStyle !== 'none']; })()")
    if here is None or here in order:
        break
    order.append(here)
wanted = window.value("[...document.querySelectorAll('a[href], button, input, select, textarea, [tabindex]')].filter(e => e.checkVisibility({ checkVisibilityCSS: true }) && !e.disabled && e.tabIndex >= 0).map(e => e.id || e.textContent)")
tap.ok([o[0] for o in order] == wanted and len(wanted) > 14, "Tab reaches everything, in the order of the page", (order, wanted))
tap.ok(all(o[1] for o in order), "each element shows that it has the focus", order)
names = window.value("[...document.querySelectorAll('button, input, textarea, select, progress, svg[role=img]')].filter(e => !(e.innerText || e.labels?.length || e.getAttribute('aria-label'))).map(e => e.outerHTML).join()")
tap.ok(names == "" and window.value("document.documentElement.lang") == "en", "each button, field and picture has a name", names)
if window.value("hasTerminal"):
    window.value("document.getElementById('tab-chat').focus()")
    window.press("ArrowRight")
    tap.ok(window.value("document.activeElement.id") == "tab-terminal", "arrows go from tab to tab")

# Colours.
window.value("show('error', 'something failed', 'Do this.'), note('A line between.'), document.getElementById('upload').hidden = false, upload.say('It is on its way.'), 0")
window.value("document.getElementById('upload-go').hidden = false, document.getElementById('upload-rate').textContent = '12 %', log('a line'), 0")
results = {}
for dark in (False, True):
    window.dark(dark)
    results["dark" if dark else "light"] = window.value(CONTRAST)
    picture("colours-" + ("dark" if dark else "light"))
window.value("document.getElementById('theme').click()")
results["light by the button"] = window.value(CONTRAST)
tap.ok(window.value("getComputedStyle(document.body).backgroundColor") == "rgb(251, 250, 248)", "the page can be light although the system is dark")
window.dark(False)
window.value("document.getElementById('theme').click()")
results["dark by the button"] = window.value(CONTRAST)
tap.ok(window.value("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 26)", "the page can be dark although the system is light")
for theme, result in results.items():
    tap.ok(result["n"] > 60 and result["bad"] == [], f"{theme}: text at 4.5 to 1, edges and marks at 3 to 1, {result['n']} looked at", result["bad"])
window.value("document.getElementById('theme').click(), document.getElementById('upload').hidden = true")

# Speech.
window.value("document.getElementById('mic').click()")
tap.ok(window.value("document.getElementById('mic').getAttribute('aria-pressed')") == "true", "the page listens after the button was pressed")
window.value("document.getElementById('mic').click()")
tap.ok(window.value("heard.join()") == "start,stop" and window.value("document.getElementById('mic').getAttribute('aria-pressed')") == "false",
       "the page stops listening when the button is pressed again")
window.value("document.getElementById('mic').click(), recognition.onerror({ error: 'not-allowed' }), recognition.onend()")
tap.ok("allow it" in last(".note"), "the page says that it may not use the microphone", last(".note"))
window.value("document.getElementById('speak').click(), spoken.length = 0")
window.value("document.getElementById('mic').click(), recognition.onresult({ results: [[{ transcript: 'What is 7 plus 8?' }]] }), recognition.onend()")
tap.ok(rest() and window.value("asked.findLast(r => r.prompt).prompt") == "What is 7 plus 8?", "recognized speech is sent as the question")
tap.ok(window.value("spoken.filter(s => s !== '-')") == ["A reply in two sentences.", "The second one."], "a spoken question's reply is read aloud by sentences", window.value("spoken"))
window.value("spoken.length = 0, kept_pieces = pieces, pieces = ['你好。「今', '天很好！」', '他说。再见']")
window.value("document.getElementById('mic').click(), recognition.onresult({ results: [[{ transcript: 'Hello' }]] }), recognition.onend()")
tap.ok(rest() and window.value("spoken.filter(s => s !== '-')") == ["你好。", "「今天很好！」", "他说。", "再见"],
       "Chinese sentences are read aloud one by one, although no blanks follow them", window.value("spoken"))
window.value("pieces = kept_pieces")
window.value("spoken.length = 0")
window.press("Escape")
tap.ok(window.value("spoken") == ["-"], "Escape ends reading aloud")
window.value("recognition.onresult({ results: [] }), window.SpeechRecognition.prototype.start = () => { throw new Error('busy'); }, document.getElementById('mic').click(), document.getElementById('speak').click()")
tap.ok(window.value("document.getElementById('mic').getAttribute('aria-pressed')") == "false" and window.said == [],
       "a failure of speech affects nothing else", window.said)

# A file is sent at a higher rate, for which the port is closed and opened again; then at a rate at which no byte arrives.
MAKE = "new File([new Uint8Array([73, 78, 71, 79, 84, 13, 10, 26]), new Uint8Array(150000).map((_, i) => i * i)], 'three.ingot')"
window.value("window.transferring = null, rates.length = 1, 0")
got = window.value(f"(async () => {{ await upload.take({MAKE}); return [rates.join(), document.getElementById('upload-note').textContent, file.length, crc32c(0, file) === crc32c(0, new Uint8Array(await {MAKE}.arrayBuffer())), board.baud]; }})()")
tap.ok(got[0] == "115200,921600,115200" and "The file is on the card" in got[1] and got[2:] == [150008, True, 115200],
       "a file arrives at a higher rate although two frames were lost", got)
rest()
window.value("deaf.push(921600), rates.length = 1, 0")
got = window.value(f"(async () => {{ await upload.take({MAKE}); return [rates.join(), document.getElementById('upload-note').textContent, file.length]; }})()")
tap.ok(got[0] == "115200,921600,115200" and "The file is on the card" in got[1],
       "if the higher rate does not get through, the file arrives at the line's own rate", got)
rest()
known = window.value("[crc32c(0, new TextEncoder().encode('123456789')), [...frame('p', 0x7e0311)].join()]")
tap.ok(known == [0xe3069283, known[1]] and known[1].startswith("126,112,125,49,125,35,125,94,0,0,0,0,0,"),
       "the checksum has its published value, and certain bytes are sent as two", known)

# A model writes markup, very long words, direction marks and control characters.
window.value("document.getElementById('fresh').click()")
HOSTILE = {
    "markup": "<img src=x onerror=\"window.hit=1\"><script>window.hit=1</script><b>bold</b><style>*{display:none}</style>&lt;",
    "a long word": "x" * 20000,
    "lines": "line\n" * 3000,
    "right to left": "\u202eabc \u05e9\u05dc\u05d5\u05dd \u2066\u2067\u202d",
    "control characters": "a\x00b\x07c\x1b[31md\x7fe\x9bf",
    "half a pair": "\ud83d",
}
for name, text in HOSTILE.items():
    window.value(f"pieces = {json.dumps([text, ' end'])}, 0")
    ask("Go on.")
    shown = last() if rest() else None
    clean = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if name == "half a pair" else text
    for c in "\u202e\u2066\u2067\u202d\x00\x07\x1b\x7f\x9b":
        clean = clean.replace(c, "\ufffd")
    wide = window.value("[document.documentElement.scrollWidth <= innerWidth, document.documentElement.scrollHeight <= innerHeight, document.getElementById('talk').scrollWidth <= document.getElementById('talk').clientWidth]")
    good = shown is not None and (name == "half a pair" or shown == (clean + " end").lstrip()) and wide == [True] * 3
    tap.ok(good, f"{name} in a reply is shown as text", ((shown or "")[:200], wide))
tap.ok(window.value("[document.querySelectorAll('#talk img, #talk b, #talk style, #talk script').length, window.hit ?? 0].join()") == "0,0",
       "nothing in these replies is more than text")
tap.ok(window.value("getComputedStyle(document.querySelector('.said.its p')).unicodeBidi") == "isolate" and window.value("document.querySelector('.said.its p').dir") == "auto", "each bubble has its own direction")
picture("hostile")

# A board whose events are invalid.
EVIL = "<img src=x onerror='window.hit=1'>\u202e" + "y" * 3000
VALUES = [None, True, -1, 1e308, "12", "", EVIL, [], [1], {}, {"a": 1}]
window.value("pieces = ['fine'], 0")
ok, n = True, 0
for i, value in enumerate(VALUES):
    v = json.dumps(value)
    window.value(f"""(() => {{ const v = {v};
      models = [v, {{ event: 'model', model: v, bytes: v, loaded: v }}, {{ event: 'model', model: 'fine', bytes: v, loaded: v }}].filter(m => m && typeof m === 'object');
      stats = {{ event: 'stats', memory: [v, {{ name: v, bytes: v }}, {{ name: 'weights', bytes: 5 }}], temperature_c: v }};
      plan_ = {{ event: 'plan', layers: v, layers_streamed: v, slots: v, memory_bytes: v, slot_bytes: v, read_bytes_per_pass: v, residency: v, decode_tokens_per_s: v }};
      done = {{ event: 'done', reason: v, reply_tokens: v, decode_tokens_per_s: v, first_token_ms: v, context_tokens: v, card_mb_per_s: v, temperature_c: v, stalled_percent: v }};
      for (const kind of ['log', 'text', 'error', 'token', 'usage', 'receive', 'stats', 'plan', 'nothing', v]) say({{ event: kind, text: v, id: v, token: v }});
      ready = {{ event: 'ready', board: v, model: typeof v === 'string' && v ? v : 'one.ingot', context_limit_tokens: v, line_limit_bytes: v }}; say(ready);
      line('{{"event":'); line('not json'); line('[1]'); line('null'); line('{{"event":7}}'); line('{{"event":"done"}}'); }})()""")
    ask("And now?")
    said_ = last() if rest() else None
    window.value("look(true), 0")
    here = rest() and said_ == "fine" and window.value("document.documentElement.scrollWidth <= innerWidth && document.getElementById('side').scrollWidth <= document.getElementById('side').clientWidth && !window.hit")
    n += bool(here)
    if not here:
        ok = False
        tap.ok(False, f"events with {v[:60]}", (said_, window.value("document.body.innerText")[-1500:]))
tap.ok(ok and n == len(VALUES) and window.said == [], f"{n} kinds of wrong values in every event: the page continues, and reports no error", window.said)
tap.ok(window.value("document.querySelectorAll('#side img, header img, #talk img').length") == 0, "names are shown as text, too")
picture("hostile-board")
window.value("line('x'.repeat(3 << 20)), 0")
window.value("say({ event: 'ready', board: 'fake', model: 'one.ingot' })")
ask("Still there?")
tap.ok(rest() and last() == "fine", "after a line of 3 MiB the page continues", last())
for width in (320, 600):
    window.size(width, 700)
    tap.ok(window.value("document.documentElement.scrollWidth <= innerWidth"), f"{width} wide, without scrolling sideways", window.value("[...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML.slice(0, 80))"))
tap.ok(window.said == [], "no error in the browser's log", window.said)
window.end()
tap.done()
