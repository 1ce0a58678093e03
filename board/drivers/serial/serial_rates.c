#include "board/drivers/serial/serial_rates.h"

#include <stddef.h>

uint32_t serial_best_baud(uint64_t clock_hz, uint32_t least, uint32_t most)
{
    static const uint32_t usual[] = { 3000000, 2000000, 1500000, 1000000, 921600, 460800, 230400 };

    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++) {
        uint64_t rate = usual[i], divisor = (clock_hz + rate / 2) / rate;
        uint64_t product = divisor * rate;
        uint64_t off = product > clock_hz ? product - clock_hz : clock_hz - product;

        if (rate <= most && divisor >= least && divisor != 0 && off * 50 <= clock_hz)
            return usual[i];
    }
    return 115200;
}
