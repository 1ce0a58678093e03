#!/usr/bin/python3
"""The public key of an image as C: signing_key.py PUBLIC.pem.

It takes only what `openssl pkey -pubout` writes for a P-256 key."""

import base64
import hashlib
import re
import sys

# RFC 5480: SubjectPublicKeyInfo of a point of prime256v1 that is not compressed.
HEAD = bytes.fromhex("3059301306072a8648ce3d020106082a8648ce3d030107034200") + b"\4"
P = 2**256 - 2**224 + 2**192 + 2**96 - 1
B = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B
CURE = ("make one with: openssl ecparam -name prime256v1 -genkey -noout -out key.pem; "
        "openssl pkey -in key.pem -pubout -out public.pem")


def fail(path, why):
    sys.exit(f"KEY={path}: {why}")


def read(path):
    try:
        with open(path, encoding="ascii", errors="replace") as f:
            text = f.read(65536)
    except OSError as e:
        fail(path, f"{e.strerror}; {CURE}")
    if "PRIVATE KEY-----" in text:
        fail(path, "this is a private key, which no image may hold: openssl pkey -in key.pem -pubout -out public.pem")
    found = re.search(r"-----BEGIN PUBLIC KEY-----([A-Za-z0-9+/=\s]+)-----END PUBLIC KEY-----", text)
    if not found:
        fail(path, f"it holds no public key in PEM: {CURE}")
    try:
        der = base64.b64decode("".join(found[1].split()), validate=True)
    except ValueError:
        fail(path, "it is damaged: no base64")
    if len(der) != len(HEAD) + 64 or not der.startswith(HEAD):
        fail(path, f"it is not a key of P-256 (prime256v1): {CURE}")
    x, y = (int.from_bytes(der[len(HEAD) + i:len(HEAD) + i + 32], "big") for i in (0, 32))
    if x >= P or y >= P or (y * y - x * x * x + 3 * x - B) % P != 0:
        fail(path, "it is damaged: no point of P-256")
    return der[len(HEAD) - 1:]


def main():
    key = read(sys.argv[1])
    print("#define KEY_BYTES " + ", ".join(map(str, key)))
    print(f'#define KEY_NAME "{hashlib.sha256(key).hexdigest()[:16]}"')


if __name__ == "__main__":
    main()
