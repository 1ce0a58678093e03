#!/usr/bin/env python3
"""litellm, with a model of the kind openai/NAME."""

import json

from cells import BASE, KEY, MODEL, QUESTION, SHAPES, V1, Score, case, must
import litellm

litellm.suppress_debug_info = True
TO = {"model": "openai/" + MODEL, "api_base": V1, "api_key": KEY, "max_retries": 0, "timeout": 120}
ASK = [{"role": "user", "content": QUESTION}]


def tool(shape):
    return [{"type": "function", "function": {"name": "report", "parameters": shape.model_json_schema()}}]


@case("chat", "a reply")
def _():
    must(litellm.completion(**TO, messages=ASK, max_tokens=8).choices[0].message.content)


@case("chat", "a base address without /v1")
def _():
    must(litellm.completion(**{**TO, "api_base": BASE}, messages=ASK, max_tokens=4).choices[0].message.content)


@case("chat", "text lists that go on")
def _():
    r = litellm.text_completion(**{**TO, "model": "text-completion-openai/" + MODEL}, prompt=["Once upon", "The end"], max_tokens=4)
    must(len(r.choices) == 2, r)


@case("stream", "pieces")
def _():
    pieces = list(litellm.completion(**TO, messages=ASK, max_tokens=8, stream=True))
    must(len(pieces) > 2 and litellm.stream_chunk_builder(pieces).choices[0].message.content, pieces)


for name, shape in SHAPES:
    @case("tools", name)
    def _():
        r = litellm.completion(**TO, messages=ASK, tools=tool(shape), tool_choice="required").choices[0].message
        must(shape.model_validate_json(r.tool_calls[0].function.arguments), r)
        more = ASK + [r.model_dump(), {"role": "tool", "tool_call_id": r.tool_calls[0].id, "content": "Done."}]
        must(litellm.completion(**TO, messages=more, tools=tool(shape), max_tokens=4))

    @case("structured", name)
    def _():
        r = litellm.completion(**TO, messages=ASK, response_format=shape).choices[0].message.content
        must(shape.model_validate_json(r), r)


@case("structured", "tools beside a structured answer, and some JSON")
def _():
    r = litellm.completion(**TO, messages=ASK, response_format=Score, tools=tool(SHAPES[0][1]), tool_choice="none").choices[0].message.content
    must(Score.model_validate_json(r), r)
    must(json.loads(litellm.completion(**TO, messages=ASK, response_format={"type": "json_object"}).choices[0].message.content) is not None)


@case("embeddings", "a text list")
def _():
    r = litellm.embedding(**TO, input=["a cat", "a dog"])
    must(len(r.data) == 2 and len(r.data[0]["embedding"]) > 16, r)
