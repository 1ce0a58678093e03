#!/usr/bin/python3
"""Every file that a command writes is complete under its name or not there at all. The tests: full disks, pipes, devices, links, files of the user in the
same folder, two commands at once, and signals; inputs that become shorter; failing saves."""

import atexit
import json
import os
import resource
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import threading
import time
import wave

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import BUILD, HOST, ROOT, Tap

MODEL = os.path.join(ROOT, "models/demo-q4_0.ingot")
FOLDER = tempfile.mkdtemp(prefix="ingot-outputs-")
atexit.register(shutil.rmtree, FOLDER, True)
tap = Tap()
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # otherwise SIGQUIT and SIGXCPU would leave a core file


def path(*names):
    return os.path.join(FOLDER, *names)


def read(name):
    with open(name, "rb") as f:
        return f.read()


def write(name, data):
    with open(name, "wb") as f:
        f.write(data if isinstance(data, bytes) else data.encode())
    return name


def ingot(*words, stdin=b"", limit="", timeout=60, **more):
    """Run the program. limit: a shell command that runs first, such as "ulimit -f 1"."""
    command = [HOST, *words] if not limit else ["bash", "-c", limit + '; exec "$0" "$@"', HOST, *words]
    done = subprocess.run(command, input=stdin, capture_output=True, timeout=timeout, check=False, **more)
    return done.returncode, (done.stdout + done.stderr).decode("utf-8", "replace")


# ---- what the commands read -----------------------------------------------------------------------

INPUTS = path("inputs")
os.makedirs(os.path.join(INPUTS, "lora"))


def safetensors(name, tensors):
    head, data = {}, b""
    for key, (rows, cols) in tensors.items():
        bytes_ = b"".join(struct.pack("<f", 0.01 * (i % 7 - 3)) for i in range(rows * cols))
        head[key] = {"dtype": "F32", "shape": [rows, cols], "data_offsets": [len(data), len(data) + len(bytes_)]}
        data += bytes_
    text = json.dumps(head).encode()
    return write(name, struct.pack("<Q", len(text)) + text + data)


write(path("inputs/lora/adapter_config.json"), json.dumps({"peft_type": "LORA", "r": 2, "lora_alpha": 4, "target_modules": ["q_proj"]}))
PART = "base_model.model.model.layers.0.self_attn.q_proj.lora_"
LORA = safetensors(path("inputs/lora/adapter_model.safetensors"), {PART + "A.weight": (2, 128), PART + "B.weight": (128, 2)})
KEY = path("inputs/key.pem")
HAS_KEY = shutil.which("openssl") is not None and subprocess.run(
    ["openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", KEY], capture_output=True, check=False).returncode == 0
SCHEMA = write(path("inputs/light.json"), json.dumps({"type": "object", "properties": {f"key{i}": {"type": "string"} for i in range(20)}}))
shutil.copyfile(MODEL, path("inputs/m.ingot"))
ingot("chat", path("inputs/m.ingot"), "--log", "on", "-n", "3", "-q", stdin=b"Hi\n" * 40)
TEXT = write(path("inputs/text.txt"), "Once upon a time there was a fox. " * 2000)
with wave.open(path("inputs/in.wav"), "wb") as sound:
    sound.setnchannels(1)
    sound.setsampwidth(2)
    sound.setframerate(16000)
    for seconds, loud in ((0.5, 0), (1, 8000), (1, 0)):
        sound.writeframes(b"".join((loud if i % 40 < 20 else -loud & 0xffff).to_bytes(2, "little") for i in range(int(16000 * seconds))))

# Rows: the command, with OUT in the place of its output; whether the output can be a pipe; the input that it must refuse as its output, or None.
WHOLE, INTO = "an ordinary file alone", "a pipe, too"
COMMANDS = {
    "pack": (["pack", os.path.join(ROOT, "models/demo"), "-o", "OUT", "--type", "q4_0", "-q"], WHOLE, None),
    "pack --calibrate": (["pack", os.path.join(ROOT, "models/demo"), "-o", "OUT", "--type", "q4_0", "-q", "--calibrate", TEXT], WHOLE, None),
    "synth": (["synth", "--shape", "tiny", "-o", "OUT"], WHOLE, None),
    "adapter": (["adapter", path("inputs/lora"), "--base", path("inputs/m.ingot"), "-o", "OUT"], WHOLE, path("inputs/m.ingot")),
    "sign": (["sign", MODEL, "--key", KEY, "-o", "OUT"], WHOLE, None) if HAS_KEY else None,
    "grammar": (["grammar", SCHEMA, "-o", "OUT"], INTO, SCHEMA),
    "logits": (["logits", path("inputs/m.ingot"), "-p", "Hi", "-n", "2", "-q", "-o", "OUT"], INTO, path("inputs/m.ingot")),
    "run -o": (["run", path("inputs/m.ingot"), "-p", "Say", "-n", "400", "--temp", "2", "--seed", "1", "-q", "-o", "OUT", "--grammar",
                path("inputs/long.grammar")], INTO, path("inputs/m.ingot")),
    "run --trace": (["run", path("inputs/m.ingot"), "-p", "Say", "-n", "20", "-q", "--trace", "OUT"], INTO, path("inputs/m.ingot")),
    "log": (["log", path("inputs/ingot.log"), "-o", "OUT"], INTO, path("inputs/ingot.log")),
    "card": (["card", "virt-arm64", MODEL, "-o", "OUT", "--boards", BUILD, "--save", "0", "--system", "Be brief."], WHOLE, None)
            if os.path.exists(os.path.join(BUILD, "virt-arm64/ingot.bin")) else None,
    "voice": (["voice", MODEL, "--input", path("inputs/in.wav"), "--output", "OUT", "--stt", "echo Hi # {}", "--tts",
               f"cat >/dev/null; cp {path('inputs/in.wav')} {{}}", "-n", "8"], INTO, path("inputs/in.wav")),
}
write(path("inputs/long.gbnf"), "root ::= [a-z ]{1200,1600}")
ingot("grammar", path("inputs/long.gbnf"), "-o", path("inputs/long.grammar"))


def command(name, out):
    return [word if word != "OUT" else out for word in COMMANDS[name][0]]


def names(folder):
    return sorted(os.listdir(folder))


def fresh():
    """Make a new folder that has only a folder for temporary files."""
    folder = tempfile.mkdtemp(dir=FOLDER)
    os.mkdir(os.path.join(folder, "t"))
    return folder, dict(os.environ, TMPDIR=os.path.join(folder, "t"))


def only(folder, *expected):
    return names(folder) == sorted([*expected, "t"]) and names(os.path.join(folder, "t")) == []


def drain(pipe, into):
    with open(pipe, "rb") as f:
        into.append(f.read())


# ---- every command with every output option -------------------------------------------------------

def check_good(name):
    """Write next to files of the user whose names Ingot once used for temporary files, and through a link."""
    folder, env = fresh()
    out = os.path.join(folder, "out")
    for end in (".tmp", ".part", ".prefix", ".packed-0", ".packed-0.tmp", ".signed-0"):
        write(out + end, "mine")
    status, said = ingot(*command(name, out), env=env, umask=0o027)
    others = [n for n in names(folder) if n not in ("out", "t")]
    tap.ok(status == 0 and os.path.getsize(out) > 0 and stat.S_IMODE(os.stat(out).st_mode) == 0o640, f"{name}: the output's mode follows umask", said)
    tap.ok(len(others) == 6 and all(read(os.path.join(folder, n)) == b"mine" for n in others) and names(os.path.join(folder, "t")) == [],
           f"{name}: the user's files stay, and no other file appears", names(folder))
    good = read(out)
    folder, env = fresh()
    os.symlink("there", os.path.join(folder, "link"))
    status, said = ingot(*command(name, os.path.join(folder, "link")), env=env)
    tap.ok(status == 0 and only(folder, "link", "there") and os.readlink(os.path.join(folder, "link")) == "there",
           f"{name}: a link to nothing makes what it leads to", said + str(names(folder)))
    status, said = ingot(*command(name, os.path.join(folder, "link")), env=env)
    tap.ok(status == 0 and only(folder, "link", "there") and os.path.islink(os.path.join(folder, "link")),
           f"{name}: a link to a file is written through", said + str(names(folder)))
    folder, env = fresh()
    out = write(os.path.join(folder, "out"), "old")
    os.link(out, os.path.join(folder, "other"))
    os.chmod(out, 0o604)
    status, said = ingot(*command(name, out), env=env, umask=0o027)
    tap.ok(status == 0 and stat.S_IMODE(os.stat(out).st_mode) == 0o604, f"{name}: an old file's mode is kept", said)
    tap.ok(read(os.path.join(folder, "other")) == b"old" and only(folder, "out", "other"), f"{name}: another name of the old file keeps its contents",
           names(folder))
    return good


def check_full(name, good):
    folder, env = fresh()
    out = os.path.join(folder, "out")
    # Some commands get only small limits: `voice` keeps spoken sentences, and the programs that it
    # starts have the same limit; a trace has other events, and so another length, in each run.
    some = {"voice": {1}, "run --trace": {1, 256}}
    for size in sorted(some.get(name, {1, len(good) // 2, len(good) - 1})):
        status, said = ingot(*command(name, out), env=env, preexec_fn=lambda n=size: resource.setrlimit(resource.RLIMIT_FSIZE, (n, n)))
        tap.ok(status == 1 and only(folder) and said.count("\n") <= 2, f"{name}: a disk that takes {size} of {len(good)} bytes leaves nothing",
               f"{status} {names(folder)} {said}")
    status, said = ingot(*command(name, out), limit="ulimit -f 0", env=env)
    tap.ok(status == 1 and only(folder) and said.count("\n") <= 2, f"{name}: a full disk leaves nothing", f"{status} {names(folder)} {said}")
    write(out, "old")
    status, said = ingot(*command(name, out), limit="ulimit -f 0", env=env)
    tap.ok(status == 1 and only(folder, "out") and read(out) == b"old", f"{name}: a full disk leaves the old file", f"{status} {names(folder)} {said}")


def check_not_a_file(name, kind):
    folder, env = fresh()
    pipe = os.path.join(folder, "pipe")
    os.mkfifo(pipe)
    got = []
    reader = threading.Thread(target=drain, args=(pipe, got), daemon=True)
    if kind == INTO:
        reader.start()
    status, said = ingot(*command(name, pipe), env=env)
    if kind == INTO:
        reader.join(20)
        tap.ok(status == 0 and stat.S_ISFIFO(os.lstat(pipe).st_mode) and got and len(got[0]) > 0 and only(folder, "pipe"),
               f"{name}: a pipe is written into", f"{status} {said} {names(folder)}")
    else:
        tap.ok(status == 1 and stat.S_ISFIFO(os.lstat(pipe).st_mode) and "it is not an ordinary file" in said and only(folder, "pipe"),
               f"{name}: a pipe is refused and stays", f"{status} {said} {names(folder)}")
    status, said = ingot(*command(name, os.path.join(folder, "t")), env=env)
    tap.ok(status == 1 and only(folder, "pipe") and "folder" in said, f"{name}: a folder is refused", f"{status} {said}")
    status, said = ingot(*command(name, "/dev/no-such-ingot-device"), env=env)
    tap.ok(status == 1 and not os.path.exists("/dev/no-such-ingot-device") and "there is no such device" in said,
           f"{name}: a device that does not exist is not made", f"{status} {said}")
    if os.path.exists("/dev/no-such-ingot-device"):
        os.unlink("/dev/no-such-ingot-device")


def check_input(name, source):
    if source is None:
        return
    before = read(source)
    status, said = ingot(*command(name, source))
    tap.ok(status == 1 and read(source) == before and "it is the input" in said, f"{name}: its input cannot be its output", f"{status} {said}")
    write(source, before)


def check_twice(name):
    folder, env = fresh()
    out = os.path.join(folder, "out")
    both = [subprocess.Popen([HOST, *command(name, out)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=env)
            for _ in range(2)]
    said = [p.communicate(timeout=60)[1] for p in both]
    tap.ok([p.returncode for p in both] == [0, 0] and only(folder, "out"), f"{name}: two commands at once leave one complete file", f"{said} {names(folder)}")


for name, about in COMMANDS.items():
    if about is None:
        tap.skip(name, "needs openssl" if name == "sign" else "needs build/virt-arm64/ingot.bin: make image BOARD=virt-arm64")
        continue
    check_full(name, check_good(name))
    check_not_a_file(name, about[1])
    check_input(name, about[2])
    check_twice(name)

# If writing a signature after a file fails, the file has its old contents again.
if HAS_KEY:
    folder, _ = fresh()
    target = shutil.copyfile(MODEL, os.path.join(folder, "m.ingot"))
    status, said = ingot("sign", target, "--key", KEY, limit=f"ulimit -f {(os.path.getsize(target) + 2048) // 1024}")
    tap.ok(status == 1 and read(target) == read(MODEL) and only(folder, "m.ingot"), "sign in place: a full disk leaves the file unchanged", said)
    status, said = ingot("sign", target, "--key", KEY)
    signed = read(target)
    status, said = ingot("sign", target, "--key", KEY, limit=f"ulimit -f {(os.path.getsize(MODEL) + 2048) // 1024}")
    tap.ok(status == 1 and read(target) == signed, "sign in place: a full disk leaves a signed file unchanged", said)

# ---- signals --------------------------------------------------------------------------------------

SLOW = {
    "synth": ["synth", "--shape", "smol135", "--type", "q6_k", "-o", "OUT"],
    "pack --calibrate": ["pack", os.path.join(ROOT, "models/demo"), "-o", "OUT", "--type", "q4_0", "-q", "--calibrate", TEXT],
    "logits": ["logits", path("inputs/m.ingot"), "-p", "Say", "-n", "480", "-q", "-o", "OUT", "--card", "1M", "--mem", "500K"],
    "run -o": ["run", path("inputs/m.ingot"), "-p", "Say", "--temp", "2", "-q", "-o", "OUT", "--grammar", path("inputs/long.grammar"),
               "--card", "1M", "--mem", "500K"],
}


def appears(folder, seconds=20):
    late = time.monotonic() + seconds
    while time.monotonic() < late:
        if any(n.startswith(".ingot-") for where in (folder, os.path.join(folder, "t")) for n in os.listdir(where)):
            return True
        time.sleep(0.002)
    return False


for name, words in SLOW.items():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, *((signal.SIGQUIT, signal.SIGXCPU) if name == "synth" else ())):
        folder, env = fresh()
        out = write(os.path.join(folder, "out"), "old")
        p = subprocess.Popen([HOST, *[w if w != "OUT" else out for w in words]], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, env=env)
        there = appears(folder)
        time.sleep(0.05)
        p.send_signal(number)
        said = p.communicate(timeout=60)[1]
        tap.ok(there and p.returncode == -number and only(folder, "out") and read(out) == b"old", f"{name}: {number.name} leaves the old file",
               f"{there} {p.returncode} {names(folder)} {names(os.path.join(folder, 't'))} {said}")

# ---- inputs that become shorter -------------------------------------------------------------------

GGUF = path("inputs/in.gguf")


def shorten(words, source, keep, moment, lines=b""):
    """The command's input is cut while the command reads it."""
    whole = read(source)
    p = subprocess.Popen([HOST, *words], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    p.stdin.write(lines)
    p.stdin.flush()
    time.sleep(moment)
    os.truncate(source, keep)
    said = p.communicate(timeout=60)[1].decode()
    write(source, whole)
    return p.returncode, said


def is_whole(words, folder):
    """If the input was cut after the output was complete, the output equals that of an undisturbed run."""
    if not only(folder, "out"):
        return False
    other, env = fresh()
    status, _ = ingot(*[w if w != "OUT" else os.path.join(other, "out") for w in words], env=env)
    return status == 0 and read(os.path.join(other, "out")) == read(os.path.join(folder, "out"))


BIG = path("inputs/big.ingot")
ingot("synth", "--shape", "s15m", "--type", "q4_0", "-o", BIG)
BASE = path("inputs/folder")
shutil.copytree(os.path.join(ROOT, "models/demo"), BASE)
WEIGHTS = max((os.path.join(BASE, n) for n in os.listdir(BASE)), key=os.path.getsize)
READERS = {
    "pack of a folder": (["pack", BASE, "-o", "OUT", "--type", "q3_k", "-q"], WEIGHTS),
    "verify": (["verify", BIG], BIG),
    "sign": (["sign", BIG, "--key", KEY, "-o", "OUT"], BIG) if HAS_KEY else None,
    "run --mmap": (["run", BIG, "--mmap", "-p", "Hi", "-n", "200", "-q"], BIG),
    "chat --mmap": (["chat", BIG, "--mmap", "-n", "30", "-q"], BIG, b"Hi\n" * 9),
    "batch --mmap": (["batch", BIG, "--mmap", "-n", "9", "-q", "-f", write(path("inputs/lines.jsonl"), '{"prompt": "Hi"}\n' * 9)], BIG),
    "perplexity --mmap": (["perplexity", BIG, "--mmap", "-f", TEXT, "-q"], BIG),
    "logits --mmap": (["logits", BIG, "--mmap", "-p", "Hi", "-n", "30", "-q", "-o", "OUT"], BIG),
    "bench --mmap": (["bench", BIG, "--mmap"], BIG),
    "plan": (["plan", BIG], BIG),
    "info": (["info", BIG], BIG),
    "plan of a folder": (["plan", BASE], WEIGHTS),
    "card": ([w if w != MODEL else BIG for w in COMMANDS["card"][0]], BIG) if COMMANDS["card"] is not None else None,
    "adapter --base": (["adapter", path("inputs/lora"), "--base", BASE, "-o", "OUT"], WEIGHTS),
    "info of a folder": (["info", BASE], WEIGHTS),
}
TALKERS = ("bench --mmap", "plan", "plan of a folder", "card")  # they write lines about their work to standard error
QUICK = ("plan", "info", "info of a folder", "plan of a folder")  # they may have read the whole input before it changes
for name, about in READERS.items():
    if about is None:
        tap.skip(name, "needs openssl" if name == "sign" else "needs build/virt-arm64/ingot.bin: make image BOARD=virt-arm64")
        continue
    words, source, *lines = about
    seen, wrong = set(), []
    for i in range(12):
        folder, _ = fresh()
        status, said = shorten([w if w != "OUT" else os.path.join(folder, "out") for w in words], source, 1000, 0.004 * i, *lines)
        seen.add(status)
        if status not in (0, 1) or (status == 1 and (os.path.basename(source) not in said and BASE not in said)) or \
                (status == 1 and not only(folder) and not is_whole(words, folder)) or (said.count("\n") > 1 and name not in TALKERS):
            wrong.append((i, status, said, names(folder)))
    tap.ok(not wrong and (1 in seen or name in QUICK), f"{name}: an input that becomes shorter is named", wrong or seen)


def run_until(words, begun, change):
    """Stop the command after it has begun, change its input, and let it continue; returns (whether it had begun, its
    status, its output)."""
    p = subprocess.Popen([HOST, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    there = begun(p)
    p.send_signal(signal.SIGSTOP)
    change()
    p.send_signal(signal.SIGCONT)
    said = p.communicate(timeout=60)[1].decode()
    return there, p.returncode, said


# The input is either rewritten in place with the same size, or replaced by another file, so that the command still
# reads the old file.
folder, _ = fresh()
SOURCE = shutil.copyfile(BIG, os.path.join(folder, "in.ingot"))
other = bytes(reversed(read(BIG)))
for name, words, begun in (("pack", ["pack", BASE, "-o", os.path.join(folder, "out"), "--type", "q3_k", "-q"], lambda p: appears(folder)),
                           ("run --mmap", ["run", SOURCE, "--mmap", "-p", "Hi", "-n", "200", "-q", "--temp", "0"], lambda p: p.stdout.read(1))):
    source = WEIGHTS if name == "pack" else SOURCE
    whole = read(source)
    for _ in range(10):  # on a busy computer the command may end before its input changes
        there, status, said = run_until(words, begun, lambda: write(source, whole))
        if status != 0:
            break
        if os.path.exists(os.path.join(folder, "out")):
            os.unlink(os.path.join(folder, "out"))
    tap.ok(there and status == 1 and os.path.basename(source) in said and "while it was read" in said and
           (name != "pack" or not os.path.exists(os.path.join(folder, "out"))),
           f"{name}: an input that is written anew is named", f"{status} {said}")
    beside = write(source + ".new", other)
    there, status, said = run_until(words, begun, lambda: os.rename(beside, source))
    tap.ok(there and status == 0, f"{name}: an input that is replaced is read to its end", f"{status} {said}")
    write(source, whole)

status, said = ingot("logits", path("inputs/m.ingot"), "-n", "3", "-q", "-o", path("none.f32"))
tap.ok(status == 1 and "has no token" in said and not os.path.exists(path("none.f32")), "logits without tokens: an error message", f"{status} {said}")

# ---- saves ----------------------------------------------------------------------------------------

folder, _ = fresh()
model = shutil.copyfile(MODEL, os.path.join(folder, "m.ingot"))


def chat(lines, **more):
    return ingot("chat", model, "-n", "3", "-q", "--temp", "0", *more.pop("words", ()), stdin=lines.encode(), **more)[1]


said = chat("/save b\n/save\n")
tap.ok(only(folder, "m.ingot") and said.count("nothing has been said yet") == 2, "/save without a conversation makes no file", said + str(names(folder)))
said = chat("Hi\n/save b\n", limit="ulimit -f 4")
tap.ok(only(folder, "m.ingot") and "File too large" in said and "card" not in said, "/save on a full disk makes no file, and says why", said)
said = chat("Hi\n/save b\nYou\n/save b\n")
tap.ok(only(folder, "m.ingot", "b.sav") and said.count("b.sav)") == 2, "/save", said + str(names(folder)))
said = chat("/load b\n")
tap.ok("2 turns" in said, "/load reads the saved conversation", said)
small = b"INGOTSAV" + bytes(1016)
write(os.path.join(folder, "c.sav"), small)
write(os.path.join(folder, "c.sav~"), "mine")
said = chat("/save c\n")
tap.ok(read(os.path.join(folder, "c.sav")) == small and read(os.path.join(folder, "c.sav~")) == b"mine",
       "an old save that is too short stays after /save without a conversation",
       said)
said = chat("Hi\n/save c\n")
tap.ok(read(os.path.join(folder, "c.sav~2")) == small and read(os.path.join(folder, "c.sav~")) == b"mine" and "c.sav)" in said,
       "a replaced save is kept under a name that differs from the user's NAME~", said + str(names(folder)))
for name, size in (("d", 9), ("e", 5 << 20)):
    mine = write(os.path.join(folder, name + ".sav"), b"m" * size)
    said = chat(f"Hi\n/save {name}\n")
    tap.ok(read(mine) == b"m" * size and f"{name}.sav: cannot be written: it is not a saved conversation" in said,
           f"a file of {size} bytes that is not a save is refused by name", said)
    said = chat("/save prefix\n", words=("--system", "Be brief.", "--prefix", mine))
    tap.ok(read(mine) == b"m" * size and f"{name}.sav: cannot be written: it is not a prefix" in said, "the file is refused as a prefix, too, and kept", said)
prefix = os.path.join(folder, "p.prefix")
said = chat("/save prefix\n", words=("--system", "Be brief.", "--prefix", prefix), limit="ulimit -f 4")
tap.ok(not os.path.exists(prefix) and "File too large" in said, "/save prefix on a full disk", said)
said = chat("/save prefix\n", words=("--system", "Be brief.", "--prefix", prefix))
tap.ok(os.path.exists(prefix) and "are saved in" in said, "/save prefix with room on the disk saves it", said)
said = chat("/save prefix\n", words=("--system", "Be brief and kind.", "--prefix", prefix))
tap.ok("are saved in" in said and not os.path.exists(prefix + "~"), "/save prefix replaces the saved prefix", said)
notes = write(os.path.join(folder, "ingot.log"), b"my own log\n" * 100000)
said = chat("Hi\n", words=("--log", "on"))
tap.ok(read(notes) == b"my own log\n" * 100000 and "ingot.log: cannot be written: it is not a log of Ingot" in said, "a log that is not Ingot's stays", said)
os.unlink(notes)

# ---- limits of memory -----------------------------------------------------------------------------

reply = ["run", MODEL, "-p", "Hi", "-n", "3", "-q", "--temp", "0", "-t", "1"]
want = ingot(*reply)
for limit in ("ulimit -v 4000000", "ulimit -v 300000", "ulimit -d 300000"):
    for more in ([], ["--mem", "64M"], ["--mmap"]):
        got = ingot(*reply, *more, limit=limit)
        tap.ok(got == want and got[0] == 0, f"{limit}: {' '.join(more)} the reply", got)
got = ingot("run", os.path.join(ROOT, "models/demo"), *reply[2:], limit="ulimit -v 300000")
tap.ok(got[0] == 0, "ulimit -v: a folder, which is packed on the way", got)
hollow = path("inputs/hollow.ingot")
ingot("synth", "--shape", "qwen3-1.7b", "--type", "q8_0", "--hollow", "-o", hollow)
got = ingot("plan", hollow, "-c", "40000", limit="ulimit -v 300000")
tap.ok(got[0] == 1 and "ulimit -v leaves this program" in got[1], "a model that does not fit: the limit has a name", got)
tap.done()
