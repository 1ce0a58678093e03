#!/usr/bin/python3
"""A signed adapter whose header, table, first or last bytes of data are altered without changing the CRC-32C; and adapters with another key, without
a signature block, and with half of one. `ingot verify` and `ingot run` refuse each by name."""

import os
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from crc32c import crc32c
from machine import HOST, ROOT, WORK, Tap, run

MODEL = os.path.join(ROOT, "models/demo-q8_0.ingot")
FOLDER = os.path.join(WORK, "signed-adapters")
PAGE, EMBEDDING, NO_LAYER, F16 = 4096, 0, 0xffff, 1  # FORMAT.md
RANK = 4
tap = Tap()


def path(name):
    return os.path.join(FOLDER, name)


def write(name, data):
    with open(path(name), "wb") as f:
        f.write(data)
    return path(name)


def alter(data, at):
    """Change five bytes by a multiple of CRC-32C's polynomial, so that the CRC stays the same."""
    data[at:at + 5] = bytes(a ^ b for a, b in zip(data[at:at + 5], (1 | 0x82f63b78 << 1).to_bytes(5, "little")))


def seal(head):
    """Correct the CRC-32C of the header."""
    head[12:16] = bytes(4)
    head[12:16] = struct.pack("<I", crc32c(bytes(head[:PAGE])))


def adapter():
    """An adapter of zeros, for the embedding of the model."""
    with open(MODEL, "rb") as f:
        dim, layers, vocab = struct.unpack_from("<III", f.read(PAGE), 92)
    a_bytes, b_bytes = -(-vocab * RANK * 2 // 64) * 64, dim * RANK * 2
    data = bytes(-(-(a_bytes + b_bytes) // PAGE) * PAGE)
    table = struct.pack("<HHIIIfIQQ", EMBEDDING, NO_LAYER, RANK, dim, vocab, 1.0, 0, 0, a_bytes).ljust(PAGE, b"\0")
    head = bytearray((b"INGOT\r\nA" + struct.pack("<IIQ", 1, 0, 2 * PAGE + len(data)) + b"zeros".ljust(64, b"\0") + b"demo".ljust(64, b"\0") +
                      struct.pack("<IIIIIIIIIIQ", 1, dim, layers, vocab, F16, 1, RANK, crc32c(table), crc32c(data), 0, len(data))).ljust(PAGE, b"\0"))
    seal(head)
    return bytes(head) + table + data, a_bytes + b_bytes


def openssl(*words):
    return subprocess.run(["openssl", *words], capture_output=True, check=False, timeout=60).returncode == 0


def make_key(name):
    return (openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", path(name + ".pem")) and
            openssl("pkey", "-in", path(name + ".pem"), "-pubout", "-out", path(name + "-public.pem")))


shutil.rmtree(FOLDER, ignore_errors=True)
os.makedirs(FOLDER)
if shutil.which("openssl") is None or not make_key("key") or not make_key("other"):
    tap.skip("signed adapters", "openssl makes no keys here: install it")
    tap.done()
    sys.exit()
plain, numbers = adapter()
write("plain.ingot", plain)
for name, key in (("good", "key"), ("other", "other")):
    status, said = run([HOST, "sign", path("plain.ingot"), "--key", path(key + ".pem"), "-o", path(name + ".ingot")])
    tap.ok(status == 0, f"signed by the {key} key", said)
status, said = run([HOST, "sign", MODEL, "--key", path("key.pem"), "-o", path("model.ingot")])
tap.ok(status == 0, "the model is signed", said)
with open(path("good.ingot"), "rb") as f:
    good = f.read()

header = bytearray(good)
header[24] ^= 1  # a byte of the name
seal(header)
table = bytearray(good)
alter(table, PAGE + 200)  # the zeros after the table's only pair
first, last = bytearray(good), bytearray(good)
alter(first, 2 * PAGE)
alter(last, len(plain) - 5)
# The altered bytes are those at the end of the last matrix, not the zeros after it.
matrix = bytearray(good)
alter(matrix, 2 * PAGE + numbers - 6)
BAD = {"header": (header, "header is not what was signed"), "table": (table, "table is not what was signed"),
       "first": (first, "data is not what was signed"), "last": (last, "data is not what was signed"),
       "matrix": (matrix, "data is not what was signed"), "cut": (good[:len(plain) + 256], "not signed")}
RUN = [HOST, "run", path("model.ingot"), "--public-key", path("key-public.pem"), "-p", "x", "-n", "1", "-q"]
status, said = run([*RUN, "--adapter", path("good.ingot")])
tap.ok(status == 0, "run takes the good one", said)
status, said = run([HOST, "verify", path("good.ingot"), "--public-key", path("key-public.pem")])
tap.ok(status == 0, "verify takes the good one", said)
for name, (data, why) in BAD.items():
    write(name + ".ingot", data)
    status, said = run([*RUN, "--adapter", path(name + ".ingot")])
    tap.ok(status == 1 and why in said.replace("\n", ""), f"run refuses it: {name}: {said.strip()[-120:]}")
    status, said = run([HOST, "verify", path(name + ".ingot"), "--public-key", path("key-public.pem")])
    tap.ok(status == 1, f"verify, too: {said.strip()[-120:]}")
for name, why in (("plain", "not signed"), ("other", "signed by the key")):
    status, said = run([*RUN, "--adapter", path(name + ".ingot")])
    tap.ok(status == 1 and why in said.replace("\n", ""), f"run refuses it: {name}: {said.strip()[-120:]}")
tap.done()
