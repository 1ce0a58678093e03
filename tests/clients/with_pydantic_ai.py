#!/usr/bin/env python3
"""pydantic-ai: OpenAIChatModel with each way to a typed answer."""

from pydantic_ai import Agent, Embedder, NativeOutput, ToolOutput
from pydantic_ai.embeddings.openai import OpenAIEmbeddingModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from cells import BASE, KEY, MODEL, QUESTION, SHAPES, V1, Point, Score, case, must


def model(base=V1):
    return OpenAIChatModel(MODEL, provider=OpenAIProvider(base_url=base, api_key=KEY))


def agent(output, **more):
    return Agent(model(), output_type=output, retries=0, **more)


SHORT = {"max_tokens": 8}


@case("chat", "a reply")
async def _():
    r = await agent(str, instructions="Be short.").run(QUESTION, model_settings=SHORT)
    must(r.output and r.usage.input_tokens > 8, r)


@case("chat", "a base address without /v1")
async def _():
    must((await Agent(model(BASE)).run(QUESTION, model_settings=SHORT)).output)


@case("stream", "pieces")
async def _():
    async with agent(str).run_stream(QUESTION, model_settings=SHORT) as r:
        pieces = [p async for p in r.stream_text(delta=True)]
    must(pieces, pieces)


@case("stream", "a typed answer")
async def _():
    async with agent(NativeOutput(Score)).run_stream(QUESTION) as r:
        must(isinstance(await r.get_output(), Score))


for name, shape in SHAPES:
    @case("tools", name)
    async def _():
        must(isinstance((await agent(ToolOutput(shape)).run(QUESTION)).output, shape))

    @case("structured", name)
    async def _():
        must(isinstance((await agent(NativeOutput(shape)).run(QUESTION)).output, shape))


@case("structured", "tools beside a structured answer")
async def _():
    one = agent(NativeOutput(Score))
    called = []

    @one.tool_plain
    def measure(at: Point, sides: tuple[int, float] = (1, 1)) -> str:
        """Measure a point."""
        called.append(at)
        return "7"

    # The model's first message may be a call; the second message is the answer.
    r = await one.run(QUESTION, model_settings={"tool_choice": "none"})
    must(isinstance(r.output, Score), r)
    async with one.iter(QUESTION) as run:
        async for node in run:
            if called:
                break
    must(called or isinstance(run.result.output, Score), "neither a call nor an answer")


@case("embeddings", "texts")
async def _():
    r = await Embedder(OpenAIEmbeddingModel(MODEL, provider=OpenAIProvider(base_url=V1, api_key=KEY))).embed_documents(["a cat", "a dog"])
    must(len(r.embeddings) == 2, r)
