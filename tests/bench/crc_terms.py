#!/usr/bin/python3
"""Finds the shortest multiples of CRC-32C's polynomial P with four and with six terms; kernels/riscv64/hash/crc32c_u8_rv64gc.S
uses them as delays. The number of terms is even, because x + 1 divides P. A multiple of P in x is
also a multiple in x^64: over GF(2) its 64th power has the same terms with 64 times the exponents."""

import sys

P = 0x11edc6f41
MOST = 6000 # the highest degree that is searched


def powers(n):
    """x^0 .. x^(n-1) modulo P."""
    found = [1]
    while len(found) < n:
        x = found[-1] << 1
        found.append(x ^ P if x >> 32 else x)
    return found


def four(power):
    """(a, b, s) with 1 + x^a + x^b + x^s = 0, s the least."""
    at = {}
    for s, top in enumerate(power):
        for a in range(1, s):
            b = at.get(1 ^ top ^ power[a])
            if b is not None and b > a:
                return a, b, s
        at[top] = s
    return None


def six(power):
    """All exponents (a, b, c, d, s) with the least s, found by a table of the sums of all pairs of exponents below
    s."""
    pairs = {}
    for s, top in enumerate(power):
        found = {tuple(sorted((a, b, *pairs[1 ^ top ^ power[a] ^ power[b]])))
                 for b in range(2, s) for a in range(1, b) if 1 ^ top ^ power[a] ^ power[b] in pairs}
        if found:
            return [(*middle, s) for middle in sorted(found) if len(set(middle)) == 4]
        pairs.update((power[a] ^ top, (a, s)) for a in range(1, s))
    return []


def delays(exponents):
    """The delays, in words: an eliminated word is added to the later words at these distances, one for each term."""
    s = exponents[-1]
    return sorted(s - e for e in (0, *exponents[:-1]))


def main():
    power = powers(MOST)
    for exponents in (*six(power), four(power)):
        if exponents is None:
            sys.exit(f"none with four terms below degree {MOST}")
        terms = " + ".join(f"x^{e}" for e in reversed(exponents))
        print(f"{terms} + 1: added {', '.join(map(str, delays(exponents)))} words behind")


if __name__ == "__main__":
    main()
