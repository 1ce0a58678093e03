/* Norms, rope, softmax, gates and sums: every length up to 70, then a model's, aliased where the
 * contract allows it. */
#include "kernels/ref/scalar.h"
#include "kernels/selftest/cases.h"

static const float epsilons[] = { 1e-5f, 0.0f, 1e-6f };

/* Case i of N_LENGTHS * FILL_KINDS, every length with every fill. */
static size_t length_of(size_t i)
{
    return case_length(i / FILL_KINDS);
}

static void test_rmsnorm(struct tester *t)
{
    for (size_t i = FILL_KINDS; i < N_LENGTHS * FILL_KINDS; i++) {
        size_t n = length_of(i);
        unsigned fill = (unsigned)(i % FILL_KINDS);
        bool in_place = i % 2;
        struct tester_case c = {
            .slot = { { TESTER_IN, TESTER_F32, 4 * n, 4 },
                      { TESTER_IN, TESTER_F32, 4 * n, 4 },
                      { TESTER_OUT, TESTER_F32, 4 * n, 4 } },
            .n_slots = in_place ? 2 : 3,
            .pointer = { in_place ? 0 : 2, 0, 1 },
            .n_pointers = 3,
            .size = { n },
            .n_sizes = 1,
            .scalar = { epsilons[i % 3], i / 2 % 2 ? 1.0f : 0.0f },
            .data = fill,
        };

        if (in_place) {
            c.slot[0].use = TESTER_INOUT;
        }
        fill_floats(t, 0, n, fill);
        fill_floats(t, 1, n, FILL_UNIFORM);
        tester_run(t, &c);
    }
}

static void test_layernorm(struct tester *t)
{
    for (size_t i = FILL_KINDS; i < N_LENGTHS * FILL_KINDS; i++) {
        size_t n = length_of(i);
        unsigned fill = (unsigned)(i % FILL_KINDS);
        bool in_place = i % 2;
        struct tester_case c = {
            .slot = { { in_place ? TESTER_INOUT : TESTER_IN, TESTER_F32, 4 * n, 4 },
                      { TESTER_IN, TESTER_F32, 4 * n, 4 },
                      { TESTER_IN, TESTER_F32, 4 * n, 4 },
                      { TESTER_OUT, TESTER_F32, 4 * n, 4 } },
            .n_slots = in_place ? 3 : 4,
            .pointer = { in_place ? 0 : 3, 0, 1, 2 },
            .n_pointers = 4,
            .size = { n },
            .n_sizes = 1,
            .scalar = { epsilons[i % 3] },
            .data = fill,
        };

        fill_floats(t, 0, n, fill);
        fill_floats(t, 1, n, FILL_UNIFORM);
        fill_floats(t, 2, n, i % 4 == 3 ? fill : FILL_UNIFORM);
        tester_run(t, &c);
    }
}

static void test_rope(struct tester *t)
{
    for (size_t i = 0; i < N_LENGTHS * FILL_KINDS; i++) {
        size_t d = length_of(i) / 2 * 2;
        unsigned fill = (unsigned)(i % FILL_KINDS);
        struct tester_case c = {
            .slot = { { TESTER_INOUT, TESTER_F32, 4 * d, 4 }, { TESTER_IN, TESTER_F32, 4 * d, 4 } },
            .n_slots = 2,
            .pointer = { 0, 1 },
            .n_pointers = 2,
            .size = { d },
            .n_sizes = 1,
            .data = fill,
        };

        fill_floats(t, 0, d, fill);
        fill_floats(t, 1, d, fill == FILL_SPECIAL ? FILL_SPECIAL : FILL_UNIFORM);
        tester_run(t, &c);
    }
}

/* max, exp_sum and softmax: one vector, which all but max change. Some are all negative, so that a
 * lane of zeros would win. */
static void test_softmax_parts(struct tester *t, enum kernel_op op)
{
    size_t first = op == KERNEL_exp_sum_f32 ? 0 : FILL_KINDS;

    for (size_t i = first; i < N_LENGTHS * FILL_KINDS; i++) {
        size_t n = length_of(i);
        unsigned fill = (unsigned)(i % FILL_KINDS);
        float *x = tester_source(0);
        enum tester_use use = op == KERNEL_max_f32 ? TESTER_IN : TESTER_INOUT;
        struct tester_case c = {
            .slot = { { use, TESTER_F32, 4 * n, 4 } },
            .n_slots = 1,
            .pointer = { 0 },
            .n_pointers = 1,
            .size = { n },
            .n_sizes = 1,
            .scalar = { fill == FILL_WIDE      ? 3.5f
                        : fill == FILL_SPECIAL ? 20.0f
                                               : 0.25f },
            .returns_float = op == KERNEL_max_f32 || op == KERNEL_exp_sum_f32,
            .data = fill,
        };

        fill_floats(t, 0, n, fill);
        for (size_t j = 0; j < n; j++) {
            x[j] *= fill == FILL_UNIFORM ? 20.0f : 1.0f;
            x[j] = i % 4 == 1 ? -1.0f - fabsf(x[j]) : x[j];
        }
        tester_run(t, &c);
    }
}

/* silu_mul and gelu_mul: y is gate, up, or neither. `range` is what the gate spans. */
static void test_gate(struct tester *t, float range)
{
    for (size_t i = 0; i < N_LENGTHS * FILL_KINDS; i++) {
        size_t n = length_of(i);
        unsigned fill = (unsigned)(i % FILL_KINDS);
        size_t alias = i % 3;
        float *gate = tester_source(0);
        struct tester_case c = {
            .slot = { { alias == 0 ? TESTER_INOUT : TESTER_IN, TESTER_F32, 4 * n, 4 },
                      { alias == 1 ? TESTER_INOUT : TESTER_IN, TESTER_F32, 4 * n, 4 },
                      { TESTER_OUT, TESTER_F32, 4 * n, 4 } },
            .n_slots = alias == 2 ? 3 : 2,
            .pointer = { alias, 0, 1 },
            .n_pointers = 3,
            .size = { n },
            .n_sizes = 1,
            .data = fill,
        };

        fill_floats(t, 0, n, fill);
        fill_floats(t, 1, n, FILL_UNIFORM);
        for (size_t j = 0; j < n; j++) {
            gate[j] *= fill == FILL_UNIFORM ? range : 1.0f;
        }
        tester_run(t, &c);
    }
}

/* y = f(x) or in place: gelu, and scale with its factor. */
static void test_unary(struct tester *t, enum kernel_op op)
{
    static const float factors[] = { 0.125f, -3.0f, 0.0f, 0x1p-126f, 1e30f, INFINITY, NAN };

    for (size_t i = 0; i < N_LENGTHS * FILL_KINDS; i++) {
        size_t n = length_of(i);
        unsigned fill = (unsigned)(i % FILL_KINDS);
        bool in_place = i % 2;
        float *x = tester_source(0);
        struct tester_case c = {
            .slot = { { in_place ? TESTER_INOUT : TESTER_IN, TESTER_F32, 4 * n, 4 },
                      { TESTER_OUT, TESTER_F32, 4 * n, 4 } },
            .n_slots = in_place ? 1 : 2,
            .pointer = { in_place ? 0 : 1, 0 },
            .n_pointers = 2,
            .size = { n },
            .n_sizes = 1,
            .scalar = { factors[i % 7] },
            .data = fill,
        };

        fill_floats(t, 0, n, fill);
        for (size_t j = 0; j < n && op == KERNEL_gelu_f32; j++) {
            x[j] *= fill == FILL_UNIFORM ? 20.0f : 1.0f;
        }
        tester_run(t, &c);
    }
}

static void test_add(struct tester *t)
{
    for (size_t i = 0; i < N_LENGTHS * FILL_KINDS; i++) {
        size_t n = length_of(i);
        unsigned fill = (unsigned)(i % FILL_KINDS);
        struct tester_case c = {
            .slot = { { TESTER_INOUT, TESTER_F32, 4 * n, 4 }, { TESTER_IN, TESTER_F32, 4 * n, 4 } },
            .n_slots = 2,
            .pointer = { 0, 1 },
            .n_pointers = 2,
            .size = { n },
            .n_sizes = 1,
            .data = fill,
        };

        fill_floats(t, 0, n, fill);
        fill_floats(t, 1, n, fill);
        tester_run(t, &c);
    }
}

enum { CRC_EACH = 12, CRC_SHORT = N_LENGTHS + 2 * CRC_EACH, CRC_LENGTHS = CRC_SHORT + 4 };

/* Of the vector ops; what is just long enough for a window of words, and for a chunk behind it; and
 * what a kernel may cut into several pieces. */
static size_t crc_length(size_t i)
{
    static const uint16_t from[] = { 3596, 8 * (210 + 1024) - 4 };
    static const uint32_t more[] = { 19003, 32511, 32512 + 29, 2 * 32512 + 7 };

    if (i < N_LENGTHS) {
        return case_length(i);
    }
    if (i < CRC_SHORT) {
        return from[(i - N_LENGTHS) / CRC_EACH] + (i - N_LENGTHS) % CRC_EACH;
    }
    return more[i - CRC_SHORT];
}

/* Every length and every alignment below 8. */
static void test_crc32c(struct tester *t)
{
    for (size_t i = 0; i < CRC_LENGTHS; i++) {
        size_t n = crc_length(i);
        struct tester_case c = {
            .slot = { { TESTER_INOUT, TESTER_BYTES, 4, 4 }, { TESTER_IN, TESTER_BYTES, n, 1 } },
            .n_slots = 2,
            .pointer = { 0, 1 },
            .n_pointers = 2,
            .size = { n },
            .n_sizes = 1,
            .data = 0,
        };

        fill_random_bytes(t, 0, 4);
        fill_random_bytes(t, 1, n);
        tester_run(t, &c);
    }
}

bool tester_run_vector(struct tester *t, enum kernel_op op)
{
    switch ((int)op) {
    case KERNEL_rmsnorm_f32: test_rmsnorm(t); return true;
    case KERNEL_layernorm_f32: test_layernorm(t); return true;
    case KERNEL_rope_f32_pairs:
    case KERNEL_rope_f32_halves: test_rope(t); return true;
    case KERNEL_max_f32:
    case KERNEL_exp_sum_f32:
    case KERNEL_softcap_f32:
    case KERNEL_softmax_f32: test_softmax_parts(t, op); return true;
    case KERNEL_silu_mul_f32: test_gate(t, 100.0f); return true;
    case KERNEL_gelu_mul_f32: test_gate(t, 20.0f); return true;
    case KERNEL_gelu_f32:
    case KERNEL_scale_f32: test_unary(t, op); return true;
    case KERNEL_add_f32: test_add(t); return true;
    case KERNEL_crc32c_u8: test_crc32c(t); return true;
    default: return false;
    }
}
