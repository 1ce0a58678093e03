#!/usr/bin/python3
"""`ingot serve` and OpenAI's responses: whole and as events, with functions, formats and scores; the same replies as chat completions; errors that
name this API's fields. Python's OpenAI package, if installed, gets the same replies."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import Tap
from served import Served, packages

PATH, CHAT = "/v1/responses", "/v1/chat/completions"
QUESTION = "What is 7 plus 8?"
LAMP = {"type": "function", "name": "lamp", "description": "A lamp", "strict": True,
        "parameters": {"type": "object", "properties": {"on": {"type": "boolean"}}, "required": ["on"], "additionalProperties": False}}
SCHEMA = {"type": "object", "properties": {"light": {"enum": ["red", "blue"]}, "on": {"type": "boolean"}}, "required": ["light", "on"], "additionalProperties": False}
tap = Tap()
server = Served()
if not server.there:
    tap.skip("responses", "node-llhttp or libwslay-dev is not installed")
    tap.done()
    sys.exit(0)


def ask(more, path=PATH):
    return server.ask(path, {"model": "m", "temperature": 0, **more})


def events(more):
    """(types, objects) of a stream's events"""
    text = ask({**more, "stream": True})[1]
    rows = [part.split("\n") for part in text.split("\n\n") if part]
    made = [(a[len("event: "):], json.loads(b[len("data: "):])) for a, b in rows]
    assert all(name == event["type"] for name, event in made), made
    return [event for _, event in made]


def text_of(response):
    return "".join(p["text"] for item in response["output"] if item["type"] == "message" for p in item["content"])


def chat_text(messages, **more):
    return server.ask(CHAT, {"messages": messages, "temperature": 0, **more})[1]["choices"][0]["message"]["content"]


def kinds(list_of_events):
    """The names of events without their prefix; repeated deltas are counted once."""
    names = [e["type"].replace("response.", "") for e in list_of_events]
    return [n for i, n in enumerate(names) if not n.endswith(".delta") or names[i - 1] != n]


# A reply, whole.
want = chat_text([{"role": "user", "content": QUESTION}])
status, one = ask({"input": QUESTION})
item = one["output"][0]
tap.ok(status == 200 and one["object"] == "response" and one["status"] == "completed" and one["error"] is None is one["incomplete_details"] and text_of(one) == want and
       item["role"] == "assistant" and item["status"] == "completed" and item["content"][0]["annotations"] == [] and len(one["output"]) == 1,
       "a reply equals that of chat completions", one)
use = one["usage"]
tap.ok(use["total_tokens"] == use["input_tokens"] + use["output_tokens"] > 8 and use["input_tokens_details"]["cached_tokens"] >= 0 <= use["output_tokens_details"]["reasoning_tokens"] and
       use["input_tokens_details"].get("cache_write_tokens") == 0 and
       one["store"] is False and one["tools"] == [] and one["tool_choice"] == "auto" and one["text"] == {"format": {"type": "text"}} and one["metadata"] == {} and
       one["instructions"] is None and one["parallel_tool_calls"] is False and one["previous_response_id"] is None and "context_limit_tokens" in one["figures"],
       "a reply has usage, and the defaults of omitted fields", one)
given = {"instructions": "You are a cat.", "metadata": {"a": "b"}, "max_output_tokens": 3, "top_p": 0.5, "user": "u", "reasoning": {"effort": "none"}, "truncation": "auto"}
status, two = ask({"input": "Tell me a story.", **given})
tap.ok(status == 200 and all(two[k] == v for k, v in given.items()) and two["status"] == "incomplete" and two["incomplete_details"] == {"reason": "max_output_tokens"} and
       two["output"][0]["status"] == "incomplete" and two["usage"]["output_tokens"] == 3, "the answer repeats the request's settings, and a cut reply is incomplete", two)

# A conversation as items.
history = [{"role": "user", "content": "Hello"}, {"type": "message", "role": "assistant", "id": "msg_1", "status": "completed", "content": [{"type": "output_text", "text": "Hi!", "annotations": []}]},
           {"type": "reasoning", "id": "rs_1", "summary": []}, {"role": "user", "content": [{"type": "input_text", "text": "What is "}, {"type": "input_text", "text": "7 plus 8?"}]}]
same = [{"role": "system", "content": "You are a dog."}, {"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi!"}, {"role": "user", "content": QUESTION}]
tap.ok(text_of(ask({"instructions": "You are a dog.", "input": history})[1]) == chat_text(same), "items are the messages of a conversation")

# Events.
rows = events({"input": QUESTION})
tap.ok(kinds(rows) == ["created", "in_progress", "output_item.added", "content_part.added", "output_text.delta", "output_text.done", "content_part.done", "output_item.done", "completed"] and
       [r["sequence_number"] for r in rows] == list(range(len(rows))), "the events of a text come in their order", rows)
pieces = [r for r in rows if r["type"] == "response.output_text.delta"]
last = rows[-1]["response"]
tap.ok("".join(r["delta"] for r in pieces) == want == text_of(last) == [r for r in rows if r["type"] == "response.output_text.done"][0]["text"] and
       last["output"] == [r["item"] for r in rows if r["type"] == "response.output_item.done"] and rows[0]["response"]["id"] == last["id"] and
       rows[0]["response"]["status"] == "in_progress" and rows[0]["response"]["output"] == [] and all(r["item_id"] == last["output"][0]["id"] for r in pieces) and
       last["usage"]["output_tokens"] == use["output_tokens"], "the events have the same text, ids and usage", rows)
rows = events({"input": "Tell me a story.", "max_output_tokens": 3})
tap.ok(rows[-1]["type"] == "response.incomplete" and rows[-1]["response"]["status"] == "incomplete" and rows[-2]["item"]["status"] == "incomplete", "a cut stream ends as incomplete", rows[-2:])

# Functions: valid calls by construction, whole and streamed; their results go back.
status, one = ask({"input": "Light, please.", "tools": [LAMP], "tool_choice": {"type": "function", "name": "lamp"}})
call = one["output"][0]
tap.ok(status == 200 and call["type"] == "function_call" and call["name"] == "lamp" and isinstance(json.loads(call["arguments"])["on"], bool) and call["call_id"] != call["id"] and
       one["tools"] == [LAMP] and one["status"] == "completed", "a required call comes", one)
rows = events({"input": "Light, please.", "tools": [LAMP], "tool_choice": "required"})
done = [r for r in rows if r["type"] == "response.function_call_arguments.done"][0]
tap.ok(kinds(rows) == ["created", "in_progress", "output_item.added", "function_call_arguments.delta", "function_call_arguments.done", "output_item.done", "completed"] and
       rows[2]["item"]["arguments"] == "" and rows[2]["item"]["name"] == "lamp" and "".join(r["delta"] for r in rows if r["type"].endswith(".delta")) == done["arguments"] and
       rows[-1]["response"]["output"][0]["arguments"] == done["arguments"] == call["arguments"], "the events of a call have the same arguments", rows)
back = [{"role": "user", "content": "Light, please."}, call, {"type": "function_call_output", "call_id": call["call_id"], "output": "the lamp is on"}]
told = [{"role": "user", "content": "Light, please."}, {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "type": "function", "function": {"name": "lamp", "arguments": call["arguments"]}}]},
        {"role": "tool", "tool_call_id": "1", "content": "the lamp is on"}]
nested = [{"type": "function", "function": {k: v for k, v in LAMP.items() if k != "type"}}]
tap.ok(text_of(ask({"input": back, "tools": [LAMP]})[1]) == chat_text(told, tools=nested), "a call's result is sent back")
two = [{**call, "call_id": i, "id": i} for i in ("a", "b")]
both = [{"role": "user", "content": "Light"}, {"role": "assistant", "content": [{"type": "output_text", "text": "I look."}]}, *two,
        *({"type": "function_call_output", "call_id": i, "output": [{"type": "input_text", "text": "on"}]} for i in ("b", "a"))]
late = [both[0], *both[2:4], both[1], *both[4:]]
tap.ok(ask({"input": both, "tools": [LAMP]})[0] == 200 == ask({"input": late, "tools": [LAMP]})[0],
       "two calls of one reply, with text before or after them, and two outputs are accepted")
status, one = ask({"input": "Light, please.", "tools": [LAMP], "tool_choice": {"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "lamp"}]}})
tap.ok(status == 200 and one["output"][0]["type"] == "function_call", "allowed_tools limits the functions", one)

# Formats and scores.
form = {"format": {"type": "json_schema", "name": "light", "description": "A light", "strict": True, "schema": SCHEMA}, "verbosity": "low"}
status, one = ask({"input": "Set the light.", "text": form, "temperature": 1.5})
made = json.loads(text_of(one))
tap.ok(status == 200 and made["light"] in ("red", "blue") and set(made) == {"light", "on"} and one["text"] == form,
       "a reply at temperature 1.5 satisfies its schema", one)
status, one = ask({"input": "Set the light.", "text": {"format": {"type": "json_object"}}, "max_output_tokens": 60})
tap.ok(status == 200 and text_of(one).startswith("{"), "json_object gives a JSON object", one)
status, one = ask({"input": QUESTION, "include": ["message.output_text.logprobs"], "top_logprobs": 2, "max_output_tokens": 4})
scores = one["output"][0]["content"][0]["logprobs"]
tap.ok(status == 200 and len(scores) == 4 and all(len(s["top_logprobs"]) == 2 and s["logprob"] <= 0 for s in scores), "tokens have scores", one)
rows = events({"input": QUESTION, "top_logprobs": 1, "max_output_tokens": 4})
tap.ok([s["token"] for r in rows for s in r.get("logprobs", [])] == [s["token"] for s in scores], "the events have the same scores", rows)

# Errors use this API's field names.
user = {"role": "user", "content": "x"}
for name, body, field, words in (
        ("the conversation of a stored response", {"input": "x", "previous_response_id": "resp_1"}, "previous_response_id", "keeps no responses"),
        ("a conversation", {"input": "x", "conversation": "c"}, "conversation", "keeps no responses"),
        ("work in the background", {"input": "x", "background": True}, "background", "not supported"),
        ("no input", {}, "input", "input has to be"),
        ("an empty input", {"input": []}, "input", "input"),
        ("a field of chat completions", {"input": "x", "max_tokens": 5}, "max_tokens", "chat completions"),
        ("an unknown field", {"input": "x", "colour": 5}, "colour", "colour"),
        ("an unknown member", {"input": "x", "text": {"colour": 5}}, "text.colour", "text.colour"),
        ("a length that is none", {"input": "x", "max_output_tokens": 0}, "max_output_tokens", "max_output_tokens has to be"),
        ("a format that is none", {"input": "x", "text": {"format": {"type": "xml"}}}, "text.format", "text.format.type"),
        ("a stored item", {"input": [user, {"type": "item_reference", "id": "x"}]}, "input", "input[1] has the type item_reference"),
        ("an image", {"instructions": "y", "input": [user, {"role": "user", "content": [{"type": "input_image", "image_url": "x"}]}]}, "input", "input[1]: part 0"),
        ("an output without its call", {"input": [user, {"type": "function_call_output", "call_id": "a", "output": "x"}]}, "input", "input[1]"),
        ("a role that is none", {"instructions": "y", "input": [user, {"role": "cat", "content": "x"}]}, "input", "input[1]"),
        ("a message without its content", {"input": [{"role": "user"}, user]}, "input", "input[0]: a message has to have a content"),
        ("a reply without its content", {"input": [user, {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}, {"role": "assistant"}, user]}, "input", "input[2]: a message has to have a content"),
        ("a tool of another service", {"input": "x", "tools": [LAMP, {"type": "web_search"}]}, "tools", "tools[1] is of the type web_search"),
        ("a function that is not there", {"input": "x", "tools": [LAMP], "tool_choice": {"type": "function", "name": "no"}}, "tool_choice", "no"),
        ("an effort that is none", {"input": "x", "reasoning": {"effort": 3}}, "reasoning.effort", "reasoning.effort has to be")):
    status, a = ask(body)
    error = a.get("error") if isinstance(a, dict) else {}
    tap.ok(status == 400 and error["param"] == field and words in error["message"] and "messages" not in error["message"], name + " is refused by its name", a)
status, a = server.ask(PATH, "[1]")
tap.ok(status == 400 and "not a JSON object" in a["error"]["message"], "a body that is not an object is refused", a)
status, a = server.ask(PATH, method="GET")
tap.ok(status == 405, "GET is refused", a)
status, a = server.ask(PATH, {"input": "x " * 2000})
tap.ok(status == 400 and a["error"]["code"] == "context_length_exceeded", "an input that is too long is refused", a)
status, a = server.ask("/responses/", {"input": "Hello", "x_note": 1, "seed": 3, "top_k": 5})
tap.ok(status == 200 and a["status"] == "completed", "without /v1, with this server's own settings", a)

# The package that programs use.
if packages("openai"):
    import openai
    client = openai.OpenAI(base_url=server.url + "/v1", api_key="x", max_retries=0)
    with client.responses.stream(model="m", input=QUESTION, temperature=0) as stream:
        seen = "".join(e.delta for e in stream if e.type == "response.output_text.delta")
        tap.ok(seen == want == stream.get_final_response().output_text, "the OpenAI package streams it")
    r = client.responses.create(model="m", input="Light", tools=[LAMP], tool_choice="required")
    more = client.responses.create(model="m", input=[user, *(o.to_dict() for o in r.output), {"type": "function_call_output", "call_id": r.output[0].call_id, "output": "on"}], tools=[LAMP])
    tap.ok(r.output[0].name == "lamp" and more.status == "completed", "the OpenAI package calls a function, and sends its result back")
    try:
        client.responses.create(model="m", input="x", previous_response_id="resp_1")
        tap.ok(False, "the OpenAI package reports errors")
    except openai.BadRequestError as e:
        tap.ok(e.param == "previous_response_id", "the OpenAI package's errors name the field", e)
else:
    tap.skip("the OpenAI package", "it is not in build/clients: make setup-tests")
tap.ok(server.end() == 0, "the server ends with status 0")
tap.done()
