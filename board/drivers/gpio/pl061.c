#include "board/drivers/gpio/pl061.h"

/* Bits 2 to 9 of an address in GPIODATA select the lines that an access affects. */
enum { GPIODATA = 0x000, GPIODIR = 0x400, GPIOAFSEL = 0x420 };

static volatile uint8_t *reg(uintptr_t base, unsigned offset)
{
    return (volatile uint8_t *)(base + offset);
}

static volatile uint8_t *data_of(uintptr_t base, unsigned line)
{
    return reg(base, GPIODATA + (4u << line));
}

void pl061_write(uintptr_t base, unsigned line, bool high)
{
    *data_of(base, line) = (uint8_t)(high ? 1u << line : 0);
}

bool pl061_read(uintptr_t base, unsigned line)
{
    return *data_of(base, line) != 0;
}

/* Write the level before the line becomes an output, and again afterwards, because some models
 * store the level only for outputs. */
void pl061_setup(uintptr_t base, unsigned line, bool output, bool high)
{
    volatile uint8_t *direction = reg(base, GPIODIR), *select = reg(base, GPIOAFSEL);
    uint8_t bit = (uint8_t)(1u << line);

    *select = (uint8_t)(*select & ~bit);
    if (!output) {
        *direction = (uint8_t)(*direction & ~bit);
        return;
    }
    pl061_write(base, line, high);
    *direction = (uint8_t)(*direction | bit);
    pl061_write(base, line, high);
}
