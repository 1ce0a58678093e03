#!/usr/bin/python3
"""Several branches of one conversation: /branch, /switch, /retry. A continued branch gives the same ids as if there were no other
branch, on boards and on this computer, with every type of keys and values. Only the tokens in which branches differ are computed
again."""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import ARM64, HOST, LONG, RISCV64_ANY, ROOT, Tap, card_arguments, make_board_card, make_card, run
from talk import Console

MODEL = os.path.join(ROOT, "models/demo-q8_0.ingot")
CARD = make_card("branches.img", MODEL)
A, B, C = "Hello! Who are you?", "What is 2 + 3?", "Tell me a story about a cat."
SCRIPT = [A, "/branch sums", B, "/switch main", C, "/branches", "/switch sums", B, "/retry", "/branches",
          "/switch retry-1", A, "/drop sums", "/switch nowhere", "/branch main", "/branch a b"]
ALONE = {"sums": [A, B, B, A], "main": [A, C]}
WORDS = "temp=0 n=16 ids"
tap = Tap()


def ids(text):
    return re.findall(r"^ids:(.*)$", text, re.M)


def on_host(lines, *more):
    length = () if "-n" in more else ("-n", "16")
    status, text = run([HOST, "chat", MODEL, "--temp", "0", *length, "--ids", *more],
                       stdin="".join(line + "\n" for line in lines).encode())
    return text if status == 0 else f"{status} {text}"


def on_board(machine, cores, words):
    with Console(machine, f"{WORDS} {words}", card_arguments(CARD), cores) as k:
        k.prompt()
        return "".join(k.say(line) for line in SCRIPT)


alone = {name: ids(on_host(lines)) for name, lines in ALONE.items()}
base = on_host(SCRIPT)
said = ids(base)
tap.ok(len(said) == 6 and said[:2] == alone["sums"][:2] and said[2:3] == alone["main"][1:],
       "a branch continues as if it were the only one", base)
tap.ok(said[3:4] == said[4:5] == alone["sums"][2:3] and said[5:] == alone["sums"][3:],
       "the branch that was left, its retry and its earlier answer continue, too", base)
tap.ok(re.search(r"this one\n  main +1 turn, \d+ tokens\n|main +2 turns, \d+ tokens, this one\n  sums", base) and
       "(the other answer: /switch retry-1)" in base and "(retry-1: 3 turns" in base,
       "/branches lists them, and /retry names the branch that it keeps", base)
tap.ok("(sums is forgotten)" in base and "error: there is no branch nowhere" in base and
       "error: the branch main exists already" in base and "error: /branch takes a name" in base,
       "an impossible request gets an error message", base)

text = on_host(["/switch", "/drop"])
tap.ok(text.count("error: which one? /branches lists them") == 2, "/switch and /drop without a name ask for one", text)
text = on_host([A, "/branch a", "/branch b"], "--branches", "1")
tap.ok("error: 1 branch is kept, and there is no room for more: /drop NAME" in text, "a branch without room is refused", text)
tap.ok("--branches 8 makes more" in text, "a message says how to make room", text)
text = on_host([A, *(f"/branch b{i}" for i in range(9))], "--branches", "8")
tap.ok("error: 8 branches are kept" in text and "makes more" not in text, "there is no room for more than 8, and no message offers it", text)
text = on_host([A, "/branch a", B, "/retry", "/branches"], "--branches", "0")
tap.ok("no room for branches: --branches 4 makes some" in text and len(ids(text)) == 3,
       "with --branches 0, /retry answers and says how to keep branches", text)

NAME = os.path.basename(MODEL)
lines = [A, "/branch x", "/reset", f"/model {NAME}", "/switch main", f"/model {NAME}", f"/model {NAME}", "/branches"]
text = on_host(lines)
tap.ok("conversation of 0 tokens and 1 branch would end: /save NAME keeps one" in text and "(main: 1 turn" in text and
       re.search(r"conversation of [1-9]\d* tokens would end: /save keeps it", text) and "main                       0 turns" in text,
       "another model drops branches only after a message", text)

# ---- beams --------------------------------------------------------------------------------------

TALK = [A, C, "/retry", B]
beams = on_host(TALK, "--beams", "4")
found = ids(beams)
tap.ok(len(found) == 4 and found[1] == found[2] and "2 and 3 make 5." in beams,
       "beams=4 gives the same text twice, and the text of sampling if every token is certain", beams)
ANY = "Tell me a story."
told = [on_host([ANY], "-n", "60", "--beams", n, "--quiet") for n in ("1", "4")]
tap.ok(told[0] != told[1] and all(len(ids(text)) == 1 for text in told), "four beams give another story than one", told)
cut = ids(on_host([ANY], "-n", "60", "--beams", "4", "--stop", "no one"))
tap.ok(len(cut) == 1 and 5 < len(cut[0].split()) < 60 and ids(told[1])[0].startswith(cut[0][:-8]),
       "a stop string ends a beam where it is found", (cut, told[1]))
text = on_host([B], "--beams", "4", "--kv", "ruv")
tap.ok("--beams 4 has no effect: beams need keys and values" in text and ids(text) == ids(on_host([B], "--kv", "ruv")),
       "with tiers there are no beams, and a message says so", text)
for bad in ("0", "5"):
    status, text = run([HOST, "chat", MODEL, "--beams", bad])
    tap.ok(status == 2 and f"--beams {bad}: takes a count from 1 to 4" in text, f"--beams {bad}: one error message", text)
for machine, cores in ((ARM64, 2), (RISCV64_ANY, 1)):
    with Console(machine, f"{WORDS} beams=4", card_arguments(CARD), cores) as k:
        k.prompt()
        text = "".join(k.say(line) for line in TALK)
    tap.ok(ids(text) == found, f"{machine.label}: beams=4 finds the same replies", text)

# ---- every type of keys and values --------------------------------------------------------------

for kv in ("q8", "rot_q8,rot_q4", "ruv"):
    text = on_host(SCRIPT, "--kv", kv)
    want = [ids(on_host(lines, "--kv", kv)) for lines in ALONE.values()]
    got = ids(text)
    tap.ok(got[:2] == want[0][:2] and got[2:3] == want[1][1:] and got[5:] == want[0][3:],
           f"kv={kv}: each branch gives the reply that it gives without others", text)
for machine, cores, words in ((ARM64, 2, "mem=900K"), (RISCV64_ANY, 1, "kv=f16"), *([(ARM64, 1, ""), (ARM64, 4, "")] if LONG else [])):
    text = on_board(machine, cores, words)
    tap.ok(ids(text) == said, f"{machine.label}, {cores} cores {words}: the ids of this computer", text)

# ---- saved and loaded between the turns -----------------------------------------------------------

TYPES = {"f16": RISCV64_ANY, "rot_q4": ARM64, "tiers:64,0,kivi": RISCV64_ANY}
if LONG:  # each type on both machines
    TYPES |= {"q8": ARM64, "rot_q8": RISCV64_ANY, "uniform_4b": ARM64}
LINES = [A, "/branch x", B, "/switch main", "/retry"]
SAVED = LINES + ["/save", C, "/reset", "/load", B, "/switch x", A]


def card_with_room(board):
    card, _ = make_board_card(board, f"branches-{board}.img", MODEL=MODEL, SAVE="1")
    return ["-drive", f"if=none,id=card,format=raw,cache=unsafe,file={card}",
            "-device", "virtio-blk-device,drive=card"]


cards = {machine.board: card_with_room(machine.board) for machine in (ARM64, RISCV64_ANY)}
for kv, machine in TYPES.items():
    alone = ids(on_host(LINES + [B, "/switch x", A], "--kv", kv))
    for m in (ARM64, RISCV64_ANY) if LONG else (machine,):
        with Console(m, f"{WORDS} kv={kv}", cards[m.board]) as k:
            k.prompt()
            text = "".join(k.say(line) for line in SAVED)
        said = ids(text)
        tap.ok(len(alone) == 5 and said[:3] == alone[:3] and said[4:] == alone[3:],
               f"{m.label}: kv={kv}: branches, an answer again, saved and loaded, as without saving here", text)
tap.done()
