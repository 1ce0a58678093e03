/* CPU features without an operating system. No register that S-mode may read names extensions,
 * so the caller, who has the device tree, must name more features. */
#include "library/library.h"

uint32_t library_cpu_features(bool privileged)
{
    (void)privileged;
    return CPU_RV64_GC;
}

const struct kernel_tuning *library_cpu_tuning(void)
{
    return kernel_tuning_riscv64(NULL);
}
