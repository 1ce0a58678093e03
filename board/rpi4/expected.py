"""Values that suites expect of the board (docs/PORTING.md, step 6)."""

from board_trees import GIB, at, sdhci
from raspberry_pi import PI_IMAGE, PI_LEFT, PI_TAKEN, SPIN

CARD_DATA = "BCM's DMA"  # how the card's data move in QEMU
PASTE = "GIC-400", "long"  # controller of the line's interrupt, which a virt machine has too
FITS = [("2G", "Pi 4, 2 GiB"), ("4G", "Pi 4, 4 GiB")]
NODES = ["/soc/serial@7e201000", "/emmc2bus/mmc@7e340000", "/scb/pcie@7d500000", "/soc/mailbox@7e00b880", "/soc/watchdog@7e100000",
         "/soc/gpio@7e200000", "/soc/interrupt-controller@40041000"]
REGISTERS = at(0xfe000000, PI_LEFT), at(0xfe000000, PI_TAKEN)
TREES = [("bcm2711-rpi-4-b", 0, NODES, SPIN, "mailbox=fe00b880 revision=b03111", REGISTERS),
         ("bcm2711-rpi-400", 0, NODES, SPIN, "mailbox=fe00b880 revision=c03130", REGISTERS)]
MEMORY = [
    ("bcm2711-rpi-4-b", "1 GB", [(0, 0x3b400000)], [], [(PI_IMAGE, 0x3b400000), (0x1000, 0x80000)]),
    ("bcm2711-rpi-4-b", "2 GB", [(0, 0x3b400000), (GIB, GIB)], [], [(GIB, 2 * GIB), (PI_IMAGE, 0x3b400000), (0x1000, 0x80000)]),
    ("bcm2711-rpi-400", "4 GB", [(0, 0x3b400000), (GIB, 0xbc000000)], [], [(GIB, 0xfc000000), (PI_IMAGE, 0x3b400000), (0x1000, 0x80000)]),
    ("bcm2711-rpi-4-b", "8 GB", [(0, 0x3b400000), (GIB, 0xbc000000), (4 * GIB, 2 * GIB), (6 * GIB, 2 * GIB)], [],
     [(4 * GIB, 8 * GIB), (GIB, 0xfc000000), (PI_IMAGE, 0x3b400000), (0x1000, 0x80000)]),
]
PINS = ["bcm2711-rpi-4-b"], ["uart0-gpio14"], 0xfe200000
GIC = "bcm2711-rpi-4-b", "/soc/interrupt-controller@40041000", "/soc/serial@7e201000"
# The windows of the PCIe port: {the text before the number in memory.h or board.c: (the node, the number's index in the
# node's ranges)}.
PCIE = "bcm2711-rpi-4-b", {"BOARD_PCIE_WINDOW": ("/scb/pcie@7d500000", 3)}
# start4.elf has read the kernel with the same controller.
ACTS, LEFT, TAKEN = sdhci(0xfe340000)
FIRMWARE = [("bcm2711-rpi-4-b", "start4.elf", 0, f"mailbox=fe00b880 revision=b03111 {ACTS}", (LEFT, TAKEN), SPIN)]
