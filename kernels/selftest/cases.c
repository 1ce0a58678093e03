/* Finds the reference of each row of kernels.inc, and runs the cases of every op by topic. */
#include "kernels/selftest/cases.h"

void tester_run_op(struct tester *t, enum kernel_op op)
{
    if (!tester_run_matrix(t, op) && !tester_run_quantize(t, op) && !tester_run_vector(t, op) &&
        !tester_run_attention(t, op) && !tester_run_attention_int(t, op) &&
        !tester_run_mixer(t, op)) {
        t->faults |= TESTER_UNKNOWN; /* an op without cases is a fault */
    }
}

static const struct kernel_row *reference_of(enum kernel_op op)
{
    for (size_t i = 0; i < kernel_n_rows; i++) {
        if (kernel_rows[i].op == op && kernel_rows[i].features == CPU_ANY) {
            return &kernel_rows[i];
        }
    }
    return NULL;
}

void tester_run_row(struct tester *t, const struct kernel_row *row, uint32_t features,
                    uint64_t seed, void (*report)(void *context, const char *line), void *context)
{
    const struct kernel_row *reference = reference_of(row->op);
    struct tester fresh = { .report = report,
                            .report_context = context,
                            .function = row->function,
                            .symbol = row->symbol,
                            .random = seed + (uint64_t)row->op * 0x10001,
                            .first = seed % 5,
                            .digest = 0xcbf29ce484222325u,
                            .features = features,
                            .ignored = row->features == CPU_ANY ? TESTER_PLATFORM : 0 };

    assert((row->features & ~features) == 0);
    *t = fresh;
    if (reference == NULL) {
        t->faults = TESTER_UNKNOWN;
        return;
    }
    t->reference = reference->function;
    tester_run_op(t, row->op);
}
