/* CPU features without an operating system. No register that S-mode can read tells which extensions
 * the CPU has. If it has more features, the caller must name them; the device tree lists them. */
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
