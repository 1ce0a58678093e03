"use strict";
// A board at this computer's USB port, by Web Serial: bytes, lines, and the requests and events of docs/SERIAL.md, protocol 2. The line is one
// of three things at a time: JSON lines ("json"), the board's console for a person ("terminal"), or frames of a file (sink).

const CTRL_C = 3, ENQ = 5, XON = 17, XOFF = 19, NEWLINE = 10;
const HELD_MS = 10000; // an XON that noise has eaten is not waited for any longer
const LINE_MOST = 1 << 20;
const ASK_MS_BOARD = 1500, QUIET_MS = 700, SILENT_MS = 8000;

const pause = ms => new Promise(go => setTimeout(go, ms));

class Board {
  static greetMs = 12000; // that it is waited for
  static pieceBytes = 1024; // on their way at a time, so that an XOFF is obeyed soon
  constructor(port) {
    this.port = port;
    this.mode = "json";
    this.line = []; // of bytes, as far as it has come
    this.sink = null; // takes bytes in place of lines
    this.waits = null; // the running request: { take(event), fail(error) }
    this.ready = null; // the latest event `ready`
    this.plan = null;
    this.loading = this.unread = 0; // the latest word of a start; tokens that nobody asked for
    this.n = 0;
    this.wasToPeople = this.gone = this.held = this.stopping = this.changing = false;
    this.transfer = null; // the file on its way
    this.heard = performance.now();
    this.written = Promise.resolve();
    this.changed = () => {}; // another model, or gone: the page shows it
    this.release = () => {};
  }

  // ---- bytes

  async open(baud) {
    this.baud = this.own = baud;
    await this.port.open({ baudRate: baud, bufferSize: 4096 });
    this.begin();
  }
  begin() {
    this.writer = this.port.writable.getWriter();
    this.reader = this.port.readable.getReader();
    this.reading = this.read(this.reader);
  }
  async read(reader) {
    try {
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        this.take(value);
      }
    } catch (e) { log(e.message ?? String(e)); }
    reader.releaseLock();
    if (!this.changing) this.lose();
  }
  lose() {
    if (this.gone) return;
    this.gone = true;
    this.hold(false);
    this.waits?.fail(new Error("the board is gone"));
    this.transfer?.fail("the board is gone: the next try continues from here");
    this.port.close().catch(() => {});
    this.changed();
  }
  /** All of it is one piece of the line; XOFF holds it. */
  write(data) {
    return this.written = this.written.catch(() => {}).then(async () => {
      for (let at = 0; at < data.length; at += Board.pieceBytes) {
        if (this.held) await Promise.race([new Promise(go => { this.release = go; }), pause(HELD_MS)]);
        if (this.gone) throw new Error("the board is gone");
        await this.writer.write(data.subarray(at, at + Board.pieceBytes));
      }
    });
  }
  type(text) { return this.write(new TextEncoder().encode(text)); }
  /** Ctrl-C waits for nothing that is before it. */
  interrupt() { return this.writer.write(Uint8Array.of(CTRL_C)).catch(() => {}); }
  hold(on) { this.held = on; if (!on) this.release(); }
  take(data) {
    const rest = [];
    this.heard = performance.now();
    for (const b of data) {
      if (b === XOFF || b === XON) this.hold(b === XOFF);
      else if (this.sink || this.mode === "terminal") rest.push(b);
      else if (b === NEWLINE) this.endLine();
      else if (this.line.length < LINE_MOST) this.line.push(b);
    }
    if (rest.length && this.sink) this.sink(Uint8Array.from(rest));
    else if (rest.length) this.shown?.(Uint8Array.from(rest));
  }
  /** Another rate, 0: the line's own. Web Serial has to close and open the port for it. False: the adapter cannot; it is as it was. */
  async rate(baud) {
    const wanted = baud || this.own;
    if (wanted === this.baud) return true;
    this.changing = true;
    try {
      await this.written.catch(() => {});
      this.writer.releaseLock();
      await this.reader.cancel().catch(() => {});
      await this.reading;
      await this.port.close();
      const good = await this.port.open({ baudRate: wanted, bufferSize: 16384 }).then(() => true, () => false);
      if (!good) await this.port.open({ baudRate: this.baud, bufferSize: 4096 });
      else this.baud = wanted;
      this.begin();
      return good;
    } catch (e) {
      this.lose();
      throw new Error("the port cannot be opened again: plug it in anew");
    } finally { this.changing = false; }
  }

  // ---- lines

  endLine() {
    const text = new TextDecoder().decode(Uint8Array.from(this.line)).trim(), at = text.indexOf('{"event":');
    let e = null;
    this.line = [];
    if (at >= 0) try { e = JSON.parse(text.slice(at)); } catch { /* noise came into it */ }
    if (e && typeof e.event === "string") { this.event(e); return; }
    const plain = text.replace(/\x1b(\[[0-9;?]*)?[ -~]/g, "");
    if (plain) log(plain);
  }
  event(e) {
    if (e.event === "log" || e.event === "progress") this.loading = this.heard;
    if (e.event === "token" && !this.waits) this.unread++;
    if (e.event === "log" || e.event === "text") log(words(e.text));
    if (e.event === "ready" && (typeof e.model === "string" || e.model === null)) {
      this.ready = e;
      this.plan = null;
      this.changed();
    }
    this.waits?.take(e);
  }
  /** A request; take(event) for each that answers it. Resolves with the `done`, rejects with an error's text. */
  ask(request, take) {
    const id = ++this.n;
    let error = null;
    this.stopping = false;
    return new Promise((good, bad) => {
      const end = f => value => { this.waits = null; f(value); };
      this.waits = {
        fail: end(bad),
        take: e => {
          if (e.event === "ready" && e.id !== id) { // it dropped the request that the Ctrl-C met on its way, or began anew
            this.stopping ? end(good)({ event: "done", reason: "stopped" }) : end(bad)(new Error("the board restarted: ask again"));
            return;
          }
          if (e.id !== id) return;
          if (e.event === "error") error = new Error(words(e.text) || "the board reports an error without a reason");
          take?.(e);
          if (e.event === "done") error ? end(bad)(error) : end(good)(e);
        },
      };
      this.type(JSON.stringify({ id, ...request }).replace(/\x7f/g, "\\u007f") + "\n").catch(end(bad));
    });
  }

  // ---- who is there

  /** A prompt for people stands at the end of what came. */
  atPrompt() { return /(^|[\r\n]|> )> $/.test(new TextDecoder().decode(Uint8Array.from(this.line.slice(-200))).replace(/\x1b\[[0-9;?]*[A-Za-z]|\x1b[78]/g, "")); }
  async until(what, ms) {
    for (const late = performance.now() + ms; !what() && !this.gone && performance.now() < late;) await pause(20);
    return what();
  }
  /** Until it says that it is ready for programs. A prompt for people is told so; silence is asked by an ENQ in a line of its own, which stops
   *  nothing, such as loading; a Ctrl-C is left for what ENQ does not reach: replies that nobody reads, and boards that do not know it. */
  async greet() {
    const start = performance.now(), over = () => performance.now() - Math.max(start, this.loading) > Board.greetMs;
    this.ready = null;
    this.loading = this.unread = 0;
    for (let asked = start; !this.ready && !this.gone && !over();) {
      const quiet = () => performance.now() - this.heard;
      await this.until(() => this.ready, 100);
      if (this.ready || performance.now() - asked < ASK_MS_BOARD || (quiet() < QUIET_MS && !this.unread)) continue;
      asked = performance.now();
      if (this.atPrompt()) {
        this.wasToPeople = true;
        this.line = [];
        await this.type("/mode json\n");
      } else if (this.unread || (quiet() > SILENT_MS && asked - start > SILENT_MS)) {
        this.unread = 0;
        await this.interrupt();
      } else {
        await this.write(Uint8Array.of(ENQ, NEWLINE));
      }
    }
    if (!this.ready) throw new Error(this.gone ? "the board is gone" : "No board answers.");
    await this.ask({ hello: 2 });
  }

  // ---- as a terminal

  /** From now on bytes go to show(), and typed ones to the board's console. */
  async toTerminal(show) {
    if (this.ready) await this.ask({ command: "/mode chat" });
    this.mode = "terminal";
    this.shown = show;
    await this.write(Uint8Array.of(12)); // Ctrl-L: a terminal is here
  }
  async toJson() {
    this.mode = "json";
    this.line = [];
    if (!this.ready) return this.greet();
    this.ready = null;
    await this.interrupt();
    if (await this.until(() => this.atPrompt(), 3000)) {
      this.line = [];
      await this.type("/mode json\n");
      await this.until(() => this.ready, 3000);
    }
    return this.ready ? this.ask({ hello: 2 }) : this.greet();
  }
  /** The line is given back as it was found. */
  async close() {
    if (!this.gone && this.mode === "json" && this.wasToPeople && this.ready && !this.waits) await Promise.race([this.ask({ command: "/mode chat" }).catch(() => {}), pause(1000)]);
    if (this.gone) return;
    this.gone = this.changing = true;
    this.writer.releaseLock();
    await this.reader.cancel().catch(() => {});
    await this.reading;
    await this.port.close().catch(() => {});
  }

  // ---- what the page asks

  async models() {
    const models = [];
    await this.ask({ models: true }, e => e.event === "model" && models.push(e)).catch(() => {});
    return models.map(m => ({ name: words(m.model), bytes: number(m.bytes), loaded: m.loaded === true })).filter(m => m.name).slice(0, 200);
  }
  async look() {
    let stats = null;
    if (!this.plan && this.ready?.model) await this.ask({ plan: true }, e => { if (e.event === "plan") this.plan = e; }).catch(() => {}); // an older board has none
    await this.ask({ stats: true }, e => { if (e.event === "stats") stats = e; }).catch(() => {});
    return stats;
  }
  /** A reply, put(piece) as it comes; figures of it. first: a new conversation begins. */
  async reply(text, put, settings, first) {
    let usage = {};
    const request = { prompt: text, temp: settings.temp, top_p: settings.top_p, n: settings.n };
    if (first) Object.assign(request, settings.system ? { system: settings.system } : { reset: true });
    const done = await this.ask(request, e => { if (e.event === "token") put(words(e.text)); if (e.event === "usage") usage = e; });
    const taken = number(done.context_tokens), limit = number(this.ready?.context_limit_tokens), ms = number(done.first_token_ms);
    return { tokens: number(done.reply_tokens), rate: number(done.decode_tokens_per_s), first: ms === undefined ? undefined : +(ms / 1000).toFixed(2), cached: number(usage.cached_tokens), card: number(done.card_mb_per_s),
      stalled: number(done.stalled_percent), warm: number(done.temperature_c), context: taken === undefined ? "" : limit ? `${taken} of ${limit}` : `${taken} tokens`, end: words(done.reason) };
  }
  stop() { this.stopping = true; this.interrupt(); }

  /** A file onto the card, as path; progress(transfer) on the way. Resolves with what the board says. */
  async send(path, file, fast, progress) {
    const said = [];
    let over = null;
    const done = this.ask({ command: `/receive ${path} ${file.size} ${fast}` }, e => {
      if (e.event === "text") said.push(words(e.text));
      if (e.event !== "receive" || this.transfer) return;
      this.transfer = new Transfer(this, file, e, progress);
      this.sink = data => this.transfer.take(data);
      over = this.transfer.run().then(() => null, error => error).finally(() => { this.sink = null; this.line = []; return this.rate(0).catch(() => {}); });
    });
    done.catch(() => {});
    await Promise.race([done.catch(() => {}), this.until(() => over, 30000)]);
    if (!over) { await done; throw new Error("the board takes no files: is its image older than this page?"); }
    const error = await over, whole = this.transfer.result?.good;
    await Promise.race([done.catch(() => {}), pause(4000)]);
    this.transfer = null;
    if (this.waits && !this.gone) { this.waits = null; await this.greet().catch(e => { throw error ?? e; }); } // its last words were said at the other rate
    if (error && !whole) throw error;
    return said.join(" ");
  }
}
