#!/usr/bin/python3
"""Checks README and the documents: every link has a target; every make target, command and option of `ingot` exists (tests/make/commands.t
runs whole lines); each figure has a source with the same number; pages that a program writes equal what it writes today."""

import glob
import os
import re
import subprocess
import sys

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", folder) for folder in ("", "../toolchain")]
import figures
from machine import BUILD, ROOT, Tap

INGOT = os.path.join(BUILD, "host/ingot")
tap = Tap()
tracked = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()
PAGES = tracked or [os.path.relpath(p, ROOT) for p in glob.glob(ROOT + "/**/*.md", recursive=True)
                    if "/build/" not in p and "/node_modules/" not in p]
TEXT = {page: open(os.path.join(ROOT, page), encoding="utf-8").read() for page in PAGES}


def run(*words):
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    return done.stdout


# ---- links ----

def anchors(text):
    """Anchors as forges make them from headings: small letters, hyphens for spaces, no other signs."""
    found = {}
    for heading in re.findall(r"(?m)^#+ +(.+?)\s*$", re.sub(r"(?ms)^```.*?^```", "", text)):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
        name = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        found[name] = found.get(name, -1) + 1
        if found[name]:
            found[f"{name}-{found[name]}"] = 0
    return found


def broken_links(page):
    text = re.sub(r"(?ms)^```.*?^```", "", TEXT[page])
    text = re.sub(r"`[^`\n]*`", "", text)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        if not os.path.exists(os.path.join(ROOT, file)):
            yield f"{page}: {target}"
        elif anchor and file in TEXT and anchor not in anchors(TEXT[file]):
            yield f"{page}: {target} has no such heading"


links = [line for page in PAGES for line in broken_links(page)]
tap.ok(len(PAGES) > 40 and not links, f"the links of {len(PAGES)} pages lead somewhere", "\n".join(links))

# ---- readers ----
READERS = {"users": "Users", "porters": "Porters", "engineers": "Engineers", "everybody": ""}
INDEX = "docs/README.md"


def reader(text):
    """The readers whom a page's first line names; None if it names none, or does not say what the page gives them."""
    first = re.match(r"# [^\n]+\n\nFor (\w+)\b[^:.\n]*: \S", text)
    return first[1] if first and first[1] in READERS else None


def listed_for(texts, index, pages):
    """The errors in the index, which lists pages by reader: pages that do not name their readers, are under another reader, or are missing."""
    under = {}
    for section in re.split(r"(?m)^## ", texts[index])[1:]:
        for target in re.findall(r"(?m)^\| \[[^]]*\]\(([^)#]+)\)", section):
            under[os.path.normpath(os.path.join(os.path.dirname(index), target))] = section.split(":")[0].split("\n")[0]
    for page in pages:
        who = reader(texts[page])
        if who is None:
            yield f"{page}: its first line does not say for whom it is and what it gives"
        elif page.count("/") == 1 or page.endswith("/README.md"):
            if page != index and under.get(page) != READERS[who]:
                yield f"{page} is for {who}, and {index} has it under {under.get(page)}"
        elif page not in {os.path.normpath(os.path.join(os.path.dirname(page), t)) for t in
                          re.findall(r"\]\(([^)#]+)\)", texts[os.path.join(os.path.dirname(page), "README.md")])}:
            yield f"{page} is not in the index of its folder"


ours = [page for page in PAGES if page.startswith("docs/")]
lost = list(listed_for(TEXT, INDEX, ours))
tap.ok(len(ours) > 60 and not lost, f"{len(ours)} pages name their readers, and docs/README.md lists them under these", "\n".join(lost))
for name, page, old, new, says in (
        ("a page that says it to nobody", "docs/CARDS.md", "For users: ", "", "does not say"),
        ("a page for others than its index says", "docs/KV.md", "For users: ", "For porters: ", "under Users"),
        ("a page that the index forgot", INDEX, "| [VOICE.md](VOICE.md)", "| VOICE.md", "docs/VOICE.md is for users"),
        ("an experiment that its index forgot", "docs/experiments/README.md", "(cards.md)", "()", "docs/experiments/cards.md is not")):
    found = list(listed_for({**TEXT, page: TEXT[page].replace(old, new, 1)}, INDEX, ours))
    tap.ok(old in TEXT[page] and len(found) == 1 and says in found[0], f"{name} is found", found)

# ---- commands ----
BLOCKS = {page: re.findall(r"(?ms)^```(?:sh|console)\n(.*?)^```", text) for page, text in TEXT.items()}
# Pages in which old commands appear on purpose.
HISTORY = ["CHANGELOG.md", *(page for page in PAGES if page.startswith("docs/experiments/"))]
database = run("make", "-npq", "O=" + BUILD)
targets = set(re.findall(r"(?m)^([A-Za-z][\w./-]*):(?!=)", database))


def code(page):
    """Lines of code blocks, and texts between back quotes."""
    for block in BLOCKS[page]:
        yield from block.replace("\\\n", " ").split("\n")
    yield from re.findall(r"`([^`\n]+)`", re.sub(r"(?ms)^```.*?^```", "", TEXT[page]))


def unknown_targets(page):
    for line in code(page):
        for words in re.findall(r"(?:^|[;&(] ?|^ *[A-Z_]+=\S+ +)make((?: +[^\s;&|)#>]+)+)", re.sub(r"\[[^]]*\]", "", line)):
            for word in words.split():
                if re.fullmatch(r"[a-z][a-z-]+", word) and word not in targets and f"{word}:" not in database:
                    yield f"{page}: make {word}"


lost = [line for page in PAGES if page not in HISTORY for line in unknown_targets(page)]
tap.ok(len(targets) > 50 and not lost, f"each target of make that the pages name exists ({len(targets)} are known)", "\n".join(lost))

help_of = {}


def help_text(command):
    if command not in help_of:
        help_of[command] = run(INGOT, "help", command)
    return help_of[command]


commands = set(re.findall(r"(?m)^  ([a-z]+) +\S", run(INGOT, "help")))


def unknown_words(page):
    for line in code(page):
        for command, words in re.findall(r"(?:^|[ /(`;&|])ingot +([a-z]+)((?: +[^;&|`]+)*)", line.split(" #")[0]):
            if command not in commands:
                if re.match(r"(?:build/host/|bin/|\$ |\./)?ingot [a-z]+( --?[a-z]|$)", line.strip()):
                    yield f"{page}: ingot {command}"
                continue
            for option in re.findall(r"(?:^| )(--[a-z][a-z-]*)", words):
                if option not in ("--help", "--version") and not re.search(rf"{option}\b(?!-)", help_text(command)):
                    yield f"{page}: ingot {command} {option}"


lost = [line for page in PAGES if page not in HISTORY for line in unknown_words(page)]
tap.ok(len(commands) > 20 and not lost, f"each command and option of ingot that the pages name exists ({len(commands)} commands)", "\n".join(lost))

# ---- figures that have a source ----
problems, listed = figures.check()
wrong = [line for line in problems if not figures.OPEN.search(line)]
late = [line for line in problems if figures.OPEN.search(line)]
tap.ok(len(listed) > 300 and not wrong, f"none of {len(listed)} figures contradicts its source", "\n".join(wrong))
tap.ok(not late, "each figure has a source", "\n".join(late))


def found_with(page, old, new):
    """The errors that are found after a page or a source was changed."""
    whole = figures.read
    if whole(page).count(old) != 1:
        return [f"{page} has {old!r} not once"]
    figures.read = lambda path: whole(path).replace(old, new) if path == page else whole(path)
    try:
        return figures.check()[0]
    finally:
        figures.read = whole


for name, page, old, new, says in (
        ("a page that contradicts its source", "docs/SERVE.md", "16 KiB for a head", "17 KiB for a head", "has 16"),
        ("a source that was changed", "host/serve/serve_sockets_private.h", "CONNECTIONS_MOST = 960", "CONNECTIONS_MOST = 480", "has 480"),
        ("a figure without a source", "README.md", "## Status\n", "## Status\n\nIt starts in 93 ms.\n", "'93 ms' has no source"),
        ("a sentence that is gone", "docs/SCALE.md", "or up to 32 boards", "or many boards", "no such sentence"),
        ("a machine that nobody describes", "docs/MEASURED.md", "| emulated | QEMU, for counts", "| imagined | QEMU, for counts", "machine emulated is not described"),
        ("a command that is gone", "docs/MEASURED.md", "`make bench-pack`", "`make bench-box`", "make bench-box is not a target")):
    found = found_with(page, old, new)
    tap.ok(any(says in line for line in found), f"{name} is found", found)
VERSION = open(os.path.join(ROOT, "VERSION"), encoding="utf-8").read().strip()
others = [f"{page}: {found}" for page, text in TEXT.items() if page not in HISTORY
          for found in re.findall(r"(?:Ingot |ingot-|\"version\":\")(\d+\.\d+(?:\.\d+)?)", text) if found != VERSION]
tap.ok(not others, f"pages show version {VERSION}", "\n".join(others))
changes = re.split(r"(?m)^## ", TEXT["CHANGELOG.md"])[1:]
tap.ok(changes[0].startswith(VERSION + " (") and all(entry.count("\n") <= 60 for entry in changes),
       "CHANGELOG.md begins with that version, and no version has more than 60 lines", [entry.split("\n")[0] for entry in changes])
screen = open(os.path.join(ROOT, "README.md"), encoding="utf-8").read().split("## Bring your model")[0]
tap.ok(len(screen.split("\n")) < 30 and "docs/session.svg" in screen, "README's first screen has the recording and the first command", screen)

# ---- generated pages ----
tap.ok(run(INGOT, "help", "--boot-options") == TEXT["docs/OPTIONS.md"], "docs/OPTIONS.md is what ingot help --boot-options prints",
       "write it anew: build/host/ingot help --boot-options >docs/OPTIONS.md")
rules = re.findall(r'(?m)^OPTION\(\w+, "(\w+)"', "".join(open(p, encoding="utf-8").read() for p in glob.glob(ROOT + "/runtime/**/options.def", recursive=True)))
listed = re.findall(r"(?m)^\| `(\w+)` \|", TEXT["docs/OPTIONS.md"])
tap.ok(len(rules) > 50 and sorted(rules) == sorted(listed), f"each of {len(rules)} boot options is in docs/OPTIONS.md once",
       sorted(set(rules) ^ set(listed)))

# make quality writes figures into docs/QUALITY.md; those that were not measured here stay.
sys.path.append(os.path.join(ROOT, "tests/bench"))
try:
    import quality
except ImportError:
    quality = None
QUALITY = TEXT["docs/QUALITY.md"]
if quality is None:
    tap.skip("figures of docs/QUALITY.md", "python3-numpy is not installed")
else:
    same = quality.page_with(QUALITY, {name: {} for name in quality.WINDOWS})
    tap.ok(same == QUALITY, "docs/QUALITY.md is read and written unchanged", same)
    row = next(line for line in QUALITY.split("\n") if line.startswith("| iq4_nl | 77.5"))
    figure = {"bytes": 1e6, "kl": 9.0, "kl_error": 0.0, "top": 0.5, "perplexity": 7.0, "perplexity_error": 0.0}
    new = quality.page_with(QUALITY, {"smollm2-135m": {"types | iq4_nl | ingot, calibrated": figure}}).split("\n")
    parts = [column.split("; ")[0] + "; " + value + " / " + column.split(" / ")[-1]
             for column, value in zip(row.strip("| ").split(" | ")[1:], ("1.0", "9.0000±0.0000", "50.0", "7.00±0.00"))]
    wanted = "| iq4_nl | " + " | ".join(parts) + " |"
    tap.ok(wanted in new and row not in new and len(new) == len(QUALITY.split("\n")), "a new figure takes the old one's place alone", wanted)
tap.done()
