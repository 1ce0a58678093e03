#!/usr/bin/python3
"""Write the device tree of the Icicle Kit as QEMU 10 emulates it: usage: tree.py OUT.dtb

QEMU makes none for this machine. It wants as many cpu nodes as -smp has harts, the memory of -m,
and a CLINT. On a real kit U-Boot passes its own tree. Addresses: PolarFire SoC MSS Technical
Reference Manual (DS60001702), "Memory Map"; numbers of interrupts: its table of PLIC sources."""

import struct
import sys

RAM_LOW = (0x80000000, 0x40000000)
RAM_HIGH = (0x10_0000_0000, 0x40000000)
TIMEBASE_HZ = 1000000  # of QEMU's machine and of the kit
N_HARTS = 5            # hart 0 is the E51, without FPU and MMU
PLIC, FIRST_INTC, REFERENCE_CLOCK = 1, 2, 16  # phandles
MACHINE, SUPERVISOR, SOFTWARE, TIMER = 11, 9, 3, 7  # interrupts of a hart


def cells(*numbers):
    return b"".join(struct.pack(">I", n) for n in numbers)


def pairs(*numbers):
    return b"".join(struct.pack(">Q", n) for n in numbers)


def text(*words):
    return b"".join(word.encode() + b"\0" for word in words)


def cpu(hart):
    node = {
        "device_type": text("cpu"),
        "compatible": text("sifive,u54-mc" if hart else "sifive,e51", "sifive,rocket0", "riscv"),
        "reg": cells(hart),
        "riscv,isa": text("rv64imafdc" if hart else "rv64imac"),
        "status": text("okay"),
        "interrupt-controller": {
            "#interrupt-cells": cells(1),
            "compatible": text("riscv,cpu-intc"),
            "interrupt-controller": b"",
            "phandle": cells(FIRST_INTC + hart),
        },
    }
    if hart:
        node["mmu-type"] = text("riscv,sv39")
    return node


def uart(address, interrupt):
    return {
        "compatible": text("ns16550a"),
        "reg": pairs(address, 0x400),
        "reg-io-width": cells(4),
        "reg-shift": cells(2),
        "interrupt-parent": cells(PLIC),
        "interrupts": cells(interrupt),
        "clock-frequency": cells(150000000),
        "current-speed": cells(115200),
    }


def harts_interrupts(*numbers):
    return b"".join(cells(FIRST_INTC + hart, n) for hart in range(N_HARTS) for n in numbers
                    if hart or n != SUPERVISOR)


SOC = {
    "#address-cells": cells(2),
    "#size-cells": cells(2),
    "compatible": text("simple-bus"),
    "ranges": b"",
    "clint@2000000": {
        "compatible": text("sifive,fu540-c000-clint", "sifive,clint0", "riscv,clint0"),
        "reg": pairs(0x2000000, 0xc000),
        "interrupts-extended": harts_interrupts(SOFTWARE, TIMER),
    },
    "interrupt-controller@c000000": {
        "compatible": text("sifive,fu540-c000-plic", "sifive,plic-1.0.0"),
        "reg": pairs(0xc000000, 0x4000000),
        "#address-cells": cells(0),
        "#interrupt-cells": cells(1),
        "interrupt-controller": b"",
        "interrupts-extended": harts_interrupts(MACHINE, SUPERVISOR),
        "riscv,ndev": cells(186),
        "phandle": cells(PLIC),
    },
    "serial@20000000": uart(0x20000000, 90),
    "serial@20100000": uart(0x20100000, 91),
    "mmc@20008000": {
        "compatible": text("microchip,mpfs-sd4hc", "cdns,sd4hc"),
        "reg": pairs(0x20008000, 0x1000),
        "interrupt-parent": cells(PLIC),
        "interrupts": cells(88),
        "bus-width": cells(4),
        "max-frequency": cells(200000000),
    },
}

TREE = {
    "#address-cells": cells(2),
    "#size-cells": cells(2),
    "model": text("Microchip PolarFire-SoC Icicle Kit (QEMU)"),
    "compatible": text("microchip,mpfs-icicle-kit", "microchip,mpfs"),
    "aliases": {"serial0": text("/soc/serial@20000000"), "serial1": text("/soc/serial@20100000")},
    "chosen": {"stdout-path": text("serial1:115200n8")},
    "cpus": {
        "#address-cells": cells(1),
        "#size-cells": cells(0),
        "timebase-frequency": cells(TIMEBASE_HZ),
        **{f"cpu@{hart}": cpu(hart) for hart in range(N_HARTS)},
    },
    "memory@80000000": {"device_type": text("memory"), "reg": pairs(*RAM_LOW)},
    "memory@1000000000": {"device_type": text("memory"), "reg": pairs(*RAM_HIGH)},
    "soc": SOC,
}


class Blob:
    """Devicetree Specification 0.4, chapter 5: header, reservations, structure, strings."""

    BEGIN_NODE, END_NODE, PROPERTY, END = 1, 2, 3, 9

    def __init__(self, tree):
        self.structure, self.strings, self.names = b"", b"", {}
        self.node("", tree)
        self.structure += cells(self.END)

    def node(self, name, content):
        self.structure += cells(self.BEGIN_NODE) + padded(name.encode() + b"\0")
        for key, value in content.items():
            if isinstance(value, bytes):
                self.structure += cells(self.PROPERTY, len(value), self.name(key)) + padded(value)
        for key, value in content.items():
            if isinstance(value, dict):
                self.node(key, value)
        self.structure += cells(self.END_NODE)

    def name(self, text):
        if text not in self.names:
            self.names[text] = len(self.strings)
            self.strings += text.encode() + b"\0"
        return self.names[text]

    def bytes(self):
        start = 40 + 16
        sizes = len(self.structure), len(self.strings)
        return cells(0xd00dfeed, start + sum(sizes), start, start + sizes[0], 40, 17, 16, 0,
                     sizes[1], sizes[0]) + pairs(0, 0) + self.structure + self.strings


def padded(value):
    return value + b"\0" * (-len(value) % 4)


if __name__ == "__main__":
    with open(sys.argv[1], "wb") as out:
        out.write(Blob(TREE).bytes())
