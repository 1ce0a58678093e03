#include "board/drivers/gpio/jh7110_gpio.h"

/* Each line has a byte with the number of the signal that enables its output (six bits), and a byte
 * with the number of the signal that it outputs (seven bits). Signals 0 and 1 are constant. */
enum { DOEN = 0x000, DOUT = 0x040, GPIOIN = 0x118, PAD = 0x120 };
enum { DOEN_MASK = 0x3f, DOUT_MASK = 0x7f, SIGNAL_LOW = 0, SIGNAL_HIGH = 1 };
enum { PAD_INPUT = 1 << 0 };

static volatile uint32_t *reg(uintptr_t base, unsigned offset)
{
    return (volatile uint32_t *)(base + offset);
}

static void choose(uintptr_t base, unsigned place, unsigned line, uint32_t mask, uint32_t signal)
{
    volatile uint32_t *word = reg(base, place + line / 4 * 4);
    unsigned shift = line % 4 * 8;

    *word = (*word & ~(mask << shift)) | signal << shift;
}

void jh7110_gpio_write(uintptr_t base, unsigned line, bool high)
{
    choose(base, DOUT, line, DOUT_MASK, high ? SIGNAL_HIGH : SIGNAL_LOW);
}

bool jh7110_gpio_read(uintptr_t base, unsigned line)
{
    return (*reg(base, GPIOIN + line / 32 * 4) >> line % 32 & 1) != 0;
}

/* An output's enable is active low. The pad's input also shows the level of an output. */
void jh7110_gpio_setup(uintptr_t base, unsigned line, bool output, bool high)
{
    if (output)
        jh7110_gpio_write(base, line, high);
    *reg(base, PAD + line * 4) |= PAD_INPUT;
    choose(base, DOEN, line, DOEN_MASK, output ? SIGNAL_LOW : SIGNAL_HIGH);
}
