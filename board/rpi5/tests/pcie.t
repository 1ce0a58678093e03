#!/usr/bin/python3
"""Compares numbers in a Raspberry Pi 5's code with the published trees: for its two PCIe ports, and for the devices behind RP1's port."""

import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../../../tests"), os.path.join(HERE, "../../../tests/boards")]
from device_tree import address_of, cells_of, number_of
from machine import ROOT, Tap
from board_trees import missing, published

tap = Tap()
if missing("rpi5"):
    tap.skip(*missing("rpi5"))
    tap.done()

PORT, RP1_PORT = "pcie@1000110000", "pcie@1000120000"
CALIBRATION, RESETS = "reset-controller@119500", "reset-controller@1504318"


def number_in(file, words):
    """Return the value of the number that follows `words` in a file, with its shift if it has one."""
    with open(os.path.join(ROOT, "board", file), encoding="utf-8") as f:
        found = re.search(re.escape(words) + r"\W*((?:\(uint64_t\))?(?:0x[0-9a-f]+|\d+)\)?(?: << \d+)?)", f.read())
    value, _, shift = found[1].replace("(uint64_t)", "").replace(")", "").partition(" << ")
    return int(value, 0) << int(shift or 0)


def rows(node, name, child, parent, size):
    cells, row = cells_of(node[name]), child + parent + size
    for at in range(0, len(cells), row):
        yield (cells[at], number_of(cells[at + 1:at + child]), number_of(cells[at + child:at + child + parent]),
               number_of(cells[at + child + parent:at + row]))


def look_at(name):
    root, _ = published(name)
    port = root["axi"][PORT]
    for words, path in (("BOARD_PCIE ", f"/axi/{PORT}"), ("BOARD_RP1_PCIE", f"/axi/{RP1_PORT}"), ("BOARD_PCIE_RESCAL", f"/soc@107c000000/{CALIBRATION}"),
                        ("BOARD_RESETS", f"/soc@107c000000/{RESETS}")):
        tap.ok(number_in("rpi5/memory.h", words) == address_of(root, path), f"{name}: {words.strip()} is {path}", hex(address_of(root, path)))
    phandles = [cells_of(root["soc@107c000000"][node]["phandle"])[0] for node in (CALIBRATION, RESETS)]
    tap.ok(cells_of(port["resets"]) == [*phandles, number_in("rpi5/board.c", "PCIE_BRIDGE =")], f"{name}: the bridge's reset", cells_of(port["resets"]))
    window, bus, size = number_in("rpi5/memory.h", "BOARD_PCIE_WINDOW"), number_in("rpi5/board.c", ".outbound_bus ="), number_in("rpi5/board.c", ".outbound_bytes =")
    # The tree's window ends one word before 4 GiB.
    tap.ok(any(kind >> 24 == 2 and window - at == bus - begin and begin <= bus and bus + size <= begin + n + 4 for kind, begin, at, n in rows(port, "ranges", 3, 2, 2)),
           f"{name}: the window to a drive's registers", list(rows(port, "ranges", 3, 2, 2)))
    inbound, bits = number_in("rpi5/board.c", ".inbound_bus ="), number_in("rpi5/board.c", ".inbound_bits =")
    tap.ok(any(begin == inbound and at == 0 and n >= 1 << bits for _, begin, at, n in rows(port, "dma-ranges", 3, 2, 2)),
           f"{name}: memory is where a drive sees it", list(rows(port, "dma-ranges", 3, 2, 2)))
    bus = root["axi"][RP1_PORT]["pci@0,0"]["dev@0,0"]["pci-ep-bus@1"]
    begin = cells_of(bus["ranges"])[:2]
    for words, file, node in (("RP1_USB_0 =", "drivers/bus/rp1_link.h", "usb@40200000"), ("RP1_USB_1 =", "drivers/bus/rp1_link.h", "usb@40300000"),
                              ("RP1_GPIO_PLACE =", "drivers/gpio/rp1_gpio.h", "pinctrl@400d0000"), ("RP1_GEM =", "drivers/net/rp1_gem.c", "ethernet@40100000")):
        at = number_of(cells_of(bus[node]["reg"])[:2]) - number_of(begin)
        tap.ok(number_in(file, words) == at, f"{name}: {words[:-2]} is {node}", hex(at))


look_at("bcm2712-rpi-5-b")
look_at("bcm2712-d-rpi-5-b")
tap.done()
