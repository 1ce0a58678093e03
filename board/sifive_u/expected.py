"""Values that suites expect of the board (docs/PORTING.md, step 6)."""

CARD_DATA = "SPI"  # how the card's data move in QEMU: a core moves every byte
PASTE = "PLIC", "always"  # the controller of the line's interrupt
CORES_SAY = "4 x SiFive U54", "4 x rv64gc"  # hart 0, the E51, has no core number
RESTARTS = True
NOR_SAYS = "SPI NOR flash at 0x10040000, 32.0 MiB"
