#!/usr/bin/python3
"""Speculative decoding of a streamed model: text, ids and logits equal those of plain decoding on every machine, with fewer passes over the card.

With the stories model, the share of right guesses and the number of passes are figures of a real model. Without it, a made-up model is still
checked for equality."""

import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import (ARM64, ASSETS, HOST, LONG, RISCV64_ANY, ROOT, WORK, Reply, Tap, card_arguments, segments,
                     make_card, pack, run)

STORIES = os.path.join(ASSETS, "llama2c/stories260K.bin")
RANDOM = os.path.join(ASSETS, "synthetic/synthetic-llama-d256-F32.gguf")
TOKENS = 128 if LONG else 40
SPEC = {"plain": ["spec=off"], "auto": [], "ngram": ["spec=ngram"], "draft": ["draft=spec-draft"]}

tap = Tap()
real = os.path.exists(STORIES)


def synth(kind, name, seed):
    out = os.path.join(WORK, name)
    os.makedirs(WORK, exist_ok=True)
    run([HOST, "synth", "--shape", "tiny", "--type", kind, "--seed", str(seed), "-o", out])
    return out


def seed_of_a_long_text():
    """The first made-up model whose text has enough tokens for the comparison."""
    for seed in range(1, 100):
        model = synth("f32", "spec-target.ingot", seed)
        ids = Reply(run([HOST, "run", model, "-p", "", "--ids", "-n", str(TOKENS), "--temp", "0"])[1]).ids
        if ids and len(ids) == TOKENS:
            return seed
    sys.exit(f"speculative.t: no made-up model says {TOKENS} tokens")


if real:
    target, draft = pack(STORIES, "f32", "spec-target.ingot"), pack(STORIES, "q4_0", "spec-draft.ingot")
else:
    seed = seed_of_a_long_text()
    target, draft = synth("f32", "spec-target.ingot", seed), synth("q4_0", "spec-draft.ingot", seed)
limit = 2 * max(size for _, size in segments(target)[1:-1]) + 2 * 4096
card = make_card("spec-card.img", target, draft)


def words(extra):
    """(boot options for the image, flags for the host)"""
    return " ".join(["ids", f"n={TOKENS}"] + extra)


def flags(extra):
    out = ["--ids", "-n", str(TOKENS)]
    for word in extra:
        name, value = word.split("=", 1)
        if name == "draft":
            value = draft
        out += ["--" + name.replace("_", "-"), value]
    return out


def reply(machine, extra, cores=2):
    if machine == "host":
        status, console = run([HOST, "run", target, "-p", "", "-t", str(cores)] + flags(extra))
    else:
        status, console = machine.run(f'prompt="" model=spec-target cores={cores} ' + words(extra),
                                      cores, card_arguments(card))
    r = Reply(console)
    r.status = status
    return r


def name_of(machine):
    return machine if machine == "host" else machine.label


GREEDY = ["temp=0", f"mem={limit}"]
keys = [(m, s) for m in ("host", ARM64, RISCV64_ANY) for s in SPEC]
with ThreadPoolExecutor(os.cpu_count()) as pool:
    replies = dict(zip(keys, pool.map(lambda k: reply(k[0], GREEDY + SPEC[k[1]]), keys)))

for (machine, spec), r in replies.items():
    plain = replies[machine, "plain"]
    label = f"{name_of(machine)}, {spec}"
    base = replies["host", "plain"]
    tap.ok(r.status == 0 and r.ids == base.ids and r.hash == base.hash and r.ids and
           len(r.ids) == TOKENS and r.text == plain.text, label + ": the same ids, logits and text",
           r.console)
    read = r.figure(r"read ([\d.]+ \w+) a ")
    tap.ok(read is not None and read == r.figure(r"planned ([\d.]+ \w+)\)"),
           label + ": a pass reads the planned bytes", r.stats)
    if spec == "plain":
        tap.ok("guesses" not in r.stats, label + ": nothing is guessed", r.stats)
        continue
    passes = int(r.figure(r", (\d+) passes") or 0)
    share = r.figure(r"right \(([\d.]+) %\)")
    if real and spec == "draft":
        tap.ok(0 < passes * 2 <= TOKENS - 1,
               f"{label}: {passes} passes over the card for {TOKENS - 1} tokens, "
               f"{share} % of the guesses right", r.stats)
    else: # `auto` decides by measured time, which a test cannot control
        tap.ok(0 < passes <= TOKENS - 1, f"{label}: {passes} passes, {share} % right", r.stats)

# ---- at a temperature: n-grams change nothing, a draft depends on its seed -------------------------

WARM = ["temp=0.8", "seed=7", f"mem={limit}"]
plain, ngram, first, again = (reply("host", WARM + SPEC[s]) for s in
                              ("plain", "ngram", "draft", "draft"))
tap.ok(ngram.ids is not None and ngram.ids == plain.ids and ngram.hash == plain.hash,
       "temp=0.8, ngram: the ids of the same seed", ngram.console)
tap.ok(first.ids and first.ids == again.ids and first.hash == again.hash and
       first.status == 0, "temp=0.8, draft: equal seeds give equal texts", first.console)
resident, board = reply("host", WARM[:2] + SPEC["draft"], 1), reply(ARM64, WARM + SPEC["draft"])
tap.ok(resident.ids == first.ids and board.ids == first.ids,
       "temp=0.8, draft: resident and on virt-arm64, too", board.console)
if real:
    passes = int(first.figure(r", (\d+) passes") or 0)
    tap.ok(0 < passes * 2 <= TOKENS - 1, f"temp=0.8, draft: {passes} passes, "
           f"{first.figure(r'right .([0-9.]+) %')} % right", first.stats)

# ---- int8 keys and values, Q4_K --------------------------------------------------------------------

if os.path.exists(RANDOM):
    big = pack(RANDOM, "q4_k_m", "spec-random.ingot")
    small = pack(RANDOM, "q4_0", "spec-random-draft.ingot")
    mem = 2 * max(size for _, size in segments(big)[1:-1]) + (64 << 10)
    base = [HOST, "run", big, "-p", "abc", "-n", "64", "--temp", "0", "--ids", "--kv", "q8"]
    streamed = base + ["--mem", str(max(mem, segments(big)[0][1] // 4))]
    r = [Reply(run(c)[1]) for c in (base, streamed + ["--spec", "off"], streamed,
                                    streamed + ["--draft", small])]
    tap.ok(r[0].ids and all(x.ids == r[0].ids and x.hash == r[0].hash for x in r) and
           "streamed" in r[1].stats, "q4_k_m with kv=q8: the same ids and logits",
           "\n".join(x.console for x in r))
    tap.note(r[3].stats)
else:
    tap.skip("q4_k_m with kv=q8", "no " + RANDOM)

# ---- drafts that are refused ------------------------------------------------------------------------

status, console = run([HOST, "run", target, "-q", "-p", "", "--draft", "/no/such/draft.ingot"])
tap.ok(status == 1 and console.strip().count("\n") == 0 and "/no/such/draft.ingot" in console,
       "a draft that is not there: " + console.strip(), console)
if os.path.exists(RANDOM):
    status, console = run([HOST, "run", target, "-q", "-p", "", "--draft", small])
    tap.ok(status == 1 and console.strip().count("\n") == 0 and "its vocabulary differs from that of" in console,
           "a draft of another vocabulary: " + console.strip(), console)
status, console = ARM64.run('prompt="" n=4 model=spec-target draft=nothing', 1, card_arguments(card))
tap.ok(status is not None and re.search(r"warning: draft=nothing .* the card has no model nothing.*; no "
                                        r"draft is used", console) and
       re.search(r"\[\d+ prompt \+ 4 new", console) and "power off" in console,
       "no such draft on the card: one sentence, and the reply without one", console)
# Guesses by repetition that nobody requested stop if they save no time, here with a text that hardly repeats itself.
DEMO = os.path.join(ROOT, "models/demo-q8_0.ingot")
made = []
for seed in range(1, 5):
    hot = ["run", DEMO, "-p", "Tell me a story.", "-n", "400", "--temp", "2", "--top-p", "1", "--min-p", "0", "--seed", str(seed), "--mem", "600K"]
    auto, off = (run([HOST, *hot, *more])[1] for more in ([], ["--spec", "off"]))
    figures = re.search(r"(\d+) of (\d+) guesses right", auto)
    made.append((int(figures[1]), int(figures[2])) if figures else (0, 0))
    same = [re.sub(r"^\[.*", "", text, flags=re.M) for text in (auto, off)]
    tap.ok(same[0] == same[1], f"seed {seed}: the same text with guesses and without", same)
tap.ok(all(n <= 40 for right, n in made if right * 4 < n), "wrong guesses stop after some tens", made)
tap.done()
