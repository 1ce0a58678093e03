#!/usr/bin/python3
"""Check that includes point one way, that the lower runtime is quiet, that kernel names follow the grammar, and that Python parses.

The rooms are docs/DESIGN.md's; the grammar is the table in kernels/README.md."""

import os
import re
import sys

from weight_types import LAYOUTS

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# Room -> the rooms that it may include, in addition to itself. Everything may include board/*.h.
GROUND = {"board/board.h", "board/machine.h", "board/min_max.h", "board/block_device.h", "board/err.h", "board/device_tree.h",
          "board/memory_device.h", "board/isa.h", "board/interrupt.h", "board/facts.h", "board/left_out.h", "board/led_code.h", "board/screen.h",
          "board/keyboard.h"}
# Files that the build makes.
MADE = {"board_rows.inc", "font_8x16.inc", "web_page.inc", "signing_key.inc"}
ALLOWED = {
    "boot": {"runtime", "kernels", "ground", "board/drivers/soc/sbi.h"},  # SBI is RISC-V's firmware
    "board/drivers": {"ground"},
    "board": {"ground"},
    "runtime": {"kernels", "flash_image/format", "ground"},
    "kernels": {"flash_image/format/types.def"},
    "flash_image/format": {"kernels"},
    "flash_image": {"flash_image/format", "kernels", "runtime", "ground"},
    "board/host": {"boot/platform_from_board.h", "runtime", "kernels", "ground"},
    "board/efi": {"board/drivers", "boot", "kernels/kernels.h", "kernels/tuning.h", "efi_abi.h", "memory.h", "ground"},  # its own start replaces boot.c
    "host": {"runtime", "kernels", "flash_image", "flash_image/format", "board/host", "ground"},
    "library": {"runtime", "kernels", "include", "board/host/host_cpu.h", "ground"},
    "include": set(),
    "examples": {"ingot.h"},
}
# The folders of runtime/ from the bottom up: each includes itself and the folders listed before it.
RUNTIME = ["base", "text", "http", "net", "screen", "console", "storage", "transfer", "image", "tokenizer", "compute", "stream", "model",
           "session", "saved", "options", "wire", "chat", "api", "app", "features"]
# The folders of runtime/ that walk the rows of runtime/features/features.inc. No other folder knows that there are
# features.
WALKS = {"chat", "app"}
# The folders of flash_image/ from the bottom up; its readers and sections are peers and must not include each other.
FLASH_IMAGE = ["format", "source", "output", "quantize", "jinja", "grammar", {"gguf", "hf", "llama2c", "tokenizer", "chat"}, {"pack", "adapter"}, "signing", "card"]
# The parts of runtime/ that the library uses: nothing that prints, and from chat/ only the template around a turn.
LIBRARY = {"base", "text", "storage", "image", "tokenizer", "compute", "stream", "model", "session"}
LIBRARY_ALSO = {"runtime/chat/chat_turn.h"}
BOARD = {"board/drivers", "ground", "memory.h", "runtime", "kernels/kernels.h"}
# Folders of runtime/ that print nothing and know no board: a platform provides what they need (runtime/base/platform.h), and their results go to the
# caller.
QUIET = ["base", "http", "net", "screen", "storage", "transfer", "image", "tokenizer", "compute", "stream", "model", "session", "saved", "wire"]
LOUD = [(r"\b(?:v?s?n?printf|puts|putchar|putc|fputs|fwrite)\s*\(", "prints"), (r"\bconsole_\w+", "knows the console"),
        (r"\bboard\.\w+|\bextern const struct board\b|\"board/board\.h\"", "knows the board")]
ISAS = {"ref", "neon", "sve", "rvv", "rv64gc", "avx2", "avx512"}
FEATURES = {"dotprod", "i8mm", "zvfh", "vnni", "crc", "sha2", "zbb", "zbc", "zvknha"}
TYPES = {"u8", "f32", "f16", "q8", "q8k", "q8x4", "q8kx4"} | {t.layout + "x8" for t in LAYOUTS}


def room_of(path):
    parts = path.split("/")
    if len(parts) > 2 and (parts[0] == "board" or parts[:2] == ["flash_image", "format"]):
        return "/".join(parts[:2])
    return parts[0]


def allowed(room, target):
    may = ALLOWED.get(room, BOARD if room.startswith("board/") else None)
    if may is None or target in MADE:
        return True
    if target in may or room_of(target) == room or room_of(target) in may:
        return True
    return "ground" in may and target in GROUND


def floor_of(floors, folder):
    return next((i for i, f in enumerate(floors) if folder == f or (isinstance(f, set) and folder in f)), -1)


def points_up(path, target):
    """True if a file of runtime/ or flash_image/ includes a file of a folder above its own, or of a peer."""
    rooms, folders = zip(*(p.split("/")[:2] if p.count("/") == 2 else ("", "") for p in (path, target)))
    if rooms[0] != rooms[1] or rooms[0] not in ("runtime", "flash_image"):
        return False
    if path.endswith("options.def") and target.endswith("/options.def"):
        return False  # only rows without code: the list of all options includes the features' rows
    if folders[0] in WALKS and target == "runtime/features/feature.h":
        return False
    mine, its = (floor_of(RUNTIME if rooms[0] == "runtime" else FLASH_IMAGE, f) for f in folders)
    return its > mine or (its == mine and folders[0] != folders[1])


def names_feature(path, target):
    """True if a file of runtime/ outside of features/ knows a feature: only the walk over the rows is allowed."""
    if path.endswith("options.def") and target.endswith("/options.def"):
        return False
    return path.startswith("runtime/") and not path.startswith("runtime/features/") and target.startswith("runtime/features/") and \
        (target != "runtime/features/feature.h" or path.split("/")[1] not in WALKS)


def beyond_library(path, target):
    if room_of(path) != "library" or target in LIBRARY_ALSO:
        return False
    parts = target.split("/")
    return target == "board/board.h" or (parts[0] == "runtime" and parts[1] not in LIBRARY)


def beside(path, target):
    """True for a file of an example's own folder: examples/ are separate programs, whose includes do not start at our
    root."""
    return room_of(path) == "examples" and os.path.exists(os.path.join(ROOT, os.path.dirname(path), target))


def sources():
    for folder in ("boot", "board", "runtime", "kernels", "flash_image", "host", "library", "include", "examples"):
        for where, _, names in os.walk(os.path.join(ROOT, folder)):
            for name in sorted(names):
                if name.endswith((".c", ".h", ".S", ".S.in", ".inc", ".def")):
                    yield os.path.relpath(os.path.join(where, name), ROOT)


def check_includes(path, text, problems):
    for line, target in re.findall(r'^(\s*#\s*include\s+"([^"]+)")', text, re.M):
        if beside(path, target):
            continue
        if "/" not in target and target != "memory.h" and os.path.exists(os.path.join(ROOT, os.path.dirname(path), target)):
            problems.append(f"{path}: include from the root: {line.strip()}")
        elif not allowed(room_of(path), target):
            problems.append(f"{path}: {room_of(path)} may not include {target}")
        elif points_up(path, target):
            problems.append(f"{path}: {target} stands above it")
        elif names_feature(path, target):
            problems.append(f"{path}: only a feature may include {target}")
        elif beyond_library(path, target):
            problems.append(f"{path}: library may not include {target}")


def check_quiet(path, text, problems):
    folder = path.split("/")[1] if path.startswith("runtime/") else ""
    if folder not in QUIET:
        return
    code = re.sub(r"/\*.*?\*/", lambda m: "\n" * m[0].count("\n"), text, flags=re.S)
    for pattern, does in LOUD:
        for m in re.finditer(pattern, code):
            problems.append(f"{path}:{code.count(chr(10), 0, m.start()) + 1}: {m[0]}: runtime/{folder} {does}")


def kernel_files(folder):
    """Names of NAME.S, and of the parts of *.S.in."""
    found = set()
    for where, _, names in os.walk(folder):
        found |= {name[:-2] for name in names if name.endswith(".S")}
        for name in names:
            if name.endswith(".S.in"):
                with open(os.path.join(where, name), encoding="utf-8") as f:
                    found |= set(re.findall(r"^// ==== (\w+)$", f.read(), re.M))
    return found


def check_kernel_names(problems):
    row = re.compile(r"^KERNEL\((\w+), (\w+), ([^)]+)\)", re.M)
    for where in ("arm64/", "riscv64/", "x86_64/"):
        path = f"kernels/{where}kernels.inc"
        with open(os.path.join(ROOT, path), encoding="utf-8") as f:
            rows = row.findall(f.read())
        written = kernel_files(os.path.join(ROOT, "kernels", where))
        for op, symbol, _ in rows:
            suffix = symbol[len(op) + 1:] if symbol.startswith(op + "_") else ""
            isa, *features = suffix.split("_")
            if isa not in ISAS or not set(features) <= FEATURES or len(symbol) > 40:
                problems.append(f"{path}: {symbol} is not {op}_<isa>[_<feature>], or longer "
                                "than 40")
            if not set(op.split("_")) & TYPES:
                problems.append(f"{path}: {op} names no type of the grammar")
            if symbol not in written:
                problems.append(f"{path}: {symbol} is in no file of its name in kernels/{where}*/, and in no *.S.in there")


def check_macro_labels(path, text, problems):
    """Report numbered labels in macros, because another macro could use the same number: they must be .Lname\\@."""
    depth = 0
    for n, line in enumerate(text.split("\n"), 1):
        depth += bool(re.match(r"\s*\.macro\b", line)) - bool(re.match(r"\s*\.endm\b", line))
        if depth and re.match(r"\s*\d+:", line):
            problems.append(f"{path}:{n}: a macro's label has a number for a name")


def check_scripts(problems):
    """Report Python that does not parse: most files run only in long tests, and people copy the one in clients/. Returns how many
    were read."""
    count = 0
    for where, folders, names in os.walk(ROOT):
        folders[:] = [name for name in folders if not name.startswith((".", "build")) and name != "__pycache__"]
        for name in sorted(names):
            path = os.path.join(where, name)
            if not name.endswith((".py", ".t")):
                continue
            with open(path, encoding="utf-8") as f:
                text = f.read()
            if name.endswith(".t") and "python" not in text.partition("\n")[0]:
                continue
            count += 1
            try:
                compile(text, path, "exec")
            except SyntaxError as e:
                problems.append(f"{os.path.relpath(path, ROOT)}:{e.lineno}: Python cannot read this file: {e.msg}")
    return count


def main():
    problems = []
    count = 0
    for path in sources():
        with open(os.path.join(ROOT, path), encoding="utf-8") as f:
            text = f.read()
        check_includes(path, text, problems)
        check_quiet(path, text, problems)
        if room_of(path) == "kernels":
            check_macro_labels(path, text, problems)
        count += 1
    check_kernel_names(problems)
    scripts = check_scripts(problems)
    for problem in problems:
        print(problem)
    print(f"layers: {count} files and {scripts} scripts, {len(problems)} wrong")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
