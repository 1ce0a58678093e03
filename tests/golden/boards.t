#!/usr/bin/python3
"""The golden table on boards: each board boots in QEMU with a card like that of `make card` at its own SD controller, with 1 and 4 cores, resident
and streamed. Every cell has the host's ids and logits."""

import os
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from boards import makes, names, slot_drive
from machine import (ASSETS, HOST, LONG, Machine, Reply, Tap, digest, segments, make_board_card, pack,
                     run)

CONTROLLER = {board: makes(board, "QEMU_CARD_SAYS") for board in names() if makes(board, "QEMU_CARD_SAYS")}
BOARDS = list(CONTROLLER)
STORIES = os.path.join(ASSETS, "llama2c/stories260K.bin")
TYPES = ["f32", "q8_0", "q4_0"] if LONG else ["q4_0"]  # table.t has the others, which take two and four times as long
# As in table.t; a streamed token reads the model again, and QEMU's card works byte by byte.
TOKENS = {"f32": {"resident": 128 if LONG else 32, "streamed": 12 if LONG else 2},
          **{t: {"resident": 48 if LONG else 12, "streamed": 32 if LONG else 2}
             for t in ("q8_0", "q4_0")}}
# Three corners of the table, for one type; in test-long all four corners for all types.
CELLS = ([(1, "resident")] if LONG else []) + [(4, "resident"), (1, "streamed"), (4, "streamed")]

tap = Tap()
if not os.path.exists(STORIES):
    tap.skip("the golden table on boards", "no " + STORIES + " (set INGOT_ASSETS)")
    tap.done()
models = {t: pack(STORIES, t, f"boards-{t}.ingot") for t in TYPES}


cards = {(b, t): make_board_card(b, f"boards-{b}-{t}.img", MODEL=models[t])[0]
         for b in BOARDS for t in TYPES}


def limit(kind):
    """Memory for two layers and the pages that must stay, so that everything else streams."""
    return 2 * max(size for _, size in segments(models[kind])[1:-1]) + 2 * 4096


def host_cell(kind, mode):
    return Reply(run([HOST, "run", models[kind], "-p", "", "-n", str(TOKENS[kind][mode]), "--temp",
                      "0", "--ids"])[1])


def cell(key):
    board, kind, cores, mode = key
    words = f'prompt="" temp=0 n={TOKENS[kind][mode]} ids cores={cores}'
    words += f" mem={limit(kind)}" if mode == "streamed" else ""
    # Cells that run in parallel share the card, to which QEMU needs write access.
    drive = slot_drive(board, f"{cards[board, kind]},snapshot=on")
    status, console = Machine(board).run(words, cores, drives=drive, timeout=240)
    reply = Reply(console)
    reply.status = status
    return reply


wanted = {(t, mode): host_cell(t, mode) for t in TYPES for mode in ("resident", "streamed")}
keys = [(b, t, c, mode) for t in TYPES for b in BOARDS for c, mode in CELLS]
with ThreadPoolExecutor(os.cpu_count()) as pool:
    cells = dict(zip(keys, pool.map(cell, keys)))


def label(key):
    board, kind, cores, mode = key
    return f"{kind:6} {board:9} {cores} core{'s' if cores > 1 else ' '} {mode:8}"


tap.note("type   board     cores   residency  tokens ids      logits")
for key, reply in cells.items():
    tap.note(f"{label(key)}   {len(reply.ids or []):6} {digest(reply.ids)} {reply.hash}")
for key, reply in cells.items():
    board, kind, cores, mode = key
    want = wanted[kind, mode]
    tap.ok(reply.status == 0 and want.ids and reply.ids == want.ids and
           len(reply.ids) == TOKENS[kind][mode] and
           reply.positions == want.positions == min(32, TOKENS[kind][mode]) and
           reply.hash == want.hash, label(key) + " agrees", reply.console)
    tap.ok(f", {mode}" in reply.stats and CONTROLLER[board] in reply.console and
           f"cores: {cores} of " in reply.console and "] warning" not in reply.console,
           f"{label(key)} and {cores} at work, by {CONTROLLER[board]}", reply.console)
    if mode == "streamed":
        read = reply.figure(r"read ([\d.]+ \w+) a \w+")
        tap.ok(read is not None and read == reply.figure(r"planned ([\d.]+ \w+)\)"),
               label(key) + " reads the planned bytes", reply.stats)
tap.done()
