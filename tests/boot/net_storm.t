#!/usr/bin/python3
"""A board on a bad network in QEMU: floods of connections, ARP, mDNS, resets, pings, broken frames and unrequested answers. After each flood the
serial line answers, and at the end a client can still connect."""

import json
import os
import random
import struct
import sys
import time

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."), os.path.join(os.path.dirname(os.path.abspath(__file__)), "../fuzz/seeds")]
import net_seed
from machine import ARM64, LONG, ROOT, WORK, Tap, card_arguments, make_card
from net_wire import ACK, FIN_ACK, PUSH_ACK, RST, SYN, SYN_ACK, Caller, Wire, good, take
from talk import Console

tap = Tap()
chance = random.Random(1)
os.makedirs(WORK, exist_ok=True)
QUESTION, FRAMES, BATCH = "What is 7 plus 8?", 20000 if LONG else 1000, 100
BROADCAST, PORT = b"\xff" * 6, 777
HELD_SECONDS = 15  # until the board forgets connections that the flood left open
SMALL = 150  # segments of one byte that a client sends while its request is answered
CLIENTS, MORE = 8, 6  # NET_CONNECTIONS, and some of NET_WAITING
HEALTH = b"GET /health HTTP/1.1\r\nhost: 10.0.2.15\r\n\r\n"


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
    "routers of IPv6": lambda i: good(net_seed.icmp6(134, net_seed.PREFIX)),
    "pings": lambda i: good(net_seed.ip4(1, struct.pack(">BBHHH", 8, 0, 0, 1, i) + chance.randbytes(chance.randrange(1400)))),
    "broken frames": lambda i: broken(),
}


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


def small_segments(wire):
    """While a client's request runs, the client sends many small segments, which nobody reads yet: another client is answered
    nevertheless."""
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


class Deaf(Caller):
    """A client that loses each piece of an answer once."""

    def read(self, segment):
        sequence = segment[4:8]
        if len(segment) > (segment[12] >> 4) * 4 and sequence not in self.lost:
            self.lost.add(sequence)
            return
        super().read(segment)

    def __init__(self, wire, port):
        self.lost = set()
        super().__init__(wire, port)


def disorder(wire, said):
    """Test a request whose segments come twice and in another order, and an answer whose segments are lost."""
    body = b'{"messages":[{"role":"user","content":"%s"}],"temperature":0,"max_tokens":60}' % QUESTION.encode()
    text = b"POST /v1/chat/completions HTTP/1.1\r\nhost: 10.0.2.15\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body)
    caller, step = Deaf(wire, 950), len(text) // 5 + 1
    begin = caller.sequence
    for i in (2, 0, 0, 3, 1, 4, 1, 2, 3, 4):
        caller.sequence = begin + i * step
        caller.send(PUSH_ACK, text[i * step:(i + 1) * step])
    caller.sequence = begin + len(text)
    take(wire, [caller], 20, lambda: caller.body() or caller.reset)
    answer = caller.body()
    caller.send(RST)
    tap.ok(caller.lost and answer and json.loads(answer)["choices"][0]["message"]["content"] in said,
           f"segments that come twice, in another order or not at all change no answer; {len(caller.lost)} of the board's were lost", f"{caller.got}\n{said}")


class Sipping(Caller):
    """Test a client that takes a little of its answer every few seconds."""

    window, at = 2920, 0

    def frame(self, flags, data):
        f = bytearray(super().frame(flags, data))
        f[48:50] = struct.pack(">H", self.window)
        return good(bytes(f))

    def read(self, segment):
        head, seen = (segment[12] >> 4) * 4, self.theirs - struct.unpack_from(">I", segment, 4)[0]
        if 0 < seen < len(segment) - head:  # the segment's beginning was received before
            segment = segment[:4] + struct.pack(">I", self.theirs) + segment[8:head] + segment[head + seen:]
        self.window = 0
        super().read(segment)

    def done(self):
        """Return True at the end of the answer; until then open the window again and again."""
        if time.monotonic() - self.at > 4:
            self.at, self.window = time.monotonic(), 2920
            self.send(ACK)
        return self.reset


def sip(wire, c, port, page, body):
    """At this speed the answer would take minutes, so the board drops the client."""
    body, began = json.dumps(body).encode(), time.monotonic()
    slow = Sipping(wire, port)
    slow.send(PUSH_ACK, b"POST /v1/%s HTTP/1.1\r\nhost: 10.0.2.15\r\ncontent-length: %d\r\n\r\n%s" % (page, len(body), body))
    take(wire, [slow], 60, slow.done)
    took = time.monotonic() - began
    tap.ok(slow.answered() and slow.reset and 10 < took and "15" in c.ask(QUESTION),
           f"a client that takes its answer of {page.decode()} little by little is dropped after {took:.0f} s, and the line answers", f"{slow.got[:300]}")


def told(callers):
    return str([(c.port, "reset" if c.reset else c.got[:20]) for c in callers if not c.answered()])


def quiet_one(wire, port):
    """A client connects, and sends its request after eight others have connected. Returns None if this computer took so long that the board
    may have dropped the client."""
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
    for n in (CLIENTS, MORE):  # in steps, because the board takes only so many clients at once
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


wire = Wire(ARM64)
if not os.path.exists(wire.image):
    tap.skip("a board on a bad network", "lwIP's source is not there: make setup-tests, then make test-images")
else:
    card = card_arguments(make_card("net_storm.img", os.path.join(ROOT, "models/demo-q8_0.ingot")))
    with Console(wire, "temp=0 n=60 quiet term=plain net=10.0.2.15/24,10.0.2.2,open", card) as c:
        c.prompt()
        for name, frames in STORMS.items():
            storm(wire, frames)
            tap.ok("15" in c.ask(QUESTION), f"after {FRAMES} frames, {name}, the line answers", c.seen)
        tap.ok(lets_in(wire), "the board lets a client in after the storm")
        disorder(wire, c.ask("/reset") + c.ask(QUESTION))
        small_segments(wire)
        sip(wire, c, 960, b"embeddings", {"input": ["f"] * 100})
        sip(wire, c, 961, b"completions", {"prompt": "Once upon a time", "max_tokens": 400, "temperature": 2, "seed": 3, "stream": True, "logprobs": 5})
        crowd(wire)

tap.done()
