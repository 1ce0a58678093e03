#include "board/drivers/gpio/mss_gpio.h"

enum { CONFIG_STEP = 4, INPUTS = 0x84, OUTPUTS = 0x88 };
enum { CONFIG_OUT = 1 << 0, CONFIG_IN = 1 << 1, CONFIG_BUFFER = 1 << 2 };
enum { SUBBLK_CLOCK_CR = 0x84, SOFT_RESET_CR = 0x88, GPIO_BIT = 20 }; /* as in Linux's clk-mpfs.c */

static volatile uint32_t *reg(uintptr_t base, unsigned offset)
{
    return (volatile uint32_t *)(base + offset);
}

void mss_gpio_wake(uintptr_t sysreg, unsigned index)
{
    *reg(sysreg, SUBBLK_CLOCK_CR) |= 1u << (GPIO_BIT + index);
    *reg(sysreg, SOFT_RESET_CR) &= ~(1u << (GPIO_BIT + index));
}

void mss_gpio_write(uintptr_t base, unsigned line, bool high)
{
    uint32_t bit = 1u << line;

    *reg(base, OUTPUTS) = high ? *reg(base, OUTPUTS) | bit : *reg(base, OUTPUTS) & ~bit;
}

bool mss_gpio_read(uintptr_t base, unsigned line)
{
    return (*reg(base, INPUTS) >> line & 1) != 0;
}

/* The level is set before the line becomes an output. */
void mss_gpio_setup(uintptr_t base, unsigned line, bool output, bool high)
{
    volatile uint32_t *config = reg(base, line * CONFIG_STEP);
    uint32_t rest = *config & ~(uint32_t)(CONFIG_OUT | CONFIG_IN | CONFIG_BUFFER);

    if (output)
        mss_gpio_write(base, line, high);
    *config = rest | (output ? CONFIG_OUT | CONFIG_BUFFER | CONFIG_IN : CONFIG_IN);
}
