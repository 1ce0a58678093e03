#!/usr/bin/python3
"""`ingot batch`: each of several parallel replies has the same ids and hash of logits as its
request alone, in memory and streamed, with its own adapter. Each invalid line gives one error
message."""

import json
import os
import re
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import ASSETS, HOST, ROOT, WORK, Tap, pack, run

DEMO = os.path.join(ROOT, "models/demo-q4_0.ingot")
ARCH = os.path.join(ASSETS, "arch")
FOLDER = os.path.join(WORK, "batch-models")
PROMPTS = ("What is 3 plus 4?", "Tell me a story about a cat.", "Hello", "What is 7 plus 8?", "Who are you?",
           "Say hello to Anna.", "Tell me a story about a dog.", "Good morning", "What is 2 plus 2?", "How old are you?",
           'Say "a\\b"')
tap = Tap()


def batch(name, requests, *options, model=DEMO):
    path = os.path.join(WORK, f"batch-{name}.jsonl")
    with open(path, "w", encoding="utf-8") as f:
        f.write("".join(r if isinstance(r, str) else json.dumps(r) + "\n" for r in requests))
    status, text = run([HOST, "batch", model, "-f", path, *options])
    rows = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    return status, sorted(rows, key=lambda row: row["number"]), text


def alone(request, *options, model=DEMO):
    """The ids and the hash that `ingot run` prints for a request."""
    words = [w for key in ("n", "temp", "seed", "adapter") if key in request for w in (f"--{key}".replace("--n", "-n", key == "n"), str(request[key]))]
    status, text = run([HOST, "run", model, "-p", request["prompt"], "--ids", "--spec", "off", *options, *words])
    ids = re.search(r"^ids:([ \d]*)$", text, re.M)
    found = re.search(r"^logits: ([0-9a-f]{16})", text, re.M)
    return ([int(i) for i in ids.group(1).split()], found.group(1)) if status == 0 and ids and found else text


requests = [{"id": f"r{i}", "prompt": p, "n": 8 + 5 * i, "temp": 0.7 * (i % 2), "seed": i}
            for i, p in enumerate(PROMPTS)]
want = [alone(r) for r in requests]
for options in ((), ("--together", "3"), ("-t", "3", "--chunk", "16"), ("--mem", "300K"), ("--mmap",), ("--isa", "ref")):
    status, rows, text = batch("side", requests, "--ids", *options)
    got = [(r["ids"], r["hash"]) for r in rows]
    tap.ok(status == 0 and got == want, f"{' '.join(options) or 'side by side'}: {len(rows)} replies equal those of each request alone",
           f"{text[-600:]} {[a == b for a, b in zip(got, want)]}")
tap.ok([r["id"] for r in rows] == [r["id"] for r in requests] and all(r["tokens"] == len(r["ids"]) for r in rows) and
       {r["end"] for r in rows} == {"end", "limit"} and "7" in rows[0]["text"], "each reply has its id, text and end", rows)

# Stop strings, a system prompt and thoughts, by request: the result of each equals what `ingot run` prints.
texts = [(re.search(r'^(.*?)\n?\[|^(.*)', run([HOST, "run", DEMO, "-p", p, "--temp", "0", "-n", "40", "--spec", "off", "-q", *words])[1], re.S).group(0))
         for p, words in ((PROMPTS[1], ("--stop", "the")), (PROMPTS[4], ("--system", "You are a cat.")))]
status, rows, text = batch("words", [{"prompt": PROMPTS[1], "stop": "the", "n": 40, "temp": 0}, {"prompt": PROMPTS[4], "system": "You are a cat.", "n": 40, "temp": 0},
                                     {"prompt": PROMPTS[1], "n": 40, "temp": 0}])
tap.ok(status == 0 and [r["text"].strip() for r in rows[:2]] == [t.strip() for t in texts] and "the" not in rows[0]["text"] and
       rows[0]["end"] == "stop" and rows[2]["text"].startswith(rows[0]["text"]) and rows[2]["end"] != "stop",
       "a stop string and a system prompt apply to their requests", f"{text} {texts}")
hot = {"prompt": "Hello", "n": 12, "temp": 5, "top_k": 0, "top_p": 1, "min_p": 0}
status, rows, text = batch("seeds", [hot, hot, {**hot, "seed": -1}, {**hot, "seed": 0}, {**hot, "seed": 0}])
texts = [r["text"] for r in rows]
tap.ok(status == 0 and len(set(texts[:4])) == 4 and texts[3] == texts[4], "without a seed, and with -1, each reply has a seed of its own", text)
STORIES = os.path.join(ASSETS, "gguf/stories260K.gguf")
if os.path.exists(STORIES):  # a template after which the model's turn begins within its thoughts
    raw = open(STORIES, "rb").read()
    jinja = ("{% for m in messages %}{{ '<|' + m['role'] + '|>' + m['content'] + eos_token }}{% endfor %}"
             "{% if add_generation_prompt %}{{ '<|assistant|><think>' }}{% endif %}").encode()
    key = b"tokenizer.chat_template"
    jinja += b"{#" + b" " * (-(8 + len(key) + 4 + 8 + len(jinja) + 4) % 32) + b"#}"  # padding, so that the tensors stay aligned
    magic, version, tensors, keys = struct.unpack_from("<4sIQQ", raw)
    path = os.path.join(WORK, "batch-thinks.gguf")
    with open(path, "wb") as f:
        f.write(struct.pack("<4sIQQ", magic, version, tensors, keys + 1) + struct.pack("<Q", len(key)) + key +
                struct.pack("<IQ", 8, len(jinja)) + jinja + raw[24:])
    model = pack(path, "q8_0", "batch-thinks.ingot")
    status, rows, text = batch("thinks", [{"prompt": "A cat", "n": 20, "temp": 0}, {"prompt": "A cat", "n": 20, "temp": 0, "think": "hide"},
                                          {"prompt": "A cat", "n": 20, "temp": 0}], "--ids", model=model)
    tap.ok(status == 0 and len(rows) == 3 and len(rows[0].get("thoughts", "")) > 20 and rows[0]["text"] == "" == rows[1]["text"] and
           "thoughts" not in rows[1] and rows[0]["ids"] == rows[1]["ids"] and rows[0]["thoughts"] == rows[2]["thoughts"],
           "thoughts are separate or hidden", text)
else:
    tap.skip("thoughts apart", "no " + STORIES + " (set INGOT_ASSETS)")

for line, sentence in (("{\n", "line 2: "), ('{"prompt":7}\n', "prompt has to be a text"),
                       ('{"promt":"x"}\n', "did you mean prompt"), ('{"id":1}\n', "the field prompt is missing"),
                       ('{"prompt":"x","command":"/off"}\n', "line 2: "), ('{"prompt":"x","overflow":"turns"}\n', "has no field overflow"), ('{"prompt":"x","stop":[1]}\n', "line 2: a list of stop strings"),
                       ('{"prompt":"x","think":"maybe"}\n', "think takes on, off"),
                       ('{"prompt":"x","temp":-1}\n', "line 2: "),
                       (json.dumps({"prompt": "long " * 3000}) + "\n", "too long for the context"),
                       ('{"prompt":"x","adapter":"none"}\n', "none")):
    status, rows, text = batch("refused", [requests[0], line])
    tap.ok(status == 1 and sentence in text, f"{line[:40].strip()}: {sentence}", text[-300:])
long = {"id": "long", "prompt": "long " * 3000}
status, rows, text = batch("late", [requests[0], {"prompt": "x", "adapter": "none"}] + requests[1:9] + [long, requests[0], long])
tap.ok(status == 1 and rows == [] and all(f"request {n}: " in text for n in (2, 11, 13)) and "request 12: " not in text,
       "every request that cannot run is named before any reply is computed", text[-400:])
status, rows, text = batch("empty", ["\n \n"])
tap.ok(status == 1 and "holds no request" in text, "a file without requests", text)
tap.ok(run([HOST, "batch", DEMO, "-f", "/nosuch"])[0] == 1 and run([HOST, "batch", DEMO, "--together", "9"])[0] == 2,
       "no file, and nine side by side, are refused")

if os.path.exists(os.path.join(ARCH, "lora_llama_gqa_qv.gguf")):
    base = os.path.join(FOLDER, "base.ingot")
    os.makedirs(os.path.join(FOLDER, "adapters"), exist_ok=True)
    pack(os.path.join(ARCH, "llama_gqa.gguf"), "q8_0", os.path.join("batch-models", "base.ingot"))
    for name in ("qv", "all", "a32"):
        run([HOST, "adapter", os.path.join(ARCH, f"lora_llama_gqa_{name}.gguf"), "--base", base, "-o",
             os.path.join(FOLDER, "adapters", name + ".ingot"), "--type", "f16"])
    lists = ("qv", "all", "off", "qv:0.5,a32", "all", "qv", "a32:-1", "all:2", "off", "qv:0.5,a32", "a32", "qv:3")
    requests = [{"prompt": "abc de " + "f" * i, "n": 12, "temp": 0, "adapter": a} for i, a in enumerate(lists)]
    want = [alone(r, model=base) for r in requests]
    for options in ((), ("--together", "3", "-t", "2"), ("--mem", "200K")):
        status, rows, text = batch("adapters", requests, "--ids", *options, model=base)
        got = [(r["ids"], r["hash"]) for r in rows]
        tap.ok(status == 0 and got == want, f"{' '.join(options) or 'side by side'}: twelve replies use their own adapters",
               f"{text[-600:]} {want[0]} {[a == b for a, b in zip(got, want)]}")
    same = {alone(dict(r, adapter="off"), model=base)[1] for r in requests} & {w[1] for w, a in zip(want, lists) if a != "off"}
    tap.ok(not same, "adapters change the logits", same)
else:
    tap.skip("adapters side by side", "no " + ARCH + "/lora_* (set INGOT_ASSETS)")
tap.done()
