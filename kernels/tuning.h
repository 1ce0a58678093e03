/* Tables of the differences between cores of one ISA. They change speed, but no result. */
#ifndef INGOT_KERNELS_TUNING_H
#define INGOT_KERNELS_TUNING_H

#include <stddef.h>
#include <stdint.h>

struct kernel_tuning {
    const char *core; /* such as "Cortex-A72", or NULL if the core is not in the table */
    size_t ahead;     /* prefetch distance of a gemv in bytes of weights, or 0 for none */
    uint32_t without; /* bits of enum cpu_feature that the core's firmware claims wrongly */
};

/* Find the core. On ARM64 the key is MIDR_EL1 (implementer and part number); on RISC-V, the first
 * string of `compatible` in the core's device tree node ("spacemit,x60"; may be NULL); on x86-64,
 * the vendor from CPUID. Never returns NULL. */
const struct kernel_tuning *kernel_tuning_arm64(uint64_t midr);
const struct kernel_tuning *kernel_tuning_riscv64(const char *compatible);
const struct kernel_tuning *kernel_tuning_x86_64(const char *vendor);

/* Return the bits of enum cpu_feature that ID_AA64PFR0_EL1, ID_AA64ISAR0_EL1 and
 * ID_AA64ISAR1_EL1 report. */
uint32_t kernel_features_arm64(uint64_t pfr0, uint64_t isar0, uint64_t isar1);

/* Return the size in bytes of the second-level data cache, or 0 if there is none. The arguments are
 * CLIDR_EL1; ID_AA64MMFR2_EL1, which gives the format of ccsidr; and CCSIDR_EL1, read while
 * CSSELR_EL1 is KERNEL_CACHE_ARM64. Source: Arm ARM, DDI 0487, these registers. */
enum { KERNEL_CACHE_ARM64 = 1 << 1 };
size_t kernel_cache_arm64(uint64_t clidr, uint64_t mmfr2, uint64_t ccsidr);

#endif
