/* Cadence SD4HC (PolarFire SoC): an SDHCI of version 4. A block of the host's own registers
 * comes before the standard ones. "TRM" is the PolarFire SoC MSS Technical Reference Manual. */
#ifndef INGOT_BOARD_DRIVERS_SD_CADENCE_SD_H
#define INGOT_BOARD_DRIVERS_SD_CADENCE_SD_H

#include "board/block_device.h"
#include "board/drivers/sd/sd_card.h"
#include "board/drivers/sd/sdhci.h"

enum { CADENCE_SD_BYTES = 0x1000 };

struct cadence_sd {
    struct sdhci host;
    struct sd_card card;
};

/* Start controller and card and fill out. setup->mmio is the start of all registers, mapped,
 * CADENCE_SD_BYTES; 3.3 V only. Without a card that can be used out->problem says why.
 * ERR_NO_DEVICE, ERR_TIMEOUT: no controller answers there, out is untouched. */
enum err cadence_sd_open(struct cadence_sd *sd, const struct sdhci_setup *setup,
                         struct block_device *out);

#endif
