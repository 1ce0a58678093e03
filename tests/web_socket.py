"""WebSockets (RFC 6455) as far as tests need them: a client of a server, and a server for a page."""

import base64
import hashlib
import os
import socket
import struct
import threading

TEXT, BINARY, CLOSE, PING = 1, 2, 8, 9
FINAL = 0x80
GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class Frames:
    """Messages over a socket. masks: frames are masked, as a client must do; head: the lines before the frames, up to the empty line."""

    def __init__(self, s, masks):
        self.s, self.masks, self.bytes = s, masks, b""
        self.lock = threading.Lock()  # for sending
        while b"\r\n\r\n" not in self.bytes and self.more():
            pass
        self.head, _, self.bytes = self.bytes.partition(b"\r\n\r\n")

    def more(self):
        try:
            data = self.s.recv(65536)
        except OSError:
            data = b""
        self.bytes += data
        return bool(data)

    def take(self, n):
        while len(self.bytes) < n:
            if not self.more():
                return None
        data, self.bytes = self.bytes[:n], self.bytes[n:]
        return data

    def frame(self, data, first=FINAL | TEXT):
        n, mark = len(data), 0x80 if self.masks else 0
        length = bytes([mark | n]) if n < 126 else bytes([mark | 126]) + struct.pack(">H", n) if n < 65536 else bytes([mark | 127]) + struct.pack(">Q", n)
        if self.masks:
            mask = os.urandom(4)
            data = mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data))
        try:
            with self.lock:
                self.s.sendall(bytes([first]) + length + data)
        except OSError:
            pass

    def message(self):
        """(kind, bytes) of the next frame; None if the socket is closed."""
        head = self.take(2)
        if head is None:
            return None
        n = head[1] & 127
        if n >= 126:
            more = self.take(2 if n == 126 else 8)
            if more is None:
                return None
            n = int.from_bytes(more, "big")
        mask = self.take(4) if head[1] & 0x80 else bytes(4)
        data = self.take(n) if mask is not None else None
        if data is None or head[0] & 15 == CLOSE:
            return None
        return head[0] & 15, data if mask == bytes(4) else bytes(b ^ mask[i % 4] for i, b in enumerate(data))


class Client(Frames):
    """A WebSocket of a server on this computer. status: the status of the server's answer (101 if the socket is open), or 0 if there was no answer."""

    def __init__(self, port, path, **headers):
        s = socket.create_connection(("127.0.0.1", port), timeout=60)
        all_ = {"Host": f"127.0.0.1:{port}", "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
                "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode(), **headers}
        s.sendall((f"GET {path} HTTP/1.1\r\n" + "".join(f"{k}: {v}\r\n" for k, v in all_.items()) + "\r\n").encode())
        super().__init__(s, True)
        self.status = int(self.head.split()[1]) if self.head else 0


class Server:
    """talk(frames, path) handles each socket in a separate thread until it returns."""

    def __init__(self, talk):
        self.talk = talk
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        while True:
            s, _ = self.listener.accept()
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self.serve, args=(s,), daemon=True).start()

    def serve(self, s):
        with s:
            frames = Frames(s, False)
            lines = frames.head.split(b"\r\n")
            key = [line.split(b":", 1)[1].strip() for line in lines if line.lower().startswith(b"sec-websocket-key:")]
            if not key:
                return
            accept = base64.b64encode(hashlib.sha1(key[0] + GUID).digest())
            s.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " + accept + b"\r\n\r\n")
            self.talk(frames, lines[0].split()[1].decode())
            frames.frame(b"", FINAL | CLOSE)
