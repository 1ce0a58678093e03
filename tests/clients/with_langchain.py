#!/usr/bin/env python3
"""langchain-openai: LangChain's ChatOpenAI, OpenAI and OpenAIEmbeddings."""

from langchain_core.messages import HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI, OpenAI, OpenAIEmbeddings
from cells import BASE, KEY, MODEL, QUESTION, SHAPES, V1, Party, case, must

chat = ChatOpenAI(base_url=V1, api_key=KEY, model=MODEL, max_retries=0, timeout=120)
short = ChatOpenAI(base_url=V1, api_key=KEY, model=MODEL, max_retries=0, max_tokens=8)


@case("chat", "a reply")
def _():
    r = short.invoke(QUESTION)
    must(r.content and r.usage_metadata["total_tokens"] > 8, r)


@case("chat", "a base address without /v1")
def _():
    must(ChatOpenAI(base_url=BASE, api_key=KEY, model=MODEL, max_retries=0, max_tokens=4).invoke(QUESTION).content)


@case("chat", "a batch of texts that go on")
def _():
    r = OpenAI(base_url=V1, api_key=KEY, model=MODEL, max_retries=0, max_tokens=4).generate(["Once upon", "The end"])
    must(len(r.generations) == 2, r)


@case("stream", "pieces")
def _():
    pieces = list(short.stream(QUESTION))
    must(len(pieces) > 2 and "".join(p.content for p in pieces), pieces)


@case("tools", "by name, and the result goes back")
def _():
    asked = [HumanMessage(QUESTION)]
    r = chat.bind_tools([Party], tool_choice="Party").invoke(asked)
    must(Party.model_validate(r.tool_calls[0]["args"]), r)
    must(short.bind_tools([Party]).invoke(asked + [r, ToolMessage("Done.", tool_call_id=r.tool_calls[0]["id"])]) is not None)


for name, shape in SHAPES:
    @case("tools", name)
    def _():
        r = chat.with_structured_output(shape, method="function_calling").invoke(QUESTION)
        must(isinstance(r, shape), r)

    @case("structured", name)
    def _():
        r = chat.with_structured_output(shape, method="json_schema").invoke(QUESTION)
        must(isinstance(r, shape), r)


@case("structured", "some JSON")
def _():
    r = chat.with_structured_output(None, method="json_mode").invoke(QUESTION + " Answer in JSON.")
    must(isinstance(r, dict), r)


@case("structured", "tools beside a structured answer")
def _():
    bound = chat.bind_tools([Party], response_format=SHAPES[2][1], strict=True)
    r = bound.invoke(QUESTION)
    must(r.tool_calls or isinstance(r.additional_kwargs["parsed"], SHAPES[2][1]), r)


@case("embeddings", "token lists, as it sends without being told otherwise")
def _():
    from tiktoken import Encoding
    try:
        texts = OpenAIEmbeddings(base_url=V1, api_key=KEY, model=MODEL, max_retries=0).embed_documents(["a cat", "a dog"])
    except Exception as error:  # its tokenizer is fetched from the network
        must(Encoding and "openaipublic" in str(error), error)
        from openai import OpenAI as Plain
        texts = [d.embedding for d in Plain(base_url=V1, api_key=KEY).embeddings.create(model=MODEL, input=[[64, 8415], [64, 5679]]).data]
    must(len(texts) == 2 and len(texts[0]) > 16, texts)


@case("embeddings", "texts")
def _():
    own = OpenAIEmbeddings(base_url=V1, api_key=KEY, model=MODEL, max_retries=0, check_embedding_ctx_length=False)
    must(len(own.embed_documents(["a cat", "a dog"])) == 2 and len(own.embed_query("a cat")) > 16)
