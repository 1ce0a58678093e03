"""Values that suites expect of the board (docs/PORTING.md, step 6)."""

from board_trees import GIB, IMAGE, plic

FITS = [("4G", "VisionFive 2, 4 GiB")]
VERSIONS = "v1.2a", "v1.3b"
NODES = ["/soc/serial@10000000", "/soc/interrupt-controller@c000000", "/soc/mmc@16010000", "/soc/mmc@16020000",
         "/soc/syscon@13030000", "/soc/clock-controller@13020000", "/soc/clock-controller@10230000", "/soc/syscon@10240000"]
# The harts that work; hart 0 is the monitor's.
TREES = [(f"jh7110-starfive-visionfive-2-{version}", hart, NODES, [f"hart {n}" for n in range(1, 5) if n != hart], "",
          plic(0xc000000, 9, 2 * hart, 32, 0x10000000)) for version in VERSIONS for hart in (1, 4)]
MONITOR = 0
MEMORY = [
    (f"jh7110-starfive-visionfive-2-{version}", f"{n} GB", [(GIB, n * GIB)], [(0x40000000, 0x40000), (0xfe000000 if n > 3 else 0xb0000000, 0x10000)],
     sorted([(0x40200000 + IMAGE, 0xfe000000 if n > 3 else 0xb0000000), (0xfe010000 if n > 3 else 0xb0010000, (n + 1) * GIB),
             (0x40040000, 0x40200000)], key=lambda r: r[0] - r[1])) for version in VERSIONS for n in (2, 4, 8)
]
# The windows of its PCIe ports: words of memory.h or board.c before the number, the node, and where its ranges have the number.
PCIE = "jh7110-starfive-visionfive-2-v1.3b", {"{ 0x30000000, 0x38000000, 0 }": ("/soc/pcie@940000000", 3),
                                              "{ 0x38000000, 0x40000000, 0 }": ("/soc/pcie@9c0000000", 3),
                                              "{ 0x900000000, 0x940000000, 0 }": ("/soc/pcie@940000000", 10),
                                              "{ 0x980000000, 0x9c0000000, 0 }": ("/soc/pcie@9c0000000", 10)}
