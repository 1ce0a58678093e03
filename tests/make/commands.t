#!/usr/bin/python3
"""Tests the commands in README and the documents. Runs each line of each block `sh`, and each line after `$ ` in a block `console`, in a folder with
the example files: `make` with -n, commands that need a board or a network as EXCEPT says, all others unchanged; the output shown in a `console`
block is compared with the real one (`...` stands for anything). usage: commands.t [PAGE ...]"""

import functools
import glob
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import BUILD, HOST, ROOT, VERSION, WORK, Tap
from talk import write_model

HERE = os.path.join(WORK, "commands")
PAGES = ["README.md", "CONTRIBUTING.md", *sorted(os.path.relpath(p, ROOT) for p in glob.glob(ROOT + "/docs/**/*.md", recursive=True)),
         "examples/README.md", "flash_image/README.md", "flash_image/FORMAT.md", "models/README.md"]
# Languages of blocks: those of commands, of commands with their output, of text, and those whose programs other suites
# run.
KINDS = ("sh", "console", "text", "c", "python", "js", "go", "rust", "java", "json", "haproxy", "nginx")
SECONDS = 120
MAKEFILES = "".join(open(path, encoding="utf-8").read() for path in
                    [ROOT + "/Makefile", *glob.glob(ROOT + "/*/*.mk"), *glob.glob(ROOT + "/*/*/*.mk")])

# Lines that cannot be run unchanged: how they begin, the reason, and what is done instead.
#   device    it is run without the device: the error must name the device, or a missing program
#   no-file   the same without a file or folder, which would be large or must be trained
#   options   each option must be in the program's --help
#   block     the lines of the block are run together at a made-up serial line, which answers
#   nothing   it is not run, because it has no program of this project, or writes to a disk
EXCEPT = [
    ("curl http://127.0.0.1:8080/v1/chat/completions -H 'Authorization: Bearer secret'", "nothing", "a board on a network: tests/boot/net.t"),
    ("curl -T model.ingot", "nothing", "a board on a network: tests/boot/net_put.t"),
    ("INGOT_TOKEN=secret build/host/ingot send", "nothing", "a board on a network: tests/boot/net_put.t"),
    ("sudo dnf", "nothing", "Fedora's packages"), ("sudo pacman", "nothing", "Arch's packages"), ("brew", "nothing", "packages of macOS"),
    ("sudo dd", "nothing", "writes to a disk"), ("diskutil", "nothing", "macOS, and a disk"),
    ("build/host/ingot send", "device", "a board on a line: tests/boot/send.t"),
    ("ingot serve /dev/", "device", "boards on lines: tests/serve/serve_boards.t"),
    ("ingot serve MODEL --address", "options", "listens on every address of the computer: tests/serve/serve.t"),
    ("ingot voice", "device", "a microphone: tests/boot/voice.t"),
    ("ingot log /dev/", "device", "a card in a reader: tests/golden/turn_log.t"),
    ("models/training/lora.py", "options", "trains for a minute: tests/golden/turn_log.t"),
    ("ingot adapter poet", "no-file", "what the line before it trains: tests/golden/adapters.t"),
    ("ingot pack olmoe", "no-file", "a mixture of 7B: tests/golden/families.t"),
    ("stty", "block", "a board on a line: tests/boot/client.t"),
    ("qemu-system-riscv64 -M virt -m 512M", "nothing", "an image of a new board: tests/boot/porting.t"),
]
# The answers that a person types when a command asks.
TYPED = {"ingot lock": "2718\n", "ingot run model.ingot --public-key": "Hello!\n"}
# Boot arguments that are added to commands which would otherwise wait for a person.
WORDS = 'prompt="Hello!" temp=0 n=8'


# ---- the folder ----

def hf_folders():
    """The folders of Hugging Face that the documents pack."""
    with open(os.path.join(ROOT, "docs/CHOOSING.md"), encoding="utf-8") as f:
        return {"SmolLM2-135M-Instruct", *re.findall(r"(?m)^ingot pack (\S+) -o", f.read())}


def prepare():
    """A checkout that consists of links, with a build folder of links, and the files that the examples name."""
    shutil.rmtree(HERE, ignore_errors=True)
    for name in ("build", "bin", "firmware"):
        os.makedirs(os.path.join(HERE, name))
    for name in os.listdir(ROOT):
        if name not in ("build", "board", ".git") and os.path.abspath(BUILD) != os.path.join(ROOT, name):
            os.symlink(os.path.join(ROOT, name), os.path.join(HERE, name))
    for path in glob.glob(BUILD + "/*"):
        if os.path.basename(path) != "tests":
            os.symlink(os.path.abspath(path), os.path.join(HERE, "build", os.path.basename(path)))
    shutil.copytree(ROOT + "/board", HERE + "/board")
    os.symlink(os.path.abspath(HOST), HERE + "/bin/ingot")
    for name in ("start4.elf", "fixup4.dat", "bcm2711-rpi-4-b.dtb", "bcm2712-rpi-5-b.dtb", "bootcode.bin", "start.elf", "fixup.dat",
                 "bcm2710-rpi-3-b.dtb", "bcm2712-rpi-500.dtb"):
        write("firmware/" + name, name)
    make_files(HERE)


def write(name, content):
    with open(os.path.join(HERE, name), "w", encoding="utf-8") as f:
        f.write(content)


def make_files(where):
    """The files that examples name; for pages that start from scratch, models are copied, because commands overwrite them."""
    kept = os.path.join(WORK, "commands-model.gguf")
    if not os.path.exists(kept):
        write_model(kept, 7, dim=256, layers=1, head_dim=32)
    for name in ("model.gguf", "stories260K.gguf"):
        shutil.copy(kept, os.path.join(where, name))
    for name in ("model.ingot", "small.ingot", "large.ingot", "x.ingot"):
        shutil.copy(ROOT + "/models/demo-q8_0.ingot", os.path.join(where, name))
    shutil.copy(ROOT + "/examples/threads.c", os.path.join(where, "program.c"))
    for name in hf_folders():
        if not os.path.exists(os.path.join(where, name)):
            os.symlink(ROOT + "/models/demo", os.path.join(where, name))
    for name, content in (("text.txt", "The cat sat on the mat. " * 40), ("light.json", example("docs/GRAMMARS.md", "json"))):
        with open(os.path.join(where, name), "w", encoding="utf-8") as f:
            f.write(content)


def example(page, language):
    """The first block of that language in a page."""
    with open(os.path.join(ROOT, page), encoding="utf-8") as f:
        return re.search(rf"^```{language}\n(.*?)^```", f.read(), re.M | re.S)[1]


def make_release():
    """A small version of the release of docs/RELEASES.md: this computer's program, the boards that are built, one card."""
    stage = os.path.join(HERE, f"ingot-{VERSION}")
    os.makedirs(stage + "/bin")
    shutil.copy(HOST, stage + "/bin/ingot")
    run_in(ROOT, "toolchain/install.sh", stage, BUILD)
    with open(ROOT + "/toolchain/try_qemu.sh", encoding="utf-8") as f:
        script = f.read()
    machines = "\n".join(f"    {board}) command='{machine(board)}' ;;" for board in ("virt-arm64", "virt-riscv64"))
    write(f"ingot-{VERSION}/try-qemu.sh", script.replace("@MACHINES@", machines))
    os.chmod(stage + "/try-qemu.sh", 0o755)
    card = f"ingot-{VERSION}-rpi4.img"
    write(card, "a card")
    run_in(HERE, "xz", "-0", card)
    run_in(HERE, "tar", "-I", "xz -0", "-cf", f"ingot-{VERSION}.tar.xz", f"ingot-{VERSION}")
    run_in(HERE, "sh", "-c", "sha256sum *.xz >SHA256SUMS")
    shutil.rmtree(stage)


def run_in(folder, *words):
    return subprocess.run(words, cwd=folder, check=True, capture_output=True, text=True, timeout=SECONDS, env=clean_env()).stdout


def clean_env():
    """Without the variables of the make that runs this suite."""
    return {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "INGOT_ASSETS")}


@functools.cache
def machine(board):
    return run_in(ROOT, "make", "-s", "--no-print-directory", "O=" + BUILD, "BOARD=" + board, "qemu-command").strip()


# ---- the lines ----

def blocks(text):
    """(kind, body) of each fenced block."""
    return re.findall(r"(?ms)^```(\w*)\n(.*?)^```", text)


def whole(lines):
    """The next command with its continuation lines, and the lines after it."""
    command = lines[0]
    rest = lines[1:]
    while rest:
        try:
            shlex.split(command, comments=True)
            if not command.endswith("\\"):
                break
        except ValueError:
            pass
        command = (command[:-1] if command.endswith("\\") else command + "\n") + rest[0]
        rest = rest[1:]
    return command, rest


def commands(kind, body):
    """(command, what is printed or None) of a block."""
    lines = body.rstrip("\n").split("\n")
    while lines:
        if kind == "console" and not lines[0].startswith("$ "):
            lines = lines[1:]
            continue
        command, lines = whole([lines[0].removeprefix("$ ") if kind == "console" else lines[0], *lines[1:]])
        if kind == "sh":
            if command.strip() and not command.lstrip().startswith("#"):
                yield command, None
            continue
        end = next((i for i, line in enumerate(lines) if line.startswith("$ ")), len(lines))
        yield command, "\n".join(lines[:end])
        lines = lines[end:]


def treatment(command):
    return next(((how, why) for begins, how, why in EXCEPT if command.startswith(begins)), ("", ""))


# ---- make ----

BOOT_OPTIONS = set(re.findall(r"(?m)^\| `(\w+)` \|", run_in(ROOT, HOST, "help", "--boot-options")))


def unknown_boot_options(text):
    """Names of boot arguments that are not in docs/OPTIONS.md."""
    return [word for word in (w.split("=")[0] for w in shlex.split(text)) if word not in BOOT_OPTIONS]


def wrong_of_make(words):
    """Errors that make does not report: variables that no makefile reads, and boot options that do not exist."""
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            continue
        if not re.search(rf"(\$\(|origin |^|[ (,]){name}\b", MAKEFILES, re.M) or not name.isupper():
            return f"no makefile reads {name}="
        if name == "CMDLINE" and unknown_boot_options(value):
            return f"boot options that are not there: {unknown_boot_options(value)}"
    return ""


@functools.cache
def dry(words):
    """The error message of make -n, or nothing."""
    done = subprocess.run(["make", "-n", *words], cwd=HERE, capture_output=True, text=True, timeout=SECONDS, check=False, env=clean_env())
    return "" if done.returncode == 0 else (done.stderr or done.stdout)[-400:]


# ---- running ----

class Place:
    """The environment of a page's commands: a folder, servers that were started, and their ports."""

    def __init__(self):
        self.folder = HERE
        self.servers = []
        self.port = "8080"

    def close(self):
        for server in self.servers:
            server.send_signal(signal.SIGTERM)
            server.wait(timeout=30)

    def env(self):
        return {**os.environ, "PATH": HERE + "/bin:" + os.environ["PATH"], "TOKEN": "secret", "LC_ALL": "C"}

    def run(self, command):
        """(status, everything printed, standard output)"""
        typed = next((text for begins, text in TYPED.items() if command.startswith(begins)), "")
        env = self.env()
        if "try-qemu.sh" in command:
            env["WORDS"] = WORDS
        done = subprocess.run(["bash", "-c", command], cwd=self.folder, input=typed, capture_output=True, text=True, errors="replace",
                              timeout=SECONDS, check=False, env=env)
        return done.returncode, done.stdout + done.stderr, done.stdout

    def serve(self, command):
        """Start it on a free port; returns its first output."""
        command = re.sub(r" --port \d+", "", command.split(" #")[0].rstrip()) + " --port 0"
        server = subprocess.Popen(["bash", "-c", "exec " + command], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, env=self.env())
        self.servers.append(server)
        said = server.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)", said)
        if not found:
            server.kill()
            return False, said + server.stderr.read()
        # Read on, so that no process waits because the pipe is full.
        threading.Thread(target=server.stderr.read, daemon=True).start()
        self.port = found[1]
        return True, said.replace(":" + self.port, ":8080")


def stand_in(command):
    """Replace devices, firmware and disks of a real computer by names that do not exist, or by made-up files."""
    command = re.sub(r"/dev/ttyUSB(\d)", r"/dev/ttyUSB9\1", re.sub(r"/dev/(sd\w+)", r"/dev/no-\1", command))
    return re.sub(r"/usr/lib/raspi-firmware|/path/to/bootfs", HERE + "/firmware", command)


def missing_is_named(command, said):
    """True if an error is about a missing device or file, and not about an option."""
    names = re.findall(r"/dev/[\w-]+", command) or [command.split()[2]]
    about = any(name in said for name in names) or re.search(r"is not installed: install", said)
    return about and not re.search(r"is not an option|is not a command|usage:|takes ", said)


def options_in_help(command):
    words = shlex.split(command, comments=True)
    said = run_in(HERE, *([HOST, words[1]] if words[0] == "ingot" else [words[0]]), "--help")
    return [word for word in words[1:] if word.startswith("-") and not re.search(rf"(?<![\w-]){word}\b", said)]


def printed(expected, said):
    """True if the output shown by a page matches the real one; `...` matches anything, and a salt matches any salt."""
    parts = [re.escape(part.strip()) for part in expected.strip().split("...")]
    pattern = re.sub(r"\b[0-9a-f]{16,}\b", lambda salt: rf"[0-9a-f]{{{len(salt[0])}}}", r"[\s\S]*?".join(parts))
    return re.search(pattern, said) is not None


def answer_line(master):
    """A board at a made-up serial line: one reply for one request."""
    got = b""
    while b"\n" not in got:
        got += os.read(master, 4096)
    os.write(master, b'{"event":"token","id":58,"text":"15"}\r\n{"event":"done","reason":"end"}\r\n')


def run_block(body):
    """The shell lines of docs/SERIAL.md at a made-up serial line."""
    master, slave = os.openpty()
    board = threading.Thread(target=answer_line, args=(master,), daemon=True)
    board.start()
    done = subprocess.run(["bash", "-c", body.replace("/dev/ttyUSB0", os.ttyname(slave))], capture_output=True, text=True, timeout=SECONDS,
                          check=False)
    board.join(timeout=5)
    os.close(slave)
    os.close(master)
    return "" if done.returncode == 0 and '"event":"done"' in done.stdout else f"the block answers {done.stdout!r} {done.stderr!r}"


def wrong(place, command, expected, body):
    """Run a line; returns the error, or "" if it runs."""
    how, _ = treatment(command)
    if how == "nothing":
        return ""
    if how == "block":
        return run_block(body)
    if how == "options":
        return "".join(f"{option} is not in its --help; " for option in options_in_help(command))
    words = shlex.split(stand_in(command), comments=True)
    if words[0] == "make":
        return wrong_of_make(words[1:]) or dry(tuple(words[1:]))
    if words[0] == "cd":
        place.folder = os.path.join(place.folder, words[1])
        make_files(place.folder)
        return "" if os.path.isdir(place.folder) else f"there is no {words[1]}"
    if how in ("device", "no-file"):
        status, said, _ = place.run(stand_in(command))
        return "" if status != 0 and missing_is_named(stand_in(command), said) else f"the error is not about what is missing: {said[-400:]}"
    return run_line(place, stand_in(command), expected)


def run_line(place, command, expected):
    if re.match(r"(\S*/)?ingot serve ", command):
        good, said = place.serve(command)
        return "" if good and (expected is None or printed(expected, said)) else f"it says {said[-400:]!r}"
    status, said, output = place.run(command.replace("localhost:8080", "localhost:" + place.port))
    if status != 0:
        return f"status {status}: {said[-400:]}"
    if WORDS and "try-qemu.sh" in command and "Hello! I am" not in said and "model.gguf" not in command:
        return f"no answer: {said[-400:]}"
    expected = expected and expected.removeprefix(next((text for begins, text in TYPED.items() if command.startswith(begins)), ""))
    return "" if expected is None or printed(expected, output) else f"the page shows {expected!r}; it prints {output[-600:]!r}"


def check(page, text, used):
    """[what is wrong], number of commands"""
    place, failed, count = Place(), [], 0
    try:
        for kind, body in blocks(text):
            if kind not in KINDS:
                failed.append(f"{page}: a block begins with ```{kind}, and not with one of {KINDS}: {body[:60]!r}")
            if kind not in ("sh", "console"):
                continue
            place.folder = HERE
            if f"ingot-{VERSION}" in body and not os.path.exists(HERE + "/SHA256SUMS"):
                make_release()
            for command, expected in commands(kind, body):
                count += 1
                used.update(begins for begins, _, _ in EXCEPT if command.startswith(begins))
                dialog = command.startswith("make ") or treatment(command)[0] in ("device", "options")
                problem = wrong(place, command, None if dialog else expected, body)
                failed += [f"{page}: {command}\n    {problem}"] * bool(problem)
                if treatment(command)[0] == "block":
                    break
    finally:
        place.close()
    return failed, count


# ---- the pages ----

tap = Tap()
prepare()
used = set()
for page in sys.argv[1:] or PAGES:
    with open(os.path.join(ROOT, page), encoding="utf-8") as f:
        failed, count = check(page, f.read(), used)
    if count or failed:
        tap.ok(not failed, f"{page}: {count} commands run", "\n".join(failed))
if sys.argv[1:]:
    tap.done()
unused = [begins for begins, _, _ in EXCEPT if begins not in used]
tap.ok(not unused, "each line that is not run unchanged is in a page", unused)
lost = [name for _, _, why in EXCEPT for name in re.findall(r"tests/\S+\.t", why) if not os.path.exists(os.path.join(ROOT, name))]
tap.ok(not lost, "the suite that runs it instead exists", lost)

# ---- errors that this suite must find ----

WRONG = [
    ("an option that is not there", "sh", "ingot plan model.ingot --bored rpi4"), ("a file that is not there", "sh", "ingot chat modle.ingot"),
    ("a command that is not there", "sh", "ingot parck model.gguf -o x.ingot"), ("a target that is not there", "sh", "make cards"),
    ("a variable that no makefile reads", "sh", "make card BOARD=rpi4 MODLE=model.gguf"),
    ("a board that is not there", "sh", "make image BOARD=rpi7"), ("a boot option that is not there", "sh", "make run CMDLINE='tempp=0'"),
    ("a model that is not there", "sh", "make card BOARD=rpi4 MODEL=modle.gguf"),
    ("another answer", "console", "$ ingot run models/demo-q8_0.ingot -q -p 'What is 7 plus 8?' --grammar 'fourteen|15'\nfourteen"),
    ("an option of a line for a device", "sh", "ingot voice /dev/ttyUSB0 --loudness 3"),
    ("a second line of a block", "sh", "ingot info model.ingot\ningot info model.ingot --tensor"),
    ("a block of no kind", "", "ingot info model.ingot"),
]
for name, kind, body in WRONG:
    failed, _ = check("made-up", f"```{kind}\n{body}\n```\n", set())
    tap.ok(len(failed) == 1, f"{name} is found", failed)
tap.done()
