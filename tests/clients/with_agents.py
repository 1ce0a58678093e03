#!/usr/bin/env python3
"""openai-agents: agents with tools and typed answers."""

from agents import Agent, AgentOutputSchema, ModelSettings, OpenAIChatCompletionsModel, Runner, StopAtTools, function_tool, set_tracing_disabled
from openai import AsyncOpenAI
from cells import BASE, KEY, MODEL, QUESTION, SHAPES, V1, Point, Score, case, must

set_tracing_disabled(True)


def agent(base=V1, **more):
    settings = ModelSettings(**more.pop("settings", {}))
    return Agent(name="helper", instructions="Be short.", model_settings=settings, **more,
                 model=OpenAIChatCompletionsModel(MODEL, AsyncOpenAI(base_url=base, api_key=KEY, max_retries=0)))


@case("chat", "a reply")
async def _():
    must((await Runner.run(agent(settings={"max_tokens": 8}), QUESTION)).final_output)


@case("chat", "a base address without /v1")
async def _():
    must((await Runner.run(agent(BASE, settings={"max_tokens": 4}), QUESTION)).final_output)


@case("stream", "events")
async def _():
    r = Runner.run_streamed(agent(settings={"max_tokens": 8}), QUESTION)
    kinds = {e.data.type async for e in r.stream_events() if e.type == "raw_response_event"}
    must("response.output_text.delta" in kinds and r.final_output, kinds)


for name, shape in SHAPES:
    @case("tools", name)
    async def _():
        called = []

        @function_tool(strict_mode=False)
        def report(it: shape) -> str:
            """Report it."""
            called.append(it)
            return "Done."

        one = agent(tools=[report], settings={"tool_choice": "required"}, tool_use_behavior=StopAtTools(stop_at_tool_names=["report"]))
        r = await Runner.run(one, QUESTION)
        must(called and r.final_output == "Done.", r)

    @case("structured", name)
    async def _():
        r = await Runner.run(agent(output_type=AgentOutputSchema(shape, strict_json_schema=False)), QUESTION)
        must(isinstance(r.final_output, shape), r)


@case("tools", "tuples among a function's arguments")
async def _():
    @function_tool(strict_mode=False)
    def move(to: tuple[int, int], by: tuple[float, ...] = ()) -> str:
        """Move to a place."""
        return "Moved."

    one = agent(tools=[move], settings={"tool_choice": "move"}, tool_use_behavior="stop_on_first_tool")
    must((await Runner.run(one, QUESTION)).final_output == "Moved.")


@case("structured", "tools beside a structured answer")
async def _():
    called = []

    @function_tool(strict_mode=False)
    def measure(at: Point) -> str:
        """Measure a point."""
        called.append(at)
        return "7"

    both = {"tools": [measure], "output_type": AgentOutputSchema(Score, strict_json_schema=False)}
    r = await Runner.run(agent(settings={"tool_choice": "none"}, **both), QUESTION)
    must(isinstance(r.final_output, Score), r)
    r = await Runner.run(agent(settings={"tool_choice": "required"}, tool_use_behavior="stop_on_first_tool", **both), QUESTION)
    must(called, r)
