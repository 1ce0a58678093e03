#!/usr/bin/env python3
"""Runs every client of docs/SERVE.md's table, unmodified, with `ingot serve`, and prints the table (`make clients`).

  table.py FOLDER INGOT MODEL [CLIENT...]   FOLDER: build/clients; exit status 1 if a case of an installed client fails
  table.py --check                          whether docs/SERVE.md has a row for each client, at the versions named here

A client's program prints a line for each case: CELL, CASE and `ok` or what went wrong, with tabs between them; a program with several
clients puts the client's name before it. A program gets the server's address without /v1."""

import glob
import json
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PAGE = os.path.join(HERE, "../../docs/SERVE.md")
CELLS = ("chat", "stream", "tools", "structured", "embeddings")
# Rows: the client, the program that drives it, and the package whose version the table shows, spelled as in the file
# that pins it.
ROWS = (("openai (Python)", "with_openai.py", "openai"), ("openai (Node)", "with_openai.mjs", "openai"), ("LlamaIndex", "with_llama_index.py", "llama-index-core"),
        ("Haystack", "with_haystack.py", "haystack-ai"), ("AutoGen", "with_autogen.py", "autogen-core"), ("outlines", "with_outlines.py", "outlines"),
        ("go-openai", "go", "sashabaranov/go-openai"), ("openai-go", "go", "openai/openai-go/v3"), ("async-openai", "rust", "async-openai"),
        ("langchain-openai", "with_langchain.py", "langchain-openai"), ("litellm", "with_litellm.py", "litellm"), ("llm", "with_llm.py", "llm"),
        ("instructor", "with_instructor.py", "instructor"), ("pydantic-ai", "with_pydantic_ai.py", "pydantic-ai-slim"),
        ("openai-agents", "with_agents.py", "openai-agents"), ("smolagents", "with_smolagents.py", "smolagents"),
        ("AI SDK (Vercel)", "with_ai_sdk.mjs", "ai"), ("langchain4j", "java", "langchain4j"), ("Spring RestClient", "java", "spring-web"),
        ("curl", "with_curl.sh", None))
PINS = {".py": "python.txt", ".mjs": "ai-sdk/package.json", "go": "go/go.mod", "rust": "rust/Cargo.toml", "java": "java/pom.xml"}
PATTERNS = {".py": r"^{}==(\S+)$", ".mjs": r'"{}": "([^"]+)"', "go": r"/{} v(\S+)$", "rust": r'^{} = .*version = "=([^"]+)"', "java": r"<artifactId>{}</artifactId><version>([^<]+)<"}


def kind_of(program):
    return os.path.splitext(program)[1] or program


def version(program, package):
    """The pinned version, empty if there is none."""
    if package is None:
        return ""
    with open(os.path.join(HERE, PINS[kind_of(program)]), encoding="utf-8") as f:
        return re.search(PATTERNS[kind_of(program)].format(re.escape(package)), f.read(), re.M).group(1)


class NotHere(Exception):
    """The reason why a client cannot run on this computer."""


def built(what, words, folder, **more):
    """Runs a compiler or a package's own client, which fetches the pinned packages."""
    if not shutil.which(words[0]):
        raise NotHere(f"{words[0]} is not installed")
    done = subprocess.run(words, cwd=os.path.join(HERE, folder), capture_output=True, text=True, timeout=3000, check=False, **more)
    if done.returncode != 0:
        raise NotHere(f"{what}: {' '.join((done.stderr or done.stdout).split())[-300:]}")


def go(folder):
    program = os.path.join(folder, "go-clients")
    built("go build", ["go", "build", "-o", program, "."], "go")
    return [program]


def rust(folder):
    target = os.path.join(folder, "rust")
    built("cargo build", ["cargo", "build", "-q"], "rust", env={**os.environ, "CARGO_TARGET_DIR": target})
    return [os.path.join(target, "debug/ingot-test-clients")]


def java(folder):
    into, jars = os.path.join(folder, "java"), os.path.join(folder, "java/jars")
    os.makedirs(into, exist_ok=True)
    if not glob.glob(jars + "/*.jar"):
        built("mvn", ["mvn", "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=" + jars], "java")
    built("javac", ["javac", "-cp", jars + "/*", "-d", into, "Clients.java"], "java")
    return ["java", "-cp", f"{jars}/*:{into}", "Clients"]


def node(folder, program):
    if not os.path.isdir(os.path.join(folder, "ai-sdk/node_modules/ai")) or not shutil.which("node"):
        raise NotHere("npm's packages are not installed: make setup-clients")
    return ["node", os.path.join(HERE, program)], [os.path.join(folder, "ai-sdk")]


def command(folder, program):
    """(arguments before the server's address, arguments after it)"""
    kind = kind_of(program)
    if kind == ".py":
        python = os.path.join(folder, "python/bin/python")
        if not os.path.exists(os.path.join(folder, "python/.from-python.txt")):
            raise NotHere("PyPI's packages are not installed: make setup-clients")
        return [python, os.path.join(HERE, program)], []
    if kind == ".mjs":
        return node(folder, program)
    if kind == ".sh":
        return ["sh", os.path.join(HERE, program)], []
    return {"go": go, "rust": rust, "java": java}[kind](folder), []


def run(words, base, after, default):
    """{client: {cell: [(case, result)]}} of a program."""
    found = {}
    try:
        done = subprocess.run([*words, base, *after], capture_output=True, text=True, timeout=900, check=False)
        out, last = done.stdout, f"status {done.returncode}: {' '.join(done.stderr.split())[-300:]}" if done.returncode else ""
    except subprocess.TimeoutExpired as error:
        out, last = (error.stdout or b"").decode(), "it took more than 900 s"
    for line in out.splitlines():
        parts = line.split("\t")
        if len(parts) in (3, 4) and parts[-3] in CELLS:
            found.setdefault(parts[0] if len(parts) == 4 else default, {}).setdefault(parts[-3], []).append(tuple(parts[-2:]))
    if last:
        found.setdefault(default, {}).setdefault("chat", []).append(("its program ends", last))
    return found


def cell(cases):
    bad = sum(why != "ok" for _, why in cases)
    return "-" if not cases else "ok" if bad == 0 else f"{bad} of {len(cases)} fail"


def row(name, shown_version, cells):
    """The table's line: the client, the cells that work (or "all"), then the failures."""
    good = [c for c, said in zip(CELLS, cells) if said == "ok"]
    failed = [f"{c}: {said}" for c, said in zip(CELLS, cells) if said not in ("ok", "-")]
    return f"| {f'{name} {shown_version}'.strip()} | {'all' if len(good) == len(CELLS) else ', '.join(good + failed)} |"


def head():
    return ["| client | works |", "|---|---|"]


def serving(ingot, model):
    # The model is so small that it repeats itself; a penalty keeps its answers short.
    server = subprocess.Popen([ingot, "serve", model, "--port", "0", "--token", "secret", "--temp", "0", "--repeat", "1.3", "-q"], stdout=subprocess.PIPE, text=True)
    return server, re.search(r"http://\S+", server.stdout.readline()).group(0)


def main(folder, ingot, model, *names):
    results, missing, folder = {}, {}, os.path.abspath(folder)
    server, base = serving(ingot, model)
    try:
        for program in dict.fromkeys(p for name, p, _ in ROWS if not names or name in names):
            clients = [name for name, p, _ in ROWS if p == program]
            print("#", ", ".join(clients), flush=True)
            try:
                before, after = command(folder, program)
                results.update(run(before, base, after, clients[0]))
            except NotHere as error:
                missing.update(dict.fromkeys(clients, str(error)))
    finally:
        server.kill()
        server.wait()
    print(f"model: {os.path.basename(model)}", *head(), sep="\n")
    good = shown = 0
    for name, program, package in ROWS:
        if names and name not in names:
            continue
        shown += 1
        cells = [cell(results.get(name, {}).get(c, [])) for c in CELLS] if name not in missing else ["not installed"] * len(CELLS)
        good += all(c in ("ok", "-") for c in cells) and name in results
        print(row(name, version(program, package), cells))
    for name, cells in results.items():
        for c, cases in cells.items():
            for case, why in cases:
                if why != "ok":
                    print(f"{name}, {c}, {case}: {why}")
    for name, why in missing.items():
        print(f"{name} cannot be tried here: {why}")
    print(f"clients: {good} of {shown} with every cell ok")
    return good + len(missing) != shown


def rows_of_page():
    with open(PAGE, encoding="utf-8") as f:
        return [line for line in f.read().split("<!-- table.py -->")[-1].split("<!-- end -->")[0].splitlines() if line.startswith("| ")][1:]


def check():
    """Prints each row that is missing on the page, or that the page has in addition."""
    have = {line.split("|")[1].strip() for line in rows_of_page()}
    want = {f"{name} {version(program, package)}".strip() for name, program, package in ROWS}
    for name in sorted(want ^ have):
        print(f"docs/SERVE.md: {'no row' if name in want else 'a row too many'}: {name}")
    return want != have


if __name__ == "__main__":
    sys.exit(check() if sys.argv[1:] == ["--check"] else main(*sys.argv[1:]))
