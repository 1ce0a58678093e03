"""Values that suites expect of the board (docs/PORTING.md, step 6)."""

from board_trees import at
from raspberry_pi import PI_IMAGE, PI_LEFT, PI_TAKEN, SPIN

CARD_DATA = "BCM's DMA"  # how the bytes of its card move in QEMU
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
# The card's and the serial line's pins by the nodes of the trees, and the GPIO's registers. GPFSEL0 has ten pins of three bits.
PINS = ["bcm2837-rpi-3-b", "bcm2837-rpi-zero-2-w"], ["emmc-gpio48", "uart0-gpio14"], 0x3f200000
