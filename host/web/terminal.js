"use strict";
// The board's console as a terminal: xterm.js, where `make web` found it (make setup-tests). Without it there is no such tab.

const hasTerminal = typeof window.Terminal === "function" && Boolean(window.FitAddon);

class Console {
  /** typed(text): what a person types, and what the terminal answers to the board's questions. */
  constructor(place, typed) {
    this.xterm = new window.Terminal({
      fontSize: 14, lineHeight: 1.2, fontFamily: "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace", scrollback: 5000, screenReaderMode: true,
      cursorBlink: !matchMedia("(prefers-reduced-motion: reduce)").matches, minimumContrastRatio: 4.5,
      theme: { background: "#101316", foreground: "#e8e6e1", cursor: "#e08a4a", selectionBackground: "#3a5068" },
    });
    this.fit = new window.FitAddon.FitAddon();
    this.xterm.loadAddon(this.fit);
    this.xterm.open(place);
    this.xterm.onData(typed);
    this.xterm.attachCustomKeyEventHandler(e => e.key !== "Tab"); // the board has no use for it, and who has no mouse gets out by it
    new ResizeObserver(() => this.resize()).observe(place);
  }
  resize() { if (this.xterm.element?.offsetParent) this.fit.fit(); }
  show(data) { this.xterm.write(data); }
  focus() { this.resize(); this.xterm.focus(); }
}
