#!/usr/bin/python3
"""Compares Ingot with llama.cpp on this computer, with the models of models/published.ini,
in one table (docs/experiments/beside-llama-cpp.md says how to read it).

usage: compare.py [MODEL ...]   names of models/published.ini (default: smollm2-135m gemma3-270m)

llama.cpp is the package $COMPARE_WITH (default: the newest xllamacpp that pip finds), or the program $LLAMA_SERVER. Both programs read the same
GGUF; Ingot packs it without changing its types. Both serve HTTP and answer the same requests alternately, $COMPARE_RUNS=7 of each; the
client measures the time. The package is built for AVX2; if this CPU has more, Ingot is measured twice: with all of it, and with only AVX2.

If the network, the package or a model is missing, compare.py says so and exits with 0. On a busy computer it exits with 1, unless ANYWAY=1.
README=yes writes the ratios into README.md, unless the computer was busy."""

import array
import datetime
import glob
import json
import math
import os
import random
import re
import select
import statistics
import subprocess
import sys
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, ".."), os.path.join(HERE, "../../toolchain")]
import published
from figures import print_table, write_csv
from machine import BUILD, HOST, ROOT, VERSION
from tokens import cpu_name

FOLDER = os.path.join(BUILD, "compare")
PACKAGES = os.path.join(FOLDER, "python")
RUNS = int(os.environ.get("COMPARE_RUNS", "7"))
STARTS = min(5, RUNS)
CONTEXT = 1024
SHORT, NEW = 16, 64  # for decode: tokens of the prompt, new tokens after the first
POSITIONS = range(24, 385, 24)  # positions in the text at which the next token's distribution is compared
TEXT = "docs/decisions/*.md"
BUSY = 0.05  # the share that other programs may take of this computer
SECONDS = 300


class Skipped(Exception):
    """The reason why nothing can be compared."""


# ---- this computer -----------------------------------------------------------------------------

def ticks():
    """(all, busy) ticks of all processors; ticks that the host of a virtual machine took count as busy."""
    with open("/proc/stat", encoding="ascii") as f:
        spent = [int(word) for word in f.readline().split()[1:9]]
    return sum(spent), sum(spent) - spent[3] - spent[4]


def own_ticks():
    """The processor time of this program and of the servers that ended."""
    return sum(os.times()[:4]) * os.sysconf("SC_CLK_TCK")


class Others:
    """Measures the share of this computer that other programs take after this object is created. No server may run when the object is
    created, or when the share is read."""

    def __init__(self):
        self.first, self.own = ticks(), own_ticks()

    def share(self):
        now = ticks()
        return max(0.0, (now[1] - self.first[1] - (own_ticks() - self.own)) / max(1, now[0] - self.first[0]))


def check_at_rest():
    others = Others()
    time.sleep(3)
    share = others.share()
    if share <= BUSY:
        return
    said = f"others use {100 * share:.0f} % of this computer"
    if os.environ.get("ANYWAY") != "1":
        sys.exit(f"compare: {said}, so that figures would tell of them: end them, or give ANYWAY=1")
    print(f"compare: {said}; the figures below are of a busy computer", file=sys.stderr)


# ---- what is compared --------------------------------------------------------------------------

def install_peer():
    """Install llama.cpp into build/compare; returns its name and version."""
    if os.environ.get("LLAMA_SERVER"):
        done = subprocess.run([os.environ["LLAMA_SERVER"], "--version"], capture_output=True, text=True, check=False, timeout=60)
        return "llama.cpp " + " ".join(re.findall(r"^version: (.*)$", done.stdout + done.stderr, re.M))
    package = os.environ.get("COMPARE_WITH", "xllamacpp")
    done = subprocess.run([*published.pip(), "install", "--quiet", "--upgrade", "--only-binary", ":all:", "--no-deps", "--target", PACKAGES, package],
                          capture_output=True, text=True, check=False, timeout=SECONDS)
    if done.returncode != 0 and not os.path.isdir(PACKAGES):
        last = (done.stderr.strip() or "pip gave no reason").splitlines()[-1]
        raise Skipped(f"pip does not install {package}, llama.cpp for Python: {last}")
    done = subprocess.run([sys.executable, "-c", "import xllamacpp; print(xllamacpp.__version__)"], capture_output=True, text=True,
                          check=False, timeout=60, env={**os.environ, "PYTHONPATH": PACKAGES})
    if done.returncode != 0:
        raise Skipped(f"xllamacpp does not start: {(done.stderr.strip() or 'without a reason').splitlines()[-1]}")
    return f"llama.cpp (package xllamacpp {done.stdout.strip()})"


def gguf_of(name):
    path = os.path.join(FOLDER, name + ".gguf")
    try:
        published.fetch(name, path)
    except (published.Problem, OSError) as problem:
        raise Skipped(f"{name}: {problem}") from None
    return path


def packed(gguf, kind=None):
    path = gguf.removesuffix(".gguf") + (f"-{kind}" if kind else "") + ".ingot"
    if not os.path.exists(path) or os.path.getmtime(path) < max(os.path.getmtime(gguf), os.path.getmtime(HOST)):
        subprocess.run([HOST, "pack", gguf, "-o", path, "-q"] + (["--type", kind] if kind else []), check=True, timeout=SECONDS)
    return path


class Server:
    """A program that serves a model. go() loads the model: a cold start is measured from there."""

    def __init__(self, command, env=None):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=env)
        self.base, self.address, self.system = 0, None, ""

    def line(self):
        if not select.select([self.process.stdout], [], [], SECONDS)[0]:
            raise Skipped(f"{self.process.args[0]} says nothing for {SECONDS} s")
        return self.process.stdout.readline()

    def ask(self, path, **body):
        """(reply, seconds)"""
        request = urllib.request.Request(self.address + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
        start = time.perf_counter()
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            reply = answer.read()
        return json.loads(reply), time.perf_counter() - start

    def complete(self, prompt, n):
        """(tokens of the reply, seconds)"""
        reply, seconds = self.ask("/v1/completions", prompt=prompt, max_tokens=n, temperature=0, cache_prompt=False)
        if reply["usage"]["prompt_tokens"] != len(prompt):
            sys.exit(f"compare: {self.process.args[0]} took {reply['usage']['prompt_tokens']} tokens for {len(prompt)}")
        return reply["usage"]["completion_tokens"], seconds

    def memory(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as f:
            return 1024 * int(re.search(r"^VmHWM:\s+(\d+)", f.read(), re.M).group(1)) - self.base

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


class Ingot(Server):
    def __init__(self, gguf, threads, isa=None):
        super().__init__([HOST, "serve", packed(gguf), "--port", "0", "-t", str(threads), "-c", str(CONTEXT), "--together", "1",
                          "--kept-mib", "0", "-q"] + (["--isa", isa] if isa else []))

    def go(self):
        self.address = re.search(r"http://[\d.:]+", self.line()).group(0)
        return self


class Package(Server):
    """llama.cpp in Python. The time and memory that Python takes before the library is loaded are not counted."""

    def __init__(self, gguf, threads, warm_up=True, context=CONTEXT, places=1):
        super().__init__([sys.executable, os.path.join(HERE, "compare_peer.py"), gguf, str(threads), str(context), str(places), str(int(warm_up))],
                         {**os.environ, "PYTHONPATH": PACKAGES})
        said = self.line().split(None, 2)
        self.base, self.system = int(said[1]), said[2].strip()

    def go(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        self.address = self.line().strip()
        return self


class Program(Server):
    """A llama-server that the user built."""

    def __init__(self, gguf, threads, warm_up=True):
        self.port = random.randrange(20000, 60000)
        super().__init__([os.environ["LLAMA_SERVER"], "-m", gguf, "-t", str(threads), "-c", str(CONTEXT), "-np", "1", "--port", str(self.port),
                          "--no-webui"] + ([] if warm_up else ["--no-warmup"]))
        self.system = "as it was built"

    def go(self):
        self.address = f"http://127.0.0.1:{self.port}"
        late = time.monotonic() + SECONDS
        while time.monotonic() < late:
            try:
                with urllib.request.urlopen(self.address + "/health", timeout=SECONDS):
                    return self
            except OSError:
                time.sleep(0.002)
        raise Skipped(f"{os.environ['LLAMA_SERVER']} does not serve")


def makers(gguf, threads):
    """[(name, call that starts a server)]; the first is what the others are compared with."""
    peer = Program if os.environ.get("LLAMA_SERVER") else Package
    rows = [("llama.cpp", lambda warm=True: peer(gguf, threads, warm)), ("Ingot", lambda warm=True: Ingot(gguf, threads))]
    if "avx512" in cpu_flags() and not os.environ.get("LLAMA_SERVER"):
        rows.append(("Ingot, AVX2", lambda warm=True: Ingot(gguf, threads, "avx2")))
    return rows


def cpu_flags():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        return " ".join(re.findall(r"^flags\s*: (.*)$", f.read(), re.M)[:1])


# ---- figures -----------------------------------------------------------------------------------

PROMPTS = random.Random(47)


def new_prompt(n):
    """Makes a prompt that no earlier request had, so that no server can reuse earlier results."""
    return [PROMPTS.randrange(1000, 40000) for _ in range(n)]


def prefill(server, prompt):
    """Prompt tokens per second; the time includes the first new token."""
    return len(prompt) / server.complete(prompt, 1)[1]


def decode(server, prompts):
    """New tokens per second, from two requests with prompts of the same length: the second asks for NEW more tokens."""
    _, first = server.complete(prompts[0], 1)
    n, seconds = server.complete(prompts[1], 1 + NEW)
    return (n - 1) / (seconds - first) if n > NEW // 4 and seconds > first else math.nan


def first_token(make, prompt):
    """Seconds from the start of a program to its first new token, with a prompt of 64 tokens."""
    start = time.perf_counter()
    with make(False) as server:
        if server.base:
            start = time.perf_counter()  # Python's own start is not counted
        server.go().complete(prompt, 1)
        return time.perf_counter() - start


def rounds(servers):
    """{figure: a list of rounds, each with a value for each server}; the servers take turns."""
    found = {"decode, tok/s": [], "prefill of 64, tok/s": [], "prefill of 512, tok/s": []}
    for turn in range(RUNS):
        progress(f"turn {turn + 1} of {RUNS}")
        pair, short, long = [new_prompt(SHORT) for _ in range(2)], new_prompt(64), new_prompt(512)
        found["decode, tok/s"].append([decode(s, pair) for s in servers])
        found["prefill of 64, tok/s"].append([prefill(s, short) for s in servers])
        found["prefill of 512, tok/s"].append([prefill(s, long) for s in servers])
    return found


def log_sum(logits):
    most = max(logits)
    return most + math.log(sum(math.exp(value - most) for value in logits))


def logits_at(model, ids):
    """Log probabilities after each of POSITIONS tokens."""
    path = os.path.join(FOLDER, "logits.f32")
    subprocess.run([HOST, "logits", model, "--tokens", " ".join(map(str, ids)), "--no-bos", "-n", "0", "-o", path, "-q", "-c", str(CONTEXT)],
                   check=True, capture_output=True, timeout=SECONDS)
    vocabulary = os.path.getsize(path) // 4 // len(ids)
    rows = []
    with open(path, "rb") as f:
        for n in POSITIONS:
            f.seek(4 * vocabulary * (n - 1))
            row = array.array("f", f.read(4 * vocabulary))
            total = log_sum(row)
            rows.append([value - total for value in row])
    os.remove(path)
    return rows


def peer_logits_at(server, ids, vocabulary):
    """Log probabilities from llama.cpp's server, which returns those of all tokens on request."""
    rows = []
    for n in POSITIONS:
        reply, _ = server.ask("/completion", prompt=ids[:n], n_predict=1, n_probs=vocabulary, temperature=0)
        row = [-math.inf] * vocabulary
        for token in reply["completion_probabilities"][0]["top_logprobs"]:
            row[token["id"]] = token["logprob"]
        rows.append(row)
    return rows


def divergence(exact, other):
    """The mean of KL(exact || other) over positions, in nats; if the other server gives a probability as 0, it counts as
    e^-60."""
    return statistics.fmean(sum(math.exp(p) * (p - max(q, -60)) for p, q in zip(*rows)) for rows in zip(exact, other))


def text_ids(model):
    text = ""
    for path in sorted(glob.glob(os.path.join(ROOT, TEXT))):
        with open(path, encoding="utf-8") as f:
            text += f.read()
    text = text[:4 * max(POSITIONS) + 4000]
    done = subprocess.run([HOST, "tokenize", model, "--ids"], input=text, capture_output=True, text=True, check=True, timeout=60)
    return [int(word) for word in done.stdout.split()][:max(POSITIONS)]


def divergences(gguf, servers):
    """How far each server's probabilities are from those of the same weights computed in F32."""
    ids = text_ids(packed(gguf))
    exact = logits_at(packed(gguf, "f32"), ids)
    mine = divergence(exact, logits_at(packed(gguf), ids))
    return [divergence(exact, peer_logits_at(servers[0], ids, len(exact[0])))] + [mine] * (len(servers) - 1)


# ---- the table ---------------------------------------------------------------------------------

def three(value):
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def row_of(model, threads, figure, values, less_is_better=False):
    """A row of medians and ratios; a ratio is the median of the rounds' ratios, and is above 1 if Ingot is better."""
    medians = [statistics.median(v for v in column if not math.isnan(v)) for column in zip(*values)]
    ratios = []
    for i in range(1, len(medians)):
        pairs = [(v[0] / v[i] if less_is_better else v[i] / v[0]) for v in values if not math.isnan(v[0] + v[i])]
        ratios.append(statistics.median(pairs))
    return [model, threads, figure, three(medians[0])] + [cell for i, ratio in enumerate(ratios) for cell in (three(medians[i + 1]), f"{ratio:.2f}")]


def progress(text):
    print(f"  {time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def compare(model, gguf, threads, told):
    progress(f"{model}, {threads} threads")
    make = makers(gguf, threads)
    servers = [start().go() for _, start in make]
    try:
        for server in servers:
            server.complete(new_prompt(512), 8)  # not counted, because pages and cores are new to the server
        rows = [row_of(model, threads, figure, values) for figure, values in rounds(servers).items()]
        memory = [[server.memory() / 2**20 for server in servers]]
        if threads == 1:
            told.append(servers[0].system)
            progress("KL divergence")
            try:
                rows.append(row_of(model, "any", "KL from F32, nats", [divergences(gguf, servers)], True))
            except (OSError, LookupError) as reason:  # $LLAMA_SERVER may have another API
                progress(f"KL divergence is left out: the server does not give the probabilities of all tokens: {reason}")
    finally:
        for server in servers:
            server.__exit__()
    starts = []
    for turn in range(STARTS):
        progress(f"cold start {turn + 1} of {STARTS}")
        prompt = new_prompt(64)
        starts.append([first_token(start, prompt) for _, start in make])
    rows.append(row_of(model, threads, "first token of a cold start, s", starts, True))
    rows.append(row_of(model, threads, "peak memory, MiB", memory, True))
    return rows, [name for name, _ in make]


HEADING, NEXT = "## Compared with llama.cpp", "## Status"
SHOWN = ("decode", "prefill of 64", "prefill of 512")


def section(day, cpu, cores, version, peer, names, rows):
    """README's section: the ratios of SHOWN figures for each model, each number of threads and each way to run Ingot, whether Ingot is ahead or not.
    rows are those of compare(); names are those of makers(), and names[0] is what the others are compared with."""
    lines = [HEADING, "", f"The table has the speed of Ingot {version} divided by the speed of {peer}. Both programs served the same files alternately on {day} ({cpu}, {cores} cores).",
             "A figure above 1 means that Ingot is faster, below 1 that llama.cpp is. [docs/experiments/beside-llama-cpp.md](docs/experiments/beside-llama-cpp.md) says how it is measured; `make compare` repeats it.", "",
             "| model | threads | program | " + " | ".join(SHOWN) + " |", "|---|---|---|" + "---|" * len(SHOWN)]
    for model, threads in dict.fromkeys((row[0], row[1]) for row in rows if row[1] != "any"):
        cells = {row[2].split(",")[0]: row for row in rows if row[:2] == [model, threads]}
        for i, name in enumerate(names[1:]):
            lines.append(f"| {model} | {threads} | {name} | " + " | ".join(cells[figure][5 + 2 * i] if figure in cells else "" for figure in SHOWN) + " |")
    return "\n".join(lines) + "\n\n"


def put_section(text, new):
    """README with the section, which replaces the old section or stands before the heading NEXT."""
    before, _, rest = text.partition("\n" + HEADING + "\n")
    if rest:
        return before + "\n" + new + rest[rest.index("\n" + NEXT) + 1:]
    at = text.index("\n" + NEXT) + 1
    return text[:at] + new + text[at:]


def write_readme(new):
    path = os.path.join(ROOT, "README.md")
    with open(path, encoding="utf-8") as f:
        text = f.read()
    with open(path, "w", encoding="utf-8") as f:
        f.write(put_section(text, new))
    print("\nREADME.md has the ratios now")


def main():
    models = sys.argv[1:] or ["smollm2-135m", "gemma3-270m"]
    os.makedirs(FOLDER, exist_ok=True)
    try:
        peer = install_peer()
    except (Skipped, published.Problem, OSError, subprocess.SubprocessError) as reason:
        print(f"compare: skipped: {reason}")
        return
    check_at_rest()
    others, rows, names, told = Others(), [], [], []
    for model in models:
        try:
            gguf = gguf_of(model)
        except Skipped as reason:
            print(f"compare: skipped: {reason}", file=sys.stderr)
            continue
        for threads in (1, 2):
            try:
                more, names = compare(model, gguf, threads, told)
            except (Skipped, OSError) as reason:
                print(f"compare: {model} with {threads} threads is left out: {reason}", file=sys.stderr)
                continue
            for row in more:
                progress(" | ".join(map(str, row)))
            rows += more
    if not rows:
        print("compare: skipped: no model is here")
        return
    share = others.share()
    print_table(f"{datetime.date.today()}, {cpu_name()}, {os.cpu_count()} cores, others used {100 * share:.0f} % of them: Ingot {VERSION} beside {peer} ({told[0]}); "
                f"medians of {RUNS} by turns, ratios above 1 are for Ingot",
                ["model", "threads", "figure", names[0]] + [cell for name in names[1:] for cell in (name, f"{name} / {names[0]}")], rows)
    write_csv("compare.csv", [(cpu_name(), f"{row[0]}, {row[1]} threads", f"{row[2]}: {name}", row[3 + max(0, 2 * i - 1)], "", "native")
                              for row in rows for i, name in enumerate(names)])
    if share > BUSY:
        print(f"\nOthers used {100 * share:.0f} % of this computer: run it again at rest before you quote it.")
    elif os.environ.get("README"):
        write_readme(section(datetime.date.today(), cpu_name(), os.cpu_count(), VERSION, peer, names, rows))


if __name__ == "__main__":
    main()
