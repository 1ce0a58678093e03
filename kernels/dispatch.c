#include "kernels/kernels.h"

#include <string.h>

const struct kernel_row kernel_rows[] = {
#define KERNEL(op, symbol, features) \
    { KERNEL_##op, #op, #symbol, (features), (void (*)(void))(symbol) },
#include "kernels/kernels.inc"
#undef KERNEL
};

const size_t kernel_n_rows = sizeof kernel_rows / sizeof kernel_rows[0];

void kernels_select(struct kernels *k, uint32_t features)
{
#define KERNEL(op, symbol, needs)              \
    if (((uint32_t)(needs) & ~features) == 0) { \
        k->op = (symbol);                       \
    }
#include "kernels/kernels.inc"
#undef KERNEL
}

void kernels_use_reference(struct kernels *k, enum kernel_op op)
{
    switch (op) {
#define KERNEL_REFERENCE(op, ret, args) case KERNEL_##op: k->op = op##_ref; return;
    KERNEL_OPS(KERNEL_REFERENCE)
#undef KERNEL_REFERENCE
    case KERNEL_N_OPS: return;
    }
}

/* In ascending order: forcing one allows it and those of the same ISA above it. */
static const struct feature_name {
    const char *name;
    uint32_t bit;
    uint32_t allows;
} names[] = {
    { "neon", CPU_ARM64_NEON, CPU_ARM64_NEON },
    { "rv64gc", CPU_RV64_GC, CPU_RV64_GC },
    { "rvv", CPU_RV64_V, CPU_RV64_GC | CPU_RV64_V },
    { "avx2", CPU_X86_AVX2, CPU_X86_AVX2 },
};

const char *kernels_features_text(uint32_t features)
{
    const char *text = "ref";

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (features & names[i].bit) {
            text = names[i].name;
        }
    }
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
