"""Values that suites expect of the board (docs/PORTING.md, step 6)."""

CARD_DATA = "ADMA2"  # how the card's data move in QEMU
