"""A PCI Express slot in QEMU from which a drive is pulled while it works. QEMU waits until the slot's power is switched off, which a guest that
handles hot-plug would do; here a debugger's connection writes the register."""

import os
import re
import socket
import time

from machine import WORK
from talk import Monitor

ECAM = {"virt-arm64": 0x4010000000, "virt-riscv64": 0x30000000}
PORT = 1 << 15           # device 1 of bus 0
CAPABILITIES, EXPRESS = 0x34, 0x10
SLOT_CONTROL = 0x18      # PCI Express Base Specification 3.0, 7.8.10
ON, OFF = 0x03C0, 0x0700  # power controller, bit 10; power indicator off, bits 9:8
SECONDS = 30


class Slot:
    def __init__(self, machine, name):
        self.port = ECAM[machine.board] + PORT
        self.paths = [os.path.join(WORK, f"{name}-{machine.board}.{kind}") for kind in ("qmp", "gdb")]
        self.monitor = None

    def arguments(self, blockdev):
        """An NVMe drive in the slot, with the blocks of the node."""
        for path in self.paths:
            if os.path.exists(path):
                os.unlink(path)
        return [*blockdev, "-device", "pcie-root-port,id=hole,chassis=1", "-device", "nvme,id=fast,bus=hole,drive=node,serial=ingot",
                "-qmp", f"unix:{self.paths[0]},server=on,wait=off", "-gdb", f"unix:{self.paths[1]},server=on,wait=off"]

    def _switch(self, value):
        """Write the slot's control register, while the machine is stopped."""
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(SECONDS)
            s.connect(self.paths[1])

            def ask(text):
                s.sendall(b"$%s#%02x" % (text.encode(), sum(text.encode()) & 255))
                got = b""
                while not re.search(rb"\$[^#]*#..", got):
                    got += s.recv(4096)
                s.sendall(b"+")
                return re.search(rb"\$([^#]*)#", got).group(1).decode()

            assert ask("Qqemu.PhyMemMode:1") == "OK"
            at = int(ask(f"m{self.port + CAPABILITIES:x},1"), 16)
            while at and int(ask(f"m{self.port + at:x},1"), 16) != EXPRESS:
                at = int(ask(f"m{self.port + at + 1:x},1"), 16)
            assert at != 0
            assert ask(f"M{self.port + at + SLOT_CONTROL:x},2:{value & 255:02x}{value >> 8:02x}") == "OK"
            s.sendall(b"$D#44")
            s.recv(16)

    def pull(self):
        self.monitor = self.monitor or Monitor(self.paths[0])
        assert "return" in self.monitor.do("device_del", id="fast")
        self._switch(OFF)

    def put_back(self, serial="ingot"):
        """QEMU keeps the file until the last read of the old drive has ended."""
        late = time.monotonic() + SECONDS
        while "return" not in (said := self.monitor.do("device_add", driver="nvme", id="fast", bus="hole", drive="node",
                                                       serial=serial)):
            assert time.monotonic() < late, said
            time.sleep(0.2)
        self._switch(ON)
