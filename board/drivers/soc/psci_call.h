/* Calls the firmware of an arm64 machine (PSCI, DEN 0022). This file is separate from psci.c, so
 * that psci.c can be tested on any computer. */
#ifndef INGOT_BOARD_DRIVERS_SOC_PSCI_CALL_H
#define INGOT_BOARD_DRIVERS_SOC_PSCI_CALL_H

#include <stdbool.h>
#include <stdint.h>

/* Calls the function by HVC or by SMC. Returns x0: 0 or a negative error (DEN 0022, 5.2.2). */
int64_t psci_call(bool by_hvc, uint64_t function, uint64_t a, uint64_t b, uint64_t c);

#endif
