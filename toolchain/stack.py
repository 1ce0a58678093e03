#!/usr/bin/python3
"""Compares the largest depth of an image's stacks with boot/stacks.h. The depth is computed from the linked image's
instructions, so that inlining, newlib and assembly count as they are.

usage: stack.py CROSS_COMPILE IMAGE.elf TABLE STACKS.h [-v]

A function's frame is the furthest that its instructions move the stack pointer. Direct calls are in
the instructions. TABLE lists the functions that may be called through a pointer (toolchain/indirect_calls.txt) by
the pointer's name, which is read from the source line of the call. A call that the table does not
know, a circle of calls and a stack pointer that moves by an unknown amount are errors, and so are a stack that
is too small and a frame that could reach across a guard. -v prints the deepest chain of each entry."""

import fnmatch
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from stack_frames import read_functions

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.setrecursionlimit(10000)


class Table:
    """Lines `pointer[@file]: target ...`, `circle NAME TIMES` and `skip NAME`; see its head."""

    def __init__(self, path):
        self.rows, self.circles, self.entries, self.vectors = {}, {}, [], []
        with open(path, encoding="ascii") as f:
            lines = f.read().replace("\\\n", " ").split("\n")
        for line in lines:
            words = line.split("#")[0].split()
            if not words:
                continue
            if words[0] == "circle":
                self.circles[words[1]] = int(words[2])
            elif words[0] == "vectors":
                self.vectors.append(words[1])
            elif words[0] == "entry":
                self.entries.append((words[1], words[2], words[3:]))
            else:
                self.rows[words[0].rstrip(":")] = words[1:]

    def targets(self, names, file):
        """Patterns for a call in `file` by one of these names; None: the table has no row."""
        found = None
        for name in names:
            for key in (f"{name}@{file}", name):
                row = self.rows.get(key)
                if row is None:
                    row = next((t for k, t in self.rows.items() if "*" in k and
                                fnmatch.fnmatchcase(key, k)), None)
                if row is not None:
                    found = (found or []) + [t.replace("$", name) for t in row]
                    break
        return found


def source_of(location):
    """(path in the tree, line) from addr2line's answer; None for newlib and for code without lines."""
    for found in re.finditer(r"(?:^|(?<=/))(?=((?:runtime|boot|board|kernels|flash_image|tests)/[^: ]*):(\d+))", location):
        if os.path.exists(os.path.join(ROOT, found[1])):  # a folder above the tree may have such a name too
            return found[1], int(found[2])
    return None


def lines_of(cross, elf, addresses):
    return subprocess.run([cross + "addr2line", "-e", elf], check=True, capture_output=True, text=True,
                          input="\n".join(hex(a) for a in addresses)).stdout.split("\n")


def call_names(path, line):
    """The names that this line calls (or lines near it, if the statement has several), names after a dot or an arrow
    first; and True if the line is a switch."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        lines = f.read().split("\n")
    for before, behind in ((0, 1), (2, 3)):
        text = " ".join(lines[max(line - 1 - before, 0):line - 1 + behind])
        names = re.findall(r"(?:->|\.)(\w+)\(", text)
        if names:
            return names, False
        if re.search(r"\bswitch\b", lines[line - 1]):
            return [], True
    return re.findall(r"(\w+)(?:\[\w+\])?\(", lines[line - 1]), False


class Image:
    def __init__(self, cross, elf, table):
        self.functions = read_functions(cross, elf, table.vectors)
        self.table = table
        self.by_name = {}
        for function in self.functions.values():
            self.by_name.setdefault(function.plain, []).append(function)
        self.problems = []
        self.deepest = {}
        self.find_files(cross, elf)
        self.resolve(cross, elf)

    def find_files(self, cross, elf):
        """Find the files of functions, which distinguish static functions of the same name."""
        functions = list(self.functions.values())
        lines = lines_of(cross, elf, [f.address for f in functions])
        for function, location in zip(functions, lines):
            source = source_of(location)
            function.file = os.path.basename(source[0]) if source else ""

    def matching(self, patterns):
        found = []
        for pattern in patterns:
            name, _, file = pattern.partition("@")
            names = fnmatch.filter(self.by_name, name) if name != "?" else []
            found += [f for n in sorted(names) for f in self.by_name[n] if file in ("", f.file)]
        return found

    def resolve(self, cross, elf):
        """Turn calls through pointers into direct calls."""
        sites = [(f, a, jump) for f in self.functions.values() for a, jump, _ in f.indirect]
        lines = lines_of(cross, elf, [a for _, a, _ in sites])
        for (function, address, jump), location in zip(sites, lines):
            depth = next(d for a, _, d in function.indirect if a == address)
            self.resolve_one(function, address, jump, depth, location)

    def resolve_one(self, function, address, jump, depth, location):
        source, names, is_switch, file = source_of(location), [], False, ""
        if source and not source[0].endswith(".S"):
            names, is_switch = call_names(*source) if not source[0].endswith(".def") else ([function.plain], False)
            file = os.path.basename(source[0])
        if jump and is_switch:
            return
        patterns = self.table.targets(names, file) or self.table.targets([function.plain], file)
        if patterns is None:
            self.problems.append(f"{function.name} calls a pointer at {address:x} ({location}, "
                                 f"{' '.join(names)}): name what it may be in the table")
            return
        targets = self.matching(patterns)
        if not targets and "?" not in patterns:
            self.problems.append(f"{function.name} at {address:x} ({location}): none of "
                                 f"{' '.join(patterns)} is in the image")
        function.calls.extend((t.name, depth) for t in targets)

    def callees(self, name):
        return [(c, at) for c, at in self.functions[name].calls if c in self.functions]

    def measure(self, entry):
        """The deepest stack from every function that the entry reaches. Functions that call each other in a circle are
        measured together, after all functions that they call."""
        for circle in circles(entry, lambda n: [c for c, _ in self.callees(n)], self.deepest):
            for name in circle:
                if self.functions[name].problem:
                    self.problems.append(f"{name}: {self.functions[name].problem}")
            name = circle[0]
            if len(circle) == 1 and name not in [c for c, _ in self.callees(name)]:
                below = [(at + self.deepest[c][0], (name, *self.deepest[c][1]))
                         for c, at in self.callees(name)]
                self.deepest[name] = max([(self.functions[name].frame, (name,)), *below])
            else:
                self.measure_circle(circle)
        return self.deepest[entry]

    def measure_circle(self, circle):
        """Each function of the circle is on the stack as often as the table allows, then the deepest function that they
        call."""
        times = [self.table.circles[n] for n in
                 (self.functions[f].plain for f in circle) if n in self.table.circles]
        if not times:
            self.problems.append("a circle of calls, which the table does not bound: " +
                                 " ".join(sorted(circle)))
        own = max(times, default=1) * sum(self.functions[n].frame for n in circle)
        below = [self.deepest[c] for n in circle for c, _ in self.callees(n) if c not in circle]
        bytes_, chain = max(below, default=(0, ()))
        for name in circle:
            self.deepest[name] = (own + bytes_, (name, *chain))


def circles(entry, callees, known):
    """Tarjan's strongly connected components of the functions that the entry reaches, callees first."""
    index, low, stack, found = {}, {}, [], []

    def visit(name):
        index[name] = low[name] = len(index)
        stack.append(name)
        for callee in callees(name):
            if callee in known:
                continue
            if callee not in index:
                visit(callee)
                low[name] = min(low[name], low[callee])
            elif callee in stack:
                low[name] = min(low[name], index[callee])
        if low[name] == index[name]:
            at = stack.index(name)
            found.append(stack[at:])
            del stack[at:]

    if entry not in known:
        visit(entry)
    return found


def limits(path):
    """The sizes of boot/stacks.h by name."""
    with open(path, encoding="utf-8") as f:
        return {n: int(v) for n, v in re.findall(r"#define (STACK_\w+) +(\d+)", f.read())}


def check_entry(image, board, entry, sizes, shows_chain):
    what, stack, names = entry
    found = [image.measure(f.name) for n in names for f in image.by_name.get(n, [])]
    if not found:
        return  # a function of another ISA
    most, chain = max(found)
    print(f"{board}: {what}: {most} of {sizes[stack]} bytes of stack")
    if shows_chain:
        for name in chain:
            print(f"  {image.functions[name].frame:6}  {name}")
    if most > sizes[stack]:
        image.problems.append(f"{what} may take {most} bytes of stack, and {stack} is {sizes[stack]}: " +
                              " > ".join(chain))


def main():
    cross, elf, table, stacks = sys.argv[1:5]
    table, sizes = Table(table), limits(stacks)
    image = Image(cross, elf, table)
    for entry in table.entries:
        check_entry(image, os.path.basename(os.path.dirname(elf)), entry, sizes, "-v" in sys.argv)
    for name in image.deepest:
        frame = image.functions[name].frame
        if frame > sizes["STACK_GUARD"]:
            image.problems.append(f"{name} has a frame of {frame} bytes, which can reach across a guard of "
                                  f"{sizes['STACK_GUARD']}")
    for problem in image.problems:
        print("stack.py: " + problem, file=sys.stderr)
    sys.exit(1 if image.problems else 0)


if __name__ == "__main__":
    main()
