/* Accesses to the registers; the rest of the driver uses only these four functions. */
#include "board/drivers/sd/sdhci_registers.h"

static volatile uint32_t *reg_at(const struct sdhci *s, unsigned reg)
{
    return (volatile uint32_t *)(s->setup.mmio + reg);
}

uint32_t sdhci_read(const struct sdhci *s, unsigned reg)
{
    return *reg_at(s, reg);
}

void sdhci_put(const struct sdhci *s, unsigned reg, uint32_t value)
{
    *reg_at(s, reg) = value;
}

void sdhci_read_port(const struct sdhci *s, uint32_t *to, uint32_t words)
{
    const volatile uint32_t *port = reg_at(s, SDHCI_DATA);

    for (uint32_t i = 0; i < words; i++)
        to[i] = *port;
}

void sdhci_write_port(const struct sdhci *s, const uint32_t *from, uint32_t words)
{
    volatile uint32_t *port = reg_at(s, SDHCI_DATA);

    for (uint32_t i = 0; i < words; i++)
        *port = from[i];
}
