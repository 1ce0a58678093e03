"""Values that suites expect of the board (docs/PORTING.md, step 6)."""

from board_trees import GIB, PSCI, sdhci
from raspberry_pi import PI_IMAGE

FITS = [("4G", "Pi 5, 4 GiB")]
NODES = ["/soc@107c000000/serial@7d001000", "/soc@107c000000/mmc@fff000", "/soc@107c000000/mailbox@7c013880",
         "/soc@107c000000/gpio@7d517c00", "/soc@107c000000/interrupt-controller@7fff9000", "/soc@107c000000/watchdog@7d200000",
         "/soc@107c000000/reset-controller@119500", "/soc@107c000000/reset-controller@1504318", "/axi/pcie@1000110000", "/axi/pcie@1000120000"]


def uart_registers(divisor):
    uart = 0x107d001000
    left = {uart + 0x18: 0x90, uart + 0x24: divisor, uart + 0x28: 7 if divisor else 0, uart + 0x30: 0x301, uart + 0x38: 0x7f0}
    taken = {uart + 0x24: divisor or 23, uart + 0x28: 7 if divisor else 56, uart + 0x2c: 0x70, uart + 0x30: 0x301}
    return left, taken


# A register tells the chip's stepping, C1 or D0 (board/drivers/soc/bcm2712.h).
STEPPINGS = ("bcm2712-rpi-5-b", "1001504004=27120021"), ("bcm2712-d-rpi-5-b", "1001504004=27120030")
TREES = [(name, 0, NODES, PSCI, f"mailbox=107c013880 revision=c04170 {stepping}", uart_registers(divisor))
         for name, stepping in STEPPINGS for divisor in (0, 11)]
MEMORY = [("bcm2712-rpi-5-b", f"{n} GB", [(0, 0x3fc00000), (GIB, (n - 1) * GIB)], [],
           sorted([(PI_IMAGE, 0x3fc00000), (GIB, n * GIB)], key=lambda r: r[0] - r[1])) for n in (2, 4, 8, 16)]
GIC = [(name, "/soc@107c000000/interrupt-controller@7fff9000", "/soc@107c000000/serial@7d001000") for name, _ in STEPPINGS]
# The firmware in the board's flash has read the kernel with the same controller.
ACTS, LEFT, TAKEN = sdhci(0x1000fff000)
FIRMWARE = [("bcm2712-rpi-5-b", "the firmware", 0, f"mailbox=107c013880 revision=c04170 {ACTS}", (LEFT, TAKEN), PSCI)]
