#!/usr/bin/python3
"""Compares streaming with what arithmetic predicts: time per token divided by max(bytes / rate, time of computing),
and the planner's prediction divided by the measurement.

usage: stream.py [virt-arm64|virt-arm64-nvme|virt-arm64-usb|BOARD|host ...] [--rates 5,20,80] [--ratios 0.3,1,3]
                 [--cores N]

A row has a rate of the card and a ratio of computing to transfer. The model, its kernels and the number of streamed layers are chosen to give this
ratio. Runs that stream and runs with everything in memory alternate, and a run is compared with its neighbours in time, because QEMU's speed
depends on this computer's other programs. A row is the median of STREAM_RUNS=3. Only streamed bytes are checked, so the column "with the
checksum" adds the time of the checksum to that of computing, at the rate that the machine measured at its start. An emulated core takes several
times as long for the checksum as a real core. So computing with the checksum is also measured, if QEMU throttles the drive: by the same run
without a throttle. "Over transfer or no throttle" is the time per token divided by the larger of that run's time and bytes / rate. It must not exceed 1.10, and
does not depend on how slowly the emulated core computes.

On a board with its card on SPI, and on rpi4 with `pio`, a core moves every byte; if the plan says so, one of two cores does only this. There, the
runs with everything in memory use only one core. The cards of these boards are slow by themselves: a requested rate above the card's own rate is
replaced by the measured rate. The other machines use the same number of cores with and without streaming: one on the host, two on virt-arm64, which
share the checksum, or --cores."""

import os
import re
import statistics
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from boards import with_expected
from figures import print_table
from machine import (ARM64, HOST, WORK, Machine, card_arguments, make_card, nvme_arguments, reads_by, run, segments,
                     usb_arguments)

# Rows: shape, type, isa=. Models with larger layers come first, because they are preferred if several fit. A Pi's
# models are small, because a card of 3 to 7 MB/s also has to load the layers that stay in memory.
MODELS = [("smol135", "q8_0", ""), ("deep", "q8_0", ""), ("deep", "q8_0", "ref")]
SMALL = [("deep", "q4_0", ""), ("deep", "q4_0", "ref")]
# This computer is fast compared with a card of 5 MB/s, so these models have many small layers.
NARROW = [("narrow", "q4_0", "ref"), ("wordy", "q4_0", "ref")]
ON_SPI = [board for board, data in with_expected("CARD_DATA").items() if data == "SPI"]
# Board: its machine (None: this program), its rates in MB/s, its models.
BOARDS = {"virt-arm64": (ARM64, [5, 20, 80, 400], MODELS),
          "virt-arm64-nvme": (ARM64, [80, 400], MODELS),
          "virt-arm64-usb": (ARM64, [80, 400], MODELS),
          "rpi4": (Machine("rpi4"), [5, 20, 80], SMALL),
          **{board: (Machine(board), [80], SMALL) for board in ON_SPI},
          "host": (None, [5, 20, 80], MODELS + NARROW)}
CORES = {"rpi4": 2, **dict.fromkeys(ON_SPI, 2)}  # cores of a run that streams; a run that does not stream has one
OF_BOTH = {"virt-arm64": 2, "virt-arm64-nvme": 2, "virt-arm64-usb": 2, "host": 1}
DRIVES = {"virt-arm64-nvme": nvme_arguments, "virt-arm64-usb": usb_arguments}  # instead of virtio's card
WORDS = {"rpi4": " pio"}
SLOW = ["rpi4", *ON_SPI]  # limited by the card's own rate
RATIOS = [0.3, 1, 3]  # computing / transfer
LEAST = 3             # streamed layers: the two slots take as much memory as two layers
CLOSE = 1.25          # a ratio within this factor of the requested one is accepted
SECONDS_A_RUN = 3     # of decoding, approximately
FAR = 1.8             # a ratio beyond this factor gives no row
MOST_TOKEN = 2        # seconds: a model that takes longer for a row is not chosen
RUNS = int(os.environ.get("STREAM_RUNS", "3"))
TIMEOUT = 500
FREE = 1000           # MB/s: no card here reaches this rate
UNBOUND = 100000      # MB/s: no drive reaches this rate
MOST_OVER = 1.10      # times the larger of the transfer and the run without a throttle
CONTEXT = 128
HEAD = ["board", "MB/s", "model", "streams", "computing / transfer", "s / token",
        "over the larger", "with the checksum", "over transfer or no throttle", "over the sum", "predicted / measured"]


class Figures:
    """A run's figures: seconds per token, predicted tokens per second, streamed bytes per token in the plan, the measured rate of
    the card."""

    def __init__(self, out, tokens, what):
        ticks = re.search(r"decode (\d+) of (\d+) per second", out)
        if not ticks:
            sys.exit(f"{what}: no figures\n{out[-2000:]}")
        predicted = re.search(r"predicted: decode ([\d.]+)", out)
        card = re.search(r"rates: .*card ([\d.]+) MB/s", out)
        self.token = int(ticks.group(1)) / int(ticks.group(2)) / (tokens - 1)
        self.predicted = float(predicted.group(1)) if predicted else 0.0
        self.card = float(card.group(1)) * 1e6 if card else 0.0
        check = re.search(r"rates: .*checksum ([\d.]+) MB/s", out)
        self.check = 1e-6 / float(check.group(1)) if check else 0.0  # seconds per byte
        self.lent = "which does not compute" in out or "for prompts only" in out
        planned = re.search(r"\(planned ([\d.]+) ([KMG])iB\)", out)
        self.streams = (float(planned.group(1)) * 1024 ** (" KMG".index(planned.group(2)))
                        if planned else 0.0)


class Model:
    cores = 0  # the argument --cores, which replaces OF_BOTH

    def __init__(self, shape, kind, isa):
        self.name = f"{shape} {kind}" + (f", isa={isa}" if isa else "")
        self.isa = isa
        self.path = os.path.join(WORK, f"bench-{shape}-{kind}.ingot")
        if not os.path.exists(self.path):
            subprocess.run([HOST, "synth", "--shape", shape, "--type", kind, "-o", self.path],
                           check=True, capture_output=True, timeout=300)
        layers = segments(self.path)[1:-1]
        self.n_layers, self.layer = len(layers), layers[0][1]
        self.limits = {}
        self.alone = 0.0  # seconds per token on the current board, with everything in memory

    def pinned(self, limit):
        out = subprocess.run([HOST, "plan", self.path, "--mem", str(limit), "-c", str(CONTEXT),
                              "--mem-bw", "1G", "--spec", "off"], capture_output=True, text=True,
                             timeout=60).stdout
        found = re.search(r"pinned (\d+) of.*?, head\n", out)
        return self.n_layers if "streamed" not in out else int(found.group(1)) if found else -1

    def limit(self, streamed):
        """The mem= with which this many layers stream and the head does not; None if no value does that."""
        if streamed not in self.limits:
            low, high = 0, os.path.getsize(self.path) + 4 * self.layer
            while high - low > 4096:
                middle = (low + high) // 2
                low, high = ((middle, high) if self.pinned(middle) < self.n_layers - streamed
                             else (low, middle))
            self.limits[streamed] = high if self.pinned(high) == self.n_layers - streamed else None
        return self.limits[streamed]

    def run(self, board, tokens, memory=0, rate=0):
        machine = BOARDS[board][0]
        both = Model.cores or OF_BOTH.get(board)
        what = f"{self.name} on {board}, mem={memory}"
        if machine is None:
            flags = ["-n", str(tokens), "-t", str(both), "--temp", "0", "-c", str(CONTEXT),
                     "--spec", "off", "--ticks"]
            flags += ["--mem", str(memory), "--card", f"{rate}M"] if memory else []
            flags += ["--isa", self.isa] if self.isa else []
            return Figures(run([HOST, "run", self.path, "-p", "a", *flags], TIMEOUT)[1], tokens,
                           what)
        cores = (CORES[board] if memory else 1) if board in CORES else both
        words = f"temp=0 n={tokens} ctx={CONTEXT} spec=off cores={cores} verbose ticks prompt=a"
        words += WORDS.get(board, "") + (f" mem={memory}" if memory else "")
        words += f" isa={self.isa}" if self.isa else ""
        return Figures(machine.run(words, cores, drives_of(self.path, board, rate),
                                   timeout=TIMEOUT)[1], tokens, what)


def drives_of(path, board, rate):
    """A card with the model. Without a rate the loader puts the model into memory, except on a Pi: there a device tree would have to name the
    model's address, and QEMU gives a Pi no device tree."""
    name = os.path.basename(path)
    pace = f",throttling.bps-read={rate * 1000000}" if rate else ""
    if not rate and board != "rpi4":
        return ["-initrd", path]
    if board in SLOW:
        return ["-drive", "if=sd,format=raw,snapshot=on" + reads_by() + ",file=" +
                once(name + ".sd.img", "--power-of-two", path) + pace]
    if board in DRIVES:
        return DRIVES[board](path, f"file.locking=off,file={once(name + '.img', path)}{pace}")
    return card_arguments(once(name + ".img", path), pace)


def has_throttle(board):
    """True if QEMU has to slow the card down, because the card is not slow by itself."""
    return BOARDS[board][0] is not None and board not in SLOW


def once(name, *arguments):
    path = os.path.join(WORK, name)
    return path if os.path.exists(path) else make_card(name, *arguments)


def tokens_for(seconds):
    """The number of new tokens of a run, of which the first comes with the prompt. The text stays short."""
    return 1 + min(24, max(4, round(SECONDS_A_RUN / seconds)))


def choose(models, board, rate, ratio):
    """(model, streamed layers) with this ratio: the first pair that is close enough, else the nearest; None if no pair is
    near."""
    best = None
    for model in models:
        fitting = model.alone / ratio * rate / model.layer
        for n in {max(LEAST, int(fitting)), max(LEAST, int(fitting) + 1)}:
            if n > model.n_layers or model.limit(n) is None:
                continue
            is_ratio = model.alone / (n * model.layer / rate)
            off = max(is_ratio / ratio, ratio / is_ratio)
            long = max(model.alone, n * model.layer / rate) > MOST_TOKEN
            rank = (off > CLOSE, long, 0 if off <= CLOSE else off)
            if off < FAR and (best is None or rank < best[0]):
                best = (rank, model, n)
    return best and best[1:]


def measure(board, rate, ratio, models, own):
    """One row. own: the card's rate without a throttle, in bytes per second; 0: no limit."""
    chosen = choose(models, board, min(rate * 1e6, own or 1e12), ratio)
    if chosen is None:
        return [board, str(rate), "none makes it", "", f"{ratio}", "", "", "", "", "", ""]
    model, n = chosen
    size = n * model.layer
    tokens = tokens_for(max(model.alone, size / min(rate * 1e6, own or 1e12)))
    alone, streamed, free = [model.run(board, tokens).token], [], []
    for _ in range(RUNS):
        streamed.append(model.run(board, tokens, model.limit(n), rate))
        free.append(model.run(board, tokens, model.limit(n), UNBOUND).token if has_throttle(board) else float("nan"))
        alone.append(model.run(board, tokens).token)
    found = []
    for i, run_ in enumerate(streamed):
        beside = (alone[i] + alone[i + 1]) / 2
        transfer = run_.streams / min(rate * 1e6, run_.card if own else 1e12)
        found.append((run_.token / max(beside, transfer), run_.token / max(beside + run_.streams * run_.check, transfer),
                      run_.token / max(free[i], transfer), run_.token / (beside + transfer),
                      run_.predicted * run_.token, beside / transfer, run_.token))
    larger, checked, bound_by, total, predicted, is_ratio, token = map(statistics.median, zip(*found))
    bound = f"{rate}" if not own or rate * 1e6 < own else f"{own / 1e6:.1f} of {rate}"
    if board in CORES:
        lent = sum(run_.lent for run_ in streamed)
        board += f", {CORES[board]} cores, one for the card in {lent} of {RUNS}"
    size = statistics.median(run_.streams for run_ in streamed)
    size = f"{size / 1e6:.1f} MB" if size >= 1e5 else f"{size / 1e3:.1f} kB"
    return [board, bound, model.name, size, f"{is_ratio:.2f}", f"{token:.3f}",
            f"{larger:.2f}", f"{checked:.2f}", f"{bound_by:.2f}" if has_throttle(board.split(",")[0]) else "",
            f"{total:.2f}", f"{predicted:.2f}"]


def rows(models, board, rates, ratios):
    for model in models:
        model.alone = min(model.run(board, 9).token for _ in range(2))
    own = 0 if board not in SLOW else models[0].run(board, 2, models[0].limit(LEAST), FREE).card
    for rate in rates or BOARDS[board][1]:
        for ratio in ratios or RATIOS:
            yield measure(board, rate, ratio, models, own)


def taken(arguments, flag, kind):
    """Removes a flag from the arguments, and returns the list after it; None if the flag is missing."""
    if flag not in arguments:
        return None
    at = arguments.index(flag)
    found = [kind(r) for r in arguments[at + 1].split(",")]
    del arguments[at:at + 2]
    return found


def main():
    arguments = sys.argv[1:]
    rates, ratios = taken(arguments, "--rates", int), taken(arguments, "--ratios", float)
    Model.cores = (taken(arguments, "--cores", int) or [0])[0]
    os.makedirs(WORK, exist_ok=True)
    table = []
    for board in arguments or BOARDS:
        for row in rows([Model(*m) for m in BOARDS[board][2]], board, rates, ratios):
            table.append(row)
            print("  ".join(row), file=sys.stderr, flush=True)
    print_table("Streaming, time of this computer against itself", HEAD, table)
    late = [row for row in table if row[8] and float(row[8]) > MOST_OVER]
    if late:
        sys.exit(f"above {MOST_OVER} of the larger: " + ", ".join(f"{row[0]} at {row[1]} MB/s, {row[4]}" for row in late))


if __name__ == "__main__":
    main()
