/* Calls the firmware below S-mode (RISC-V Supervisor Binary Interface 2.0, chapter 3). The
 * instruction does not exist on a PC, so the call has its own file, which a board's test replaces
 * with a simulated firmware (tests/boards). */
#ifndef INGOT_BOARD_DRIVERS_SOC_SBI_CALL_H
#define INGOT_BOARD_DRIVERS_SOC_SBI_CALL_H

#include <stdint.h>

struct sbi_result {
    int64_t error; /* 0: none; -2: not supported, -3: bad parameter, -6: available already, ... */
    uint64_t value;
};

struct sbi_result sbi_call(uint64_t extension, uint64_t function, uint64_t arg0, uint64_t arg1,
                           uint64_t arg2, uint64_t arg3);

#endif
