#!/usr/bin/python3
"""A small published model's behaviour in Ingot, where toys cannot tell: SmolLM2-135M-Instruct, as `make model NAME=smollm2-135m`
packs it."""

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


# A schema: white space as models write it makes the difference between the record and the sentence as a name.
schema = os.path.join(WORK, "real-record.json")
with open(schema, "w", encoding="utf-8") as f:
    json.dump(RECORD, f)
for prompt in ("Anna Berg, 34, lives in Oslo, is married", "Extract the record as JSON: Anna Berg, 34, lives in Oslo, is married"):
    status, text = run([HOST, "run", MODEL, "-q", "-p", prompt, "--grammar", schema, "--temp", "0", "-n", "120"])
    tap.ok(status == 0 and value_of(text) == {"name": "Anna Berg", "age": 34, "city": "Oslo", "married": True}, f"the record of: {prompt}", text)
tap.done()
