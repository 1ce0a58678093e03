#!/usr/bin/python3
"""A board with IPv6, on both virt machines: it has its own address and one with a router's prefix, and answers at both
to questions about the hardware address, pings and HTTP; it tells its name and service by mDNS, over IPv4 too. The replies equal those of the serial line."""

import ipaddress
import json
import os
import re
import struct
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import ARM64, RISCV64_ANY, ROOT, WORK, Tap, card_arguments, make_card
from net_wire import FIN_ACK, ICMP6, IP4, IP6, PUSH_ACK, TCP, UDP, Caller, Wire, good, ip6, net_seed, take
from talk import Console

tap = Tap()
QUESTION, WAIT = "What is 7 plus 8?", 20
PEER = ipaddress.ip_address("fe80::2").packed
SOLICITATION, ADVERTISEMENT, ROUTER, PING, PONG, TOO_BIG = 135, 136, 134, 128, 129, 2
A, PTR, AAAA, MDNS = 1, 12, 28, struct.pack(">H", 5353)
os.makedirs(WORK, exist_ok=True)


def mac_of(group):
    return b"\x33\x33" + group[12:]


def icmp(kind, body, to, mac=net_seed.MAC):
    return ip6(ICMP6, struct.pack(">BBH", kind, 0, 0) + body, PEER, to, mac)


class Neighbor(Wire):
    """Another computer, fe80::2, which answers the board's questions about its hardware address."""

    def taken(self):
        found = super().taken()
        for f in found:
            if f[12:14] == IP6 and f[20] == ICMP6 and f[54] == SOLICITATION and f[62:78] == PEER:
                self.send(icmp(ADVERTISEMENT, struct.pack(">I", 0x60000000) + PEER + b"\2\1" + net_seed.PEER, f[22:38]))
        return found

    def asked(self, question, what):
        """Send a frame once a second, until the board sends one for which what(frame) is true; None: none came."""
        for _ in range(WAIT):
            self.send(question)
            late = time.monotonic() + 1
            while time.monotonic() < late:
                for f in self.taken():
                    if what(f):
                        return f
                time.sleep(0.01)
        return None


class Caller6(Caller):
    def __init__(self, wire, port, to):
        self.at = to
        super().__init__(wire, port)

    def frame(self, flags, data):
        return ip6(TCP, struct.pack(">HHIIBBHHH", self.port, 80, self.sequence, self.theirs, 0x50, flags, 8000, 0, 0) + data, PEER, self.at)

    def segment(self, f):
        return f[54:54 + struct.unpack_from(">H", f, 18)[0]] if f[12:14] == IP6 and f[20] == TCP and f[22:38] == self.at and \
            f[56:58] == struct.pack(">H", self.port) else b""

    def ask(self, head, body=b""):
        host = ipaddress.ip_address(self.at)
        self.send(PUSH_ACK, b"%s HTTP/1.1\r\nhost: [%s]\r\nconnection: close\r\ncontent-length: %d\r\n\r\n%s" % (head, str(host).encode(), len(body), body))
        take(self.wire, [self], WAIT, lambda: self.reset or self.body())
        self.send(FIN_ACK)
        return (self.body() or b"null").decode()


def check_address(wire, board, at, port, said):
    """One address of the board."""
    name, group = ipaddress.ip_address(at), ipaddress.ip_address("ff02::1:ff00:0").packed[:13] + at[13:]
    answer = wire.asked(icmp(SOLICITATION, bytes(4) + at + b"\1\1" + net_seed.PEER, group, mac_of(group)),
                        lambda f: f[12:14] == IP6 and f[20] == ICMP6 and f[54] == ADVERTISEMENT and f[62:78] == at)
    tap.ok(answer and answer[78:86] == b"\2\1" + net_seed.MAC, f"{board}: {name} is advertised to a neighbor, with the card's address", str(answer))
    answer = wire.asked(icmp(PING, b"\0\1\0\2hello", at), lambda f: f[12:14] == IP6 and f[20] == ICMP6 and f[54] == PONG and f[22:38] == at)
    tap.ok(answer and answer[58:67] == b"\0\1\0\2hello", f"{board}: {name} answers a ping", str(answer))
    caller = Caller6(wire, port, at)
    text = caller.ask(b"GET /health")
    tap.ok(caller.answered() and '"ok"' in text, f"{board}: {name} answers HTTP", f"{caller.got}")
    caller = Caller6(wire, port + 1, at)
    text = caller.ask(b"POST /v1/chat/completions", json.dumps({"messages": [{"role": "user", "content": QUESTION}], "temperature": 0, "max_tokens": 24}).encode())
    tap.ok(caller.answered() and (json.loads(text) or {"choices": [{"message": {"content": "nothing"}}]})["choices"][0]["message"]["content"] in said, f"{board}: {name} answers a chat as the line does", f"{caller.got}\n{said}")


def check_too_big(wire, board, at, port):
    """A message says that packets to the other computer may have 60 bytes, those of IPv6's and TCP's heads."""
    inner = struct.pack(">IHBB", 6 << 28, 20, TCP, 64) + at + PEER + bytes(20)
    wire.send(icmp(TOO_BIG, struct.pack(">I", 60) + inner, at))
    caller = Caller6(wire, port, at)
    text = caller.ask(b"GET /health")
    tap.ok(caller.answered() and '"ok"' in text, f"{board}: packets that are said to be too big are not made smaller than IPv6 allows", f"{caller.got}")


def question(name, kind):
    return struct.pack(">HHHHHH", 0, 0, 1, 0, 0, 0) + name + struct.pack(">HH", kind, 1)


def check_names(wire, board, at):
    """Find the name and the service by multicast DNS."""
    group, ours = ipaddress.ip_address("ff02::fb").packed, ipaddress.ip_address("10.0.2.15").packed
    body = question(b"\x05ingot\x05local\0", AAAA)
    answer = wire.asked(ip6(UDP, struct.pack(">HHHH", 5353, 5353, 8 + len(body), 0) + body, PEER, group, mac_of(group)),
                        lambda f: f[12:14] == IP6 and f[20] == UDP and f[54:56] == MDNS and struct.pack(">HH", AAAA, 0x8001) in f[62:] and at in f[62:])
    tap.ok(answer, f"{board}: mDNS gives {ipaddress.ip_address(at)} for ingot.local")
    for name, kind, want, what in ((b"\x05ingot\x05local\0", A, (struct.pack(">HH", A, 0x8001), ours), "10.0.2.15 for ingot.local"),
                                   (b"\x05_http\x04_tcp\x05local\0", PTR, (b"\x05ingot", struct.pack(">HHH", 0, 0, 80), b"\x08path=/v1", ours), "a service of HTTP at port 80")):
        frame = good(net_seed.udp(5353, 5353, question(name, kind), to=bytes((224, 0, 0, 251)), mac=bytes.fromhex("01005e0000fb")))
        answer = wire.asked(frame, lambda f: f[12:14] == IP4 and f[23] == UDP and f[34:36] == MDNS and all(w in f[42:] for w in want))
        tap.ok(answer, f"{board}: mDNS gives {what}")


def address_in(text):
    found = re.search(r"network: http://\[([0-9a-fA-F:]+)\]", text)
    return ipaddress.ip_address(found[1]).packed if found else None


for machine in (ARM64, RISCV64_ANY):
    wire, board = Neighbor(machine), machine.board
    if not os.path.exists(wire.image):
        tap.skip(f"{board}: IPv6", "lwIP's source is not there: make setup-tests, then make test-images")
        continue
    card = card_arguments(make_card(f"serve-ipv6-{board}.img", os.path.join(ROOT, "models/demo-q8_0.ingot")))
    with Console(wire, "temp=0 n=24 quiet term=plain net=10.0.2.15/24,open", card) as c:
        c.expect(r"network: http://10\.0\.2\.15")
        c.prompt()
        said, own = c.say(QUESTION), ipaddress.ip_address("fe80::5054:ff:fe12:3456").packed
        check_address(wire, board, own, 700, said)
        check_too_big(wire, board, own, 710)
        check_names(wire, board, own)
        wire.send(good(net_seed.icmp6(ROUTER, net_seed.PREFIX)))
        c.expect(r"network: http://\[FD00:[0-9a-fA-F:]+\]")
        far = address_in(c.seen[c.seen.rindex("network: http://[FD00"):])
        tap.ok(far == ipaddress.ip_address("fd00::5054:ff:fe12:3456").packed, f"{board}: a router's prefix gives it another one", c.seen)
        check_address(wire, board, far, 800, said)
        c.ask("/reset")
        said = c.ask(QUESTION)
        tap.ok("15" in said, f"{board}: the line answers after that", said)

tap.done()
