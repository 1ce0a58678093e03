#include "kernels/tuning.h"

#include <string.h>

#include "kernels/kernels.h"

/* `ahead` is latency times bandwidth: the bytes of weights, rounded up to lines, that a core reads
 * while one line is fetched. Cores with a hardware prefetcher get twice as much, because the
 * prefetcher follows the stream by itself, and a hint only helps at the end of a page. The values
 * are computed from published figures, not measured.
 *
 *   core     ns to DRAM  GHz  cycles  bytes per cycle             product
 *   A53      140         1.2  170     0.9 the kernel's, in order     150   3 lines in flight
 *   A55      130         1.8  230     1.2                            280
 *   A72      140         1.5  210     0.7 from memory                150   has a prefetcher
 *   A76      120         2.4  290     1.2                            350   has a prefetcher
 *   N1, V1   100         2.6  260     4                             1040   has a prefetcher
 *   X60      200         1.6  320     1                              320   in order
 *
 * An A53 does not drop hints: if its three line fills are busy, it waits. A distance above 256
 * bytes would only move this wait. A line that is fetched too early may also be evicted again from
 * a small L1: 1 KiB is already a thirtieth of the L1. */
static const struct midr_row {
    uint8_t implementer;
    uint16_t part;
    struct kernel_tuning tuning;
} midr_rows[] = {
    { 0x41, 0xd03, { "Cortex-A53", 256, 0 } },   { 0x41, 0xd04, { "Cortex-A35", 256, 0 } },
    { 0x41, 0xd05, { "Cortex-A55", 384, 0 } },   { 0x41, 0xd07, { "Cortex-A57", 384, 0 } },
    { 0x41, 0xd08, { "Cortex-A72", 384, 0 } },   { 0x41, 0xd09, { "Cortex-A73", 384, 0 } },
    { 0x41, 0xd0a, { "Cortex-A75", 512, 0 } },   { 0x41, 0xd0b, { "Cortex-A76", 768, 0 } },
    { 0x41, 0xd0c, { "Neoverse-N1", 1024, 0 } }, { 0x41, 0xd40, { "Neoverse-V1", 1024, 0 } },
    { 0x41, 0xd41, { "Cortex-A78", 768, 0 } },   { 0x41, 0xd47, { "Cortex-A710", 768, 0 } },
    { 0x41, 0xd49, { "Neoverse-N2", 1024, 0 } }, { 0x41, 0xd4f, { "Neoverse-V2", 1024, 0 } },
    { 0x00, 0x051, { "QEMU max CPU", 512, 0 } },
};

/* A prefetch is a hint of Zicbop. Cores without Zicbop (U54, U74, T-Head cores) waste an issue slot
 * on a hint. T-Head cores have draft 0.7.1 of V, in which the encodings have other meanings, but
 * some of their device trees claim V. */
static const struct name_row {
    const char *compatible;
    struct kernel_tuning tuning;
} name_rows[] = {
    { "sifive,u54", { "SiFive U54", 0, 0 } },
    { "sifive,u54-mc", { "SiFive U54", 0, 0 } },
    { "sifive,u74", { "SiFive U74", 0, 0 } },
    { "sifive,u74-mc", { "SiFive U74", 0, 0 } },
    { "sifive,p670", { "SiFive P670", 1024, 0 } },
    { "thead,c906", { "T-Head C906", 0, CPU_RV64_V | CPU_RV64_ZVFH } },
    { "thead,c910", { "T-Head C910", 0, CPU_RV64_V | CPU_RV64_ZVFH } },
    { "thead,c920", { "T-Head C920", 0, CPU_RV64_V | CPU_RV64_ZVFH } },
    { "spacemit,x60", { "SpacemiT X60", 384, 0 } },
};

const struct kernel_tuning *kernel_tuning_arm64(uint64_t midr)
{
    static const struct kernel_tuning other = { NULL, 512, 0 };

    for (size_t i = 0; i < sizeof midr_rows / sizeof midr_rows[0]; i++) {
        if (midr_rows[i].implementer == (midr >> 24 & 0xff) &&
            midr_rows[i].part == (midr >> 4 & 0xfff)) {
            return &midr_rows[i].tuning;
        }
    }
    return &other;
}

/* Unknown cores may lack Zicbop, so they get no prefetch. */
const struct kernel_tuning *kernel_tuning_riscv64(const char *compatible)
{
    static const struct kernel_tuning other = { NULL, 0, 0 };

    for (size_t i = 0; i < sizeof name_rows / sizeof name_rows[0] && compatible != NULL; i++) {
        if (strcmp(name_rows[i].compatible, compatible) == 0) {
            return &name_rows[i].tuning;
        }
    }
    return &other;
}

/* Measured on a Xeon (Intel, model 207): gemvs are 24 to 60 % faster if
 * lines are prefetched 8 KiB ahead into the second-level cache. The prefetchers
 * of Zen 4 need no hint: hints slowed gemv by 5 to 30 % at any distance. */
const struct kernel_tuning *kernel_tuning_x86_64(const char *vendor)
{
    static const struct kernel_tuning intel = { NULL, 8192, 0 }, any = { NULL, 0, 0 };

    return strcmp(vendor, "GenuineIntel") == 0 ? &intel : &any;
}

/* Fields of the ID registers have 4 bits. They count up from 0, which means absent; only in the
 * field AdvSIMD, 15 means absent (Arm ARM, DDI 0487, D17.2.61, 64, 66). */
static int has_field(uint64_t id, unsigned shift)
{
    return (id >> shift & 15) != 0;
}

uint32_t kernel_features_arm64(uint64_t pfr0, uint64_t isar0, uint64_t isar1)
{
    uint32_t features = CPU_ARM64_NEON;

    if ((pfr0 >> 20 & 15) == 15) { /* AdvSIMD */
        return CPU_ANY;
    }
    if (has_field(isar0, 12)) { /* SHA2 */
        features |= CPU_ARM64_SHA2;
    }
    if (has_field(isar0, 16)) { /* CRC32 */
        features |= CPU_ARM64_CRC;
    }
    if (has_field(isar0, 44)) { /* DP */
        features |= CPU_ARM64_DOTPROD;
    }
    if (has_field(isar1, 52)) { /* I8MM */
        features |= CPU_ARM64_I8MM;
    }
    if (has_field(pfr0, 32)) { /* SVE */
        features |= CPU_ARM64_SVE;
    }
    return features;
}

/* CLIDR_EL1 has three bits per level: 2 to 4 if the level holds data. CCSIDR_EL1 stores sets - 1,
 * ways - 1 and log2(bytes of a line) - 4. With CCIDX, the fields of sets and ways are wider. */
size_t kernel_cache_arm64(uint64_t clidr, uint64_t mmfr2, uint64_t ccsidr)
{
    uint64_t kind = clidr >> 3 & 7;
    uint64_t ways = (ccsidr >> 3 & 0x3ff) + 1, sets = (ccsidr >> 13 & 0x7fff) + 1;

    if (kind < 2 || kind > 4) {
        return 0;
    }
    if ((mmfr2 >> 20 & 15) != 0) {
        ways = (ccsidr >> 3 & 0x1fffff) + 1;
        sets = (ccsidr >> 32 & 0xffffff) + 1;
    }
    return (size_t)(ways * sets << ((ccsidr & 7) + 4));
}
