#!/usr/bin/env python3
"""LlamaIndex: OpenAILike and OpenAILikeEmbedding."""

from llama_index.core.llms import ChatMessage
from llama_index.core.prompts import PromptTemplate
from llama_index.core.tools import FunctionTool
from llama_index.embeddings.openai_like import OpenAILikeEmbedding
from llama_index.llms.openai_like import OpenAILike
from cells import BASE, KEY, MODEL, QUESTION, SHAPES, V1, Party, case, must

settings = {"model": MODEL, "api_key": KEY, "max_retries": 0, "is_chat_model": True, "is_function_calling_model": True, "context_window": 2048}
llm = OpenAILike(api_base=V1, should_use_structured_outputs=False, **settings)
held = OpenAILike(api_base=V1, should_use_structured_outputs=True, **settings)
ASK = [ChatMessage(role="user", content=QUESTION)]


@case("chat", "a reply")
def _():
    must(llm.chat(ASK, max_tokens=8).message.content)


@case("chat", "a base address without /v1")
def _():
    must(OpenAILike(api_base=BASE, **settings).chat(ASK, max_tokens=4).message.content)


@case("chat", "a text that goes on")
def _():
    must(OpenAILike(api_base=V1, **{**settings, "is_chat_model": False}).complete("Once upon a", max_tokens=4).text)


@case("stream", "pieces")
def _():
    pieces = [p.delta for p in llm.stream_chat(ASK, max_tokens=8)]
    must(len(pieces) > 2 and "".join(p or "" for p in pieces), pieces)


@case("tools", "a call, and the result goes back")
def _():
    tool = FunctionTool.from_defaults(lambda day, seats: "Done.", name="party", description="A party", fn_schema=Party)
    r = llm.chat_with_tools([tool], chat_history=ASK, tool_required=True)
    calls = llm.get_tool_calls_from_response(r)
    must(Party.model_validate(calls[0].tool_kwargs), r)
    more = ASK + [r.message, ChatMessage(role="tool", content="Done.", additional_kwargs={"tool_call_id": calls[0].tool_id})]
    must(llm.chat(more, max_tokens=8))


for name, shape in SHAPES:
    @case("tools", name)
    def _():
        r = llm.structured_predict(shape, PromptTemplate(QUESTION), llm_kwargs={"tool_choice": "required"})
        must(isinstance(r, shape), r)

    @case("structured", name)
    def _():
        r = held.structured_predict(shape, PromptTemplate(QUESTION))
        must(isinstance(r, shape), r)


@case("embeddings", "a text, texts")
def _():
    e = OpenAILikeEmbedding(model_name=MODEL, api_base=V1, api_key=KEY, max_retries=0)
    must(len(e.get_text_embedding("a cat")) > 16 and len(e.get_text_embedding_batch(["a cat", "a dog"])) == 2)
