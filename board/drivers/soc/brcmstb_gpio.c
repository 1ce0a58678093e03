#include "board/drivers/soc/brcmstb_gpio.h"

/* A bank's registers; in IODIR a 0 is an output. */
enum { GIO_BANK_BYTES = 0x20, GIO_DATA = 0x04, GIO_IODIR = 0x08 };

static volatile uint32_t *reg(uintptr_t base, unsigned pin, unsigned offset)
{
    return (volatile uint32_t *)(base + pin / 32 * GIO_BANK_BYTES + offset);
}

void brcmstb_gpio_write(uintptr_t base, unsigned pin, bool high)
{
    volatile uint32_t *data = reg(base, pin, GIO_DATA), *direction = reg(base, pin, GIO_IODIR);
    uint32_t bit = 1u << pin % 32;

    *data = high ? *data | bit : *data & ~bit; /* written before the pin becomes an output, so
                                                * that there is no wrong pulse */
    *direction &= ~bit;
}
