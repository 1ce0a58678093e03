"use strict";
// `ingot serve`, where this page comes from: replies by OpenAI's API, and what the server counts.

const FULL = 0.75; // of the context: the next reply would have little room
const half = n => Math.max(2, n >> 2 << 1); // of n messages, questions with their replies

class Server {
  full = false;
  boards = []; // of /boards, as it says them
  shown = null; // the line of the one whose memory is drawn
  away = false;
  headers() {
    const token = $("token").value;
    return { "Content-Type": "application/json", ...(token ? { Authorization: "Bearer " + token } : {}) };
  }
  async open() {
    const r = await fetch("v1/models", { headers: this.headers() }).catch(() => { throw new Error("the server does not answer: is it still running?"); });
    if (r.status === 401) throw new Error("the server needs its token: enter it in the settings");
    if (!r.ok) throw new Error(`the server answers with the status ${r.status}`);
    this.model = words(list((await r.json()).data)[0]?.id);
    this.say();
  }
  /** Whether the model is in the server itself, and not on boards. */
  isHere() { return this.boards[0]?.line === null; }
  store() { return this.isHere() ? "disk" : "card"; }
  what() { return this.isHere() ? "A language model on the server's own computer." : this.boards.length ? ON_A_BOARD : "A language model."; }
  /** Who is there, in the line above. */
  say() {
    const n = this.boards.length, there = this.boards.filter(b => b.there);
    if (!n || this.isHere()) state(named("", this.model), true);
    else if (!there.length) state(named(n === 1 ? "its board does not answer, " : "no board answers, ", this.model), false);
    else if (n === 1) state(named(`${label(there[0].machine, 40) || "a board"}, `, this.model), true);
    else state(named(`${there.length === n ? n : `${there.length} of ${n}`} boards, `, this.model), true);
  }

  /** The answer to messages, without any that are too many: the older half is left out, and again, until the server takes the rest. */
  async post(settings, messages) {
    const system = settings.system ? [{ role: "system", content: settings.system }] : [];
    for (let forgotten = this.full && messages.length > 2 ? half(messages.length) : 0, first = null; ;) {
      const r = await fetch("v1/chat/completions", { method: "POST", headers: this.headers(), signal: this.abort.signal,
        body: JSON.stringify({ messages: [...system, ...messages.slice(forgotten)], temperature: settings.temp, top_p: settings.top_p, max_tokens: settings.n, stream: true, stream_options: { include_usage: true } }) })
        .catch(e => { throw e.name === "AbortError" ? e : new Error("the server does not answer: is it still running?"); });
      if (r.ok) return { r, forgotten };
      first ??= words((await r.json().catch(() => ({}))).error?.message) || `the server answers with the status ${r.status}`;
      if (messages.length - forgotten < 3 || (r.status !== 400 && r.status !== 413)) throw new Error(first);
      forgotten += half(messages.length - forgotten);
    }
  }
  /** forgotten: how many of the first messages are not told to the model any more. */
  async reply(text, put, settings, first, messages) {
    const start = performance.now();
    let began = 0, usage = {}, made = {}, end = "";
    this.abort = new AbortController();
    const { r, forgotten } = await this.post(settings, messages);
    for await (const e of this.events(r)) {
      if (e.error) throw new Error(words(e.error.message) || "the server reports an error without a reason");
      const choice = list(e.choices)[0], piece = words(choice?.delta?.content);
      if (piece) { began ||= performance.now(); put(piece); }
      end = words(choice?.finish_reason) || end;
      usage = e.usage ?? usage;
      made = e.figures ?? made;
    }
    this.shown = typeof made.line === "string" ? made.line : null;
    const taken = number(made.context_tokens), limit = number(made.context_limit_tokens);
    this.full = taken > FULL * limit;
    return { forgotten, tokens: number(usage.completion_tokens), rate: number(made.decode_tokens_per_s), first: began ? +((began - start) / 1000).toFixed(2) : undefined, cached: number(usage.prompt_tokens_details?.cached_tokens),
      card: number(made.card_mb_per_s), stalled: number(made.stalled_percent), warm: number(made.temperature_c), context: taken === undefined ? "" : limit ? `${taken} of ${limit}` : `${taken} tokens`, end,
      by: this.boards.length > 1 ? this.name(this.boards.find(b => b.line === this.shown)) : "" };
  }
  /** The events of a stream. */
  async * events(response) {
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let rest = ""; ;) {
      const { value, done } = await reader.read();
      if (done) return;
      const parts = (rest + value).split("\n\n");
      rest = parts.pop();
      for (const part of parts) if (part.startsWith("data: ") && part !== "data: [DONE]") yield JSON.parse(part.slice(6));
    }
  }
  stop() { this.abort?.abort(); }
  /** Every board is to have it; they load it when they have nothing else to do. */
  async load(name) {
    const r = await fetch("models/load", { method: "POST", headers: this.headers(), body: JSON.stringify({ model: name }) }).catch(() => { throw new Error("the server does not answer: is it still running?"); });
    if (!r.ok) throw new Error(words((await r.json().catch(() => ({}))).error?.message) || `the server answers with the status ${r.status}`);
    this.model = name;
  }

  // ---- what it counts (/metrics), and who answers behind it (/boards)

  async look() {
    const get = path => fetch(path, { headers: this.headers() }).catch(() => null), [metrics, boards, models] = await Promise.all([get("metrics"), get("boards"), get("models")]);
    if (board) return; // one at the USB port came meanwhile: the page is its
    if (!metrics) state("the server does not answer", false);
    if (!metrics?.ok || !boards?.ok || !models?.ok) { this.away = true; return; }
    if (this.away) await this.open().catch(() => {}); // it may have another model now
    const first = !this.boards.length;
    this.away = false;
    this.counts(await metrics.text());
    this.boards = list((await boards.json()).boards).slice(0, 64);
    this.choices(list((await models.json()).data));
    this.say();
    this.show();
    if (first && talk.querySelector(".empty")) fresh();
  }
  counts(text) {
    const counts = new Map();
    for (const row of text.split("\n")) {
      const [, name, value] = /^ingot_(\w+) (\S+)$/.exec(row) ?? [];
      if (name) counts.set(name, +value);
    }
    const shown = [["Requests", "requests_total"], ["At work", "requests_running"], ["Waiting", "requests_waiting"], ["Tokens of replies", "reply_tokens_total"], ["Tokens of prompts", "prompt_tokens_total"],
      ["Not computed again", "prompt_tokens_cached_total"], ["Failed", "requests_failed_total"]].filter(([, key]) => counts.has(key));
    $("server-box").hidden = !shown.length;
    $("server").replaceChildren(...rows([["Model", label(this.model)], ...shown.map(([name, key]) => [name, counts.get(key)])]));
  }
  /** The models on the boards' cards. Another one than before, that somebody else may have chosen, begins a new conversation. */
  choices(models) {
    const all = models.map(m => ({ name: words(m.id), bytes: number(m.bytes), loaded: m.status?.value === "loaded", loading: m.status?.value === "loading" })).filter(m => m.name).slice(0, 64);
    const now = all.find(m => m.loaded || m.loading)?.name ?? this.model;
    if (now !== shownModel) { this.model = now; if (shownModel !== null) fresh(); shownModel = now; }
    if (this.isHere()) $("models-box").hidden = true;
    else showModels(all);
  }
  /** Of a board: its kind, and where several are, its line's last word. */
  name(b) { return b ? (label(b.machine, 40) || "a board") + (this.boards.length > 1 ? ` (${label(b.line, 200).split(/[/:]/).pop()})` : "") : ""; }
  /** Memory and plan of the board that answered last, or that was chosen; else of the first that is there. */
  show() {
    const b = this.boards.find(each => each.line === this.shown && each.there) ?? this.boards.find(each => each.there);
    memory(b?.stats, b?.plan, this.isHere() ? "the server" : this.boards.length > 1 ? this.name(b) : "the board");
    plan(b?.plan, this.store());
    $("boards-box").hidden = this.isHere() || !this.boards.length;
    if (this.isHere()) return;
    const at = [...$("boards").querySelectorAll("button")].indexOf(document.activeElement);
    $("boards").replaceChildren(...this.boards.map(each => this.board(each, each === b)));
    if (at >= 0) $("boards").querySelectorAll("button")[at]?.focus();
  }
  board(b, shown) {
    const name = [make("span", { class: "dot " + (b.there ? "on" : "off") }), this.name(b), b.model && b.model !== this.model ? ", " + label(b.model, 60) : ""];
    const choice = this.boards.length > 1 && b.there ? make("button", { "aria-pressed": shown, title: "Its memory and its plan" }, ...name) : make("span", {}, ...name);
    choice.onclick = () => { this.shown = b.line; this.show(); };
    return make("li", {}, choice, make("small", {}, !b.there ? "away" : b.replies === 1 ? "1 reply" : `${number(b.replies) ?? 0} replies`));
  }
}
