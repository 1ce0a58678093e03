/* Register operations for the other files of the driver: change bits, wait for them, reset, look
 * for a card. Sections are those of the SD Host Controller Simplified Specification 4.20. */
#include "board/drivers/sd/sdhci_registers.h"

enum { RESET_MICROS = 100000, GAP_CLOCKS = 4, SLOW_HZ = 400000 };

/* On BCM2835, registers are in the card's clock domain, and a second write to a register is lost if
 * it comes within two cycles of that clock. Linux waits twice as long (sdhci-iproc), and does so on
 * BCM2711's EMMC2, too, while the clock is slow. */
void sdhci_wait_gap(const struct sdhci *s)
{
    uint32_t quirks = s->setup.quirks;
    bool slow = (quirks & SDHCI_SLOW_GAP) && s->gap_hz <= SLOW_HZ;
    uint64_t gap = GAP_CLOCKS * s->setup.ticks_hz / s->gap_hz + 2;

    if (!(quirks & SDHCI_WRITE_GAP) && !slow)
        return;
    while (s->setup.ticks() - s->written_at < gap)
        continue;
}

void sdhci_write(struct sdhci *s, unsigned reg, uint32_t value)
{
    sdhci_wait_gap(s);
    sdhci_put(s, reg, value);
    s->written_at = s->setup.ticks();
}

void sdhci_change(struct sdhci *s, unsigned reg, uint32_t mask, uint32_t value)
{
    sdhci_write(s, reg, (sdhci_read(s, reg) & ~mask) | value);
}

bool sdhci_wait(const struct sdhci *s, unsigned reg, uint32_t mask, uint32_t value, uint32_t micros)
{
    uint64_t start = s->setup.ticks(), limit = sd_host_ticks(&s->host, micros);

    while ((sdhci_read(s, reg) & mask) != value) {
        if (s->setup.ticks() - start > limit)
            return (sdhci_read(s, reg) & mask) == value;
    }
    return true;
}

/* 2.2.17 */
enum err sdhci_soft_reset(struct sdhci *s, uint32_t which)
{
    sdhci_change(s, SDHCI_CLOCK, which, which);
    return err_unless(sdhci_wait(s, SDHCI_CLOCK, which, 0, RESET_MICROS), ERR_TIMEOUT);
}

/* True if the switch reports a card and has stopped bouncing (3.1). */
bool sdhci_is_present(struct sd_host *host)
{
    const struct sdhci *s = (const struct sdhci *)host;
    const uint32_t in = PRESENT_INSERTED | PRESENT_STABLE;

    return (s->setup.quirks & SDHCI_NO_DETECT) || (sdhci_read(s, SDHCI_PRESENT) & in) == in;
}
