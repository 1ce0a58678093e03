#!/usr/bin/python3
"""`ingot serve` with a published model, called by Python's package openai as programs call it: SmolLM2-135M-Instruct, a chat, a stream, a record by a
schema, and a named function. Without the model or the package, each is skipped by its name."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import BUILD, Tap
from served import Served, packages

MODEL = os.path.join(BUILD, "models/published/smollm2-135m.ingot")
QUESTION = {"role": "user", "content": "What is the capital of France?"}
RECORD = {"type": "object", "required": ["name", "age", "city", "married"], "additionalProperties": False, "properties": {
    "name": {"type": "string"}, "age": {"type": "integer"}, "city": {"type": "string"}, "married": {"type": "boolean"}}}
ANNA = {"name": "Anna Berg", "age": 34, "city": "Oslo", "married": True}
LAMP = {"type": "function", "function": {"name": "set_lamp", "description": "Switches the lamp.", "parameters": {
    "type": "object", "required": ["on"], "additionalProperties": False, "properties": {"on": {"type": "boolean"}}}}}
FAN = {"type": "function", "function": {"name": "set_fan", "parameters": {"type": "object", "properties": {"speed": {"type": "integer"}}}}}
NAMES = ("a chat", "a stream", "a record by a schema", "a function that is named", "what it gave goes back")
tap = Tap()


def left_out(why):
    for name in NAMES:
        tap.skip(name, why)
    tap.done()
    sys.exit(0)


if not os.path.exists(MODEL):
    left_out("SmolLM2-135M is not there: make model NAME=smollm2-135m brings it")
if not packages("openai"):
    left_out("Python's package openai is not in build/clients: make setup-tests")
served = Served(model=MODEL)
if not served.there:
    left_out("node-llhttp or libwslay-dev is not installed")
import openai

client = openai.OpenAI(base_url=served.url + "/v1", api_key="none", max_retries=0, timeout=120)


def ask(messages, **more):
    return client.chat.completions.create(model="smollm2-135m.ingot", messages=messages, max_tokens=120, **more)


reply = ask([QUESTION])
tap.ok("Paris" in reply.choices[0].message.content and reply.choices[0].finish_reason == "stop" and reply.usage.completion_tokens > 4,
       f"a chat, with no settings: {reply.choices[0].message.content.strip()!r}", reply)
parts = list(ask([QUESTION], stream=True, stream_options={"include_usage": True}))
text = "".join(p.choices[0].delta.content or "" for p in parts if p.choices)
tap.ok(text == reply.choices[0].message.content and sum(bool(p.choices) for p in parts) > 3 and parts[-1].usage.completion_tokens == reply.usage.completion_tokens,
       f"a stream of {len(parts)} parts says the same", parts)
# The system prompt is empty for the reason that real_model.t gives.
record = ask([{"role": "system", "content": ""}, {"role": "user", "content": "Anna Berg, 34, lives in Oslo, is married"}], temperature=0,
             response_format={"type": "json_schema", "json_schema": {"name": "person", "strict": True, "schema": RECORD}})
tap.ok(json.loads(record.choices[0].message.content) == ANNA, f"a record by a schema: {record.choices[0].message.content!r}", record)
named = [{"role": "user", "content": "Turn on the lamp."}]
called = ask(named, tools=[FAN, LAMP], tool_choice={"type": "function", "function": {"name": "set_lamp"}}).choices[0]
calls = called.message.tool_calls or []
tap.ok(called.finish_reason in ("tool_calls", "stop") and len(calls) == 1 and calls[0].function.name == "set_lamp" and
       isinstance(json.loads(calls[0].function.arguments).get("on"), bool), f"a function that is named: {[c.function for c in calls]}", called)
if calls:
    end = ask([*named, called.message.model_dump(exclude_none=True), {"role": "tool", "tool_call_id": calls[0].id, "content": "The lamp is on."}], tools=[FAN, LAMP])
    tap.ok(end.choices[0].finish_reason in ("stop", "length", "tool_calls") and end.usage.prompt_tokens > 20, f"what it gave goes back: {end.choices[0].message.content!r}", end)
tap.ok(served.end() == 0, "the server ends")
tap.done()
