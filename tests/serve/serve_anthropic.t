#!/usr/bin/python3
"""`ingot serve` and Anthropic's messages: whole and as events, with tools and formats; the same replies as chat completions; the token as x-api-key;
errors in Anthropic's form. Python's package anthropic, if installed, gets the same replies."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import Tap
from served import Served, packages

PATH = "/v1/messages"
QUESTION = "What is 7 plus 8?"
USER = [{"role": "user", "content": QUESTION}]
LIGHT = [{"role": "user", "content": "Light, please."}]
LAMP = {"name": "lamp", "description": "A lamp", "input_schema": {"type": "object", "properties": {"on": {"type": "boolean"}}, "required": ["on"]}}
THEIRS = {"type": "function", "function": {"name": "lamp", "description": "A lamp", "parameters": LAMP["input_schema"]}}
SCHEMA = {"type": "object", "properties": {"light": {"enum": ["red", "blue"]}, "on": {"type": "boolean"}}, "required": ["light", "on"], "additionalProperties": False}
tap = Tap()
server = Served("--token", "secret")
if not server.there:
    tap.skip("Anthropic's API", "node-llhttp or libwslay-dev is not installed")
    tap.done()
    sys.exit(0)
KEY = {"x-api-key": "secret", "anthropic-version": "2023-06-01"}


def ask(body, path=PATH, headers=None):
    return server.ask(path, {"model": "m", "max_tokens": 60, "temperature": 0, **body}, headers=headers or KEY)


def events(body):
    text = ask({**body, "stream": True})[1]
    rows = [part.split("\n") for part in text.split("\n\n") if part]
    made = [(a[len("event: "):], json.loads(b[len("data: "):])) for a, b in rows]
    assert all(name == event["type"] for name, event in made), made
    return [event for _, event in made]


def completion(messages, **more):
    return server.ask("/v1/chat/completions", {"messages": messages, "temperature": 0, "max_tokens": 60, **more}, headers=KEY)[1]


def kinds(rows):
    names = [r["type"] for r in rows]
    return [n for i, n in enumerate(names) if n != "content_block_delta" or names[i - 1] != n]


want = completion(USER)
text = want["choices"][0]["message"]["content"]

# The token.
tap.ok([ask({"messages": USER}, headers=h)[0] for h in ({"x-api-key": "wrong"}, {"x-api-key": "secretx"}, {"x-api-key": "secre"}, {"x-api-key": ""}, {"Authorization": "Bearer secret"}, KEY)] ==
       [401, 401, 401, 401, 200, 200], "the token is accepted as x-api-key, or as a bearer token")
status, a = ask({"messages": USER}, headers={"x-api-key": "wrong"})
tap.ok(a["type"] == "error" and a["error"]["type"] == "authentication_error", "the error for a wrong token has Anthropic's form", a)

# A message, whole and as events.
status, one = ask({"messages": USER})
use = one["usage"]
tap.ok(status == 200 and one["type"] == "message" and one["role"] == "assistant" and one["content"] == [{"type": "text", "text": text}] and one["stop_reason"] == "end_turn" and
       one["stop_sequence"] is None and use["input_tokens"] + use["cache_read_input_tokens"] == want["usage"]["prompt_tokens"] and use["output_tokens"] == want["usage"]["completion_tokens"],
       "a reply equals that of chat completions", one)
rows = events({"messages": USER})
tap.ok(kinds(rows) == ["message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop"] and
       "".join(r["delta"]["text"] for r in rows if r["type"] == "content_block_delta") == text and rows[0]["message"]["content"] == [] and
       rows[-2]["delta"] == {"stop_reason": "end_turn", "stop_sequence": None} and rows[-2]["usage"]["output_tokens"] == use["output_tokens"], "the events of a reply are those of Anthropic's API", rows)
status, cut = ask({"messages": USER, "max_tokens": 3})
stopped = ask({"messages": USER, "stop_sequences": ["is"]})[1]
tap.ok(cut["stop_reason"] == "max_tokens" and cut["usage"]["output_tokens"] == 3 and stopped["stop_reason"] == "stop_sequence" and stopped["stop_sequence"] == "is" and
       "is" not in stopped["content"][0]["text"], "max_tokens and stop_sequences end replies", (cut, stopped))
several = ask({"messages": USER, "stop_sequences": ["never", "i", "is", "never either"]})[1]
tap.ok(several["stop_reason"] == "stop_sequence" and several["stop_sequence"] == "i", "the answer names which of several stop sequences came", several)
history = [{"role": "user", "content": [{"type": "text", "text": "Hel", "cache_control": {"type": "ephemeral"}}, {"type": "text", "text": "lo"}]},
           {"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm.", "signature": ""}, {"type": "text", "text": "Hi!"}]}, *USER]
same = [{"role": "system", "content": "You are a cat."}, {"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi!"}, *USER]
for system in ("You are a cat.", [{"type": "text", "text": "You are "}, {"type": "text", "text": "a cat."}]):
    tap.ok(ask({"messages": history, "system": system})[1]["content"][0]["text"] == completion(same)["choices"][0]["message"]["content"], "a conversation with a system prompt")

# Tools.
status, one = ask({"messages": LIGHT, "tools": [LAMP], "tool_choice": {"type": "tool", "name": "lamp"}})
call = one["content"][0]
tap.ok(status == 200 and call["type"] == "tool_use" and call["name"] == "lamp" and isinstance(call["input"]["on"], bool) and one["stop_reason"] == "tool_use" and call["id"].startswith("toolu_"),
       "a required call comes", one)
rows = events({"messages": LIGHT, "tools": [{**LAMP, "type": "custom"}], "tool_choice": {"type": "any", "disable_parallel_tool_use": True}})
tap.ok(rows[1]["content_block"]["name"] == "lamp" and rows[1]["content_block"]["input"] == {} and rows[-2]["delta"]["stop_reason"] == "tool_use" and
       json.loads("".join(r["delta"]["partial_json"] for r in rows if r["type"] == "content_block_delta")) == call["input"], "the events of a call have the same arguments as the whole call", rows)
back = [*LIGHT, {"role": "assistant", "content": [{"type": "text", "text": "I look."}, call]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call["id"], "content": [{"type": "text", "text": "the lamp is on"}]}, {"type": "text", "text": "And now?"}]}]
told = [*LIGHT, {"role": "assistant", "content": "I look.", "tool_calls": [{"id": "1", "function": {"name": "lamp", "arguments": json.dumps(call["input"], separators=(",", ":"))}}]},
        {"role": "tool", "tool_call_id": "1", "content": "the lamp is on"}, {"role": "user", "content": "And now?"}]
tap.ok(ask({"messages": back, "tools": [LAMP]})[1]["content"][0].get("text") == completion(told, tools=[THEIRS])["choices"][0]["message"]["content"],
       "a call's result is sent back, with words after it")
wide = 1234567890123456789  # more digits than a double can keep
a = ask({"messages": [*USER, {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "lamp", "input": {"id": wide}}]}, {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "x"}]}]})[1]
b = completion([*USER, {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "lamp", "arguments": f'{{"id":{wide}}}'}}]}, {"role": "tool", "tool_call_id": "1", "content": "x"}])
tap.ok(a["usage"]["input_tokens"] + a["usage"]["cache_read_input_tokens"] == b["usage"]["prompt_tokens"] and a["content"][0].get("text") == b["choices"][0]["message"]["content"],
       "a call's input keeps the digits of a long integer", (a, b))
status, one = ask({"messages": LIGHT, "tools": [LAMP], "tool_choice": {"type": "none"}})
tap.ok(status == 200 and one["content"][0]["type"] == "text", "none", one)

# Instructions in the middle, which are a role of the current package.
middle = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi!"}, {"role": "system", "content": [{"type": "text", "text": "You are a cat."}]}, *USER]
status, a = ask({"messages": middle})
b = completion([*middle[:2], {"role": "system", "content": "You are a cat."}, *USER])
tap.ok(status == 200 and a["content"][0].get("text") == b["choices"][0]["message"]["content"] and a["usage"]["input_tokens"] + a["usage"]["cache_read_input_tokens"] == b["usage"]["prompt_tokens"],
       "messages may have the role system", a)

# Formats.
form = {"type": "json_schema", "schema": SCHEMA}
for more in ({"output_config": {"format": form, "effort": "low"}}, {"output_format": form}):
    status, a = ask({"messages": USER, "temperature": 1, **more})
    made = json.loads(a["content"][0]["text"])
    tap.ok(status == 200 and made["light"] in ("red", "blue") and set(made) == {"light", "on"}, "a schema is kept to: " + list(more)[0], a)

# Refused by name.
image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
for name, body, words in (
        ("an image", {"messages": [{"role": "user", "content": [{"type": "text", "text": "x"}, image]}]}, "messages[0].content[1] has the type image"),
        ("an image in a result", {"messages": [*LIGHT, {"role": "assistant", "content": [call]}, {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call["id"], "content": [image]}]}]}, "messages[2]"),
        ("a result without its call", {"messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x", "content": "y"}]}]}, "messages[0]"),
        ("a result without its call, after a system prompt and a text", {"system": "y", "messages": [*USER, {"role": "user", "content": [{"type": "text", "text": "x"}, {"type": "tool_result", "tool_use_id": "x", "content": "y"}]}]}, "messages[1]: a tool's message"),
        ("a role that is none", {"system": "y", "messages": [*USER, {"role": "cat", "content": "x"}]}, "messages[1]"),
        ("no messages", {}, "messages has to be a list"),
        ("a text block without its text", {"messages": [{"role": "user", "content": [{"type": "text"}]}]}, "messages[0]: a block of the type text has to have a text"),
        ("an empty list of messages", {"system": "y", "messages": []}, "messages has no message"),
        ("an answer that is begun", {"messages": [*USER, {"role": "assistant", "content": "It is"}]}, "the last message has to be the user's"),
        ("an unknown field", {"messages": USER, "colour": 1}, "colour"),
        ("a length that is none", {"messages": USER, "max_tokens": 0}, "max_tokens has to be"),
        ("too many stop strings", {"messages": USER, "stop_sequences": list("abcdefghijklmnopqrstuvwxyz")}, "stop_sequences takes up to"),
        ("a tool of Anthropic's own", {"messages": USER, "tools": [LAMP, {"type": "web_search_20250305", "name": "web_search"}]}, "tools[1] is of the type web_search_20250305"),
        ("a tool that is not there", {"messages": USER, "tools": [LAMP], "tool_choice": {"type": "tool", "name": "no"}}, "no"),
        ("a choice that is none", {"messages": USER, "tools": [LAMP], "tool_choice": {"type": "all"}}, "tool_choice.type"),
        ("servers of tools", {"messages": USER, "mcp_servers": [{"url": "x"}]}, "mcp_servers is not supported"),
        ("a conversation that the server keeps", {"messages": USER, "thread": {"type": "create"}}, "thread: this server keeps no messages"),
        ("a container", {"messages": USER, "container": "x"}, "container is not supported"),
        ("a text that is too long", {"messages": [{"role": "user", "content": "x " * 2000}]}, "tokens")):
    status, a = ask(body)
    tap.ok(status == 400 and a["type"] == "error" and a["error"]["type"] == "invalid_request_error" and words in a["error"]["message"], name + " is refused by its name", a)
codes = {field: ask({"messages": USER, field: value})[1]["error"].get("details") for field, value in (("thread", {"type": "continue", "previous_message_id": "msg_1"}), ("colour", 1), ("max_tokens", 0))}
tap.ok(codes == {"thread": {"error_code": "thread_unsupported_request"}, "colour": {"error_code": "unknown_parameter"}, "max_tokens": None}, "an error's code is in details.error_code", codes)
lost = [(status, a.get("type"), a["error"]["type"], a["error"]["message"]) for status, a in (server.ask(page, {"messages": USER}, headers=KEY) for page in (PATH + "/count_tokens", "/v1" + PATH))]
tap.ok(all(l[:3] == (404, "error", "not_found_error") and "POST /v1/messages" in l[3] and "does not end in /v1" in l[3] for l in lost), "another page of Anthropic's API is not found, and the error says what there is", lost)
status, a = server.ask(PATH, headers=KEY)
tap.ok(status == 405 and a["type"] == "error", "GET is refused", a)

# The package that programs use.
if packages("anthropic"):
    import anthropic
    client = anthropic.Anthropic(base_url=server.url, api_key="secret", max_retries=0)
    with client.messages.stream(model="m", max_tokens=60, messages=USER, extra_body={"temperature": 0}) as stream:
        seen = "".join(stream.text_stream)
        final = stream.get_final_message()
    tap.ok(seen == text == final.content[0].text and final.usage.output_tokens == use["output_tokens"], "the package anthropic streams it", final)
    with client.messages.stream(model="m", max_tokens=60, messages=LIGHT, tools=[LAMP], tool_choice={"type": "any"}) as stream:
        made = stream.get_final_message()
    more = client.messages.create(model="m", max_tokens=60, tools=[LAMP], messages=[
        *LIGHT, {"role": "assistant", "content": made.content}, {"role": "user", "content": [{"type": "tool_result", "tool_use_id": made.content[0].id, "content": "on"}]}])
    tap.ok(made.stop_reason == "tool_use" and isinstance(made.content[0].input["on"], bool) and more.type == "message",
           "the package anthropic calls a function, and sends its result back", made)
    if hasattr(anthropic, "beta_tool"):
        @anthropic.beta_tool
        def light(on: bool) -> str:
            """Switches the light.

            Args:
                on: whether it is on
            """
            return f"the light is {'on' if on else 'off'}"

        rounds = list(client.beta.messages.tool_runner(model="m", max_tokens=60, messages=LIGHT, tools=[light], tool_choice={"type": "any"}, max_iterations=2))
        tap.ok(len(rounds) == 2 and rounds[0].stop_reason == "tool_use", "the package anthropic runs functions", rounds)
    try:
        client.messages.create(model="m", max_tokens=60, messages=[])
        tap.ok(False, "the package anthropic reports errors")
    except anthropic.BadRequestError as e:
        tap.ok("messages" in str(e), "the package anthropic's errors say what is wrong", e)
else:
    tap.skip("the package anthropic", "it is not in build/clients: make setup-tests")
tap.ok(server.end() == 0, "the server ends with status 0")
tap.done()
