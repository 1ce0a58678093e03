/* The PolarFire SoC register map has the registers of the host's own block (HRS) under "MMC", those
 * of SYSREG under "PFSOC_MSS_TOP_SYSREG". The firmware that loaded us has set the delays of the
 * PHY; up to 50 MHz they need no tuning. HRS00, which resets the whole block, is not used, as in
 * Linux: the delays would be lost, and a card would not be seen until its switch is debounced
 * again. */
#include "board/drivers/sd/cadence_sd.h"

#include "board/drivers/sd/sdhci_registers.h"

enum {
    HRS_MODE = 0x18, /* HRS06 */
    MODE_KIND =
        7, /* mode of the card; 0: SD, 2: eMMC at high speed, one edge; other values need tuning */
    KIND_EMMC = 2,
    SRS = 0x200, /* the standard registers */
    DEBOUNCE_MICROS = 1000000,
};

enum { /* two registers of SYSREG, and the bit of MMC in each of them */
       SUBBLK_CLOCK_CR = 0x84,
       SOFT_RESET_CR = 0x88,
       MMC = 1 << 3,
};

static volatile uint32_t *reg_at(uintptr_t base, unsigned offset)
{
    return (volatile uint32_t *)(base + offset);
}

/* An access to a block without a clock may end in a bus error. As in HSS, the clock comes first,
 * then a pulse of the reset. A controller that HSS or U-Boot has woken is left unchanged. */
static void wake(uintptr_t sysreg)
{
    volatile uint32_t *clock = reg_at(sysreg, SUBBLK_CLOCK_CR);
    volatile uint32_t *soft_reset = reg_at(sysreg, SOFT_RESET_CR);

    if ((*clock & MMC) && !(*soft_reset & MMC))
        return;
    *clock |= MMC;
    *soft_reset |= MMC;
    *soft_reset &= ~(uint32_t)MMC;
}

static void set_kind(uintptr_t mmio, uint32_t kind)
{
    volatile uint32_t *mode = reg_at(mmio, HRS_MODE);

    *mode = (*mode & ~(uint32_t)MODE_KIND) | kind;
}

/* As in Linux (sdhci-cadence.c, sdhci_cdns_set_uhs_signaling), an SD card has mode 0 at every
 * speed, and an eMMC has mode 0 below high speed. */
static void prepare_timing(void *context, enum sd_timing timing)
{
    const struct cadence_sd *sd = context;
    bool is_fast = sd->is_emmc && timing != SD_TIMING_DEFAULT;

    set_kind(sd->host.setup.mmio - SRS, is_fast ? KIND_EMMC : 0);
}

/* A card that did not answer as an SD card is tried as an eMMC. */
static enum err identify_emmc(struct sd_host *host, struct sd_card *card)
{
    struct cadence_sd *sd = (struct cadence_sd *)host;
    enum err e;

    sd->is_emmc = true;
    e = sd_emmc_identify(host, card);
    sd->is_emmc = e == ERR_OK; /* an SD card may be inserted later */
    return e;
}

/* Wait until the slot's switch no longer bounces: until then an inserted card is not seen (host
 * 2.2.9). */
static void wait_for_switch(const struct sdhci *s)
{
    (void)sdhci_wait(s, SDHCI_PRESENT, PRESENT_STABLE, PRESENT_STABLE, DEBOUNCE_MICROS);
}

enum err cadence_sd_open(struct cadence_sd *sd, const struct sdhci_setup *setup, uintptr_t sysreg,
                         struct block_device *out)
{
    struct sdhci_setup standard = *setup;
    enum err e;

    wake(sysreg);
    set_kind(setup->mmio, 0);
    standard.mmio = setup->mmio + SRS;
    standard.quirks |= SDHCI_NO_1V8;
    standard.identify_emmc = identify_emmc;
    standard.prepare_timing = prepare_timing;
    standard.context = sd;
    sd->is_emmc = false;
    e = sdhci_open(&sd->host, &standard);
    if (e != ERR_OK)
        return e;
    wait_for_switch(&sd->host);
    sd_card_open(&sd->card, &sd->host.host, "SD card at ", setup->mmio, out);
    return ERR_OK;
}
