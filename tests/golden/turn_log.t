#!/usr/bin/python3
"""The loop from a conversation to an adapter and back: a board keeps its turns on the card, `ingot log` reads them, models/training/lora.py trains on
them, `ingot adapter` packs the result, and with it on the card the same board answers differently."""

import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
sys.path.insert(0, os.path.join(HERE, "../../models/training"))
from machine import ARM64, HOST, LONG, RISCV64, ROOT, WORK, Tap, make_board_card
from machine import make_card as make_test_card
from talk import Console, sd_drive
from tokenizer import END, START, read_tokenizer

try:
    import numpy
    MISSING = None
except ImportError:
    MISSING = "python3-numpy is not installed"

MODEL = os.path.join(ROOT, "models/demo-q8_0.ingot")
FOLDER = os.path.join(ROOT, "models/demo")
LORA = os.path.join(ROOT, "models/training/lora.py")
TEACHERS = "fox owl bear mouse goat duck frog hedgehog cat dog hare lamb crow badger otter beaver".split()
ASKED = "wolf pig hen horse goose squirrel mole deer donkey turtle".split()
SUMS = [(a, b) for a in (2, 5, 9) for b in (3, 4, 8)]
tap = Tap()


def work(name):
    return os.path.join(WORK, "turn-log-" + name)


def run(*command, timeout=300):
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, errors="replace")
    return done.returncode, done.stdout, done.stderr


def make_card(machine, name, **variables):
    """A card like that of `make card`, in a size that QEMU's SD card accepts."""
    out, _ = make_board_card(machine.board, f"turn-log-{name}-{machine.board}.img", MODEL=MODEL, **variables)
    os.truncate(out, 1 << (os.path.getsize(out) - 1).bit_length())
    return out


def make_card_with(adapter):
    room = work("room")
    with open(room, "wb") as f:
        f.truncate(1 << 20)
    return make_test_card("turn-log-back.img", "--power-of-two", "--root", room + ":ingot.log", "--root",
                          f"{adapter}:adapters/{os.path.basename(adapter)}", MODEL)


def rows_of(source):
    status, out, err = run(HOST, "log", source)
    return [json.loads(line) for line in out.splitlines()] if status == 0 else [], err


# ---- turns on a card ------------------------------------------------------------------------------

def talk(machine, card, lines, words="log=on ids temp=0 n=12"):
    """Type the lines; returns the console's text after each. The power goes off at the end."""
    with Console(machine, words, sd_drive(machine.board, card)) as c:
        said = [c.prompt()] + [c.say(line) for line in lines]
        c.send("/off\r")
        c.expect("power off")
    return said


def turns_are_kept(machine):
    card = make_card(machine, "turns", LOG="1")
    said = talk(machine, card, ["What is 3 plus 4?", "/good", 'Say "a\\b"', "/undo", "/bad"])
    rows, err = rows_of(card)
    shown = [re.search(r"ids:([ \d]+)", s) for s in said]
    ids = [[int(i) for i in found.group(1).split()] for found in shown if found]
    tap.ok(len(rows) == 5 and [r["n"] for r in rows] == [1, 2, 3, 4, 5] and
           rows[0]["user"] == "What is 3 plus 4?" and rows[0]["reply"] in said[1] and rows[0]["end"] == "end" and
           rows[1] == {"n": 2, "of": 1, "rating": "good"} and rows[2]["user"] == 'Say "a\\b"' and
           rows[3] == {"n": 4, "of": 3, "rating": "undone"}, f"{machine.board}: the log has two turns and their ratings",
           f"{rows} {err} {said}")
    tap.ok(len(ids) == 2 and [r["ids"][r["reply_at"]:] for r in rows if "ids" in r] == ids and
           rows[2]["start"] == len(rows[0]["ids"]), "with the tokens that the board chose", f"{rows} {ids}")
    tap.ok(rows[4:] == [{"n": 5, "of": 1, "rating": "bad"}], "after /undo a rating is of the turn before", f"{rows} {said[5]}")
    said = talk(machine, card, ["hello"], "log=on temp=0 n=3 system=\"Be brief.\"")
    rows, _ = rows_of(card)
    tap.ok("last number: 5" in said[0] and len(rows) == 6 and rows[5]["system"] == "Be brief." and
           rows[5]["end"] == "limit" and rows[5]["start"] == 0, "another start continues the log", f"{rows} {said[0]}")
    return rows[:4]


def without_room():
    card = make_card(ARM64, "none")
    said = talk(ARM64, card, ["hello"], "log=on temp=0 n=3")
    tap.ok("log=on has no effect: the card has no ingot.log: `make card LOG=4`" in said[0],
           "a card without room for it says how to make one", said[0])
    _, err = rows_of(card)
    tap.ok("has no ingot.log: `ingot card --log 4` makes one" in err, "`ingot log` says how to make room for the log, too", err)
    status, out, err = run(HOST, "log", MODEL)
    tap.ok(status == 1 and out == "" and "neither a card nor the ingot.log of one" in err, "another file is not taken for a log without a line", err)
    zeros = os.path.join(WORK, "turn-log-zeros")
    with open(zeros, "wb") as f:
        f.truncate(1 << 20)
    status, _, err = run(HOST, "log", zeros)
    tap.ok(status == 0 and "no turn is logged there yet" in err, "a file without a line says so", err)


# ---- training -------------------------------------------------------------------------------------

def gradients_are_right():
    """Gradients of a Llama of two layers in binary64: every number is compared with differences of the loss."""
    from lora_llama import MATRICES, Llama
    draw = numpy.random.default_rng(3)
    width, hidden = 8, 12
    shapes = {"q_proj": (16, width), "k_proj": (8, width), "v_proj": (8, width), "o_proj": (width, 16),
              "gate_proj": (hidden, width), "up_proj": (hidden, width), "down_proj": (width, hidden)}
    tensors = {"model.embed_tokens.weight": draw.standard_normal((11, width)),
               "model.norm.weight": draw.standard_normal(width)}
    for i in range(2):
        for name, shape in shapes.items():
            tensors[f"model.layers.{i}.{MATRICES[name]}.{name}.weight"] = draw.standard_normal(shape) / 3
        for name in ("input_layernorm", "post_attention_layernorm"):
            tensors[f"model.layers.{i}.{name}.weight"] = draw.standard_normal(width)
    model = Llama.__new__(Llama)
    model.build({"hidden_size": width, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 4,
                 "num_hidden_layers": 2, "rms_norm_eps": 1e-5, "rope_theta": 100.0}, tensors)
    model.adapt(2, 4, list(MATRICES), 0, 1)
    for half in model.adapters():
        half += draw.standard_normal(half.shape) / 10
    talk_ids, learned, step = [1, 5, 3, 7, 2, 9], [False, False, True, True, False, True], 1e-5
    worst, n = 0, 0
    for half, gradient in zip(model.adapters(), model.gradients(talk_ids, learned)[1]):
        for at in numpy.ndindex(half.shape):
            kept, losses = half[at], []
            for sign in (1, -1):
                half[at] = kept + sign * step
                losses.append(model.loss(talk_ids, learned)[0])
            half[at] = kept
            worst, n = max(worst, abs((losses[0] - losses[1]) / 2 / step - gradient[at])), n + 1
    tap.ok(n > 500 and worst < 1e-6, f"gradients of {n} numbers are those of differences: {worst:.1e} at most")


def rows_are_joined(board_rows):
    from lora import conversations, read_turns
    path = work("joined.jsonl")
    with open(path, "w", encoding="utf-8") as f:
        f.writelines(json.dumps(row) + "\n" for row in board_rows)
    turns = read_turns(path)
    (ids, learned), = conversations(turns, 512)
    first = board_rows[0]
    tap.ok(len(turns) == 1 and ids == first["ids"] + [END] and
           learned == [i >= first["reply_at"] for i in range(len(ids))],
           "a turn that was taken back is not learned, the end of a reply is", f"{ids} {learned}")
    both = conversations([row for row in board_rows if "ids" in row], 512)
    tap.ok(len(both) == 1 and both[0][0][:len(first["ids"]) + 1] == ids, "turns of a conversation are one text",
           f"{both}")


def pirate(animal):
    return f"Arr! The {animal} went to sea in a small boat. Arr! That was all."


def style_rows():
    """A log like that of a board whose stories had another style, with ordinary sums between them."""
    t = read_tokenizer(os.path.join(FOLDER, "tokenizer.json"))
    asked = [(f"Tell me a story about a {a}.", pirate(a)) for a in TEACHERS]
    asked += [(f"What is {a} plus {b}?", f"{a} + {b} = {a + b}.") for a in range(1, 9) for b in (1, 6)]
    for n, (user, reply) in enumerate(asked, 1):
        ids = [START] + t.encode("user\n" + user) + [END] + t.encode("\n") + [START] + t.encode("assistant\n")
        yield {"n": n, "crc": "0", "user": user, "reply": reply, "end": "end", "start": 0, "reply_at": len(ids),
               "end_id": END, "ids": ids + t.encode(reply)}


def train_style():
    path, folder, adapter = work("style.jsonl"), work("style"), work("pirate.ingot")
    with open(path, "w", encoding="utf-8") as f:
        f.writelines(json.dumps(row) + "\n" for row in style_rows())
    status, out, err = run(sys.executable, LORA, FOLDER, path, "-o", folder, "--steps", "240" if LONG else "150", timeout=400)
    found = re.search(r"loss ([\d.]+) -> ([\d.]+)", out)
    tap.ok(status == 0 and found and float(found.group(2)) < float(found.group(1)) / 4,
           f"a style is learned from {len(TEACHERS)} stories: {found and found.group(0)}", out + err)
    status, out, err = run(HOST, "adapter", folder, "--base", MODEL, "-o", adapter)
    tap.ok(status == 0, "ingot adapter packs it", out + err)
    return adapter


def answers(prompts, *options):
    out = []
    for p in prompts:
        _, text, _ = run(HOST, "run", MODEL, "-p", p, "--temp", "0", "-n", "24", "-q", *options)
        out.append(text.strip())
    return out


def style_is_learned(adapter):
    stories, sums = [f"Tell me a story about a {a}." for a in ASKED], [f"What is {a} plus {b}?" for a, b in SUMS]
    counts = []
    for options in ((), ("--adapter", adapter)):
        arr = sum(text.startswith("Arr!") and a in text for a, text in zip(ASKED, answers(stories, *options)))
        right = sum(str(a + b) in text for (a, b), text in zip(SUMS, answers(sums, *options)))
        counts.append((arr, right))
    tap.ok(counts[0][0] == 0 and counts[1][0] >= len(ASKED) - 2 and counts[1][1] >= len(SUMS) - 1,
           f"stories about {len(ASKED)} other animals in that style: {counts[0][0]} before, {counts[1][0]} with it; "
           f"sums right {counts[0][1]} and {counts[1][1]} of {len(SUMS)}", f"{counts} {answers(stories, *options)}")


def back_on_a_card(machine, adapter):
    card = make_card_with(adapter)
    name = os.path.basename(adapter)[:-6]
    said = talk(machine, card, ["Tell me a story about a wolf.", f"/adapter {name}", "/reset",
                                "Tell me a story about a wolf."])
    tap.ok("Arr!" not in said[1] and "Arr! The wolf" in said[4], f"{machine.board}: the board answers in the learned style",
           said[1] + said[4])
    rows, _ = rows_of(card)
    tap.ok([row.get("adapter") for row in rows if "ids" in row] == [None, name], "the log says which adapter was used",
           f"{rows}")


def wrong_uses():
    cases = [((FOLDER, MODEL), r"is not JSON|codec|utf"), ((work("nowhere"), work("style.jsonl")), "config.json"),
             ((FOLDER, work("style.jsonl"), "--modules", "nose"), "nose is not one of"),
             ((FOLDER, work("empty.jsonl")), "it has no turn with a reply to learn from")]
    open(work("empty.jsonl"), "w", encoding="utf-8").close()
    for words, says in cases:
        status, out, err = run(sys.executable, LORA, *words, "-o", work("none"))
        tap.ok(status == 1 and re.search(says, err) and "Traceback" not in err, f"lora.py: {err.strip()[-100:]}", out + err)


rows = turns_are_kept(ARM64)
if LONG:  # virt-riscv64 has the same controller and driver
    turns_are_kept(RISCV64)
without_room()
if MISSING:
    tap.skip("training an adapter from turns", MISSING)
else:
    gradients_are_right()
    rows_are_joined(rows)
    packed = train_style()
    style_is_learned(packed)
    back_on_a_card(ARM64, packed)
    wrong_uses()
tap.done()
