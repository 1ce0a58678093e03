#include "kernels/kernels.h"

#include <string.h>

const struct kernel_row kernel_rows[] = {
#define KERNEL(op, symbol, features) { KERNEL_##op, (features), #symbol, (void (*)(void))(symbol) },
#include "kernels/kernels.inc"
#undef KERNEL
};

const size_t kernel_n_rows = sizeof kernel_rows / sizeof kernel_rows[0];

_Static_assert(sizeof(struct kernels) == 4 * sizeof(size_t) + KERNEL_N_OPS * sizeof(void (*)(void)),
               "the members by name and the array by number have the same size");

void kernels_select(struct kernels *k, uint32_t features)
{
    k->ahead = 0;
    k->gemm_tokens = (features & CPU_RV64_V) != 0 ? 2 : 4;
    k->gemm_pairs = (features & CPU_ARM64_NEON) != 0 &&
                    (features & (CPU_ARM64_SVE | CPU_ARM64_I8MM)) == 0;
    k->gemv_pairs = k->gemm_pairs || (features & (CPU_RV64_GC | CPU_RV64_V)) == CPU_RV64_GC;
    for (size_t i = 0; i < kernel_n_rows; i++) {
        if ((kernel_rows[i].features & ~features) == 0) {
            k->function[kernel_rows[i].op] = kernel_rows[i].function;
        }
    }
}

void kernels_use_reference(struct kernels *k, enum kernel_op op)
{
    for (size_t i = 0; i < kernel_n_rows; i++) {
        if (kernel_rows[i].op == op && kernel_rows[i].features == CPU_ANY) {
            k->function[op] = kernel_rows[i].function;
        }
    }
}

/* Within each ISA, names are in ascending order: kernels_force() with a name allows its feature and
 * all earlier ones. A CPU may lack a feature in the middle (the A64FX has SVE without the dot
 * product), so `allows` may have features that the CPU lacks. */
enum {
    ARM64_NEON = CPU_ARM64_NEON | CPU_ARM64_CRC,
    ARM64_DOTPROD = ARM64_NEON | CPU_ARM64_SHA2 | CPU_ARM64_DOTPROD,
    ARM64_I8MM = ARM64_DOTPROD | CPU_ARM64_I8MM,
    RV64_GC = CPU_RV64_GC | CPU_RV64_ZBC | CPU_RV64_ZBB,
    RV64_V = RV64_GC | CPU_RV64_V,
    RV64_ZVFH = RV64_V | CPU_RV64_ZVFH,
    X86_AVX_VNNI = CPU_X86_AVX2 | CPU_X86_AVX_VNNI,
    X86_AVX512 = X86_AVX_VNNI | CPU_X86_AVX512,
};

static const struct feature_name {
    const char *name;
    uint32_t bit;
    uint32_t allows;
} names[] = {
    { "neon", CPU_ARM64_NEON, ARM64_NEON },
    { "dotprod", CPU_ARM64_DOTPROD, ARM64_DOTPROD },
    { "i8mm", CPU_ARM64_I8MM, ARM64_I8MM },
    { "sve", CPU_ARM64_SVE, ARM64_I8MM | CPU_ARM64_SVE },
    { "rv64gc", CPU_RV64_GC, RV64_GC },
    { "rvv", CPU_RV64_V, RV64_V },
    { "zvfh", CPU_RV64_ZVFH, RV64_ZVFH },
    { "zvknha", CPU_RV64_ZVKNHA, RV64_ZVFH | CPU_RV64_ZVKNHA },
    { "avx2", CPU_X86_AVX2, CPU_X86_AVX2 },
    { "avxvnni", CPU_X86_AVX_VNNI, X86_AVX_VNNI },
    { "avx512", CPU_X86_AVX512, X86_AVX512 },
    { "vnni", CPU_X86_VNNI, X86_AVX512 | CPU_X86_VNNI },
};

const char *kernels_features_text(char text[KERNELS_TEXT_BYTES], uint32_t features)
{
    size_t at = 0;

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t bytes = strlen(names[i].name);

        if ((features & names[i].bit) == 0) {
            continue;
        }
        assert(at + bytes + 2 <=
               KERNELS_TEXT_BYTES); /* the buffer is large enough for all names: 70 bytes */
        if (at > 0) {
            text[at++] = ' ';
        }
        memcpy(text + at, names[i].name, bytes);
        at += bytes;
    }
    if (at == 0) {
        memcpy(text, "ref", 3);
        at = 3;
    }
    text[at] = '\0';
    return text;
}

int kernels_force(uint32_t present, const char *name, uint32_t *out)
{
    if (strcmp(name, "ref") == 0) {
        *out = CPU_ANY;
        return 1;
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name, names[i].name) == 0 && (present & names[i].bit)) {
            *out = present & names[i].allows;
            return 1;
        }
    }
    return 0;
}
