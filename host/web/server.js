"use strict";
// `ingot serve`, where this page comes from: replies by OpenAI's API, and what the server counts.

class Server {
  headers() {
    const token = $("token").value;
    return { "Content-Type": "application/json", ...(token ? { Authorization: "Bearer " + token } : {}) };
  }
  async open() {
    const r = await fetch("v1/models", { headers: this.headers() });
    if (r.status === 401) throw new Error("the server asks for its token: see the settings");
    if (!r.ok) throw new Error(`the server says ${r.status}`);
    this.model = words(list((await r.json()).data)[0]?.id);
    state(named("", this.model), true);
  }

  async reply(text, put, settings, first, messages) {
    const start = performance.now(), all = [...(settings.system ? [{ role: "system", content: settings.system }] : []), ...messages];
    let began = 0, usage = {}, end = "";
    this.abort = new AbortController();
    const r = await fetch("v1/chat/completions", { method: "POST", headers: this.headers(), signal: this.abort.signal,
      body: JSON.stringify({ messages: all, temperature: settings.temp, top_p: settings.top_p, max_tokens: settings.n, stream: true, stream_options: { include_usage: true } }) })
      .catch(e => { throw e.name === "AbortError" ? e : new Error("the server does not answer: does it still run?"); });
    if (!r.ok) throw new Error(words((await r.json().catch(() => ({}))).error?.message) || `the server says ${r.status}`);
    for await (const e of this.events(r)) {
      if (e.error) throw new Error(words(e.error.message) || "the server says that it failed");
      const choice = list(e.choices)[0], piece = words(choice?.delta?.content);
      if (piece) { began ||= performance.now(); put(piece); }
      end = words(choice?.finish_reason) || end;
      usage = e.usage ?? usage;
    }
    const now = performance.now(), n = number(usage.completion_tokens) ?? 0;
    return { tokens: n, rate: began && n > 1 && now - began > 20 ? +((n - 1) * 1000 / (now - began)).toFixed(1) : undefined, // a reply in one piece has no speed here
      first: began ? +((began - start) / 1000).toFixed(2) : undefined, cached: number(usage.prompt_tokens_details?.cached_tokens), context: `${(number(usage.prompt_tokens) ?? 0) + n} tokens`, end };
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

  // ---- what it counts (/metrics)

  async look() {
    const r = await fetch("metrics", { headers: this.headers() }).catch(() => null);
    if (!r?.ok) return;
    const counts = new Map(), boards = [];
    for (const row of (await r.text()).split("\n")) {
      const [, name, labels, value] = /^ingot_(\w+)(?:\{(.*)\})? (\S+)$/.exec(row) ?? [];
      if (name === "board") boards.push({ ...this.labels(labels), there: value === "1" });
      else if (name === "board_replies_total") Object.assign(boards.find(b => b.line === this.labels(labels).line) ?? {}, { replies: +value });
      else if (name) counts.set(name, +value);
    }
    const shown = [["Requests", "requests_total"], ["At work", "requests_running"], ["Waiting", "requests_waiting"], ["Tokens of replies", "reply_tokens_total"], ["Tokens of prompts", "prompt_tokens_total"],
      ["Not computed again", "prompt_tokens_cached_total"], ["Failed", "requests_failed_total"]].filter(([, key]) => counts.has(key));
    $("server-box").hidden = !shown.length;
    $("server").replaceChildren(...rows([["Model", label(this.model)], ...shown.map(([name, key]) => [name, counts.get(key)])]));
    $("boards").replaceChildren(...boards.slice(0, 64).map(b => this.board(b)));
  }
  labels(text) {
    const found = {};
    for (const [, name, value] of (text ?? "").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) found[name] = value.replace(/\\(.)/g, (_, c) => c === "n" ? "\n" : c);
    return found;
  }
  board(b) {
    return make("li", {}, make("span", {}, make("span", { class: "dot " + (b.there ? "on" : "off") }), label(b.machine || b.line, 40), b.model ? ", " + label(b.model, 60) : "", make("span", { class: "hide" }, b.there ? ", there" : ", away")),
      make("small", {}, b.there ? `${b.replies ?? 0} replies` : "away"));
  }
}
