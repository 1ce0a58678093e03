#!/usr/bin/python3
"""The demo model: its files equal what its sources make, its tokens are those that it was trained on, it answers prompts that it never saw,
in both committed types (in test-long in F32, too), and it acts on request (in test-long on virt-arm64, too)."""

import filecmp
import json
import os
import random
import re
import socket
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
sys.path.insert(0, os.path.join(HERE, "../../models"))
from board_line import Board
from events import Events, of
from machine import ARM64, HOST, LONG, ROOT, WORK, Tap, make_card
import evaluate
import evaluate_acting
import acting
import acting_held_out
import asking
import checks
import generator
import talk

MODELS = os.path.join(ROOT, "models")
FOLDER = os.path.join(MODELS, "demo")
MOST_PACKED, MOST_CHECKPOINT = 4 << 20, 8 << 20
AT_LEAST = 0.95
tap = Tap()


def pack(kind):
    path = os.path.join(WORK, f"demo-{kind}.ingot")
    done = subprocess.run([HOST, "pack", FOLDER, "-o", path, "--type", kind, "-q"],
                          capture_output=True, text=True, timeout=120)
    tap.ok(done.returncode == 0, f"models/demo is packed as {kind}", done.stderr)
    return path


def packed_files(made):
    for kind in ("q8_0", "q4_0"):
        committed = os.path.join(MODELS, f"demo-{kind}.ingot")
        tap.ok(os.path.exists(committed) and filecmp.cmp(committed, made[kind], shallow=False),
               f"models/demo-{kind}.ingot is what models/demo makes", "run `make pack-demo`")
    sizes = [os.path.getsize(os.path.join(MODELS, f"demo-{k}.ingot")) for k in ("q8_0", "q4_0")]
    checkpoint = os.path.getsize(os.path.join(FOLDER, "model.safetensors"))
    tap.ok(sum(sizes) <= MOST_PACKED and checkpoint < MOST_CHECKPOINT,
           f"both have {sum(sizes)} bytes together, the checkpoint {checkpoint}")


def same_tokens(model, tokenizer):
    """Compares tokens of texts that people type, and of texts that nobody would type."""
    rng = random.Random(11)
    talks = [generator.conversation(rng, 200, generator.MIXED)[1] for _ in range(15)]
    texts = [e.user for t in talks for e in t] + [e.reply for t in talks[:5] for e in t]
    texts += ["", " ", "  two  spaces ", "12345 + 6", "it's I'LL don't", "a\n\n b\t\tc \n",
              "tr\u00e8s bien", "()!? ...", "a_b __c", "\u4f60\u597d"]
    wrong = []
    for text in texts:
        done = subprocess.run([HOST, "tokenize", model, "--ids", "--no-bos"], input=text.encode(),
                              capture_output=True, timeout=60)
        if [int(i) for i in done.stdout.split()] != tokenizer.encode(text):
            wrong.append(f"{text!r}: {done.stdout} for {tokenizer.encode(text)} {done.stderr}")
    tap.ok(not wrong and len(texts) > 50,
           f"{len(texts)} texts have the ids that the model learned from", "\n".join(wrong))


def held_out_is_new():
    """rows.py leaves the examination's questions out of the training text, and no plain prompt of talk.py is one of these questions."""
    asked = [e[0].user for _, e in evaluate.held_out.conversations()]
    count = sum(len(e) for _, e in evaluate.held_out.conversations())
    plain = {p for table in (talk.SELF, talk.TALK) for _, prompts, _, _ in table for p in prompts}
    banned = evaluate.held_out.first_prompts()
    tap.ok(set(asked) <= banned and not plain & banned and count == 200,
           f"{count} prompts in {len(asked)} conversations are held out")


def checks_can_fail():
    """The checks must find wrong answers to a sum, a story without its animal, and a story that says a sentence
    twice."""
    asked = generator.Exchange("3+4", "7.", "sum", total=7)
    tale = ("There once was a fox called Tom, who lived near the sea. Tom met Mia the owl. "
            "It was a fine day. And so it ended well.")
    story = generator.Exchange("a fox", tale, "story", must=["fox"], wishes=[])
    again = generator.Exchange("again", "", "recall", which="f")
    passes = evaluate.passes
    tap.ok(passes(asked, "3 plus 4 is 7.", None) and not passes(asked, "3 plus 4 is 8.", None) and
           passes(story, tale, None) and not passes(story, tale.replace("fox", "bear"), None) and
           not passes(story, tale + " It was a fine day.", None) and
           passes(again, "Mia was an owl.", evaluate.recall(tale)) and
           not passes(again, "Mia was a crab.", evaluate.recall(tale)),
           "the checks tell right from wrong")


def requests_are_new():
    """A hundred requests in sentences that no training sentence equals, most of them for an existing pin."""
    of = acting_held_out.conversations()
    requests = [e for _, exchanges in of for e in exchanges if acting_held_out.is_request(e)]
    pins = [e for e in requests if e.reply.endswith(('"value":"on"}', '"value":"off"}'))]
    learned, held = asking.LEARNED, acting_held_out.ASKED
    plain = {re.sub(r"\W+", " ", p).strip().lower() for lists in (learned.said, learned.do) for kind in lists.values()
             for p in kind}
    new = {re.sub(r"\W+", " ", p).strip().lower() for kind in held.said.values() for p in kind}
    tap.ok(len(requests) == 100 and len(pins) >= 60 and not plain & new and
           acting_held_out.prompts() == {e.user for e in requests},
           f"{len(requests)} requests are held out, {len(pins)} of them switch a pin")


def acting_checks_can_fail():
    """The checks must find calls of another pin, with another value or without a value, prose instead of a call, and
    a wrong result."""
    asked = acting_held_out.asked_of(random.Random(2), [acting.switch])[1]
    call, said = asked[0], asked[1]
    pin = call.wanted["pin"]
    other = call.reply.replace(pin, "pin")
    turned = call.reply.replace('"on"', '"x"').replace('"off"', '"on"').replace('"x"', '"off"')
    tap.ok(checks.passes(call, call.reply, None) and not checks.passes(call, other, None) and
           not checks.passes(call, turned, None) and not checks.passes(call, "Done.", None) and
           checks.is_wrong_pin(call, other) and checks.is_wrong_pin(call, '{"action":') and
           not checks.is_wrong_pin(call, turned) and not checks.is_wrong_pin(call, "Done.") and
           checks.passes(said, said.reply, None) and not checks.passes(said, said.reply.replace(pin, "pin"), None),
           "the checks tell a right call from a wrong one", (call.reply, other, turned, said.reply))


def acts(kind, model, tokenizer):
    result = evaluate_acting.examine(model, tokenizer)
    failures = "\n".join(str(f) for f in result.failures)
    shares = {k: result.passed[k] / n for k, n in result.asked.items()}
    tap.ok(result.asked["requests"] == 100 and min(shares.values()) >= AT_LEAST, f"{kind}: {result.line()}", failures)
    tap.ok(not result.wrong, f"{kind}: no call of anything else than what was asked for", failures)


class Line(Events):
    """A board in QEMU, which gets the questions that models/evaluate.py asks this computer's program."""

    def __init__(self, board):
        line = socket.socket(socket.AF_UNIX)
        line.settimeout(120)
        line.connect(board.path)
        self.file = line.makefile("rwb")

    def put(self, **request):
        self.file.write(json.dumps(request).encode() + b"\n")
        self.file.flush()

    def event(self):
        line = self.file.readline()
        while line and not line.startswith(b'{"event":'):
            line = self.file.readline()
        return json.loads(line) if line else None

    def answers(self, _model, tokenizer, system, prompts, _seed=None):
        messages, out = [dict(role="system", content=system)], []
        for prompt in prompts:
            messages.append(dict(role="user", content=prompt))
            ids = [e["id"] for e in of(self.ask(messages=messages), "token")]
            out.append((tokenizer.decode(ids), len(ids)))
            messages.append(dict(role="assistant", content=out[-1][0]))
        return out


def acts_on_a_board(model, tokenizer):
    card = make_card("demo-acts.img", model)
    with tempfile.TemporaryDirectory(prefix="ingot-demo-") as folder:
        board = Board(ARM64, folder, "line", card, "mode=json temp=0")
        result = evaluate_acting.examine(model, tokenizer, answers=Line(board).answers)
        board.kill()
    tap.ok(result.passed["requests"] >= 100 * AT_LEAST and not result.wrong, f"virt-arm64: {result.line()}",
           "\n".join(str(f) for f in result.failures))


def examined(kind, model, tokenizer):
    result = evaluate.examine(model, tokenizer)
    tap.ok(result.share() >= AT_LEAST, f"{kind}: {result.line()}",
           "\n".join(str(f) for f in result.failures))
    tap.ok(result.story_share() >= AT_LEAST,
           f"{kind}: {100 * result.story_share():.0f} % of the stories are long and do not repeat",
           "\n".join(str(f) for f in result.failures if f[0] == "story"))


os.makedirs(WORK, exist_ok=True)
made = {kind: pack(kind) for kind in ("f32", "q8_0", "q4_0")}
vocabulary = evaluate.read_tokenizer(os.path.join(FOLDER, "tokenizer.json"))
packed_files(made)
same_tokens(made["f32"], vocabulary)
held_out_is_new()
checks_can_fail()
requests_are_new()
acting_checks_can_fail()
for name, path in made.items() if LONG else [("q8_0", made["q8_0"]), ("q4_0", made["q4_0"])]:  # the committed files
    examined(name, path, vocabulary)
    if LONG or name == "q8_0":
        acts(name, path, vocabulary)
if LONG:
    acts_on_a_board(made["q8_0"], vocabulary)
tap.done()
