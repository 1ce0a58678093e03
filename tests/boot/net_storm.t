#!/usr/bin/python3
"""A board on a bad network, in QEMU's: floods of connections, ARP, mDNS, resets, pings, broken frames and answers that nobody asked
for. The line answers after each of them, and at the end a client is still let in."""

import os
import random
import socket
import struct
import sys
import time

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."), os.path.join(os.path.dirname(os.path.abspath(__file__)), "../fuzz/seeds")]
import net_seed
from machine import ARM64, BUILD, LONG, ROOT, WORK, Tap, card_arguments, make_card
from talk import Console

tap = Tap()
chance = random.Random(1)
os.makedirs(WORK, exist_ok=True)
IMAGE = os.path.join(BUILD, ARM64.board, "net.bin")
QUESTION, FRAMES, BATCH = "What is 7 plus 8?", 20000 if LONG else 1000, 100
BROADCAST, SYN, SYN_ACK, PORT = b"\xff" * 6, 2, 18, 777
HELD_SECONDS = 60  # for connections that the flood began and did not end


def checksum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return struct.pack(">H", total ^ 0xFFFF)


def good(frame):
    """With the checksums of IPv4, TCP and UDP."""
    f = bytearray(frame)
    f[24:26] = b"\0\0"
    f[24:26] = checksum(bytes(f[14:34]))
    n, protocol = struct.unpack_from(">H", f, 16)[0] - 20, f[23]
    if protocol in (6, 17):
        at = 34 + (16 if protocol == 6 else 6)
        f[at:at + 2] = b"\0\0"
        f[at:at + 2] = checksum(bytes(f[26:34]) + bytes((0, protocol)) + struct.pack(">H", n) + bytes(f[34:34 + n]))
    return bytes(f)


def arp(peer, address):
    return net_seed.ethernet(0x806, struct.pack(">HHBBH", 1, 0x800, 6, 4, 1) + peer + address + bytes(6) + net_seed.OURS, BROADCAST)


def broken():
    f = bytearray(good(net_seed.tcp(SYN, chance.randbytes(100))))
    for _ in range(chance.randrange(1, 6)):
        f[chance.randrange(12, len(f))] = chance.randrange(256)
    return bytes(f)


STORMS = {
    "connections that nobody goes on with": lambda i: good(net_seed.tcp(SYN, port=chance.randrange(1024, 65535), sequence=chance.randrange(1 << 32))),
    "ARP of other addresses": lambda i: arp(chance.randbytes(6), bytes((10, 0, 2, chance.randrange(256)))),
    "mDNS": lambda i: good(net_seed.mdns(i % 4)),
    "segments and resets of no connection": lambda i: good(net_seed.tcp(chance.choice((4, 16, 17, 18, 2, 0, 63)), chance.randbytes(chance.randrange(200)),
                                                                         port=chance.randrange(4000, 4010), sequence=chance.randrange(1 << 32))),
    "DHCP that was not asked for": lambda i: good(net_seed.dhcp(chance.choice((2, 5, 6)))),
    "routers of IPv6": lambda i: net_seed.icmp6(134, net_seed.PREFIX),
    "pings": lambda i: good(net_seed.ip4(1, struct.pack(">BBHHH", 8, 0, 0, 1, i) + chance.randbytes(chance.randrange(1400)))),
    "broken frames": lambda i: broken(),
}


class Wire:
    """A machine whose network card sends its frames to a socket here, and takes those from it."""

    def __init__(self):
        self.board = ARM64.board
        self.socket, other = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
        for s in (self.socket, other):
            s.bind(("127.0.0.1", 0))
        self.socket.setblocking(False)
        self.to = other.getsockname()
        other.close()

    def command(self, words, cores=1, drives=()):
        ends = (f"local.type=inet,local.host=127.0.0.1,local.port={self.to[1]},"
                f"remote.type=inet,remote.host=127.0.0.1,remote.port={self.socket.getsockname()[1]}")
        return ARM64.command(words, cores, list(drives) + ["-netdev", "dgram,id=lan," + ends, "-device", "virtio-net-device,netdev=lan"], IMAGE)

    def send(self, frame):
        self.socket.sendto(frame, self.to)

    def taken(self):
        """Frames of the board that have come."""
        found = []
        try:
            while True:
                found.append(self.socket.recv(2048))
        except BlockingIOError:
            return found


def storm(wire, frames):
    for i in range(FRAMES):
        wire.send(frames(i))
        if i % BATCH == 0:
            time.sleep(0.02)
            wire.taken()


def lets_in(wire):
    """Whether the board answers a client that begins a connection, once it has forgotten those of the flood."""
    late = time.monotonic() + HELD_SECONDS
    while time.monotonic() < late:
        wire.send(arp(net_seed.PEER, net_seed.ROUTER))
        wire.send(good(net_seed.tcp(SYN, port=PORT)))
        time.sleep(0.5)
        if any(f[12:14] == b"\x08\0" and f[23] == 6 and f[36:38] == struct.pack(">H", PORT) and f[47] == SYN_ACK for f in wire.taken()):
            return True
    return False


if not os.path.exists(IMAGE):
    tap.skip("a board on a bad network", "lwIP's source is not there: make setup-tests, then make test-images")
else:
    wire, card = Wire(), card_arguments(make_card("net_storm.img", os.path.join(ROOT, "models/demo-q8_0.ingot")))
    with Console(wire, "temp=0 n=60 quiet term=plain net=10.0.2.15/24,10.0.2.2,open", card) as c:
        c.prompt()
        for name, frames in STORMS.items():
            storm(wire, frames)
            tap.ok("15" in c.say(QUESTION), f"after {FRAMES} frames, {name}, the line answers", c.seen)
        tap.ok(lets_in(wire), "and a client is let in")

tap.done()
