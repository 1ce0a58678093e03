#!/usr/bin/python3
"""A small published model's behaviour in Ingot, which toy models cannot show: SmolLM2-135M-Instruct, as `make model NAME=smollm2-135m` packs it."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import HOST, WORK, Tap, run

BUILD = os.environ.get("INGOT_BUILD", "build")
MODEL = os.path.join(BUILD, "models/published/smollm2-135m.ingot")
RECORD = {"type": "object", "required": ["name", "age", "city", "married"], "additionalProperties": False, "properties": {
    "name": {"type": "string"}, "age": {"type": "integer"}, "city": {"type": "string"}, "married": {"type": "boolean"}}}
tap = Tap()
if not os.path.exists(MODEL):
    print("1..0 # SKIP SmolLM2-135M is not there: make model NAME=smollm2-135m brings it")
    sys.exit(0)


def value_of(text):
    try:
        return json.loads(text)
    except ValueError:
        return None


# A schema: the reply is the record only if the grammar allows white space as models write it; otherwise the name becomes a sentence. Programs ask
# without a system prompt, and so does this test: with the packed file's own system prompt, the second city would be Norway.
schema = os.path.join(WORK, "real-record.json")
with open(schema, "w", encoding="utf-8") as f:
    json.dump(RECORD, f)
for prompt in ("Anna Berg, 34, lives in Oslo, is married", "Extract the record as JSON: Anna Berg, 34, lives in Oslo, is married"):
    status, text = run([HOST, "run", MODEL, "-q", "--system", "", "-p", prompt, "--grammar", schema, "--temp", "0", "-n", "120"])
    tap.ok(status == 0 and value_of(text) == {"name": "Anna Berg", "age": 34, "city": "Oslo", "married": True}, f"the record of: {prompt}", text)


def guessed(sampling, spec):
    """((text with its ids and the hash of its logits, tokens), the last event) of a reply that repeats a text of its prompt."""
    line = json.dumps({"prompt": "Repeat this text word for word: " + REPEATED, "n": 60, **sampling}) + "\n"
    status, text = run([HOST, "chat", MODEL, "--json", "-q", "--ids", "--spec", spec, "-c", "512"], stdin=line.encode())
    events = [json.loads(row) for row in text.split("\n") if row.startswith('{"event":')]
    done = next((e for e in events if e["event"] == "done"), None)
    if status != 0 or done is None:
        sys.exit(text)
    return ("".join(e.get("text", "") for e in events if e["event"] != "progress"), done["reply_tokens"]), done


# With guesses from the text itself, the reply to a text that repeats itself is the same and takes fewer passes.
REPEATED = "The light in the kitchen is on. The heater in the hall is off. The window in the bedroom is open. The door of the garage is closed. The lamp on the desk is on."
for sampling in ({"temp": 0}, {"temp": 0.7, "seed": 3}):
    (plain, before), (same, after) = guessed(sampling, "off"), guessed(sampling, "ngram")
    tap.ok(plain == same and "logits: " in plain[0] and plain[1] > 24 and 2 * after["decode_passes"] < before["decode_passes"],
           f"guesses at {sampling}: {plain[1]} tokens in {after['decode_passes']} passes, not {before['decode_passes']}", f"{plain}\n{same}")
tap.done()
