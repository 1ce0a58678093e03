/* Registers of the host's own block (HRS) are those of the PolarFire SoC register map, "MMC". The
 * firmware that loaded us has set the delays of the PHY; up to 50 MHz they need no tuning. */
#include "board/drivers/sd/cadence_sd.h"

enum {
    HRS_RESET = 0x00, /* HRS00: bit 0 resets everything, and clears itself */
    HRS_MODE = 0x18,  /* HRS06: bits 2:0, the kind of card; 0: SD, 2: eMMC at one edge */
    SRS = 0x200,      /* the registers of the standard */
    RESET_MICROS = 100000,
};

static enum err reset(const struct sdhci_setup *setup)
{
    volatile uint32_t *hrs_reset = (volatile uint32_t *)(setup->mmio + HRS_RESET);
    uint64_t start = setup->ticks(), limit = setup->ticks_hz * RESET_MICROS / 1000000;

    *hrs_reset = 1;
    while (*hrs_reset & 1) {
        if (setup->ticks() - start > limit)
            return ERR_TIMEOUT;
    }
    *(volatile uint32_t *)(setup->mmio + HRS_MODE) = 0;
    return ERR_OK;
}

/* A card that did not answer as an SD card is asked as an eMMC, in its own mode. */
static enum err identify_emmc(struct sd_host *host, struct sd_card *card)
{
    const struct sdhci *s = (const struct sdhci *)host;
    volatile uint32_t *mode = (volatile uint32_t *)(s->setup.mmio - SRS + HRS_MODE);
    enum err e;

    *mode = 2;
    e = sd_emmc_identify(host, card);
    if (e != ERR_OK)
        *mode = 0; /* an SD card may come */
    return e;
}

enum err cadence_sd_open(struct cadence_sd *sd, const struct sdhci_setup *setup,
                         struct block_device *out)
{
    struct sdhci_setup standard = *setup;
    enum err e = reset(setup);

    if (e != ERR_OK)
        return e;
    standard.mmio = setup->mmio + SRS;
    standard.quirks |= SDHCI_NO_1V8;
    standard.identify_emmc = identify_emmc;
    e = sdhci_open(&sd->host, &standard);
    if (e == ERR_OK)
        sd_card_open(&sd->card, &sd->host.host, "SD card at ", setup->mmio, out);
    return e;
}
