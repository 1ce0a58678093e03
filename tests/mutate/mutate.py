#!/usr/bin/python3
"""Changes one line of a copy of the tree, builds what should see it, runs that, and says whether
anything did: for every row of the table, a line of TAP. `make mutate` runs it; README.md tells the
rest. The tree that it is called in is only read.

    mutate.py BUILD [--pick TEXT] [--jobs N] [--again] [--list]"""

import argparse
import os
import re
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import copy_of_tree
import suites
from results import Results, digest
from table import ROWS

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KILLED, SURVIVED, NO_BUILD, NOT_FOUND = "killed", "survived", "does not build", "not found"
ENOUGH = 0.9  # of the mutants must be killed


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def mutant_of(row, root):
    """The file's text with the row's change; None where its text is not there exactly once."""
    path = os.path.join(root, row.file)
    text = read(path) if os.path.exists(path) else ""
    if text.count(row.find) != 1:
        return None
    return text.replace(row.find, row.replace)


def tests_of(row, root):
    """A digest of the tests that are to see it."""
    paths = [os.path.join(root, path) for suite in row.suites for path in suites.sources(suite)]
    return digest([read(path) for path in paths if os.path.exists(path)])


def try_mutant(row, mutant, tree):
    """(KILLED, SURVIVED or NO_BUILD, what saw it or why it does not build)."""
    path = os.path.join(tree, row.file)
    original = read(path)
    copy_of_tree.write(path, mutant)
    try:
        for suite in row.suites:
            error = suites.build(suite, tree)
            if error:
                return NO_BUILD, error
            how = suites.run(suite, tree)
            if how:
                return KILLED, how
        return SURVIVED, ", ".join(row.suites)
    finally:
        copy_of_tree.write(path, original)


class Run:
    """Rows over trees: each worker thread has a copy of its own."""

    def __init__(self, folder, results):
        self.folder = folder
        self.results = results
        self.lock = threading.Lock()
        self.trees = []
        self.mutants = {}
        self.keys = {}
        self.tests = {}
        self.n = 0
        self.counts = {KILLED: 0, SURVIVED: 0, NO_BUILD: 0, NOT_FOUND: 0}
        self.bad = 0

    def prepare(self, jobs, rows):
        """The copies, each with everything built that the rows' suites need and the suites passing:
        what fails without a mutant would seem to kill them all."""
        first = copy_of_tree.make(ROOT, os.path.join(self.folder, "tree-1"),
                                  os.path.join(self.folder, "../newlib"))
        self.mutants = {row.name: mutant_of(row, first) for row in rows}
        self.keys = {row.name: digest([row.name, self.mutants[row.name], *row.suites])
                     for row in rows if self.mutants[row.name]}
        self.tests = {row.name: tests_of(row, first) for row in rows}
        rows = [row for row in rows if row.name in self.keys and not self.known(row)]
        for suite in sorted({suite for row in rows for suite in row.suites}):
            self.check_suite(suite, first)
        self.trees = [first] + [copy_of_tree.clone(first, os.path.join(self.folder, f"tree-{i}"))
                                for i in range(2, jobs + 1)]

    def known(self, row):
        """The earlier result of the same mutant: it was killed, or the same tests let it pass."""
        result = self.results.get(self.keys[row.name])
        if result and result["outcome"] != KILLED and result["tests"] != self.tests[row.name]:
            return None
        return result

    def check_suite(self, suite, tree):
        error = suites.build(suite, tree)
        key = "" if error else suites.state(suite, tree)
        if self.results.get(key):
            return
        error = error or suites.run(suite, tree)
        if error:
            sys.exit(f"Bail out! {suite} fails without a mutant: {error}")
        self.results.put(key, name=suite, outcome="passes")

    def take_tree(self):
        with self.lock:
            return self.trees.pop()

    def do_row(self, row):
        mutant = self.mutants[row.name]
        if mutant is None:
            return self.report(row, NOT_FOUND, f"its text is not once in {row.file}", 0)
        known = self.known(row)
        if known:
            return self.report(row, known["outcome"], known["detail"], known["seconds"])
        tree = self.take_tree()
        start = time.monotonic()
        outcome, detail = try_mutant(row, mutant, tree)
        seconds = time.monotonic() - start
        with self.lock:
            self.trees.append(tree)
            self.results.put(self.keys[row.name], name=row.name, outcome=outcome, detail=detail,
                             seconds=round(seconds), tests=self.tests[row.name])
        self.report(row, outcome, detail, seconds)

    def report(self, row, outcome, detail, seconds):
        line = f"{row.name}: {outcome}"
        good = outcome == KILLED
        if outcome == KILLED:
            line += f" by {detail}"
        elif outcome == SURVIVED and row.reason:
            line += f" # TODO {row.reason}"
        elif outcome == SURVIVED:
            line += f" {detail}"
        if good and row.reason:
            good, line = False, f"{row.name}: is killed by {detail}, but has a reason to survive"
        with self.lock:
            self.n += 1
            self.counts[outcome] += 1
            self.bad += not good and not (outcome == SURVIVED and row.reason)
            print(f"{'ok' if good else 'not ok'} {self.n} - {line} ({seconds:.0f} s)")
            if outcome in (NO_BUILD, NOT_FOUND):
                print("# " + detail.replace("\n", "\n# "))
            sys.stdout.flush()

    def summary(self):
        counted = self.counts[KILLED] + self.counts[SURVIVED]
        share = self.counts[KILLED] / counted if counted else 0
        print(f"1..{self.n}")
        print(f"# {counted} mutants: {self.counts[KILLED]} killed ({share:.0%}), "
              f"{self.counts[SURVIVED]} survived; {self.counts[NO_BUILD]} do not build, "
              f"{self.counts[NOT_FOUND]} not found")
        return self.bad == 0 and share >= ENOUGH


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--pick", default="", help="rows whose name, file or suites match this")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--again", action="store_true", help="forget the results of the rows")
    parser.add_argument("--list", action="store_true", help="the rows, and whether they are found")
    options = parser.parse_args()
    rows = [row for row in ROWS
            if re.search(options.pick, " ".join((row.name, row.file) + row.suites))]
    if not rows:
        sys.exit(f"no row of tests/mutate has \"{options.pick}\"")
    if options.list:
        for row in rows:
            print("ok  " if mutant_of(row, ROOT) else "GONE", f"{row.name} ({row.file})")
        return
    folder = os.path.join(os.path.abspath(options.build), "mutate")
    results = Results(os.path.join(folder, "results.jsonl"))
    if options.again:
        results.forget({row.name for row in rows})
    run = Run(folder, results)
    run.prepare(max(1, min(options.jobs, len(rows))), rows)
    with ThreadPoolExecutor(len(run.trees)) as pool:
        list(pool.map(run.do_row, rows))
    sys.exit(0 if run.summary() else 1)


if __name__ == "__main__":
    main()
