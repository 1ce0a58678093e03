#!/usr/bin/python3
"""A test that hangs is ended within seconds and named: a C test by its alarm, a Python test by its own alarm, with the line. A program without an
alarm, and a suite that never ends, are ended with their child processes by tests/bounded.py."""

import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import ROOT, WORK, Tap

FOLDER = os.path.join(WORK, "hangs")
BOUNDED = os.path.join(ROOT, "tests/bounded.py")
C = """#include "tests/unit/tap.h"
int main(void)
{
    OK(true, "one");
    for (;;) {
        pause();
    }
}
"""
PYTHON = f"""#!/usr/bin/python3
import sys, time
sys.path.insert(0, "{ROOT}/tests")
from machine import Tap
Tap().ok(True, "one")
time.sleep(1000)
"""
# The program and its child processes ignore the polite signal.
SHELL = """#!/bin/sh
trap '' TERM
sleep 1000 & echo $! >{}
echo ok 1 - one
wait
wait
"""
GOOD = "#!/bin/sh\necho ok 1 - one\necho 1..1\n"
tap = Tap()


def write(name, text):
    path = os.path.join(FOLDER, name)
    with open(path, "w", encoding="ascii") as f:
        f.write(text)
    os.chmod(path, 0o755)
    return path


def build(name, main):
    """Both kinds of main(): a unit test's and a fuzz target's."""
    out = os.path.join(FOLDER, name)
    subprocess.run([os.environ.get("HOST_CC", "gcc"), "-D_GNU_SOURCE", "-I" + ROOT, "-o", out, *main],
                   check=True, timeout=60)
    return out


def prove(seconds, *programs, before=(), **variables):
    begun = time.monotonic()
    done = subprocess.run([*before, "prove", "--exec", BOUNDED, *programs], capture_output=True,
                          text=True, timeout=100, cwd=ROOT,
                          env=dict(os.environ, INGOT_TEST_SECONDS=str(seconds), **variables))
    return done.returncode, done.stdout + done.stderr, time.monotonic() - begun


def hangs(program, says, what, seconds=1):
    status, text, took = prove(seconds, program)
    tap.ok(status != 0 and says in text and took < 30, what, f"{status} after {took:.1f} s\n{text}")


def is_gone(pid):
    for _ in range(100):
        if not os.path.exists(f"/proc/{pid}"):
            return True
        with open(f"/proc/{pid}/stat", encoding="ascii") as f:
            if f.read().rsplit(")", 1)[1].split()[0] == "Z":
                return True
        time.sleep(0.05)
    return False


def started_is_gone(what):
    with open(note, encoding="ascii") as f:
        tap.ok(is_gone(int(f.read())), what)


os.makedirs(FOLDER, exist_ok=True)
unit = build("hangs_unit.t", [write("hangs_unit.c", C)])
hangs(unit, f"# {unit} hung: ended after 1 s", "a unit test that hangs is ended and named")
endless = write("endless.c", "#include <stddef.h>\n#include <stdint.h>\n"
                "int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n);\n"
                "int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n)\n"
                "{\n    volatile int on = 1;\n    (void)d, (void)n;\n    while (on) {\n    }\n    return 0;\n}\n")
fuzz = build("hangs_fuzz", [endless, os.path.join(ROOT, "tests/fuzz/driver.c")])
hangs(fuzz, f"# {fuzz} hung: ended after 1 s", "and so is a fuzz target")
script = write("hangs_python.t", PYTHON)
hangs(script, f'File "{script}", line 6', "one in Python names the line in which it hung")

note = os.path.join(FOLDER, "pid")
shell = write("hangs_shell.t", SHELL.format(note))
hangs(shell, f"# {shell} hung: ended after 3 s", "one without an alarm is ended from outside")
started_is_gone("with what it had started")

# Missing packages: a module that cannot be imported, and a folder of programs that does not exist.
os.makedirs(os.path.join(FOLDER, "absent/pexpect"), exist_ok=True)
write("absent/pexpect/__init__.py", "raise ImportError\n")
needy = write("needs.t", "#!/usr/bin/python3\nimport sys\n\nimport pexpect\nsys.exit(1)\n")
status, text, _ = prove(60, needy, PYTHONPATH=os.path.join(FOLDER, "absent"))
tap.ok(status == 0 and "skipped: python3-pexpect not installed: make setup-tests" in text,
       "a program whose package is missing is skipped, and names the package", text)

good = write("good.t", GOOD)
status, text, _ = prove(60, good)
tap.ok(status == 0 and "Result: PASS" in text and "hung" not in text, "a program that ends passes", text)
failing = write("fails.t", "#!/bin/sh\necho not ok 1 - one\necho 1..1\nexit 3\n")
status, text, _ = prove(60, failing)
tap.ok(status != 0 and "exit status: 3" in text.lower() or "exited 3" in text,
       "a program that fails keeps its status", text)
status, text, took = prove(60, shell, before=[BOUNDED, "--suite", "test-of-hangs"],
                           INGOT_SUITE_SECONDS="1")
tap.ok(status != 0 and "# test-of-hangs hung: ended after 1 s" in text and took < 30,
       "a suite beyond its time is ended and named", text)
started_is_gone("with what its programs had started")

# Under `nohup make test`, or in a shell's background job, child processes would ignore signals that tests send to the programs under test.
for name in ("HUP", "INT", "QUIT"):
    script = write(f"hears-{name}.sh", f"#!/bin/sh\nkill -{name} $$\necho 1..0\n")
    done = subprocess.run(["sh", "-c", f"trap '' {name}; exec {BOUNDED} {script}"], capture_output=True, text=True, timeout=60)
    tap.ok(done.returncode > 128 and "1..0" not in done.stdout, f"a program hears SIG{name}, although make was started with the signal ignored",
           f"{done.returncode} {done.stdout}{done.stderr}")
said = subprocess.run([sys.executable, "-c", "import machine; print(machine.told_by_make('virt-arm64', 1)[0])"], capture_output=True, text=True,
                      check=False, timeout=60, cwd=os.path.join(ROOT, "tests"), env={**os.environ, "MAKELEVEL": "1", "MAKEFLAGS": "r -j2 --jobserver-auth=93,94"})
tap.ok(said.stdout == "qemu-system-aarch64\n", "in make -j2 test a suite reads only the answers of its make", said.stdout + said.stderr)

tap.done()
