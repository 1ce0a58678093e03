"""Values that suites expect of the board (docs/PORTING.md, step 6)."""

from board_trees import GIB, IMAGE, at, plic

FITS = [("4G", "VisionFive 2, 4 GiB")]
VERSIONS = "v1.2a", "v1.3b"
NODES = ["/soc/serial@10000000", "/soc/interrupt-controller@c000000", "/soc/mmc@16010000", "/soc/mmc@16020000",
         "/soc/syscon@13030000", "/soc/clock-controller@13020000", "/soc/clock-controller@10230000", "/soc/syscon@10240000"]
# The harts that we use; hart 0 is the monitor core.
TREES = [(f"jh7110-starfive-visionfive-2-{version}", hart, NODES, [f"hart {n}" for n in range(1, 5) if n != hart], "",
          plic(0xc000000, 9, 2 * hart, 32, 0x10000000)) for version in VERSIONS for hart in (1, 4)]
MONITOR = 0
MEMORY = [
    (f"jh7110-starfive-visionfive-2-{version}", f"{n} GB", [(GIB, n * GIB)], [(0x40000000, 0x40000), (0xfe000000 if n > 3 else 0xb0000000, 0x10000)],
     sorted([(0x40200000 + IMAGE, 0xfe000000 if n > 3 else 0xb0000000), (0xfe010000 if n > 3 else 0xb0010000, (n + 1) * GIB),
             (0x40040000, 0x40200000)], key=lambda r: r[0] - r[1])) for version in VERSIONS for n in (2, 4, 8)
]
# The windows of the PCIe ports: {the text before the number in memory.h or board.c: (the node, the number's index in the
# node's ranges)}.
PCIE = "jh7110-starfive-visionfive-2-v1.3b", {"{ 0x30000000, 0x38000000, 0 }": ("/soc/pcie@940000000", 3),
                                              "{ 0x38000000, 0x40000000, 0 }": ("/soc/pcie@9c0000000", 3),
                                              "{ 0x900000000, 0x940000000, 0 }": ("/soc/pcie@940000000", 10),
                                              "{ 0x980000000, 0x9c0000000, 0 }": ("/soc/pcie@9c0000000", 10)}


def slot(base):
    """The dw_mmc controller as U-Boot's dw_mmc.c leaves it after reading an eMMC in DDR mode: DMA and all interrupts are on, and some
    interrupts are pending. Resets, the start bit of a command and the DMA's reset clear themselves; a command ends by a time-out."""
    left = at(base, {0: 0x2000010, 0x18: 0x10000, 0x24: 0xffff, 0x44: 0xd, 0x6c: 0x290a, 0x74: 1 << 16, 0x80: 0x82, 0x90: 0x3ff})
    taken = at(base, {4: 1, 0x10: 1, 0x18: 0, 0x24: 0, 0x74: 0, 0x80: 0, 0x90: 0x103})
    return f"act={base:x}/7/0 act={base + 0x2c:x}/80000000/0 act={base + 0x44:x}/ffffffff/104 act={base + 0x80:x}/1/0", left, taken


# SYSCRG and SYS_SYSCON as U-Boot leaves them: PLL 2 runs at 1188 MHz, both slots get a third of it divided by 2, and
# their resets are released.
CLOCKS = {**at(0x13020000, {0x14: 1 << 24, 0x1c: 3, 0x16c: 1 << 31, 0x170: 1 << 31, 0x174: 1 << 31 | 2, 0x178: 1 << 31 | 2, 0x310: 3}),
          **at(0x13030000, {0x2c: 99 << 17 | 3 << 15, 0x34: 2})}
ACTS, LEFT, TAKEN = (list(parts) for parts in zip(slot(0x16010000), slot(0x16020000)))
FIRMWARE = [("jh7110-starfive-visionfive-2-v1.3b", title, 1, f"{words} {' '.join(ACTS)}", ({**CLOCKS, **LEFT[0], **LEFT[1]}, {**TAKEN[0], **TAKEN[1]}), lines)
            for title, words, lines in (("OpenSBI, which would start hart 0 as well", "domain=1f end=restart", ["hart 2", "hart 3", "hart 4", "reset 1 0"]),
                                        ("a firmware without harts and resets", "sbi=old end=off", ["refused 1", "refused 2", "refused 3", "old shutdown"]))]
