/* Features of the processor that runs the Linux program; also for the kernel tester. */
#ifndef INGOT_BOARD_HOST_HOST_CPU_H
#define INGOT_BOARD_HOST_HOST_CPU_H

#include <stdint.h>

#include "kernels/tuning.h"

/* Bits of enum cpu_feature that the CPU has and the system lets programs use. */
uint32_t host_cpu_features(void);

/* The tuning for the calling core; never NULL. */
const struct kernel_tuning *host_cpu_tuning(void);

#endif
