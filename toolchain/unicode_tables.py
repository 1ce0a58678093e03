#!/usr/bin/python3
"""Write runtime/unicode_table.c, the general categories that tokenizers tell apart, from the
distribution's Unicode data (Debian's package unicode-data). The result is committed: building
needs neither. usage: unicode_tables.py [FOLDER of UnicodeData.txt and PropList.txt] > OUT"""

import os
import re
import sys

FOLDER = sys.argv[1] if len(sys.argv) > 1 else "/usr/share/unicode"
BLOCK, PAGE = 16, 32  # code points a block, blocks a page: the smallest of the sizes tried
# In the order of enum unicode_class.
CLASSES = {"Lu": 2, "Ll": 3, "Lt": 4, "Lm": 5, "Lo": 6, "M": 7, "N": 8, "P": 9, "S": 10}
SPACE = 1


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


def share(items):
    """Equal items once: (the different ones in order of appearance, the number of each)."""
    places = {}
    numbers = [places.setdefault(item, len(places)) for item in items]
    return list(places), numbers


def cut(sequence, size):
    return [tuple(sequence[i:i + size]) for i in range(0, len(sequence), size)]


def show(kind, name, values):
    print(f"\nconst {kind} {name}[{len(values)}] = {{")
    line = "   "
    for value in values:
        if len(line) + len(str(value)) + 2 > 100:
            print(line)
            line = "   "
        line += f" {value},"
    print(line + "\n};")


blocks, block_of = share(cut(classes(), BLOCK))
pages, page_of = share(cut(block_of, PAGE))
print(f"""/* Unicode {version()}, general categories; toolchain/unicode_tables.py writes this.
 * Code point c: page unicode_pages[c / {BLOCK * PAGE}], block unicode_blocks[page][c / {BLOCK} % {PAGE}],
 * class a nibble of unicode_classes[block], the low one first. */
#include "runtime/unicode_table.h\"""")
show("uint8_t", "unicode_pages", page_of)
show("uint16_t", "unicode_blocks", [b for page in pages for b in page])
show("uint8_t", "unicode_classes",
     [b[i] | b[i + 1] << 4 for b in blocks for i in range(0, BLOCK, 2)])
