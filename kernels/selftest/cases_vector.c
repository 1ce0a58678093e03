/* Norms, rope, softmax, gates and sums: every length up to 70, then lengths of models. Results
 * overwrite an input if the contract allows it. */
#include "kernels/ref/scalar.h"
#include "kernels/selftest/cases.h"

static const float epsilons[] = { 1e-5f, 0.0f, 1e-6f };

/* The length and fill of case i of N_LENGTHS * FILL_KINDS: each length with each fill. */
static size_t length_of(size_t i)
{
    return case_length(i / FILL_KINDS);
}

/* Ops that treat each element independently and share most of their code with others run one case
 * in seven. Seven has no factor in common with the periods of the cases. */
enum { EVERY = 1, ONE_IN_SEVEN = 7 };

/* Return the number of the first case to run; it depends on the seed, unless every case runs. */
static size_t first_case(struct tester *t, size_t step)
{
    return step == EVERY ? 0 : tester_random(t) % step;
}

/* Make a case of an op that computes y (n) from n_inputs vectors of n floats. Its pointers are y,
 * then the inputs. y overwrites input `alias`, or has its own buffer if alias is n_inputs. */
static struct tester_case map_case(size_t n, size_t n_inputs, size_t alias, unsigned fill)
{
    struct tester_case c = { .n_slots = n_inputs,
                             .pointer = { alias },
                             .n_pointers = n_inputs + 1,
                             .size = { n },
                             .n_sizes = 1,
                             .data = fill };

    for (size_t s = 0; s < n_inputs; s++) {
        c.slot[s] = (struct tester_slot){ TESTER_IN, TESTER_F32, 4 * n, 4 };
        c.pointer[s + 1] = s;
    }
    if (alias < n_inputs) {
        c.slot[alias].use = TESTER_INOUT;
        return c;
    }
    c.slot[n_inputs] = (struct tester_slot){ TESTER_OUT, TESTER_F32, 4 * n, 4 };
    c.n_slots++;
    return c;
}

static void multiply(size_t slot, size_t n, float factor)
{
    float *x = tester_source(slot);

    for (size_t i = 0; i < n; i++) {
        x[i] *= factor;
    }
}

static void test_rmsnorm(struct tester *t)
{
    static const size_t alias[] = { 2, 0 };

    for (size_t i = FILL_KINDS; i < N_LENGTHS * FILL_KINDS; i++) {
        size_t n = length_of(i);
        unsigned fill = (unsigned)(i % FILL_KINDS);
        struct tester_case c = map_case(n, 2, alias[i % 2], fill);

        c.scalar[0] = epsilons[i % 3];
        c.scalar[1] = (float)(i / 2 % 2);
        fill_floats(t, 0, n, fill);
        fill_floats(t, 1, n, FILL_UNIFORM);
        tester_run(t, &c);
    }
}

static void test_layernorm(struct tester *t)
{
    static const size_t alias[] = { 3, 0 };

    for (size_t i = FILL_KINDS; i < N_LENGTHS * FILL_KINDS; i++) {
        size_t n = length_of(i);
        unsigned fill = (unsigned)(i % FILL_KINDS);
        struct tester_case c = map_case(n, 3, alias[i % 2], fill);

        c.scalar[0] = epsilons[i % 3];
        fill_floats(t, 0, n, fill);
        fill_floats(t, 1, n, FILL_UNIFORM);
        fill_floats(t, 2, n, fill_if(i % 4 == 3, fill));
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
        fill_floats(t, 1, d, fill_if(fill == FILL_SPECIAL, fill));
        tester_run(t, &c);
    }
}

/* Replace each x[i] by -1 - |x[i]|. If a kernel includes a lane of zeros by
 * mistake, it then finds 0 as the maximum, which is wrong. */
static void make_negative(float *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        x[i] = -1.0f - fabsf(x[i]);
    }
}

/* max, exp_sum and softmax take one vector; all except max change it. */
static void test_softmax_parts(struct tester *t, enum kernel_op op)
{
    static const float scalars[FILL_KINDS] = { 0.25f, 3.5f, 0.25f, 20.0f, 0.25f };
    size_t first = FILL_KINDS;

    if (op == KERNEL_exp_sum_f32) {
        first = 0; /* exp_sum also takes n = 0 */
    }
    for (size_t i = first; i < N_LENGTHS * FILL_KINDS; i++) {
        size_t n = length_of(i);
        unsigned fill = (unsigned)(i % FILL_KINDS);
        struct tester_case c = {
            .slot = { { TESTER_INOUT, TESTER_F32, 4 * n, 4 } },
            .n_slots = 1,
            .pointer = { 0 },
            .n_pointers = 1,
            .size = { n },
            .n_sizes = 1,
            .scalar = { scalars[fill] },
            .returns_float = op == KERNEL_max_f32 || op == KERNEL_exp_sum_f32,
            .data = fill,
        };

        if (op == KERNEL_max_f32) {
            c.slot[0].use = TESTER_IN;
        }
        fill_floats(t, 0, n, fill);
        multiply(0, n, fill_factor(fill, 20.0f));
        if (i % 4 == 1) {
            make_negative(tester_source(0), n);
        }
        tester_run(t, &c);
    }
}

/* Test mul and the gates, which have two inputs. y overwrites an input
 * or has its own buffer. `range` is the span of input `gate`. */
static void test_gate(struct tester *t, size_t step, size_t gate, float range)
{
    for (size_t i = first_case(t, step); i < N_LENGTHS * FILL_KINDS; i += step) {
        size_t n = length_of(i);
        unsigned fill = (unsigned)(i % FILL_KINDS);
        struct tester_case c = map_case(n, 2, i % 3, fill);

        c.scalar[0] = 7.0f; /* limit and alpha of gpt-oss */
        c.scalar[1] = 1.702f;
        fill_floats(t, gate, n, fill);
        fill_floats(t, 1 - gate, n, fill_if(fill == FILL_FINITE, fill));
        multiply(gate, n, fill_factor(fill, range));
        tester_run(t, &c);
    }
}

/* Test an op y = f(x), also in place. `range` is the span of x. scale takes a factor. */
static void test_unary(struct tester *t, size_t step, float range)
{
    static const float factors[] = { 0.125f, -3.0f, 0.0f, 0x1p-126f, 1e30f, INFINITY, NAN };

    for (size_t i = first_case(t, step); i < N_LENGTHS * FILL_KINDS; i += step) {
        size_t n = length_of(i);
        unsigned fill = (unsigned)(i % FILL_KINDS);
        struct tester_case c = map_case(n, 1, (i + 1) % 2, fill);

        c.scalar[0] = factors[i % 7];
        fill_floats(t, 0, n, fill);
        multiply(0, n, fill_factor(fill, range));
        tester_run(t, &c);
    }
}

static void test_l2norm(struct tester *t)
{
    static const float least[] = { 1e-6f, 0.0f, 1e3f };

    for (size_t i = FILL_KINDS + first_case(t, ONE_IN_SEVEN); i < N_LENGTHS * FILL_KINDS;
         i += ONE_IN_SEVEN) {
        size_t n = length_of(i);
        unsigned fill = (unsigned)(i % FILL_KINDS);
        struct tester_case c = map_case(n, 1, (i + 1) % 2, fill);

        c.scalar[0] = least[i % 3];
        fill_floats(t, 0, n, fill);
        tester_run(t, &c);
    }
}

static void test_hadamard(struct tester *t)
{
    for (size_t i = 0; i < 6 * 4 * FILL_KINDS; i++) {
        size_t block = (size_t)16 << i % 6, n = i / 6 % 4 * block;
        unsigned fill = (unsigned)(i / 24);
        struct tester_case c = {
            .slot = { { TESTER_INOUT, TESTER_F32, 4 * n, 4 } },
            .n_slots = 1,
            .pointer = { 0 },
            .n_pointers = 1,
            .size = { n, block },
            .n_sizes = 2,
            .data = fill,
        };

        fill_floats(t, 0, n, fill);
        tester_run(t, &c);
    }
}

/* Test add, and add_scaled with its factor. */
static void test_add(struct tester *t, size_t step)
{
    for (size_t i = first_case(t, step); i < N_LENGTHS * FILL_KINDS; i += step) {
        size_t n = length_of(i);
        unsigned fill = (unsigned)(i % FILL_KINDS);
        struct tester_case c = {
            .slot = { { TESTER_INOUT, TESTER_F32, 4 * n, 4 }, { TESTER_IN, TESTER_F32, 4 * n, 4 } },
            .n_slots = 2,
            .pointer = { 0, 1 },
            .n_pointers = 2,
            .size = { n },
            .n_sizes = 1,
            .scalar = { (float)(i % 7) * 0.3f - 0.7f },
            .data = fill,
        };

        fill_floats(t, 0, n, fill);
        fill_floats(t, 1, n, fill);
        tester_run(t, &c);
    }
}

/* Run 0 to 70 rows, then some larger numbers. The ranks repeat with a period of their own. */
static void test_expand(struct tester *t, bool halves)
{
    static const size_t ranks[] = { 1, 4, 8, 3, 16, 5, 32, 7, 2, 13, 64 };
    size_t width = halves ? sizeof(uint16_t) : sizeof(float);

    for (size_t i = 0; i < N_LENGTHS; i++) {
        size_t rows = case_length(i) % 300, rank = ranks[i % (sizeof ranks / sizeof ranks[0])];
        size_t n = (rows + 7) / 8 * 8 * rank;
        unsigned fill = (unsigned)(i % FILL_KINDS);
        struct tester_case c = {
            .slot = { { TESTER_INOUT, TESTER_F32, 4 * rows, 4 },
                      { TESTER_IN, halves ? TESTER_F16 : TESTER_F32, width * n, 16 },
                      { TESTER_IN, TESTER_F32, 4 * rank, 4 } },
            .n_slots = 3,
            .pointer = { 0, 1, 2 },
            .n_pointers = 3,
            .size = { rows, rank },
            .n_sizes = 2,
            .data = fill,
        };

        fill_floats(t, 0, rows, fill);
        if (halves) {
            fill_halves(t, 1, n, fill_if(fill == FILL_FINITE, fill));
        } else {
            fill_floats(t, 1, n, fill_if(fill == FILL_FINITE, fill));
        }
        fill_floats(t, 2, rank, fill_if(i % 4 == 3, fill));
        if (i % 4 == 1) { /* 2^16 times 2^112 overflows, the float just below does not */
            ((float *)tester_source(2))[rank / 2] = i % 8 == 1 ? 0x1p16f : -0x1.fffffep15f;
        }
        tester_run(t, &c);
    }
}

enum { CRC_EACH = 12, CRC_SHORT = N_LENGTHS + 2 * CRC_EACH, CRC_LENGTHS = CRC_SHORT + 4 };

/* The lengths of the vector ops; lengths near the two limits at which crc32c_u8_rv64gc changes its
 * method; lengths that a kernel may cut into several parts. */
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

/* Test every length and every alignment below 8. */
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

/* Run a few small numbers of blocks, from 0 on, and one large number. */
static void test_sha256(struct tester *t)
{
    static const uint8_t blocks[] = { 0, 1, 2, 3, 4, 5, 1, 2, 16, 37 };

    for (size_t i = 0; i < sizeof blocks; i++) {
        size_t n = blocks[i];
        struct tester_case c = {
            .slot = { { TESTER_INOUT, TESTER_BYTES, 32, 4 },
                      { TESTER_IN, TESTER_BYTES, 64 * n, 8 } },
            .n_slots = 2,
            .pointer = { 0, 1 },
            .n_pointers = 2,
            .size = { n },
            .n_sizes = 1,
            .data = 0,
        };

        fill_random_bytes(t, 0, 32);
        fill_random_bytes(t, 1, 64 * n);
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
    case KERNEL_silu_mul_f32: test_gate(t, EVERY, 0, 100.0f); return true;
    case KERNEL_gelu_mul_f32: test_gate(t, EVERY, 0, 20.0f); return true;
    case KERNEL_swiglu_oai_f32:
    case KERNEL_relu2_mul_f32: test_gate(t, ONE_IN_SEVEN, 0, 20.0f); return true;
    case KERNEL_mul_f32: test_gate(t, ONE_IN_SEVEN, 0, 100.0f); return true;
    case KERNEL_sigmoid_mul_f32: test_gate(t, ONE_IN_SEVEN, 1, 100.0f); return true;
    case KERNEL_gelu_f32: test_unary(t, EVERY, 20.0f); return true;
    case KERNEL_scale_f32: test_unary(t, EVERY, 1.0f); return true;
    case KERNEL_silu_f32: test_unary(t, ONE_IN_SEVEN, 100.0f); return true;
    case KERNEL_relu2_f32: test_unary(t, ONE_IN_SEVEN, 1.0f); return true;
    case KERNEL_l2norm_f32: test_l2norm(t); return true;
    case KERNEL_hadamard_f32: test_hadamard(t); return true;
    case KERNEL_add_scaled_f32: test_add(t, ONE_IN_SEVEN); return true;
    case KERNEL_add_f32: test_add(t, EVERY); return true;
    case KERNEL_expand_f32_f32: test_expand(t, false); return true;
    case KERNEL_expand_f32_f16: test_expand(t, true); return true;
    case KERNEL_crc32c_u8: test_crc32c(t); return true;
    case KERNEL_sha256_u8: test_sha256(t); return true;
    default: return false;
    }
}
