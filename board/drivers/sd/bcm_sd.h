/* The SD controllers of Raspberry Pi: Arasan's in BCM2835 to BCM2837 and BCM2711, EMMC2 in
 * BCM2711, and BCM2712's, each with its differences from a standard SDHCI. */
#ifndef INGOT_BOARD_DRIVERS_SD_BCM_SD_H
#define INGOT_BOARD_DRIVERS_SD_BCM_SD_H

#include "board/block_device.h"
#include "board/drivers/dma/bcm_dma.h"
#include "board/drivers/sd/sd_card.h"
#include "board/drivers/sd/sdhci.h"

enum bcm_sd_kind {
    BCM_SD_ARASAN, /* BCM2835 ARM Peripherals, chapter 5: no DMA of its own */
    BCM_SD_EMMC2,  /* BCM2711: ADMA2 */
    BCM_SD_2712,   /* BCM2712: ADMA2 */
};

/* The board's facts; registers are mapped. */
struct bcm_sd_place {
    enum bcm_sd_kind kind;
    uintptr_t mmio;
    uintptr_t dma;            /* BCM_SD_ARASAN: registers of the DMA engine; 0: a core moves data */
    bool pio;                 /* a core moves data, even if there is DMA */
    uint32_t clock_hz;        /* of the controller, from the firmware; 0: as its registers say */
    struct dma_window window; /* of the controller, for BCM_SD_ARASAN of the DMA engine */
    void (*switch_power)(bool on);   /* of the card; NULL: it is always on */
    enum err (*switch_1v8)(bool on); /* of its signals; NULL: always 3.3 V */
    enum err (*identify_emmc)(struct sd_host *host, struct sd_card *card); /* as in sdhci.h */
    uint64_t (*ticks)(void);
    uint64_t ticks_hz;
};

struct bcm_sd {
    struct sdhci host;
    struct sd_card card;
    struct bcm_dma dma;
    struct sdhci_mover mover;
};

/* Start controller and card and fill out; without a card that can be used out->problem says why.
 * ERR_NO_DEVICE, ERR_TIMEOUT: no controller answers there, out is untouched. */
enum err bcm_sd_open(struct bcm_sd *sd, const struct bcm_sd_place *place, struct block_device *out);

#endif
