"""A virt machine with a network card in QEMU, for suites that talk to its server."""

import http.client
import json
import os
import re
import socket
import time

from machine import ARM64, BUILD

IMAGE = os.path.join(BUILD, ARM64.board, "net.bin")


class NetBoard:
    """A machine for talk.Console. TCP to `port` on this computer's loopback reaches the board's server."""

    def __init__(self, machine=ARM64):
        self.machine, self.board = machine, machine.board
        self.image = os.path.join(BUILD, machine.board, "net.bin")
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def command(self, words, cores=1, drives=()):
        network = ["-netdev", f"user,id=lan,ipv6=off,restrict=on,hostfwd=tcp:127.0.0.1:{self.port}-:80", "-device", "virtio-net-device,netdev=lan"]
        return self.machine.command(words, cores, list(drives) + network, self.image)

    def connect(self, wait):
        """QEMU's listening socket has a backlog of 1. This computer drops a connection beyond it, and tries again only after a second, so open
        a new connection instead."""
        late = time.monotonic() + wait
        while True:
            try:
                s = socket.create_connection(("127.0.0.1", self.port), 0.1)
                s.settimeout(wait)
                return s
            except TimeoutError:
                if time.monotonic() > late:
                    raise

    def ask(self, method, path, body=None, wait=60):
        """(status, body) of the answer to a request"""
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=wait)
        try:
            c.sock = self.connect(wait)
            c.request(method, path, None if body is None else json.dumps(body))
            r = c.getresponse()
            return r.status, r.read().decode()
        finally:
            c.close()


def reply_of(text):
    """The reply to a turn on the serial line with `ids` and `quiet`, which is between the echo and the ids, without progress lines."""
    lines = re.search(r"\n(.*?)\n+ids:", text, re.S)[1].strip().split("\n")
    return "\n".join(line for line in lines if not re.match(r"\[ *[0-9.]+\] ", line))
