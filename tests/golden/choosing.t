#!/usr/bin/python3
"""`ingot plan --board`: its rooflines are compared with published rates. Also its refusals, and the tables of docs/CHOOSING.md, which must show the
program's results for made-up models of the real shapes. `choosing.t --write` puts the tables into the page."""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from boards import emulators, names, published, with_expected
from machine import HOST, ROOT, WORK, Tap

PAGE = os.path.join(ROOT, "docs/CHOOSING.md")
# a shape of `ingot synth`, and the folder on Hugging Face from which its config.json comes
MODELS = [("smollm2-135m", "HuggingFaceTB/SmolLM2-135M-Instruct"),
          ("gemma-3-270m", "google/gemma-3-270m-it"),
          ("smollm2-360m", "HuggingFaceTB/SmolLM2-360M-Instruct"),
          ("qwen2.5-0.5b", "Qwen/Qwen2.5-0.5B-Instruct"), ("qwen3-0.6b", "Qwen/Qwen3-0.6B"),
          ("gemma-3-1b", "google/gemma-3-1b-it"),
          ("tinyllama", "TinyLlama/TinyLlama-1.1B-Chat-v1.0"),
          ("llama-3.2-1b", "meta-llama/Llama-3.2-1B-Instruct"),
          ("smollm2-1.7b", "HuggingFaceTB/SmolLM2-1.7B-Instruct"),
          ("qwen3-1.7b", "Qwen/Qwen3-1.7B"), ("llama-3.2-3b", "meta-llama/Llama-3.2-3B-Instruct")]
with open(PAGE, encoding="utf-8") as page:
    PAGE_TEXT = page.read()
# Boards in the order of the page's columns.
BOARDS = sorted(((board, ram, title) for board, sizes in with_expected("FITS").items() for ram, title in sizes),
                key=lambda column: PAGE_TEXT.find(f"| {column[2]} |"))
PUBLISHED, EMULATORS = published(), emulators()
TYPE = "q4_k_m"


def ingot(*words):
    done = subprocess.run([HOST, *words], capture_output=True, text=True, timeout=60,
                          stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout, done.stderr


def path_of(shape):
    return os.path.join(WORK, f"choosing-{shape}.ingot")


def make(shape):
    return ingot("synth", "--shape", shape, "--type", TYPE, "--hollow", "-o", path_of(shape))


def plan(shape, board, ram, *more):
    """(residency, tokens a second or None, MiB read per token or 0, its whole output)"""
    status, out, err = ingot("plan", path_of(shape), "--board", board,
                             *(["--ram", ram] if ram else []), *more)
    residency = re.search(r"^weights +(\w+),", out, re.M)
    rate = re.search(r"^roofline +([\d.]+) tok/s", out, re.M)
    read = re.search(r"([\d.]+) ([MG])iB read for each token", out)
    amount = float(read[1]) * (1024 if read[2] == "G" else 1) if read else 0
    return (residency[1] if status == 0 and residency else None,
            float(rate[1]) if rate else None, amount, f"rc {status}\n{out}{err}")


def name_of(folder):
    return folder.split("/")[1]


def last_resident(cells):
    return [folder for (_, folder), text in zip(MODELS, cells) if text[-1].isdigit()][-1]


def cell(result):
    residency, rate, _, _ = result
    if residency is None:
        return "does not fit"
    text = f"{rate:.1f}" if rate >= 10 else f"{rate:.2f}" if rate >= 1 else f"{rate:.3f}"
    return text if residency == "resident" else text + " s"


def table():
    rows = ["| model | file | " + " | ".join(title for _, _, title in BOARDS) + " |",
            "|---|---|" + "---|" * len(BOARDS)]
    jobs = [(shape, board, ram) for shape, _ in MODELS for board, ram, _ in BOARDS]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        cells = [cell(result) for result in pool.map(lambda job: plan(*job), jobs)]
    for i, (shape, folder) in enumerate(MODELS):
        mib = os.path.getsize(path_of(shape)) / (1 << 20)
        mine = cells[i * len(BOARDS):(i + 1) * len(BOARDS)]
        rows.append(f"| {name_of(folder)} | {mib:.0f} MiB | " + " | ".join(mine) + " |")
    return rows + ["", "The largest model of the table that stays in memory:", ""] + [
        f"- {title}: {name_of(last_resident(cells[b::len(BOARDS)]))}"
        for b, (_, _, title) in enumerate(BOARDS)]


def commands():
    """The command that packs the first model from its folder."""
    return [f"ingot pack {name_of(folder)} -o {shape}.ingot --type {TYPE}"
            for shape, folder in MODELS[:1]]


def page(text):
    """The page with the program's output between its marks."""
    parts = {"speeds": table(), "commands": ["```sh", *commands(), "```"]}
    for name, lines in parts.items():
        text = re.sub(rf"(<!-- {name} -->\n).*?(<!-- end -->)",
                      lambda m: m[1] + "\n".join(parts[name]) + "\n" + m[2], text, flags=re.S)
    return text


os.makedirs(WORK, exist_ok=True)
tap = Tap()
made = [make(shape) for shape, _ in MODELS]
tap.ok(all(status == 0 for status, _, _ in made), "a hollow model of every shape", str(made))
with open(PAGE, encoding="utf-8") as f:
    now = f.read()
wanted = page(now)
if "--write" in sys.argv:
    with open(PAGE, "w", encoding="utf-8") as f:
        f.write(wanted)
    now = wanted
different = [line for line in wanted.split("\n") if line not in now.split("\n")]
tap.ok(now == wanted and "| SmolLM2-135M-Instruct |" in now,
       "docs/CHOOSING.md says what `ingot plan --board` says", "\n".join(different[:8]))
tap.ok(all(command in now for command in commands()), "docs/CHOOSING.md has the command of its first model")

# ---- rooflines from the rates ------------------------------------------------------------------

small = os.path.getsize(path_of("smollm2-135m"))
for board, (memory, card) in PUBLISHED.items():
    residency, rate, _, said = plan("smollm2-135m", board, "")
    tap.ok(residency == "resident" and abs(rate * small / (memory * 1e6) - 1) < .05 and
           f"memory      {memory / 1000:.3f} GB/s, published" in said,
           f"{board}: {rate} tok/s is the memory's rate over the bytes of weights", said)
    residency, rate, read, said = plan("smollm2-135m", board, "", "--mem", "40M")
    tap.ok(residency == "streamed" and read > 0 and
           abs(rate * read * (1 << 20) / (card * 1e6) - 1) < .05,
           f"{board}, streamed: {rate} tok/s is the card's rate over {read} MiB", said)
for board in EMULATORS:
    residency, rate, _, said = plan("smollm2-135m", board, "")
    tap.ok(residency == "resident" and rate is None and "emulator" in said,
           f"{board}: resident, and no rate", said)
    given = plan("smollm2-135m", board, "100M", "--mem-bw", "1G", "--card", "10M")
    tap.ok(given[0] == "streamed" and given[1] is not None and "as given" in given[3],
           f"{board}: rates and RAM that are given count", given[3])
status, out, _ = ingot("info", path_of("smollm2-135m"))
rows = re.findall(r"^(\S+) +([\d.]+) ([MG])iB +(resident|streamed) +\d+ +\S+ \S+ +(?:- |\S+ \S+) +(\S+)",
                  out, re.M)
tap.ok({row[0] for row in rows} == set(PUBLISHED) | set(EMULATORS) and
       [row[1] + row[2] for row in rows if row[0] == "rpi4"] == ["1.00G", "2.00G", "4.00G", "8.00G"],
       "info has a row for each size of each board", out)
for board in PUBLISHED:
    row = [r for r in rows if r[0] == board and r[2] == "G"][-1]
    tap.ok(float(row[4]) == plan("smollm2-135m", board, row[1].split(".")[0] + "G")[1],
           f"info says of {board} what plan says", str(row))

status, out, _ = ingot("help", "--bash-completion")
tap.ok(all(re.search(rf"compgen -W '[^']*\b{board}\b", out) for board in names()),
       "the shell completes each board's name", out[-3000:])

# ---- what is refused ---------------------------------------------------------------------------

for words, status, said in [
        (("--board", "foo"), 2, ["foo", "there are", *names()]),
        (("--board", "rpi5", "--ram", "3G"), 2, ["3.00 GiB", "rpi5", "2 GiB, 4 GiB, 8 GiB, 16 GiB"]),
        (("--board", "rpi4", "--macs", "8G"), 2, ["--macs", "cannot be combined with --board"]),
        (("--board", "rpi4", "--draft", "x"), 2, ["--draft", "cannot be combined"]),
        (("--board", "rpi4", "-t", "2"), 2, ["--threads", "cannot be combined"]),
        (("--board", "rpi3", "--mem", "1M"), 1, ["does not fit"])]:
    rc, out, err = ingot("plan", path_of("smollm2-135m"), *words)
    tap.ok(rc == status and all(word in err for word in said), f"{' '.join(words)}: {err.strip()[:90]}",
           f"{rc} {out} {err}")
rc, out, err = ingot("verify", path_of("smollm2-135m"))
tap.ok(rc == 1 and "embedding is damaged: its CRC does not match" in err,
       f"a hollow file is not a model: {err.split(chr(10))[0][-60:]}", err)
for shape, _ in MODELS:
    os.unlink(path_of(shape))
tap.done()
