"use strict";
// The browser's own speech, where it has any: a question that is spoken, replies read aloud sentence by sentence.

const Recognition = window.SpeechRecognition ?? window.webkitSpeechRecognition;
const SPEECH_ERRORS = { "not-allowed": "the browser may not use the microphone: allow it beside the address", "service-not-allowed": "the browser has no speech service here", "audio-capture": "there is no microphone",
  network: "the browser's speech service cannot be reached", "no-speech": "nothing was heard" };

/** The button: pressed, it listens; pressed again, it stops. heard(text) when something was said. */
function listen(button, heard) {
  let at = null;
  button.hidden = !Recognition;
  button.onclick = () => {
    if (at) { at.stop(); return; }
    quiet();
    try {
      at = new Recognition();
      at.lang = navigator.language || "en";
      at.onresult = e => { const text = words(e.results?.[0]?.[0]?.transcript).trim(); if (text) heard(text); };
      at.onerror = e => { if (e.error !== "aborted") note("Speech: " + (SPEECH_ERRORS[e.error] ?? label(e.error))); };
      at.onend = () => { at = null; button.setAttribute("aria-pressed", "false"); };
      at.start();
      button.setAttribute("aria-pressed", "true");
    } catch (e) {
      at = null;
      note("Speech: " + label(e.message));
    }
  };
}

const canSpeak = "speechSynthesis" in window && "SpeechSynthesisUtterance" in window;
function speak(sentence) { if (canSpeak) window.speechSynthesis.speak(new SpeechSynthesisUtterance(sentence)); }
function quiet() { if (canSpeak) window.speechSynthesis.cancel(); }
