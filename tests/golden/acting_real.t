#!/usr/bin/python3
"""Tests how a small published model acts, though it was not trained to act: SmolLM2-135M-Instruct gets the sentences of acting/sentences.txt. Half
of them were used to write rules and prompts (tuned); the other half was only measured (untouched). In mode=json the events show what the model
does. `make acting-real` shows every row that went wrong; -v shows every row; a word, such as `tuned`, chooses rows. Without such a word, and
without LONG=1, the untouched half is used."""

import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
from machine import HOST, LONG, Tap, run

BUILD = os.environ.get("INGOT_BUILD", "build")
MODEL = os.path.join(BUILD, "models/published/smollm2-135m.ingot")
TABLES = {"home": "light:17,fan:4,door:5:in", "garden": "lamp:2,radio:3,pump:6,window:7:in",
          "shop": "red_led:2,siren:3,gate:8:in"}
AT_LEAST, AT_MOST = 0.75, 1 / 50  # share of right answers in the untouched half; share of unrequested switching


def rows_of(path):
    """[(half, table, sentence, what must be done, what may be done)]"""
    out = []
    for line in open(path, encoding="utf-8"):
        if line.strip() and not line.startswith("#"):
            half, table, sentence, what = [cell.strip() for cell in line.split("|")]
            cells = [w.strip() for w in what.split(",") if w.strip() != "-"]
            out.append((half, table, sentence, {c for c in cells if c[0] != "?"}, {c.lstrip("?") for c in cells}))
    return out


def done_of(text):
    """[{NAME=VALUE or NAME}] of the events, a set for each request."""
    out, now = [], set()
    for e in (json.loads(line) for line in text.split("\n") if line.startswith('{"event":')):
        if e["event"] == "action" and e["done"]:
            value = e["arguments"].get("value")
            now.add(f"{e['name']}={value}" if value else e["name"])
        elif e["event"] == "done":
            out.append(now)
            now = set()
    return out


def ask(table, sentences, reset=True):
    lines = "".join(json.dumps({"prompt": s, "reset": reset, "n": 1}) + "\n" for s in sentences)
    status, text = run([HOST, "chat", MODEL, "--json", "--pins", TABLES[table], "--temp", "0", "--actions-minute", "0", "-c", "1024"],
                       stdin=lines.encode())
    return done_of(text), status, text


def is_wrong(row, did):
    """True if something was switched that was not requested."""
    return any("=" in d and d not in row[4] for d in did)


def is_right(row, did):
    """True if everything requested was done, and nothing else was switched; additional readings are allowed."""
    return row[3] <= did and not is_wrong(row, did)


def measure(rows):
    """[(row, what was done)]"""
    out = []
    for table in TABLES:
        of = [r for r in rows if r[1] == table]
        did, status, text = ask(table, [r[2] for r in of])
        if status != 0 or len(did) != len(of):
            raise RuntimeError(f"{table}: {len(did)} replies to {len(of)} requests: {text[-800:]}")
        out += list(zip(of, did))
    return out


def main():
    tap = Tap()
    if not os.path.exists(MODEL):
        print("1..0 # SKIP SmolLM2-135M is not there: make model NAME=smollm2-135m brings it")
        return
    verbose, chosen = "-v" in sys.argv, [a for a in sys.argv[1:] if a != "-v"] or (["tuned"] if LONG else []) + ["untouched"]
    rows = rows_of(os.path.join(HERE, "acting/sentences.txt"))
    for half in chosen:
        of = measure([r for r in rows if r[0] == half])
        right, wrong = sum(is_right(*r) for r in of), sum(is_wrong(*r) for r in of)
        for row, did in of:
            if verbose or not is_right(row, did):
                print(f"#   {'right' if is_right(row, did) else 'WRONG' if is_wrong(row, did) else 'missed'} | {row[2]} | "
                      f"{', '.join(sorted(row[3])) or '-'} | {', '.join(sorted(did)) or '-'}")
        tap.ok(len(of) >= 50 and right >= AT_LEAST * len(of), f"{half}: {right} of {len(of)} are right")
        tap.ok(wrong <= AT_MOST * len(of), f"{half}: {wrong} of {len(of)} switch something that was not asked for")
    tap.done()


if __name__ == "__main__":
    main()
