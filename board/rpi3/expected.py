"""Values that suites expect of the board (docs/PORTING.md, step 6)."""

from board_trees import at, sdhci
from raspberry_pi import PI_IMAGE, PI_LEFT, PI_TAKEN, SPIN

CARD_DATA = "BCM's DMA"  # how the card's data move in QEMU
PASTE = "BCM2835", "always"  # the controller of the line's interrupt
FITS = [("512M", "Zero 2 W"), ("1G", "Pi 3, 1 GiB")]
NODES = ["/soc/serial@7e201000", "/soc/mmc@7e300000", "/soc/mailbox@7e00b880", "/soc/watchdog@7e100000", "/soc/gpio@7e200000",
         "/soc/dma-controller@7e007000"]
REGISTERS = at(0x3f000000, PI_LEFT), at(0x3f000000, PI_TAKEN)
TREES = [("bcm2837-rpi-3-b", 0, NODES, SPIN, "mailbox=3f00b880 revision=a02082", REGISTERS),
         ("bcm2837-rpi-3-b-plus", 0, NODES, SPIN, "mailbox=3f00b880 revision=a020d3", REGISTERS),
         ("bcm2837-rpi-zero-2-w", 0, NODES, SPIN, "mailbox=3f00b880 revision=902120", REGISTERS)]
MEMORY = [("bcm2837-rpi-zero-2-w", "512 MB", [(0, 0x1c000000)], [], [(PI_IMAGE, 0x1c000000), (0x1000, 0x80000)]),
          ("bcm2837-rpi-3-b", "1 GB", [(0, 0x3b400000)], [], [(PI_IMAGE, 0x3b400000), (0x1000, 0x80000)])]
# Trees, their nodes for the pins of the card and the serial line, and the address of the GPIO's registers. GPFSEL0 has
# three bits for each of ten pins.
PINS = ["bcm2837-rpi-3-b", "bcm2837-rpi-zero-2-w"], ["emmc-gpio48", "uart0-gpio14"], 0x3f200000
# start.elf has read the kernel with the same controller and leaves its DMA channels on: the channel that we use is in the middle of a
# transfer, with an error. Interrupts of BCM2835's controller and of the block next to the cores (QA7) are on, and the boot stub has set the
# timers' scale.
ACTS, LEFT, TAKEN = sdhci(0x3f300000)
DMA, IRQS, LOCAL = 0x3f007000, 0x3f00b200, 0x40000000
FIRMWARE = [("bcm2837-rpi-3-b", "start.elf", 0, f"mailbox=3f00b880 revision=a02082 act={DMA + 0x400:x}/80000000/0 {ACTS}", (
    {**LEFT, **at(DMA, {0x400: 0x10000105, 0x404: 0x1e7f0400, 0x420: 0x107, 0xff0: 0x7e5}), **at(IRQS, {0xc: 0xe4, 0x10: 0xffffffff}),
     **at(LOCAL, {8: 1 << 31, 0x34: 3 << 28 | 1, 0x40: 0xf, 0x50: 0xf0})},
    {**TAKEN, **at(DMA, {0x400: 0, 0x420: 7, 0xff0: 0x7f5}), **at(IRQS, {0xc: 0, 0x1c: 0xffffffff, 0x20: 0xffffffff}),
     **at(LOCAL, {8: 1 << 31, 0x14: 0xffffffff, 0x34: 0, 0x40: 8, 0x50: 1, 0xc0: 0xffffffff})}), [*SPIN, "power 0 3"])]
