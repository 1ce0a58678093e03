/* The two PCI Express ports of JH7110 as U-Boot leaves them; this driver brings up nothing. Numbers
 * of clocks and resets are from the maker's device tree (starfive,jh7110-crg.h), registers from
 * Linux's clk-starfive-jh71x0.c, reset-starfive-jh7110.c and pcie-starfive.c, because the public
 * part of the TRM only names the blocks. The driver never ran on hardware; no emulator has the
 * ports. */
#ifndef INGOT_BOARD_DRIVERS_BUS_JH7110_PCIE_H
#define INGOT_BOARD_DRIVERS_BUS_JH7110_PCIE_H

#include <stdbool.h>
#include <stdint.h>

enum { JH7110_STG_CRG_BYTES = 0x1000, JH7110_STG_SYSCON_BYTES = 0x1000 };

/* Registers of the SoC's blocks, mapped. */
struct jh7110_stg {
    uintptr_t crg;    /* STGCRG: clocks and resets */
    uintptr_t syscon; /* STG_SYSCON */
};

/* True if port 0 or 1 has its clocks, is out of reset, and has a link. Only then may its
 * configuration space be read: without a clock a read never ends. */
bool jh7110_pcie_is_up(const struct jh7110_stg *stg, unsigned port);

/* Report clocks, resets and links of both ports, for the option `diag`. of: a struct jh7110_stg. */
struct facts;
void jh7110_pcie_facts(const void *of, const struct facts *f);

#endif
