/* Work on registers for the other files of the driver: change bits, wait for them, reset, look for a
 * card. Sections are those of the SD Host Controller Simplified Specification 4.20. */
#include "board/drivers/sd/sdhci_registers.h"

enum { RESET_MICROS = 100000 };

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

/* 3.1: the switch has settled and says so. While it bounces there is no card. */
bool sdhci_is_present(struct sd_host *host)
{
    const struct sdhci *s = (const struct sdhci *)host;
    const uint32_t in = PRESENT_INSERTED | PRESENT_STABLE;

    return (s->setup.quirks & SDHCI_NO_DETECT) || (sdhci_read(s, SDHCI_PRESENT) & in) == in;
}
