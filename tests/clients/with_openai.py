#!/usr/bin/env python3
"""The OpenAI package of PyPI."""

import json

import openai
from openai import OpenAI, pydantic_function_tool
from cells import BASE, KEY, MODEL, QUESTION, SHAPES, V1, Score, case, must

client = OpenAI(base_url=V1, api_key=KEY, max_retries=0, timeout=120)
ASK = [{"role": "user", "content": QUESTION}]


@case("chat", "a reply")
def _():
    r = client.chat.completions.create(model=MODEL, messages=ASK, max_tokens=8)
    must(r.choices[0].message.content and r.usage.total_tokens > 8, r)


@case("chat", "a base address without /v1")
def _():
    r = OpenAI(base_url=BASE, api_key=KEY, max_retries=0).chat.completions.create(model=MODEL, messages=ASK, max_tokens=4)
    must(r.choices[0].message.content, r)


@case("chat", "the model by its name, and the package's errors")
def _():
    first = client.models.list().data[0].id
    must(client.models.retrieve(first).id == first, first)
    try:
        client.chat.completions.create(model=MODEL, messages=ASK, extra_body={"unheard_of": 1})
    except openai.BadRequestError as error:
        must("unheard_of" in str(error), error)
        return
    must(False, "an unknown field was taken")


@case("stream", "pieces and usage")
def _():
    text, usage = "", None
    for part in client.chat.completions.create(model=MODEL, messages=ASK, max_tokens=8, stream=True, stream_options={"include_usage": True}):
        text += (part.choices[0].delta.content or "") if part.choices else ""
        usage = part.usage or usage
    must(text and usage.completion_tokens > 0, (text, usage))


@case("stream", "gathered by the package")
def _():
    with client.chat.completions.stream(model=MODEL, messages=ASK) as events:
        must(any(e.type == "content.delta" for e in events), "no event with content")
        must(events.get_final_completion().choices[0].message.content)


@case("tools", "by name, and the result goes back")
def _():
    tools = [pydantic_function_tool(shape, name="report") for _, shape in SHAPES[:1]]
    r = client.chat.completions.create(model=MODEL, messages=ASK, tools=tools, tool_choice={"type": "function", "function": {"name": "report"}})
    call = r.choices[0].message.tool_calls[0]
    must(SHAPES[0][1].model_validate_json(call.function.arguments) and call.function.name == "report", r)
    back = ASK + [r.choices[0].message, {"role": "tool", "tool_call_id": call.id, "content": "Done."}]
    r = client.chat.completions.create(model=MODEL, messages=back, tools=tools, max_tokens=8)
    must(r.choices[0].finish_reason in ("stop", "length", "tool_calls"), r)


@case("tools", "in a stream")
def _():
    with client.chat.completions.stream(model=MODEL, messages=ASK, tools=[pydantic_function_tool(Score, name="report")], tool_choice="required") as events:
        r = events.get_final_completion()
    must(isinstance(r.choices[0].message.tool_calls[0].function.parsed_arguments, Score), r)


for name, shape in SHAPES:
    @case("tools", name)
    def _():
        r = client.chat.completions.parse(model=MODEL, messages=ASK, tools=[pydantic_function_tool(shape, name="report")], tool_choice="required")
        must(isinstance(r.choices[0].message.tool_calls[0].function.parsed_arguments, shape), r)

    @case("structured", name)
    def _():
        r = client.chat.completions.parse(model=MODEL, messages=ASK, response_format=shape)
        must(isinstance(r.choices[0].message.parsed, shape), r)


@case("structured", "tools beside a structured answer")
def _():
    for choice in ("auto", "none", "required"):
        r = client.chat.completions.parse(model=MODEL, messages=ASK, response_format=Score, tools=[pydantic_function_tool(SHAPES[0][1], name="report")], tool_choice=choice)
        message = r.choices[0].message
        must(bool(message.tool_calls) != isinstance(message.parsed, Score) and (choice != "none" or message.parsed) and (choice != "required" or message.tool_calls), r)


@case("structured", "some JSON")
def _():
    r = client.chat.completions.create(model=MODEL, messages=ASK, response_format={"type": "json_object"})
    must(isinstance(json.loads(r.choices[0].message.content), dict), r)


@case("embeddings", "a text, texts, tokens, lists of tokens")
def _():
    for given, count in (("a cat", 1), (["a cat", "a dog"], 2), ([5, 6, 7], 1), ([[5, 6], [7]], 2)):
        r = client.embeddings.create(model=MODEL, input=given)
        must(len(r.data) == count and len(r.data[0].embedding) > 16, r)


@case("embeddings", "dimensions")
def _():
    r = client.embeddings.create(model=MODEL, input="a cat", dimensions=16)
    must(len(r.data[0].embedding) == 16 and abs(sum(x * x for x in r.data[0].embedding) - 1) < 1e-3, r)
