#!/usr/bin/python3
"""`make card` and `make run` as a person calls them: again and again with other variables, nothing
removed in between; words, folders and models that are not what they should be."""

import contextlib
import fcntl
import os
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import BUILD, HOST, ROOT, WORK, Tap

tap = Tap()
HERE = os.path.join(WORK, "make card")  # with a space, as a person's folders have
ENVIRONMENT = {**os.environ, "LC_ALL": "C.UTF-8", "MTOOLSRC": "/dev/null"}
PLAIN, WITH_IMAGE = "virt-riscv64", "rpi3"  # a card of models alone; one with image and words


# As a person calls it: not as a part of the make that runs the tests.
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
    """No other suite makes cards of the board meanwhile (machine.make_board_card)."""
    os.makedirs(os.path.join(BUILD, board), exist_ok=True)
    with open(os.path.join(BUILD, board, "card.lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def on_card(board):
    """{path: bytes} of its files."""
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
    """A small model, and where it lies."""
    path = os.path.join(HERE, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    subprocess.run([HOST, "synth", "--shape", "tiny", "--type", kind, "-o", path], check=True,
                   capture_output=True, timeout=60)
    return path


def card(board, what, want, **variables):
    """Make the card once more; want(files) says whether it is the one asked for."""
    status, text = make("BOARD=" + board, *(f"{k}={v}" for k, v in variables.items()), "card")
    try:
        files = on_card(board)
    except subprocess.CalledProcessError:
        files = {}
    tap.ok(status == 0 and want(files), f"make card: {what}",
           f"{text}\n{sorted((n, len(b)) for n, b in files.items())}")


def models_are(*paths):
    """The files of models/ are those, by name and by bytes."""
    want = {"models/" + os.path.basename(p): bytes_of(p) for p in paths}
    return lambda files: {n: b for n, b in files.items() if n.startswith("models/")} == want


def packed(source, name):
    """The result of `ingot pack` for it."""
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
       "the first make run compiles no program for this computer but the maker of the card", text[-2000:])
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
    tap.ok(os.stat(image_of(PLAIN)).st_mtime_ns == before, "which is not made anew")
    shutil.copy(one, other)
    card(PLAIN, "the file has changed", models_are(other), MODEL=other)
    card(PLAIN, "SAVE=", lambda f: len(f.get("saves/chat.sav", b"")) == 3 << 20, MODEL=other,
         SAVE=3)
    card(PLAIN, "SAVE=0", lambda f: "saves/chat.sav" not in f, MODEL=other, SAVE=0)
    card(PLAIN, "KV=", lambda f: len(f.get("ingot.kv", b"")) == 2 << 20, MODEL=other, SAVE=0, KV=2)
    card(PLAIN, "a Hugging Face folder", models_are(packed(demo, "demo.ingot")), MODEL=demo)
    llama2c = os.path.join(os.environ.get("INGOT_ASSETS", ""), "llama2c/stories260K.v1.bin")
    if os.path.exists(llama2c):
        card(PLAIN, "a llama2.c checkpoint", models_are(packed(llama2c, "stories260K.v1.ingot")),
             MODEL=llama2c)
    card(PLAIN, "and a file again", models_are(one), MODEL=one)

# Two models of one name, in two folders, and a third of another kind.
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

# ---- words, firmware and the image --------------------------------------------------------------

with alone_with(WITH_IMAGE):
    firmware = os.path.join(HERE, "my firmware")
    for name in ("bootcode.bin", "start.elf", "fixup.dat", "LICENCE.broadcom", "unasked.bin"):
        write(os.path.join(firmware, name), b"first " + name.encode())
    for words in ('temp=0', '''prompt="it's a fox" temp=0.5 cost=$5'''):
        card(WITH_IMAGE, f"CMDLINE={words}", lambda f, w=words:
             f.get("cmdline.txt", b"").decode().strip() == w, MODEL=one, FIRMWARE="",
             CMDLINE=words)
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

# A Pi 5's loader takes the tree of its board, and on stepping D0 an overlay from a folder.
PI5 = "rpi5"
with alone_with(PI5):
    trees = ("bcm2712-rpi-5-b.dtb", "bcm2712d0-rpi-5-b.dtb", "bcm2712-rpi-500.dtb",
             "bcm2712-rpi-cm5-cm5io.dtb", "overlays/bcm2712d0.dtbo")
    five = os.path.join(HERE, "firmware of the 5")
    for name in (*trees, "bcm2711-rpi-4-b.dtb", "overlays/disable-bt.dtbo"):
        write(os.path.join(five, name), b"five " + name.encode())
    card(PI5, "rpi5: every tree and the overlay of D0", lambda f:
         {n: b for n, b in f.items() if ".dtb" in n} == {n: b"five " + n.encode() for n in trees} and
         b"MISSING" not in f["README.txt"], MODEL=one, FIRMWARE=five)
    shutil.rmtree(os.path.join(five, "overlays"))
    card(PI5, "rpi5: an overlay that is not there is named", lambda f:
         b"copy overlays/bcm2712d0.dtbo next" in f["README.txt"] and trees[0] in f, MODEL=one,
         FIRMWARE=five)
    os.unlink(image_of(PI5))
with alone_with(WITH_IMAGE):
    trees = ("bcm2710-rpi-3-b.dtb", "bcm2710-rpi-3-b-plus.dtb", "bcm2710-rpi-zero-2-w.dtb")
    for name in (*trees, "bcm2709-rpi-2-b.dtb"):
        write(os.path.join(firmware, name), b"tree " + name.encode())
    card(WITH_IMAGE, "rpi3: the trees of its boards", lambda f:
         sorted(n for n in f if n.endswith(".dtb")) == sorted(trees) and
         b"MISSING" not in f["README.txt"], MODEL=one, FIRMWARE=firmware)

# ---- the program alone: no make, no mtools ------------------------------------------------------


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
    tap.ok(status == 0 and text.count("\n") == 4 and "\nfor /save: 2 MiB: " in text and text.count(" predicted on ") == 2 and again == 0 and
           bytes_of(image) == bytes_of(os.path.join(HERE, "again.img")),
           "ingot card: a line for each model, for the card and for /save, and equal bytes twice", text)
    os.replace(image, image_of(WITH_IMAGE))
    files = on_card(WITH_IMAGE)
    tap.ok(files.get("models/one.ingot") == bytes_of(one) and
           files.get("models/demo.ingot") == bytes_of(packed(demo, "demo.ingot")),
           "a model copied and one packed", sorted(files))
    tap.ok([len(files.get(n, b"")) for n in ("saves/a.sav", "saves/b.sav", "ingot.kv")] ==
           [2 << 20, 2 << 20, 1 << 20], "two conversations and a file for keys and values")
    tap.ok(files.get("cmdline.txt") == b"temp=0\n" and "start.elf" in files and
           b"one.ingot, demo.ingot" in files.get("README.txt", b""), "words, firmware, README",
           sorted(files))
    tap.ok(files.get("kernel8.img") == bytes_of(os.path.join(BUILD, WITH_IMAGE, "ingot.bin")),
           "and the image")
    good, text = fsck(image_of(WITH_IMAGE))
    tap.ok(good, "fsck.fat has nothing to say", text)
    status, text = ingot(WITH_IMAGE, one, "-o", "card.img", "--size", "128M")
    tap.ok(status == 0 and os.path.getsize(image) == 128 << 20, "--size", text)
    os.unlink(image_of(WITH_IMAGE))
    card(WITH_IMAGE, "NAMES=", lambda f: sorted(n for n in f if n.startswith("saves/")) ==
         ["saves/a.sav", "saves/b.sav"], MODEL=one, FIRMWARE="", SAVE=1, NAMES="a,b")

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
           "--format exfat: a file beyond 4 GiB, behind a partition of FAT32", f"{text} {found}")
    tap.ok(os.stat(image).st_blocks * 512 < 64 << 20, "which takes no room where it is zero",
           os.stat(image).st_blocks)
    os.replace(image, image_of(WITH_IMAGE))
    files = on_card(WITH_IMAGE)
    tap.ok(files.get("cmdline.txt") == b"temp=0\n" and "kernel8.img" in files and
           b"on the other partition: large.ingot" in files.get("README.txt", b"") and
           not [n for n in files if n.startswith(("models/", "saves/"))],
           "what a Raspberry Pi's firmware reads is in the first", sorted(files))
    good, text = fsck(image_of(WITH_IMAGE), found[0][1] if found else 0)
    tap.ok(good, "and fsck.fat has nothing to say", text)
    os.unlink(image_of(WITH_IMAGE))
with alone_with(PLAIN):
    status, text = make("BOARD=" + PLAIN, "MODEL=" + one, "FORMAT=exfat", "TABLE=gpt", "card")
    tap.ok(status == 0 and [kind for kind, _ in partitions(image_of(PLAIN))] == [0xEE], "make card FORMAT=exfat TABLE=gpt",
           text)
    card(PLAIN, "and back to FAT32", models_are(one), MODEL=one)
WRONG = [
    ([], 2, ["for which board", "usage: ingot card"]),
    ([WITH_IMAGE, "-o", "x.img"], 2, [WITH_IMAGE, "which model?"]),
    ([WITH_IMAGE, one], 2, ["-o", "where to?"]),
    (["nosuch", one, "-o", "x.img"], 1, ["'nosuch' is not a board", WITH_IMAGE, "rpi4"]),
    ([WITH_IMAGE, "nosuch", "-o", "x.img"], 1, ["nosuch: no such file or folder"]),
    ([WITH_IMAGE, html, "-o", "x.img"], 1, [html]),
    ([WITH_IMAGE, one, "-o", "x.img", "--size", "10M"], 1, ["needs 40M, and has 10M"]),
    ([WITH_IMAGE, one, "-o", "x.img", "--size", "abc"], 2, ["--size abc", "such as 4G"]),
    ([WITH_IMAGE, one, "-o", "x.img", "--save", "4096"], 2, ["--save 4096", "0 to 4095"]),
    ([WITH_IMAGE, one, "-o", "x.img", "--names", "a/b"], 1, ["--names a/b", "such as a,b"]),
    ([WITH_IMAGE, one, "-o", "x.img", "--firmware", "no such"], 1, ["no such: No such"]),
    ([WITH_IMAGE, one, "-o", "x.img", "--boards", "/"], 1, ["/ has no boards", "share/ingot"]),
    ([WITH_IMAGE, one, one, "-o", "x.img"], 1, ["two files on the card are called one.ingot"]),
    ([WITH_IMAGE, one, "-o", "x.img", "--type", "q4_0"], 1, [one, "--type cannot change"]),
    ([WITH_IMAGE, one, "-o", "no such/x.img"], 1, ["no such/x.img"]),
    ([WITH_IMAGE, large, "-o", "x.img"], 1,
     ["large.ingot takes 4.00 GiB", "FAT32", "--format exfat", "ingot pack SOURCE -o large.ingot --type q"]),
    ([WITH_IMAGE, one, "-o", "x.img", "--format", "ntfs"], 2, ["--format ntfs", "fat32 or exfat"]),
    ([WITH_IMAGE, one, "-o", "x.img", "--table", "gpt"], 1, [WITH_IMAGE, "no GPT"]),
    ([WITH_IMAGE, one, "-o", one], 1, ["is the model itself"]),
]
whole = bytes_of(one)
for words, wanted, wants in WRONG:
    status, text = ingot(*words)
    tap.ok(status == wanted and all(w in text for w in wants) and
           not [n for n in os.listdir(HERE) if n.startswith("x.img")],
           f"ingot card {' '.join(words).replace(HERE, '')} is refused", text)
tap.ok(bytes_of(one) == whole, "and nothing is lost")

# ---- what is refused: one line, at once, before anything is compiled ----------------------------

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
    (["card", "FIRMWARE=no such"], ["FIRMWARE=no such is not a folder"]),
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

# A checkout in a folder with a space: make's lists are words, so it says that it cannot.
folder = os.path.join(HERE, "a checkout")
for path in ("Makefile", "board/virt-arm64/board.mk"):
    write(os.path.join(folder, path), bytes_of(os.path.join(ROOT, path)))
status, text = make("host", out="build", cwd=folder, timeout=20)
tap.ok(status == 2 and "space" in text and folder in text and text.count("\n") == 1,
       "a checkout in a folder with a space is refused in a line", text)

# A file that only looks like a model is refused by the packer, with the path as it was given.
damaged = write(os.path.join(HERE, "cut short.gguf"), b"GGUF" + bytes(60))
status, text = make("card", "MODEL=" + damaged, "BOARD=" + PLAIN)
tap.ok(status == 2 and damaged + ": " in text, "a damaged model is refused by its path", text)

shutil.rmtree(HERE, ignore_errors=True)
tap.done()
