#include "board/host/host_cpu.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernels/kernels.h"

#if defined(__x86_64__)

#include <cpuid.h>

/* CPUID.(EAX=7, ECX=1):EAX bit 4. Not every compiler's runtime knows AVX-VNNI. */
static bool has_avx_vnni(void)
{
    enum { FEATURES = 7, AVX_VNNI = 1 << 4 };
    unsigned a, b, c, d;

    return __get_cpuid_count(FEATURES, 0, &a, &b, &c, &d) != 0 && a >= 1 /* subleaves */ &&
           __get_cpuid_count(FEATURES, 1, &a, &b, &c, &d) != 0 && (a & AVX_VNNI) != 0;
}

/* The compiler's runtime also asks xgetbv if the system saves a feature's registers. */
uint32_t host_cpu_features(void)
{
    uint32_t features = CPU_ANY;

    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("f16c")) {
        features |= has_avx_vnni() ? CPU_X86_AVX2 | CPU_X86_AVX_VNNI : CPU_X86_AVX2;
    }
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
        features |= CPU_X86_AVX512;
        if (__builtin_cpu_supports("avx512vnni")) {
            features |= CPU_X86_VNNI;
        }
    }
    return features;
}

/* CPUID.(EAX=0) returns the maker's name in ebx, edx and ecx. */
const struct kernel_tuning *host_cpu_tuning(void)
{
    unsigned most, name[4] = { 0, 0, 0, 0 };

    (void)__get_cpuid(0, &most, &name[0], &name[2], &name[1]);
    return kernel_tuning_x86_64((const char *)name);
}

#elif defined(__aarch64__)

/* Bits of AT_HWCAP and AT_HWCAP2 (Linux Documentation/arch/arm64/elf_hwcaps.rst). */
enum {
    CAP_SHA2 = 1 << 6,
    CAP_CRC32 = 1 << 7,
    CAP_CPUID = 1 << 11,
    CAP_ASIMDDP = 1 << 20,
    CAP_SVE = 1 << 22,
    CAP2_I8MM = 1 << 13,
};

uint32_t host_cpu_features(void)
{
    unsigned long cap = getauxval(AT_HWCAP), cap2 = getauxval(AT_HWCAP2);
    uint32_t features = CPU_ARM64_NEON; /* every ARMv8-A Linux has it */

    if (cap & CAP_SHA2) {
        features |= CPU_ARM64_SHA2;
    }
    if (cap & CAP_CRC32) {
        features |= CPU_ARM64_CRC;
    }
    if (cap & CAP_ASIMDDP) {
        features |= CPU_ARM64_DOTPROD;
    }
    if (cap2 & CAP2_I8MM) {
        features |= CPU_ARM64_I8MM;
    }
    if (cap & CAP_SVE) {
        features |= CPU_ARM64_SVE;
    }
    return features;
}

const struct kernel_tuning *host_cpu_tuning(void)
{
    uint64_t midr = 0;

    if (getauxval(AT_HWCAP) & CAP_CPUID) { /* then the system emulates reading MIDR_EL1 */
        __asm__ volatile("mrs %0, midr_el1" : "=r"(midr));
    }
    return kernel_tuning_arm64(midr);
}

#elif defined(__riscv)

/* riscv_hwprobe, since Linux 6.4 (Documentation/arch/riscv/hwprobe.rst). */
enum { HWPROBE = 258, KEY_IMA_EXT_0 = 4 };
#define EXT_V ((uint64_t)1 << 2)
#define EXT_ZBB ((uint64_t)1 << 4)
#define EXT_ZBC ((uint64_t)1 << 7)
#define EXT_ZVKNHA ((uint64_t)1 << 22)
#define EXT_ZVKNHB ((uint64_t)1 << 23)
#define EXT_ZVFH ((uint64_t)1 << 30)
#define EXT_ZVFHMIN ((uint64_t)1 << 31)

uint32_t host_cpu_features(void)
{
    struct {
        int64_t key;
        uint64_t value;
    } pair = { KEY_IMA_EXT_0, 0 };
    uint32_t features = CPU_RV64_GC;

    if (syscall(HWPROBE, &pair, (size_t)1, (size_t)0, NULL, 0u) != 0 || pair.key < 0) {
        return CPU_RV64_GC; /* an older system does not say whether its V is 1.0 */
    }
    if (pair.value & EXT_ZBB) {
        features |= CPU_RV64_ZBB;
    }
    if (pair.value & EXT_ZBC) {
        features |= CPU_RV64_ZBC;
    }
    if (pair.value & EXT_V) {
        features |= CPU_RV64_V;
        if (pair.value & (EXT_ZVFH | EXT_ZVFHMIN)) {
            features |= CPU_RV64_ZVFH;
        }
        if (pair.value & (EXT_ZVKNHA | EXT_ZVKNHB)) {
            features |= CPU_RV64_ZVKNHA;
        }
    }
    return features;
}

/* The device tree would name the core, but a program cannot see it. */
const struct kernel_tuning *host_cpu_tuning(void)
{
    return kernel_tuning_riscv64(NULL);
}

#else
#error "the Linux program is for x86-64, arm64 and riscv64"
#endif
