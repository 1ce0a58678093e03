"""The names that a row of the table may have in its last column, how it is built, and how it is run:

    unit/ROOM/NAME          tests/unit/ROOM/NAME_test.c
    kernels/ISA/CPU/ROW     rows of the kernel tester with ROW in their symbols, on a CPU of qemu
    boot/NAME.t and others  a program of tests/, with the images that it boots; words for it after
                            colons: boot/traps.t:virt-arm64:write-code"""

import hashlib
import os
import resource
import signal
import subprocess
import threading

BUILD_SECONDS, SECONDS, BOOT_SECONDS = 1800, 150, 600  # by the clock
CPU_SECONDS = 20  # of a unit test: a busy computer does not make a mutant hang
LONGER = {"unit/session/session": 200, "unit/stream/kv_pages": 200, "unit/stream/stream": 100,
          "unit/stream/stream_long": 60, "unit/stream/kv_pages_saved": 60,
          "unit/storage/card_walk": 150, "unit/grammar/grammar": 60, "unit/session/speculative": 60, "unit/model/recurrent_mixers": 120}
EMULATORS = {"arm64": "qemu-aarch64", "riscv64": "qemu-riscv64"}

# The images that each program boots; none where it is all on the host.
PROGRAMS = {
    "boot/traps.t": [("virt-arm64", "traps.bin"), ("virt-riscv64", "traps.bin")],
    "faults/outputs.t": [],
    "faults/signed_adapters.t": [],
    "golden/adapter_fields.t": [],
    "golden/demo_boot.t": [("virt-arm64", "ingot.bin"), ("virt-riscv64", "ingot.bin")],
    "golden/hf/hf_families.t": [],
    "golden/kv_shared.t": [],
    "golden/latent.t": [],
    "golden/marker_types.t": [],
}


def sources(suite):
    """For the tests, to know a result by: a changed test may see what it did not."""
    kind, _, name = suite.partition("/")
    if kind == "unit":
        return [f"tests/unit/{name}_test.c"]
    if kind == "kernels":
        return ["tests/kernels/main.c", "kernels/selftest/tester.c"]
    return ["tests/" + suite.split(":")[0]]


def images(suite):
    """For the program: those of the boards that its words name, or all."""
    program, *words = suite.split(":")
    return [(board, image) for board, image in PROGRAMS[program]
            if board in words or not any(board in words for board, _ in PROGRAMS[program])]


def products(suite):
    """The products of building it."""
    kind, _, name = suite.partition("/")
    if kind == "unit":
        return [f"build/tests/unit/{name}.t"]
    if kind == "kernels":
        return ["build/tests/kernels/kernels_test." + name.split("/")[0]]
    host = [] if suite.startswith("boot/traps.t") else ["build/host/ingot"]
    return host + [f"build/{board}/{image}" for board, image in images(suite)]


def state(suite, tree):
    """A digest of the suite as it is built: what passed once passes again."""
    total = hashlib.sha256(suite.encode())
    for path in products(suite) + sources(suite):
        if os.path.exists(os.path.join(tree, path)):
            with open(os.path.join(tree, path), "rb") as f:
                total.update(f.read())
    return "suite " + total.hexdigest()[:16]


def call(command, tree, seconds, cpu_seconds=resource.RLIM_INFINITY, stops=lambda line: False,
         **more):
    """(exit status, lines). It is ended at a line that stops it, or after so many seconds: then the
    status is None, and the last line says so."""
    limit = (cpu_seconds, cpu_seconds)
    env = {name: value for name, value in os.environ.items()
           if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "MAKEOVERRIDES")}
    env.update(more)
    lines, late = [], []
    with subprocess.Popen(command, cwd=tree, env=env, stdin=subprocess.DEVNULL, text=True,
                          errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          start_new_session=True,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, limit)
                          ) as child:

        def end():
            late.append(f"no end after {seconds} s")
            os.killpg(child.pid, signal.SIGKILL)

        clock = threading.Timer(seconds, end)
        clock.start()
        for line in child.stdout:
            lines.append(line.rstrip("\n"))
            if stops(lines[-1]):
                os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        clock.cancel()
    return (None if late else child.returncode), lines + late


def make(tree, *words):
    """None, or what the compiler said."""
    status, lines = call(["make", "-s", "-j2", "O=build", *words], tree, BUILD_SECONDS)
    errors = [line for line in lines if "error" in line.lower()]
    return None if status == 0 else "\n".join((errors or lines)[:3]) or "make fails"


def build(suite, tree):
    """None, or why it cannot be built."""
    if suite.startswith(("unit/", "kernels/")):
        return make(tree, *products(suite))
    error = make(tree, "host") if "build/host/ingot" in products(suite) else None
    for board, image in images(suite):
        error = error or make(tree, f"build/{board}/{image}", "BOARD=" + board)
    return error


def is_failure(line):
    return ((line.startswith("not ok") and "# TODO" not in line) or "runtime error:" in line or
            line.startswith(("SUMMARY:", "Bail out")))


def command_of(suite):
    """(words, seconds by the clock, seconds of CPU)"""
    kind, _, name = suite.partition("/")
    if kind == "unit":
        cpu = LONGER.get(suite, CPU_SECONDS)
        return products(suite), max(SECONDS, 3 * cpu), cpu
    if kind == "kernels":
        isa, cpu, part = name.split("/")
        words = [EMULATORS[isa], "-cpu", cpu] if isa in EMULATORS else []
        return words + products(suite) + ["--seed", "1", "--row", part], SECONDS, 3 * CPU_SECONDS
    program, *words = suite.split(":")
    command = ["/usr/bin/env", "python3", "tests/" + program] + words
    return command, BOOT_SECONDS, resource.RLIM_INFINITY


def run(suite, tree):
    """None where it passes, else what saw the mutant."""
    words, seconds, cpu_seconds = command_of(suite)
    status, lines = call(words, tree, seconds, cpu_seconds, is_failure,
                         INGOT_BUILD=os.path.join(tree, "build"))
    failures = [line for line in lines if is_failure(line)]
    if status == 0 and not failures:
        return None
    if failures:
        return f"{suite}: {failures[0].removeprefix('not ok ')}"
    if status is None:
        return f"{suite}: {lines[-1]}"
    if status == -signal.SIGXCPU or status == -signal.SIGKILL:
        return f"{suite}: no end after {cpu_seconds} s of CPU"
    return f"{suite}: exit status {status}"
