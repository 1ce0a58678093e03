"""A board whose network card sends its frames to a socket of this computer and receives frames from it, and TCP clients that make their frames
themselves."""

import os
import re
import socket
import struct
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "fuzz/seeds"))
import net_seed
from machine import BUILD

SYN, SYN_ACK, FIN_ACK, RST, ACK, PUSH_ACK = 2, 18, 17, 4, 16, 24
ICMP6, TCP, UDP = 58, 6, 17
CHECKSUM_AT = {ICMP6: 2, TCP: 16, UDP: 6}
IP4, IP6 = b"\x08\0", b"\x86\xdd"


def checksum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return struct.pack(">H", total ^ 0xFFFF)


def good(frame):
    """The frame with right checksums of IP, ICMPv6, TCP and UDP."""
    f = bytearray(frame)
    if f[12:14] == IP4:
        f[24:26] = b"\0\0"
        f[24:26] = checksum(bytes(f[14:34]))
        begin, protocol, addresses = 34, f[23], bytes(f[26:34])
        n = struct.unpack_from(">H", f, 16)[0] - 20
    else:
        begin, protocol, addresses = 54, f[20], bytes(f[22:54])
        n = struct.unpack_from(">H", f, 18)[0]
    if protocol in CHECKSUM_AT:
        at = begin + CHECKSUM_AT[protocol]
        f[at:at + 2] = b"\0\0"
        f[at:at + 2] = checksum(addresses + struct.pack(">HH", protocol, n) + bytes(f[begin:begin + n]))
    return bytes(f)


def ip6(protocol, payload, source, to, mac=net_seed.MAC):
    """A frame with an IPv6 packet; source and `to` have 16 bytes each."""
    return good(net_seed.ethernet(0x86DD, struct.pack(">IHBB", 6 << 28, len(payload), protocol, 255) + source + to + payload, mac))


class Wire:
    """The board, in the form that talk.Console needs."""

    def __init__(self, machine):
        self.board, self.machine = machine.board, machine
        self.image = os.path.join(BUILD, machine.board, "net.bin")
        self.socket, other = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
        for s in (self.socket, other):
            s.bind(("127.0.0.1", 0))
        self.socket.setblocking(False)
        self.to = other.getsockname()
        other.close()

    def command(self, words, cores=1, drives=()):
        ends = (f"local.type=inet,local.host=127.0.0.1,local.port={self.to[1]},"
                f"remote.type=inet,remote.host=127.0.0.1,remote.port={self.socket.getsockname()[1]}")
        return self.machine.command(words, cores, list(drives) + ["-netdev", "dgram,id=lan," + ends, "-device", "virtio-net-device,netdev=lan"], self.image)

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


class Caller:
    """A TCP client that makes its frames itself."""

    def __init__(self, wire, port, waits=True):
        self.wire, self.port, self.sequence, self.theirs, self.got, self.reset = wire, port, 1000, 0, b"", False
        self.send(SYN)
        self.sequence += 1
        take(wire, [self], 2 * waits, lambda: self.theirs)

    def frame(self, flags, data):
        return good(net_seed.tcp(flags, data, port=self.port, sequence=self.sequence, acknowledges=self.theirs))

    def segment(self, f):
        """The frame's segment, if it is for this client."""
        return f[34:14 + struct.unpack_from(">H", f, 16)[0]] if f[12:14] == IP4 and f[23] == TCP and f[36:38] == struct.pack(">H", self.port) else b""

    def send(self, flags, data=b""):
        self.wire.send(self.frame(flags, data))
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

    def body(self):
        """The answer's body, if it is complete."""
        head, _, rest = self.got.partition(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head, re.I)
        if length:
            return rest if len(rest) == int(length[1]) else None
        text = b""
        while (size := re.match(rb"([0-9a-f]+)\r\n", rest, re.I)):  # the body comes in chunks
            n, rest = int(size[1], 16), rest[size.end():]
            if n == 0:
                return text
            text, rest = text + rest[:n], rest[n + 2:]
        return None

    def answered(self):
        return b"HTTP/1.1 200" in self.got


def take(wire, callers, seconds, enough):
    """Receive segments for these clients, which acknowledge them until they have enough."""
    late = time.monotonic() + seconds
    while time.monotonic() < late and not enough():
        for f in wire.taken():
            for c in callers:
                segment = c.segment(f)
                if segment:
                    c.read(segment)
        time.sleep(0.005)
