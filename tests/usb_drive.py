"""A simulated USB drive at a port of a board in QEMU: usb-redir's protocol on a socket, with Bulk-Only Transport and SCSI behind it. Unlike QEMU's
drive it can fall silent in the middle of a read, stall, babble, or return too little. Section numbers refer to the usbredir protocol 0.7, Bulk-Only
Transport 1.0, SPC-4 and SBC-3."""

import os
import socket
import struct
import threading
import time

from machine import listens

HELLO, CONNECT, DISCONNECT, RESET, INTERFACES, ENDPOINTS, SET_CONFIGURATION, GET_CONFIGURATION, CONFIGURATION = range(9)
SET_ALTERNATIVE, GET_ALTERNATIVE, ALTERNATIVE, CANCEL = 9, 10, 11, 21
CONTROL, BULK = 100, 101
GOOD, CANCELLED, WIRE, STALL, BABBLE = 0, 1, 3, 4, 6  # usb_redir_status
CAPABILITIES = 1 << 1 | 1 << 4 | 1 << 5 | 1 << 6  # the device's version, its packet sizes, ids of 64 bits, lengths of 32 bits
FAST, BULK_KIND, NO_KIND = 2, 2, 255
IN, OUT = 0x81, 0x02
SECONDS = 60


def control(serial):
    """The drive's descriptors, by (type of request, request, value)."""
    device = struct.pack("<BBHBBBBHHHBBBB", 18, 1, 0x200, 0, 0, 0, 64, 0x1209, 0x1960, 0x100, 0, 0, 1, 1)
    ends = b"".join(struct.pack("<BBBBHB", 7, 5, end, 2, 512, 0) for end in (IN, OUT))
    configuration = struct.pack("<BBHBBBBB", 9, 2, 9 + 9 + len(ends), 1, 1, 0, 0x80, 50)
    configuration += bytes([9, 4, 0, 0, 2, 8, 6, 0x50, 0]) + ends
    name = serial.encode("utf-16-le")
    return {(0x80, 6, 0x100): device, (0x80, 6, 0x200): configuration, (0x80, 6, 0x301): bytes([2 + len(name), 3]) + name,
            (0xA1, 0xFE, 0): b"\0"}


class UsbDrive:
    """fault: what goes wrong at the next `times` reads: "silent" (no data come), "stall", "short" (half of them), "babble", "wire"
    (errors of packets), "tag" (the status is another command's). times None: at each read. "mute": the drive answers nothing at
    all."""

    def __init__(self, path, image, serial="1"):
        self.path, self.image, self.said = path, image, control(serial)
        self.fault = self.times = None
        self.line = self.ids = None

    @staticmethod
    def arguments(path):
        return ["-device", "qemu-xhci,id=usb", "-chardev", f"socket,id=drive,path={path},server=on,wait=off", "-device",
                "usb-redir,chardev=drive,bus=usb.0"]

    def plug(self):
        self.line = socket.socket(socket.AF_UNIX)
        self.line.settimeout(SECONDS)
        self.line.connect(self.path)
        self.ids = "<III"  # ids have 32 bits until both sides have said hello
        self.forget()
        threading.Thread(target=self.serve, args=(self.line,), daemon=True).start()

    def pull(self):
        self.line.shutdown(socket.SHUT_RDWR)
        self.line.close()

    def fail(self, fault, times=None):
        self.fault, self.times = fault, times

    def forget(self):
        """After a reset no command is running."""
        self.command, self.data, self.moved = None, None, 0

    # ---- packets ----

    def send(self, kind, body, number=0):
        self.line.sendall(struct.pack(self.ids, kind, len(body), number) + body)

    def take(self, line, n):
        data = b""
        while len(data) < n:
            piece = line.recv(n - len(data))
            if not piece:
                raise ConnectionError
            data += piece
        return data

    def serve(self, line):
        with open(self.image, "r+b") as self.disk:
            try:
                self.send(HELLO, b"ingot's tests".ljust(64, b"\0") + struct.pack("<I", CAPABILITIES))
                while True:
                    kind, n, number = struct.unpack(self.ids, self.take(line, struct.calcsize(self.ids)))
                    self.obey(kind, self.take(line, n), number)
            except TimeoutError:
                raise
            except OSError:
                pass  # pulled, or the board is gone

    def greet(self):
        self.ids = "<IIQ"
        kinds, of = bytearray([NO_KIND] * 32), [0] * 32
        kinds[0] = kinds[16] = 0
        for end in (IN, OUT):
            at = (end & 0x80) >> 3 | end & 15
            kinds[at], of[at] = BULK_KIND, 512
        self.send(ENDPOINTS, bytes(kinds) + bytes(64) + struct.pack("<32H", *of))
        self.send(INTERFACES, struct.pack("<I", 1) + bytes(32) + b"".join(bytes([b]).ljust(32, b"\0") for b in (8, 6, 0x50)))
        self.send(CONNECT, struct.pack("<BBBBHHH", FAST, 0, 0, 0, 0x1209, 0x1960, 0x100))

    def obey(self, kind, body, number):
        if kind == HELLO:
            self.greet()
        elif kind == RESET:
            self.forget()
        elif kind == SET_CONFIGURATION:
            self.send(CONFIGURATION, bytes([GOOD]) + body[:1], number)
        elif kind == GET_CONFIGURATION:
            self.send(CONFIGURATION, bytes([GOOD, 1]), number)
        elif kind in (SET_ALTERNATIVE, GET_ALTERNATIVE):
            self.send(ALTERNATIVE, bytes([GOOD, body[0], 0]), number)
        elif kind == CANCEL:
            self.send(BULK, struct.pack("<BBHIH", IN, CANCELLED, 0, 0, 0), number)
        elif kind == CONTROL:
            self.answer_control(body, number)
        elif kind == BULK:
            self.answer_bulk(body, number)

    def answer_control(self, body, number):
        end, request, kind, _, value, index, wanted = struct.unpack("<BBBBHHH", body[:10])
        data, status = self.said.get((kind, request, value), b"")[:wanted], GOOD
        if self.fault == "mute":
            return
        if kind & 0x80 and not data:
            status = STALL
        self.send(CONTROL, struct.pack("<BBBBHHH", end, request, kind, status, value, index, len(data) if kind & 0x80 else wanted) +
                  data, number)

    def answer_bulk(self, body, number):
        end, _, low, stream, high = struct.unpack("<BBHIH", body[:10])
        wanted, status, data = low | high << 16, GOOD, b""
        if self.fault == "mute":
            return
        if end == OUT:
            self.take_bytes(body[10:])
        else:
            status, data = self.give_bytes(wanted)
            if status is None:
                return
        n = wanted if end == OUT else len(data)
        self.send(BULK, struct.pack("<BBHIH", end, status, n & 0xFFFF, stream, n >> 16) + data, number)

    # ---- the transport and its commands ----

    def take_bytes(self, data):
        if self.command is None:
            _, self.tag, self.wanted, _, _, _ = struct.unpack("<IIIBBB", data[:15])
            self.command, self.data, self.moved, self.failed = data[15:31], b"", 0, False
            self.begin()
        else:
            self.disk.write(data)
            self.moved += len(data)

    def block(self):
        is_long = self.command[0] & 0x80
        return struct.unpack(">QI" if is_long else ">IxH", self.command[2:14] if is_long else self.command[2:9])

    def begin(self):
        """The data for a command, and whether it is refused."""
        code, size = self.command[0], os.path.getsize(self.image) // 512
        if code == 0x12:
            self.data = bytes([0, 0x80, 6, 2, 31]).ljust(36, b"\0")
        elif code == 0x25:
            self.data = struct.pack(">II", size - 1, 512)
        elif code == 0x1A:
            self.data = bytes([3, 0, 0, 0])
        elif code == 0x03:
            self.data = bytes([0x70, 0, 3, 0, 0, 0, 0, 10]).ljust(18, b"\0")
        elif code in (0x28, 0x88, 0x2A, 0x8A):
            at, n = self.block()
            self.disk.seek(at * 512)
            if code in (0x28, 0x88):
                self.data = self.disk.read(n * 512)
        else:
            self.failed = code not in (0x00, 0x35)

    def is_reading(self):
        return self.command[0] in (0x28, 0x88)

    def happens(self, *faults):
        """True if one of these faults must happen now; the fault's count decreases by one."""
        if not self.is_reading() or self.fault not in faults or self.times == 0:
            return False
        if self.times:
            self.times -= 1
        return True

    def give_bytes(self, wanted):
        """(status, data) for the command's data or its end; without a status nothing is sent."""
        if self.command is None:
            return STALL, b""
        if not self.data:
            tag = self.tag + self.happens("tag")
            self.command = None
            return GOOD, struct.pack("<IIIB", 0x53425355, tag, self.wanted - self.moved, self.failed)
        data, self.data = self.data[:wanted], b""
        if self.happens("silent"):
            return None, b""
        if self.happens("short"):
            data = data[:len(data) // 2]
        elif self.happens("stall", "babble", "wire"):
            self.failed = True
            return {"stall": STALL, "babble": BABBLE, "wire": WIRE}[self.fault], b""
        self.moved += len(data)
        return GOOD, data


def wait_for(path, seconds=SECONDS):
    """Wait until QEMU listens at the path."""
    late = time.monotonic() + seconds
    while not listens(path) and time.monotonic() < late:
        time.sleep(0.02)
