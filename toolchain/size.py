#!/usr/bin/python3
"""Compare an image's sizes with the stored baseline: text, data, bss, stacks, the loaded or unpacked image, and the
file.

usage: size.py CROSS_COMPILE BUILD_FOLDER BASELINE [--update]"""

import os
import subprocess
import sys


def sections(cross, elf):
    out = subprocess.run([cross + "size", "-A", elf], check=True, capture_output=True, text=True)
    found = {}
    for line in out.stdout.splitlines():
        words = line.split()
        if len(words) == 3 and words[0].startswith(".") and words[2].isdigit():
            found[words[0]] = int(words[1])
    return found


def measure(cross, folder):
    elf = os.path.join(folder, "ingot.elf")
    parts = {"text": 0, "rodata": 0, "data": 0, "bss": 0, "stacks": 0}
    for name, size in sections(cross, elf).items():
        for part in ("stack", "rodata", "text", "data", "bss"):
            if part in name and "debug" not in name:
                parts[part if part != "stack" else "stacks"] += size
                break
    raw = os.path.join(folder, "ingot.raw")  # a program for EFI is not packed, so this file is missing
    parts["loaded"] = os.path.getsize(raw) if os.path.exists(raw) else sum(parts[name] for name in ("text", "rodata", "data"))
    parts["file"] = os.path.getsize(os.path.join(folder, "ingot.bin"))
    return parts


def read_baseline(path):
    if not os.path.exists(path):
        return {}
    with open(path, encoding="ascii") as f:
        return {name: int(size) for name, size in (line.split() for line in f)}


def limit(cross, folder):
    """BOARD_IMAGE_FILE_BYTES of linker/image.ld.S: the file that is flashed, without weights."""
    out = subprocess.run([cross + "nm", os.path.join(folder, "ingot.elf")], check=True,
                         capture_output=True, text=True)
    return next(int(line.split()[0], 16) for line in out.stdout.splitlines()
                if line.endswith(" image_file_limit"))


def largest(cross, folder, count=8):
    out = subprocess.run([cross + "nm", "-S", "--size-sort", "-t", "d",
                          os.path.join(folder, "ingot.elf")],
                         check=True, capture_output=True, text=True)
    rows = [line.split() for line in out.stdout.splitlines()]
    rows = [r for r in rows if len(r) == 4 and r[2] in "tT"]
    return [(r[3], int(r[1])) for r in rows[-count:]][::-1]


def main():
    cross, folder, baseline = sys.argv[1:4]
    parts = measure(cross, folder)
    if "--update" in sys.argv:
        with open(baseline, "w", encoding="ascii") as f:
            f.writelines(f"{name} {size}\n" for name, size in parts.items())
    before = read_baseline(baseline)
    print(f"{os.path.basename(folder)}: bytes (change against {baseline})")
    for name, size in parts.items():
        change = f"  {size - before[name]:+d}" if name in before else ""
        print(f"  {name:8} {size:8}{change}")
    print("  largest functions: " + ", ".join(f"{n} {s}" for n, s in largest(cross, folder)))
    allowed = limit(cross, folder)
    print(f"  image without weights: {parts['file']} of {allowed} bytes allowed")
    sys.exit(0 if parts["file"] <= allowed else 1)


if __name__ == "__main__":
    main()
