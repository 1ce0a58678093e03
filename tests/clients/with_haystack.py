#!/usr/bin/env python3
"""Haystack: OpenAIChatGenerator and OpenAITextEmbedder."""

import json

from cells import BASE, KEY, MODEL, QUESTION, SHAPES, V1, case, must
from haystack.components.embedders import OpenAIDocumentEmbedder, OpenAITextEmbedder
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage, Document
from haystack.tools import Tool
from haystack.utils import Secret

KEYS = {"api_key": Secret.from_token(KEY), "api_base_url": V1, "model": MODEL, "max_retries": 0}
ASK = [ChatMessage.from_user(QUESTION)]


def generator(more=None, **settings):
    return OpenAIChatGenerator(**{**KEYS, **settings}, generation_kwargs=more or {})


@case("chat", "a reply")
def _():
    must(generator({"max_tokens": 8}).run(ASK)["replies"][0].text)


@case("chat", "a base address without /v1")
def _():
    must(generator({"max_tokens": 4}, api_base_url=BASE).run(ASK)["replies"][0].text)


@case("stream", "pieces")
def _():
    pieces = []
    r = generator({"max_tokens": 8}, streaming_callback=pieces.append).run(ASK)
    must(len(pieces) > 2 and r["replies"][0].text, r)


for name, shape in SHAPES:
    @case("tools", name)
    def _():
        tool = Tool(name="report", description="A report", parameters=shape.model_json_schema(), function=lambda **words: "Done.")
        r = generator({"tool_choice": "required"}, tools=[tool]).run(ASK)["replies"][0]
        must(shape.model_validate(r.tool_calls[0].arguments), r)
        more = ASK + [r, ChatMessage.from_tool("Done.", origin=r.tool_calls[0])]
        must(generator({"max_tokens": 4}, tools=[tool]).run(more)["replies"])

    @case("structured", name)
    def _():
        r = generator({"response_format": shape}).run(ASK)["replies"][0]
        must(shape.model_validate(json.loads(r.text)), r)


@case("embeddings", "a text, texts")
def _():
    must(len(OpenAITextEmbedder(**KEYS).run("a cat")["embedding"]) > 16)
    r = OpenAIDocumentEmbedder(**KEYS, progress_bar=False).run([Document(content="a cat"), Document(content="a dog")])
    must(len(r["documents"]) == 2 and all(len(d.embedding) > 16 for d in r["documents"]), r)
