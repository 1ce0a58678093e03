/* RP1, the Pi 5's I/O chip, behind BCM2712's second PCIe port. The firmware brings the link up and
 * resets it again before it starts an image, unless config.txt says `pciex4_reset=0`. This driver
 * uses what the firmware left and brings nothing up, because RP1's UARTs may be running.
 * RP1's addresses are from "RP1 Peripherals" (Raspberry Pi, 2023), 2.3.1 and 5; the port's
 * registers are those of brcm_pcie.c. This driver has not yet run on hardware, and no emulator has
 * RP1. */
#ifndef INGOT_BOARD_DRIVERS_BUS_RP1_LINK_H
#define INGOT_BOARD_DRIVERS_BUS_RP1_LINK_H

#include <stdint.h>

#include "board/drivers/dma/dma.h"
#include "board/err.h"

enum {
    RP1_USB_0 = 0x200000, /* offset from `peripherals`; rp1.dtsi, usb@200000 and usb@300000 */
    RP1_USB_1 = 0x300000,
    RP1_UART_0 = 0x30000, /* rp1.dtsi, serial@30000; GPIO 14 and 15 of the row of 40 pins */
    RP1_UART_BYTES = 0x1000,
    RP1_UART_HZ = 50000000, /* RP1's clk_uart */
    RP1_USB_BYTES = 0x100000,
};

struct rp1_link {
    uintptr_t port;           /* the registers of the PCIe port */
    uint64_t peripherals;     /* the cores' address of BAR 1, not yet mapped */
    struct dma_window window; /* how RP1 sees memory */
    const char *why;          /* an error message after an error */
};

/* Check the link and find where it leads; the port's registers are mapped. The function writes only
 * the configuration index, and the bits that switch memory and bus mastering on. ERR_NO_DEVICE: RP1
 * is held in reset, and the error message says what to do; ERR_UNSUPPORTED: the link is not set up
 * in the known way. */
enum err rp1_link_open(struct rp1_link *r, uintptr_t port);

/* Report the link as it was found, for the option `diag`. `of` is a struct rp1_link that was
 * opened, even with an error. */
struct facts;
void rp1_link_facts(const void *of, const struct facts *f);

#endif
