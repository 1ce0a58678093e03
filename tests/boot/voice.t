#!/usr/bin/python3
"""`ingot voice`: a question that espeak-ng speaks into a file is understood, asked, and answered in sound, and sentences are spoken while the reply
still arrives. It also tests a board at a socket, and programs that fail or are missing."""

import atexit
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
import wave

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from board_line import Board
from machine import ARM64, HOST, ROOT, WORK, Tap, make_card, run

MODEL = os.path.join(ROOT, "models/demo-q8_0.ingot")
FOLDER = tempfile.mkdtemp(prefix="ingot-voice-test-")
atexit.register(shutil.rmtree, FOLDER, True)
os.makedirs(WORK, exist_ok=True)
os.mkdir(os.path.join(FOLDER, "tmp"))
os.environ["TMPDIR"] = os.path.join(FOLDER, "tmp")
tap = Tap()


def work(name):
    return os.path.join(FOLDER, name)


def samples(path):
    with wave.open(path) as f:
        return f.readframes(f.getnframes()), f.getframerate()


def spoken(text, path, *words):
    subprocess.run(["espeak-ng", "-w", path, *words], input=text.encode() if not words else None, check=True, timeout=60)


def voice(with_, *options, **variables):
    done = subprocess.run([HOST, "voice", with_, *options], capture_output=True, text=True, timeout=200, stdin=subprocess.DEVNULL,
                          env=dict(os.environ, **variables))
    return done.returncode, done.stdout, done.stderr


def tone(path, parts):
    """Write a file of parts, each with some seconds of a tone or of silence."""
    with wave.open(path, "wb") as f:
        f.setnchannels(1)
        f.setsampwidth(2)
        f.setframerate(16000)
        for seconds, loud in parts:
            one = b"".join((loud if i % 40 < 20 else -loud & 0xffff).to_bytes(2, "little") for i in range(160))
            f.writeframes(one * int(seconds * 100))


# Commands that replace the programs for speech: one notes the sizes of recordings, the other notes spoken text and
# returns a tone.
HEARD = work("heard")
STT = f"wc -c < {{}} >> {HEARD}; printf '%s\\n' 'What is 7 plus 8?'"
tone(work("two.wav"), [(1, 0), (1, 8000), (1.2, 0), (0.6, 8000), (1, 0)])
SPOKEN, TONE = work("spoken"), work("tone.wav")
tone(TONE, [(0.1, 100)])
TTS = f"cat >> {SPOKEN}; echo '|' >> {SPOKEN}; cp {TONE} {{}}"
want = run([HOST, "run", MODEL, "-p", "What is 7 plus 8?", "--temp", "0.8", "--seed", "1", "-q"])[1]
status, out, err = voice(MODEL, "--input", work("two.wav"), "--output", work("out.wav"), "--stt", STT, "--tts", TTS)
heard = [int(n) for n in open(HEARD, encoding="ascii").read().split()]
tap.ok(status == 0 and out.count("> What is 7 plus 8?\n") == 2 and len(heard) == 2 and heard[0] > heard[1] > 0.6 * 32000,
       "two utterances are two questions", (status, out, err, heard))
said = open(SPOKEN, encoding="utf-8").read()
replies = " ".join(line for line in out.split("\n") if not line.startswith(">"))
tap.ok("".join(said.replace("|", "").split()) == "".join(replies.split()), "only replies are spoken", (said, out))
n = said.count("|")
tap.ok(len(samples(work("out.wav"))[0]) == n * len(samples(TONE)[0]) and n >= 2, "the spoken reply is in the file, sentence by sentence", n)

# This module replaces faster-whisper, whose model is loaded once for all questions.
os.mkdir(work("packages"))
with open(work("packages/faster_whisper.py"), "w", encoding="ascii") as f:
    f.write("""import os, types
class WhisperModel:
    def __init__(self, *_, **__):
        open(os.environ["LOADED"], "a").write("x")
    def transcribe(self, path, **_):
        if "DIES" in os.environ:
            os._exit(3)
        return [types.SimpleNamespace(text=t) for t in (" What is 7", " plus\\n8? ") if os.path.getsize(path) > 20000], None
""")
LOADED = {"PYTHONPATH": work("packages"), "LOADED": work("loaded")}
OPTIONS = ("--input", work("two.wav"), "--output", work("out.wav"), "--stt", "whisper", "--tts", TTS)
status, out, err = voice(MODEL, *OPTIONS, **LOADED)
tap.ok(status == 0 and out.count("> What is 7 plus 8?\n") == 2 and open(work("loaded"), encoding="ascii").read() == "x",
       "a recognizer that stays loads its model once for two questions", (status, out, err))
status, out, err = voice(MODEL, *OPTIONS, DIES="1", **LOADED)
tap.ok(status == 1 and "whisper: the recognizer failed" in err, "a recognizer that ends is reported", (status, out, err))

# With a slow board the first sentence is spoken before the second arrives.
LINE = work("slow")
listener = socket.socket(socket.AF_UNIX)
listener.bind(LINE)
listener.listen(1)
requests, times = [], {}


def slow_board():
    s = listener.accept()[0].makefile("rwb")

    def say(**event):
        s.write(json.dumps(event).encode() + b"\n")
        s.flush()
    data = b""
    while b"\x03" not in data:
        data += s.read(1)
    say(event="ready", model="slow")
    while True:
        line = s.readline()
        if not line:
            return
        requests.append(json.loads(line))
        if "prompt" in requests[-1]:
            for i, text in enumerate(("One", ". ", "Two", ". Three.")):
                say(event="token", id=i, text=text)
                time.sleep(0.5)
            times["done"] = time.time()
        say(event="done", reason="end")


threading.Thread(target=slow_board, daemon=True).start()
tone(work("one.wav"), [(0.5, 0), (1, 8000), (1, 0)])
LOG = work("log")
status, out, err = voice(f"unix:{LINE}", "--input", work("one.wav"), "--output", work("out.wav"), "--stt", STT, "-n", "7", "--system", "Be brief.",
                         "--tts", f"echo $(date +%s.%N) $(cat) >> {LOG}; cp {TONE} {{}}")
rows = [line.split(" ", 1) for line in open(LOG, encoding="utf-8").read().strip().split("\n")]
tap.ok(status == 0 and [r[1] for r in rows] == ["One.", "Two.", "Three."], "a board's sentences are spoken", (status, rows, err))
tap.ok(float(rows[0][0]) < times["done"] - 0.5, "the first sentence is spoken while the reply still arrives", (rows, times))
tap.ok(requests == [{"system": "Be brief."}, {"n": 7}, {"prompt": "What is 7 plus 8?"}], "the board gets the spoken question", requests)

# A board in QEMU that starts in chat mode.
board = Board(ARM64, FOLDER, "board", make_card("voice-card.img", MODEL), "temp=0")
status, out, err = voice(board.line, "--input", work("one.wav"), "--output", work("out.wav"), "--stt", STT, "--tts", TTS)
alone = run([HOST, "run", MODEL, "-p", "What is 7 plus 8?", "--temp", "0", "-q"])[1].strip()
tap.ok(status == 0 and alone in out, "a board in QEMU answers a spoken question", (status, out, err))
status, out, err = voice(board.line, "--input", work("one.wav"), "--output", work("out.wav"), "--stt", f"kill -9 {board.process.pid}; echo hello", "--tts", TTS)
tap.ok(status == 1 and re.search(r"^ingot: unix:\S+: [^:]+: was the adapter pulled out\?$", err, re.M), "a board that is gone is named once", (status, out, err))
board.kill()

status, out, err = voice(MODEL, "--input", work("one.wav"), "--output", work("x.wav"), "--stt", STT, "--tts", TTS, "-n", "-1")
tap.ok(status == 0 and "> What is 7 plus 8?" in out, "-n -1 is until the model ends, as for ingot run", (status, out, err))

# Failures.
open(work("none.wav"), "w", encoding="ascii").write("no sound")
tone(work("quiet.wav"), [(2, 0)])
tone(work("hurry.wav"), [(1, 8000)])
tone(work("large.wav"), [(1, 8000)])
os.truncate(work("large.wav"), 1 << 28)
for name, options, says in (("no file", ("--input", work("nothing.wav")), "cannot be read"), ("no sound", ("--input", work("none.wav")), "not a WAV file"),
                            ("silence", ("--input", work("quiet.wav"), "--stt", STT), "quiet.wav: no speech was found"),
                            ("speech without quiet before it", ("--input", work("hurry.wav"), "--stt", STT), "has to follow some quiet"),
                            ("a file that is too large", ("--input", work("large.wav"), "--stt", STT), "256 MiB"),
                            ("a program that is not there", ("--input", work("one.wav"), "--stt", "no-such-program {}"), "install faster-whisper"),
                            ("a server that is not there", ("--input", work("one.wav"), "--stt", "http://127.0.0.1:9"), "the recognizer failed"),
                            ("an address with a quotation mark", ("--input", work("one.wav"), "--stt", "http://x'y"), "quotation mark"),
                            ("one that fails", ("--input", work("one.wav"), "--stt", "false {}"), "the recognizer failed"),
                            ("a voice that fails", ("--input", work("one.wav"), "--stt", STT, "--tts", "false {}"), "could not be spoken: `false {}`: does it run?"),
                            ("a voice that writes another format", ("--input", work("one.wav"), "--stt", STT, "--tts", "cat > {}"),
                             "`cat > {}`: it is not a WAV file"),
                            ("a voice that writes no file", ("--input", work("one.wav"), "--stt", STT, "--tts", "cat {}; true"), "it writes no file {}"),
                            ("a player that fails", ("--input", work("one.wav"), "--stt", STT, "--play", "false {}"),
                             "could not be spoken: `false {}`: does it run?"),
                            ("a microphone that gives nothing", ("--record", "true", "--stt", STT), "is a microphone connected?")):
    status, out, err = voice(MODEL, "--output", work("x.wav"), *(() if "--tts" in options else ("--tts", TTS)), *options)
    tap.ok(status == 1 and says in err, name, (status, out, err))
muted = subprocess.Popen([HOST, "voice", MODEL, "--output", work("x.wav"), "--record", "echo $$ > " + work("recorder") + "; exec sleep 100",
                          "--stt", STT, "--tts", TTS], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
for _ in range(600):
    if os.path.exists(work("recorder")):
        break
    time.sleep(0.1)
muted.terminate()
try:
    err = muted.communicate(timeout=60)[1]
except subprocess.TimeoutExpired:
    muted.kill()
    err = muted.communicate()[1] + "(killed)"
recorder = int(open(work("recorder"), encoding="ascii").read())
tap.ok("(killed)" not in err and not os.path.exists(f"/proc/{recorder}"), "SIGTERM ends it while the microphone is silent, and the recorder, too", err)
status, out, err = voice(work("nobody.ingot"), "--input", work("one.wav"), "--output", work("x.wav"), "--stt", STT, "--tts", TTS)
tap.ok(status == 1 and "no such" in err.lower(), "a missing model is reported", (status, err))
tap.ok(voice(MODEL, "--input", work("one.wav"), "--output", work("x.wav"), "--stt", "true {}", "--tts", TTS)[2].count("nothing was understood") == 1,
       "unrecognized speech is not sent")
open(work("a voice"), "w", encoding="ascii").write(f"#!/bin/sh\ncp {TONE} $1\n")
os.chmod(work("a voice"), 0o755)
for name, tts in (("a quoted name", f"'{work('a voice')}' {{}}"), ("a variable", f"A=1 cp {TONE} {{}}"), ("a group", f"(cat; cp {TONE} {{}})"),
                  ("no blanks", f"cat>{work('text')};cp {TONE} {{}}")):
    status, out, err = voice(MODEL, "--input", work("one.wav"), "--output", work("x.wav"), "--stt", STT, "--tts", tts)
    tap.ok(status == 0 and "> What is 7" in out, f"a command with {name} speaks", (status, out, err))
tap.ok(os.listdir(os.environ["TMPDIR"]) == [], "no temporary file is left", os.listdir(os.environ["TMPDIR"]))

# A server for speech recognition with OpenAI's API.
FORMS = []


class Server(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        FORMS.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"What is 7 plus 8?\n")

    def log_message(self, *words):
        pass


if shutil.which("curl"):
    server = http.server.HTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for path in ("", "/v1/", "/v1/audio/transcriptions"):
        status, out, err = voice(MODEL, "--input", work("one.wav"), "--output", work("out.wav"), "--tts", TTS, "--stt",
                                 f"http://127.0.0.1:{server.server_port}{path}")
        tap.ok(status == 0 and out.startswith("> What is 7 plus 8?\n") and FORMS[-1][0] == "/v1/audio/transcriptions" and b"RIFF" in FORMS[-1][1] and
               b'name="response_format"' in FORMS[-1][1], f"a server at {path or '/'} is asked", (status, out, err, FORMS[-1:]))
    delays = re.search(r"\(understood after (\d+\.\d) s, the first sound after (\d+\.\d) s\)", err)
    tap.ok(delays and 0.7 <= float(delays[1]) <= float(delays[2]),
           "the delays are printed, from the last word on, and include the silence that ends a question", err)
else:
    tap.skip("a server that understands", "curl is not installed")

# The programs for speech of the distribution.
if shutil.which("espeak-ng") and shutil.which("pocketsphinx_continuous"):
    spoken("", work("question.wav"), "tell me a story about a cat")
    status, out, err = voice(MODEL, "--input", work("question.wav"), "--output", work("answer.wav"), "--stt", "pocketsphinx")
    words = out.split("\n", 1)
    sound, rate = samples(work("answer.wav"))
    tap.ok(status == 0 and words[0].startswith("> ") and "story" in words[0] and len(words[1].split()) > 5,
           f"espeak-ng asks, pocketsphinx hears: {words[0]!r}", (status, out, err))
    seconds = len(sound) / 2 / rate
    tap.ok(len(words[1].split()) / 5 < seconds < len(words[1].split()) and max(sound[1::2]) > 20, f"the answer of {len(words[1].split())} words comes out, "
           f"{seconds:.1f} s of sound", (seconds, rate))
else:
    tap.skip("a question that is spoken", "espeak-ng or pocketsphinx is not installed")
tap.done()
