"use strict";
// A file for the board's card: which folder it belongs to, how far it is, and what can be done with it once it is there.

const MAGIC = { model: "INGOT\r\n\x1a", adapter: "INGOT\r\nA" };
const FILE_MOST = 2 ** 32 - 1; // FAT32

/** Where on the card it goes, as host/line/cmd_send.c chooses it; throws with what is wrong. */
async function cardPath(file) {
  const head = String.fromCharCode(...new Uint8Array(await file.slice(0, 8).arrayBuffer())), name = file.name;
  if (!/^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/.test(name) || name.endsWith(".")) throw new Error("a name on the card has up to 63 letters, digits, -, _ and . of ASCII: rename the file");
  if (file.size === 0 || file.size > FILE_MOST) throw new Error("a file on the card has 1 byte to 4 GiB");
  if (head.startsWith("GGUF")) throw new Error("a board takes .ingot files: `ingot pack` makes one of it");
  if (name.endsWith(".grammar")) return "grammars/" + name;
  if (name.endsWith(".txt")) return "presets/" + name;
  const folder = head === MAGIC.adapter ? "adapters/" : head === MAGIC.model ? "models/" : "";
  if (!folder) throw new Error("this is not a model, an adapter, a .grammar or a preset (.txt)");
  if (!name.endsWith(".ingot")) throw new Error("a model or adapter is called NAME.ingot: rename the file");
  return folder + name;
}

function timeLeft(seconds) {
  const s = Math.max(0, Math.ceil(seconds));
  return s >= 3600 ? `${Math.floor(s / 3600)} h ${Math.floor(s % 3600 / 60)} min` : `${Math.floor(s / 60)}:${String(s % 60).padStart(2, "0")}`;
}

class Upload {
  /** board(): the one that is connected; working(on): no other request meanwhile; act(name, kind): load a model, or put an adapter to work. */
  constructor(board, working, act) {
    this.board = board;
    this.working = working;
    this.act = act;
    $("put").onclick = () => $("file").click();
    $("file").onchange = () => { const file = $("file").files[0]; $("file").value = ""; if (file) this.take(file); };
    $("upload-stop").onclick = () => this.cancel();
  }
  cancel() {
    const t = this.board()?.transfer;
    if (!t) { $("upload").hidden = true; $("put").focus(); return; }
    t.fail("stopped");
  }
  say(text) { $("upload-note").textContent = text; }
  progress(t) {
    const now = performance.now();
    if (now - (this.shownAt ?? 0) < 250 && t.acked < t.file.size) return;
    this.shownAt = now;
    const percent = Math.floor(100 * t.acked / t.file.size), rate = (t.acked - t.resumed) * 1000 / (now - t.began + 1);
    $("upload-bar").value = percent;
    $("upload-rate").textContent = t.acked === t.file.size ? "The board compares the file with what was sent." : `${percent} %, ${bytes(t.acked)} of ${bytes(t.file.size)}, ${(rate / 1000).toFixed(1)} kB/s` + (rate > 0 ? `, ${timeLeft((t.file.size - t.acked) / rate)} left` : "");
    if (!this.told) this.say(t.resumed ? `${bytes(t.resumed)} are there from an earlier try.` : "The file is being sent.");
    this.told = true;
  }
  async take(file) {
    const board = this.board();
    if (!board || board.transfer || !this.working(true)) { note("The board is busy: try again later."); return; }
    $("upload").hidden = false;
    $("upload-go").hidden = true;
    $("upload-bar").hidden = false;
    $("upload-bar").value = 0;
    $("upload-stop").textContent = "Cancel";
    $("upload-name").textContent = label(file.name);
    $("upload-rate").textContent = "";
    this.told = false;
    this.say("The board looks for an earlier part of this file.");
    let path = "", percent = 0;
    try {
      path = await cardPath(file);
      await board.send(path, file, +$("fast").value, t => { percent = Math.floor(100 * t.acked / t.file.size); this.progress(t); });
      this.done(path, file);
    } catch (e) {
      this.say(e.message === "stopped" ? `Stopped at ${percent} %: the next try continues from there.` : `The file is not on the card: ${words(e.message)}`);
      $("upload-rate").textContent = "";
    }
    $("upload-stop").textContent = "Close";
    this.working(false);
  }
  done(path, file) {
    const kind = path.slice(0, path.indexOf("/")), go = $("upload-go");
    $("upload-bar").value = 100;
    $("upload-rate").textContent = "";
    this.say(`The file is on the card, ${bytes(file.size)}, read back and compared.` + (kind === "grammars" ? ` /grammar ${file.name.replace(/\.grammar$/, "")} holds replies to it.` : kind === "presets" ? ` /preset ${file.name.replace(/\.txt$/, "")} uses it.` : ""));
    go.hidden = kind !== "models" && kind !== "adapters";
    go.textContent = kind === "models" ? "Load it" : "Use it";
    go.onclick = () => { $("upload").hidden = true; this.act(file.name, kind); };
  }
}
