#!/usr/bin/env python3
"""outlines, over its OpenAI model."""

import json
from typing import Literal

import openai
import outlines
from outlines.inputs import Chat
from cells import BASE, KEY, MODEL, QUESTION, SHAPES, V1, case, must

model = outlines.from_openai(openai.OpenAI(base_url=V1, api_key=KEY, max_retries=0), MODEL)


@case("chat", "a reply")
def _():
    must(model(QUESTION, max_tokens=8) and model(Chat([{"role": "user", "content": QUESTION}]), max_tokens=4))


@case("chat", "a base address without /v1")
def _():
    must(outlines.from_openai(openai.OpenAI(base_url=BASE, api_key=KEY), MODEL)(QUESTION, max_tokens=4))


@case("stream", "pieces")
def _():
    pieces = list(model.stream(QUESTION, max_tokens=8))
    must(len(pieces) > 1 and "".join(pieces), pieces)


for name, shape in SHAPES:
    @case("structured", name)
    def _():
        must(shape.model_validate_json(model(QUESTION, shape)))


@case("structured", "a dictionary's schema")
def _():
    wanted = {"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"], "additionalProperties": False}
    must(isinstance(json.loads(model(QUESTION, outlines.json_schema(json.dumps(wanted))))["sum"], int) and Literal)
