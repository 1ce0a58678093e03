#include "board/drivers/gpio/rp1_gpio.h"

/* IO_BANK0 has STATUS and CTRL of each line; SYS_RIO0 has the levels, and aliases that only set or
 * only clear bits (2.4); PADS_BANK0 has one register for all lines, then one for each. */
enum { CTRL = 0x4, CTRL_STEP = 8, RIO = 0x10000, PADS = 0x20000, PAD = 0x4, PAD_STEP = 4 };
enum { RIO_OUT = RIO, RIO_OE = RIO + 4, RIO_IN = RIO + 8, SET = 0x2000, CLEAR = 0x3000 };
enum {
    CTRL_FUNCTION = 0x1f,
    CTRL_FUNCTION_RIO = 5,
    CTRL_FUNCTION_NONE = 0x1f,
    CTRL_OVER = 3 << 12 | 3 << 14 | 3 << 16, /* 0: the function controls output, output enable
                                                and input, without overrides */
    PAD_INPUT = 1 << 6,
    PAD_NO_OUTPUT = 1 << 7,
};

static volatile uint32_t *reg(uintptr_t base, unsigned offset)
{
    return (volatile uint32_t *)(base + offset);
}

void rp1_gpio_write(uintptr_t base, unsigned line, bool high)
{
    *reg(base, RIO_OUT + (high ? SET : CLEAR)) = 1u << line;
}

bool rp1_gpio_read(uintptr_t base, unsigned line)
{
    return (*reg(base, RIO_IN) >> line & 1) != 0;
}

/* Set level and direction while the line may still have another function; they take effect when RIO
 * gets the line. */
void rp1_gpio_setup(uintptr_t base, unsigned line, bool output, bool high)
{
    volatile uint32_t *control = reg(base, CTRL + line * CTRL_STEP);
    volatile uint32_t *pad = reg(base, PADS + PAD + line * PAD_STEP);

    if (output)
        rp1_gpio_write(base, line, high);
    *reg(base, RIO_OE + (output ? SET : CLEAR)) = 1u << line;
    *pad = (*pad & ~(uint32_t)PAD_NO_OUTPUT) | PAD_INPUT;
    *control = (*control & ~(uint32_t)(CTRL_FUNCTION | CTRL_OVER)) | CTRL_FUNCTION_RIO;
}

void rp1_gpio_lend(uintptr_t base, unsigned line, unsigned function)
{
    volatile uint32_t *control = reg(base, CTRL + line * CTRL_STEP);
    volatile uint32_t *pad = reg(base, PADS + PAD + line * PAD_STEP);

    if ((*control & CTRL_FUNCTION) != CTRL_FUNCTION_NONE)
        return;
    *pad = (*pad & ~(uint32_t)PAD_NO_OUTPUT) | PAD_INPUT;
    *control = (*control & ~(uint32_t)(CTRL_FUNCTION | CTRL_OVER)) | function;
}
