#!/usr/bin/python3
"""NOTICE: the licences of everything that is in an image, in the Linux programs and in the page, from what was really
linked.

usage: notice.py BUILD OUT BOARD...

The map of each board's image names the members of archives that the linker took; the programs' objects lie beside them. A
part whose licence is not found is an error."""

import glob
import lzma
import os
import re
import sys
import tarfile

DOC = "/usr/share/doc"
# Archives that a map may name: the file's name, and whose it is.
ARCHIVES = {"libc.a": "newlib", "libm.a": "newlib", "libgcc.a": "libgcc", "libbearssl.a": "BearSSL"}
OWN = {"drivers.a", "parts.a"}


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as f:
            return f.read().strip()
    except OSError:
        return None


def newlib_licence():
    """COPYING.NEWLIB of the source that toolchain/newlib.sh compiles."""
    archives = sorted(glob.glob("/usr/src/newlib/newlib-*.tar.xz"))
    if not archives:
        return None
    with lzma.open(archives[-1]) as packed, tarfile.open(fileobj=packed) as source:
        for member in source:
            if member.name.endswith("/COPYING.NEWLIB"):
                return source.extractfile(member).read().decode("utf-8", "replace").strip()
    return None


def first(*patterns):
    for pattern in patterns:
        for path in sorted(glob.glob(pattern)):
            text = read(path)
            if text:
                return text
    return None


def licence(part, build):
    if part == "newlib":
        return newlib_licence()
    return {
        "libgcc": lambda: first(DOC + "/gcc-*-aarch64-linux-gnu-base/copyright", DOC + "/gcc-1*-base/copyright", DOC + "/libgcc*/copyright"),
        "Terminus Font": lambda: first(DOC + "/xfonts-terminus/copyright"),
        "BearSSL": lambda: first(build + "/bearssl/source/LICENSE.txt", DOC + "/libbearssl*/copyright"),
        "cJSON": lambda: first(build + "/cjson/LICENSE", DOC + "/libcjson*/copyright"),
        "GNU C Library": lambda: first(DOC + "/libc6/copyright", DOC + "/libc6-dev/copyright"),
        "xterm.js": lambda: first("host/web/node_modules/@xterm/xterm/LICENSE"),
    }[part]()


def in_image(build, board):
    """{part: members} of the archives that the linker took from; an archive that nobody knows ends the program."""
    parts = {}
    text = read(os.path.join(build, board, "ingot.map")) or sys.exit(f"notice: {build}/{board}/ingot.map is missing")
    for archive, member in re.findall(r"^\S*?([^/\s]+\.a)\(([^)]+)\)", text, re.M):
        if archive in OWN:
            continue
        if archive not in ARCHIVES:
            sys.exit(f"notice: {board} has {member} of {archive}, whose licence toolchain/notice.py does not know")
        parts.setdefault(ARCHIVES[archive], set()).add(member)
    return parts


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    build, out, boards = sys.argv[1], sys.argv[2], sys.argv[3:]
    used = {}
    for board in boards:
        for part, members in in_image(build, board).items():
            used.setdefault(part, set()).update(members)
    lines = ["Ingot", "", "The licence of Ingot itself: its owner has not granted one yet.", "", "In the images:"]
    lines += [f"  {part}: {', '.join(sorted(members))}" for part, members in sorted(used.items())]
    lines += ["  Terminus Font: the letters of the display", "", "In the static Linux programs, beside the same sources:",
              "  GNU C Library, libgcc, cJSON, BearSSL", "", "In the page of ingot serve: nothing of others."]
    parts = [*sorted(used), "Terminus Font", "GNU C Library", "cJSON", "BearSSL"]
    if os.path.isdir("host/web/node_modules/@xterm"):
        lines.append("In the page of make web: xterm.js, its terminal.")
        parts.append("xterm.js")
    for part in dict.fromkeys(parts):
        text = licence(part, build)
        if text is None:
            sys.exit(f"notice: the licence of {part} is not found (toolchain/notice.py says where it is looked for)")
        lines += ["", "-" * 100, part, "-" * 100, "", text]
    with open(out, "w", encoding="utf-8") as f:
        f.write("\n".join(lines) + "\n")


main()
