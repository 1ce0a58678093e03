#!/usr/bin/env python3
"""AutoGen: OpenAIChatCompletionClient and an agent."""

from autogen_agentchat.agents import AssistantAgent
from autogen_core.models import ModelInfo, UserMessage
from autogen_core.tools import FunctionTool
from autogen_ext.models.openai import OpenAIChatCompletionClient
from cells import BASE, KEY, MODEL, QUESTION, SHAPES, V1, case, must

INFO = ModelInfo(vision=False, function_calling=True, json_output=True, family="unknown", structured_output=True)
ASK = [UserMessage(content=QUESTION, source="user")]


def client(base=V1, **more):
    return OpenAIChatCompletionClient(model=MODEL, base_url=base, api_key=KEY, model_info=INFO, max_retries=0, **more)


@case("chat", "a reply")
async def _():
    must((await client(max_tokens=8).create(ASK)).content)


@case("chat", "a base address without /v1")
async def _():
    must((await client(BASE, max_tokens=4).create(ASK)).content)


@case("chat", "an agent with an instruction")
async def _():
    r = await AssistantAgent("helper", client(max_tokens=8), system_message="Be short.").run(task=QUESTION)
    must(r.messages[-1].content, r)


@case("stream", "pieces")
async def _():
    pieces = [p async for p in client(max_tokens=8).create_stream(ASK)]
    must(len(pieces) > 2 and pieces[-1].content, pieces)


for name, shape in SHAPES:
    @case("tools", name)
    async def _():
        def report(**words):
            return "Done."

        tool = {"name": "report", "description": "A report", "parameters": shape.model_json_schema()}
        r = await client().create(ASK, tools=[tool], tool_choice="required")
        must(shape.model_validate_json(r.content[0].arguments), r)

    @case("structured", name)
    async def _():
        r = await client().create(ASK, json_output=shape)
        must(shape.model_validate_json(r.content), r)


@case("tools", "a function, by its signature")
async def _():
    def add(a: int, b: float, unit: str | None = None) -> str:
        """Add two numbers."""
        return "7"

    r = await client().create(ASK, tools=[FunctionTool(add, description="Add two numbers")], tool_choice=FunctionTool(add, description="Add two numbers"))
    must(r.content[0].name == "add", r)


@case("structured", "tools beside a structured answer")
async def _():
    def measure(x: int, y: int) -> str:
        """Measure a point."""
        return "7"

    r = await client().create(ASK, tools=[FunctionTool(measure, description="Measure a point", strict=True)], json_output=SHAPES[2][1])
    must(isinstance(r.content, list) or SHAPES[2][1].model_validate_json(r.content), r)
