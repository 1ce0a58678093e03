#!/usr/bin/python3
"""Print figures of the C code's structure: functions, files, ternaries, files that need each other, full folders.

    structure.py [--check] [--circles] [--long N] [FOLDER ...]

It relies on .clang-format's layout, in which a function's braces are in the first column. Two files need each other if
each names a function that the other defines, directly or through others. For tests, only the length of files counts,
unless a FOLDER is named. --check, for make layers, only prints what exceeds the limits and is not in the list
below."""

import argparse
import collections
import os
import re
import statistics
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDERS = ["boot", "board", "kernels", "runtime", "flash_image", "host", "library", "examples", "include"]
TESTS = ["tests"]  # folders in which only the length of files counts
MOST_LINES = 60
MOST_FILE = 500
MOST_CIRCLE = 3
MOST_FOLDER = 60
# Inputs of fuzzers have hashes as names, so nobody searches them by eye; libFuzzer decides their number.
CORPORA = "tests/fuzz/corpus/"

# Violations that exist today. The list may only shrink: --check reports a row that is no longer needed. Functions are
# listed by name, files by path, circles by the folder with all their files.
KNOWN = {
    "function": {},
    "file": {
    },
    "circle": {},
    "folder": {},
}


def from_git(*folders):
    """git's list of the files in these folders, or of all files; None in a copy that is not a clone."""
    done = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "--", *folders], cwd=ROOT, capture_output=True,
                          text=True, check=False)
    return done.stdout.splitlines() if done.returncode == 0 else None


def sources(folders):
    names = from_git(*folders)
    if names is None:
        names = [os.path.relpath(os.path.join(where, name), ROOT)
                 for folder in folders for where, _, files in os.walk(os.path.join(ROOT, folder)) for name in files]
    return sorted({n for n in names if n.endswith((".c", ".h")) and os.path.exists(os.path.join(ROOT, n))})


def without_comments(text):
    """The text with comments and contents of strings replaced by blanks; lines stay."""
    pattern = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
    return pattern.sub(lambda m: ('""' if m[0][0] == '"' else "0" if m[0][0] == "'" else "")
                       + "\n" * m[0].count("\n"), text)


class Source:
    def __init__(self, path):
        self.path = path
        with open(os.path.join(ROOT, path), encoding="utf-8") as f:
            self.text = f.read()
        self.code = without_comments(self.text)
        self.lines = self.text.count("\n")
        self.functions = []  # (name, lines between the braces, is static)
        if ".macro" not in self.text:
            self.find_functions()

    def find_functions(self):
        lines = self.code.split("\n")
        begin, head = None, ""
        for i, line in enumerate(lines):
            if line.startswith("{"):
                before = " ".join(lines[max(0, i - 8):i])
                before = re.split(r"[;}]", before)[-1]
                name = re.search(r"(\w+)\s*\((?:[^()]|\([^()]*\)|\((?:[^()]|\([^()]*\))*\))*\)\s*$", before)
                begin, head = (i, before) if name else (None, "")
                title = name[1] if name else ""
            elif line.startswith("}") and begin is not None:
                self.functions.append((title, i - begin - 1, bool(re.search(r"\bstatic\b", head))))
                begin = None


def circles(files):
    """Sets of files that need each other: strongly connected by the public functions that they name (Tarjan, without recursion)."""
    owner = {}
    for f in files:
        for name, _, static in f.functions:
            if not static and f.path.endswith(".c"):
                owner.setdefault(name, f.path)
    edges = {}
    for f in files:
        if f.path.endswith(".c"):
            words = set(re.findall(r"\b[A-Za-z_]\w+\b", f.code))
            own = {name for name, _, _ in f.functions}
            edges[f.path] = sorted({owner[w] for w in words if w in owner and w not in own} - {f.path})
    index, low, on, stack, found, count = {}, {}, set(), [], [], 0
    for root in edges:
        if root in index:
            continue
        work = [(root, 0)]
        while work:
            node, at = work.pop()
            if at == 0:
                index[node] = low[node] = count
                count += 1
                stack.append(node)
                on.add(node)
            for k in range(at, len(edges.get(node, []))):
                other = edges[node][k]
                if other not in index:
                    work += [(node, k + 1), (other, 0)]
                    break
                if other in on:
                    low[node] = min(low[node], index[other])
            else:
                if low[node] == index[node]:
                    group = []
                    while True:
                        n = stack.pop()
                        on.discard(n)
                        group.append(n)
                        if n == node:
                            break
                    if len(group) > 1:
                        found.append(sorted(group))
                if work:
                    parent = work[-1][0]
                    low[parent] = min(low[parent], low[node])
    return sorted(found, key=len, reverse=True), edges


def long_files(files):
    """Only the findings of beyond() about the length of files."""
    for f in files:
        if f.lines > MOST_FILE and "why this file is long" not in f.text[:600].lower():
            yield "file", f.path, f.lines, f"{f.path}: {f.lines} lines, over {MOST_FILE}, and its top does not say why"


def beyond(files, found, tests):
    """(kind, name, size, text) of everything that exceeds a limit."""
    for f in files:
        for name, n, _ in f.functions:
            if n > MOST_LINES:
                yield "function", name, n, f"{f.path}: {name} has {n} lines, over {MOST_LINES}"
    yield from long_files(files + tests)
    for group in found:
        if len(group) > MOST_CIRCLE:
            folder = os.path.commonpath([os.path.dirname(p) for p in group])
            yield "circle", folder, len(group), (f"{folder}: {len(group)} files need each other, over "
                                                 f"{MOST_CIRCLE}: {' '.join(group)}")


def full_folders():
    """Findings about folders with too many files to survey; none in a copy that is not a clone."""
    names = from_git() or []
    count = collections.Counter(os.path.dirname(n) for n in set(names) if os.path.exists(os.path.join(ROOT, n)))
    for folder, n in sorted(count.items()):
        if n > MOST_FOLDER and not folder.startswith(CORPORA):
            yield "folder", folder, n, f"{folder}: {n} files in one folder, over {MOST_FOLDER}: make a folder for a part of them"


def check(files, found, tests):
    """The number of violations that KNOWN does not list, plus the number of its rows without a violation."""
    wrong = 0
    left = {(kind, name) for kind, names in KNOWN.items() for name in names}
    for kind, name, size, text in [*beyond(files, found, tests), *full_folders()]:
        left.discard((kind, name))
        if size > KNOWN[kind].get(name, 0):
            print(text)
            wrong += 1
    for kind, name in sorted(left):
        print(f"toolchain/structure.py: {name} is within the limits now: take its row out of KNOWN")
    return wrong + len(left)


def print_figures(o, files, found, edges):
    functions = [(n, name, f.path) for f in files for name, n, _ in f.functions]
    lengths = [n for n, _, _ in functions]
    lines = sum(f.lines for f in files)
    ternaries = sum(len(re.findall(r"\?", f.code)) for f in files if ".macro" not in f.text)
    print(f"{len(files)} files, {lines} lines, {len(functions)} functions: median "
          f"{statistics.median(lengths) if lengths else 0:g} lines, longest {max(lengths, default=0)}; "
          f"{ternaries} ternaries, {100 * ternaries / max(lines, 1):.2f} per 100 lines")
    for n, name, path in sorted(functions, reverse=True):
        if n > o.long:
            print(f"  {n} lines: {path}: {name}")
    for f in files:
        if f.lines > MOST_FILE:
            print(f"  {f.lines} lines: {f.path}")
    for group in found:
        print(f"  circle of {len(group)}: {' '.join(group)}")
        for f in group if o.circles else []:
            print(f"    {f} -> {' '.join(e for e in edges[f] if e in group)}")


def main():
    args = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    args.add_argument("--check", action="store_true", help="print only what is beyond the limits")
    args.add_argument("--circles", action="store_true", help="who needs whom within a circle")
    args.add_argument("--long", type=int, default=MOST_LINES, help="list functions longer than this")
    args.add_argument("folders", nargs="*", default=FOLDERS)
    o = args.parse_args()
    files = [Source(p) for p in sources(o.folders)]
    tests = [Source(p) for p in sources(TESTS)] if o.folders == FOLDERS else []
    found, edges = circles(files)
    if o.check:
        wrong = check(files, found, tests)
    else:
        print_figures(o, files, found, edges)
        wrong = sum(1 for _ in [*beyond(files, found, tests), *full_folders()])
    print(f"structure: {wrong} beyond the limits")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
