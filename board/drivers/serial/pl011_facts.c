#include "board/drivers/serial/pl011.h"
#include "board/facts.h"

enum { IBRD = 0x24, FBRD = 0x28, LCR_H = 0x2c, CR = 0x30 }; /* DDI 0183 3.3.5 to 3.3.8 */

static uint32_t reg(const struct pl011 *uart, unsigned offset)
{
    return *(const volatile uint32_t *)(uart->base + offset);
}

void pl011_facts(const struct pl011 *uart, uint32_t clock_hz, const struct facts *f)
{
    if (uart->base == 0)
        return;
    fact_number(f, "uart", FACT_HEX, uart->base);
    if (clock_hz != 0)
        fact_number(f, "uart clock", FACT_HZ, clock_hz);
    fact_number(f, "uart divisor in 1/64", FACT_COUNT,
                reg(uart, IBRD) * 64 + (reg(uart, FBRD) & 63));
    fact_number(f, "uart line control", FACT_HEX, reg(uart, LCR_H));
    fact_number(f, "uart control", FACT_HEX, reg(uart, CR));
}

void pl011_second_facts(const void *of, const struct facts *f)
{
    pl011_facts(of, 0, f);
}
