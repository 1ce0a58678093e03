#!/usr/bin/python3 -IS
"""Runs a command for prove, because prove would wait for it forever. When the command's time is up, bounded.py ends the command and its child
processes, and prints the command's name. Processes that the command leaves behind are ended too.

usage: bounded.py [--suite NAME] COMMAND ...
INGOT_TEST_SECONDS (600) is the time before a program's own alarm (alarm.h, machine.py). bounded.py waits a little longer, so it ends only programs
that have no alarm or ignore it. A suite may take INGOT_SUITE_SECONDS (3600). INGOT_TEST_TIMES=FILE appends a line for every program: CPU
seconds including its child processes, wall time, its name; prove --timer cannot separate parallel programs."""

import os
import resource
import signal
import subprocess
import sys
import time

LATER = 2                                # seconds to wait after 7/6 of the time of the program's own alarm
PROGRAM_GRACE, SUITE_GRACE = 2, 10       # seconds; a suite gets more, so that its programs end before it


def fixed_addresses():
    """Switch off random memory layouts, if allowed, for programs started from now on, because the ThreadSanitizer of gcc 12 cannot use all
    layouts that a kernel chooses."""
    import ctypes  # imported here, because few programs need it
    ctypes.CDLL(None).personality(0x0040000)  # ADDR_NO_RANDOMIZE


def hear_signals():
    """Restore signals in the child process: nohup, and a shell that runs make in the background, make it ignore signals, and then a program under
    test would never receive the signals of its test."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def signal_all(child, number):
    """Returns True if the process existed."""
    try:
        os.killpg(child.pid, number)
        return True
    except ProcessLookupError:
        return False


def stop(child, grace):
    """End the child politely first, so that a program can remove its files, and a suite can end its programs, which have their own
    sessions."""
    late = time.monotonic() + grace
    signal_all(child, signal.SIGTERM)
    while time.monotonic() < late:
        child.poll()
        if not signal_all(child, 0):
            return
        time.sleep(0.05)


def note_times(start, name):
    path = os.environ.get("INGOT_TEST_TIMES")
    if path:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        with open(path, "a") as out:
            out.write(f"{used.ru_utime + used.ru_stime:8.1f} {time.monotonic() - start:8.1f} {name}\n")


# Modules and commands without which a whole test program cannot run, and their packages. If anything else is missing, a program
# skips only the tests that need it.
MODULES = {"pexpect": "python3-pexpect", "serial": "python3-serial", "numpy": "python3-numpy"}
COMMANDS = {"mkfs.fat": "dosfstools", "mcopy": "mtools", "mformat": "mtools", "sgdisk": "gdisk"}


def words_of(path, seen):
    """The modules, and the commands in quotes, in a Python program and in what it imports from tests/."""
    import re
    if path in seen or not os.path.isfile(path):
        return set()
    seen.add(path)
    with open(path, "rb") as f:
        if not path.endswith(".py") and b"python3" not in f.readline(80):
            return set()
        text = f.read().decode("utf-8", "replace")
    imported = re.findall(r"^(?:import|from) (\w+)", text, re.M)
    found = {name for name in imported if name in MODULES} | {name for name in COMMANDS if f'"{name}"' in text}
    tests = os.path.dirname(os.path.abspath(__file__))
    for name in imported:
        found |= words_of(os.path.join(tests, name + ".py"), seen)
    return found


def missing_packages(path):
    """The packages that the program needs and this computer lacks, sorted."""
    places = os.environ.get("PATH", "").split(os.pathsep) + ["/usr/sbin", "/sbin"]
    missing = set()
    for name in words_of(path, set()):
        if name in MODULES:
            if subprocess.run([os.environ.get("PYTHON", "python3"), "-c", "import " + name], capture_output=True, check=False).returncode:
                missing.add(MODULES[name])
        elif not any(os.access(os.path.join(place, name), os.X_OK) for place in places):
            missing.add(COMMANDS[name])
    return sorted(missing)


def interrupted(number, frame):
    raise KeyboardInterrupt


def main():
    command, name, grace = sys.argv[1:], None, PROGRAM_GRACE
    seconds = float(os.environ.get("INGOT_TEST_SECONDS", "600")) * 7 / 6 + LATER
    if command[0] == "--suite":
        name, command, grace = command[1], command[2:], SUITE_GRACE
        seconds = float(os.environ.get("INGOT_SUITE_SECONDS", "3600"))
    signal.signal(signal.SIGTERM, interrupted)
    missing = missing_packages(command[-1]) if name is None else []
    if missing:
        print(f"1..0 # SKIP {', '.join(missing)} not installed: make setup-tests", flush=True)
        return
    if "/tsan/" in command[-1]:
        fixed_addresses()
    start = time.monotonic()
    child = subprocess.Popen(command, start_new_session=True, preexec_fn=hear_signals)
    try:
        status = child.wait(seconds)
    except subprocess.TimeoutExpired:
        print(f"# {name or command[-1]} hung: ended after {seconds:.0f} s", file=sys.stderr, flush=True)
        stop(child, grace)
        status = 1
    except KeyboardInterrupt:
        stop(child, grace)
        status = 130
    signal_all(child, signal.SIGKILL)
    note_times(start, name or command[-1])
    sys.exit(status if status >= 0 else 128 - status)


if __name__ == "__main__":
    main()
