#!/usr/bin/env python3
"""instructor, in its modes for tools and JSON."""

from typing import Iterable

import instructor
from openai import OpenAI
from pydantic import BaseModel
from cells import BASE, KEY, MODEL, QUESTION, SHAPES, V1, Score, case, must

ASK = {"model": MODEL, "messages": [{"role": "user", "content": QUESTION}], "max_retries": 0}


def client(mode, base=V1):
    return instructor.from_openai(OpenAI(base_url=base, api_key=KEY, max_retries=0), mode=mode)


class Word(BaseModel):
    sure: bool


@case("chat", "a reply with a type")
def _():
    r, whole = client(instructor.Mode.JSON_SCHEMA).chat.completions.create_with_completion(response_model=Word, **ASK)
    must(isinstance(r, Word) and whole.usage.total_tokens > 8, r)


@case("chat", "a base address without /v1")
def _():
    must(isinstance(client(instructor.Mode.JSON_SCHEMA, BASE).chat.completions.create(response_model=Word, **ASK), Word))


@case("stream", "a type in parts")
def _():
    parts = list(client(instructor.Mode.JSON_SCHEMA).chat.completions.create_partial(response_model=Score, **ASK))
    must(parts and isinstance(Score.model_validate(parts[-1].model_dump()), Score), parts)


@case("stream", "a list of a type")
def _():
    got = client(instructor.Mode.TOOLS).chat.completions.create_iterable(response_model=Word, **ASK)
    must(isinstance(next(iter(got)), Word) and Iterable, got)


for name, shape in SHAPES:
    @case("tools", name)
    def _():
        must(isinstance(client(instructor.Mode.TOOLS).chat.completions.create(response_model=shape, **ASK), shape))

    @case("structured", name)
    def _():
        must(isinstance(client(instructor.Mode.JSON_SCHEMA).chat.completions.create(response_model=shape, **ASK), shape))
