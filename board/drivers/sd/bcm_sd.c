#include "board/drivers/sd/bcm_sd.h"

#include "board/min_max.h"

/* A channel that the firmware's device trees leave to the operating system on every model
 * (brcm,dma-channel-mask), and not one of the "lite" ones, which stop at 64 KiB. */
enum { DMA_CHANNEL = 4 };

/* No slot's switch reaches its controller; the Pi 5's does, through a GPIO. Arasan's registers
 * are those of version 3 without capabilities, and it does not tell when a card stops being
 * busy. */
static uint32_t bcm_sd_quirks(const struct bcm_sd_place *place)
{
    uint32_t quirks = SDHCI_NO_DETECT | bits_if(place->switch_1v8 == NULL, SDHCI_NO_1V8);

    if (place->pio)
        quirks |= SDHCI_NO_DMA;
    if (place->kind == BCM_SD_ARASAN)
        quirks |= SDHCI_WRITE_GAP | SDHCI_NO_DMA | SDHCI_NO_HIGH_BIT | SDHCI_NO_BUSY_EVENT |
                  SDHCI_NO_1V8;
    return quirks;
}

enum err bcm_sd_open(struct bcm_sd *sd, const struct bcm_sd_place *place, struct block_device *out)
{
    bool moves = place->kind == BCM_SD_ARASAN && place->dma != 0 && !place->pio;
    struct sdhci_setup setup = {
        .mmio = place->mmio,
        .quirks = bcm_sd_quirks(place),
        .base_hz = place->clock_hz,
        .window = place->window,
        .mover = moves ? &sd->mover : NULL,
        .switch_power = place->switch_power,
        .switch_1v8 = place->switch_1v8,
        .identify_emmc = place->identify_emmc,
        .ticks = place->ticks,
        .ticks_hz = place->ticks_hz,
    };
    enum err e;

    if (moves) {
        bcm_dma_init(&sd->dma, place->dma, DMA_CHANNEL, BCM_DREQ_EMMC, &place->window);
        sd->mover = (struct sdhci_mover){ &sd->dma, bcm_dma_start, bcm_dma_poll, bcm_dma_stop };
    }
    e = sdhci_open(&sd->host, &setup);
    if (e == ERR_OK)
        sd_card_open(&sd->card, &sd->host.host, "SD card at ", place->mmio, out);
    return e;
}
