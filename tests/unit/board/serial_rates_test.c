#include "board/drivers/serial/serial_rates.h"

#include "tests/unit/tap.h"

int main(void)
{
    OK(serial_best_baud(48000000ull * 4, 64, 4000000) == 3000000,
       "a PL011 of 48 MHz reaches 3 MBd");
    OK(serial_best_baud(48000000ull * 4, 64, 921600) == 921600,
       "a rate never exceeds what is asked for");
    OK(serial_best_baud(3000000ull * 4, 64, 3000000) == 115200, "3 MHz allow no rate above 187500");
    OK(serial_best_baud(24000000 / 16, 1, 3000000) == 1500000, "a 16550 of 24 MHz reaches 1.5 MBd");
    OK(serial_best_baud(24000000 / 16, 1, 1000000) == 115200,
       "a divisor of 2 makes 750000, which is not a usual rate, and 460800 is off by 8 %%");
    OK(serial_best_baud(150000000 / 16, 1, 1000000) == 921600,
       "937500 baud, which 150 MHz makes for 921600, is 1.7 %% off");
    OK(serial_best_baud(500000000, 16, 3000000) == 3000000,
       "a SiFive UART of 500 MHz reaches 3 MBd");
    return tap_done();
}
