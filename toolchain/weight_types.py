#!/usr/bin/python3
"""The types of weights for Python: reads the rows of flash_image/format/types.def, and makes the documents' tables of
them. usage: weight_types.py --check | --write"""

import collections
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DEF = "flash_image/format/types.def"
FIELDS = {
    "FLOATS": "NAME id name cols bytes gguf",
    "WEIGHTS": "NAME id name layout cols act halves fit of bytes d m gguf",
    "PACKED": "NAME id name layout cols act halves fit of bytes d m WIDE wide source",
    "READ_FLOATS": "NAME name bytes gguf",
    "READ": "NAME name of bytes gguf",
    "MIXTURE": "name most output value value_sensitive down down_sensitive",
    "STAND_IN": "name stored",
    "SUITS": "NAME",
    "AUTO": "NAME",
}
FIELDS["TABLED"] = FIELDS["TABLED_OWN"] = FIELDS["TABLED_AGAIN"] = FIELDS["WEIGHTS"]
FIELDS["ASKED"] = FIELDS["READ"]
FIELDS["MIXTURE_TOO"] = FIELDS["MIXTURE"]
FIELDS["SUITS_CARDS"] = FIELDS["SUITS_EXPERTS"] = FIELDS["SUITS"]
Type = collections.namedtuple("Type", "kind NAME id name layout cols act halves fit of bytes d m gguf")


def rows():
    """(kind, {field: text}) of every row, in order."""
    with open(os.path.join(ROOT, DEF), encoding="utf-8") as f:
        text = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
    for kind, values in re.findall(r"^TYPE_(\w+)\(([^)]+)\)", text, re.M):
        names, values = FIELDS[kind].split(), [v.strip() for v in values.split(",")]
        assert len(names) == len(values), f"{DEF}: TYPE_{kind}({', '.join(values)}) is not ({', '.join(names)})"
        yield kind, dict(zip(names, values))


def read_types():
    out = []
    for kind, row in rows():
        if "NAME" in row and "name" in row:
            numbers = {k: int(v) for k, v in row.items() if re.fullmatch(r"\d+", v)}
            values = {**dict.fromkeys(Type._fields), "kind": kind, "of": 1, **row, **numbers}
            values["gguf"] = numbers.get("gguf")
            out.append(Type(**{field: values[field] for field in Type._fields}))
    return out


TYPES = read_types()
STORED = [t for t in TYPES if t.id is not None]        # types of .ingot files
BLOCKS = [t for t in STORED if t.layout is not None]   # types stored in groups of eight rows
IN_GGUF = [t for t in TYPES if t.gguf is not None]
LAYOUTS = [t for t in BLOCKS if t.kind != "TABLED_AGAIN"]
PACKED = {row["NAME"]: row["source"] for kind, row in rows() if kind == "PACKED"} # .ingot's type: GGUF's
MIXTURES = [row["name"] for kind, row in rows() if kind == "MIXTURE"]
GROUP_ROWS = 8


def group_bytes(t):
    """Bytes of a block of eight rows, from its struct in kernels/blocks.h; the compiler checks the number."""
    with open(os.path.join(ROOT, "kernels/blocks.h"), encoding="utf-8") as f:
        text = f.read()
    same = re.search(rf"#define block_{t.layout}x8 block_(\w+)x8", text)
    name = same[1] if same else t.layout
    symbol = re.search(rf"LAYOUT_BYTES\(block_{name}x8, (\w+)\)", text)[1]
    return int(re.search(rf"#define {symbol} (\d+)", text)[1])


def bits(t):
    """Bits of a weight in an .ingot file."""
    return 8 * t.bytes if t.layout is None else 8 * group_bytes(t) / GROUP_ROWS / t.cols


def table(head, lines):
    out = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(out + ["| " + " | ".join(str(cell) for cell in line) + " |" for line in lines])


def format_table():
    return table(("number", "type", "columns of a block", "its bytes of one row", "other columns", "fp16 numbers of eight rows"),
                 [(t.id, t.NAME, t.cols, t.cols * t.bytes if t.layout is None else group_bytes(t) // GROUP_ROWS,
                   "refused" if t.fit == "WHOLE" else "filled up with zeros", "" if t.layout is None else t.halves)
                  for t in sorted(STORED, key=lambda t: t.id)])


def models_table():
    return table(("`--type`", "bits a weight", "columns of a row", "as in a GGUF file"),
                 [(t.name, f"{bits(t):.4g}", "any" if t.fit != "WHOLE" else f"a multiple of {t.cols}",
                   "" if t.gguf is None else t.NAME) for t in STORED if t.kind != "PACKED"])


PAGES = {"flash_image/FORMAT.md": format_table, "docs/MODELS.md": models_table}
MARKS = re.compile(r"(<!-- types\.def: make format writes this table -->\n).*?(<!-- end -->)", re.S)


def main():
    wrong = 0
    for page, make in PAGES.items():
        path = os.path.join(ROOT, page)
        with open(path, encoding="utf-8") as f:
            text = f.read()
        new, n = MARKS.subn(lambda m, make=make: m[1] + make() + "\n" + m[2], text)
        if n != 1:
            print(f"{page}: {n} tables of the types of weights, not 1")
            wrong += 1
        elif new != text and "--write" in sys.argv:
            with open(path, "w", encoding="utf-8") as f:
                f.write(new)
        elif new != text:
            print(f"{page}: its table of the types of weights is not that of {DEF}: run make format")
            wrong += 1
    sys.exit(wrong != 0)


if __name__ == "__main__":
    main()
