"use strict";
// Frames that carry a file to a board (runtime/transfer/README.md, which is the other end); host/line/send_frames.c does the same in C.

const STEP_BYTES = 65536; // where a transfer may go on
const HEAD_BYTES = 9; // kind, number
const FRAME_MOST = 4096;

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, i) => {
  for (let bit = 0; bit < 8; bit++) i = i & 1 ? i >>> 1 ^ 0x82f63b78 : i >>> 1;
  return i >>> 0;
});

/** CRC-32C of more bytes, after those that gave crc (0: none). */
function crc32c(crc, more) {
  crc = ~crc;
  for (let i = 0; i < more.length; i++) crc = CRC_TABLE[(crc ^ more[i]) & 255] ^ crc >>> 8;
  return ~crc >>> 0;
}

function littleEndian(n, size) {
  return Uint8Array.from({ length: size }, (_, i) => Math.floor(n / 2 ** (8 * i)) % 256);
}
const fromLittleEndian = data => data.reduce((sum, b, i) => sum + b * 2 ** (8 * i), 0);

/** A frame as it goes over the line: 7e kind number data crc 7e, with what a line gives a meaning to as 7d and the byte with bit 5 turned. */
function frame(kind, n, data = new Uint8Array(0)) {
  const inside = new Uint8Array(HEAD_BYTES + data.length + 4);
  inside[0] = kind.charCodeAt(0);
  inside.set(littleEndian(n, 8), 1);
  inside.set(data, HEAD_BYTES);
  inside.set(littleEndian(crc32c(0, inside.subarray(0, HEAD_BYTES + data.length)), 4), HEAD_BYTES + data.length);
  const out = [0x7e];
  for (const b of inside) b === 0x03 || b === 0x11 || b === 0x13 || b === 0x7d || b === 0x7e ? out.push(0x7d, b ^ 0x20) : out.push(b);
  out.push(0x7e);
  return Uint8Array.from(out);
}

/** Bytes in; found({ kind, n, data }) for each frame that is whole. */
class FrameReader {
  constructor(found) { this.found = found; this.inside = []; this.escaped = false; }
  take(bytes) { for (const b of bytes) this.byte(b); }
  byte(b) {
    if (b === 0x7e) {
      this.end(Uint8Array.from(this.inside));
      this.inside = [];
      this.escaped = false;
    } else if (b === 0x7d) {
      this.escaped = true;
    } else if (this.inside.length <= FRAME_MOST) {
      this.inside.push(this.escaped ? b ^ 0x20 : b);
      this.escaped = false;
    }
  }
  end(inside) {
    const n = inside.length - 4;
    if (n < HEAD_BYTES || n >= FRAME_MOST || crc32c(0, inside.subarray(0, n)) !== fromLittleEndian(inside.subarray(n))) return;
    this.found({ kind: String.fromCharCode(inside[0]), n: fromLittleEndian(inside.subarray(1, HEAD_BYTES)), data: inside.subarray(HEAD_BYTES, n) });
  }
}

const PING_MS = 200, MEET_MS = 3000, LOST_MS = 1500, ASK_MS = 3000, SILENCE_MS = 40000, LOST_MOST_MS = 15000;

/**
 * One file on its way. wire: { write(bytes), rate(baud) -> whether the line has it now, baud }; ready: the board's event `receive`.
 * What comes from the line goes to take(). run() resolves when the board has all of the file, and rejects with why it has not.
 */
class Transfer {
  constructor(wire, file, ready, progress) {
    this.wire = wire;
    this.file = file;
    this.frameBytes = number(ready.frame_bytes) ?? 0;
    this.window = number(ready.window_bytes) ?? 0;
    this.fast = number(ready.baud) ?? 0;
    this.progress = progress;
    this.reader = new FrameReader(f => this.note(f));
    this.acked = this.resumed = this.pings = this.ponged = 0;
    this.pong = this.again = false;
    this.there = this.result = this.problem = null;
    this.heard = this.moved = performance.now();
    this.slowest = 0;
    this.wake = () => {};
  }

  // ---- what the board says
  take(bytes) { this.heard = performance.now(); this.reader.take(bytes); this.wake(); }
  fail(why) { this.problem ??= why; this.wake(); }
  note({ kind, n, data }) {
    if (kind === "p") { this.pong = true; this.ponged = n; }
    if (kind === "c") this.there = { at: n, crc: fromLittleEndian(data) };
    if (kind === "n") this.again ||= this.ponged === this.pings; // what it said before it had the latest ping is old
    if (kind === "n" || kind === "a") this.move(n);
    if (kind === "r") this.result = { good: n === 0, text: words(new TextDecoder().decode(data)) };
  }
  move(at) {
    const now = performance.now();
    if (at <= this.acked || at > this.file.size) return;
    this.slowest = Math.max(now - this.moved, this.slowest * 63 / 64);
    this.acked = at;
    this.moved = now;
  }
  /** Until something comes, but not for longer; throws where there is no use in going on. */
  async step(ms) {
    if (!this.problem && !this.result) await new Promise(go => { this.wake = go; setTimeout(go, ms); });
    if (performance.now() - this.heard > SILENCE_MS) this.fail("the board is silent: the next try continues from here");
    if (this.problem) throw new Error(this.problem);
    if (this.result && !this.result.good) throw new Error(this.result.text);
  }
  say(kind, n, data) { return this.wire.write(frame(kind, n, data)); }
  async read(at, size) { return new Uint8Array(await this.file.slice(at, at + size).arrayBuffer()); }

  // ---- the rate
  async understood() {
    const start = performance.now();
    this.pong = false;
    for (let asked = 0; !this.pong && performance.now() - start < MEET_MS;) {
      if (performance.now() - asked >= PING_MS) {
        asked = performance.now();
        await this.say("p", ++this.pings);
      }
      await this.step(50);
    }
    this.ponged = this.pings;
    return this.pong;
  }
  async meet() {
    if (this.fast && await this.wire.rate(this.fast) && await this.understood()) return;
    await this.wire.rate(0);
    if (!await this.understood() && !await this.understood()) throw new Error("the board does not answer: try with “Baud for files” as the line");
  }

  // ---- what is there already
  async same(at, size) {
    let crc = 0;
    for (let done = 0; done < size; done += 1 << 20) crc = crc32c(crc, await this.read(at + done, Math.min(1 << 20, size - done)));
    this.there = null;
    for (let asked = -Infinity; this.there?.at !== at;) {
      const now = performance.now();
      if (now - asked > ASK_MS && (asked < 0 || now - this.heard > ASK_MS)) {
        asked = now;
        await this.say("q", at, littleEndian(size, 8));
      }
      await this.step(100);
    }
    return this.there.crc === crc;
  }
  /** How much an earlier try has left, by ever larger pieces and then by ever smaller ones. */
  async found() {
    let start = 0, piece = STEP_BYTES, grows = true;
    while (start < this.file.size) {
      const size = Math.min(piece, this.file.size - start), same = await this.same(start, size);
      if (same) start += size;
      else if (piece === STEP_BYTES) break;
      grows &&= same;
      piece = grows ? piece * 2 : Math.max(STEP_BYTES, piece / 2);
    }
    return start - start % STEP_BYTES;
  }

  // ---- the bytes
  async begin(at) {
    this.resumed = at;
    for (let asked = -Infinity, first = true; first || this.acked < at; first = false) {
      if (performance.now() - asked > ASK_MS) {
        asked = performance.now();
        await this.say("s", at);
      }
      await this.step(100);
    }
  }
  lost() { return performance.now() - this.moved > Math.min(LOST_MOST_MS, Math.max(LOST_MS, 4 * this.slowest)); }
  /** Up to eight frames in one piece, within the window; where the next one begins. */
  async more(next) {
    const all = [];
    for (let i = 0; i < 8 && next < this.file.size && next - this.acked < this.window; i++) {
      const data = await this.read(next, this.frameBytes);
      all.push(...frame("d", next, data));
      next += data.length;
    }
    await this.wire.write(Uint8Array.from(all));
    return next;
  }
  async bytes() {
    let next = this.acked;
    this.moved = performance.now();
    while (this.acked < this.file.size) {
      if (next < this.file.size && next - this.acked < this.window) {
        next = await this.more(next);
        await this.step(0);
      } else {
        await this.step(100);
      }
      if (this.again || this.lost()) {
        this.again = false;
        this.moved = performance.now();
        await this.say("p", ++this.pings); // tells what comes from what was on its way before
        next = this.acked;
      }
      next = Math.max(next, this.acked);
      this.progress(this);
    }
  }
  async whole() {
    let crc = 0;
    for (let at = 0; at < this.file.size; at += 1 << 20) crc = crc32c(crc, await this.read(at, 1 << 20));
    for (let asked = -Infinity; !this.result;) {
      const now = performance.now();
      if (now - asked > ASK_MS && (asked < 0 || now - this.heard > ASK_MS)) {
        asked = now;
        await this.say("e", this.file.size, littleEndian(crc, 4));
      }
      await this.step(100);
      if (this.again) { // the board misses something after all
        this.again = false;
        await this.bytes();
        asked = -Infinity;
      }
    }
  }
  async run() {
    if (!(this.frameBytes >= 64 && this.frameBytes <= 2048 && this.window >= this.frameBytes)) throw new Error("the board speaks another protocol: take the page of its version");
    try {
      await this.meet();
      await this.begin(await this.found());
      this.began = performance.now();
      await this.bytes();
      await this.whole();
    } catch (e) {
      if (!this.result && !this.wire.gone) await this.stop();
      throw e;
    } finally {
      if (this.result) await this.say("x", 0).catch(() => {});
    }
  }
  /** The board hears that it ends, too, and says so. */
  async stop() {
    await this.wire.interrupt();
    for (let i = 0; i < 50 && !this.result; i++) await new Promise(go => setTimeout(go, 100));
  }
}
