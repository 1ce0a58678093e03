#!/usr/bin/python3
"""Makes NOTICE: the licences of everything that was really linked into an image, the Linux programs and the page.

usage: notice.py BUILD OUT BOARD...

The map of each board's image, and of each static program, names the objects and the members of archives that the linker took. An unknown object, and
a part whose licence is not found, are errors."""

import glob
import lzma
import os
import re
import sys
import tarfile

DOC = "/usr/share/doc"
# Archives that a map may name: the file's name, and the part it belongs to.
ARCHIVES = {"libc.a": "newlib", "libm.a": "newlib", "libgcc.a": "libgcc", "libbearssl.a": "BearSSL",
            "liblwip.a": "lwIP", "libllhttp.a": "llhttp"}
ISAS = ("x86_64", "arm64", "riscv64")
OWN = {"drivers.a", "parts.a"}
# Archives of a Linux program; its other objects are Ingot's own.
PROGRAM_ARCHIVES = {"libgcc.a": "libgcc", "libgcc_eh.a": "libgcc", "libbearssl.a": "BearSSL", "libwslay.a": "wslay", "libcjson.a": "cJSON",
                    **{f"lib{name}.a": "GNU C Library" for name in ("c", "m", "m-2.36", "mvec", "pthread", "rt", "dl")}}
PROGRAM_OBJECTS = [(r"/(crt1|crti|crtn|rcrt1|gcrt1|Scrt1)\.o$", "GNU C Library"), (r"/crt(begin|end)\w*\.o$", "libgcc"), (r"/cJSON\.o$", "cJSON"),
                   (r"/obj/llhttp/", "llhttp"), (r"/(obj/(host|board|boot|runtime|kernels|flash_image|library)/|static-\w+/(serve|voice)_)", None)]


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


def section(path, begin, end):
    """A part of a copyright file of the distribution, without its indent."""
    found = re.search(rf"(?ms)^{begin}.*?(?=^{end}|\Z)", read(path) or "")
    return re.sub(r"(?m)^ \.?", "", found[0]).strip() if found else None


def llhttp_licence():
    """The part's section and its licence's text, which is a separate section of the package's file."""
    path = DOC + "/node-llhttp/copyright"
    whose, words = section(path, r"Files: llhttp/\*", "Files: "), section(path, r"License: Expat\n[ .]", "License: ")
    return f"{whose}\n\n{words}" if whose and words else None


def licence(part, build):
    if part == "newlib":
        return newlib_licence()
    if part == "llhttp":
        return llhttp_licence()
    if part == "Unicode data":
        return section(DOC + "/perl/copyright", r"License: Unicode\n  EXHIBIT", "License: ")
    return {
        "libgcc": lambda: first(DOC + "/gcc-*-aarch64-linux-gnu-base/copyright", DOC + "/gcc-1*-base/copyright", DOC + "/libgcc*/copyright"),
        "Terminus Font": lambda: first(DOC + "/xfonts-terminus/copyright"),
        "BearSSL": lambda: first(build + "/bearssl/source/LICENSE.txt", DOC + "/libbearssl*/copyright"),
        "lwIP": lambda: first(build + "/lwip/source/COPYING"),
        "cJSON": lambda: first(build + "/cjson/LICENSE", DOC + "/libcjson*/copyright"),
        "wslay": lambda: first(DOC + "/libwslay*/copyright"),
        "GNU C Library": lambda: first(DOC + "/libc6/copyright", DOC + "/libc6-dev/copyright"),
        "xterm.js": lambda: first("host/web/node_modules/@xterm/xterm/LICENSE"),
    }[part]()


def in_image(build, board):
    """{part: members} that the linker took from archives; an unknown archive ends the program."""
    parts = {}
    text = read(os.path.join(build, board, "ingot.map")) or sys.exit(f"notice: {build}/{board}/ingot.map is missing")
    for archive, member in re.findall(r"^\S*?([^/\s]+\.a)\(([^)]+)\)", text, re.M):
        if archive in OWN:
            continue
        if archive not in ARCHIVES:
            sys.exit(f"notice: {board} has {member} of {archive}, whose licence toolchain/notice.py does not know")
        parts.setdefault(ARCHIVES[archive], set()).add(member)
    return parts


def in_program(build, isa):
    """{part: number of objects} of a static program; an unknown object or archive ends the program."""
    text = read(os.path.join(build, f"static-{isa}", "ingot.map"))
    parts = {}
    # Archives count if a member was taken from them, not if they were only searched.
    for archive in re.findall(r"^\S*?([^/\s]+\.a)\(", text.split("Memory Configuration")[0], re.M):
        if archive not in PROGRAM_ARCHIVES:
            sys.exit(f"notice: the program for {isa} has {archive}, whose licence toolchain/notice.py does not know")
        parts[PROGRAM_ARCHIVES[archive]] = parts.get(PROGRAM_ARCHIVES[archive], 0) + 1
    for path in re.findall(r"^LOAD (\S+\.o)$", text, re.M):
        known = [part for pattern, part in PROGRAM_OBJECTS if re.search(pattern, path)]
        if not known:
            sys.exit(f"notice: the program for {isa} has {path}, which toolchain/notice.py does not know")
        if known[0]:
            parts[known[0]] = parts.get(known[0], 0) + 1
    return parts


# Parts of every image and program that no map names: glyphs and tables that become C files.
TABLES = {"Terminus Font": "the letters of the display", "Unicode data": "tables of letters and of normalization, made from the Unicode Character Database"}


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
    lines += [f"  {part}: {what}" for part, what in TABLES.items()]
    parts = [*sorted(used), *TABLES]
    lines += ["", "In the static Linux programs, beside the same tables:"]
    linked = [name for name in ISAS if os.path.exists(os.path.join(build, f"static-{name}", "ingot.map"))]
    if not linked:
        sys.exit(f"notice: {build} has no map of a static program: make static")
    for isa in linked:
        taken = in_program(build, isa)
        lines.append(f"  {isa}: {', '.join(f'{part} ({n} objects)' for part, n in sorted(taken.items()))}")
        parts += sorted(taken)
    lines += ["", "In the page of ingot serve: nothing of others."]
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
