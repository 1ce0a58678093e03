/* Cadence SD4HC (PolarFire SoC): an SDHCI of version 4. A block of the host's own registers
 * comes before the standard ones. "TRM" is the PolarFire SoC MSS Technical Reference Manual. */
#ifndef INGOT_BOARD_DRIVERS_SD_CADENCE_SD_H
#define INGOT_BOARD_DRIVERS_SD_CADENCE_SD_H

#include "board/block_device.h"
#include "board/drivers/sd/sd_card.h"
#include "board/drivers/sd/sdhci.h"

enum { CADENCE_SD_BYTES = 0x1000, CADENCE_SYSREG_BYTES = 0x1000 };

struct cadence_sd {
    struct sdhci host; /* must be first: the host's pointer is cast to it */
    struct sd_card card;
    bool is_emmc;
};

/* Wake the controller if the firmware has not, start it and the card, and fill *out. setup->mmio:
 * all registers, mapped, CADENCE_SD_BYTES; sysreg: the PolarFire SoC's SYSREG, mapped,
 * CADENCE_SYSREG_BYTES. 3.3 V only. Waits up to a second until the slot's switch is stable. If no
 * card can be used, out->error_message says why. ERR_NO_DEVICE, ERR_TIMEOUT: no controller answers
 * there, and out is not touched. */
enum err cadence_sd_open(struct cadence_sd *sd, const struct sdhci_setup *setup, uintptr_t sysreg,
                         struct block_device *out);

#endif
