"""Flattened device trees (Devicetree Specification 0.4, chapter 5) from nested dictionaries: a
dictionary is a node, a number one cell, a list cells, a text a string."""

import struct

BEGIN, END_NODE, PROPERTY, END = 1, 2, 3, 9


def value_bytes(value):
    if isinstance(value, str):
        return value.encode() + b"\0"
    if isinstance(value, int):
        value = [value]
    return b"".join(struct.pack(">I", cell) for cell in value)


def padded(data):
    return data + bytes(-len(data) % 4)


def make_tree(root):
    strings = bytearray()

    def name_offset(name):
        at = strings.find(name.encode() + b"\0")
        if at < 0:
            at = len(strings)
            strings.extend(name.encode() + b"\0")
        return at

    def node_bytes(name, node):
        out = struct.pack(">I", BEGIN) + padded(name.encode() + b"\0")
        for key, value in node.items():
            if isinstance(value, dict):
                out += node_bytes(key, value)
            else:
                data = value_bytes(value)
                out += struct.pack(">III", PROPERTY, len(data), name_offset(key)) + padded(data)
        return out + struct.pack(">I", END_NODE)

    structure = node_bytes("", root) + struct.pack(">I", END)
    reservations = bytes(16)
    at_structure = 40 + len(reservations)
    at_strings = at_structure + len(structure)
    header = struct.pack(">10I", 0xd00dfeed, at_strings + len(strings), at_structure, at_strings,
                         40, 17, 16, 0, len(strings), len(structure))
    return header + reservations + structure + bytes(strings)


def raspberry_pi_tree(compatible, release=0xd8):
    """What matters of the tree that the boards' own firmware passes; QEMU adds memory, arguments
    and initrd. Cores wait for the words from `release` on."""
    cpus = {f"cpu@{i}": {"device_type": "cpu", "reg": i, "enable-method": "spin-table",
                         "cpu-release-addr": [0, release + 8 * i]} for i in range(4)}
    return {"#address-cells": 2, "#size-cells": 1, "compatible": compatible,
            "memory@0": {"device_type": "memory", "reg": [0, 0, 0]}, "chosen": {"bootargs": ""},
            "cpus": {"#address-cells": 1, "#size-cells": 0, **cpus}}
