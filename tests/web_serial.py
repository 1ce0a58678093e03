"""In the place of Web Serial: a script for the page whose port is a board's socket, over HTTP to a carrier here. The port can be
closed and opened at another rate, unplugged, and have rates that do not get through."""

import http.server
import os
import select
import socket
import subprocess
import threading
import time

from machine import ARM64

SCRIPT = """(() => {
  const at = 'http://127.0.0.1:%d/';
  window.rates = [];
  const port = {
    async open(o) {
      if (port.closing) throw new DOMException('The port is already open.', 'InvalidStateError');
      let live = true;
      const stop = new AbortController();
      window.rates.push(o.baudRate);
      port.readable = new ReadableStream({
        start(c) { window.unplug = () => { live = false; stop.abort(); c.error(new DOMException('The device has been lost.', 'NetworkError')); }; },
        async pull(c) {
          while (live) {
            const r = await fetch(at + o.baudRate, { signal: stop.signal }).catch(() => null), b = new Uint8Array(r ? await r.arrayBuffer().catch(() => new ArrayBuffer(0)) : 0);
            if (b.length && live) { c.enqueue(b); return; }
          }
        },
        cancel() { live = false; stop.abort(); },
      });
      port.writable = new WritableStream({ write: async b => { await fetch(at + o.baudRate, { method: 'POST', body: b }); } });
      port.closing = async () => { live = false; port.readable = port.writable = null; };
    },
    async close() {
      if (port.readable?.locked || port.writable?.locked) throw new TypeError('Cannot cancel a locked stream');
      await port.closing();
      port.closing = null;
    },
  };
  Object.defineProperty(navigator, 'serial', { value: { requestPort: async () => port } });
})();"""


class Board:
    """One in QEMU whose card takes writes; its line is a socket."""

    def __init__(self, folder, card, words, machine=ARM64, cores=1, drives=None):
        self.path = os.path.join(folder, "line")
        drives = drives or ["-drive", f"if=none,id=card,format=raw,file.locking=off,file={card}", "-device", "virtio-blk-device,drive=card"]
        self.process = subprocess.Popen(machine.command(words, cores, drives) + ["-serial", f"unix:{self.path},server=on,wait=off"],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        late = time.monotonic() + 20
        while not os.path.exists(self.path) and time.monotonic() < late:
            time.sleep(0.02)
        self.line = socket.socket(socket.AF_UNIX)
        self.line.connect(self.path)

    def kill(self):
        self.process.kill()
        self.process.wait()


class Carrier:
    """deaf: rates at which nothing gets through; seen: bytes that went to the board."""

    def __init__(self, line):
        carrier = self
        self.deaf, self.seen = set(), b""

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def answer(self, data):
                self.send_response(200)
                self.send_header("access-control-allow-origin", "*")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def do_GET(self):
                try:
                    data = line.recv(4096) if select.select([line], [], [], 0.05)[0] else b""
                except OSError:
                    data = b""
                self.answer(b"" if self.path[1:] in carrier.deaf else data)

            def do_POST(self):
                data = self.rfile.read(int(self.headers["content-length"]))
                if self.path[1:] not in carrier.deaf:
                    carrier.seen = (carrier.seen + data)[-100000:]
                    line.sendall(data)
                self.answer(b"")

        class Quiet(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):  # a page that goes away
                pass

        self.server = Quiet(("127.0.0.1", 0), Handler)
        self.server.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def script(self):
        return SCRIPT % self.server.server_address[1]
