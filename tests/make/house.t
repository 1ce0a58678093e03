#!/usr/bin/python3
"""toolchain/house.py counts correctly in a small tree with a known number of each thing, then with one more of each."""

import os
import sys

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", folder) for folder in ("", "mutate", "../toolchain")]
import house
import mutate
from machine import Tap

tap = Tap()
house.BOARDS = ["anvil"]
TREE = {
    "Makefile": "all: q5k\n",
    "kernels/arm64/gemv_f32_q5kx8_neon.S": "func gemv_f32_q5kx8_neon\n" * 20,
    "kernels/arm64/gemm_f32_q4x8_neon.S": "func gemm\n" * 30,
    "kernels/blocks.h": "/* Q5_K */\n",
    "flash_image/pack/pack_types.c": "#include \"flash_image/pack/pack.h\"\ncase TYPE_Q5_K: \"q4_k_m\"\n",
    "flash_image/pack/pack.h": "int pack;\n",
    "runtime/options/options.h": "struct options_load {\n    uint32_t pinned;\n};\nenum option {\n    OPTION_PINNED, /* pinned=COUNT */\n};\n",
    "runtime/app/app.c": "#include \"runtime/features/fabric/fabric.h\"\nuse(o->load.pinned);\n",
    "runtime/features/fabric/fabric.h": "int fabric;\n",
    "runtime/chat/chat.h": "struct chat {\n    int a, b; /* c, d; */\n    struct { int inner; } e;\n    void (*f)(int, int);\n    char g[2];\n};\n",
    "host/table.c": "\"anvil\"\n",
    "board/anvil/board.c": "anvil\n",
    "README.md": "`pinned=` and anvil and Q5_K\n",
    "image.bin": None,
}


def figure(files, what):
    return next(text for name, text in house.measure(files) if name.startswith(what))


def more(files):
    return {**TREE, **files}


def row(name, what, before, change, after):
    tap.ok(figure(TREE, what) == before and figure(more(change), what) == after, name,
           f"{figure(TREE, what)} and {figure(more(change), what)}, not {before} and {after}")


row("files that name a weight type, shared ones, and those outside kernels/", "a weight type", "4 / 3 / 2 (Q5_K)",
    {"host/fit.c": "q5_k\n", "tests/one.t": "Q5_K\n"}, "5 / 4 / 3 (Q5_K)")
row("a mixture is not the type, nor a longer name", "a weight type", "4 / 3 / 2 (Q5_K)", {"host/a.c": "q5_k_m\n", "host/b.c": "freq5_k q5_kind\n"}, "4 / 3 / 2 (Q5_K)")
row("files that list an option, and that read it", "an option", "2 / 1 (pinned)", {"host/flags.c": "\"--pinned\"\n", "boot/main.c": "o->load.pinned\n"}, "3 / 2 (pinned)")
row("files outside its folder that name a board", "a board", "1 (anvil)", {"tests/b.t": "anvil\n", "docs/B.md": "anvil\n", "host/c.c": "anvils\n"}, "2 (anvil)")
row("folders of a feature, and files that include it", "a feature", "1 / 1 (fabric)", {"runtime/learn/fabric_move.c": "\n", "runtime/chat/a.c": "#include \"runtime/features/fabric/fabric.h\"\n"},
    "2 / 2 (fabric)")
row("lines", "lines", f"{sum(t.count(chr(10)) for t in TREE.values() if t):,}", {"a.c": "\n\n", "data.js": "x" * 2001 + "\n"},
    f"{sum(t.count(chr(10)) for t in TREE.values() if t) + 2:,}")
row("files of assembly, and short ones", ".S files", "2 / 1", {"kernels/x.S": "\n"}, "3 / 2")
row("circles of folders", "circles", "0", {"flash_image/pack/pack.h": "#include \"kernels/blocks.h\"\n", "kernels/blocks.h": "#include \"runtime/chat/chat.h\"\n",
                                           "runtime/chat/chat.h": "#include \"flash_image/pack/pack.h\"\n"}, "1")
row("members of struct chat", "struct chat", "5", {"runtime/chat/chat.h": TREE["runtime/chat/chat.h"].replace("int a, b;", "int a, b, *h;\n    long i;")}, "7")
REPLY = {"runtime/chat/chat_reply.c": "void chat_reply(struct chat *c)\n{\n    begin(c);\n    end(c); /* begin(c) */\n    begin(c);\n}\n",
         "runtime/chat/a.c": "static void twice(int n)\n{\n    end(n);\n}\n\nvoid begin(struct chat *c)\n{\n    twice(2);\n}\n\nvoid end(int n)\n{\n    n = 1;\n}\n"}
row("a reply through the files of the chat, each function once, and through a feature", "a reply", "0 / 0 / 0 / 0", REPLY, "3 / 2 / 1 / 0")
tap.ok(figure(more({**REPLY, "runtime/features/fabric/fabric.c": "void end(int n)\n{\n    n = 1;\n}\n", "runtime/chat/a.c": REPLY["runtime/chat/a.c"].split("void end")[0]}),
              "a reply") == "5 / 3 / 2 / 1", "house.py counts the share of a feature's code")
counted = house.lines_added("5\t2\tboot/a.c\n1\t1\t" "tests/{b => c}/d.t\n-\t-\timage.png\n\n7\t0\tdocs/E.md\n0\t4\tboot/a.c\n")
tap.ok(counted == (-1, 0, 7), "house.py counts what commits added: code, tests and documents", counted)
row("folders that are too full", "folders over 60", "0", {f"host/{i}.c": "" for i in range(60)}, "1")
tap.ok(figure(more({f"host/{i}.c": "" for i in range(60)}), "the largest") == "61 (host)", "house.py names the largest folder")
lost = [row.name for row in mutate.ROWS if mutate.mutant_of(row, house.ROOT) is None]
tap.ok(not lost and len(mutate.ROWS) > 400, f"each of {len(mutate.ROWS)} rows of make mutate finds its text once", lost)
if os.path.exists(os.path.join(house.ROOT, ".git")):
    now = house.tracked(house.ROOT)
    tap.ok(len(now) > 2000 and house.struct_chat(now) > 0 and house.of_option(now, "pinned")[0] == 1,
           "in the tree itself, an option is defined in one file", len(now))
tap.done()
