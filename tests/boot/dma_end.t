#!/usr/bin/python3
"""DMA that does not reach all memory. `dmaend` sets its end on the virt machines; a Raspberry Pi 4 with 2 GiB has such an end, in QEMU and in
reality. Data for memory beyond the end go through a bounce buffer: ids and logits are the same, resident and streamed, a conversation is saved and
loaded, and QEMU's log has no DMA beyond the end."""

import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from boards import with_expected
from machine import (ARM64, HOST, RISCV64_ANY, SD_ADMA2, WORK, Machine, Reply, Tap, card_arguments,
                     make_card, run, sd_arguments, segments)
from talk import Console, make_model, own_copy

ON_SPI, RPI4 = [Machine(board) for board, data in with_expected("CARD_DATA").items() if data == "SPI"], Machine("rpi4")
SAYS = re.compile(r"DMA ends at 0x(\w+): what lies beyond goes through 2 x 256 KiB at 0x(\w+), each byte copied "
                  r"once")
HALVES = 512 << 10
tap = Tap()

model = make_model("card-core", 5)
STREAM = f" mem={2 * max(size for _, size in segments(model)[1:-1]) + 4 * 4096}"
card = make_card("dma-end.img", "--power-of-two", "--save", "1", model)
WORDS = 'prompt="Hello" temp=0 n=4 ids model=card-core.ingot'
expected = Reply(run([HOST, "run", model, "-p", "Hello", "-n", "4", "--temp", "0", "--ids"])[1])
tap.ok(len(expected.ids or []) > 1, "the host's reply", expected.console)
SD = sd_arguments(card, drive=f"snapshot=on,file={card}")
RPI_SD = ["-drive", f"if=sd,format=raw,cache=unsafe,snapshot=on,file={card}"]

# ---- the same bits ------------------------------------------------------------------------------

# The bounce buffer is at the start of the memory. If DMA ends far above the buffer, the log says where DMA ends. If DMA ends right after the
# buffer, it reaches none of the models' memory.
END = {}
for m, far in ((ARM64, 0x48000000), (RISCV64_ANY, 0x88000000)):
    status, console = m.run(WORDS + f" dmaend={far:#x}", 1, card_arguments(card), timeout=120)
    found = SAYS.search(console)
    tap.ok(found and int(found.group(1), 16) == far, f"{m.board}: the log says where DMA ends", console)
    END[m.board] = int(found.group(2), 16) + HALVES if found else far


def end_word(machine):
    return f" dmaend={END[machine.board]:#x}"


cases = []
for m in (ARM64, RISCV64_ANY):
    cases.append((m, "virtio-blk", WORDS + end_word(m), card_arguments(card)))
    cases.append((m, "virtio-blk, streamed", WORDS + STREAM + end_word(m), card_arguments(card)))
    cases.append((m, "SD, streamed", WORDS + STREAM + end_word(m), SD + ["-trace", "sdhci_adma_loop"]))
cases.append((ARM64, "none, streamed", WORDS + STREAM, SD))
cases.append((RPI4, "its own card, streamed", WORDS + STREAM, RPI_SD + ["-trace", "sdhci_access"]))


def boot(case):
    machine, _, words, drives = case
    return machine.run(words, 1, drives, timeout=120)


with ThreadPoolExecutor(2) as pool:
    results = list(pool.map(boot, cases))
for (m, name, words, _), (status, console) in zip(cases, results):
    reply = Reply(console)
    tap.ok(status == 0 and reply.ids == expected.ids and reply.hash == expected.hash and
           (", streamed" in reply.stats) == ("streamed" in name),
           f"{m.board}, {name}: the host's ids and logits", console[-3000:])
    tap.ok(bool(SAYS.search(console)) == (name != "none, streamed"),
           f"{m.board}, {name}: the log {'says nothing' if 'none' in name else 'has the bounce'}",
           console[-3000:])
    if name.startswith("SD"):
        rows = [(int(at, 16), int(n) or 65536) for at, n in
                re.findall(r"sdhci_adma_loop addr=0x(\w+), len=(\d+), attr=0x2[13]", console)]
        tap.ok(sum(n for _, n in rows) > os.path.getsize(model) and
               all(at + n <= END[m.board] for at, n in rows),
               f"{m.board}, {name}: {len(rows)} pieces are moved by DMA, none of them beyond the end", rows[:20])
    if m is RPI4:  # a core that moves blocks itself reads Present State before each block
        looks = len(re.findall(r"sdhci_access rd32: addr\[0x0024\]", console))
        tap.ok(looks < os.path.getsize(model) // 512, f"rpi4: {looks} looks: its DMA engine moves the data",
               console[-1500:])

# ---- saved and loaded ---------------------------------------------------------------------------


def ids(text):
    found = re.search(r"^ids:.*", text, re.M)
    return found.group(0) if found else text


def talk(machine, more, drives):
    """Save after one turn, and load after a second turn; returns the reply to a third turn, and /plan."""
    with Console(machine, f"temp=0 n=4 ids model=card-core.ingot {more}", drives) as k:
        k.prompt(120)
        k.say("Hello there")
        saved = k.say("/save")
        second = ids(k.say("Second"))
        loaded = k.say("/load")
        return saved, second, loaded, ids(k.say("Second")), k.say("/plan")


for m, drives in ((ARM64, sd_arguments(own_copy(card, "dma-end-arm64.img"))),
                  (RISCV64_ANY, ["-drive", "if=none,id=card,format=raw,cache=unsafe,file=" +
                               own_copy(card, "dma-end-riscv64.img"),
                               "-device", "virtio-blk-device,drive=card"])):
    saved, second, loaded, again, plan = talk(m, STREAM + end_word(m), drives)
    tap.ok("tokens are saved" in saved, f"{m.board}: /save", saved)
    tap.ok("go on" in loaded and "ids:" in second and again == second,
           f"{m.board}: /load, and the turn after it is the same", [loaded, second, again])
    found = re.search(r"bounce: (\S+ \w+) were read and written, (\S+ \w+) of that copied once more", plan)
    tap.ok(found and found.group(1) == found.group(2), f"{m.board}: /plan says what the bounce buffer costs", plan)
    tap.note(found.group(0) if found else plan)

# ---- the option ---------------------------------------------------------------------------------

for m, word, says in ((ARM64, "dmaend=low", "dmaend takes an address of at least 1"),
                      *((m, "dmaend=1G", "dmaend is not available on this board") for m in ON_SPI)):
    drives = RPI_SD if m in ON_SPI else card_arguments(card)
    status, console = m.run(f"{WORDS} {word}", 1, drives, timeout=120)
    tap.ok(says in console and not SAYS.search(console) and Reply(console).ids == expected.ids,
           f"{m.board}: {word} is answered: ... {says}", console[-2000:])
tap.done()
