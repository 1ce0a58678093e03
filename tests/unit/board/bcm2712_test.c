/* The interrupt of UART10 of a Raspberry Pi 5, by the chip's stepping. */
#include "board/drivers/soc/bcm2712.h"

#include "tests/unit/tap.h"

static bool only(uint32_t id, uint32_t line)
{
    uint32_t lines[BCM2712_UART_LINES] = { 0, 0 };

    return bcm2712_uart_lines(id, lines) == 1 && lines[0] == line;
}

int main(void)
{
    uint32_t lines[BCM2712_UART_LINES] = { 0, 0 };

    OK(only(0x27120010, 153) && only(0x27120021, 153), "C0 and C1 have their UART at SPI 121");
    OK(only(0x27120030, 152) && only(0x27120031, 152),
       "D0 and what follows have their UART at SPI 120");
    OK(bcm2712_uart_lines(0, lines) == 2 && lines[0] == 153 && lines[1] == 152 &&
           bcm2712_uart_lines(0xffffffff, lines) == 2,
       "both lines are taken if the register does not answer");
    return tap_done();
}
