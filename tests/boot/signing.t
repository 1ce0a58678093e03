#!/usr/bin/python3
"""An image with a key: signed files open and compute as before; files without a valid signature are refused by name and fast, at the start and
at /model. openssl verifies the signature. A locked line allows only certain requests."""

import hashlib
import json
import os
import re
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from crc32c import crc32c
from machine import (ARM64, BUILD, FLASH_BYTES, HOST, LONG, RISCV64, ROOT, WORK, Reply, Tap, card_arguments, flash_arguments, make_card, make_flash,
                     run, segments)
from talk import Console

DEMO = os.path.join(ROOT, "models/demo-q8_0.ingot")
KEYS = os.path.join(BUILD, "tests/signing")
FOLDER = os.path.join(WORK, "signing")
BLOCK = struct.Struct("<8sIIQQII8s16s64s")
REFUSED_MS, TRIES = 50, 8
# CPUs without instructions for SHA-2 (arm64), or without vectors and bit manipulation (RISC-V).
PLAIN = {"virt-arm64": (1, "isa=neon", [], REFUSED_MS), "virt-riscv64": (1, "", ["-cpu", "rv64,v=false,zbb=false,zbc=false"], 80)}
tap = Tap()
os.makedirs(FOLDER, exist_ok=True)


def host(*words):
    done = subprocess.run([HOST, *words], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout + done.stderr


def alter(data, at):
    """Change five bytes by a multiple of CRC-32C's polynomial, so that the CRC stays the same."""
    data[at:at + 5] = bytes(a ^ b for a, b in zip(data[at:at + 5], (1 | 0x82f63b78 << 1).to_bytes(5, "little")))


def in_folder(name, data):
    path = os.path.join(FOLDER, name)
    with open(path, "wb") as f:
        f.write(data)
    return path


# ---- files ----

GOOD = os.path.join(FOLDER, "good.ingot")
status, said = host("sign", DEMO, "--key", os.path.join(KEYS, "key.pem"), "-o", GOOD)
tap.ok(status == 0 and re.search(r"signed by key [0-9a-f]{16}", said), "`ingot sign` signs a model", said)
with open(GOOD, "rb") as f:
    signed = f.read()
with open(DEMO, "rb") as f:
    plain = f.read()
tap.ok(signed.startswith(plain) and len(signed) == len(plain) + 4096, "the signed file is the unchanged model, followed by a page")

# Input for openssl, made as FORMAT.md says: r and s in openssl's form, and the signed bytes.
magic, version, kind, file_bytes, block_bytes, parts, leaf, key_id, reserved, rs = BLOCK.unpack_from(signed, len(plain))
digests = signed[len(plain) + 128:len(plain) + 128 + 32 * parts]


def integer(n):
    n = n.lstrip(b"\0")
    n = (b"\0" if n[0] > 127 else b"") + n
    return b"\2" + bytes([len(n)]) + n


body = integer(rs[:32]) + integer(rs[32:])
in_folder("rs.der", b"\x30" + bytes([len(body)]) + body)
in_folder("what", signed[len(plain):len(plain) + 64] + digests)
done = subprocess.run(["openssl", "dgst", "-sha256", "-verify", KEYS + "/public.pem", "-signature", FOLDER + "/rs.der", FOLDER + "/what"],
                      capture_output=True, text=True, timeout=60)
tap.ok("Verified OK" in done.stdout, "openssl checks the signature", done.stdout + done.stderr)


def tree(data):
    return hashlib.sha256(b"".join(hashlib.sha256(data[i:i + leaf]).digest() for i in range(0, len(data), leaf))).digest()


ends = segments(DEMO)
mine = [tree(plain[:4096]), tree(plain[4096:ends[0][0]])] + [tree(plain[at:at + n]) for at, n in ends]
tap.ok(mine == [digests[i:i + 32] for i in range(0, len(digests), 32)] and parts == len(mine), "the digests are those that FORMAT.md describes")

bad = bytearray(signed)
bad[24] ^= 1
bad[12:16] = bytes(4)
bad[12:16] = struct.pack("<I", crc32c(bad[:4096]))
in_folder("header.ingot", bad)
bad = bytearray(signed)
offset, size = struct.unpack_from("<QQ", bad, 88 + 128 + 24)  # the end of the template
alter(bad, offset + size - 5)
in_folder("table.ingot", bad)
for name, at in (("weights", ends[3][0] + 1000), ("first", ends[1][0] + 1000), ("last", ends[4][0] + ends[4][1] - 500)):
    bad = bytearray(signed)
    alter(bad, at)
    in_folder(name + ".ingot", bad)
in_folder("cut.ingot", signed[:-4096])
subprocess.run(["openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", FOLDER + "/other.pem"], check=True, timeout=60)
subprocess.run(["openssl", "pkey", "-in", FOLDER + "/other.pem", "-pubout", "-out", FOLDER + "/other-public.pem"], check=True, timeout=60)
host("sign", DEMO, "--key", FOLDER + "/other.pem", "-o", FOLDER + "/other.ingot")
BAD = {"cut": "it is not signed: sign it with `ingot sign", "header": "its header is not the one that was signed",
       "table": "its tables are not those that were signed", "weights": "layer 2: not what was signed",
       "first": "layer 0: not what was signed", "last": "layer 3: not what was signed",
       "other": "it is signed by the key [0-9a-f]{16}, but the expected key is [0-9a-f]{16}"}
HOST_BAD = {**BAD, "cut": "it is not signed", "header": "header: not what was signed", "table": "tables: not what was signed"}
for name, why in HOST_BAD.items():
    status, said = host("verify", f"{FOLDER}/{name}.ingot", "--public-key", KEYS + "/public.pem")
    tap.ok(status == 1 and re.search(why, said), f"ingot verify: {name}", said)
status, said = host("verify", GOOD, "--public-key", KEYS + "/public.pem")
tap.ok(status == 0 and f"all {parts} parts are unchanged since then" in said, "ingot verify: a signed model is accepted", said)
status, said = host("verify", FOLDER + "/weights.ingot")
tap.ok(status == 1 and "layer 2" in said, "ingot verify without a key sees what was altered", said)
tap.ok("signature   of key" in host("info", GOOD)[1] and "signature   none" in host("info", DEMO)[1] and
       json.loads(host("info", GOOD, "--json")[1])["signed_by_key"] == key_id.hex(), "`ingot info` shows the signature")

# An adapter of zeros for the embedding, also made as FORMAT.md says.
dim, layers, vocab = struct.unpack_from("<III", plain, 92)
a_bytes, b_bytes = -(-vocab * 4 * 2 // 64) * 64, dim * 4 * 2
data = bytes(-(-(a_bytes + b_bytes) // 4096) * 4096)
table = struct.pack("<HHIIIfIQQ", 0, 0xffff, 4, dim, vocab, 1.0, 0, 0, a_bytes).ljust(4096, b"\0")
head = b"INGOT\r\nA" + struct.pack("<IIQ", 1, 0, 8192 + len(data)) + b"zeros".ljust(64, b"\0") + b"demo".ljust(64, b"\0")
head = (head + struct.pack("<IIIIIIIIIIQ", 1, dim, layers, vocab, 1, 1, 4, crc32c(table), crc32c(data), 0, len(data))).ljust(4096, b"\0")
head = head[:12] + struct.pack("<I", crc32c(head)) + head[16:]
in_folder("plain-adapter.ingot", head + table + data)
status, said = host("sign", FOLDER + "/plain-adapter.ingot", "--key", KEYS + "/key.pem", "-o", FOLDER + "/good-adapter.ingot")
tap.ok(status == 0 and host("verify", FOLDER + "/good-adapter.ingot", "--public-key", KEYS + "/public.pem")[0] == 0, "an adapter is signed and verified", said)
with open(FOLDER + "/good-adapter.ingot", "rb") as f:
    bad = bytearray(f.read())
alter(bad, 8192 + 100)
in_folder("bad-adapter.ingot", bad)
ADAPTERS = [word for name in ("plain", "good", "bad") for word in ("--root", f"{FOLDER}/{name}-adapter.ingot:adapters/{name}.ingot")]

# ---- boards ----

card = make_card("signing.img", "--size", "48", *ADAPTERS, GOOD, *(f"{FOLDER}/{name}.ingot" for name in BAD))
asked = 'prompt="What is 7 plus 8?" temp=0 n=8 ids'
expected = Reply(run([HOST, "run", DEMO, "-p", "What is 7 plus 8?", "--temp", "0", "-n", "8", "--ids"])[1])


def kernel(machine):
    return os.path.join(BUILD, machine.board, "signed.bin")


class Signed:
    """A machine whose image has the key."""

    def __init__(self, machine):
        self.machine, self.board = machine, machine.board

    def command(self, words, cores=1, drives=()):
        return self.machine.command(words, cores, drives, kernel(self.machine))


def refused_ms(machine, name, cores, words, cpu):
    command = machine.command(f"model={name}.ingot prompt=x {words}", cores, card_arguments(card), kernel(machine))
    status, out = run(command + cpu + ["-icount", "shift=0,sleep=off"], 120)
    found = re.search(rf"\[ *(\d+\.\d+)\] storage: [^\n]*\n(?:\[[^\n]*\n)*?\[ *(\d+\.\d+)\] error: {name}\.ingot: {BAD[name]}", out)
    return (float(found[2]) - float(found[1])) * 1000 if found else None, out


for machine in (ARM64, RISCV64):
    for words, cores in (("", 4), ("mem=900K", 1)):
        status, out = machine.run(f"model=good.ingot {asked} {words}", cores, card_arguments(card), kernel(machine))
        reply = Reply(out)
        tap.ok(status == 0 and reply.hash == expected.hash and reply.ids == expected.ids and reply.hash,
               f"{machine.board}, {cores} cores {words}: signed, the logits are those of the unsigned model", out)
        tap.ok(re.search(rf"signature: key {key_id.hex()}, header verified in [\d.]+ ms", out), f"{machine.board}: the log names the key", out)
    with Console(Signed(machine), "model=good.ingot", card_arguments(card)) as c:
        c.prompt()
        for name, why in BAD.items():
            out = c.change(f"{name}.ingot")
            tap.ok(re.search(rf"error: {name}\.ingot: {why}", out.replace("\n", "")) and "back to the previous model" in out,
                   f"{machine.board}: {name} is refused, and the previous model is back", out)
        tap.ok("15" in c.say("What is 7 plus 8?"), f"{machine.board}: the previous model replies", c.seen)
        refused = [re.search(why, c.say("/adapter " + name).replace("\n", "")) for name, why in
                   (("plain", "adapter plain: it is not signed"), ("bad", "adapter bad: its data is not what was signed"))]
        tap.ok(all(refused) and "error" not in c.say("/adapter good"), f"{machine.board}: adapters without a valid signature are refused, too", c.seen)
        c.send("/selftest\r")  # the kernels' self-test comes first, and is stopped
        c.expect(r"ok, \d+ cases\r")
        c.send("\x03")
        tap.ok("signatures: the vectors of RFC 6979" in c.prompt(), f"{machine.board}: the self-test has the published vectors", c.seen)
    # An instruction takes 1 ns on any core, and nothing else takes time. But the guest's clock also runs while the host reads the card, so a
    # run that took too long is repeated.
    for name in ("cut", "header", "table", "first", "last", "other"):
        for cores, words, cpu, limit in ((1, "", [], REFUSED_MS), (4, "", [], REFUSED_MS), PLAIN[machine.board]):
            if (cpu + words.split() or cores > 1 and not LONG) and name not in ("first", "last"):
                continue
            for _ in range(TRIES):
                ms, out = refused_ms(machine, name, cores, words, cpu)
                if ms is None or ms < limit:
                    break
            tap.ok(ms is not None and ms < limit,
                   f"{machine.board}, {cores} cores {' '.join(cpu)}{words}: {name} is refused {ms or 0:.0f} ms after the card was found, "
                   f"at a billion instructions a second, under {limit}", out)

for name, drives in (("flash", flash_arguments(make_flash(GOOD, FLASH_BYTES["virt-arm64"], "signing-flash.img"))), ("the initrd", ["-initrd", GOOD])):
    status, out = ARM64.run(asked, 2, drives, kernel(ARM64))
    tap.ok(status == 0 and Reply(out).hash == expected.hash and "signature: key" in out, f"virt-arm64: signed, in place, from {name}", out)
status, out = ARM64.run(asked, 2, ["-initrd", FOLDER + "/weights.ingot"], kernel(ARM64))
tap.ok("layer 2: not what was signed" in out, "virt-arm64: in place, altered", out)

if LONG:
    status, out = ARM64.run("model=good.ingot prompt=x n=1 selftest isa=ref", 1, card_arguments(card), kernel(ARM64), timeout=300)
    tap.ok(status == 0 and "signatures: the vectors of RFC 6979" in out, "an altered model is refused at a start, too", out)
SIGNED_BY = ["--public-key", KEYS + "/public.pem"]
status, out = host("run", GOOD, *SIGNED_BY, "-p", "What is 7 plus 8?", "--temp", "0", "-n", "8", "--ids")
tap.ok(status == 0 and Reply(out).hash == expected.hash and f"signature: key {key_id.hex()}" in out, "ingot run --public-key: a signed model is accepted", out)
for name, why in BAD.items():
    status, out = host("run", f"{FOLDER}/{name}.ingot", *SIGNED_BY, "-p", "x", "-n", "1")
    tap.ok(status == 1 and re.search(rf"{name}\.ingot: {why}", out.replace("\n", "")), f"ingot run --public-key: {name} is refused as by a board", out)
status, out = host("run", GOOD, *SIGNED_BY, "--adapter", FOLDER + "/plain-adapter.ingot", "-p", "x", "-n", "1")
tap.ok(status == 1 and "it is not signed" in out, "ingot run --public-key: an adapter, too", out)
for words in (("chat",), ("serve", "--port", "0")):
    status, out = host(*words, FOLDER + "/cut.ingot", *SIGNED_BY)
    tap.ok(status == 1 and BAD["cut"] in out, f"ingot {words[0]} --public-key: refused", out)
status, out = host("run", GOOD, "--public-key", DEMO, "-p", "x")
tap.ok(status != 0 and "demo-q8_0" in out, "ingot run --public-key: a file that is not a key", out)
status, out = ARM64.run(f"model=cut.ingot {asked}", 1, card_arguments(card))
tap.ok(status == 0 and Reply(out).hash == expected.hash and "signature" not in out, "an image without a key accepts any model", out)

# ---- a locked line ----

WORD = host("lock", "2718")[1].strip()
ALLOWED = {"help", "reset", "retry", "plan", "stats", "lock", "unlock"}
with Console(ARM64, f"model=good.ingot temp=0 n=6 {WORD}", card_arguments(card)) as c:
    out = c.prompt()
    tap.ok("locked: this line only chats" in out, "lock= prints that the line is locked", out)
    tap.ok("7 plus 8" in c.say("What is 7 plus 8?"), "a locked line answers questions", c.seen)
    listed = set(re.findall(r"^  /(\w+)", c.say("/help all"), re.M))
    tap.ok(listed == ALLOWED and set(re.findall(r" /(\w+)", re.sub("(?m)^/help .*", "", c.say("/help")))) == ALLOWED,
           "/help lists the commands that a locked line allows", (listed, c.seen))
    out = c.say("/unlock 2719")
    tap.ok("wrong PIN; try again in 1 s" in out, "a wrong PIN is refused", out)
    tap.ok("too early" in c.say("/unlock 2718"), "the next try has to wait, also with the right one", c.seen)
    while "too early" in c.say("/unlock 0000"):
        pass
    tap.ok("try again in 2 s" in c.seen, "the wait grows with each wrong try", c.seen)
    while "too early" in c.say("/unlock 2718"):
        pass
    tap.ok("unlocked" in c.seen, "the right PIN unlocks the line", c.seen)
    every = set(re.findall(r"^  /(\w+)", c.say("/help all"), re.M)) | {"exit", "quit"}
    tap.ok("temp 0.500" in c.say("/set temp 0.5") and len(every) > 30, "all commands are there again", c.seen)
    c.send("\x1b[A\x1b[A\x1b[A")
    c.send("\r")
    tap.ok("2718" not in c.prompt(), "no PIN is in the history", c.seen)
    c.say("My word is TULIP93")
    tap.ok("TULIP93" in c.seen and "locked: " in c.say("/lock") and "\x1b[2J\x1b[3J" in c.seen, "/lock closes, and erases the screen", c.seen)
    c.send("\x1b[A" * 4 + "\x15")
    tap.ok("no turn" in c.say("/retry") and "TULIP" not in c.seen, "earlier lines are not in the history, and no reply can be repeated", c.seen)
    c.say("Which words do you know?")
    shown = [c.seen for line in ("/retry", "/stats", "/help", "/plan") if "TULIP" in c.say(line) or "/switch" in c.seen]
    tap.ok(not shown, "no command of a locked line shows the earlier conversation", shown)
    kept = [name for name in sorted(every - ALLOWED) if "is refused while the line is locked" not in c.say(f"/{name} x")]
    tap.ok(not kept, f"each of the {len(every - ALLOWED)} other commands is refused", kept)
    tap.ok("/nothing; " in c.say("/nothing"), "an unknown command is refused, too", c.seen)
with Console(ARM64, "model=good.ingot lock=2718", card_arguments(card)) as c:
    out = c.prompt()
    tap.ok("lock takes what `ingot lock` prints" in out.replace("\n", "") and "refused" in c.say("/set temp 1") and
           "lock= is not valid" in c.say("/unlock 2718"), "an invalid lock= locks the line, and no PIN unlocks it", out + c.seen)


def ask(child, request):
    child.send(json.dumps(request) + "\r")
    child.expect(r'\{"event":"done"[^\n]*\n')
    return child.seen


with Console(ARM64, f"model=good.ingot temp=0 n=4 mode=json {WORD}", card_arguments(card)) as c:
    c.expect(r'"event":"ready"[^\n]*\n')
    ask(c, {"hello": 2})
    tap.ok('"reason":"tokens"' in ask(c, {"prompt": "Hello", "temp": 0, "seed": 1, "n": 2, "stop": ["x"]}) or "locked" not in c.seen,
           "json: a prompt and how tokens are drawn", c.seen)
    tap.ok("locked" not in ask(c, {"messages": [{"role": "user", "content": "Hi"}]}), "json: messages", c.seen)
    wrong = [list(r)[0] for r in ({"system": "x"}, {"raw": "x"}, {"ids": [1]}, {"grammar": "a|b"}, {"adapter": "off"}, {"load": "good.ingot"},
                                  {"tokenize": "x"}, {"embedding": "x"}, {"conversation": "x"}, {"turns": 1}, {"overflow": "sinks"},
                                  {"think": "off"}, {"models": True}) if '"locked"' not in ask(c, {**r, "prompt": "Hi"} if "turns" in r else r)]
    tap.ok(not wrong, "json: every other field is refused", wrong)
    tap.ok('"locked"' in ask(c, {"messages": [{"role": "system", "content": "Be bad"}, {"role": "user", "content": "Hi"}]}),
           "json: a system message, too", c.seen)
    tap.ok("is refused while the line is locked" in ask(c, {"command": "/mode chat"}), "json: a command", c.seen)
    tap.ok("unlocked" in ask(c, {"command": "/unlock 2718"}) and "locked" not in ask(c, {"system": "Be brief.", "prompt": "Hi"}),
           "json: the PIN opens", c.seen)

with Console(ARM64, f"model=good.ingot temp=0 n=4 mode=json {WORD}", card_arguments(card)) as c:
    c.expect(r'"event":"ready"[^\n]*\n')

    def checked(request):
        """A request with its check; returns every event, without the echo of a pty."""
        line, crc = json.dumps(request), 0
        for byte in line.encode():
            crc ^= byte
            for _ in range(8):
                crc = (crc << 1 ^ (7 if crc & 128 else 0)) & 255
        c.send(f"{line}*{crc:02x}\r")
        c.expect(r'\{"event":"done"[^\n]*\n')
        return [e for e in c.seen.split("\n") if e.startswith('{"event"')]

    ask(c, {"hello": 2, "check": True})
    checked({"command": "/unlock 2718"})
    told = checked({"messages": [{"role": "system", "content": "TULIP93"}, {"role": "user", "content": "Hi"}]})
    first = int(re.search(r'"seq":(\d+)', told[0]).group(1))
    checked({"resend": first})  # the events of the earlier reply, including its `done`
    tap.ok(re.search(r'"event":"token","seq":%d' % first, c.seen), "json: events can be sent again", c.seen)
    c.expect(r'\{"event":"done"[^\n]*\n')
    checked({"command": "/lock"})
    wrong = [e for seq in range(1, first + len(told)) for e in checked({"resend": seq}) if '"event":"token"' in e]
    tap.ok(not wrong, "json: not on the line that is locked since", wrong)
    checked({"prompt": "Hi", "temp": 0})
    plain = c.seen
    checked({"reset": True})
    tap.ok(re.findall(r'"text":"[^"]*"', plain) == re.findall(r'"text":"[^"]*"', "\n".join(checked({"prompt": "Hi"}))),
           "json: the system message of a request is gone with it", plain)
tap.done()
