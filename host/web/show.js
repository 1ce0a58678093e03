"use strict";
// What is shown: bubbles, the line above, the log. Whatever comes from a model, a board or a server is text here and never markup:
// nodes are made by make(), and nothing in this page sets innerHTML.

const $ = id => document.getElementById(id);

/** A node: make("p", { class: "hint" }, "text", other nodes ...). */
function make(tag, attributes = {}, ...inside) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...inside);
  return node;
}

/** What the browser keeps between visits; a file's page may not keep anything. */
const kept = {
  get(name, otherwise) { try { return localStorage.getItem("ingot." + name) ?? otherwise; } catch { return otherwise; } },
  set(name, value) { try { localStorage.setItem("ingot." + name, value); } catch { /* it is forgotten */ } },
};

// ---- what others say

// Control characters, and marks that turn the direction of what stands around them.
const NOT_SHOWN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb]/g;
const UNSEEN = /[\u200b\u2060-\u2064\ufeff]/g; // without any width: two names with and without one look alike

/** A text of somebody else's, harmless; "" for what is none. */
const words = value => typeof value === "string" ? value.replace(/\r/g, "").replace(NOT_SHOWN, "\ufffd") : "";
/** On one line, and not longer than that. */
const label = (value, most = 80) => { const w = words(value).replace(UNSEEN, "\ufffd").replace(/\s+/g, " "); return w.length > most ? w.slice(0, most - 1) + "…" : w; };
/** A number that can be shown; undefined for what is none. */
const number = value => typeof value === "number" && Number.isFinite(value) && value >= -1e15 && value <= 1e15 ? value : undefined;
const list = value => Array.isArray(value) ? value.filter(v => v !== null && typeof v === "object") : [];

function bytes(n) {
  if (n < 1048576) return (n / 1024).toFixed(n < 10240 ? 1 : 0) + " KiB";
  return n < 1073741824 ? (n / 1048576).toFixed(n < 104857600 ? 2 : 0) + " MiB" : (n / 1073741824).toFixed(2) + " GiB";
}

// ---- the conversation

const talk = $("talk");

function follow() {
  if (talk.scrollHeight - talk.scrollTop - talk.clientHeight < 240) talk.scrollTop = talk.scrollHeight;
}

const sentence = text => text && text[0].toUpperCase() + text.slice(1) + (/[.!?…]$/.test(text) ? "" : ".");

/** A bubble; who: "mine", "its", "error". cure: what helps, below it. */
function show(who, text, cure) {
  talk.querySelector(".empty")?.remove();
  const name = { mine: "You: ", error: "Error: " }[who] ?? "Model: ";
  const box = make("div", { class: "said " + (who === "error" ? "its error" : who) }, make("span", { class: "hide" }, name), make("p", { dir: "auto" }, who === "error" ? sentence(words(text)) : words(text)));
  if (cure) box.append(make("small", {}, cure));
  if (who === "error") announce("Error: " + words(text) + " " + (cure ?? ""));
  talk.append(box);
  follow();
  return box;
}

/** A line between bubbles. */
function note(text) {
  talk.querySelector(".empty")?.remove();
  talk.append(make("div", { class: "note" }, text));
  follow();
}

/** An empty conversation: what this is, and what to do. */
function empty(what, how, suggestions, ask) {
  const box = make("div", { class: "empty" }, make("p", {}, make("strong", {}, what)), ...how);
  for (const text of suggestions) {
    const button = make("button", { type: "button" }, text);
    button.onclick = () => ask(text);
    box.append(button);
  }
  talk.replaceChildren(box);
  $("told").replaceChildren();
}

/** For screen readers alone. The bubbles are not a live region: they would be read token by token. */
function announce(text) {
  const told = $("told");
  told.append(make("p", {}, text));
  while (told.childElementCount > 30) told.firstElementChild.remove();
}

/** A reply that comes in pieces, cut into what can be read aloud: say(sentence) for each. */
class Sentences {
  constructor(say) { this.say = say; this.rest = ""; }
  take(piece) {
    this.rest += piece;
    for (;;) {
      const end = /[.!?…]+["'”’)\]]*\s|[。！？]+[」』）”’]*|\n/.exec(this.rest);
      if (!end && this.rest.length < 400) return;
      const at = end ? end.index + end[0].length : this.rest.length;
      this.tell(this.rest.slice(0, at));
      this.rest = this.rest.slice(at);
    }
  }
  end() { this.tell(this.rest); this.rest = ""; }
  tell(sentence) { if (sentence.trim()) this.say(sentence.trim()); }
}

// ---- around it

/** good: true, false or undefined, for the dot. */
function state(text, good) {
  $("state").replaceChildren(text);
  $("dot").className = "dot " + (good === undefined ? "" : good ? "on" : "off");
}
const named = (before, model) => make("span", {}, label(before, 40), make("b", {}, label(model)));

function log(text) {
  const l = $("log");
  $("log-box").hidden = false;
  l.textContent = (l.textContent + label(text, 2000) + "\n").slice(-20000);
  l.scrollTop = l.scrollHeight;
}
