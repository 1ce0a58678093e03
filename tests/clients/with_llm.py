#!/usr/bin/env python3
"""llm, by its command line: a model in extra-openai-models.yaml."""

import json
import os
import subprocess
import sys
import tempfile

from cells import BASE, KEY, MODEL, QUESTION, SHAPES, V1, case, must

HOME = tempfile.TemporaryDirectory()
MODELS = "".join(f"- model_id: {name}\n  model_name: {MODEL}\n  api_base: {base}\n  api_key_name: ingot\n  supports_tools: true\n  supports_schema: true\n{more}"
                 for name, base, more in (("ingot", V1, ""), ("bare", BASE, ""), ("goes-on", V1, "  completion: true\n")))
with open(os.path.join(HOME.name, "extra-openai-models.yaml"), "w", encoding="utf-8") as f:
    f.write(MODELS)
with open(os.path.join(HOME.name, "keys.json"), "w", encoding="utf-8") as f:
    json.dump({"ingot": KEY}, f)
os.environ["LLM_USER_PATH"] = HOME.name
import llm  # noqa: E402: after its folder is named


def command(*words):
    done = subprocess.run([sys.executable, "-m", "llm", *words], capture_output=True, text=True, timeout=120)
    must(done.returncode == 0 and done.stdout.strip(), done.stderr)
    return done.stdout


@case("chat", "a reply")
def _():
    command("-m", "ingot", "--no-stream", "-o", "max_tokens", "8", QUESTION)


@case("chat", "a base address without /v1, and a text that goes on")
def _():
    command("-m", "bare", "-o", "max_tokens", "4", QUESTION)
    command("-m", "goes-on", "-o", "max_tokens", "4", "Once upon a")


@case("stream", "pieces")
def _():
    pieces = list(llm.get_model("ingot").prompt(QUESTION, max_tokens=8))
    must(len(pieces) > 1 and "".join(pieces), pieces)


@case("stream", "and goes on with the conversation")
def _():
    talk = llm.get_model("ingot").conversation()
    must(talk.prompt(QUESTION, max_tokens=4).text() and talk.prompt("And of Spain?", max_tokens=4).text())


@case("tools", "a function of Python, and the result goes back")
def _():
    def add(a: int, b: int) -> str:
        """Add two numbers"""
        return "7"

    # llm has no tool_choice, so such a small model may call the tool or not.
    talk = llm.get_model("ingot").conversation(tools=[add])
    r = talk.prompt("Call the tool add with 3 and 4.", max_tokens=64, stream=False)
    r.text()
    if calls := r.tool_calls():
        results = [llm.ToolResult(name=c.name, output="7", tool_call_id=c.tool_call_id) for c in calls]
        talk.prompt(tool_results=results, max_tokens=8, stream=False).text()


for name, shape in SHAPES:
    @case("structured", name)
    def _():
        r = llm.get_model("ingot").prompt(QUESTION, schema=shape, stream=False).text()
        must(shape.model_validate_json(r), r)


@case("structured", "its short form of a schema")
def _():
    must(isinstance(json.loads(command("-m", "ingot", "--no-stream", "--schema", "sum int, ok bool", QUESTION))["sum"], int))


@case("embeddings", "a text list")
def _():
    from llm.default_plugins.openai_models import OpenAIEmbeddingModel
    model = OpenAIEmbeddingModel("ingot-embeds", MODEL, api_key_name="ingot", api_base=V1) if "api_base" in OpenAIEmbeddingModel.__init__.__code__.co_varnames \
        else OpenAIEmbeddingModel("ingot-embeds", MODEL)
    os.environ["OPENAI_BASE_URL"] = V1
    model.key = KEY
    got = list(model.embed_multi(["a cat", "a dog"]))
    must(len(got) == 2 and len(got[0]) > 16, got)
