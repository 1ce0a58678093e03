#include "board/drivers/soc/bcm2712.h"

enum {
    PRODUCT = 0x2712,
    FIRST_D = 0x30,
    SHARED = 32,
    LINE_C = SHARED + 121,
    LINE_D = SHARED + 120
};

unsigned bcm2712_uart_lines(uint32_t id, uint32_t lines[BCM2712_UART_LINES])
{
    lines[0] = (id & 0xff) >= FIRST_D ? LINE_D : LINE_C;
    if (id >> 16 == PRODUCT)
        return 1;
    lines[0] = LINE_C;
    lines[1] = LINE_D;
    return 2;
}
