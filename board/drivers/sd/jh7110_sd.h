/* dw_mmc in the JH7110. A slot's clocks and resets decide whether it may be touched; they are only
 * read, so a block that the firmware has not woken stays asleep. Registers and their numbers are
 * from Linux's and U-Boot's drivers (clk-starfive-jh7110-sys.c, clk-starfive-jh7110-pll.c,
 * starfive,jh7110-crg.h), because the public part of the TRM only names the blocks. */
#ifndef INGOT_BOARD_DRIVERS_SD_JH7110_SD_H
#define INGOT_BOARD_DRIVERS_SD_JH7110_SD_H

#include "board/block_device.h"
#include "board/drivers/sd/dw_mmc.h"
#include "board/drivers/sd/sd_card.h"

enum { JH7110_CRG_BYTES = 0x1000, JH7110_SYSCON_BYTES = 0x1000 };

/* Registers of the SoC's blocks, mapped. */
struct jh7110_clocks {
    uintptr_t crg;    /* SYSCRG: clocks and resets, JH7110_CRG_BYTES */
    uintptr_t syscon; /* SYS_SYSCON: the PLLs, JH7110_SYSCON_BYTES */
};

struct jh7110_sd {
    struct dw_mmc host;
    struct sd_card card;
};

/* The clock rate of SDIO `slot` (0 or 1), from the clock's dividers; 0 if the rate is not known, or
 * the clock does not run. */
uint32_t jh7110_sd_hz(const struct jh7110_clocks *clocks, unsigned slot);

/* Start SDIO `slot` (0: eMMC, 1: card) and fill *out. If the slot's clock is off or its reset is
 * active, out->error_message says so, and the slot's registers are not touched. `setup` is as for
 * dw_mmc_open, except clock_hz. ERR_NO_DEVICE, ERR_TIMEOUT: no controller answers there, and out is
 * not touched. */
enum err jh7110_sd_open(struct jh7110_sd *sd, const struct jh7110_clocks *clocks, unsigned slot,
                        const struct dw_mmc_setup *setup, struct block_device *out);

#endif
