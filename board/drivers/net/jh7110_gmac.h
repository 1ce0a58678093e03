/* Clocks and resets of the JH7110's two network controllers (dwmac.h), which U-Boot leaves off
 * unless the network was the last device that it used. Numbers of clocks and resets, and offsets of
 * registers: Linux's starfive,jh7110-crg.h, clk-starfive-jh7110-{aon,sys}.c, clk-starfive-jh71x0.h,
 * reset-starfive-jh7110.c, dwmac-starfive.c and jh7110.dtsi (only facts were taken). */
#ifndef INGOT_BOARD_DRIVERS_NET_JH7110_GMAC_H
#define INGOT_BOARD_DRIVERS_NET_JH7110_GMAC_H

#include <stdbool.h>
#include <stdint.h>

enum { JH7110_GMAC_PORTS = 2, JH7110_GMAC_BLOCK_BYTES = 0x1000 };

/* Register blocks of the SoC, mapped, JH7110_GMAC_BLOCK_BYTES each. */
struct jh7110_gmac {
    uintptr_t crg[2];    /* clocks and resets: AONCRG, SYSCRG */
    uintptr_t syscon[2]; /* AON_SYSCON, SYS_SYSCON */
    uint64_t (*ticks)(void);
    uint64_t ticks_hz;
};

/* A port as the device tree describes it. */
struct jh7110_gmac_wiring {
    const char *mode; /* phy-mode; NULL: the tree has none, and RGMII is assumed */
    /* starfive,tx-use-rgmii-clk: the controller sends with the receive clock, which the PHY adapts
     * to the link; if false, the choice of clock does not change. */
    bool received_clock;
};

/* Reset the controller of the port (0 or 1), start its clocks, and choose RGMII. The port's own
 * clock is set to 125 MHz if the port sends with it; other dividers stay. Returns NULL, or an error
 * message if the port stays in reset, or is wired for another mode (port 1 of the VisionFive 2
 * v1.2A uses RMII); in the last case nothing was written. */
const char *jh7110_gmac_wake(const struct jh7110_gmac *g, unsigned port,
                             const struct jh7110_gmac_wiring *wiring);

/* Put the controller into reset and leave it there. */
void jh7110_gmac_sleep(const struct jh7110_gmac *g, unsigned port);

/* True if the port sends with its own clock, which supports only 1000 Mbit/s because its divider is
 * too small for lower rates. */
bool jh7110_gmac_is_gigabit_only(const struct jh7110_gmac *g, unsigned port);

#endif
