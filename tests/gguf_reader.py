"""Reads a GGUF file, for tests that make another file from its contents."""

import struct

NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
TEXT, LIST = 8, 9
ALIGNMENT = 32


class Reader:
    """Reads little-endian values from bytes, one after the other."""

    def __init__(self, raw, at=0):
        self.raw, self.at = raw, at

    def take(self, form):
        value = struct.unpack_from("<" + form, self.raw, self.at)[0]
        self.at += struct.calcsize("<" + form)
        return value

    def text(self):
        size = self.take("Q")
        self.at += size
        return self.raw[self.at - size:self.at].decode("utf-8", "replace")

    def value(self, kind):
        if kind == TEXT:
            return self.text()
        if kind == LIST:
            kind, n = self.take("I"), self.take("Q")
            return [self.value(kind) for _ in range(n)]
        return self.take(NUMBERS[kind])


def read_contents(path):
    """(values, tensors, raw, start): values [(key, kind, value, its bytes)]; tensors [(name, dims with columns first, type, offset from start)]; raw:
    the whole file."""
    with open(path, "rb") as f:
        r = Reader(f.read(), 8)
    n_tensors, n_values = r.take("Q"), r.take("Q")
    values, tensors = [], []
    for _ in range(n_values):
        key, kind = r.text(), r.take("I")
        begin = r.at
        value = r.value(kind)
        values.append((key, kind, value, r.raw[begin:r.at]))
    for _ in range(n_tensors):
        name, n = r.text(), r.take("I")
        tensors.append((name, [r.take("Q") for _ in range(n)], r.take("I"), r.take("Q")))
    return values, tensors, r.raw, -(-r.at // ALIGNMENT) * ALIGNMENT
