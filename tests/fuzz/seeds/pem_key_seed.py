#!/usr/bin/env python3
"""Write seeds for pem_key_fuzz, OUT-...: the key of RFC 6979 in each of its forms. usage: pem_key_seed.py OUT"""
import base64
import sys

PRIVATE = bytes.fromhex("C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721")
PUBLIC = bytes.fromhex("0460FED4BA255A9D31C961EB74C6356D68C049B8923B61FA6CE669622E60F29FB6"
                       "7903FE1008B8BC99A41AE9E95628BC64F2F1B20C2D7E9F5177A3C294D4462299")
CURVE, EC = bytes.fromhex("06082a8648ce3d030107"), bytes.fromhex("06072a8648ce3d0201")


def tlv(tag, *parts):
    value = b"".join(parts)
    return bytes([tag] + ([len(value)] if len(value) < 128 else [0x81, len(value)])) + value


point = tlv(3, b"\0", PUBLIC)
sec1 = tlv(0x30, tlv(2, b"\1"), tlv(4, PRIVATE), tlv(0xa0, CURVE), tlv(0xa1, point))
inner = tlv(0x30, tlv(2, b"\1"), tlv(4, PRIVATE), tlv(0xa1, point))
keys = {"EC PRIVATE KEY": sec1, "PRIVATE KEY": tlv(0x30, tlv(2, b"\0"), tlv(0x30, EC, CURVE), tlv(4, inner)),
        "PUBLIC KEY": tlv(0x30, tlv(0x30, EC, CURVE), point)}
for i, (label, der) in enumerate(keys.items()):
    with open(f"{sys.argv[1]}-{i}", "wb") as out:
        out.write(f"-----BEGIN {label}-----\n".encode() + base64.encodebytes(der) + f"-----END {label}-----\n".encode())
