#!/usr/bin/env python3
"""smolagents: its OpenAI model, tools and a tool-calling agent."""

import json

from smolagents import OpenAIServerModel, ToolCallingAgent, tool
from cells import BASE, KEY, MODEL, QUESTION, SHAPES, V1, case, must

ASK = [{"role": "user", "content": [{"type": "text", "text": QUESTION}]}]


def model(base=V1, **more):
    return OpenAIServerModel(MODEL, api_base=base, api_key=KEY, **more)


@tool
def weather(place: str, days: int = 1, unit: str = None) -> str:
    """Tell the weather.

    Args:
        place: a town
        days: how many days
        unit: C or F
    """
    return "Sunny."


@tool
def report(day: str, seats: dict = None, at: list[int] = None, share: float = 0.5, extra: object = None) -> str:
    """Report it.

    Args:
        day: a date
        seats: seats by name
        at: a place
        share: a share
        extra: anything
    """
    return "Done."


@case("chat", "a reply")
def _():
    must(model(max_tokens=8)(ASK).content)


@case("chat", "a base address without /v1")
def _():
    must(model(BASE, max_tokens=4)(ASK).content)


@case("stream", "pieces")
def _():
    pieces = list(model(max_tokens=8).generate_stream(ASK))
    must(len(pieces) > 2 and "".join(p.content or "" for p in pieces), pieces)


@case("tools", "arguments with defaults, which are nullable")
def _():
    for one in (weather, report):
        r = model()(ASK, tools_to_call_from=[one])
        must(r.tool_calls[0].function.name == one.name, r)


@case("tools", "an agent that runs one")
def _():
    one = ToolCallingAgent(tools=[weather], model=model(), max_steps=1, verbosity_level=0)
    for _ in one.run(QUESTION, stream=True):
        pass
    must(one.memory.steps[-1].tool_calls or one.memory.steps[1].tool_calls, one.memory.steps)


for name, shape in SHAPES:
    @case("structured", name)
    def _():
        wanted = {"type": "json_schema", "json_schema": {"name": "it", "schema": shape.model_json_schema(), "strict": True}}
        must(shape.model_validate(json.loads(model()(ASK, response_format=wanted).content)))
