"""Values that suites expect of the board (docs/PORTING.md, step 6)."""

from board_trees import GIB, IMAGE, plic, sdhci

CARD_DATA = "ADMA2"  # how the card's data move in QEMU
PASTE = "PLIC", "long"  # controller of the line's interrupt, which a virt machine has too
CORES_SAY = "4 x SiFive U54", "4 x rv64gc"  # hart 0, the E51, has no core number
RESTARTS = False  # OpenSBI has no reset for QEMU's machine
FITS = [("2G", "Icicle")]
NODES = ["/soc/serial@20100000", "/soc/interrupt-controller@c000000", "/soc/mmc@20008000"]
MONITOR = 0  # a hart that we do not use
TREES = [("mpfs-icicle-kit", hart, NODES, [f"hart {n}" for n in range(1, 5) if n != hart], "",
          plic(0xc000000, 9, 2 * hart, 91, 0x20100000)) for hart in (1, 3)]
MEMORY = [("mpfs-icicle-kit", "2 GB", [(0x80000000, GIB), (0x1040000000, GIB)], [],
           [(0x1040000000, 0x1080000000), (0x80200000 + IMAGE, 0xbfc00000), (0x80000000, 0x80200000)])]

# HSS (services/opensbi, platform.c) can start harts 1 to 4, or those that the payload gives to this program; an older HSS has no HSM.
# U-Boot has set the card's controller, and HSS its HRS06; the controller's clock (SYSREG) is on and its reset off.
ACTS, LEFT, TAKEN = sdhci(0x20008200)
SLOT = {**LEFT, 0x20008018: 7, 0x20002084: 0xffffffff, 0x20002088: 0x3f5}, {**TAKEN, 0x20008018: 0, 0x20002084: 0xffffffff, 0x20002088: 0x3f5}
FIRMWARE = [("mpfs-icicle-kit", title, hart, f"{words} {ACTS}", SLOT, lines) for title, hart, words, lines in (
    ("HSS with a payload for four harts", 1, "domain=1e end=off", ["hart 2", "hart 3", "hart 4", "reset 0 0"]),
    ("HSS where another program has hart 4", 1, "domain=e end=restart", ["hart 2", "hart 3", "refused 3", "reset 1 0"]),
    ("HSS with a payload for one hart", 3, "domain=8 end=restart", ["refused 1", "refused 2", "refused 3", "reset 1 0"]),
    ("a firmware without harts and resets", 2, "sbi=old end=off", ["refused 1", "refused 2", "refused 3"]))]
