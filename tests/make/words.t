#!/usr/bin/python3
"""The words of comments, documents and messages: no more sentences that must be read twice than toolchain/prose.txt lists, one spelling,
no typing errors that codespell knows."""

import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import ROOT, WORK, Tap

tap = Tap()
# hart: a RISC-V core; sav: our file's ending; sie: a register; the rest are texts of tests that are cut or wrong on purpose.
KNOWN = "hart,sav,sie,modle,ligh,hel,thre,larg,dout,doen,worl,thi,songle,runn,synopsys,vew,te,resul,promt,ower,nin,nd,nam,modell,longe,fo,statics,aagain,sytem"


def tree(name, text):
    """A repository with one file, and the checker beside it."""
    root = os.path.join(WORK, f"words-{name}")
    shutil.rmtree(root, ignore_errors=True)
    os.makedirs(os.path.join(root, "toolchain"))
    shutil.copy(os.path.join(ROOT, "toolchain/prose.py"), os.path.join(root, "toolchain"))
    with open(os.path.join(root, "page.md"), "w", encoding="utf-8") as f:
        f.write(text)
    for command in (["git", "init", "-q"], ["git", "add", "page.md"]):
        subprocess.run(command, cwd=root, check=True)
    return root


def prose(root, *words):
    done = subprocess.run([sys.executable, os.path.join(root, "toolchain/prose.py"), *words], capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, done.stdout


if subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, check=False).stdout:
    status, text = prose(ROOT, "--check")
    tap.ok(status == 0, "no new sentence of the kinds that readers stumble over (toolchain/prose.py --list PATTERN)", text)
    names = [n for n in subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
             if n and not n.startswith("models/") and n != "tests/make/words.t"]
    if shutil.which("codespell"):
        done = subprocess.run(["codespell", "-L", KNOWN, *names], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
        tap.ok(done.returncode == 0, f"codespell finds no typing error in {len(names)} files", done.stdout)
    else:
        tap.skip("typing errors", "codespell is not installed")
else:
    tap.skip("the words of this tree", "needs a git checkout, which says what belongs to it")

# The checker sees each pattern, and lets through what is like it.
WRONG = {"opens": "What it does is not clear.", "is-no": "A file is no model.", "words": "It was foretold.", "american": "The behavior differs.", "ise": "We initialise it."}
for pattern, sentence in WRONG.items():
    root = tree(pattern, f"# Page\n\nA first sentence. {sentence}\n")
    status, text = prose(root, "--check")
    tap.ok(status == 1 and f"prose: {pattern}" in text, f"{pattern}: \"{sentence}\" is seen", text)
    accepted = prose(root, "--accept")[0]
    tap.ok(accepted == 0 and prose(root, "--check")[0] == 0, f"{pattern}: a listed sentence is accepted")
    with open(os.path.join(root, "page.md"), "a", encoding="utf-8") as f:
        f.write("\n" + sentence + "\n")
    tap.ok(prose(root, "--check")[0] == 1 and prose(root, "--accept")[0] == 1, f"{pattern}: a second sentence is not accepted, and cannot be listed")
status, text = prose(tree("good", "# What a page is\n\nWhat is this? There is no file. It is no longer there. `What it is.` is code.\n\n```\nWhat it prints is code.\n```\n"), "--check")
tap.ok(status == 0, "questions, headings, code and \"there is no\" are accepted", text)

# ---- sentences drawn at random ----
sys.path.insert(0, os.path.join(ROOT, "toolchain"))
import draw

source = draw.joined('say("the card has %" PRIu64 " bytes, and that "\n    "is too few", n);\n// The first line of a comment\n// goes on here.\n')
said = [(kind, text) for kind, _, text in draw.parts("runtime/x.c", source)]
tap.ok(said == [("messages", "the card has % bytes, and that  is too few"), ("comments", "The first line of a comment goes on here.")],
       "adjacent strings are one message, and lines of // one comment", said)
source = "/* ---- the cards ---- */\n\n/* A digit is 0 .. 9 here, and ends. */\n"
said = [m.group(0).strip() for _, _, text in draw.parts("runtime/x.c", source) for m in draw.SENTENCE.finditer(text) if draw.is_sentence(m.group(0))]
tap.ok(said == ["A digit is 0 .. 9 here, and ends."], "a banner belongs to no sentence, and a range does not end one", said)
sentences = {kind: [(f"{kind}.c:{i}", f"A sentence with the number {i}.") for i in range(50)] for kind in ("messages", "docs", "comments")}
first, again, other = (draw.draw(sentences, seed, 20) for seed in (7, 7, 8))
tap.ok(first == again != other and all(len(set(one)) == 20 for one in first.values()), "a seed draws the same 20 of each kind, another seed others", first)
if subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, check=False).stdout:
    done = subprocess.run([sys.executable, os.path.join(ROOT, "toolchain/draw.py"), "5"], capture_output=True, text=True, timeout=120, check=False)
    tap.ok(done.returncode == 0 and len(done.stdout.rstrip("\n").split("\n")) == 63, "toolchain/draw.py prints sixty sentences under three headings", done.stdout)
else:
    tap.skip("sentences of this tree", "needs a git checkout, which says what belongs to it")
tap.done()
