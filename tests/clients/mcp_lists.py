#!/usr/bin/env python3
"""Tests `ingot serve` with the tool lists that public MCP servers print: each list is accepted as a whole, and forced calls of each tool, at
temperature 1.5, are valid according to PyPI's jsonschema.

  mcp_lists.py FOLDER INGOT MODEL [NAME...]   FOLDER: build/clients, MODEL: a folder of weights with a chat template. Exit status 1 if a list is not good

FOLDER/mcp-lists/NAME.json keeps what a server printed; `make clients` makes it again if the servers' versions have changed."""

import contextlib
import json
import os
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
CALLS = 20  # calls of each tool
TOKENS = 2000  # at most: a small model at that temperature writes strings and lists that do not end by themselves
SIDE_BY_SIDE = 5  # replies of one request
CONTEXT = 98304  # tokens: the largest list has 40,000
KEYS = {"FIRECRAWL_API_KEY": "none", "NOTION_TOKEN": "none", "GITHUB_PERSONAL_ACCESS_TOKEN": "none"}  # made-up keys, with which nothing is called


def servers(folder):
    """{name: command} of mcp.txt."""
    found = {}
    with open(os.path.join(HERE, "mcp.txt"), encoding="utf-8") as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                name, kind, program, *words = line.split()
                found[name] = [os.path.join(folder, "mcp/node_modules/.bin", program), *words] if kind == "npm" else \
                    [os.path.join(folder, "python/bin/python"), "-m", program, *words]
    return found


def lines(pipe, seconds):
    """Yields the process's lines of JSON, until the process ends or the time is up."""
    late, held = time.monotonic() + seconds, b""
    while time.monotonic() < late:
        if not select.select([pipe], [], [], late - time.monotonic())[0]:
            return
        piece = os.read(pipe.fileno(), 1 << 16)
        if not piece:
            return
        *whole, held = (held + piece).split(b"\n")
        for line in whole:
            with contextlib.suppress(ValueError):
                yield json.loads(line)


def listed(command):
    """The tools that a server lists, or None if it does not start."""
    try:
        server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={**os.environ, **KEYS}, bufsize=0)
    except OSError:
        return None

    def send(**message):
        server.stdin.write((json.dumps({"jsonrpc": "2.0", **message}) + "\n").encode())

    tools = []
    try:
        send(id=1, method="initialize", params={"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "ingot-tests", "version": "1"}})
        for message in lines(server.stdout, 60):
            if message.get("id") == 1 and "result" in message:
                send(method="notifications/initialized")
                send(id=2, method="tools/list", params={})
            elif message.get("id") == 2:
                tools += message["result"]["tools"]
                if not message["result"].get("nextCursor"):
                    return tools
                send(id=2, method="tools/list", params={"cursor": message["result"]["nextCursor"]})
        return None
    except (OSError, KeyError):
        return None
    finally:
        server.kill()
        server.wait()


def kept_lists(folder):
    """{name: tools or None}; lists of earlier runs are reused if the servers' versions are the same."""
    kept = os.path.join(folder, "mcp-lists")
    os.makedirs(kept, exist_ok=True)
    found = {}
    for name, command in servers(folder).items():
        path = os.path.join(kept, name + ".json")
        if not os.path.exists(path) and (tools := listed(command)) is not None:
            with open(path, "w", encoding="utf-8") as f:
                json.dump(tools, f, indent=1)
        with contextlib.suppress(OSError), open(path, encoding="utf-8") as f:
            found[name] = json.load(f)
        found.setdefault(name, None)
    return found


@contextlib.contextmanager
def serving(ingot, model):
    """The address of a server whose context is large enough for the largest list."""
    with tempfile.TemporaryDirectory() as work:
        shutil.copytree(model, os.path.join(work, "long"))
        path = os.path.join(work, "long/config.json")
        with open(path, encoding="utf-8") as f:
            config = json.load(f)
        with open(path, "w", encoding="utf-8") as f:
            json.dump({**config, "max_position_embeddings": CONTEXT}, f)
        packed = os.path.join(work, "long.ingot")
        subprocess.run([ingot, "pack", os.path.join(work, "long"), "-o", packed, "-q"], check=True, timeout=100)
        server = subprocess.Popen([ingot, "serve", packed, "--port", "0", "-q", "-c", str(CONTEXT)], stdout=subprocess.PIPE, text=True)
        try:
            yield re.search(r"http://\S+", server.stdout.readline()).group(0)
        finally:
            server.kill()
            server.wait()


def post(base, **body):
    asked = urllib.request.Request(base + "/v1/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(asked, timeout=600) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        return json.loads(error.read())


def offered(tool):
    """Turn a tool into a function, like MCP's own client packages."""
    return {"type": "function", "function": {"name": tool["name"], "description": tool.get("description", ""), "parameters": tool["inputSchema"]}}


def asked(base, tools, **more):
    return post(base, messages=[{"role": "user", "content": "Go on."}], tools=[offered(t) for t in tools], **more)


def wrong_calls(base, tool):
    """The reason why one of CALLS forced calls of a tool is not valid, or None. Even a call that ends at max_tokens must be
    complete."""
    import jsonschema
    validator = jsonschema.validators.validator_for(tool["inputSchema"])(tool["inputSchema"])
    for seed in range(CALLS // SIDE_BY_SIDE):
        r = asked(base, [tool], n=SIDE_BY_SIDE, temperature=1.5, seed=seed, max_tokens=TOKENS, tool_choice={"type": "function", "function": {"name": tool["name"]}})
        if "choices" not in r:
            return r["error"]["message"]
        for choice in r["choices"]:
            arguments = choice["message"]["tool_calls"][0]["function"]["arguments"]
            try:
                for error in validator.iter_errors(json.loads(arguments)):
                    return f"{error.json_path}: {error.message}"[:300]
            except ValueError as error:
                return f"{choice['finish_reason']}: {error}: {arguments[-100:]}"
    return None


def good_list(base, tools):
    """The reason why a list is not good, or None."""
    r = asked(base, tools, max_tokens=1)
    if "choices" not in r:
        return "as a whole: " + r["error"]["message"]
    for tool in tools:
        if why := wrong_calls(base, tool):
            return f"{tool['name']}: {why}"
    return None


def main():
    folder, ingot, model, *names = sys.argv[1:]
    folder = os.path.abspath(folder)
    lists = {name: tools for name, tools in kept_lists(folder).items() if not names or name in names}
    good = 0
    with serving(ingot, model) as base:
        for name, tools in lists.items():
            began = time.monotonic()
            why = "it does not start here" if tools is None else good_list(base, tools)
            good += why is None
            print(f"{name}: {'ok' if why is None else why} ({len(tools or [])} tools, {time.monotonic() - began:.0f} s)", flush=True)
    print(f"tool lists of MCP servers: {good} of {len(lists)}")
    return good != len(lists)


if __name__ == "__main__":
    sys.exit(main())
