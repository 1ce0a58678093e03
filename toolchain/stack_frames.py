"""Functions of a linked image from its disassembly: frames, calls and calls through pointers."""

import re
import subprocess

# Names of veneers: each has an instruction that the linker has moved (--fix-cortex-a53-...), and a jump back.
VENEER = re.compile(r"__erratum_\d+_veneer_\d+|e843419@|a53_veneer_")
SUFFIX = re.compile(r"\.(lto_priv|constprop|isra|part|cold)(\.\d+)?")


# Functions that never return: code after such a call is only reached by a jump.
ENDS = ("__stack_chk_fail", "__assert_func", "abort", "panic", "panic_end")

PADDING = ("nop", "c.nop", "unimp", "c.unimp", "udf")


def is_padding(op):
    """True for padding up to the next function, or data, which objdump writes as .word, .short, .byte or
    .inst."""
    return op in PADDING or op.startswith(".")


class Function:
    def __init__(self, name, address):
        self.name, self.address, self.file = name, address, ""
        self.plain = SUFFIX.sub("", name)
        self.frame = 0
        self.calls = []     # (name, bytes of stack used at the call)
        self.indirect = []  # (address, is a jump, bytes of stack used there)
        self.problem = None


class Walker:
    """Walks over a function's instructions in order. At a place that is only reached by a jump, the stack is as deep as
    at the jump; without an earlier jump, as deep as it has been so far."""

    def __init__(self, function, fresh):
        self.function, self.fresh = function, fresh
        self.depth, self.falls, self.ends_in_call = 0, True, False
        self.address, self.reached = 0, True
        self.at, self.constants = {}, {}

    def take(self, address, op, args):
        known = self.at.get(address)
        if not self.falls:
            if known is None and is_padding(op):
                return
            otherwise = 0 if self.fresh else self.function.frame
            self.depth = known if known is not None else otherwise
        elif known is not None:
            self.depth = max(self.depth, known)
        self.address = address
        self.reached = self.falls or known is not None
        self.falls = True
        self.step(address, op, args)
        if not is_padding(op):
            self.ends_in_call = op in ("bl", "blr", "jal", "jalr")  # a call of a function that does not return
        self.function.frame = max(self.function.frame, self.depth)

    def move(self, down):
        self.depth = max(self.depth + down, 0)
        self.function.frame = max(self.function.frame, self.depth)

    def unknown(self, address, op, args):
        self.function.problem = f"the stack pointer moves by what nobody knows at {address:x}: {op} {args}"

    def over_stubs(self, target, always):
        """True for the linker's branch after a function, to which no path leads: it skips pages of stubs that work
        around an erratum of the Cortex-A53."""
        skipped = (target or 0) - self.address
        stubs = always and not self.reached and skipped > 0 and skipped % 4096 == 0
        if stubs:
            self.falls = False
        return stubs

    def jump(self, target, name, always):
        """A jump to another function is a call that keeps this frame. After a jump to a veneer of the linker, execution
        continues after the jump."""
        if VENEER.match(self.function.name):
            self.falls = False
            return
        if name is not None and VENEER.match(name):
            return
        if name is not None and name != self.function.name:
            if self.over_stubs(target, always):
                return
            self.function.calls.append((name, self.depth))
        elif target is not None:
            self.at[target] = max(self.at.get(target, 0), self.depth)
        self.falls = self.falls and not always

    def call(self, name):
        self.function.calls.append((name, self.depth))
        self.falls = name not in ENDS


PLACE = re.compile(r"\b([0-9a-f]+) <([^>+]+)(\+0x[0-9a-f]+)?>")


def place(args):
    """(address, function) of a target as objdump writes it."""
    found = PLACE.search(args)
    return (int(found[1], 16), found[2]) if found else (None, None)


def number(text):
    return int(text, 0)


class Arm64(Walker):
    def step(self, address, op, args):
        if op == "bl":
            self.call(place(args)[1])
        elif op in ("blr", "br"):
            self.function.indirect.append((address, op == "br", self.depth))
            self.falls = op == "blr"
        elif op in ("ret", "eret"):
            self.falls = False
        elif op == "b" or op.startswith("b.") or op in ("cbz", "cbnz", "tbz", "tbnz"):
            target, name = place(args)
            self.jump(target, name, op == "b")
        else:
            self.data(address, op, args)

    def data(self, address, op, args):
        words = [w.strip() for w in args.split(",")]
        constant = re.fullmatch(r"#(-?(?:0x)?[0-9a-f]+)", words[1]) if len(words) > 1 else None
        if op in ("mov", "movz") and constant:
            self.constants[words[0].replace("w", "x")] = number(constant[1])
        elif op == "movk" and len(words) == 3:
            kept = self.constants.get(words[0], 0)
            self.constants[words[0]] = kept | number(constant[1]) << number(words[2].split("#")[1])
        elif op in ("sub", "add") and words[0] == "sp":
            self.arithmetic(address, op, args, words)
        elif op == "addvl" and words[0] == "sp":
            self.unknown(address, op, args)
        else:
            pre = re.search(r"\[sp, #(-?\d+)\]!", args)
            post = re.search(r"\[sp\], #(-?\d+)", args)
            if pre or post:
                self.move(-number((pre or post)[1]))

    def arithmetic(self, address, op, args, words):
        if words[1] != "sp":
            return  # sp is restored from the frame pointer, to where it was before
        value = self.constants.get(words[2])
        if words[2].startswith("#"):
            value = number(words[2][1:])
            if len(words) > 3:
                value <<= number(words[3].split("#")[1])
        if value is None:
            self.unknown(address, op, args)
        else:
            self.move(value if op == "sub" else -value)


REGISTERS = [f"a{i}" for i in range(8)]  # registers whose names look like hexadecimal numbers


class Riscv64(Walker):
    def step(self, address, op, args):
        target, name = place(args)
        words = [w.strip() for w in args.split("#")[0].split(",")]
        if op == "jal" or (op == "jalr" and name):
            link = words[0] if len(words) > 1 or op == "jalr" else "ra"
            if link.startswith("zero"):
                self.jump(target, name, True)
            else:
                self.call(name)
        elif op in ("jalr", "jr") and not name:
            self.function.indirect.append((address, op == "jr", self.depth))
            self.falls = op == "jalr"
        elif op in ("ret", "sret", "mret"):
            self.falls = False
        elif op in ("j", "jr") or (op.startswith("b") and name):
            self.jump(target, name, op in ("j", "jr"))
        else:
            self.data(address, op, words, args)

    def data(self, address, op, words, args):
        kept = self.constants.get(words[1]) if len(words) > 1 else None
        if op == "li":
            self.constants[words[0]] = number(words[1])
        elif op == "lui":
            value = number(words[1]) << 12
            self.constants[words[0]] = value - (1 << 32) if value >= 1 << 31 else value
        elif op in ("add", "addi", "addw", "addiw") and words[0] != "sp" and kept is not None \
                and re.fullmatch(r"-?\d+", words[2]):
            self.constants[words[0]] = kept + number(words[2])
        elif op in ("add", "addi", "sub") and words[:2] == ["sp", "sp"]:
            value = self.constants.get(words[2])
            if re.fullmatch(r"-?(0x)?[0-9a-f]+", words[2]) and words[2] not in REGISTERS:
                value = number(words[2])
            if value is None:
                self.unknown(address, op, args)
            else:
                self.move(value if op == "sub" else -value)
        elif op.startswith("csrrw") and words[0] == "sp":
            self.depth = 0  # from here on another stack is in use
        elif words[0] in self.constants and op not in ("sd", "sw", "sh", "sb", "fsd", "fsw"):
            del self.constants[words[0]]


HEAD = re.compile(r"([0-9a-f]+) <(.*)>:")
LINE = re.compile(r"\s*([0-9a-f]+):\s+(\S+)\s*(.*)")


def read_functions(cross, elf, vectors):
    """Functions by name; if two have the same name, the later one is `name@address`. Parts of functions in `vectors` do
    not continue into each other."""
    text = subprocess.run([cross + "objdump", "-d", "--no-show-raw-insn", elf], check=True,
                          capture_output=True, text=True).stdout
    walker_of = Arm64 if "aarch64" in text[:200] else Riscv64
    functions, walker = {}, None
    for line in text.split("\n"):
        head = HEAD.match(line)
        if head:
            name = head[2] if head[2] not in functions else f"{head[2]}@{head[1]}"
            before = walker
            functions[name] = Function(name, int(head[1], 16))
            walker = walker_of(functions[name], name in vectors)
            if before is not None and before.falls and not before.ends_in_call:
                before.function.calls.append((name, before.depth))  # assembly that continues into the next function
            continue
        found = LINE.match(line)
        if found and walker is not None:
            walker.take(int(found[1], 16), found[2], found[3].split("//")[0].split(";")[0].strip())
    return functions
