"""Computes the cycles of whole kernels by llvm-mca. QEMU's log lists the address of every instruction that one call
executes; llvm-mca computes how long a core needs for them. So every loop counts as often as it runs, and no loop has
to be found in a listing."""

import bisect
import os
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

from machine import BUILD, Machine

LLVM = 19  # older versions of llvm-mca lack some cores, and do not understand vsetvli
CURE = (f"static cycles need llvm-mca {LLVM} or newer: `make setup-bench` installs it where the release "
        f"has it, else `apt-get install llvm-{LLVM}` from apt.llvm.org")

# Programs that run each row once, with LLVM's name of the ISA and its models of cores. 
# LLVM has no separate model of the A76: it schedules cortex-a76 like an
# A57. So neoverse-n1, the same core for servers, is used instead.
TRACED = [(Machine("virt-arm64", "virt-arm64 max", ["-cpu", "max,sve256=on"]), "aarch64",
           ("cortex-a53", "cortex-a55", "cortex-a72", "cortex-a76", "neoverse-n1", "neoverse-v1",
            "cortex-a510", "neoverse-n2", "neoverse-v2")),
          (Machine("virt-riscv64", "virt-riscv64 V", ["-cpu", "rv64,v=true,vlen=128,zvfh=true,zvknha=true"]),
           "riscv64", ("sifive-p670",))]
FEATURES = {"aarch64": "--mattr=+all", "riscv64": "--mattr=+m,+a,+f,+d,+c,+v,+zvfh,+zvknha,+zicbop"}
ASSEMBLY = re.compile(r"_(?:neon|sve|rvv)(?:_\w+)?$") # every one of these cores has V
# Cores whose SVE has 128 bits, and the product kernels from which such cores choose (kernels/arm64). Only these
# kernels are computed for such cores, because SVE kernels are traced at 256 bits. LLVM schedules cortex-a710 and
# cortex-x2 like neoverse-n2, and cortex-x4 like neoverse-v2.
SVE_128 = ("cortex-a510", "neoverse-n2", "neoverse-v2")
CHOSEN = re.compile(r"^gem[vm]_f32_q(?:4|8|4k|6k)x8_\w+_(?:dotprod|i8mm)$")
SHARED = "panel_f16_neon" # its instructions count for the kernel that called it


def tools():
    """(llvm-mca, llvm-objdump, version) of the newest installed version, or None and the reason."""
    seen = []
    for suffix in ["", *(f"-{n}" for n in range(LLVM + 6, LLVM - 1, -1))]:
        mca, objdump = shutil.which("llvm-mca" + suffix), shutil.which("llvm-objdump" + suffix)
        if mca is None or objdump is None:
            continue
        text = subprocess.run([mca, "--version"], capture_output=True, text=True).stdout
        version = re.search(r"version ((\d+)\S*)", text)
        if version and int(version.group(2)) >= LLVM:
            return mca, objdump, version.group(1)
        seen.append(f"{mca} is version {version.group(1)}" if version else f"{mca} has none")
    return None, "; ".join(seen + [CURE])


def functions(elf):
    """[(address, bytes, symbol)] of the assembly kernels, ascending."""
    out = subprocess.run(["nm", "-S", elf], check=True, capture_output=True, text=True).stdout
    found = re.findall(r"^([0-9a-f]+) ([0-9a-f]+) [tT] (\w+)$", out, re.M)
    return sorted((int(at, 16), int(size, 16), symbol) for at, size, symbol in found
                  if ASSEMBLY.search(symbol))


def trace(machine, kernels):
    """{symbol: addresses executed, in order}, and the console."""
    log = os.path.join(BUILD, machine.board, "kernels-bench.trace")
    where = ",".join(f"{at:#x}+{size:#x}" for at, size, _ in kernels)
    status, console = machine.run(
        "trace", 1, ["-accel", "tcg,one-insn-per-tb=on", "-d", "exec,nochain", "-dfilter", where,
                     "-D", log], os.path.join(BUILD, machine.board, "kernels-bench.bin"), 280)
    if status != 0 or "panic:" in console:
        raise RuntimeError(f"{machine.label}: status {status}\n{console[-2000:]}")
    starts = [at for at, _, _ in kernels]
    executed = {symbol: [] for _, _, symbol in kernels}
    symbol = SHARED
    with open(log, encoding="ascii", errors="replace") as lines:
        for line in lines:
            if line.startswith("Trace"):
                address = int(line.split("/")[1], 16)
                at = kernels[bisect.bisect_right(starts, address) - 1][2]
                if at != SHARED and not executed[at]: # each row runs once; a repeated symbol was called by another row
                    symbol = at
                executed[symbol].append(address)
    os.remove(log)
    return executed, console


def disassemble(objdump, elf, triple):
    """{address: instruction}, with one label as the target of all branches."""
    out = subprocess.run([objdump, "-d", "--no-show-raw-insn", FEATURES[triple], elf], check=True,
                         capture_output=True, text=True).stdout
    return {int(at, 16): re.sub(r"0x[0-9a-f]+ <[^>]*>.*$", ".Lthere", text) for at, text in
            re.findall(r"^ *([0-9a-f]+):\s+(.*)$", out, re.M)}


def cycles(mca, triple, core, code):
    """The cycles of one call if every load hits the first cache and every branch is predicted; None if the
    core lacks an instruction. vsetvli tells llvm-mca LMUL and SEW."""
    done = subprocess.run([mca, f"-mtriple={triple}", f"-mcpu={core}", "-iterations=1",
                           "-instruction-info=false", "-resource-pressure=false"],
                          input=code, capture_output=True, text=True, timeout=120)
    total = re.search(r"^Total Cycles:\s+(\d+)", done.stdout, re.M)
    if total is None and "instruction requires" not in done.stderr:
        raise RuntimeError(f"{core}: {done.stderr[:500]}")
    return int(total.group(1)) if total else None


def is_wanted(core, symbol):
    return core not in SVE_128 or CHOSEN.match(symbol) is not None


def measure(mca, objdump, parse):
    """Yields (symbol, call, instructions, {core: cycles}) of every row in assembly; cores that lack one of its
    instructions are left out. parse makes [(symbol, call, numbers)] of the console's text."""
    for machine, triple, cores in TRACED:
        elf = os.path.join(BUILD, machine.board, "kernels-bench.elf")
        executed, console = trace(machine, functions(elf))
        text = disassemble(objdump, elf, triple)
        calls = [(symbol, call, ".Lthere:\n" + "\n".join(text[at] for at in executed[symbol][:-1]))
                 for symbol, call, _ in parse(console) if symbol in executed] # without the return instruction
        jobs = [(core, code) for symbol, _, code in calls for core in cores if is_wanted(core, symbol)]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            totals = iter(list(pool.map(lambda job: cycles(mca, triple, *job), jobs)))
        for symbol, call, _ in calls:
            found = {core: next(totals) for core in cores if is_wanted(core, symbol)}
            yield symbol, call, len(executed[symbol]), {c: n for c, n in found.items() if n}
