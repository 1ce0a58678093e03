/* No manual is public. Registers, their bits and the order are those of Linux's dwc3 driver
 * (core.h; core.c, in dwc3_phy_setup, dwc3_core_init and dwc3_config_threshold) and, for the reset,
 * of U-Boot's driver (dwc3_core_soft_reset). RP1's own settings are those of its published tree
 * (Linux, rp1-common.dtsi, usb@40200000). Accesses to device memory keep the program's order. */
#include "board/drivers/usb/dwc3.h"

#include <stdbool.h>

enum {
    GTXTHRCFG = 0xc108,
    GCTL = 0xc110,
    GUCTL1 = 0xc11c,
    GSNPSID = 0xc120,
    GUSB2PHYCFG = 0xc200, /* of the first port of USB 2; the next one's follows */
    GUSB3PIPECTL = 0xc2c0,
};
enum {
    GCTL_RESET = 1 << 11,
    GCTL_ROLE = 3 << 12,
    GCTL_HOST = 1 << 12,
    USB2_SUSPEND = 1 << 6,
    USB2_SLEEP = 1 << 8,
    USB3_SUSPEND = 1 << 17,
    USB3_NO_DETECTION_IN_P3 = 1 << 28, /* snps,dis_rxdet_inp3_quirk */
    /* snps,parkmode-disable-ss-quirk, -hs- and, of Raspberry Pi's own tree, -fsls-: with park mode
     * a controller has died under load (raspberrypi/linux issue 5753, pull request 5892). */
    NO_PARK_MODES = 7 << 15,
    SENDS_BY_COUNT = 1 << 29, /* snps,tx-thr-num-pkt 2, snps,tx-max-burst 8 */
    SENDS_COUNT = 2 << 24,
    SENDS_BURST = 8 << 16,
    SENDS_MASK = 0xf << 24 | 0xff << 16,
    RESET_MS = 100,
    USB2_PORTS = 2,
};
enum { CORE_USB3 = 0x5533 }; /* "U3" */
#define PHY_RESET (1u << 31)

static void change(uintptr_t at, uint32_t clear, uint32_t set)
{
    dwc3_write(at, (dwc3_read(at) & ~clear) | set);
}

static void pause(uint64_t (*ticks)(void), uint64_t ticks_hz)
{
    uint64_t start = ticks();

    while (ticks() - start <= ticks_hz / 1000 * RESET_MS)
        ;
}

enum err dwc3_make_host(uintptr_t mmio, uint64_t (*ticks)(void), uint64_t ticks_hz)
{
    if (dwc3_read(mmio + GSNPSID) >> 16 != CORE_USB3)
        return ERR_NO_DEVICE;
    if ((dwc3_read(mmio + GCTL) & (GCTL_ROLE | GCTL_RESET)) != GCTL_HOST) {
        change(mmio + GCTL, 0, GCTL_RESET);
        change(mmio + GUSB3PIPECTL, 0, PHY_RESET);
        change(mmio + GUSB2PHYCFG, 0, PHY_RESET);
        pause(ticks, ticks_hz);
        change(mmio + GUSB3PIPECTL, PHY_RESET, 0);
        change(mmio + GUSB2PHYCFG, PHY_RESET, 0);
        pause(ticks, ticks_hz);
        change(mmio + GCTL, GCTL_RESET | GCTL_ROLE, GCTL_HOST);
    }
    /* A PHY that sleeps while a keyboard is idle does not wake for the keyboard's answer. Each of
     * RP1's controllers has two ports of USB 2 (Linux 6.10 sets up the PHY of each port). */
    for (unsigned port = 0; port < USB2_PORTS; port++)
        change(mmio + GUSB2PHYCFG + 4 * port, USB2_SUSPEND | USB2_SLEEP, 0);
    change(mmio + GUSB3PIPECTL, USB3_SUSPEND, USB3_NO_DETECTION_IN_P3);
    change(mmio + GUCTL1, 0, NO_PARK_MODES);
    change(mmio + GTXTHRCFG, SENDS_MASK, SENDS_BY_COUNT | SENDS_COUNT | SENDS_BURST);
    return ERR_OK;
}
