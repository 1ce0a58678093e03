/* Features by name, the features that are left when one is forced, and facts about single cores. */
#include "kernels/kernels.h"
#include "kernels/tuning.h"

#include <string.h>

#include "tests/unit/tap.h"

enum {
    V1 = CPU_ARM64_NEON | CPU_ARM64_DOTPROD | CPU_ARM64_I8MM | CPU_ARM64_SVE,
    A64FX = CPU_ARM64_NEON | CPU_ARM64_SVE,
    ZEN4 = CPU_X86_AVX2 | CPU_X86_AVX512 | CPU_X86_VNNI,
    ALDER_LAKE = CPU_X86_AVX2 | CPU_X86_AVX_VNNI,
    SAPPHIRE_RAPIDS = ZEN4 | ALDER_LAKE,
    RVA23 = CPU_RV64_GC | CPU_RV64_V | CPU_RV64_ZVFH,
    ZVKNHA = RVA23 | CPU_RV64_ZVKNHA,
    EVERYTHING = V1 | SAPPHIRE_RAPIDS | ZVKNHA,
};

static void test_text(void)
{
    char text[KERNELS_TEXT_BYTES];

    OK(strcmp(kernels_features_text(text, CPU_ANY), "ref") == 0,
       "a CPU without features is called ref");
    OK(strcmp(kernels_features_text(text, V1), "neon dotprod i8mm sve") == 0,
       "arm64 has the names of its features: %s", text);
    OK(strcmp(kernels_features_text(text, RVA23), "rv64gc rvv zvfh") == 0,
       "riscv64 has the names of its features: %s", text);
    OK(strcmp(kernels_features_text(text, ZVKNHA), "rv64gc rvv zvfh zvknha") == 0,
       "riscv64 has the name of its hashes as well: %s", text);
    OK(strcmp(kernels_features_text(text, ZEN4), "avx2 avx512 vnni") == 0,
       "x86-64 has the names of AVX-512: %s", text);
    OK(strcmp(kernels_features_text(text, ALDER_LAKE), "avx2 avxvnni") == 0,
       "x86-64 has the names of AVX2: %s", text);
    OK(strlen(kernels_features_text(text, EVERYTHING)) < sizeof text,
       "the names of all features fit: %s", text);
}

static void check_force(uint32_t present, const char *name, uint32_t expected)
{
    char before[KERNELS_TEXT_BYTES], after[KERNELS_TEXT_BYTES];
    uint32_t out = 0;
    int known = kernels_force(present, name, &out);

    OK(known && out == expected, "%s of %s leaves %s", name, kernels_features_text(before, present),
       kernels_features_text(after, out));
}

static void test_force(void)
{
    static const char *const unknown[] = { "", "NEON", "neo", "neonx", "avx512", "rvv", "i8mm" };
    uint32_t out = 4711;

    check_force(V1, "ref", CPU_ANY);
    check_force(V1, "neon", CPU_ARM64_NEON);
    check_force(V1, "dotprod", CPU_ARM64_NEON | CPU_ARM64_DOTPROD);
    check_force(V1, "i8mm", V1 & ~(uint32_t)CPU_ARM64_SVE);
    check_force(V1 | CPU_ARM64_SHA2, "neon", CPU_ARM64_NEON);
    check_force(V1 | CPU_ARM64_SHA2, "sve", V1 | CPU_ARM64_SHA2);
    check_force(V1, "sve", V1);
    check_force(A64FX, "sve", A64FX);
    check_force(RVA23, "rv64gc", CPU_RV64_GC);
    check_force(RVA23, "rvv", CPU_RV64_GC | CPU_RV64_V);
    check_force(RVA23, "zvfh", RVA23);
    check_force(ZVKNHA, "zvfh", RVA23);
    check_force(ZVKNHA, "zvknha", ZVKNHA);
    check_force(ZVKNHA & ~(uint32_t)CPU_RV64_ZVFH, "zvknha", ZVKNHA & ~(uint32_t)CPU_RV64_ZVFH);
    check_force(ZEN4, "avx2", CPU_X86_AVX2);
    check_force(ZEN4, "avx512", CPU_X86_AVX2 | CPU_X86_AVX512);
    check_force(ZEN4, "vnni", ZEN4);
    check_force(ALDER_LAKE, "avx2", CPU_X86_AVX2);
    check_force(ALDER_LAKE, "avxvnni", ALDER_LAKE);
    check_force(SAPPHIRE_RAPIDS, "avxvnni", ALDER_LAKE);
    check_force(SAPPHIRE_RAPIDS, "vnni", SAPPHIRE_RAPIDS);
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        OK(!kernels_force(A64FX, unknown[i], &out) && out == 4711,
           "\"%s\" is refused on a CPU without it", unknown[i]);
    }
}

/* Every op has a function on every CPU, and the caller sets the distance. */
static void test_best(void)
{
    struct kernels best, reference;

    kernels_select(&best, UINT32_MAX);
    kernels_select(&reference, CPU_ANY);
    OK(memcmp(best.function, reference.function, sizeof best.function) != 0,
       "a CPU that has everything does not take the references");
}

static void test_select(void)
{
    struct kernels k;

    memset(&k, 0, sizeof k);
    k.ahead = 64;
    kernels_select(&k, CPU_ANY);
    OK(k.ahead == 0, "nothing is prefetched unless it is asked for");
    OK(k.gemm_tokens == 4 && !k.gemm_pairs, "the references' gemms take tokens by four");
    kernels_select(&k, UINT32_MAX);
    OK(k.gemm_tokens == 2, "RVV's gemms take tokens by two");
    OK(!k.gemm_pairs, "i8mm and SVE have no loop for two tokens");
    kernels_select(&k, CPU_ARM64_NEON | CPU_ARM64_DOTPROD);
    OK(k.gemm_pairs && k.gemv_pairs,
       "NEON's gemms take tokens by two with or without the dot product");
    kernels_select(&k, CPU_RV64_GC | CPU_RV64_ZBB);
    OK(k.gemv_pairs && !k.gemm_pairs, "RISC-V without vectors takes two tokens by two gemvs");
    kernels_select(&k, CPU_RV64_GC | CPU_RV64_V);
    OK(!k.gemv_pairs, "RISC-V with vectors takes two tokens by one gemm");
    kernels_select(&k, CPU_ANY);
#define KERNEL_OP(op, ret, args) OK(k.op == op##_ref, #op " without features is its reference");
#include "kernels/ops.inc"
#undef KERNEL_OP
}

static void check_tuning(const struct kernel_tuning *t, const char *core)
{
    OK(core == NULL ? t->core == NULL : t->core != NULL && strcmp(t->core, core) == 0,
       "core %s is found as %s, %zu bytes ahead", core != NULL ? core : "unknown",
       t->core != NULL ? t->core : "unknown", t->ahead);
    OK(t->ahead % 64 == 0 && t->ahead <= 4096, "the distance has whole lines, within a page");
}

static void test_tuning(void)
{
    check_tuning(kernel_tuning_arm64(0x410fd034), "Cortex-A53"); /* Pi 3 */
    check_tuning(kernel_tuning_arm64(0x410fd083), "Cortex-A72"); /* Pi 4 */
    check_tuning(kernel_tuning_arm64(0x414fd0b1), "Cortex-A76"); /* Pi 5 */
    check_tuning(kernel_tuning_arm64(0x411fd401), "Neoverse-V1");
    check_tuning(kernel_tuning_arm64(0x610fd034), NULL); /* the part of another implementer */
    check_tuning(kernel_tuning_riscv64("sifive,u74-mc"), "SiFive U74");
    check_tuning(kernel_tuning_riscv64("spacemit,x60"), "SpacemiT X60");
    check_tuning(kernel_tuning_riscv64("riscv"), NULL);
    check_tuning(kernel_tuning_riscv64(NULL), NULL);
    OK(kernel_tuning_riscv64("thead,c910")->without & CPU_RV64_V, "the V of a C910 is a draft");
    OK(kernel_tuning_riscv64("thead,c906")->ahead == 0, "without Zicbop nothing is prefetched");
    OK(kernel_tuning_x86_64("AuthenticAMD")->ahead == 0, "AMD's cores get no prefetch");
    OK(kernel_tuning_x86_64("GenuineIntel")->ahead == 8192,
       "Intel's cores get a prefetch two pages ahead");
}

static void test_cache(void)
{
    enum { BOTH_THEN_UNIFIED = 0x0a200023, CCIDX = 1 << 20 };

    OK(kernel_cache_arm64(BOTH_THEN_UNIFIED, 0, 0x70ffe07a) == 2 << 20,
       "2048 sets of 16 lines of 64 bytes are 2 MiB");
    OK(kernel_cache_arm64(BOTH_THEN_UNIFIED, 0, 0x707fe03a) == 512 << 10,
       "1024 sets of 8 ways are 512 KiB");
    OK(kernel_cache_arm64(BOTH_THEN_UNIFIED, CCIDX, 1023ull << 32 | 7 << 3 | 2) == 512 << 10,
       "the form of CCIDX gives the same size");
    OK(kernel_cache_arm64(0x3, 0, 0x707fe03a) == 0,
       "a core without a second level has no size of it");
    OK(kernel_cache_arm64(1 << 3 | 3, 0, 0x707fe03a) == 0,
       "a cache that has only instructions does not count");
}

int main(void)
{
    test_text();
    test_force();
    test_select();
    test_best();
    test_tuning();
    test_cache();
    return tap_done();
}
