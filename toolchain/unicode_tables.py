#!/usr/bin/python3
"""Write runtime/text/unicode_table.c, the general categories that tokenizers tell apart, or, with --nfc,
runtime/text/nfc_table.c, canonical decompositions and combining classes, from the distribution's
Unicode data (Debian's package unicode-data). The results are committed, so a build needs neither this script nor the
data.
usage: unicode_tables.py [--nfc] [FOLDER of UnicodeData.txt and PropList.txt] > OUT"""

import os
import re
import sys

WORDS = [word for word in sys.argv[1:] if word != "--nfc"]
FOLDER = WORDS[0] if WORDS else "/usr/share/unicode"
STEP = 16  # number of runs for which the index has one entry
# In the order of enum unicode_class.
CLASSES = {"Lu": 2, "Ll": 3, "Lt": 4, "Lm": 5, "Lo": 6, "M": 7, "N": 8, "P": 9, "S": 10}
SPACE = 1
UPPER, LOWER = CLASSES["Lu"], CLASSES["Ll"]
UPPER_FIRST, LOWER_FIRST = 11, 12  # runs in which both classes alternate
SHORT, BYTE, LONG = 14, 14, 15  # a length up to SHORT is in the first byte's low nibble


def lines(name):
    with open(os.path.join(FOLDER, name), encoding="utf-8") as f:
        return f.read().splitlines()


def classes():
    table = bytearray(0x110000)
    first = 0
    for line in lines("UnicodeData.txt"):
        code, name, category = line.split(";")[:3]
        code = int(code, 16)
        first = first if name.endswith(", Last>") else code
        kind = CLASSES.get(category, CLASSES.get(category[0], 0))
        table[first:code + 1] = bytes([kind]) * (code + 1 - first)
        first = code
    for line in lines("PropList.txt"):
        found = re.match(r"([0-9A-F]+)(?:\.\.([0-9A-F]+))?\s*; White_Space\b", line)
        if found:
            low, high = int(found[1], 16), int(found[2] or found[1], 16)
            table[low:high + 1] = bytes([SPACE]) * (high + 1 - low)
    return table


def version():
    return re.match(r"# PropList-([\d.]+)\.txt", lines("PropList.txt")[0])[1]


def runs(table):
    """(length, class) of consecutive code points of the same class."""
    first = 0
    for code in range(1, len(table) + 1):
        if code == len(table) or table[code] != table[first]:
            yield code - first, table[first]
            first = code


def alternating(pairs):
    """Merge alternating single upper and lower letters, as in most alphabets, into one run."""
    at = 0
    while at < len(pairs):
        end = at
        while (end < len(pairs) and pairs[end][0] == 1 and
               pairs[end][1] == (pairs[at][1] if (end - at) % 2 == 0 else UPPER + LOWER - pairs[at][1])
               and pairs[at][1] in (UPPER, LOWER)):
            end += 1
        if end - at > 2:
            yield end - at, UPPER_FIRST if pairs[at][1] == UPPER else LOWER_FIRST
            at = end
        else:
            yield pairs[at]
            at += 1


def packed(length, kind):
    if length <= SHORT:
        return bytes([kind << 4 | length - 1])
    if length <= SHORT + 256:
        return bytes([kind << 4 | BYTE, length - SHORT - 1])
    return bytes([kind << 4 | LONG]) + length.to_bytes(3, "little")


def show(kind, name, values):
    print(f"\nconst {kind} {name}[{len(values)}] = {{")
    line = "   "
    for value in values:
        if len(line) + len(str(value)) + 2 > 100:
            print(line)
            line = "   "
        line += f" {value},"
    print(line + "\n};")


def write_classes():
    table = classes()
    stream, starts, offsets, code = b"", [], [], 0
    for i, (length, kind) in enumerate(alternating(list(runs(table)))):
        if i % STEP == 0:
            starts.append(code)
            offsets.append(len(stream))
        stream += packed(length, kind)
        code += length
    print(f"""/* Unicode {version()}, general categories; toolchain/unicode_tables.py writes this.
 * unicode_runs: runs of code points of one class from U+0000 to U+10FFFF, the class in the high
 * nibble of a byte. The low one: 0 to {SHORT - 1}, the length less 1; {BYTE}: a byte follows, the length less
 * {SHORT + 1}; {LONG}: three bytes follow, the length. Class {UPPER_FIRST}: upper and lower letters in turn, {LOWER_FIRST}: lower and
 * upper. Run {STEP} * i begins at unicode_starts[i], and at byte unicode_offsets[i] of the runs. */
#include "runtime/text/unicode_table.h"

const unsigned unicode_n_starts = {len(starts)};""")
    show("uint8_t", "unicode_ascii", table[:128])
    show("uint32_t", "unicode_starts", starts)
    show("uint16_t", "unicode_offsets", offsets)
    show("uint8_t", "unicode_runs", stream)


# ---- canonical composition ---------------------------------------------------------------------

def nfc_facts():
    """Combining classes, decompositions into one and into two code points, and decompositions that are never
    composed."""
    marks, single, pairs, excluded = {}, {}, {}, set()
    for line in lines("UnicodeData.txt"):
        fields = line.split(";")
        code, parts = int(fields[0], 16), fields[5].split()
        if int(fields[3]):
            marks[code] = int(fields[3])
        if parts and not parts[0].startswith("<"):
            parts = [int(part, 16) for part in parts]
            (single if len(parts) == 1 else pairs)[code] = parts[0] if len(parts) == 1 else tuple(parts)
    for line in lines("CompositionExclusions.txt"):
        found = re.match(r"([0-9A-F]{4,6})\b", line)
        if found:
            excluded.add(int(found[1], 16))
    # marks that decompose, and decompositions that begin with a mark, are never composed either
    excluded |= {code for code, (first, _) in pairs.items() if code in marks or first in marks}
    return marks, single, pairs, excluded


def ranges_of(codes):
    """(first, length) of neighbours."""
    out = []
    for code in sorted(codes):
        if out and code == out[-1][0] + out[-1][1]:
            out[-1][1] += 1
        else:
            out.append([code, 1])
    return out


def show_ranges(name, ranges):
    """Print the number of the first entry for each first code point, then one more number, which ends the last
    range."""
    starts, at = [], 0
    for _, length in ranges:
        starts.append(at)
        at += length
    show("uint32_t", name + "_first", [first for first, _ in ranges])
    show("uint16_t", name + "_entry", starts + [at])


def write_nfc():
    marks, single, pairs, excluded = nfc_facts()
    seconds = sorted({second for _, second in pairs.values()})
    firsts = sorted({first for first, _ in pairs.values()})
    assert len(seconds) < 128
    runs = []
    for code in sorted(marks):
        if runs and code == runs[-1][0] + runs[-1][1] and marks[code] == runs[-1][2] and runs[-1][1] < 255:
            runs[-1][1] += 1
        else:
            runs.append([code, 1, marks[code]])
    print(f"""/* Unicode {version()}, canonical composition; toolchain/unicode_tables.py --nfc writes this. Hangul syllables
 * are computed and not here. nfc_table.h says what each table holds. */
#include "runtime/text/nfc_table.h"

const unsigned nfc_n_marks = {len(runs)};
const unsigned nfc_n_single = {len(ranges_of(single))};
const unsigned nfc_n_pairs = {len(ranges_of(pairs))};
const unsigned nfc_n_seconds = {len(seconds)};""")
    show("uint32_t", "nfc_mark_first", [first for first, _, _ in runs])
    show("uint8_t", "nfc_mark_length", [length for _, length, _ in runs])
    show("uint8_t", "nfc_mark_class", [kind for _, _, kind in runs])
    show_ranges("nfc_single", ranges_of(single))
    show("uint16_t", "nfc_single_low", [single[code] & 0xffff for code in sorted(single)])
    show("uint8_t", "nfc_single_high", [single[code] >> 16 for code in sorted(single)])
    show_ranges("nfc_pair", ranges_of(pairs))
    show("uint16_t", "nfc_pair_a", [pairs[code][0] & 0xffff for code in sorted(pairs)])
    show("uint8_t", "nfc_pair_b", [seconds.index(pairs[code][1]) | 128 * (code in excluded) for code in sorted(pairs)])
    show("uint32_t", "nfc_seconds", seconds)
    # the upper bits of a pair's first part equal those of the pair's code point
    assert all(first >> 16 == code >> 16 for code, (first, _) in pairs.items()), firsts


if "--nfc" in sys.argv:
    write_nfc()
else:
    write_classes()
