/* The cases of every op, by topic. */
#include "kernels/selftest/cases.h"

void tester_run_op(struct tester *t, enum kernel_op op)
{
    if (!tester_run_matrix(t, op) && !tester_run_quantize(t, op) && !tester_run_vector(t, op) &&
        !tester_run_attention(t, op)) {
        t->faults |= TESTER_UNKNOWN; /* an op without cases must not pass */
    }
}
