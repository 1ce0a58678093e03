"""A replacement for Web Serial: a script for the page. Its port is a board's socket, reached through a WebSocket to a relay here; each opening of the
port makes a new WebSocket. The port can be closed and reopened at another rate, unplugged, and have rates that lose all data."""

import os
import select
import socket
import subprocess
import threading
import time

from machine import ARM64, listens
from web_socket import BINARY, FINAL, Server

SCRIPT = """(() => {
  window.rates = [];
  const port = {
    async open(o) {
      if (port.socket) throw new DOMException('The port is already open.', 'InvalidStateError');
      const socket = new WebSocket('ws://127.0.0.1:%d/' + o.baudRate);
      let live = true;
      socket.binaryType = 'arraybuffer';
      await new Promise((good, bad) => { socket.onopen = good; socket.onerror = () => bad(new DOMException('Failed to open serial port.', 'NetworkError')); });
      window.rates.push(o.baudRate);
      port.socket = socket;
      port.readable = new ReadableStream({
        start(c) {
          socket.onmessage = e => { if (live) c.enqueue(new Uint8Array(e.data)); };
          window.unplug = () => { live = false; socket.close(); c.error(new DOMException('The device has been lost.', 'NetworkError')); };
        },
        cancel() { live = false; },
      });
      port.writable = new WritableStream({ write(b) { socket.send(b); } });
    },
    async close() {
      if (port.readable?.locked || port.writable?.locked) throw new TypeError('Cannot cancel a locked stream');
      const socket = port.socket;
      port.socket = port.readable = port.writable = null;
      if (socket.readyState === WebSocket.CLOSED) return;
      await new Promise(done => { socket.onclose = done; socket.close(); });
    },
  };
  Object.defineProperty(navigator, 'serial', { value: { requestPort: async () => port } });
})();"""


class Board:
    """A board in QEMU with a writable card; its line is a socket."""

    def __init__(self, folder, card, words, machine=ARM64, cores=1, drives=None):
        self.path = os.path.join(folder, "line")
        drives = drives or ["-drive", f"if=none,id=card,format=raw,file.locking=off,file={card}", "-device", "virtio-blk-device,drive=card"]
        self.process = subprocess.Popen(machine.command(words, cores, drives) + ["-serial", f"unix:{self.path},server=on,wait=off"],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        late = time.monotonic() + 20
        while not listens(self.path) and time.monotonic() < late:
            time.sleep(0.02)
        self.line = socket.socket(socket.AF_UNIX)
        self.line.connect(self.path)

    def kill(self):
        self.process.kill()
        self.process.wait()


class Carrier:
    """deaf: rates at which no byte arrives; seen: bytes sent to the board."""

    def __init__(self, line):
        self.line, self.deaf, self.seen = line, set(), b""
        self.server = Server(self.carry)

    def carry(self, page, path):
        """Carry bytes in both directions while the port is open at this rate; afterwards nobody reads the board's line."""
        rate, closed = path[1:], threading.Event()
        outward = threading.Thread(target=self.from_board, args=(page, rate, closed), daemon=True)
        outward.start()
        while (message := page.message()) is not None:
            if message[0] == BINARY and rate not in self.deaf:
                self.seen = (self.seen + message[1])[-100000:]
                self.line.sendall(message[1])
        closed.set()
        outward.join()

    def from_board(self, page, rate, closed):
        while not closed.is_set():
            try:
                data = self.line.recv(4096) if select.select([self.line], [], [], 0.05)[0] else b""
            except OSError:  # the board has ended
                return
            if data and rate not in self.deaf:
                page.frame(data, FINAL | BINARY)

    def script(self):
        return SCRIPT % self.server.port
