/* Features of the processor that runs the Linux program or the kernel tester. */
#ifndef INGOT_BOARD_HOST_HOST_CPU_H
#define INGOT_BOARD_HOST_HOST_CPU_H

#include <stdint.h>

#include "kernels/tuning.h"

/* Return the bits of enum cpu_feature that the CPU has and the system lets programs use. */
uint32_t host_cpu_features(void);

/* Return the tuning for the calling core; never NULL. */
const struct kernel_tuning *host_cpu_tuning(void);

#endif
