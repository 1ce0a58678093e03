#!/usr/bin/python3
"""A board on a bad network in QEMU: floods of connections, ARP, mDNS, resets, pings, broken frames and unrequested answers. The line answers after
each of them, and at the end a client can still connect."""

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
HELD_SECONDS = 15  # for connections that the flood began and did not end
FIN_ACK, RST, ACK, PUSH_ACK = 17, 4, 16, 24
SMALL = 150  # segments of one byte that a client sends while its request is answered
CLIENTS, MORE = 8, 6  # NET_CONNECTIONS, and some of NET_WAITING
HEALTH = b"GET /health HTTP/1.1\r\nhost: 10.0.2.15\r\n\r\n"


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
    """A machine whose network card sends its frames to a socket here, and receives frames from it."""

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
        """Frames that the board has sent."""
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
    """True if the board answers a new client after it has forgotten the flood's connections."""
    late = time.monotonic() + HELD_SECONDS
    while time.monotonic() < late:
        wire.send(arp(net_seed.PEER, net_seed.ROUTER))
        wire.send(good(net_seed.tcp(SYN, port=PORT)))
        time.sleep(0.5)
        if any(f[12:14] == b"\x08\0" and f[23] == 6 and f[36:38] == struct.pack(">H", PORT) and f[47] == SYN_ACK for f in wire.taken()):
            return True
    return False


class Caller:
    """A TCP client made of frames."""

    def __init__(self, wire, port, waits=True):
        self.wire, self.port, self.sequence, self.theirs, self.got, self.reset = wire, port, 1000, 0, b"", False
        self.send(SYN)
        self.sequence += 1
        take(wire, [self], 2 * waits, lambda: self.theirs)

    def send(self, flags, data=b""):
        self.wire.send(good(net_seed.tcp(flags, data, port=self.port, sequence=self.sequence, acknowledges=self.theirs)))
        self.sequence = self.sequence + len(data) & 0xFFFFFFFF

    def read(self, segment):
        sequence, data, flags = struct.unpack_from(">I", segment, 4)[0], segment[(segment[12] >> 4) * 4:], segment[13]
        self.reset |= flags & RST != 0
        if flags & SYN:
            self.theirs = sequence + 1
        elif sequence == self.theirs:
            self.theirs = self.theirs + len(data) & 0xFFFFFFFF
            self.got += data
        if flags & SYN or data:
            self.send(ACK)

    def answered(self):
        return b"HTTP/1.1 200" in self.got


def take(wire, callers, seconds, enough):
    """Segments for these callers, which acknowledge them until they have enough."""
    late = time.monotonic() + seconds
    while time.monotonic() < late and not enough():
        for f in wire.taken():
            if f[12:14] == b"\x08\0" and f[23] == 6:
                for c in callers:
                    if f[36:38] == struct.pack(">H", c.port):
                        c.read(f[34:14 + struct.unpack_from(">H", f, 16)[0]])
        time.sleep(0.005)


def small_segments(wire):
    """A client whose request is running continues with many small segments, which are not read yet: another client is answered meanwhile."""
    body = b'{"messages":[{"role":"user","content":"Tell me a story about a fox."}],"max_tokens":400,"temperature":1.5,"stream":true}'
    busy = Caller(wire, 901)
    busy.send(PUSH_ACK, b"POST /v1/chat/completions HTTP/1.1\r\nhost: 10.0.2.15\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body))
    take(wire, [busy], 5, lambda: b"data: " in busy.got)
    for i in range(SMALL):
        busy.send(PUSH_ACK, b"G")
        time.sleep(0.002)
    other = Caller(wire, 902)
    other.send(PUSH_ACK, HEALTH)
    take(wire, [other], 4, other.answered)
    for c in (busy, other):
        c.send(RST)
    tap.ok(b"data: " in busy.got and other.answered(),
           f"{SMALL} segments of a client that is being answered do not use up the frames of another client", f"{busy.got[-300:]}\n{other.got}")


def told(callers):
    return str([(c.port, "reset" if c.reset else c.got[:20]) for c in callers if not c.answered()])


def quiet_one(wire, port):
    """A client that connects, and sends its request after eight others have connected. None: this computer took so long that the board may drop
    it."""
    began, quiet = time.monotonic(), Caller(wire, port)
    others = [Caller(wire, port + 1 + i) for i in range(CLIENTS)]
    quiet.send(PUSH_ACK, HEALTH)
    if time.monotonic() - began > 1.8:
        return None
    take(wire, [quiet] + others, 5, lambda: quiet.answered() or quiet.reset)
    for c in others + [quiet]:
        c.send(RST)
    return quiet


def crowd(wire):
    """More clients than the board has connections: each waits for its turn, and none is reset."""
    found = None
    for i in range(8):
        found = found or quiet_one(wire, 1000 + 20 * i)
    tap.ok(found is None or found.answered(), "a client that asks after others have connected is answered", "" if found is None else told([found]))
    many = []
    for n in (CLIENTS, MORE):  # not more than the board takes at once
        many += [Caller(wire, 1200 + len(many) + i, False) for i in range(n)]
        take(wire, many, 2, lambda: all(c.theirs for c in many))
    for c in many:
        c.send(PUSH_ACK, HEALTH)
    take(wire, many, 20, lambda: all(c.answered() or c.reset for c in many))
    tap.ok(all(c.answered() for c in many), f"{len(many)} clients at once are answered, and none is reset", told(many))
    for c in many:
        c.send(FIN_ACK)
    held = [Caller(wire, 1300 + i) for i in range(CLIENTS)]
    for c in held:
        c.send(PUSH_ACK, b"POST /v1/chat/completions HTTP/1.1\r\nhost: 10.0.2.15\r\ncontent-length: 100\r\n\r\n{")
    take(wire, held, 2, lambda: False)
    began, late = time.monotonic(), [Caller(wire, 1400 + i) for i in range(4)]
    for c in late:
        c.send(PUSH_ACK, HEALTH)
    take(wire, held + late, 15, lambda: all(c.answered() or c.reset for c in late))
    took = time.monotonic() - began
    tap.ok(all(c.answered() for c in late), f"four clients are answered after {took:.1f} s, although eight requests that are never complete came before",
           told(late))


if not os.path.exists(IMAGE):
    tap.skip("a board on a bad network", "lwIP's source is not there: make setup-tests, then make test-images")
else:
    wire, card = Wire(), card_arguments(make_card("net_storm.img", os.path.join(ROOT, "models/demo-q8_0.ingot")))
    with Console(wire, "temp=0 n=60 quiet term=plain net=10.0.2.15/24,10.0.2.2,open", card) as c:
        c.prompt()
        for name, frames in STORMS.items():
            storm(wire, frames)
            tap.ok("15" in c.say(QUESTION), f"after {FRAMES} frames, {name}, the line answers", c.seen)
        tap.ok(lets_in(wire), "the board lets a client in after the storm")
        small_segments(wire)
        crowd(wire)

tap.done()
