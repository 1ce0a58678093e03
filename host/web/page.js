"use strict";
// The conversation, and what is pressed. to: whom it is with, a Board (board.js) or the Server (server.js); busy: the current one.

const text = $("text");
const server = location.protocol.startsWith("http") ? new Server() : null;
let board = null, busy = null, messages = [], shownModel = null;
let terminal = null;

const ON_A_BOARD = "A language model on a board, without an operating system.";
const SUGGESTIONS = ["What can you do?", "Tell me a story.", "What is 7 plus 8?"];
const STEPS = ["Put the card with a model into the board, and plug its serial adapter into this computer.", "Give it power.", "Press “Connect a board” above, and choose the adapter."];
const NO_SERIAL = "This browser has no Web Serial: take Chromium, Chrome or Edge, or start `ingot serve /dev/ttyUSB0`.";
const NOBODY = "Does the board have power and a card with a model? Is its TX connected to the adapter's RX, and its RX to the adapter's TX? Is “Baud of the line” in the settings its rate? The Terminal shows what arrives.";
const AWAY = "Plug it in and give it power: the server notices by itself.";
const NEWS_MS = 1000, LOOK_MS = 4000; // after a reply; while nothing happens
const FORGOTTEN = "The conversation is longer than the model's context: the model no longer sees what is above this line.";
const FROM_LINK = "The message came with a link. It is sent when you press Send.";
const LINK_MOST = 2000; // characters
const UNPLUGGED = "Plug it in, wait until it has started, and press “Connect a board”.";

const settings = () => ({ temp: +$("temp").value, top_p: +$("top_p").value, n: +$("n").value, system: $("system").value.trim() });
const party = () => board?.ready && !board.gone ? board : board ? null : server;

// ---- a conversation

function welcome() {
  const to = party();
  if (to) empty(to === server ? server.what() : ON_A_BOARD, [make("p", {}, "Ask it something.")], SUGGESTIONS, ask);
  else if (!("serial" in navigator)) empty(ON_A_BOARD, [make("p", {}, NO_SERIAL)], []);
  else empty(ON_A_BOARD, [make("ol", {}, ...STEPS.map(s => make("li", {}, s)))], []);
}

function fresh() {
  messages = [];
  keepTalk(party());
  welcome();
}

// ---- a conversation stays in its tab when the page is loaded again, for the same model

const TALK = "ingot.talk";
const holder = to => to instanceof Board ? { by: "board", model: words(to.ready?.model) } : { by: "server", model: server?.model ?? "" };

function keepTalk(to) {
  try {
    if (messages.length) sessionStorage.setItem(TALK, JSON.stringify({ ...holder(to), messages }));
    else sessionStorage.removeItem(TALK);
  } catch { /* it goes with the page */ }
}

/** The conversation that was kept; null: there is none. */
function keptTalk() {
  let t = null;
  try { t = JSON.parse(sessionStorage.getItem(TALK)); } catch { /* there is none */ }
  const all = list(t?.messages).map(m => ({ role: m.role === "user" ? "user" : "assistant", content: words(m.content) }));
  return all.length ? { by: t.by, model: t.model, messages: all } : null;
}

/** It goes on. A question whose reply was on its way is in the field again. False: none was kept, or it was had with another. */
function takeUpTalk(to) {
  const t = keptTalk(), now = holder(to);
  if (!t || messages.length || t.by !== now.by || t.model !== now.model) return false;
  const open = t.messages.at(-1).role === "user" ? t.messages.pop() : null;
  messages = t.messages;
  if (!talk.querySelector(".said")) for (const m of messages) show(m.role === "user" ? "mine" : "its", m.content);
  if (open && !text.value) fill(open.content);
  keepTalk(to);
  return true;
}

function working(on) {
  $("stop").hidden = !on;
  $("send").hidden = on;
  for (const b of document.querySelectorAll("#models button, #put, #fresh, #tab-chat, #tab-terminal")) b.disabled = on;
  talk.setAttribute("aria-busy", on);
}

async function ask(question) {
  const to = party();
  if (busy) return;
  if (!to) { show("error", "No board is connected.", board ? NOBODY : "Press “Connect a board” above."); return; }
  quiet();
  show("mine", question);
  const box = show("its busy", ""), line = new Text(), aloud = $("speak").checked, first = !messages.length;
  const sentences = new Sentences(s => { announce(s); if (aloud) speak(s); });
  let said = "";
  box.querySelector("p").append(line);
  messages.push({ role: "user", content: question });
  keepTalk(to);
  busy = to;
  working(true);
  try {
    const f = await to.reply(question, piece => {
      const more = said ? piece : piece.trimStart();
      said += more;
      line.appendData(more);
      sentences.take(more);
      follow();
    }, settings(), first, messages);
    messages.splice(0, f.forgotten ?? 0);
    if (f.forgotten) talk.insertBefore(make("div", { class: "note" }, FORGOTTEN), box.previousElementSibling);
    const cut = { length: ", cut at the limit", limit: ", cut at the limit", stopped: ", stopped", context: ", the context is full", repetition: ", it repeated itself", circle: ", it repeated itself" }[f.end] ?? "";
    box.append(make("small", {}, `${f.tokens ?? "–"} tokens${f.rate ? `, ${f.rate} tokens/s` : ""}${f.by ? `, ${f.by}` : ""}${cut}`));
    figures(f, to === server ? server.store() : "card");
  } catch (e) {
    if (e.name === "AbortError") box.append(make("small", {}, "stopped"));
    else {
      show("error", e.message, to.gone ? UNPLUGGED : to === server && server.boards.length && !server.boards[0]?.there ? AWAY : undefined);
      if (!said && !text.value) fill(question); // to be shortened, or sent again
    }
  }
  sentences.end();
  if (!said) { messages.pop(); box.remove(); }
  else messages.push({ role: "assistant", content: said });
  keepTalk(to);
  box.classList.remove("busy");
  busy = null;
  working(false);
  text.focus();
  look();
  if (to === server) setTimeout(look, NEWS_MS); // a board says how it is when it has nothing else to do
}

/** What is not of a reply: memory, plan, models; what a server counts. */
async function look(models) {
  if (board && party() === board && !busy) {
    const to = board;
    busy = to; // a question that is asked meanwhile would take its answers
    try {
      if (models) showModels(await to.models());
      const stats = await to.look();
      if (stats) memory(stats, to.plan, "the board");
      plan(to.plan, "card");
    } finally { busy = null; }
    if (waiting) { const q = waiting; waiting = null; ask(q); }
  } else if (!board && server) {
    await server.look();
  }
}
let waiting = null; // a question that came while the figures were asked for

function fill(question) {
  text.value = question;
  fit();
}

function submit(question) {
  if (!question) return;
  if (busy && $("stop").hidden && !waiting) waiting = question; // figures are on their way: in a moment
  else if (!busy) ask(question);
  else return;
  text.value = text.style.height = "";
}

// ---- models

function showModels(models) {
  const at = [...$("models").querySelectorAll("button")].indexOf(document.activeElement);
  $("models-box").hidden = !models.length;
  $("put").hidden = !board; // a file goes over Web Serial
  $("models").replaceChildren(...models.map(m => {
    const button = make("button", { "aria-label": `Load ${label(m.name)}` }, "Load");
    button.onclick = () => load(m.name);
    return make("li", m.loaded ? { "aria-current": "true" } : {}, make("span", {}, m.loaded ? make("b", {}, label(m.name)) : label(m.name)), make("small", {}, m.bytes === undefined ? "" : bytes(m.bytes)), m.loaded || m.loading ? make("small", {}, m.loaded ? "loaded" : "loading ...") : button);
  }));
  if (at >= 0) $("models").querySelectorAll("button")[at]?.focus();
}

async function act(request, doing) {
  const to = board;
  if (!to || busy) return;
  busy = to;
  working(true);
  state(doing);
  try { await to.ask(request); } catch (e) { show("error", e.message); }
  busy = null;
  working(false);
  connected();
  text.focus();
  await look(true);
}
const load = name => board ? act({ load: name }, `loading ${label(name)} ...`) : loadBehind(name);

/** On the boards behind the server, or on one more of them. */
async function loadBehind(name) {
  if (busy) return;
  try { await server.load(name); } catch (e) { show("error", e.message); }
  await look();
}

const upload = new Upload(() => board, on => {
  if (on && (busy || !party())) return false;
  busy = on ? board : null;
  $("stop").hidden = true;
  $("send").disabled = on;
  for (const b of document.querySelectorAll("#models button, #put, #fresh, #tab-chat, #tab-terminal")) b.disabled = on;
  if (!on) look(true);
  return true;
}, (name, kind) => kind === "models" ? load(name) : act({ adapter: name.replace(/\.ingot$/, "") }, `${label(name)} is loading ...`));

// ---- a board at the USB port

/** The line above, and what belongs to a board that is or is not there. A board's other model begins a new conversation. */
function connected() {
  const there = board && !board.gone, model = there ? words(board.ready?.model) : "";
  $("serial").textContent = there ? "Disconnect" : "Connect a board";
  $("serial").classList.toggle("main", !there && !server);
  $("tabs").hidden = !(there && hasTerminal);
  if (there) $("boards-box").hidden = true;
  if (!there) for (const id of ["memory-box", "plan-box", "models-box"]) $(id).hidden = true;
  if (there && board.ready) state(named(`${label(board.ready.board, 40) || "a board"}, `, model || "no model"), Boolean(model));
  if (there && board.ready && model !== shownModel) { shownModel = model; takeUpTalk(board) || fresh(); }
}

async function connect() {
  let port;
  try { port = await navigator.serial.requestPort(); } catch (e) {
    if (e.name !== "NotFoundError") show("error", e.message); // NotFoundError: nobody was chosen
    return;
  }
  board = new Board(port);
  const to = board;
  to.changed = () => { if (board === to) to.gone ? lost() : to.mode === "json" && !busy && connected(); };
  shownModel = null;
  state("asking the board ...");
  $("serial").disabled = true;
  busy = to;
  try {
    await to.open(+$("baud").value);
  } catch (e) {
    board = busy = null;
    state("not connected");
    show("error", "The port cannot be opened.", "Another program has it: end that one, or unplug the adapter and plug it in again.");
    $("serial").disabled = false;
    return;
  }
  try {
    await to.greet();
  } catch (e) {
    if (!to.gone) { state("no board answers", false); show("error", e.message, hasTerminal ? NOBODY : NOBODY.replace(/ The Terminal.*/, "")); }
  }
  $("serial").disabled = false;
  busy = null;
  connected();
  await look(true);
  text.focus();
}

/** It went away by itself. */
function lost() {
  board = null;
  busy = busy instanceof Board ? null : busy;
  tab("chat");
  connected();
  state("the board is gone", false);
  if ($("stop").hidden) show("error", "The board is gone.", UNPLUGGED); // else its reply says so
}

async function disconnect() {
  const to = board;
  if (to.mode === "terminal") { tab("chat"); to.wasToPeople = false; }
  board = null;
  await to.close();
  connected();
  state("not connected");
  if (server) server.open().then(look, e => state(e.message, false));
  fresh();
}

// ---- chat and terminal

function tab(name) {
  for (const each of ["chat", "terminal"]) {
    $(each).hidden = each !== name;
    $("tab-" + each).setAttribute("aria-selected", each === name);
    $("tab-" + each).tabIndex = each === name ? 0 : -1;
  }
  $("fresh").hidden = name === "terminal";
}

async function choose(name) {
  const to = board;
  if (!to || busy || $("tab-" + name).getAttribute("aria-selected") === "true") return;
  busy = to;
  tab(name);
  try {
    if (name === "terminal") {
      terminal ??= new Console($("screen"), typed => { if (board?.mode === "terminal") board.type(typed).catch(() => {}); });
      await to.toTerminal(data => terminal.show(data));
      terminal.focus();
    } else {
      await to.toJson();
      note("The conversation goes on where the terminal left it.");
    }
  } catch (e) {
    if (!to.gone) show("error", e.message, NOBODY);
  }
  busy = null;
  if (name === "chat" && !to.gone) { connected(); await look(true); text.focus(); }
}

// ---- what is pressed

$("ask").addEventListener("submit", e => { e.preventDefault(); submit(text.value.trim()); });
// A key that is held since before this page was there (repeat) sends nothing.
text.addEventListener("keydown", e => { if (e.key === "Enter" && !e.shiftKey && !e.isComposing) { e.preventDefault(); if (!e.repeat) $("ask").requestSubmit(); } });
function fit() { text.style.height = ""; text.style.height = text.scrollHeight + 2 + "px"; }
text.addEventListener("input", fit);
document.addEventListener("keydown", e => {
  if (e.key !== "Escape" || !$("terminal").hidden) return;
  quiet();
  if (document.body.classList.contains("side")) { $("more").click(); $("more").focus(); return; }
  if (!$("stop").hidden) busy?.stop?.();
});
$("stop").onclick = () => { quiet(); busy?.stop?.(); text.focus(); };
$("fresh").onclick = () => { quiet(); fresh(); text.focus(); };
$("more").onclick = () => { const on = document.body.classList.toggle("side"); $("more").setAttribute("aria-expanded", on); $("more").textContent = on ? "Back" : "Figures"; };
$("serial").onclick = () => board && !board.gone ? disconnect() : connect();
for (const [name, other, key] of [["chat", "terminal", "ArrowRight"], ["terminal", "chat", "ArrowLeft"]]) {
  $("tab-" + name).onclick = () => choose(name);
  $("tab-" + name).onkeydown = e => { if (e.key === key) $("tab-" + other).focus(); };
}

const isDark = () => (document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
$("theme").onclick = () => kept.set("theme", document.documentElement.dataset.theme = isDark() ? "light" : "dark");
if (["dark", "light"].includes(kept.get("theme"))) document.documentElement.dataset.theme = kept.get("theme");

for (const id of ["temp", "top_p", "n", "system", "baud", "fast"]) {
  if (kept.get(id)) $(id).value = kept.get(id);
  $(id).addEventListener("change", () => { if ($(id).checkValidity()) kept.set(id, $(id).value); else $(id).value = kept.get(id, $(id).defaultValue); });
}
$("speak").checked = kept.get("speak") === "1";
$("speak").addEventListener("change", () => { kept.set("speak", $("speak").checked ? "1" : ""); if (!$("speak").checked) quiet(); });
$("token").addEventListener("change", () => server && openServer().catch(e => state(e.message, false)));

for (const kind of ["dragover", "dragleave", "drop"]) {
  document.addEventListener(kind, e => {
    if (!board || !e.dataTransfer?.types.includes("Files")) return;
    e.preventDefault();
    document.body.classList.toggle("drop", kind === "dragover");
    if (kind === "drop" && e.dataTransfer.files[0]) upload.take(e.dataTransfer.files[0]);
  });
}

$("serial").hidden = !("serial" in navigator);
for (const [kind, there] of [["server", server], ["serial", "serial" in navigator], ["speech", canSpeak]]) if (!there) document.querySelectorAll(".of-" + kind).forEach(e => { e.hidden = true; });
listen($("mic"), heard => { text.value = heard; $("ask").requestSubmit(); });

/** #ask=TEXT behind the address fills the field. Any site can link here, so nothing is sent: a person reads it and presses Send. The address
 * is looked at once, when the page is loaded: who opened the page can change its address later, while somebody types. */
function fillFromAddress() {
  const linked = words(new URLSearchParams(location.hash.slice(1)).get("ask")).trim().replace(/\s*\n\s*/g, "\n").slice(0, LINK_MOST);
  if (!linked) return;
  try { history.replaceState(null, "", location.pathname + location.search); } catch { /* then a reload fills the field again */ }
  fill(linked);
  announce(FROM_LINK);
}

const openServer = () => server.open().then(() => { takeUpTalk(server); return look(); });
connected();
welcome();
if (!server) for (const m of keptTalk()?.messages ?? []) show(m.role === "user" ? "mine" : "its", m.content); // it goes on when its board is connected
fillFromAddress();
if (server) setInterval(() => { if (!document.hidden && !busy && !board && server.model) look(); }, LOOK_MS); // boards come and go
if (server) openServer().catch(e => { state(e.message, false); show("error", e.message); });
