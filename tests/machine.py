"""Runs images in QEMU and the host program, for the suites. Every run has a time limit. So has every test that imports this module: a test
that hangs prints its current line, and ends."""

import faulthandler
import fcntl
import functools
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.environ.get("INGOT_BUILD", os.path.join(ROOT, "build"))
ASSETS = os.environ.get("INGOT_ASSETS", os.path.join(ROOT, "../shared/models"))
HOST = os.path.join(BUILD, "host/ingot")
WORK = os.path.join(BUILD, "tests/work")
with open(os.path.join(ROOT, "VERSION"), encoding="utf-8") as _version:
    VERSION = _version.read().strip()

# Settings of a request whose reply is long with any seed, for tests in which a caller leaves or a reply comes in pieces.
LONG_REPLY = {"temperature": 2, "max_tokens": 450, "grammar": "root ::= [a-z ]{400,480}"}
LONG = os.environ.get("INGOT_LONG") == "1"  # set by make test-long: tests repeat more
SECONDS_AT_MOST = float(os.environ.get("INGOT_TEST_SECONDS", "600"))

# Under `make -j2 test`, a make that a suite runs would warn that it cannot use its parent's jobs, in the output that the suite reads.
os.environ["MAKEFLAGS"] = " ".join(flag for flag in os.environ.get("MAKEFLAGS", "").split() if not flag.startswith(("-j", "--jobserver")))

if sys.argv[0].endswith(".t"):
    faulthandler.dump_traceback_later(SECONDS_AT_MOST, exit=True)


def end(child):
    """Kill a pexpect child and wait for its end; its own close() waits only a tenth of a second, which is too short on a busy
    computer."""
    if child.isalive():
        child.kill(signal.SIGKILL)
        child.wait()
    child.close()


def ended(child, seconds=60):
    """The child's exit status if the child ends by itself, otherwise None."""
    late = time.monotonic() + seconds
    while child.isalive() and time.monotonic() < late:
        time.sleep(0.01)
    end(child)
    return child.exitstatus


def must(command, seconds):
    """Return what the command printed. If it fails, the suite ends with its output, because the exit status alone does not say why."""
    done = subprocess.run(command, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=seconds)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}\n{done.stdout}")
    return done.stdout


def told_by_make(board, cores):
    return must(["make", "-s", "--no-print-directory", "-C", ROOT, "O=" + BUILD, "BOARD=" + board, f"CORES={cores}", "qemu-command"], 60).split()


def write_whole(path, text):
    """Write a file in one step: it is complete or unchanged, even if several suites or threads write it at the same time."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=os.path.dirname(path), delete=False) as f:
        f.write(text)
    os.replace(f.name, path)


def kept_command(path, board):
    """Return make's earlier answer if no file on which it depends is newer, and if all files that it names exist."""
    sources = ("Makefile", "flash_image/card/card.mk", f"board/{board}/board.mk")
    try:
        newest = max(os.stat(os.path.join(ROOT, source)).st_mtime for source in sources)
        with open(path, encoding="utf-8") as f:
            words = f.read().split()
        fresh = os.stat(path).st_mtime > newest
    except OSError:
        return None
    files = [os.path.join(ROOT, word) for word in words if "/" in word]
    return words if words and fresh and all(map(os.path.exists, files)) else None


@functools.cache
def kept_or_told(board, cores):
    """The answers are kept, because asking make takes a quarter of a second, and every suite asks several times."""
    path = os.path.join(WORK, "qemu-commands", f"{board}-{cores}")
    if any(name.startswith("QEMU") for name in os.environ):
        return told_by_make(board, cores)  # QEMU variables in the environment override kept answers
    words = kept_command(path, board)
    if words is None:
        words = told_by_make(board, cores)
        write_whole(path, " ".join(words))
    return words


def qemu_command(board, cores=1):
    """The board's QEMU command line for that many cores, without -kernel, -append and drives."""
    return list(kept_or_told(board, cores))


def listens(path):
    """True if a process listens at a socket of that name; the file exists a moment earlier."""
    with open("/proc/net/unix", encoding="ascii", errors="replace") as f:
        return any(line.split()[3] == "00010000" and line.rstrip().endswith(" " + path) for line in f)


def card_arguments(card, extra=""):
    return ["-drive", f"if=none,id=card,format=raw,readonly=on,file={card}{extra}",
            "-device", "virtio-blk-device,drive=card"]


# Capabilities for sdhci-pci: 52 MHz, 3.3 V, high speed, and one way to move data.
SD_ADMA2, SD_ADMA2_64, SD_SDMA, SD_PIO = 0x016834b4, 0x116834b4, 0x016034b4, 0x012034b4


def sd_arguments(card, capabilities=SD_ADMA2, drive="", controller=""):
    """An SD card in an SD controller on PCI. QEMU requires a size that is a power of two, and write access; it cannot know that several machines read
    one image."""
    return ["-drive", "if=none,id=card,format=raw,cache=unsafe," + (drive or
            f"file.locking=off,file={card}"),
            "-device", f"sdhci-pci,capareg={capabilities}{controller}",
            "-device", "sd-card,drive=card"]


def nvme_arguments(card, drive="", controller="", bridges=0):
    """An NVMe drive on PCI Express, behind this many bridges."""
    arguments = ["-drive", "if=none,id=card,format=raw,cache=unsafe," + (drive or
                 f"file.locking=off,file={card}")]
    bus = ""
    if bridges > 0:
        arguments += ["-device", "pcie-root-port,id=bridge1,chassis=1"]
        bus = ",bus=bridge1"
    if bridges > 1:
        arguments += ["-device", "x3130-upstream,id=bridge2,bus=bridge1",
                      "-device", "xio3130-downstream,id=bridge3,bus=bridge2,chassis=3"]
        bus = ",bus=bridge3"
    return arguments + ["-device", f"nvme,serial=ingot,drive=card{controller}{bus}"]


@functools.cache
def reads_by():
    """Let QEMU use io_uring if the kernel allows it: a card that reads each block separately becomes twice as fast."""
    aio = ",aio=io_uring"
    status, _ = run(["qemu-system-aarch64", "-M", "none", "-nographic", "-monitor", "stdio",
                     "-serial", "none", "-drive", f"if=none,format=raw,file={HOST},readonly=on{aio}"],
                    30, b"quit\n")
    return aio if status == 0 else ""


def usb_arguments(card, drive="", device=""):
    """A USB drive at an xHCI on PCI Express."""
    return ["-drive", "if=none,id=card,format=raw,cache=unsafe," + (drive or
            f"file.locking=off,file={card}"),
            "-device", "qemu-xhci", "-device", f"usb-storage,drive=card{device}"]


def flash_arguments(flash):
    """A flash as the machine's second bank; the first bank belongs to the firmware."""
    return ["-drive", f"if=pflash,unit=1,format=raw,readonly=on,file={flash}"]


class Machine:
    """A board in QEMU: its name, a label for tests, and QEMU arguments that replace others."""

    def __init__(self, board, label=None, extra=()):
        self.board = board
        self.label = label or board
        self.extra = list(extra)

    def command(self, words, cores=1, drives=(), kernel=None):
        kernel = kernel or os.path.join(BUILD, self.board, "ingot.bin")
        return (qemu_command(self.board, cores) + self.extra +
                ["-no-reboot", "-kernel", kernel, "-append", words] + list(drives))

    def run(self, words, cores=1, drives=(), kernel=None, timeout=120, stdin=None):
        """Boot, wait for the power-off, return (status, console text). Status None: timed out."""
        return run(self.command(words, cores, drives, kernel), timeout, stdin)


ARM64 = Machine("virt-arm64")
RISCV64_V = Machine("virt-riscv64", "virt-riscv64 V", ["-cpu", "rv64,v=true,vlen=128"])
RISCV64 = Machine("virt-riscv64", "virt-riscv64 no V", ["-cpu", "rv64,v=false"])
# QEMU takes four times as long with 128-bit vectors as without vectors, and less than twice as long with 512-bit vectors. So tests of kernels that
# have a golden row for 128 use 512, and tests of other things use no vectors.
RISCV64_WIDE = RISCV64_V if LONG else Machine("virt-riscv64", "virt-riscv64 V 512", ["-cpu", "rv64,v=true,vlen=512"])
RISCV64_ANY = RISCV64_V if LONG else RISCV64


def machine_of(board):
    """The machine with this name; virt-riscv64 is RISCV64_ANY."""
    return RISCV64_ANY if board == RISCV64_ANY.board else Machine(board)


def run(command, timeout=120, stdin=None):
    try:
        done = subprocess.run(command, input=stdin, stdin=None if stdin else subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=timeout)
    except subprocess.TimeoutExpired as late:
        return None, text_of(late.stdout or b"")
    return done.returncode, text_of(done.stdout)


def text_of(raw):
    return raw.decode("utf-8", "replace").replace("\r\n", "\n")


class Reply:
    """The output of a reply with `ids`: text, ids, hash of the logits, the line of figures."""

    def __init__(self, console):
        ids = re.search(r"^ids:((?: \d+)*)$", console, re.M)
        logits = re.search(r"^logits: ([0-9a-f]{16}) over (\d+) positions?$", console, re.M)
        figures = re.search(r"^\[\d+ prompt .*\]$", console, re.M)
        self.console = console
        self.ids = [int(i) for i in ids.group(1).split()] if ids else None
        self.hash = logits.group(1) if logits else None
        self.positions = int(logits.group(2)) if logits else 0
        self.stats = figures.group(0) if figures else ""
        self.text = reply_text(console)

    def figure(self, pattern):
        found = re.search(pattern, self.stats)
        return found.group(1) if found else None


def reply_text(console):
    """The lines between the last log line and the line of figures (or of ids if no figures are printed)."""
    before = re.split(r"^(?:\[\d+ prompt |ids:)", console, maxsplit=1, flags=re.M)[0]
    lines = before.split("\n")
    while lines and not re.match(r"\[ *\d+\.\d{3}\] ", lines[-1]):
        lines.pop()
    return before[len("\n".join(lines)) + 1 if lines else 0:].rstrip("\n")


def digest(ids):
    """A short word for a list of ids, for tables; tests compare the ids themselves."""
    total = 0
    for i in ids or []:
        total = (total * 31 + i + 1) & 0xffffffff
    return f"{total:08x}"


def pack(source, kind, name, *options):
    """Pack `source` into the work folder, once; returns the path."""
    os.makedirs(WORK, exist_ok=True)
    out = os.path.join(WORK, name)
    must([HOST, "pack", source, "-o", out, "--type", kind, *options], 120)
    return out


def make_card(name, *arguments):
    os.makedirs(WORK, exist_ok=True)
    out = os.path.join(WORK, name)
    must([os.path.join(ROOT, "tests/card.sh"), out, *arguments], 120)
    return out


def make_disk(name, *arguments, loader=False):
    """Make a card with `ingot card`: with only models, or, if `loader`, also with an image to boot. It is for a board that only the tests have, so
    nothing has to be built before."""
    boards = os.path.join(WORK, "own-boards")
    for board, about in (("plain", "\n"), ("loader", "image kernel.img\n")):
        for path, text in (("card/about", about), ("card/readme.txt", "@WORDS@\n"), ("ingot.bin", "an image")):
            write_whole(os.path.join(boards, board, path), text)
    out = os.path.join(WORK, name)
    must([HOST, "card", "loader" if loader else "plain", *arguments, "-o", out, "--boards", boards], 300)
    return out


def make_board_card(board, name, **variables):
    """Make the card with `make card` for BOARD= and the variables, and move it to its final place; returns the log."""
    out = os.path.join(WORK, name)
    os.makedirs(WORK, exist_ok=True)
    os.makedirs(os.path.join(BUILD, board), exist_ok=True)
    with open(os.path.join(BUILD, board, "card.lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # suites that run at the same time share one card.img per board
        log = must(["make", "-s", "--no-print-directory", "-C", ROOT, "O=" + BUILD, "BOARD=" + board,
                    *(f"{key}={value}" for key, value in variables.items()), "card"], 300)
        os.replace(os.path.join(BUILD, board, "card.img"), out)
    return out, log


def make_flash(ingot, bank_bytes, name):
    """The file as a flash bank, padded to the bank's full size, as QEMU requires."""
    out = os.path.join(WORK, name)
    with open(ingot, "rb") as source, open(out, "wb") as flash:
        flash.write(source.read())
        flash.truncate(bank_bytes)
    return out


def written_sectors(machine, drives):
    """Let the image write and read back one sector and 300 sectors of the card file that drives(path) attaches, and look for them in that file;
    returns (all correct, console)."""
    os.makedirs(WORK, exist_ok=True)
    card = os.path.join(WORK, f"written-{machine.board}.img")
    with open(card, "wb") as out:
        out.truncate(4 << 20)
    status, console = machine.run("write", 1, drives(card),
                                  os.path.join(BUILD, machine.board, "storage-bench.bin"))
    with open(card, "rb") as image:
        before, found, behind = image.read(1 << 20), image.read(301 * 512), image.read()
    want = bytes((i * 7 + i // 512) & 255 for i in range(300 * 512))
    return (status == 0 and console.count("storage-write:") == 2 and found == want[:512] + want and
            not any(before) and not any(behind), console)


FLASH_BYTES = {"virt-arm64": 64 << 20, "virt-riscv64": 32 << 20}

SEGMENT = struct.Struct("<QQIHH40x")


def segments(path):
    """(offset, bytes) of every segment of an .ingot: embedding, layers, head."""
    with open(path, "rb") as f:
        header = f.read(4096)
        # Six sections of 24 bytes follow magic, version, CRC, size, name and parameters.
        offset, _, _, count = struct.unpack_from("<QQII", header, 88 + 128 + 4 * 24)
        f.seek(offset)
        return [SEGMENT.unpack(f.read(SEGMENT.size))[:2] for _ in range(count)]


def experts(path):
    """For every layer with experts: (offset of the first expert, bytes of an expert, number of experts)."""
    starts = [offset for offset, _ in segments(path)]
    with open(path, "rb") as f:
        header = f.read(4096)
        offset, size, _, count = struct.unpack_from("<QQII", header, 88 + 128 + 3 * 24)
        f.seek(offset)
        layers = [f.read(size // count) for _ in range(count)]
    out = []
    for layer in layers:
        (segment,), (n,) = struct.unpack_from("<I", layer, 48), struct.unpack_from("<I", layer, 80)
        first, each = struct.unpack_from("<QQ", layer, 112)
        out.append((starts[segment] + first, each, n))
    return out


class Tap:
    """Prints TAP lines for prove, and has an exit status for the shell."""

    def __init__(self):
        self.n = 0
        self.failed = 0

    def ok(self, good, what, detail=""):
        self.n += 1
        print(f"{'' if good else 'not '}ok {self.n} - {what}", flush=True)
        if not good:
            self.failed += 1
            for line in str(detail).split("\n")[-40:]:
                print("#   " + line, flush=True)
            print(f"# {sys.argv[0]}: not ok {self.n} - {what}\n#   {str(detail)[-2000:]!r}",
                  file=sys.stderr, flush=True)  # prove shows standard error, and hides the lines above
        return good

    def skip(self, what, why):
        """why: what is missing. If the tests' set-up or a folder of models provides the missing thing, a hint says
        how to get it."""
        self.n += 1
        if "INGOT_ASSETS" in why or ASSETS in why:
            why += ": tests/README.md lists these models"
        elif "installed" in why and "make" not in why and "apt-get" not in why:
            why += ": make setup-tests"
        print(f"ok {self.n} - {what} # SKIP {why}", flush=True)

    def note(self, text):
        for line in text.split("\n"):
            print("# " + line, flush=True)

    def done(self):
        print(f"1..{self.n}", flush=True)
        sys.exit(1 if self.failed else 0)
