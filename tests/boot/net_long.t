#!/usr/bin/python3
"""Boards on QEMU's network get requests for a long time: good requests, broken requests, and requests of four clients at once. At the end as much
memory is in use as at the beginning, the high-water marks have not grown, and the serial line answers. With INGOT_LONG there are
10,000 good and 1,000 broken requests."""

import http.client
import json
import os
import random
import socket
import sys
import time
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import ARM64, LONG, RISCV64_ANY, ROOT, WORK, Tap, card_arguments, make_card
from net_board import NetBoard
from talk import Console

tap = Tap()
chance = random.Random(3)
os.makedirs(WORK, exist_ok=True)
GOOD, WRONG, ROUNDS, WAIT, QUESTION = (10000, 1000, 10, 60, "What is 7 plus 8?") if LONG else (400, 100, 4, 60, "What is 7 plus 8?")
QUEUE = {"messages": [{"role": "user", "content": QUESTION}], "temperature": 0, "max_tokens": 24}
BODY = json.dumps(QUEUE).encode()


class Net(NetBoard):
    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT)


def ask(c, method, path, body=None):
    c.request(method, path, body)
    r = c.getresponse()
    return r.status, r.read().decode()


def stats(net):
    c = net.connect()
    try:
        return json.loads(ask(c, "GET", "/stats")[1])
    finally:
        c.close()


def good(net, n):
    """Twenty requests on each persistent connection; returns how many were answered."""
    answered, c = 0, net.connect()
    for i in range(n):
        if i % 20 == 19:
            c.close()
            c = net.connect()
        try:
            answered += ask(c, "GET", ("/health", "/v1/models")[i % 2])[0] == 200
        except (OSError, http.client.HTTPException):
            c.close()
            c = net.connect()
    c.close()
    return answered


def broken(net):
    """A request that is cut or changed at a random place."""
    data = bytearray(b"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: %d\r\n\r\n%s" % (len(BODY), BODY))
    if chance.random() < 0.5:
        del data[chance.randrange(len(data)):]
    else:
        for _ in range(chance.randrange(1, 6)):
            data[chance.randrange(40)] = chance.randrange(256)
    try:
        with socket.create_connection(("127.0.0.1", net.port), timeout=WAIT) as s:
            s.sendall(bytes(data))
            if chance.random() < 0.3:
                s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    except OSError:
        pass


def settled(net):
    late = time.monotonic() + 90
    while (now := stats(net))["connections"] > 1 and time.monotonic() < late:
        time.sleep(0.5)
    return now


def chat(net):
    """(the answer's text, its number of tokens)"""
    for _ in range(20):  # QEMU takes one connection after the other, and resets the next ones
        try:
            c = net.connect()
            status, text = ask(c, "POST", "/v1/chat/completions", BODY)
            c.close()
        except (OSError, http.client.HTTPException):
            time.sleep(0.1)
            continue
        if status == 200:
            answer = json.loads(text)
            return answer["choices"][0]["message"]["content"], answer["usage"]["completion_tokens"]
        if status != 429:
            return None, 0
        time.sleep(0.2)
    return None, 0


def at_once(net, n):
    with ThreadPoolExecutor(n) as pool:
        return list(pool.map(lambda _: chat(net), range(n)))


def check_parallel(net, board):
    """Eight clients at once get the same answer as one client alone."""
    began = time.monotonic()
    alone = chat(net)
    one = alone[1] / (time.monotonic() - began)
    began = time.monotonic()
    answers = at_once(net, 8)
    eight = sum(n for _, n in answers) / (time.monotonic() - began)
    tap.ok(alone[0] and answers == [alone] * 8,
           f"{board}: eight clients at once get the same answer as one: {one:.1f} tokens/s alone, {eight:.1f} together, in this emulator", f"{alone} {answers}")
    return alone


def check_long(net, board, c):
    alone = check_parallel(net, board)
    good(net, 40)
    for _ in range(20):
        broken(net)
    before = settled(net)
    began, answered, wrong, marks = time.monotonic(), 0, [], []
    for _ in range(ROUNDS):
        answered += good(net, GOOD // ROUNDS)
        for _ in range(WRONG // ROUNDS):
            broken(net)
        wrong += [answer for answer in at_once(net, 4) if answer != alone]
        marks.append(settled(net))
    took = time.monotonic() - began
    after = marks[-1]
    tap.note(f"{board}: {GOOD} requests, {WRONG} broken ones and {4 * ROUNDS} replies in {took:.0f} s: " +
             ", ".join(f"{name} {before[name]} -> {after[name]}" for name in after))
    tap.ok(answered >= 0.99 * GOOD, f"{board}: {answered} of {GOOD} good requests were answered", str(marks))
    tap.ok(wrong == [] and after["passes"] > before["passes"], f"{board}: four clients at once got the same answer {ROUNDS} times", str(wrong))
    tap.ok(after["connections"] <= 1 and after["heap_bytes"] <= before["heap_bytes"] + 2048 and after["heap_refused"] == 0,
           f"{board}: memory in use is the same as at the start: {before['heap_bytes']} and {after['heap_bytes']} bytes", f"{before}\n{after}")
    tap.ok(marks[-1]["heap_most"] <= 48 * 1024 and marks[-1]["heap_most"] - marks[0]["heap_most"] <= 4096,
           f"{board}: its high-water mark stays, {marks[0]['heap_most']} and {marks[-1]['heap_most']} bytes", str(marks))
    tap.ok("15" in c.say(QUESTION), f"{board}: the line answers", c.seen)


for machine in (ARM64, RISCV64_ANY):
    net, board = Net(machine), machine.board
    if not os.path.exists(net.image):
        tap.skip(f"{board}: a board that is asked for a long time", "lwIP's source is not there: make setup-tests, then make test-images")
        continue
    card = card_arguments(make_card(f"net-long-{board}.img", os.path.join(ROOT, "models/demo-q8_0.ingot")))
    with Console(net, "temp=0 n=24 quiet term=plain net=dhcp,open", card) as c:
        c.expect(r"network: http://10\.0\.2\.15")
        c.prompt()
        check_long(net, board, c)
tap.done()
