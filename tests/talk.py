"""A console in QEMU, which pexpect reads, and a small model that talks in ChatML turns, with random weights and a token for every printable
character, so that a test can count tokens."""

import json
import os
import random
import re
import signal
import socket
import struct
import subprocess

import pexpect

from boards import has_slot, slot_drive
from gguf_files import ARRAY, F32, I32, STRING, Gguf, text
from machine import HOST, WORK, end, make_card, sd_arguments

FIGURES = r"\[(\d+) prompt \+ (\d+) new tokens?, [^\]\r\n]*\]"
# After a bold prompt the pattern requires the sequence that ends bold, because a prompt is sometimes read in two parts.
PROMPT = r"(?:^|\n)(?:\x1b[^\r\n> ]*)?(?:(?<!\x1b\[1m)> |\x1b\[1m> \x1b\[0m)$"
WIDE = 250
PATIENCE = 180  # seconds to wait for what takes one or two on an idle computer
ROLE = {"user": len("user") + 1, "assistant": len("assistant") + 1}
TURN = 1 + ROLE["user"] + 2 + 1 + ROLE["assistant"]  # tokens of a turn besides its texts
OPENING = 1 + ROLE["user"]  # those before the text, which are kept from one conversation to the next
CONTROL, BYTE, NORMAL = 3, 6, 1


# Tokens that are sequences that a terminal obeys: for its clipboard (OSC 52), a question whose answer is typed as input (CSI 6n), C1, XOFF and
# XON, CR, DEL, overrides of direction; and bytes that form such a character as several tokens.
ATTACKS = ["\x1b]52;c;cm0gLXJmIH4=\x07", "\x1b[6n", "\x1b[2J", "\x9b6n", "\x9d0;t\x9c", "\x13", "\x11", "\r",
           "\x08\x08", "\x7f", "\u202egnp", "\u2066x\u2069", "\u200f", "\u061c", "\x1bc", "\x00z"]
ATTACK_BYTES = {0x1b, 0x9b, 0x90, 0xc2, 0xe2, 0x80, 0xae, 0x13, 0x7f}
OURS = re.compile(r"\x1b(?:\[(?:[\d;]*m|\?2004[hl]|\d*[ABCD]|2?J|K|H|6n)|[78])|\r")


def foreign_controls(text):
    """The sequences in a text that a terminal would obey, except those of the console's own drawing."""
    return [c for c in OURS.sub("", text)
            if (c < " " and c not in "\n\t") or "\x7f" <= c <= "\x9f" or c in "\u061c\u200e\u200f" or
            "\u202a" <= c <= "\u202e" or "\u2066" <= c <= "\u2069"]


def vocabulary(said=None):
    tokens = [("<unk>", 2), ("<s>", CONTROL), ("</s>", CONTROL), ("<|im_start|>", CONTROL),
              ("<|im_end|>", CONTROL), ("\u2581", NORMAL)]
    tokens += [(c, NORMAL) for c in said or map(chr, range(33, 127))]
    return tokens + [(f"<0x{b:02X}>", BYTE) for b in range(256)]


def write_model(path, seed, dim=64, layers=2, context=1024, head_dim=16, said=None, loud=(), called=None):
    """A Llama with two heads per key. Printable characters or, instead of them, the texts `said` have large logits; so have the bytes
    `loud`."""
    chosen, tokens, hidden = random.Random(seed), vocabulary(said), 2 * dim
    heads, spoken = dim // head_dim, {f"<0x{b:02X}>" for b in loud}
    g = Gguf("llama")
    g.string("general.name", called or os.path.basename(path)[:-5])
    for key, value in (("context_length", context), ("embedding_length", dim),
                       ("block_count", layers), ("feed_forward_length", hidden),
                       ("attention.head_count", heads), ("attention.head_count_kv", heads // 2),
                       ("rope.dimension_count", head_dim)):
        g.u32("." + key, value)
    g.f32(".attention.layer_norm_rms_epsilon", 1e-5)
    g.string("tokenizer.ggml.model", "llama")
    g.array("tokenizer.ggml.tokens", STRING, [text(t) for t, _ in tokens])
    g.array("tokenizer.ggml.scores", F32, [struct.pack("<f", 0)] * len(tokens))
    g.array("tokenizer.ggml.token_type", I32, [struct.pack("<i", kind) for _, kind in tokens])
    for key, value in (("bos", 1), ("eos", 4), ("unknown", 0)):
        g.u32(f"tokenizer.ggml.{key}_token_id", value)
    g.flag("tokenizer.ggml.add_bos_token", False)
    g.flag("tokenizer.ggml.add_space_prefix", False)

    def matrix(name, rows, cols, scale=1.0):
        g.floats(name, [rows, cols], [chosen.gauss(0, scale / cols ** 0.5)
                                      for _ in range(rows * cols)])

    matrix("token_embd.weight", len(tokens), dim, dim ** 0.5)
    g.floats("output_norm.weight", [dim], [1.0] * dim)
    for i in range(layers):
        for name, rows, cols in (("attn_q", dim, dim), ("attn_k", dim // 2, dim),
                                 ("attn_v", dim // 2, dim), ("attn_output", dim, dim),
                                 ("ffn_gate", hidden, dim), ("ffn_up", hidden, dim),
                                 ("ffn_down", dim, hidden)):
            matrix(f"blk.{i}.{name}.weight", rows, cols)
        for name in ("attn_norm", "ffn_norm"):
            g.floats(f"blk.{i}.{name}.weight", [dim], [1.0] * dim)
    rows = [[chosen.gauss(0, 1) if kind == NORMAL or t in spoken else 0.0 for _ in range(dim)]
            for t, kind in tokens]
    g.floats("output.weight", [len(tokens), dim], [x for row in rows for x in row])
    g.write(path)


def make_model(name, seed, **shape):
    """The model, packed once as Q8_0 with the template."""
    os.makedirs(WORK, exist_ok=True)
    source, out = (os.path.join(WORK, name + end) for end in (".gguf", ".ingot"))
    write_model(source, seed, **shape)
    subprocess.run([HOST, "pack", source, "-o", out, "--type", "q8_0", "--template", "chatml",
                    "--quiet"], check=True, capture_output=True, timeout=60)
    return out


def make_hostile_model(stem):
    """A model that says only sequences that terminals obey, and a name with such sequences, which the caller must
    give to its file."""
    return make_model(stem, 3, said=ATTACKS, loud=ATTACK_BYTES, called="evil\x1b[6n\x9b\u202ename")


def own_copy(card, name):
    out = os.path.join(WORK, name)
    subprocess.run(["cp", "--sparse=always", card, out], check=True, timeout=60)
    return out


def sd_drive(board, card, more=""):
    """A card that can be written, in the board's slot."""
    if has_slot(board):
        return slot_drive(board, f"{card},cache=unsafe{more}")
    return sd_arguments(card, drive=f"file={card}{more}")


class Console:
    """A spawned board that is driven line by line. Lines come back without CR."""

    def __init__(self, machine, words, drives, cores=1, reboots=False, terminal=False, columns=WIDE):
        """columns: width of the terminal, enough for every message to fit on one row. terminal: the terminal answers every question, otherwise
        only questions that are asked at a prompt."""
        command = machine.command(words, cores, drives)
        if reboots:
            command.remove("-no-reboot")
        self.child = pexpect.spawn(command[0], command[1:], timeout=PATIENCE, echo=False,
                                   maxread=65536, dimensions=(24, columns))
        self.child.delaybeforesend = None
        self.seen = self.raw = ""
        self.columns = columns
        if terminal:
            self.expect(r"\x1b\[6n")
            self.answer()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        end(self.child)

    def kill(self):
        """End it immediately, like a power cut."""
        os.kill(self.child.pid, signal.SIGKILL)
        self.child.wait()

    def send(self, keys):
        self.child.send(keys)

    def expect(self, pattern, timeout=PATIENCE):
        """Read up to and including the pattern; returns the match."""
        self.child.expect(pattern, timeout=timeout)
        before = self.child.before + (self.child.after if isinstance(self.child.after, bytes)
                                      else b"")
        self.raw = before.decode("utf-8", "replace")
        self.seen = self.raw.replace("\r", "")
        return self.child.match

    def prompt(self, timeout=PATIENCE):
        """The text before the next prompt."""
        self.expect(PROMPT, timeout)
        if re.search(r"\x1b\[6n\x1b8[^\r\n]*$", self.seen):
            self.answer()  # the board takes this for a terminal, and asks for its width
        return self.seen

    def prompt_with(self, typed, timeout=PATIENCE):
        """The text before the next prompt, after which `typed` is on the line."""
        self.expect(PROMPT[:-1] + re.escape(typed) + "$", timeout)
        return self.seen

    def answer(self):
        self.send(f"\x1b[1;{self.columns}R")

    def say(self, line, timeout=PATIENCE):
        """Send a line; returns what came back before the next prompt, including its echo."""
        self.send(line + "\r")
        return self.prompt(timeout)

    def ask(self, line, timeout=PATIENCE):
        """Like say(), for a board whose log lines come at any time: a prompt follows each of them, even before the line's
        echo."""
        self.send(line + "\r")
        said = ""
        while line not in said:
            said += self.prompt(timeout)
        return said

    def change(self, model, timeout=PATIENCE):
        """Load another model, which may end the current conversation."""
        self.say("/reset", timeout)
        return self.say("/model " + model, timeout)

    def stats(self, line):
        """Hold a turn; returns (prompt tokens, new tokens, everything that was printed)."""
        out = self.say(line)
        found = re.search(FIGURES, out)
        return (int(found.group(1)), int(found.group(2)), out) if found else (0, 0, out)


class Monitor:
    """QEMU's machine protocol (QMP)."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(30)
        self.socket.connect(path)
        self.file = self.socket.makefile("rw", encoding="utf-8")
        self.file.readline()
        self.do("qmp_capabilities")

    def do(self, command, **arguments):
        self.file.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
        self.file.flush()
        while True:
            line = json.loads(self.file.readline())
            if "return" in line or "error" in line:
                return line

    def close(self):
        self.file.close()
        self.socket.close()
