/* CPU features without an operating system. Section numbers refer to the Arm ARM, DDI 0487. */
#include "library/library.h"

enum { CPACR_ZEN = 3 << 16 }; /* if these bits are set, SVE does not trap (D17.2.30) */

/* At EL0 these reads are undefined. */
static uint32_t read_features(void)
{
    uint64_t pfr0, isar0, isar1, cpacr;
    uint32_t features;

    __asm__ volatile("mrs %0, id_aa64pfr0_el1" : "=r"(pfr0));
    __asm__ volatile("mrs %0, id_aa64isar0_el1" : "=r"(isar0));
    __asm__ volatile("mrs %0, id_aa64isar1_el1" : "=r"(isar1));
    __asm__ volatile("mrs %0, cpacr_el1" : "=r"(cpacr));
    features = kernel_features_arm64(pfr0, isar0, isar1);
    if ((cpacr & CPACR_ZEN) != CPACR_ZEN) {
        features &= ~(uint32_t)CPU_ARM64_SVE;
    }
    return features;
}

/* Every ARMv8-A core that runs C code with floating point has NEON. */
uint32_t library_cpu_features(bool privileged)
{
    if (privileged) {
        return read_features();
    }
    return CPU_ARM64_NEON;
}

const struct kernel_tuning *library_cpu_tuning(void)
{
    return kernel_tuning_arm64(0);
}
