#!/usr/bin/python3
"""Counts the prompt tokens that Ingot's server and llama.cpp's compute for an agent of twenty turns with tools: two agents, one after the other,
then the first prompt again after a restart. Before the client sends a reply back, it changes the reply, like templates that
leave out thoughts.

usage: agent.py [MODEL.gguf [TOKENS]] measures this model, with tools of about TOKENS tokens (4000); without MODEL, random models of three
shapes with few tools

compare.py finds llama.cpp; if it finds none, only Ingot is measured. Tokens are counted, so the load of this computer does not
matter."""

import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
import compare
from figures import print_table, write_csv
from machine import ASSETS, HOST

TURNS = 20
SHAPES = (("dense (Llama's shape)", "llama_gqa"), ("sliding windows (Gemma 4's shape)", "gemma4"), ("recurrent (Qwen3.5's shape)", "qwen35_gqa"))
KEPT_MIB = "256"


def tools(n):
    """n descriptions of tools, as clients of OpenAI's API send them."""
    verbs, things = ("read", "set", "list", "watch", "reset"), ("light", "heat", "door", "window", "fan", "oven", "tap", "clock", "camera", "alarm")
    names = [f"{verb}_{thing}" for thing in things for verb in verbs]
    return json.dumps([{"type": "function", "function": {
        "name": name, "description": f"{name.replace('_', ' ').capitalize()} of a room of the house. Use it only when somebody asks for it.",
        "parameters": {"type": "object", "properties": {"room": {"type": "string", "description": "the room's name, such as kitchen"},
                                                        "until": {"type": "string", "description": "a time such as 18:30"}}, "required": ["room"]}}}
        for name in names[:n]])


def ask(server, text):
    """(tokens of the prompt, tokens computed, text)"""
    reply, _ = server.ask("/v1/completions", prompt=text, max_tokens=6, temperature=0)
    usage = reply["usage"]
    return usage["prompt_tokens"], usage["prompt_tokens"] - usage["prompt_tokens_details"]["cached_tokens"], reply["choices"][0]["text"]


def run_agent(server, name, described):
    """Asks all turns; returns the result of ask() for each."""
    text, rows = f"Tools: {described}\nYou are {name}.", []
    for i in range(TURNS):
        text += f"\nuser: is room {i} lit?\nanswer:"
        rows.append(ask(server, text))
        text += f" turn {i}\ntool: {{\"lit\": {i % 2}}}"
    return rows


class Ingot(compare.Server):
    def __init__(self, model, context, kept):
        super().__init__([HOST, "serve", model, "--port", "0", "-c", str(context), "--together", "2", "-q", "--kept", kept, "--kept-mib", KEPT_MIB])

    go = compare.Ingot.go

    def __exit__(self, *_):
        self.process.terminate()  # before it ends, the server writes the prompts that its file lacks
        self.process.wait()
        super().__exit__()


def tell(start, described):
    """[tokens of all prompts, computed, of the second agent's first prompt, of the same after a restart]"""
    with start().go() as server:
        rows = [run_agent(server, name, described) for name in ("Anna", "Bert")]
    with start().go() as server:
        again = run_agent(server, "Bert", described)[0] if start.keeps else rows[0][0]
    return [sum(r[0] for agent in rows for r in agent), sum(r[1] for agent in rows for r in agent), rows[1][0][1], again[1], rows[1][0][0]]


class Starter:
    """Starts servers, one after the other; keeps: a restarted server still has the results that the previous server computed."""

    def __init__(self, make, keeps):
        self.make, self.keeps = make, keeps

    def __call__(self):
        return self.make()


def measure(label, gguf, described, context, has_peer):
    folder = tempfile.mkdtemp(prefix="agent-")
    try:
        model = os.path.join(folder, "model.ingot")
        subprocess.run([HOST, "pack", gguf, "-o", model, "-q"], check=True, timeout=compare.SECONDS)
        mine = tell(Starter(lambda: Ingot(model, context, os.path.join(folder, "kept")), True), described)
        other = tell(Starter(lambda: compare.Package(gguf, 1, context=2 * context, places=2), False), described) if has_peer else None
    finally:
        shutil.rmtree(folder)
    return [label, mine[0], mine[1], other[1] if other else "", f"{mine[2]} of {mine[4]}", other[2] if other else "", mine[3], other[3] if other else ""]


def peer_is_here():
    try:
        return compare.install_peer()
    except (compare.Skipped, compare.published.Problem, OSError, subprocess.SubprocessError) as reason:
        print(f"agent: llama.cpp is left out: {reason}", file=sys.stderr)
        return ""


def main():
    os.makedirs(compare.FOLDER, exist_ok=True)
    peer = peer_is_here()
    if len(sys.argv) > 1:
        n = int(sys.argv[2]) if len(sys.argv) > 2 else 4000
        jobs = [(os.path.basename(sys.argv[1]), sys.argv[1], tools(max(1, n // 95)), 2 * n)]
    else:
        jobs = [(label, os.path.join(ASSETS, f"arch/{name}.gguf"), tools(3), 2048) for label, name in SHAPES]
    rows = [measure(*job, bool(peer)) for job in jobs if os.path.exists(job[1])]
    if not rows:
        print("agent: skipped: no model is here; give one, or INGOT_ASSETS")
        return
    print_table(f"Tokens of prompts that two agents of {TURNS} turns with tools have, and that are computed, Ingot beside {peer or 'nobody'}; counted",
                ["model", "of prompts", "Ingot", "llama.cpp", "second agent's first turn: Ingot", "llama.cpp", "a restart's first turn: Ingot", "llama.cpp"], rows)
    write_csv("agent.csv", [("", row[0], "tokens computed", row[2], "tokens", "counted") for row in rows])


if __name__ == "__main__":
    main()
