#!/usr/bin/env python3
"""Write seeds for net_fuzz, and frames for tests/boot/net_storm.t. usage: net_seed.py OUT"""
import struct
import sys

WAIT, FIX_MAC, FIX_TCP, FIX_XID, CABLE, FIX_NTP = 1, 2, 4, 8, 16, 32
MAC, PEER = bytes.fromhex("525400123456"), bytes.fromhex("525500000002")
OURS, ROUTER, ALL = bytes((10, 0, 2, 15)), bytes((10, 0, 2, 2)), b"\xff" * 4


def step(kind, frame):
    return struct.pack(">BH", kind, len(frame)) + frame


def wait(ms):
    return struct.pack(">BH", WAIT, ms)


def ethernet(kind, payload, to=MAC):
    return to + PEER + struct.pack(">H", kind) + payload


def ip4(protocol, payload, to=OURS, mac=MAC):
    return ethernet(0x800, struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(payload), 1, 0, 64, protocol, 0) + ROUTER + to + payload, mac)


def udp(source, target, payload, **more):
    return ip4(17, struct.pack(">HHHH", source, target, 8 + len(payload), 0) + payload, **more)


def tcp(flags, payload=b"", port=4000, sequence=1, acknowledges=0):
    return ip4(6, struct.pack(">HHIIBBHHH", port, 80, sequence, acknowledges, 0x50, flags, 8000, 0, 0) + payload)


def ntp(first=0x24, stratum=1, more=b""):
    return udp(123, 49152, struct.pack(">BBBBII4sQQQQ", first, stratum, 6, 0xEC, 0, 0, b"RATE", 0, 0, 0xEE99D000 << 32, 0xEE99D000 << 32) + more)


def dhcp(kind, options=b""):
    options = bytes((53, 1, kind)) + options + bytes((54, 4)) + ROUTER + bytes((51, 4, 0, 0, 1, 0, 1, 4, 255, 255, 255, 0, 3, 4)) + ROUTER + b"\xff"
    return udp(67, 68, struct.pack(">BBBBIHH", 2, 1, 6, 0, 0, 0, 0) + bytes(4) + OURS + ROUTER + bytes(4) + MAC + bytes(10 + 192) +
               bytes((0x63, 0x82, 0x53, 0x63)) + options)


def arp(operation):
    return ethernet(0x806, struct.pack(">HHBBH", 1, 0x800, 6, 4, operation) + PEER + ROUTER + MAC + OURS)


def mdns(answers, name=b"\x05ingot\x05local\x00"):
    question = name + struct.pack(">HH", 255, 1)
    answer = b"\xc0\x0c" + struct.pack(">HHIH", 1, 0x8001, 120, 4) + ROUTER
    return udp(5353, 5353, struct.pack(">HHHHHH", 0, 0x8400 if answers else 0, 1, answers, 0, 0) + question + answer * answers,
               to=bytes((224, 0, 0, 251)), mac=bytes.fromhex("01005e0000fb"))


def icmp6(kind, payload):
    body = struct.pack(">BBH", kind, 0, 0) + payload
    return ethernet(0x86dd, struct.pack(">IHBB", 6 << 28, len(body), 58, 255) + bytes.fromhex("fe80" + "00" * 13 + "02") +
                    bytes.fromhex("ff02" + "00" * 13 + "01") + body, bytes.fromhex("333300000001"))


SYN, ACK, FIN, RST, PSH = 2, 16, 1, 4, 8
BOUND = step(FIX_MAC | FIX_XID, dhcp(2)) + wait(500) + step(FIX_MAC | FIX_XID, dhcp(5)) + wait(4000) + step(FIX_MAC, arp(2))
OPEN = BOUND + step(FIX_MAC, tcp(SYN)) + step(FIX_MAC | FIX_TCP, tcp(ACK))
GET = b"GET / HTTP/1.1\r\nhost: a\r\n\r\n"
POST = b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\n\r\nab"
PREFIX = struct.pack(">BBHII", 64, 0, 1800, 0, 0) + struct.pack(">BBBBIII", 3, 4, 64, 0xC0, 3600, 1800, 0) + bytes.fromhex("fd00" + "00" * 14) + \
    bytes((1, 1)) + PEER
SEEDS = [
    OPEN + step(FIX_MAC | FIX_TCP, tcp(ACK | PSH, GET)) + step(FIX_MAC | FIX_TCP, tcp(ACK)) * 3 + step(FIX_MAC | FIX_TCP, tcp(ACK | FIN)),
    OPEN + step(FIX_MAC | FIX_TCP, tcp(ACK | PSH, POST)) + wait(3000) + step(FIX_MAC | FIX_TCP, tcp(ACK | PSH, b"cde")) + step(FIX_MAC | FIX_TCP, tcp(RST | ACK)),
    OPEN + step(FIX_MAC | FIX_TCP, tcp(ACK | PSH, GET * 3)) + step(FIX_MAC | CABLE, b"") + wait(2000) + step(FIX_MAC, arp(1)),
    BOUND + b"".join(step(FIX_MAC, tcp(SYN, port=4000 + i)) for i in range(20)) + wait(7000),
    BOUND + step(FIX_MAC | FIX_XID, dhcp(6)) + wait(2000) + step(FIX_MAC | FIX_XID, dhcp(2)),
    BOUND + step(FIX_MAC | FIX_NTP, ntp()) + step(FIX_MAC | FIX_NTP, ntp()),
    BOUND + step(FIX_MAC | FIX_NTP, ntp(stratum=0)) + step(FIX_MAC | FIX_NTP, ntp(0xE4, more=bytes(20))),
    step(FIX_MAC | FIX_XID, dhcp(2)) + wait(500) + step(FIX_MAC | FIX_XID, dhcp(5, bytes((42, 8)) + ROUTER + bytes(4))) + wait(4000) + step(FIX_MAC | FIX_NTP, ntp()),
    wait(2000) + step(0, mdns(0)) + step(0, mdns(1)) + step(0, mdns(3, b"\x05_http\x04_tcp\x05local\x00")) + wait(1000),
    step(0, icmp6(134, PREFIX)) + wait(3000) + step(0, icmp6(135, bytes(4) + bytes.fromhex("fe80" + "00" * 14) + bytes((1, 1)) + PEER)) +
    step(0, icmp6(130, struct.pack(">HH", 1000, 0) + bytes(16))),
]
if __name__ == "__main__":
    for i, seed in enumerate(SEEDS):
        with open(sys.argv[1] + (f"-{i}" if i else ""), "wb") as f:
            f.write(seed)
