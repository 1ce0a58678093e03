#!/usr/bin/env python3
"""Boot an image in QEMU under gdb: `make gdb`. The board's serial line becomes a terminal device, whose name is printed. The terminal of
`make gdb` belongs to gdb, with the printers of ingot.py. QEMU ends with gdb.

Usage: run.py --gdb GDB --elf FILE --stop NAME [--commands FILE] -- QEMU WORDS..."""

import argparse
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def on_a_device(words):
    """QEMU's arguments with the serial line on a separate device, because gdb needs the terminal."""
    if "mon:stdio" in words:
        words = ["pty" if word == "mon:stdio" else word for word in words]
        serial = []
    else:
        serial = ["-serial", "pty"]
    shown = [word for word in words if word != "-nographic"]
    return [*shown, "-display", "none", "-monitor", "none", *serial]


def line_device(qemu):
    """The name of the device that QEMU made, from its first output; None if QEMU ended."""
    for line in qemu.stdout:
        found = re.search(r"redirected to (/dev/\S+)", line)
        if found:
            return found.group(1)
        sys.stderr.write(line)
    return None


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--gdb", required=True)
    options.add_argument("--elf", required=True)
    options.add_argument("--stop", required=True)
    options.add_argument("--commands")
    options.add_argument("qemu", nargs=argparse.REMAINDER)
    given = options.parse_args()
    words = given.qemu[1:] if given.qemu[:1] == ["--"] else given.qemu

    with tempfile.TemporaryDirectory() as folder:
        door = os.path.join(folder, "gdb")
        qemu = subprocess.Popen([*on_a_device(words), "-S", "-gdb", f"unix:{door},server=on,wait=off"], stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            device = line_device(qemu)
            if device is None:
                sys.exit(f"make gdb: QEMU ended with status {qemu.wait()}")
            print(f"The board's serial line is {device}: open it in another terminal, for example `picocom {device}`.", flush=True)
            # Unpacking overwrites a breakpoint that is an instruction, so a hardware breakpoint is used.
            script = ["-ex", "set confirm off", "-ex", f"target remote {door}", "-ex", f"hbreak {given.stop}", "-ex", "continue"]
            if given.commands:
                script = ["-batch", *script, "-x", given.commands]
            status = subprocess.run([given.gdb, "-q", given.elf, "-x", os.path.join(HERE, "ingot.py"), *script], check=False).returncode
        finally:
            qemu.kill()
            qemu.wait()
    sys.exit(status)


main()
