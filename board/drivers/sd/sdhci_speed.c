/* Clock, width, voltage and sampling point. Sections are those of the SD Host Controller Simplified
 * Specification 4.20; "Physical Layer" is that of sd_host.h. */
#include <string.h>

#include "board/drivers/sd/sdhci_registers.h"
#include "board/min_max.h"

enum {
    STABLE_MICROS = 150000,
    LOW_MICROS = 1000,     /* time for the card to pull its data lines low, as in Linux */
    SWITCH_MICROS = 10000, /* time for the supply to change while the clock is stopped; twice that
                              of Physical Layer 4.2.4.2, as in Linux and U-Boot */
    SETTLE_MICROS = 1000,
    TUNE_MICROS = 50000, /* for one tuning block */
    TUNE_BLOCKS = 40,    /* 2.2.25: a controller that needs more has failed */
};

/* Find the divisor: version 3 divides by 2 n for n up to 1023, version 2 by a power of two up to
 * 256 (2.2.15). Returns the field, and the resulting clock. */
static uint32_t divisor_field(const struct sdhci *s, uint32_t hz, uint32_t *clock_hz)
{
    uint32_t n = 0;

    if (s->version >= 2) {
        if (s->base_hz > hz)
            n = (s->base_hz + 2 * hz - 1) / (2 * hz);
        n = min_u32(n, 1023);
        *clock_hz = s->base_hz / max_u32(2 * n, 1);
        return (n & 255) << 8 | (n >> 8) << 6;
    }
    *clock_hz = s->base_hz;
    while (*clock_hz > hz && n < 128) {
        n = max_u32(2 * n, 1);
        *clock_hz = s->base_hz / (2 * n);
    }
    return n << 8;
}

/* Never change the divisor of a running clock (3.2.1, 3.2.2, 3.2.3). Until the new clock is stable
 * and has reached the card, writes keep the gap that the slower clock needs. */
static enum err set_clock(struct sdhci *s, uint32_t hz)
{
    uint32_t clock_hz, field = divisor_field(s, max_u32(hz, s->setup.min_hz), &clock_hz);

    s->gap_hz = min_u32(s->gap_hz, clock_hz);
    sdhci_change(s, SDHCI_CLOCK, CLOCK_CARD, 0);
    sdhci_change(s, SDHCI_CLOCK, CLOCK_DIVISOR | CLOCK_INTERNAL, field | CLOCK_INTERNAL);
    if (!sdhci_wait(s, SDHCI_CLOCK, CLOCK_STABLE, CLOCK_STABLE, STABLE_MICROS))
        return ERR_TIMEOUT;
    sdhci_change(s, SDHCI_CLOCK, CLOCK_CARD, CLOCK_CARD);
    sdhci_wait_gap(s);
    s->clock_hz = s->gap_hz = s->host.clock_hz = clock_hz;
    return ERR_OK;
}

/* Set the mode and the edge while the clock is stopped, as UHS requires (2.2.11, 2.2.25). */
static void set_timing(struct sdhci *s, enum sd_timing timing)
{
    static const uint8_t modes[] = { [SD_TIMING_DEFAULT] = 0,
                                     [SD_TIMING_HIGH] = 1,
                                     [SD_TIMING_SDR50] = 2,
                                     [SD_TIMING_SDR104] = 3,
                                     [SD_TIMING_DDR50] = 4 };
    bool fast = timing != SD_TIMING_DEFAULT && !(s->setup.quirks & SDHCI_NO_HIGH_BIT);

    sdhci_change(s, SDHCI_CLOCK, CLOCK_CARD, 0);
    if (s->setup.prepare_timing != NULL)
        s->setup.prepare_timing(s->setup.context, timing);
    sdhci_change(s, SDHCI_CONTROL, CONTROL_HIGH_SPEED, bits_if(fast, CONTROL_HIGH_SPEED));
    if (s->version >= 2)
        sdhci_change(s, SDHCI_CONTROL_2, CONTROL2_MODE,
                     (uint32_t)modes[timing] << CONTROL2_MODE_SHIFT);
}

enum err sdhci_set_bus(struct sd_host *host, uint32_t hz, unsigned bits, enum sd_timing timing)
{
    struct sdhci *s = (struct sdhci *)host;

    sdhci_change(s, SDHCI_CONTROL, CONTROL_4_BITS | CONTROL_8_BITS, /* 3.4 */
                 bits_if(bits == 8, CONTROL_8_BITS) | bits_if(bits == 4, CONTROL_4_BITS));
    set_timing(s, timing);
    return set_clock(s, hz);
}

/* After its answer the card pulls the data lines low, for which it needs the clock, and releases
 * them when the clock runs again at 1.8 V (Physical Layer 4.2.4.2). The order is that of U-Boot
 * (mmc_switch_voltage) and Linux (mmc_set_uhs_voltage). */
enum err sdhci_set_1v8(struct sd_host *host)
{
    struct sdhci *s = (struct sdhci *)host;

    /* A line stays high: the card has not accepted the command. */
    if (!sdhci_wait(s, SDHCI_PRESENT, PRESENT_DATA_LINES, 0, LOW_MICROS))
        return ERR_IO;
    sdhci_change(s, SDHCI_CLOCK, CLOCK_CARD, 0);
    if (s->setup.switch_1v8 != NULL && s->setup.switch_1v8(s->setup.context, true) != ERR_OK)
        return ERR_IO;
    sdhci_change(s, SDHCI_CONTROL_2, CONTROL2_1V8, CONTROL2_1V8);
    sd_host_delay(host, SWITCH_MICROS);
    if (!(sdhci_read(s, SDHCI_CONTROL_2) & CONTROL2_1V8))
        return ERR_IO; /* the controller's regulator gave up */
    sdhci_change(s, SDHCI_CLOCK, CLOCK_CARD, CLOCK_CARD);
    return err_unless(sdhci_wait(s, SDHCI_PRESENT, PRESENT_DATA_LINES, PRESENT_DATA_LINES,
                                 SETTLE_MICROS),
                      ERR_IO);
}

/* Read one tuning block; the controller compares it, and reports only its arrival. */
static enum err tune_once(struct sdhci *s, unsigned index)
{
    uint32_t bytes = sdhci_read(s, SDHCI_CONTROL) & CONTROL_8_BITS ? 128 : 64;
    bool came;

    sdhci_write(s, SDHCI_STATUS, 0xffffffff);
    sdhci_write(s, SDHCI_BLOCK, 1 << 16 | bytes);
    sdhci_write(s, SDHCI_ARGUMENT, 0);
    sdhci_write(s, SDHCI_TRANSFER,
                TRANSFER_READ | COMMAND_SHORT | COMMAND_CHECK_CRC | COMMAND_CHECK_INDEX |
                    COMMAND_HAS_DATA | (uint32_t)index << COMMAND_INDEX_SHIFT);
    came = sdhci_wait(s, SDHCI_STATUS, STATUS_READABLE, STATUS_READABLE, TUNE_MICROS);
    sdhci_write(s, SDHCI_STATUS, 0xffffffff);
    return err_unless(came, ERR_TIMEOUT);
}

/* 2.2.25, sampling clock tuning. */
enum err sdhci_tune(struct sd_host *host, unsigned index)
{
    struct sdhci *s = (struct sdhci *)host;
    enum err e = ERR_OK;

    host->wants_tuning = false;
    sdhci_change(s, SDHCI_CONTROL_2, CONTROL2_TUNE, CONTROL2_TUNE);
    for (unsigned i = 0; i < TUNE_BLOCKS && e == ERR_OK; i++) {
        e = tune_once(s, index);
        /* The controller clears Execute Tuning when it has decided. */
        if (!(sdhci_read(s, SDHCI_CONTROL_2) & CONTROL2_TUNE))
            break;
    }
    if (e == ERR_OK &&
        (sdhci_read(s, SDHCI_CONTROL_2) & (CONTROL2_TUNE | CONTROL2_TUNED)) == CONTROL2_TUNED)
        return ERR_OK;
    sdhci_change(s, SDHCI_CONTROL_2, CONTROL2_TUNE | CONTROL2_TUNED, 0); /* use the fixed clock */
    sdhci_stop(host);
    if (e != ERR_OK)
        return e;
    return ERR_IO;
}
