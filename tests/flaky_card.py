"""Cards that fail while an image in QEMU uses them: read errors of one sector or of all, and cards that become slow or silent or
are replaced. The tests in faults/ use this."""

import itertools
import json
import os
import re
import socket
import subprocess
import threading
import time

from machine import ARM64, WORK, make_card, text_of

SECONDS = 240  # for every wait; on an idle computer a few are enough
NUMBERS = itertools.count()
CARD_DEVICE = ("-device", "virtio-blk-device,drive=paced")
SHORT = ("-icount", "shift=5,sleep=off")  # 32 ns of the board's time per instruction, for which QEMU needs 2 or 3 ns


def card_of(path):
    """(the card, the number of its sector at which the model begins)"""
    card = make_card(os.path.basename(path) + ".img", path)
    with open(path, "rb") as f:
        head = f.read(4096)
    with open(card, "rb") as f:
        return card, f.read().index(head) // 512


def rule(at, once):
    """A rule for QEMU that makes reads of the sector `at` fail, or of any sector if `at` is None."""
    where = {} if at is None else {"sector": at}
    return {"event": "read_aio", "iotype": "read", "errno": 5, "once": once, **where}


def ids_of(text):
    """(the ids of the reply or None, its text)"""
    ids = re.search(r"^ids:((?: \d+)*)$", text, re.M)
    return (ids.group(1).split() if ids else None), text


class Session:
    """An image in QEMU with a person at its line who can exchange its card; `well`: the path of a card that never fails."""

    well = None

    def __init__(self, card, words, rules=(), bps=0, machine=ARM64, start="card", device=CARD_DEVICE, more=(), short=False):
        """device: the device with the drive `paced`; more: names of other faulty drives, and their rules; short: the board's clock counts
        instructions and runs fast, so that time-outs are short."""
        self.monitor = os.path.join(WORK, f"stream-{os.getpid()}-{next(NUMBERS)}.sock")
        drives = ["-object", json.dumps({"qom-type": "throttle-group", "id": "pace",
                                         "limits": {"bps-read": bps, "bps-read-max": bps}})]
        for name, path, faults in (("card", card, rules), ("well", self.well, []),
                                   ("dead", self.well, [rule(None, False)]), *((n, card, r) for n, r in more)):
            drives += ["-blockdev", json.dumps(
                {"driver": "raw", "node-name": name, "read-only": True,
                 "file": {"driver": "blkdebug", "read-only": True,
                          "image": {"driver": "file", "filename": path, "read-only": True},
                          **({"inject-error": list(faults)} if faults else {})}})]
        drives += ["-blockdev", json.dumps(self.slot(start)), *(SHORT if short else ()),
                   *device, "-qmp", f"unix:{self.monitor},server=on,wait=off"]
        self.raw = b""
        self.at = 0
        self.process = subprocess.Popen(machine.command(words, 1, drives), stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    @staticmethod
    def slot(card):
        return {"driver": "throttle", "node-name": "paced", "read-only": True,
                "throttle-group": "pace", "file": card}

    def read(self):
        while True:
            piece = os.read(self.process.stdout.fileno(), 4096)
            if not piece:
                return
            self.raw += piece

    @property
    def seen(self):
        return text_of(self.raw)

    def wait(self, pattern, seconds=SECONDS):
        """The text since the last wait, up to the pattern; None if the pattern did not come."""
        end = time.time() + seconds
        while time.time() < end:
            found = re.compile(pattern, re.M).search(self.seen, self.at)
            if found:
                text = self.seen[self.at:found.end()]
                self.at = found.end()
                return text
            if self.process.poll() is not None and not self.reader.is_alive():
                return None
            time.sleep(0.02)
        return None

    def send(self, line):
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, line):
        """(the ids of the reply or None, its text on the console)"""
        self.send(line)
        return ids_of(self.wait(r"^> ") or self.seen[self.at:])

    def qmp(self, *commands):
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(SECONDS)
            line.connect(self.monitor)
            stream = line.makefile("rw")
            stream.readline()
            for command, arguments in [("qmp_capabilities", {}), *commands]:
                stream.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
                stream.flush()
                while True:
                    answer = json.loads(stream.readline())
                    if "return" in answer or "error" in answer:
                        break
                if "error" in answer:
                    raise RuntimeError(f"{command}: {answer['error']}")

    def pace(self, bps):
        """Set the card's rate. 0 means as fast as possible; 1 means hardly a byte, as from a silent card."""
        self.qmp(("qom-set", {"path": "/objects/pace", "property": "limits",
                              "value": {"bps-read": bps, "bps-read-max": bps}}))

    def swap(self, card):
        """Put another card into the slot: the first one, a "well" one, or a "dead" one."""
        self.qmp(("blockdev-reopen", {"options": [self.slot(card)]}))

    def close(self):
        self.process.kill()
        self.process.wait()
        self.reader.join(10)
        self.process.stdin.close()
        self.process.stdout.close()
        if os.path.exists(self.monitor):
            os.unlink(self.monitor)
