#!/usr/bin/python3
"""Draw random sentences from messages and help, from the documents and from comments, for a reader who did not write them.

usage: draw.py [SEED] [--each N] [--where] [--beside N]

The same seed and tree give the same sentences. N sentences of each kind are drawn (20). A reader in a hurry marks every sentence that must be read
twice; rewrite those, and all others of the same pattern. --where names the file and line of each sentence; --beside also
prints the file from three lines before its comment or paragraph to N lines after the first: a comment is read beside its code."""

import argparse
import os
import random
import re

import prose

# A sentence ends with a stop before a space. The spaced range "0 .. 9" belongs to its sentence.
SENTENCE = re.compile(r"[^.!?]+(?:(?:[.!?](?!\s|$)|(?<= \.)\.(?=\s))[^.!?]*)*[.!?]?(?=\s|$)")
# A banner above a part of a file; it belongs to no sentence.
BANNER = re.compile(r"-{3,} [^.]*? -{4,}[ *]*")
# Left out: code, tables of numbers, and texts by other people.
LEFT_OUT = ("tests/mutate", "docs/SEEDS.md", "docs/OPTIONS.md", "CHANGELOG.md", "docs/decisions/", "docs/experiments/")


def is_sentence(text):
    """True for at least five words, of which most have only letters, and which are not the name of a picture."""
    words = text.split() if not text.startswith("[") else []
    plain_words = [w for w in words if re.fullmatch(r"[A-Za-z][a-z']*[,.;:!?]?", w)]
    return len(words) >= 5 and len(plain_words) * 10 >= len(words) * 6


def kind_of(name):
    """messages, comments or docs; None for files of neither kind."""
    ending = os.path.basename(name).rsplit(".", 1)[-1]
    if ending == "md":
        return "docs"
    return "code" if ending in prose.C_LIKE else "comments" if ending in prose.SCRIPTS else None


def joined(text):
    """Text of C or assembly in which adjacent strings are joined, and so are adjacent lines of //. Line ends within them become \\v."""
    text = re.sub(r'(?<=[^\\"])"(?:\s*PRI\w+)?\s+"(?=[^"])', lambda m: "\v" * m.group(0).count("\n"), text)
    lines = text.split("\n")
    for i in range(len(lines) - 1, 0, -1):
        if lines[i].lstrip().startswith("//") and lines[i - 1].lstrip().startswith("//"):
            lines[i - 1] += "\v" + lines[i].lstrip().removeprefix("//")
            del lines[i]
    return "\n".join(lines)


def parts(name, text):
    """(kind, offset, prose) of a file: strings of C are messages, its comments are comments."""
    kind = kind_of(name)
    for at, said in prose.prose(name, text):
        said = BANNER.sub("", said.replace("\v", " "))
        if kind != "code":
            yield kind, at, said
        elif not name.startswith("tests/"):
            is_message = text[at] == '"'
            yield "messages" if is_message else "comments", at, said.replace("\\n", " ") if is_message else said


def sentences():
    """{kind: [(file:line, sentence)]} of the tree, in the order of its files."""
    found = {"messages": [], "docs": [], "comments": []}
    for name in prose.tracked():
        if kind_of(name) is None or name.startswith(LEFT_OUT):
            continue
        with open(os.path.join(prose.ROOT, name), encoding="utf-8") as f:
            text = f.read()
        text = joined(text) if kind_of(name) == "code" else text
        for kind, at, said in parts(name, text):
            line = text.count("\n", 0, at) + text.count("\v", 0, at) + 1
            pieces = re.split(r" \| |(?<=\|) | (?=- )", said) if kind == "docs" else [said]
            for piece in pieces:
                texts = [m.group(0).strip(" |-*") for m in SENTENCE.finditer(piece)]
                found[kind] += [(f"{name}:{line}", s) for s in texts if is_sentence(s) and not (kind == "docs" and s.startswith("#"))]
    return found


def draw(found, seed, each):
    """{kind: `each` of its sentences, drawn at random}."""
    order = random.Random(seed)
    return {kind: order.sample(all_of, min(each, len(all_of))) for kind, all_of in found.items()}


def beside(where, lines_after):
    """The file's lines around file:line, each indented."""
    name, line = where.rsplit(":", 1)
    with open(os.path.join(prose.ROOT, name), encoding="utf-8") as f:
        lines = f.read().split("\n")
    return "".join(f"       | {text}\n" for text in lines[max(int(line) - 4, 0):int(line) + lines_after])


def main():
    args = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    args.add_argument("seed", nargs="?", type=int, default=1)
    args.add_argument("--each", type=int, default=20, metavar="N")
    args.add_argument("--where", action="store_true")
    args.add_argument("--beside", type=int, default=0, metavar="N")
    asked = args.parse_args()
    for kind, drawn in draw(sentences(), asked.seed, asked.each).items():
        print(f"{kind}:")
        for i, (where, sentence) in enumerate(drawn, 1):
            print(f"  {i:2} {sentence}" + (f"  [{where}]" if asked.where or asked.beside else ""))
            if asked.beside:
                print(beside(where, asked.beside))


if __name__ == "__main__":
    main()
