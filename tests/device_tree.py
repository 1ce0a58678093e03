"""Makes flattened device trees (Devicetree Specification 0.4, chapter 5) from nested dictionaries, and reads them. A dictionary is a node, a
number is one cell, a list is several cells, a text is a string, and bytes are used unchanged."""

import struct

BEGIN, END_NODE, PROPERTY, END = 1, 2, 3, 9


def value_bytes(value):
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode() + b"\0"
    if isinstance(value, int):
        value = [value]
    return b"".join(struct.pack(">I", cell) for cell in value)


def padded(data):
    return data + bytes(-len(data) % 4)


def make_tree(root, reserved=()):
    """reserved: pairs of address and bytes for the memory reservation block."""
    strings = bytearray()

    def name_offset(name):
        at = strings.find(name.encode() + b"\0")
        if at < 0:
            at = len(strings)
            strings.extend(name.encode() + b"\0")
        return at

    def node_bytes(name, node):
        out = struct.pack(">I", BEGIN) + padded(name.encode() + b"\0")
        for key, value in sorted(node.items(), key=lambda item: isinstance(item[1], dict)):  # properties first (5.4.2)
            if isinstance(value, dict):
                out += node_bytes(key, value)
            else:
                data = value_bytes(value)
                out += struct.pack(">III", PROPERTY, len(data), name_offset(key)) + padded(data)
        return out + struct.pack(">I", END_NODE)

    structure = node_bytes("", root) + struct.pack(">I", END)
    reservations = b"".join(struct.pack(">QQ", *pair) for pair in [*reserved, (0, 0)])
    at_structure = 40 + len(reservations)
    at_strings = at_structure + len(structure)
    header = struct.pack(">10I", 0xd00dfeed, at_strings + len(strings), at_structure, at_strings,
                         40, 17, 16, 0, len(strings), len(structure))
    return header + reservations + structure + bytes(strings)


def read_tree(blob):
    """(the root in make_tree's form with all values as bytes, the memory reservation block)"""
    at, strings, at_reserved = struct.unpack_from(">3I", blob, 8)
    reserved, nodes = [], [{}]
    while (pair := struct.unpack_from(">QQ", blob, at_reserved)) != (0, 0):
        reserved.append(pair)
        at_reserved += 16
    while (token := struct.unpack_from(">I", blob, at)[0]) != END:
        at += 4
        if token == BEGIN:
            stop = blob.index(0, at)
            nodes.append(nodes[-1].setdefault(blob[at:stop].decode(), {}))
            at = stop + 4 & ~3
        elif token == END_NODE:
            nodes.pop()
        elif token == PROPERTY:
            size, name = struct.unpack_from(">II", blob, at)
            name += strings
            nodes[-1][blob[name:blob.index(0, name)].decode()] = blob[at + 8:at + 8 + size]
            at += 8 + size + 3 & ~3
    return nodes[0][""], reserved


def cells_of(value):
    return list(struct.unpack(f">{len(value) // 4}I", value))


def number_of(cells):
    return sum(cell << 32 * i for i, cell in enumerate(reversed(cells)))


def address_of(root, path):
    """The address at which the cores see the node's first range: its reg, translated through the ranges of all buses above it."""
    above, node = [], root
    for name in path.strip("/").split("/"):
        above.append(node)
        node = node[name]
    width = cells_of(above[-1].get("#address-cells", b"\0\0\0\2"))[0]
    address = number_of(cells_of(node["reg"])[:width])
    for i in range(len(above) - 1, 0, -1):
        bus, parent = above[i], above[i - 1]
        child, outer, size = (cells_of(n.get(k, b"\0\0\0\2"))[0] for n, k in
                              ((bus, "#address-cells"), (parent, "#address-cells"), (bus, "#size-cells")))
        ranges, row = cells_of(bus["ranges"]), child + outer + size
        for at in range(0, len(ranges), row):
            theirs, ours = number_of(ranges[at:at + child]), number_of(ranges[at + child:at + child + outer])
            if theirs <= address < theirs + number_of(ranges[at + child + outer:at + row]):
                address += ours - theirs
                break
    return address


def raspberry_pi_tree(compatible, release=0xd8):
    """The parts of a Raspberry Pi firmware's tree that matter; QEMU adds memory, arguments and initrd. Cores wait at
    the words from `release` on."""
    cpus = {f"cpu@{i}": {"device_type": "cpu", "reg": i, "enable-method": "spin-table",
                         "cpu-release-addr": [0, release + 8 * i]} for i in range(4)}
    return {"#address-cells": 2, "#size-cells": 1, "compatible": compatible,
            "memory@0": {"device_type": "memory", "reg": [0, 0, 0]}, "chosen": {"bootargs": ""},
            "cpus": {"#address-cells": 1, "#size-cells": 0, **cpus}}
