"""Parts that Raspberry Pis share: the registers that their firmware leaves, and how the first models start cores."""

from board_trees import IMAGE

SPIN = ["release 1 e0", "release 2 e8", "release 3 f0"]
PI_IMAGE = 0x80000 + IMAGE

# PI_LEFT has registers as a Pi's firmware leaves them: the PL011 serves Bluetooth at another rate, with interrupts enabled and pending; the
# header's pins belong to the mini-UART; pins next to them are in use. PI_TAKEN has the values that the board must set: 115200 baud from 48 MHz,
# pins 14 and 15 connected to the PL011, and pins 32 and 33 not connected to it.
GPFSEL1, GPFSEL3, FR, IBRD, FBRD, LCR, CR, IMSC, RIS = 0x200004, 0x20000c, 0x201018, 0x201024, 0x201028, 0x20102c, 0x201030, 0x201038, 0x20103c
PI_LEFT = {GPFSEL1: 1 | 2 << 12 | 2 << 15 | 4 << 27, GPFSEL3: 0x3f | 7 << 6 | 7 << 9, FR: 0x90, IBRD: 1, FBRD: 40, LCR: 0x60, CR: 0xc301,
           IMSC: 0x7f0, RIS: 0x7e0}
PI_TAKEN = {GPFSEL1: 1 | 4 << 12 | 4 << 15 | 4 << 27, GPFSEL3: 0x3f, IBRD: 26, FBRD: 3, LCR: 0x70, CR: 0x301}
