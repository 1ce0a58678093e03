#!/usr/bin/python3
"""`make card` and `make run` as a person uses them: repeatedly with other variables, without removing anything in between; and options, folders and
models that are not valid."""

import contextlib
import fcntl
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import zipfile
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import BUILD, HOST, ROOT, WORK, Tap

tap = Tap()
HERE = os.path.join(WORK, "make card")  # with a space, as in folders of people
ENVIRONMENT = {**os.environ, "LC_ALL": "C.UTF-8", "MTOOLSRC": "/dev/null"}
PLAIN, WITH_IMAGE = "virt-riscv64", "rpi3"  # a card with only models; a card with image and options


# Run make like a person, not as a part of the make that runs the tests.
ALONE = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}


def make(*words, out=BUILD, cwd=ROOT, timeout=120):
    done = subprocess.run(["make", "--no-print-directory", "O=" + out, *words], cwd=cwd,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=timeout, env=ALONE)
    return done.returncode, done.stdout


def image_of(board):
    return os.path.join(BUILD, board, "card.img")


@contextlib.contextmanager
def alone_with(board):
    """A context in which no other suite makes cards of the board (machine.make_board_card)."""
    os.makedirs(os.path.join(BUILD, board), exist_ok=True)
    with open(os.path.join(BUILD, board, "card.lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def on_card(board):
    """{path: bytes} of the card's files."""
    def mtools(*command):
        return subprocess.run(command, env=ENVIRONMENT, check=True, capture_output=True,
                              timeout=60).stdout

    drive = image_of(board) + "@@1M"
    names = [n[3:] for n in mtools("mdir", "-i", drive, "-/", "-b", "::").decode().split("\n")]
    return {n: mtools("mtype", "-i", drive, "::/" + n) for n in names if n and n[-1] != "/"}


def bytes_of(path):
    with open(path, "rb") as f:
        return f.read()


def write(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(data)
    return path


def synth(name, kind):
    """Makes a small model; returns its path."""
    path = os.path.join(HERE, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    subprocess.run([HOST, "synth", "--shape", "tiny", "--type", kind, "-o", path], check=True,
                   capture_output=True, timeout=60)
    return path


def card(board, what, want, **variables):
    """Make the card again; want(files) tells whether it is the requested card."""
    status, text = make("BOARD=" + board, *(f"{k}={v}" for k, v in variables.items()), "card")
    try:
        files = on_card(board)
    except subprocess.CalledProcessError:
        files = {}
    tap.ok(status == 0 and want(files), f"make card: {what}",
           f"{text}\n{sorted((n, len(b)) for n, b in files.items())}")


def models_are(*paths):
    """True if models/ has exactly these files, by name and by bytes."""
    want = {"models/" + os.path.basename(p): bytes_of(p) for p in paths}
    return lambda files: {n: b for n, b in files.items() if n.startswith("models/")} == want


def packed(source, name):
    """The result of `ingot pack` for a model."""
    out = os.path.join(HERE, "packed", name)
    os.makedirs(os.path.dirname(out), exist_ok=True)
    subprocess.run([HOST, "pack", source, "-o", out, "-q"], check=True, capture_output=True,
                   timeout=120)
    return out


shutil.rmtree(HERE, ignore_errors=True)
one, other = synth("one.ingot", "q8_0"), synth("other folder/it's other.ingot", "f32")
demo = os.path.join(ROOT, "models/demo")
html = write(os.path.join(HERE, "page.gguf"), b"<!DOCTYPE html><html><body>Not found" * 9)

# ---- the first card -----------------------------------------------------------------------------

status, text = make("-n", "run", f"BOARD={PLAIN}", out=os.path.join(WORK, "card-nothing-yet"))
tap.ok(status == 0 and "first_card" in text and "/host/obj/" not in text and "ingot pack" not in text,
       "the first `make run` compiles only one program for this computer, which makes the card", text[-2000:])
for variables in ({}, {"CMDLINE": "temp=0 n='5'"}, {"SAVE": "0"}):
    with alone_with(PLAIN):
        status, text = make(f"BOARD={PLAIN}", *(f"{k}={v}" for k, v in variables.items()), "card")
        mine, its = image_of(PLAIN), os.path.join(HERE, "its.img")
        words = ["--cmdline", variables["CMDLINE"]] if "CMDLINE" in variables else []
        subprocess.run([HOST, "card", PLAIN, "-o", its, "--save", variables.get("SAVE", "8"), *words, "--boards", BUILD,
                        os.path.join(ROOT, "models/demo-q8_0.ingot")], check=True, capture_output=True, timeout=60)
        tap.ok(status == 0 and bytes_of(mine) == bytes_of(its), f"the first card has the bytes of `ingot card` ({variables})", text)

# ---- another model, other sizes -----------------------------------------------------------------

with alone_with(PLAIN):
    card(PLAIN, "a model", models_are(one), MODEL=one)
    card(PLAIN, "another one, whose path has a space and a quote", models_are(other), MODEL=other)
    before = os.stat(image_of(PLAIN)).st_mtime_ns
    card(PLAIN, "the same again", models_are(other), MODEL=other)
    tap.ok(os.stat(image_of(PLAIN)).st_mtime_ns == before, "make card does not build an up-to-date image again")
    status, text = make("run", "BOARD=" + PLAIN, "MODEL=" + other, "CMDLINE=temp=0", "QEMU=echo", timeout=600)
    tap.ok(status == 0 and "-append temp=0" in text and os.stat(image_of(PLAIN)).st_mtime_ns == before,
           "make run with other boot arguments keeps the card, with the conversations saved there", text)
    shutil.copy(one, other)
    card(PLAIN, "the file has changed", models_are(other), MODEL=other)
    card(PLAIN, "SAVE=", lambda f: len(f.get("saves/chat.sav", b"")) == 3 << 20, MODEL=other,
         SAVE=3)
    card(PLAIN, "SAVE=0", lambda f: "saves/chat.sav" not in f, MODEL=other, SAVE=0)
    card(PLAIN, "KV=", lambda f: len(f.get("ingot.kv", b"")) == 2 << 20, MODEL=other, SAVE=0, KV=2)
    card(PLAIN, "a Hugging Face folder", models_are(packed(demo, "demo.ingot")), MODEL=demo)
    os.symlink(demo, os.path.join(HERE, "linked"))
    card(PLAIN, "a link keeps its own name", models_are(packed(demo, "linked.ingot")), MODEL=os.path.join(HERE, "linked"))
    folder = os.path.join(WORK, "card-dash")  # links to the checkout, and a model whose relative path begins with a dash
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for name in set(os.listdir(ROOT)) - {".git"}:
        os.symlink(os.path.join(ROOT, name), os.path.join(folder, name))
    shutil.copytree(demo, os.path.join(folder, "-a model"))
    status, text = make("BOARD=" + PLAIN, "MODEL=-a model", "card", out=BUILD.removeprefix(ROOT + os.sep), cwd=folder)
    tap.ok(status == 0 and models_are(packed(os.path.join(folder, "-a model"), "-a model.ingot"))(on_card(PLAIN)), "make card: a path that begins with a dash", text)
    shutil.rmtree(folder)
    llama2c = os.path.join(os.environ.get("INGOT_ASSETS", ""), "llama2c/stories260K.v1.bin")
    if os.path.exists(llama2c):
        card(PLAIN, "a llama2.c checkpoint", models_are(packed(llama2c, "stories260K.v1.ingot")),
             MODEL=llama2c)
    card(PLAIN, "and a file again", models_are(one), MODEL=one)

# Two models with the same name in two folders, and a third of another kind.
with alone_with(PLAIN):
    gguf = os.path.join(os.environ.get("INGOT_ASSETS", ""), "gguf")
    pair = [os.path.join(gguf, n) for n in ("stories260K.gguf", "tiny-random-llama.gguf")]
    if all(os.path.exists(p) for p in pair):
        for folder, source in zip("ab", pair):
            path = write(os.path.join(HERE, folder, "x.gguf"), bytes_of(source))
            card(PLAIN, f"{folder}/x.gguf", models_are(packed(path, "x.ingot")), MODEL=path)
    else:
        tap.skip("two models of one name", "no GGUF files under INGOT_ASSETS")
    folder = os.path.join(HERE, "c", "x")
    shutil.copytree(demo, folder)
    card(PLAIN, "c/x, a folder", models_are(packed(folder, "x.ingot")), MODEL=folder)

# ---- options, firmware and the image --------------------------------------------------------------

with alone_with(WITH_IMAGE):
    firmware = os.path.join(HERE, "my firmware")
    for name in ("bootcode.bin", "start.elf", "fixup.dat", "LICENCE.broadcom", "unasked.bin"):
        write(os.path.join(firmware, name), b"first " + name.encode())
    for words in ('temp=0', '''prompt="it's a fox" temp=0.5 cost=$5'''):
        card(WITH_IMAGE, f"CMDLINE={words}", lambda f, w=words:
             f.get("cmdline.txt", b"").decode().strip() == w, MODEL=one, FIRMWARE="",
             CMDLINE=words)
    make("run", "BOARD=" + WITH_IMAGE, "MODEL=" + other, "CMDLINE=temp=0.9", "QEMU=echo", timeout=600)
    card(WITH_IMAGE, "CMDLINE= after make run made the card with others", lambda f, w=words:
         f.get("cmdline.txt", b"").decode().strip() == w, MODEL=other, FIRMWARE="", CMDLINE=words)
    card(WITH_IMAGE, "FIRMWARE=, a folder with a space", lambda f:
         f.get("start.elf") == b"first start.elf" and "unasked.bin" not in f, MODEL=one,
         FIRMWARE=firmware)
    card(WITH_IMAGE, "its licence goes along", lambda f: "LICENCE.broadcom" in f, MODEL=one,
         FIRMWARE=firmware)
    write(os.path.join(firmware, "start.elf"), b"second start.elf")
    card(WITH_IMAGE, "the firmware has changed", lambda f:
         f.get("start.elf") == b"second start.elf", MODEL=one, FIRMWARE=firmware)
    card(WITH_IMAGE, "and none", lambda f: f and "start.elf" not in f, MODEL=one, FIRMWARE="")
    before = os.stat(image_of(WITH_IMAGE)).st_mtime_ns
    os.utime(os.path.join(BUILD, WITH_IMAGE, "ingot.bin"))
    card(WITH_IMAGE, "the image is newer", lambda f:
         os.stat(image_of(WITH_IMAGE)).st_mtime_ns > before, MODEL=one, FIRMWARE="")

# A Pi 5's loader reads its board's device tree and, on stepping D0, an overlay from a folder.
PI5 = "rpi5"
with alone_with(PI5):
    trees = ("bcm2712-rpi-5-b.dtb", "bcm2712d0-rpi-5-b.dtb", "bcm2712-rpi-500.dtb",
             "bcm2712-rpi-cm5-cm5io.dtb", "overlays/bcm2712d0.dtbo")
    five = os.path.join(HERE, "firmware of the 5")
    for name in (*trees, "bcm2711-rpi-4-b.dtb", "overlays/disable-bt.dtbo"):
        write(os.path.join(five, name), b"five " + name.encode())
    card(PI5, "rpi5: every tree and the overlay of D0", lambda f:
         {n: b for n, b in f.items() if ".dtb" in n} == {n: b"five " + n.encode() for n in trees} and
         b"MISSING" not in f["README.txt"] and b"copy bcm2712-rpi-cm5l-cm5io.dtb (CM5 Lite) next" in f["README.txt"],
         MODEL=one, FIRMWARE=five)
    write(os.path.join(five, "bcm2712-rpi-cm5l-cm5io.dtb"), b"five")
    shutil.rmtree(os.path.join(five, "overlays"))
    card(PI5, "rpi5: an overlay that is not there is named", lambda f:
         b"overlays/bcm2712d0.dtbo (5 and 500 with stepping D0) next" in f["README.txt"] and trees[0] in f, MODEL=one,
         FIRMWARE=five)
    os.unlink(image_of(PI5))
with alone_with(WITH_IMAGE):
    trees = ("bcm2710-rpi-3-b.dtb", "bcm2710-rpi-3-b-plus.dtb", "bcm2710-rpi-zero-2-w.dtb")
    for name in (*trees, "bcm2709-rpi-2-b.dtb"):
        write(os.path.join(firmware, name), b"tree " + name.encode())
    card(WITH_IMAGE, "rpi3: the trees of its boards", lambda f:
         sorted(n for n in f if n.endswith(".dtb")) == sorted(trees) and
         b"MISSING" not in f["README.txt"] and b"copy bcm2710-rpi-cm3.dtb (CM3, CM3+) next" in f["README.txt"], MODEL=one,
         FIRMWARE=firmware)
    write(os.path.join(firmware, "bcm2710-rpi-cm3.dtb"), b"the last one")

# ---- with only the program: no make, no mtools ------------------------------------------------------


def ingot(*words):
    done = subprocess.run([HOST, "card", *words], cwd=HERE, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120,
                          env={**os.environ, "PATH": "/nonexistent"})
    return done.returncode, done.stdout


def fsck(image, size=None):
    """The verdict of fsck.fat on the first partition."""
    part = image + ".part1"
    with open(image, "rb") as whole, open(part, "wb") as out:
        whole.seek(1 << 20)
        if size is None:
            shutil.copyfileobj(whole, out, 1 << 20)
        else:
            out.write(whole.read(size))
    done = subprocess.run(["fsck.fat", "-n", part], stdout=subprocess.PIPE, timeout=60,
                          stderr=subprocess.STDOUT, text=True,
                          env={**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"})
    os.unlink(part)
    return done.returncode == 0 and done.stdout.count("\n") == 2, done.stdout


with alone_with(WITH_IMAGE):
    words = [WITH_IMAGE, one, demo, "--save", "2", "--names", "a,b", "--kv", "1", "--cmdline",
             "temp=0", "--firmware", firmware, "-o"]
    status, text = ingot(*words, "card.img")
    again = ingot(*words, "again.img")[0]
    image = os.path.join(HERE, "card.img")
    tap.ok(status == 0 and text.count("\n") == 4 and "\nroom for /save: 2 MiB: " in text and text.count(" predicted on ") == 2 and again == 0 and
           bytes_of(image) == bytes_of(os.path.join(HERE, "again.img")),
           "ingot card: a line for each model, for the card and for /save, and equal bytes twice", text)
    os.replace(image, image_of(WITH_IMAGE))
    files = on_card(WITH_IMAGE)
    tap.ok(files.get("models/one.ingot") == bytes_of(one) and
           files.get("models/demo.ingot") == bytes_of(packed(demo, "demo.ingot")),
           "one model is copied and one is packed", sorted(files))
    tap.ok([len(files.get(n, b"")) for n in ("saves/a.sav", "saves/b.sav", "ingot.kv")] ==
           [2 << 20, 2 << 20, 1 << 20], "the card has two conversations and a file for keys and values")
    tap.ok(files.get("cmdline.txt") == b"temp=0\n" and "start.elf" in files and
           b"one.ingot, demo.ingot" in files.get("README.txt", b""), "the card has options, firmware and a README",
           sorted(files))
    tap.ok(files.get("kernel8.img") == bytes_of(os.path.join(BUILD, WITH_IMAGE, "ingot.bin")),
           "the card has the image")
    good, text = fsck(image_of(WITH_IMAGE))
    tap.ok(good, "fsck.fat finds no fault", text)
    # The names of the cache of Hugging Face are links to files that are named by their hashes.
    os.makedirs(os.path.join(HERE, "snapshots"), exist_ok=True)
    link, folder = os.path.join(HERE, "snapshots/tiny-Q8_0.ingot"), os.path.join(HERE, "snapshots/folder")
    for to, at in ((one, link), (demo, folder)):
        with contextlib.suppress(FileExistsError):
            os.symlink(to, at)
    for path, name in ((link, "tiny-Q8_0"), (folder + "/", "folder"), (demo + "/", "demo"), (demo + "/.", "demo"), (demo + "/../demo//", "demo")):
        status, text = ingot(PLAIN, path, "--save", "0", "-o", "link.img")
        tap.ok(status == 0 and f"with {name}.ingot" in text, f"ingot card {os.path.relpath(path, HERE)}: the model is called {name}", text)
    status, text = ingot(WITH_IMAGE, one, "-o", "card.img", "--size", "128M")
    tap.ok(status == 0 and os.path.getsize(image) == 128 << 20, "--size", text)
    os.unlink(image_of(WITH_IMAGE))
    card(WITH_IMAGE, "NAMES=", lambda f: sorted(n for n in f if n.startswith("saves/")) ==
         ["saves/a.sav", "saves/b.sav"], MODEL=one, FIRMWARE="", SAVE=1, NAMES="a,b")

# ---- firmware, in the forms in which people have it ------------------------------------------------------------------

FOUR = {"start4.elf": bytes(random.Random(4).choices(b"abcdef", k=300000)), "fixup4.dat": b"", "LICENCE.broadcom": b"terms\n",
        **{f"bcm2711-rpi-{n}.dtb": f"tree of {n}".encode() * 99 for n in ("4-b", "400", "cm4", "cm4s", "new")}}
BESIDE = {"README.md": b"no", "boot/start.elf": b"no", "boot/overlays/vc4.dtbo": b"no", "modules/6.6/start4.elf": b"no", "opt/vc/x": b"no"}


def pack_zip(name, files, method=zipfile.ZIP_DEFLATED, level=9, comment=b"", streamed=False, large=False):
    path = os.path.join(HERE, name)
    with zipfile.ZipFile(path, "w") as z:
        z.comment = comment
        for folder in sorted({n.rsplit("/", 1)[0] + "/" for n in files if "/" in n}):
            z.writestr(folder, b"")
        for n, data in files.items():
            about = zipfile.ZipInfo(n)
            about.compress_type = method
            with z.open(about, "w", force_zip64=large) as f:
                f.write(data)
            if streamed:
                about.flag_bits |= 8
    return path


def folder_of(name, files):
    shutil.rmtree(os.path.join(HERE, name), ignore_errors=True)
    for n, data in files.items():
        write(os.path.join(HERE, name, n), data)
    return os.path.join(HERE, name)


def under(prefix, files):
    return {prefix + n: data for n, data in files.items()}


def deflated_by_parts(name, files):
    """A zip archive with all three kinds of blocks (stored, fixed codes, own codes) and a 64-bit directory."""
    path = os.path.join(HERE, name)
    parts = []
    for level, strategy in ((0, zlib.Z_DEFAULT_STRATEGY), (9, zlib.Z_FIXED), (1, zlib.Z_HUFFMAN_ONLY), (9, zlib.Z_RLE)):
        parts.append(zlib.compressobj(level, zlib.DEFLATED, -15, 9, strategy))
    with zipfile.ZipFile(path, "w") as z:
        for i, (n, data) in enumerate(files.items()):
            deflate = parts[i % 4].copy()
            packed = deflate.compress(data) + deflate.flush()
            about = zipfile.ZipInfo(n)
            about.compress_type = zipfile.ZIP_DEFLATED
            about.CRC, about.file_size, about.compress_size, about.header_offset = zlib.crc32(data), len(data), len(packed), z.fp.tell()
            z.fp.write(about.FileHeader(False) + packed)
            z.filelist.append(about)
            z.NameToInfo[n] = about
            z.start_dir = z.fp.tell()
            z._didModify = True
    return path


def spoil(path, name, change):
    data = bytearray(bytes_of(path))
    change(data)
    return write(os.path.join(HERE, name), bytes(data))


def firmware_card(board, source, *more):
    """(exit status, what was printed, the files of the card)"""
    status, text = ingot(board, one, "--save", "2", "--firmware", source, "-o", "card.img", *more)
    if status != 0:
        return status, text, {}
    os.replace(os.path.join(HERE, "card.img"), image_of("rpi4"))
    return status, text, on_card("rpi4")


SOURCES = [
    ("a bootfs", folder_of("bootfs", {**FOUR, "overlays/vc4.dtbo": b"no", "config.txt": b"theirs", "cmdline.txt": b"theirs"})),
    ("the folder around it", folder_of("around", under("bootfs/", FOUR))),
    ("a clone of the repository", folder_of("clone", {**under("boot/", FOUR), **BESIDE})),
    ("a folder in capitals, as FAT has them", folder_of("capitals", {n.upper(): d for n, d in FOUR.items()})),
    ("the zip of the repository", pack_zip("firmware-master.zip", {**under("firmware-master/boot/", FOUR), **under("firmware-master/", BESIDE)})),
    ("one that is stored", pack_zip("stored.zip", under("firmware-1.20250915/boot/", FOUR), zipfile.ZIP_STORED)),
    ("one of a bootfs, with a comment", pack_zip("bootfs.zip", FOUR, comment=b"PK\5\6 is not the end" * 40)),
    ("one that was streamed", pack_zip("streamed.zip", under("boot/", FOUR), streamed=True)),
    ("one with sizes of 64 bits", pack_zip("large.zip", under("boot/", FOUR), large=True)),
    ("one with blocks of every kind", deflated_by_parts("kinds.zip", under("boot/", FOUR))),
]
with alone_with("rpi4"):
    os.makedirs(os.path.join(BUILD, "rpi4"), exist_ok=True)
    wants = {n.lower(): d for n, d in FOUR.items()}
    for title, source in SOURCES:
        status, text, files = firmware_card("rpi4", source)
        found = {n.lower(): d for n, d in files.items() if n.lower() in wants or "start" in n or "overlays" in n}
        tap.ok(status == 0 and found == wants and b"theirs" not in files.get("cmdline.txt", b"") and not re.search("^ingot: ", text, re.M),
               f"--firmware: {title}", f"{text}\n{sorted(files)}")
    some = folder_of("some", {n: d for n, d in FOUR.items() if "400" not in n and "cm4" not in n})
    status, text, files = firmware_card("rpi4", some)
    tap.ok(status == 0 and "warning: " in text and "bcm2711-rpi-400.dtb (400), bcm2711-rpi-cm4.dtb (CM4), bcm2711-rpi-cm4s.dtb (CM4S)" in text,
           "rpi4: trees that are missing are a warning, each with its board", text)
    status, text, files = firmware_card("rpi4", folder_of("none", {"fixup4.dat": b"x", "LICENCE.broadcom": b"x"}))
    tap.ok(status == 0 and "no board starts from this card; missing: start4.elf" in text and
           b"FIRMWARE IS MISSING" in files["README.txt"], "rpi4: a missing file that every board needs is named, too", text)
    THREE = {n: b"x" for n in ("bootcode.bin", "start.elf", "fixup.dat", "bcm2710-rpi-3-b.dtb")}
    FIVE = {n: b"x" for n in ("bcm2712-rpi-500.dtb", "bcm2711-rpi-4-b.dtb", "start4.elf", "overlays/bcm2712d0.dtbo")}
    REFUSED = [
        ("zero2w", folder_of("three", THREE), ["three has no bcm2710-rpi-zero-2-w.dtb", "the board (Zero 2 W) does not start", "bootfs"]),
        ("rpi5", folder_of("five", FIVE), ["five has no bcm2712-rpi-5-b.dtb", "the board (5) does not start"]),
        ("rpi5", pack_zip("five.zip", under("firmware-master/boot/", FIVE)), ["five.zip has no bcm2712-rpi-5-b.dtb"]),
        ("rpi4", write(os.path.join(HERE, "bootfs.img"), b"no archive" * 99), ["neither a folder nor a zip", "bootfs"]),
        ("rpi4", write(os.path.join(HERE, "cut.zip"), bytes_of(SOURCES[4][1])[:-9]), ["cut.zip: the archive has no end"]),
        ("rpi4", spoil(SOURCES[5][1], "stored-spoilt.zip", lambda d: d.__setitem__(bytes(d).index(FOUR["start4.elf"][:64]), 0)),
         ["stored-spoilt.zip: firmware-1.20250915/boot/start4.elf", "checksum differs"]),
        ("rpi4", spoil(SOURCES[6][1], "method.zip", lambda d: d.__setitem__(bytes(d).index(b"PK\1\2") + 10, 99)), ["unknown method"]),
        ("rpi4", spoil(SOURCES[6][1], "encrypted.zip", lambda d: d.__setitem__(bytes(d).index(b"PK\1\2") + 8, 1)), ["is encrypted"]),
        ("rpi4", spoil(SOURCES[4][1], "bytes.zip", lambda d: d.__setitem__(slice(bytes(d).index(b"start4.elf") + 500, bytes(d).index(b"start4.elf") + 600), bytes(100))),
         ["start4.elf", "the archive is damaged"]),
    ]
    for board, source, says in REFUSED:
        status, text, _ = firmware_card(board, source)
        tap.ok(status == 1 and all(s in text for s in says) and not os.path.exists(os.path.join(HERE, "card.img")),
               f"{board}: {os.path.basename(source)} is refused: {says[0]}", text)
    write(os.path.join(HERE, "three", "bcm2710-rpi-zero-2-w.dtb"), b"zero")
    status, text, files = firmware_card("zero2w", os.path.join(HERE, "three"))
    tap.ok(status == 0 and not re.search("^ingot: ", text, re.M) and files.get("bcm2710-rpi-zero-2-w.dtb") == b"zero" and
           files.get("kernel8.img") == bytes_of(os.path.join(BUILD, "rpi3", "ingot.bin")) and b"missing" not in files["README.txt"],
           "zero2w: the card has the image of rpi3, and only zero2w's own tree is asked for", text)
    status, text, files = firmware_card("rpi3", os.path.join(HERE, "three"))
    tap.ok(status == 0 and "warning: " in text and "bcm2710-rpi-3-b-plus.dtb (3B+, 3A+), bcm2710-rpi-cm3.dtb (CM3, CM3+)" in text,
           "rpi3: its other boards' trees are a warning", text)
    status, text = make("BOARD=rpi4", "MODEL=" + one, "FIRMWARE=" + SOURCES[4][1], "card")
    tap.ok(status == 0 and on_card("rpi4").get("start4.elf") == FOUR["start4.elf"], "make card FIRMWARE= takes a zip", text)
    os.unlink(image_of("rpi4"))

large = os.path.join(HERE, "large.ingot")
shutil.copy(one, large)
os.truncate(large, (4 << 30) + 5)


def partitions(image):
    """[(type, bytes)] of its MBR."""
    with open(image, "rb") as f:
        table = f.read(512)[446:510]
    found = [struct.unpack_from("<4xB3xII", table, i) for i in range(0, 64, 16)]
    return [(kind, n * 512) for kind, _, n in found if kind]


with alone_with(WITH_IMAGE):
    status, text = ingot(WITH_IMAGE, large, "-o", "card.img", "--format", "exfat", "--save", "2", "--cmdline", "temp=0")
    found = partitions(image) if status == 0 else []
    tap.ok([kind for kind, _ in found] == [0x0C, 0x07] and found[1][1] > 4 << 30 and found[0][1] < 64 << 20,
           "--format exfat: a file beyond 4 GiB lies after a partition of FAT32", f"{text} {found}")
    tap.ok(os.stat(image).st_blocks * 512 < 64 << 20, "zeros of the image take no disk space",
           os.stat(image).st_blocks)
    os.replace(image, image_of(WITH_IMAGE))
    files = on_card(WITH_IMAGE)
    tap.ok(files.get("cmdline.txt") == b"temp=0\n" and "kernel8.img" in files and
           b"on the other partition: large.ingot" in files.get("README.txt", b"") and
           not [n for n in files if n.startswith(("models/", "saves/"))],
           "the first partition has the files that a Raspberry Pi's firmware reads", sorted(files))
    good, text = fsck(image_of(WITH_IMAGE), found[0][1] if found else 0)
    tap.ok(good, "fsck.fat finds no fault in the second partition", text)
    os.unlink(image_of(WITH_IMAGE))
with alone_with(PLAIN):
    status, text = make("BOARD=" + PLAIN, "MODEL=" + one, "FORMAT=exfat", "TABLE=gpt", "card")
    tap.ok(status == 0 and [kind for kind, _ in partitions(image_of(PLAIN))] == [0xEE], "make card FORMAT=exfat TABLE=gpt",
           text)
    card(PLAIN, "and back to FAT32", models_are(one), MODEL=one)
status, text = ingot(PLAIN, one, "-o", "unused.img", "--firmware", "no such")
tap.ok(status == 0 and f"warning: a card for {PLAIN} has no firmware: --firmware no such is not used" in text, "a --firmware that has no effect is reported", text)
pipe = os.path.join(HERE, "pipe")  # which nobody writes to
os.mkfifo(pipe)
preset = os.path.join(ROOT, "presets/lila.txt")
spaced = write(os.path.join(HERE, "my preset.txt"), b"temp=0")
WRONG = [
    ([], 2, ["for which board", "usage: ingot card"]),
    ([WITH_IMAGE, "-o", "x.img"], 2, [WITH_IMAGE, "give at least one model"]),
    ([WITH_IMAGE, one], 2, ["-o", "give the file to write"]),
    (["nosuch", one, "-o", "x.img"], 1, ["'nosuch' is not a board", WITH_IMAGE, "rpi4"]),
    ([WITH_IMAGE, "nosuch", "-o", "x.img"], 1, ["nosuch: no such file or folder"]),
    ([WITH_IMAGE, one + "/", "-o", "x.img"], 1, [one + "/: Not a directory"]),
    ([WITH_IMAGE, html, "-o", "x.img"], 1, [html]),
    ([WITH_IMAGE, one, "-o", "x.img", "--size", "10M"], 1, ["need 40M, but it has 10M"]),
    ([WITH_IMAGE, one, "-o", "x.img", "--size", "abc"], 2, ["--size abc", "such as 4G"]),
    ([WITH_IMAGE, one, "-o", "x.img", "--save", "4096"], 2, ["--save 4096", "0 to 4095"]),
    ([WITH_IMAGE, one, "-o", "x.img", "--names", "a/b"], 1, ["--names a/b", "such as a,b"]),
    ([WITH_IMAGE, one, "-o", "x.img", "--names", "a, b"], 1, ["--names a, b", "such as a,b", "up to 40 letters"]),
    ([WITH_IMAGE, one, spaced, "-o", "x.img"], 1, ["my preset.txt: a board does not find a file of this name in presets/", "up to 40 letters"]),
    ([WITH_IMAGE, one, "-o", "x.img", "--firmware", "no such"], 1, ["no such: No such"]),
    ([WITH_IMAGE, one, "-o", "x.img", "--boards", "/"], 1, ["/ has no boards", "share/ingot"]),
    ([WITH_IMAGE, one, one, "-o", "x.img"], 1, ["two files on the card are called one.ingot"]),
    ([WITH_IMAGE, one, "-o", "x.img", "--type", "q4_0"], 1, [one, "--type cannot change"]),
    ([WITH_IMAGE, one, "-o", "no such/x.img"], 1, ["no such/x.img"]),
    ([WITH_IMAGE, large, "-o", "x.img"], 1,
     ["large.ingot takes 4.00 GiB", "FAT32", "--format exfat", "ingot pack SOURCE -o large.ingot --type q"]),
    ([WITH_IMAGE, one, "-o", "x.img", "--format", "ntfs"], 2, ["--format ntfs", "fat32 or exfat"]),
    ([WITH_IMAGE, one, "-o", "x.img", "--table", "gpt"], 1, [WITH_IMAGE, "cannot start from a GPT"]),
    ([WITH_IMAGE, one, "-o", one], 1, ["is the model itself"]),
    ([WITH_IMAGE, pipe, "-o", "x.img"], 1, [pipe, "is a device or a pipe"]),
    ([WITH_IMAGE, one, "-o", "x.img", "--firmware", pipe], 1, [pipe, "is a device or a pipe"]),
    ([WITH_IMAGE, preset, "-o", "x.img"], 1, ["the card would have no model", "give at least one model"]),
    ([WITH_IMAGE, preset, "-o", "x.img", "--system", "Hello"], 1, ["the card would have no model"]),
]
whole = bytes_of(one)
for words, wanted, wants in WRONG:
    status, text = ingot(*words)
    tap.ok(status == wanted and all(w in text for w in wants) and
           not [n for n in os.listdir(HERE) if n.startswith("x.img")],
           f"ingot card {' '.join(words).replace(HERE, '')} is refused", text)
tap.ok(bytes_of(one) == whole, "the old card is unchanged after a refusal")
# The program finds the boards of its own build folder; here none of them has EFI.
tree = os.path.join(HERE, "tree")
os.makedirs(os.path.join(tree, "host"))
shutil.copy(HOST, os.path.join(tree, "host"))
shutil.copytree(os.path.join(BUILD, WITH_IMAGE, "card"), os.path.join(tree, WITH_IMAGE, "card"))
done = subprocess.run([os.path.join(tree, "host/ingot"), "card", "efi", one, "-o", os.path.join(HERE, "x.img")], capture_output=True, text=True, timeout=60,
                      check=False)
tap.ok(done.returncode == 1 and "tree has no image for EFI firmware: in a checkout, make image BOARD=efi-x86_64" in done.stderr,
       "ingot card efi without an image of EFI says how to build one", done.stderr)

# ---- what is refused: one line, immediately, before anything is compiled ----------------------------

EMPTY = os.path.join(WORK, "nothing-built")
shutil.rmtree(EMPTY, ignore_errors=True)
pointer = write(os.path.join(HERE, "pointer.gguf"),
                b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")
part = write(os.path.join(HERE, "part.safetensors"), b"\x08" + bytes(40))
short = write(os.path.join(HERE, "short.bin"), b"12345")
REFUSED = [
    (["run", "MODEL=nosuch.gguf"], ["MODEL=nosuch.gguf does not exist"]),
    (["card", "MODEL=no such/m.gguf"], ["MODEL=no such/m.gguf does not exist"]),
    (["card", "MODEL=" + HERE], [f"MODEL={HERE} is not a Hugging Face folder"]),
    (["card", "MODEL=README.md"], ["MODEL=README.md is not a model", ".gguf", ".ingot"]),
    (["run", "MODEL=" + html], [html, "HTML page"]),
    (["run", "MODEL=" + pointer], [pointer, "git lfs pull"]),
    (["card", "MODEL=" + part], [part, "give the folder"]),
    (["card", "MODEL=" + short], [short, "28 bytes"]),
    (["card", "MODEL="], ["MODEL= is empty"]),
    (["card", "SAVE=abc"], ["SAVE=abc", "MiB from 0 to 4095"]),
    (["card", "SAVE=4096"], ["SAVE=4096", "MiB from 0 to 4095"]),
    (["card", "KV=-1"], ["KV=-1", "MiB from 0 to 4095"]),
    (["run", "CORES=0"], ["CORES=0", "from 1 to 8"]),
    (["run", "CORES=x"], ["CORES=x", "from 1 to 8"]),
    (["release", "FIRMWARE=docs"], ["FIRMWARE=docs has no LICENCE.broadcom"]),
    (["card", "FORMAT=ntfs"], ["FORMAT=ntfs", "fat32 nor exfat"]),
    (["card", "TABLE=apm"], ["TABLE=apm", "mbr nor gpt"]),
    (["card", "FIRMWARE=no such"], ["FIRMWARE=no such is neither a folder nor a zip archive"]),
    (["card", "CMDLINE=a\nb"], ["CMDLINE=", "one line"]),
    *(([goal, "BOARD=foo"], ["BOARD=foo", "rpi4", "virt-riscv64"])
      for goal in ("image", "run", "card", "host", "lib", "size", "test", "help")),
    (["card", "BOARD=rpi3 rpi4"], ["BOARD=rpi3 rpi4", "take one of"]),
    (["host"], ["O=a folder", "space"], "a folder"),
]
for words, wants, *out in REFUSED:
    try:
        status, text = make(*words, out=out[0] if out else EMPTY, timeout=20)
    except subprocess.TimeoutExpired as late:
        status, text = None, f"hangs: {late.stdout}"
    tap.ok(status == 2 and text.count("\n") == 1 and all(w in text for w in wants) and
           not os.path.exists(EMPTY), f"make {' '.join(words)} is refused in a line".replace(chr(10), '\\n'), text)
    shutil.rmtree(EMPTY, ignore_errors=True)

# A checkout in a folder with a space: make's lists are separated by spaces, so make says that it cannot work there.
folder = os.path.join(HERE, "a checkout")
for path in ("Makefile", "board/virt-arm64/board.mk"):
    write(os.path.join(folder, path), bytes_of(os.path.join(ROOT, path)))
status, text = make("host", out="build", cwd=folder, timeout=20)
tap.ok(status == 2 and "space" in text and folder in text and text.count("\n") == 1,
       "a checkout in a folder with a space is refused in a line", text)

# The packer refuses a file that only looks like a model, and names the path as the user wrote it.
damaged = write(os.path.join(HERE, "cut short.gguf"), b"GGUF" + bytes(60))
status, text = make("card", "MODEL=" + damaged, "BOARD=" + PLAIN)
tap.ok(status == 2 and damaged + ": " in text, "a damaged model is refused by its path", text)

shutil.rmtree(HERE, ignore_errors=True)
tap.done()
