#!/usr/bin/python3
"""Count the sentence patterns that readers stumble over, in comments, documents and messages.

usage: prose.py [--check] [--accept] [--list PATTERN]

--check fails if a file has more of a pattern than toolchain/prose.txt allows. That file lists what is left and may only
shrink: --accept writes it again after sentences were rewritten, and refuses to add a line. --list prints each place.
The patterns are the table of PATTERNS below; each has the plain form."""

import collections
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BASELINE = os.path.join(ROOT, "toolchain/prose.txt")
# A sentence begins a text, or follows a full stop, a bar of a table, or a hyphen of a list.
START = r"(?:^|[.!:]\s+|\|\s*|\s-\s)"
# Name, what to look for, the plain form.
PATTERNS = (
    ("opens", re.compile(START + r"(?:Of|Who|What|Where|That)\s+[^.?!|]*(?:[.!|]|$)"), "begin with the subject, or with If, When or The"),
    ("is-no", re.compile(r"(?<![Tt]here )\b(?:is|are|was|were) no (?!longer\b|more\b|such\b|worse\b|better\b|further\b)\w+"), "X is not a Y"),
    ("words", re.compile(r"\b(?:foretold|foretells?|crowded cores|cannot be obeyed|goes on as the|lamps?)\b", re.IGNORECASE), "predicted, contention, is invalid, continues, LED"),
    ("american", re.compile(r"\b(?:behaviors?|neighbors?|neighboring|favors?|favorites?|honors?|canceled|canceling|labeled|labeling|modeled|catalogs?|"
                            r"centers?|centered|gray|colored|judgments?)\b"), "British spelling"),
    ("ise", re.compile(r"\b(?:initial|normal|quant|real|recogn|serial|optim|minim|maxim|organ|token|synchron)is(?:e|es|ed|ing|ation)\b"), "-ize, as in quantize"),
)
C_LIKE = {"c", "h", "inc", "def", "S", "in", "ld"}
SCRIPTS = {"py", "t", "sh", "mk", "Makefile"}
LEFT_OUT = ("models/", "toolchain/prose", "CHANGELOG.md", "tests/make/words.t", "board/host/font", ".github/")


def tracked():
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    for name in done.stdout.split("\n"):
        if name and not name.startswith(LEFT_OUT):
            yield name


def plain(text):
    return re.sub(r"\s+", " ", text).strip()


def c_prose(text):
    """Comments, and strings that are sentences: strings with a space."""
    for m in re.finditer(r'/\*(.*?)\*/|//([^\n]*)|"((?:[^"\\\n]|\\.)*)"', text, re.S):
        if m.group(3) is None:
            yield m.start(), plain(re.sub(r"\n\s*\*", " ", m.group(1) or m.group(2) or "").strip("*/ "))
        elif " " in m.group(3):
            yield m.start(), m.group(3)


def script_prose(text):
    for m in re.finditer(r'(?:^[ \t]*#[^\n]*\n)+|"""(.*?)"""', text, re.S | re.M):
        block = m.group(1) if m.group(1) is not None else re.sub(r"(?m)^[ \t]*#+", " ", m.group(0))
        yield m.start(), plain(block)


def page_prose(text):
    text = re.sub(r"(?ms)^```.*?^```", lambda m: "\n" * m.group(0).count("\n"), text)
    for m in re.finditer(r"[^\n]+(?:\n[^\n]+)*", text):
        if not m.group(0).startswith("#"):
            yield m.start(), plain(re.sub(r"`[^`]*`", "`x`", m.group(0)))


def prose(name, text):
    kind = os.path.basename(name).rsplit(".", 1)[-1]
    if kind in C_LIKE:
        return c_prose(text)
    if kind in SCRIPTS:
        return script_prose(text)
    return page_prose(text) if kind == "md" else ()


def places():
    """(pattern, file, line, words) of each finding."""
    for name in tracked():
        try:
            text = open(os.path.join(ROOT, name), encoding="utf-8").read()
        except (OSError, UnicodeDecodeError):
            continue
        for at, said in prose(name, text):
            for pattern, find, _ in PATTERNS:
                for m in find.finditer(said):
                    yield pattern, name, text.count("\n", 0, at) + 1, said[m.start():m.end()][:100]


def read_baseline():
    allowed = {}
    if os.path.exists(BASELINE):
        for line in open(BASELINE, encoding="utf-8"):
            if line.strip() and not line.startswith("#"):
                pattern, name, n = line.split()
                allowed[pattern, name] = int(n)
    return allowed


def write_baseline(found):
    with open(BASELINE, "w", encoding="utf-8") as f:
        f.write("# Sentences that wait to be rewritten: pattern, file, how many. toolchain/prose.py writes this; it may only shrink.\n")
        f.writelines(f"{pattern} {name} {n}\n" for (pattern, name), n in sorted(found.items()))


def main():
    found, where = collections.Counter(), collections.defaultdict(list)
    for pattern, name, line, words in places():
        found[pattern, name] += 1
        where[pattern, name].append(f"{name}:{line}: {words}")
    if "--list" in sys.argv:
        wanted = sys.argv[sys.argv.index("--list") + 1]
        print("\n".join(p for (pattern, _), ps in sorted(where.items()) for p in ps if pattern == wanted))
        return 0
    allowed = read_baseline()
    worse = {k: n for k, n in found.items() if n > allowed.get(k, 0)}
    if "--accept" in sys.argv:
        if worse and allowed:
            print("prose: these are new; rewrite them:", *sorted(f"{p} {n}" for p, n in worse), sep="\n  ")
            return 1
        write_baseline(found)
    elif worse:
        cure = {pattern: text for pattern, _, text in PATTERNS}
        for pattern, name in sorted(worse):
            print(f"prose: {pattern} ({cure[pattern]}), {found[pattern, name]} where {allowed.get((pattern, name), 0)} may be:")
            print(*("  " + p for p in where[pattern, name]), sep="\n")
    totals = collections.Counter()
    for (pattern, _), n in found.items():
        totals[pattern] += n
    print("prose: " + ", ".join(f"{totals[p]} {p}" for p, _, _ in PATTERNS) + f"; {sum(allowed.values())} may be left")
    return 1 if worse and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
