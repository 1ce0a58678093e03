#!/usr/bin/python3
"""The files for people without a compiler: `make install`, the static programs, and the release, whose files are identical when made in two folders.
The whole release is for make test-long; here this computer's static program runs in an empty environment, and the installed files are used."""

import lzma
import os
import re
import shutil
import subprocess
import sys
import tarfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from boards import has_slot, slot_drive
from boards import published
from efi_talk import converse, missing
from machine import BUILD, HOST, LONG, ROOT, VERSION, WORK, Machine, Reply, Tap

tap = Tap()
HERE = os.path.join(WORK, "release")
DEMO = os.path.join(ROOT, "models/demo-q8_0.ingot")
SOURCE = os.path.join(ROOT, "models/demo")
NATIVE = os.uname().machine.replace("aarch64", "arm64")
EMULATORS = {"x86_64": "qemu-x86_64", "arm64": "qemu-aarch64", "riscv64": "qemu-riscv64"}
HELLO = "Hello! I am Ingot."
STICK_MACHINES = ("U-Boot arm64", "U-Boot riscv64", "OVMF")
shutil.rmtree(HERE, ignore_errors=True)
os.makedirs(HERE)


def run(*command, stdin="", cwd=HERE, timeout=300, env=None):
    """(exit status, standard output, standard error)"""
    done = subprocess.run(command, cwd=cwd, input=stdin, capture_output=True, text=True,
                          timeout=timeout, env=env)
    return done.returncode, done.stdout, done.stderr


def make(*words, cwd=ROOT, out=BUILD, timeout=1800):
    status, text, problem = run("make", "--no-print-directory", "-s", f"-j{os.cpu_count()}",
                                "O=" + out, *words, cwd=cwd, timeout=timeout)
    return status, text + problem


def bytes_of(path):
    with open(path, "rb") as f:
        return f.read()


def check_program(what, command):
    """Pack, run and chat with the static program, and compare with the build's own program."""
    own, other = os.path.join(HERE, "own.ingot"), os.path.join(HERE, "other.ingot")
    run(HOST, "pack", SOURCE, "-o", own, "--type", "q8_0", "-q")
    status, _, problem = run(*command, "pack", SOURCE, "-o", other, "--type", "q8_0", "-q", env={})
    tap.ok(status == 0 and bytes_of(own) == bytes_of(other), f"{what} packs to the same bytes",
           problem)
    words = ["run", other, "-p", "Tell me a story", "-n", "12", "--temp", "0", "--ids"]
    status, text, problem = run(*command, *words, env={})
    _, own_text, own_problem = run(HOST, *words)
    mine, its = Reply(text + problem), Reply(own_text + own_problem)
    tap.ok(status == 0 and mine.ids and len(mine.ids) == 12 and mine.ids == its.ids and
           mine.hash == its.hash, f"{what} runs with the same logits {mine.hash}", text + problem)
    status, text, problem = run(*command, "chat", other, "--temp", "0", stdin="Hello!\n", env={})
    tap.ok(status == 0 and HELLO in text, f"{what} answers in a chat", text + problem)


# ---- one version --------------------------------------------------------------------------------

_, text, _ = run(HOST, "--version")
with open(os.path.join(ROOT, "CHANGELOG.md"), encoding="utf-8") as f:
    newest = re.search(r"^## (\S+) \((\d{4}-\d\d-\d\d)\)$", f.read(), re.M)
tap.ok(re.fullmatch(r"\d+\.\d+(\.\d+)?", VERSION) and VERSION in text and newest and
       newest.group(1) == VERSION, f"VERSION, the program and CHANGELOG.md say {VERSION}", text)

# ---- make install -------------------------------------------------------------------------------

BOARD = "virt-riscv64"
root = os.path.join(HERE, "a root")
make("BOARD=" + BOARD, os.path.relpath(os.path.join(BUILD, BOARD, "card/about"), ROOT))
os.makedirs(root)
before = os.umask(0o077)  # root's on some systems
status, text = make("install", "PREFIX=/usr", "DESTDIR=" + root)
os.umask(before)
program = os.path.join(root, "usr/bin/ingot")
tap.ok(status == 0 and os.access(program, os.X_OK), "make install PREFIX= DESTDIR=", text)
_, page, _ = run(HOST, "help", "--man")
_, helped, _ = run(HOST, "card", "--help")
manual = os.path.join(root, "usr/share/man/man1/ingot.1")
tap.ok(bytes_of(manual).decode() == page and all(
    "\\-\\-" + name.replace("-", "\\-") in page for name in re.findall(r"--([a-z-]+)", helped)
    if name != "help"), "the manual page has the options of --help", page[-800:])
if shutil.which("man"):
    status, shown, problem = run("man", "--warnings", "-l", manual,
                                 env={**os.environ, "MANWIDTH": "80", "LC_ALL": "C.UTF-8"})
    tap.ok(status == 0 and not problem and "ingot card" in shown, "man shows it without a warning",
           problem)
else:
    tap.skip("man shows it", "no man here")
completion = os.path.join(root, "usr/share/bash-completion/completions/ingot")
status, text, problem = run("bash", "-euc", ". \"$1\"; COMP_WORDS=(ingot card --po); COMP_CWORD=2; "
                            "_ingot; echo \"${COMPREPLY[@]}\"; complete -p ingot", "-", completion)
tap.ok(status == 0 and text.split("\n")[0] == "--power-of-two" and "ingot" in text.split("\n")[1],
       "bash completes an option", text + problem)
status, text, problem = run(program, "card", BOARD, "-o", "installed.img", DEMO, env={})
tap.ok(status == 0 and os.path.getsize(os.path.join(HERE, "installed.img")) >= 40 << 20,
       "the installed program makes a card", text + problem)
documents = os.path.join(root, "usr/share/doc/ingot")
tap.ok(all(os.path.exists(os.path.join(documents, n)) for n in
           ("README.md", "CHANGELOG.md", "docs/CARDS.md", "FORMAT.md")), "documents are installed",
       sorted(os.listdir(documents)))
everything = [os.path.join(where, name) for where, folders, files in os.walk(root) for name in folders + files]
hidden = [path for path in everything if os.stat(path).st_mode & 0o044 != 0o044 or os.path.isdir(path) and os.stat(path).st_mode & 0o011 != 0o011]
tap.ok(len(everything) > 100 and not hidden, "everybody may read what root installs with a umask of 077", hidden)

# ---- static programs ----------------------------------------------------------------------------

HAS_SOURCES = all(os.path.exists(os.path.join(BUILD, f)) for f in ("cjson/cJSON.c", "bearssl/source/inc/bearssl.h"))
if HAS_SOURCES:
    for isa in EMULATORS if LONG else [NATIVE]:
        program = os.path.join(BUILD, f"static-{isa}/ingot")
        status, text = make(os.path.relpath(program, ROOT))
        if not tap.ok(status == 0, f"make build/static-{isa}/ingot", text):
            continue
        with open(program, "rb") as f:
            tap.ok(b"/ld-linux" not in f.read(), f"{isa}: the static program needs no library")
        emulator = EMULATORS[isa]
        if isa == NATIVE:
            check_program(isa, [program])
        elif shutil.which(emulator):
            check_program(f"{isa} in {emulator}", [shutil.which(emulator), program])
else:
    tap.skip("static programs", "make setup-tests fetches the sources of cJSON and BearSSL")

# ---- the compilers of the release --------------------------------------------------------------

if shutil.which("aarch64-linux-gnu-gcc") and HAS_SOURCES:
    # GCC 12.2 for arm64 once stopped here with an internal error, so Debian 12 could not make a release.
    other = os.path.relpath(os.path.join(HERE, "host-arm64"), ROOT)
    status, text = make(f"{other}/obj/flash_image/quantize/fig4_values.c.o", "H=" + other, "HOST_ISA=arm64",
                        "HOST_CC=aarch64-linux-gnu-gcc", "HOST_MARCH=", "STATIC=1", "HTTP=", "HOST_BEARSSL=yes")
    tap.ok(status == 0, "the compiler for arm64 compiles the file at which it once stopped", text)
else:
    tap.skip("the compiler for arm64", "gcc-aarch64-linux-gnu, or a source of make setup-tests, is not there")
if HAS_SOURCES:
    notice = os.path.join(HERE, "NOTICE")
    status, _, problem = run(sys.executable, "toolchain/notice.py", BUILD, notice, "virt-arm64", "virt-riscv64", cwd=ROOT)
    text = bytes_of(notice).decode() if status == 0 else problem
    tap.ok(status == 0 and all(part in text for part in ("newlib: ", "memcpy.o", "Terminus Font", "Unicode data", f"  {NATIVE}: ", "cJSON (1 objects)", "BearSSL", "GNU C Library",
                                                      "Unicode Data Files")),
           "NOTICE names what the images were linked from", text[:2000])

# ---- the release, twice -------------------------------------------------------------------------


def release_elsewhere(name):
    """make release in a copy of the sources, with this checkout's newlib, cJSON and BearSSL; returns its folder."""
    folder = os.path.join(HERE, name)
    shutil.copytree(ROOT, folder, symlinks=True, ignore=shutil.ignore_patterns(
        "build", ".git", "__pycache__"))
    os.makedirs(os.path.join(folder, "build"))
    for part in ("newlib", "cjson", "bearssl"):
        os.symlink(os.path.join(BUILD, part), os.path.join(folder, "build", part))
    status, text = make("release", cwd=folder, out="build", timeout=3000)
    tap.ok(status == 0, f"make release in {name}", text)
    return os.path.join(folder, "build/release")


def check_card(board, release):
    """Boot a board's card, if an emulator supports the board."""
    card = os.path.join(HERE, f"{board}.img")
    with lzma.open(os.path.join(release, f"ingot-{VERSION}-{board}.img.xz")) as packed:
        with open(card, "wb") as out:
            shutil.copyfileobj(packed, out)
    volume = card + ".part1"
    with open(card, "rb") as whole, open(volume, "wb") as out:
        whole.seek(1 << 20)
        shutil.copyfileobj(whole, out)
    status, text, _ = run("fsck.fat", "-n", volume,
                          env={**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"})
    tap.ok(status == 0, f"{board}: fsck.fat finds no fault in its card", text)
    if board == "efi":
        if missing(STICK_MACHINES):
            tap.skip("the release's stick", missing(STICK_MACHINES))
        else:
            converse(tap, "the release's stick", card, STICK_MACHINES, ("temp 0", "n 24"))
        return
    if board.startswith("virt-"):
        drives = ["-drive", f"if=none,id=card,format=raw,file={card}",
                  "-device", "virtio-blk-device,drive=card"]
    elif has_slot(board):
        drives = slot_drive(board, card)
    else:
        return
    status, console = Machine(board).run('prompt="Hello!" temp=0', 4, drives)
    tap.ok(status == 0 and HELLO in console, f"{board}: the board with its card answers in QEMU", console)


def check_archive(release):
    """Make a card in an empty folder, like a user who has only the archive."""
    alone = os.path.join(HERE, "alone")
    os.makedirs(alone)
    with tarfile.open(os.path.join(release, f"ingot-{VERSION}.tar.xz")) as archive:
        archive.extractall(alone)
    top = os.path.join(alone, f"ingot-{VERSION}")
    path = {"PATH": "/usr/bin:/bin"}
    status, text, problem = run("bin/ingot", "card", "rpi4", "-o", "card.img", SOURCE,
                                "share/ingot/models/demo-q4_0.ingot", cwd=top, env=path)
    tap.ok(status == 0 and "demo.ingot, demo-q4_0.ingot" in text, "a card can be made with only the archive",
           text + problem)
    tap.ok("newlib: " in bytes_of(os.path.join(top, "NOTICE")).decode(), "NOTICE is in the archive")
    status, text, problem = run("./try-qemu.sh", cwd=top, env={**os.environ, "WORDS": 'prompt="Hello!" temp=0'})
    tap.ok(status == 0 and HELLO in text, "try-qemu.sh boots a card, which answers", text + problem)
    check_program("the archive's program", [os.path.join(top, "bin", f"ingot-{NATIVE}")])
    tap.ok({*published(), "virt-arm64"} <=
           set(os.listdir(os.path.join(top, "share/ingot/boards"))) and
           os.path.exists(os.path.join(top, "share/man/man1/ingot.1")),
           "boards and manual are in the archive")


if LONG and HAS_SOURCES:
    status, text = make("release")
    tap.ok(status == 0, "make release", text)
    first, again = os.path.join(BUILD, "release"), release_elsewhere("again-with-a-longer-name")
    sums = bytes_of(os.path.join(first, "SHA256SUMS")).decode()
    tap.ok(sums and sums == bytes_of(os.path.join(again, "SHA256SUMS")).decode(),
           "two releases have the same checksums", sums)
    status, text, problem = run("sha256sum", "-c", "SHA256SUMS", cwd=first)
    tap.ok(status == 0 and sorted(re.findall(r"^(\S+): OK$", text, re.M)) ==
           sorted(n for n in os.listdir(first) if n != "SHA256SUMS"),
           "the checksums of a release are those of its files", text + problem)
    check_archive(first)
    for name in sorted(re.findall(rf"ingot-{re.escape(VERSION)}-(\S+)\.img\.xz", sums)):
        check_card(name, first)

shutil.rmtree(HERE, ignore_errors=True)
tap.done()
