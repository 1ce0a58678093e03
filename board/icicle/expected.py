"""Values that suites expect of the board (docs/PORTING.md, step 6)."""

from board_trees import GIB, IMAGE, plic

CARD_DATA = "ADMA2"  # how the bytes of its card move in QEMU
PASTE = "PLIC", "long"  # the controller of the line's interrupt; it is of a kind of the virt machines
CORES_SAY = "4 x SiFive U54", "4 x rv64gc"  # hart 0, the E51, has no number
RESTARTS = False  # OpenSBI has no reset for QEMU's machine
FITS = [("2G", "Icicle")]
NODES = ["/soc/serial@20100000", "/soc/interrupt-controller@c000000", "/soc/mmc@20008000"]
MONITOR = 0  # a hart that does not work for us
TREES = [("mpfs-icicle-kit", hart, NODES, [f"hart {n}" for n in range(1, 5) if n != hart], "",
          plic(0xc000000, 9, 2 * hart, 91, 0x20100000)) for hart in (1, 3)]
MEMORY = [("mpfs-icicle-kit", "2 GB", [(0x80000000, GIB), (0x1040000000, GIB)], [],
           [(0x1040000000, 0x1080000000), (0x80200000 + IMAGE, 0xbfc00000), (0x80000000, 0x80200000)])]
