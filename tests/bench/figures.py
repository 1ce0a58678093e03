"""Prints figures as a table, and writes them to a CSV file whose rows say how each figure was obtained."""

import csv
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import BUILD

COUNTED = "counted in QEMU, -icount shift=0, 1 core"
ICOUNT = ["-icount", "shift=0"]


def text(value):
    """A number in four digits, in thousands or millions if that is shorter."""
    for unit, factor in (("M", 1e6), ("k", 1e3)):
        if value >= 10 * factor:
            return f"{value / factor:.4g} {unit}"
    return f"{value:.4g}"


def print_table(title, head, rows):
    rows = [[str(cell) for cell in row] for row in [head] + rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    print(f"\n{title}\n")
    for i, row in enumerate(rows):
        print("| " + " | ".join(cell.ljust(w) if j == 0 or not cell[:1].isdigit() else
                                cell.rjust(w)
                                for j, (cell, w) in enumerate(zip(row, widths))) + " |")
        if i == 0:
            print("|" + "|".join("-" * (w + 2) for w in widths) + "|")
    sys.stdout.flush()


def write_csv(name, rows):
    """rows: (machine, subject, figure, value, unit, how)."""
    path = os.path.join(BUILD, name)
    with open(path, "w", newline="", encoding="utf-8") as f:
        writer = csv.writer(f)
        writer.writerow(["machine", "subject", "figure", "value", "unit", "how"])
        writer.writerows(rows)
    print(f"\n{len(rows)} figures in {os.path.relpath(path)}")
