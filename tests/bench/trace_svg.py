#!/usr/bin/python3
"""Draws a trace: a line for the card and a line for each core; time spent waiting is white.

usage: trace_svg.py TRACE.json OUT.svg [FROM TO], in milliseconds. The trace is what `ingot run
--trace FILE` wrote, or the lines between [ and ] that an image printed with trace=1."""

import json
import sys

CARD = 64
WIDTH, LINE, LEFT = 900, 28, 60
COLOURS = {"layer": "#4a7ab5", "head": "#b5654a", "tile": "#7a9a4a", "expert": "#c08a2a"}
INSIDE = {"expert": 1, "wait": 2}  # parts of a layer, drawn over the layer


def label_of(kind, number, on_core):
    """The text on a bar. On the card's line an expert's bar has its number, on a core's line none."""
    if kind == "expert":
        return "" if on_core else number.partition(".")[2]
    return "H" if kind == "head" else number


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        events = json.load(f)
    start, end = (float(x) * 1000 for x in sys.argv[3:5]) if len(sys.argv) > 4 else (
        min(e["ts"] for e in events), max(e["ts"] + e["dur"] for e in events))
    lines = [CARD] + sorted({e["tid"] for e in events} - {CARD})
    scale = (WIDTH - LEFT) / (end - start)
    height = LINE * len(lines) + 24
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
           'font-family="sans-serif" font-size="11">',
           f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>']
    for i, tid in enumerate(lines):
        name = "card" if tid == CARD else f"core {tid}"
        out.append(f'<text x="4" y="{i * LINE + 18}">{name}</text>')
    for e in sorted(events, key=lambda e: INSIDE.get(e["name"].split()[0], 0)):
        kind, number = e["name"].split()
        x0, x1 = max(e["ts"], start), min(e["ts"] + e["dur"], end)
        if x1 <= x0:
            continue
        x, w = LEFT + (x0 - start) * scale, max((x1 - x0) * scale, 0.3)
        y = lines.index(e["tid"]) * LINE + 4
        out.append(f'<rect x="{x:.1f}" y="{y}" width="{w:.1f}" height="{LINE - 8}" '
                   f'fill="{COLOURS.get(kind, "#fff")}" stroke="#fff" stroke-width="0.5"/>')
        label = label_of(kind, number, e["tid"] != CARD)
        if w > 14 and kind != "wait":
            out.append(f'<text x="{x + 2:.1f}" y="{y + 14}" fill="#fff">{label}</text>')
    experts = any(e["name"].startswith("expert") for e in events)
    names = "blue: layers, brown: their experts" if experts else "numbers: layers"
    out.append(f'<text x="{LEFT}" y="{height - 6}">{(end - start) / 1000:.0f} ms; {names}, '
               'H: the head</text></svg>')
    with open(sys.argv[2], "w", encoding="utf-8") as f:
        f.write("\n".join(out) + "\n")


main()
