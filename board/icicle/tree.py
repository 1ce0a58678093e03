#!/usr/bin/python3
"""Write the device tree of the Icicle Kit as QEMU 10 emulates it (usage: tree.py OUT.dtb).

QEMU makes no tree for this machine. QEMU requires a tree with as many cpu nodes as -smp has harts, the memory of -m, and a CLINT. On a real kit
U-Boot passes its own tree. Addresses: PolarFire SoC MSS Technical Reference Manual (DS60001702), "Memory Map"; numbers of interrupts: that
manual's table of PLIC sources."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tests"))
from device_tree import make_tree

N_HARTS = 5  # hart 0 is the E51, without FPU and MMU
PLIC, FIRST_INTC = 1, 2  # phandles
SUPERVISOR, MACHINE, SOFTWARE, TIMER = 9, 11, 3, 7  # interrupts of a hart


def cpu(hart):
    kind = ({"compatible": "sifive,u54-mc\0sifive,rocket0\0riscv", "riscv,isa": "rv64imafdc",
             "mmu-type": "riscv,sv39"} if hart else
            {"compatible": "sifive,e51\0sifive,rocket0\0riscv", "riscv,isa": "rv64imac"})
    return {"device_type": "cpu", "reg": hart, "status": "okay", **kind,
            "interrupt-controller": {"#interrupt-cells": 1, "compatible": "riscv,cpu-intc",
                                     "interrupt-controller": [], "phandle": FIRST_INTC + hart}}


def uart(address, interrupt):
    return {"compatible": "ns16550a", "reg": [0, address, 0, 0x400], "reg-io-width": 4,
            "reg-shift": 2, "interrupt-parent": PLIC, "interrupts": interrupt,
            "clock-frequency": 150000000, "current-speed": 115200}


def to_harts(*numbers):
    """Cells for these interrupts of every hart; the E51 has no interrupt for S-mode."""
    return [cell for hart in range(N_HARTS) for n in numbers if hart or n != SUPERVISOR
            for cell in (FIRST_INTC + hart, n)]


def ethernet(address, interrupt, station):
    return {"compatible": "microchip,mpfs-macb\0cdns,macb", "reg": [0, address, 0, 0x2000],
            "interrupt-parent": PLIC, "interrupts": interrupt, "phy-mode": "sgmii",
            "local-mac-address": bytes.fromhex(station)}


SOC = {
    "#address-cells": 2, "#size-cells": 2, "compatible": "simple-bus", "ranges": [],
    "clint@2000000": {"compatible": "sifive,fu540-c000-clint\0sifive,clint0",
                      "reg": [0, 0x2000000, 0, 0xc000],
                      "interrupts-extended": to_harts(SOFTWARE, TIMER)},
    "interrupt-controller@c000000": {
        "compatible": "sifive,fu540-c000-plic\0sifive,plic-1.0.0",
        "reg": [0, 0xc000000, 0, 0x4000000], "#address-cells": 0, "#interrupt-cells": 1,
        "interrupt-controller": [], "interrupts-extended": to_harts(MACHINE, SUPERVISOR),
        "riscv,ndev": 186, "phandle": PLIC},
    "serial@20000000": uart(0x20000000, 90),
    "serial@20100000": uart(0x20100000, 91),
    "mmc@20008000": {"compatible": "microchip,mpfs-sd4hc\0cdns,sd4hc",
                     "reg": [0, 0x20008000, 0, 0x1000], "interrupt-parent": PLIC,
                     "interrupts": 88, "bus-width": 4, "max-frequency": 200000000},
    "ethernet@20110000": ethernet(0x20110000, 64, "525400123456"),
    "ethernet@20112000": ethernet(0x20112000, 70, "525400123457"),
}

TREE = {
    "#address-cells": 2, "#size-cells": 2, "model": "Microchip PolarFire-SoC Icicle Kit (QEMU)",
    "compatible": "microchip,mpfs-icicle-kit\0microchip,mpfs",
    "aliases": {"serial0": "/soc/serial@20000000", "serial1": "/soc/serial@20100000"},
    "chosen": {"stdout-path": "serial1:115200n8"},
    "cpus": {"#address-cells": 1, "#size-cells": 0, "timebase-frequency": 1000000,
             **{f"cpu@{hart}": cpu(hart) for hart in range(N_HARTS)}},
    "memory@80000000": {"device_type": "memory", "reg": [0, 0x80000000, 0, 0x40000000]},
    "memory@1000000000": {"device_type": "memory", "reg": [0x10, 0, 0, 0x20100000]},
    "soc": SOC,
}

if __name__ == "__main__":
    with open(sys.argv[1], "wb") as out:
        out.write(make_tree(TREE))
