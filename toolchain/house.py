#!/usr/bin/python3
"""Count what a change has to touch, at a revision and now.

    house.py [REVISION ...]

Without a revision: 96d4f7d8, where the house was surveyed, and the working tree. Each of these has a column. The rules are in RULES, and only files that git
tracks count. The cost of adding a thing is counted by the files that name an existing thing of its kind, because whoever adds another has
to look at these."""

import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BEFORE = "96d4f7d8"
MOST_FILES = 60
ITSELF = "toolchain/house.py"
NOT_COUNTED = ("tests/", "clients/", "models/", ITSELF)
CODE = (".c", ".h", ".S", ".in", ".inc", ".def", ".mk", ".py", ".t", ".sh", ".ld", ".js", ".txt")

# The example with the largest count is printed, so that nobody can choose a favourable one.
TYPES = {"Q4_K": r"q4_?k(?!_m)", "Q5_K": r"q5_?k(?!_m)", "Q6_K": r"q6_?k", "Q3_K": r"q3_?k(?!_m)"}
OPTIONS = ["pinned", "overflow", "actions_said", "dmaend"]
BOARDS = ["icicle", "versal", "sifive_u", "visionfive2"]
FEATURES = {"fabric": r"fabric", "lessons": r"lessons?|chat_learn", "policy": r"policy|chat_policy", "branches": r"chat_branch\w*|branch_\w+|chat_branches",
            "acting": r"chat_act|actions?|action_\w+"}

# Files whose function bodies should explain their steps.
TELLING = {"planners": r"runtime/stream/plan\w*\.c|runtime/model/calibrate\w*\.c|runtime/compute/shares\.c",
           "protocols": r"runtime/(?:transfer|http|wire|saved)/.*\.c|board/drivers/(?:sd|usb|block)/.*\.c",
           "drivers": r"board/drivers/(?:bus|soc|i2c|dma|irq|serial|screen|gpio)/.*\.c|boot/.*\.c",
           "state machines": r"runtime/stream/(?:stream|kv)\w*\.c|runtime/session/(?:generate|reply\w*|replies|speculative|session|beams)\.c"
                             r"|runtime/console/line_\w+\.c|runtime/features/(?:grammar|memory_tags)/.*\.c|runtime/storage/.*\.c",
           "numbers": r"kernels/ref/.*\.[ch]|runtime/compute/kv_.*\.c|flash_image/quantize/.*\.c|runtime/session/(?:sampler\w*|rope\w*)\.c"
                      r"|runtime/features/(?:lessons|fabric|policy)/(?:ewc|micro_lora\w*|learner|vector|fabric|fabric_learn|policy|patterns|experience)\.c"
                      r"|runtime/model/(?:mixer|ffn|router|recurrence|attention)\w*\.c"}

# Paths through the code, each starting at one function: a reply through the core and the features, a weight from the card to its place, a boot
# option from the command line to its member. Calls to functions elsewhere are not followed.
WALKED = r"runtime/(?:chat|learn|features)/.*\.[ch]"
WEIGHT = "model_load", r"runtime/(?:model|stream|image|storage)/.*\.[ch]"
OPTION = "options_parse", r"runtime/(?:options|text)/.*\.[ch]"

# Commits that only restructured: rooms, tables of facts, features as modules, names, and the counting tools. The other commits since BEFORE add what
# other issues require (EFI, a network, published models), so "lines in all" does not show the cost of the restructuring.
RESTRUCTURING = """8d654d0c 9ac61928 a19effb9 0acff933 22d21433 cdd65d1e d2025b99 b7ad2c2f 5c5fb8b9 5b4274d5 0b1ad24b 9dc11712 1422a659 45aa3b28 446da5db
    7f5faa20 f0561804 70ee8f06 85003b7e 89170db2 f05a77b7 116b61ec bc6c5c5a 06588542 e6de4d39 abe4d10b 274a3539 d814db64 001e533a c0c6b297
    8885f7f9 17331553 893ec4e6""".split()

RULES = """Rules
  weight type   Files of code, except tests, that name the type in any spelling (Q5_K, q5k, q5_k). Shared: those whose path does not name it.
                Last: the shared ones outside kernels/.
  option        Listed: files of code, except tests, in which the option has an entry (OPTION_NAME in a list, HOST_NAME, JSON_FIELD_NAME, "name" or
                "--name" as a string, a member of struct options_*), and README.md and docs/DESIGN.md if they have `name=`. Read: other files
                of code that use the option's member.
  board         Files of code outside board/NAME that name the board as a word. Pages do not count.
  feature       Folders of runtime/ that have a file named after the feature; files in other folders of runtime/ that include such a file.
  lines         Lines of all tracked text files, without vendored data (a file with a line over 2,000 characters is data).
  restructured  Lines that the commits in RESTRUCTURING added, less those that they removed: code; tests and clients; documents and tools.
  .S files      All of them, and those under 25 lines.
  circles       Groups of folders of C code that include each other, directly or through others.
  struct chat   Its members, as runtime/chat/chat.h declares them.
  a reply       The walk from chat_reply through runtime/chat, learn and features; each function is followed once, where it is named first. Counted
                are runs of functions in one file, the files, how often the walk returns to a file, and runs in files of features (the loop over
                the features' rows does not count).
  a weight      The same from model_load through runtime/model, stream, image and storage: from the card to the place where the weight stays.
  an option     The same from options_parse through runtime/options and text: from the boot line to the option's member.
  steps told    In the files of TELLING: lines with a comment in 100 lines of function bodies.
  flat folders  Folders with more than 60 tracked files directly in them, except the fuzzers' corpora."""


def tracked(folder):
    """{path: text} of a folder's text files; from git's list in a work tree, otherwise all files."""
    if os.path.exists(os.path.join(folder, ".git")):
        names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=folder, capture_output=True, text=True, check=True).stdout.split("\n")
    else:
        names = [os.path.relpath(os.path.join(where, name), folder) for where, _, files in os.walk(folder) for name in files]
    found = {}
    for name in sorted(filter(None, names)):
        path = os.path.join(folder, name)
        if not os.path.isfile(path) or os.path.islink(path):
            continue
        with open(path, "rb") as f:
            data = f.read()
        found[name] = None if b"\0" in data else data.decode("utf-8", "replace")
    return found


def is_code(path):
    return path.endswith(CODE) or os.path.basename(path) == "Makefile"


def of_type(files, pattern):
    """(files that name the type, the shared files among them, and of these the ones outside kernels/)"""
    word = re.compile(rf"(?<![a-z]){pattern}(?![a-z])", re.I)
    naming = [p for p, text in files.items() if text is not None and is_code(p) and not p.startswith(NOT_COUNTED) and (word.search(text) or re.search(pattern, p, re.I))]
    shared = [p for p in naming if not re.search(pattern, p, re.I)]
    return len(naming), len(shared), sum(1 for p in shared if not p.startswith("kernels/"))


def of_option(files, name):
    """(files that list the option, other files that read it)"""
    upper = name.upper()
    entry = re.compile(rf"(?m)\b(?:HOST|JSON_FIELD)_{upper}\b|\bHOST_ROW\({upper}\)|^\s*\[?OPTION_{upper}\b|\bNULL, OPTION_{upper},|\bBIT\({upper}\)|\bOPTION\({upper},"
                       rf"|(?<![\w/.])\"(?:--)?{name.replace('_', '[-_]')}\"")
    member = re.compile(rf"(?s)struct options_\w+ \{{(?:[^}}]*[\s*]){name}(?:\[|;)")
    reads = re.compile(rf"\bOPTION_{upper}\b|\b(?:load|reply|show|acting|machine|line|sampler|feature|params|options?|o)(?:\.|->){name}\b")
    listed = {path for path, text in files.items() if text is not None and not path.startswith(NOT_COUNTED) and
              (path.endswith((".c", ".h", ".def")) and (entry.search(text) or member.search(text)) or
               path in ("README.md", "docs/DESIGN.md") and re.search(rf"\b{name}=", text))}
    readers = {path for path, text in files.items() if text is not None and path not in listed and path.startswith(("runtime/", "boot/", "host/")) and
               path.endswith((".c", ".h")) and reads.search(text)}
    return len(listed), len(readers)


def of_board(files, name):
    word = re.compile(rf"(?<![A-Za-z0-9_-]){name}(?![A-Za-z0-9_])")
    return sum(1 for p, text in files.items() if text is not None and is_code(p) and not p.startswith((f"board/{name}/", ITSELF)) and word.search(text))


def of_feature(files, pattern):
    """(folders with the feature's files, other files that include them)"""
    own = [p for p in files if p.startswith("runtime/") and re.search(rf"(?:^|/)(?:\w+_)?(?:{pattern})(?:_\w+)?\.[ch]$", p)]
    folders = {os.path.dirname(p) for p in own}
    headers = {p for p in own if p.endswith(".h")}
    users = [p for p, text in files.items() if text is not None and p.startswith("runtime/") and p not in own and
             headers & set(re.findall(r'#\s*include "([^"]+)"', text))]
    return len(folders), len([p for p in users if len(folders) > 1 or os.path.dirname(p) not in folders])


def groups(graph):
    """Sets of two or more nodes that reach each other."""
    def reach(start):
        seen, todo = set(), [start]
        while todo:
            for node in graph.get(todo.pop(), ()):
                if node not in seen:
                    seen.add(node)
                    todo.append(node)
        return seen
    all_of = {node: reach(node) for node in graph}
    return {frozenset({node} | {other for other in reached if node in all_of.get(other, ())}) for node, reached in all_of.items() if node in reached}


def circles(files):
    graph = {}
    for path, text in files.items():
        if text is None or not path.endswith((".c", ".h")) or path.startswith("tests/"):
            continue
        mine = os.path.dirname(path)
        for target in re.findall(r'#\s*include "([^"]+)"', text):
            its = os.path.dirname(target)
            if target in files and its != mine:
                graph.setdefault(mine, set()).add(its)
    return sum(1 for group in groups(graph) if len(group) > 1)


def members(text):
    """The number of members that the body of a struct declares."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    while re.search(r"\{[^{}]*\}", text):
        text = re.sub(r"\{[^{}]*\}", "", text)
    return sum(1 + re.sub(r"\([^()]*\)|\[[^\]]*\]", "", part).count(",") for part in text.split(";") if part.strip())


def struct_chat(files):
    found = re.search(r"(?ms)^struct chat \{\n(.*?)^\};", files.get("runtime/chat/chat.h") or "")
    return members(found[1]) if found else None


def functions(files, walked):
    """{(file, name): body} of static functions and {name: (file, body)} of all others, of the files of a path."""
    own, shared = {}, {}
    for path, text in files.items():
        if text is None or not re.fullmatch(walked, path):
            continue
        code = re.sub(r"(?s)/\*.*?\*/", " ", text)
        for f in re.finditer(r"(?ms)^((?:[\w*]+[ \n*]+)+\**)(\w+)\([^;{}]*?\)\s*\{\n(.*?)^\}", code):
            if "static" in f[1]:
                own[path, f[2]] = f[3]
            if "static" not in f[1] or path.endswith(".h"):
                shared[f[2]] = (path, f[3])
    return own, shared


def walk(files, start="chat_reply", walked=WALKED):
    """The files, in order, that a walk from `start` enters; the walk follows each named function once."""
    own, shared = functions(files, walked)
    seen, met = set(), []

    def follow(path, name, body):
        seen.add((path, name))
        met.append(path)
        for word in re.findall(r"\b([a-z_]\w*)\b(?=\s*[(,);}])", body):
            its, inner = (path, own[path, word]) if (path, word) in own else shared.get(word, (None, None))
            if its is not None and (its, word) not in seen:
                follow(its, word, inner)
                met.append(path)

    if start in shared:
        follow(shared[start][0], start, shared[start][1])
    return [path for i, path in enumerate(met) if i == 0 or path != met[i - 1]]


def of_way(files, start, walked):
    """The figures of a way, as "stays / files / returns"."""
    stays = walk(files, start, walked)
    return f"{len(stays)} / {len(set(stays))} / {len(stays) - len(set(stays))}"


def of_walk(files):
    """The figures of the walk, as "stays / files / returns / stays in features' code"."""
    stays = walk(files)
    features = sum(bool(re.match(r"runtime/(?:learn|features/\w+)/", path)) for path in stays)
    return f"{len(stays)} / {len(set(stays))} / {len(stays) - len(set(stays))} / {features}"


def lines_added(numstat):
    """(code, tests and clients, documents and tools): lines added minus lines removed, from the text of `git show
    --numstat`."""
    sums = [0, 0, 0]
    for added, removed, path in re.findall(r"(?m)^(\d+)\t(\d+)\t(.*)$", numstat):
        sums[1 if path.startswith(("tests/", "clients/")) else 2 if path.startswith(("docs/", "toolchain/")) else 0] += int(added) - int(removed)
    return tuple(sums)


def restructured():
    """"+3,442 / +683 / +763"; "-" in a copy without the history."""
    shown = subprocess.run(["git", "show", "--numstat", "--format=", *RESTRUCTURING], cwd=ROOT, capture_output=True, text=True)
    return " / ".join(f"{n:+,}" for n in lines_added(shown.stdout)) if shown.returncode == 0 else "-"


def flat_folders(files):
    count = {}
    for path in files:
        if path.startswith("tests/fuzz/corpus/"):
            continue  # inputs of fuzzers, whose names are hashes
        count[os.path.dirname(path)] = count.get(os.path.dirname(path), 0) + 1
    return sorted(((n, folder) for folder, n in count.items() if n > MOST_FILES), reverse=True)


def told(files, pattern):
    """Comment lines per 100 lines of function bodies, without blank lines."""
    comments, lines = 0, 0
    for path, text in files.items():
        if text is None or not re.fullmatch(pattern, path):
            continue
        for body in re.findall(r"(?ms)^\{\n(.*?)^\}$", text):
            lines += sum(1 for line in body.split("\n") if line.strip())
            comments += sum(c.count("\n") + 1 for c in re.findall(r"(?s)/\*.*?\*/", body))
    return 100 * comments / lines if lines else 0


def largest(counts):
    """The largest of {name: count}, such as "65 (Q4_K)"; for pairs, both numbers."""
    name, count = max(counts.items(), key=lambda item: item[1])
    return f"{' / '.join(map(str, count)) if isinstance(count, tuple) else count} ({name})"


def measure(files):
    """[(what, figure)]"""
    text = {p: t for p, t in files.items() if t is not None and max(map(len, t.split("\n")), default=0) <= 2000}
    assembly = [t for p, t in text.items() if p.endswith(".S")]
    flat = flat_folders(files)
    return [
        ("a weight type: files / shared / no kernels", largest({name: of_type(files, pattern) for name, pattern in TYPES.items()})),
        ("an option: files that list / read it", largest({name: of_option(files, name) for name in OPTIONS})),
        ("a board: files outside its folder", largest({name: of_board(files, name) for name in BOARDS})),
        ("a feature: folders / files elsewhere", largest({name: of_feature(files, pattern) for name, pattern in FEATURES.items()})),
        ("lines in all", f"{sum(t.count(chr(10)) for t in text.values()):,}"),
        (".S files / under 25 lines", f"{len(assembly)} / {sum(t.count(chr(10)) < 25 for t in assembly)}"),
        ("circles of folders", str(circles(files))),
        ("struct chat: members", str(struct_chat(files))),
        ("a reply: stays / files / returns / features", of_walk(files)),
        ("a weight: stays / files / returns", of_way(files, *WEIGHT)),
        ("an option, set: stays / files / returns", of_way(files, *OPTION)),
        *((f"steps told: {kind}", f"{told(files, pattern):.1f}") for kind, pattern in TELLING.items()),
        ("folders over 60 files", str(len(flat))),
        ("the largest", f"{flat[0][0]} ({flat[0][1]})" if flat else "-"),
    ]


def at_revision(revision):
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(["git", "archive", revision], cwd=ROOT, capture_output=True, check=False)
        if archive.returncode != 0:
            sys.exit(f"house: git has no commit {revision} here: compare in a clone with the whole history (git fetch --unshallow)")
        subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
        return tracked(folder)


def main():
    revisions = sys.argv[1:] or [BEFORE]
    columns = [(revision[:8], measure(at_revision(revision))) for revision in revisions]
    columns.append(("now", measure(tracked(ROOT))))
    rows = [("", *[name for name, _ in columns])]
    rows += [(what, *[figures[i][1] for _, figures in columns]) for i, (what, _) in enumerate(columns[0][1])]
    for row in rows:
        print(f"{row[0]:43}", *[f"{cell:28}" for cell in row[1:]])
        if row[0] == "lines in all":
            print(f"{'restructured: code / tests / documents':43}", *[" " * 28 for _ in row[2:]], restructured())
    print(RULES)


if __name__ == "__main__":
    main()
