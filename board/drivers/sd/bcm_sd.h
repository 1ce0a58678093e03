/* The SD controllers of Raspberry Pi: Arasan's in BCM2835 to BCM2837 and BCM2711, EMMC2 in
 * BCM2711, and BCM2712's, each with its differences from a standard SDHCI. */
#ifndef INGOT_BOARD_DRIVERS_SD_BCM_SD_H
#define INGOT_BOARD_DRIVERS_SD_BCM_SD_H

#include "board/block_device.h"
#include "board/drivers/dma/bcm_dma.h"
#include "board/drivers/sd/sd_card.h"
#include "board/drivers/sd/sdhci.h"

enum { BCM_SD_CONFIG_BYTES = 0x200 };

enum bcm_sd_kind {
    BCM_SD_ARASAN, /* BCM2835 ARM Peripherals, chapter 5: without DMA */
    BCM_SD_EMMC2,  /* BCM2711: ADMA2 */
    BCM_SD_2712,   /* BCM2712: ADMA2, pin select, supplies by pins of the always-on GPIO */
};

/* A board's facts about its controller; registers are mapped. */
struct bcm_sd_place {
    enum bcm_sd_kind kind;
    uintptr_t mmio;
    uintptr_t dma;     /* BCM_SD_ARASAN: registers of the DMA engine; 0: a core moves the data */
    uintptr_t config;  /* BCM_SD_2712: registers between controller and pins, BCM_SD_CONFIG_BYTES */
    uintptr_t gpio;    /* BCM_SD_2712: the always-on GPIO, which switches the slot's
                                 supplies; 0 if they are fixed */
    bool pio;          /* a core moves data, even if there is DMA */
    bool is_soldered;  /* an eMMC on eight lines, which is always present */
    bool only_1v8;     /* the signals are always at 1.8 V */
    uint32_t clock_hz; /* the controller's clock from the firmware; 0: use what its registers say */
    struct dma_window window; /* DMA window of the controller; for BCM_SD_ARASAN, of the DMA
                                 engine */
    void (*switch_power)(
        bool on); /* switches the card's supply, if not by `gpio`; NULL if it is always on */
    enum err (*switch_1v8)(
        bool on); /* switches the signals' supply, if not by `gpio`; NULL: always 3.3 V */
    uint64_t (*ticks)(void);
    uint64_t ticks_hz;
};

struct bcm_sd {
    struct sdhci host;
    struct sd_card card;
    struct bcm_dma dma;
    struct sdhci_mover mover;
    struct bcm_sd_place place;
};

/* Start controller and card and fill *out; if no card can be used, out->error_message says why.
 * ERR_NO_DEVICE, ERR_TIMEOUT: no controller answers there, and out is not touched. */
enum err bcm_sd_open(struct bcm_sd *sd, const struct bcm_sd_place *place, struct block_device *out);

/* Call it before a restart; does what sdhci_close does, or nothing if the controller was never
 * opened. */
void bcm_sd_close(struct bcm_sd *sd);

#endif
