"""Boards in QEMU whose serial line is a socket, to test programs that talk to boards: `ingot send`, `ingot serve`, the
clients."""

import atexit
import os
import subprocess
import time

from machine import listens


class Board:
    """A board that runs until it is killed; `line` is the name by which programs open its serial line."""

    def __init__(self, machine, folder, name, card, words="mode=json", cores=1, writes=False, pace=0):
        """folder must be short, because a socket's path has at most 107 bytes. writes: the card can be written. pace: bytes per second that
        the card delivers."""
        drive = f"if=none,id=card,format=raw,file.locking=off,file={card}"
        drive += "" if writes else ",readonly=on"
        drive += f",throttling.bps-total={pace}" if pace else ""
        self.path = os.path.join(folder, name)
        self.line = "unix:" + self.path
        self.command = machine.command(words, cores, ["-drive", drive, "-device", "virtio-blk-device,drive=card"])
        self.start()

    def start(self):
        """Wait until a program can connect to the line."""
        self.process = subprocess.Popen(self.command + ["-serial", self.line + ",server=on,wait=off"], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        atexit.register(self.process.kill)
        late = time.monotonic() + 20
        while not listens(self.path) and time.monotonic() < late:
            time.sleep(0.02)

    def kill(self):
        """End the board immediately, like a power cut."""
        self.process.kill()
        self.process.wait()
        if os.path.exists(self.path):
            os.unlink(self.path)
