/* Convolution and recurrent states: every number of columns up to 70 (kernels
 * cut them into blocks) with a few rows, then the heads of models. */
#include "kernels/selftest/cases.h"

#include <string.h>

/* Return case i of a state: short sizes, then heads of models, both whole and as one core's
 * share. */
enum { N_SHORT = 71, N_STATES = N_SHORT + 4 };

static struct state_shape state_of(size_t i)
{
    static const struct state_shape more[] = {
        { .rows = 128, .columns = 128, .stride = 128 },
        { .rows = 128, .columns = 64, .stride = 64 },
        { .rows = 64, .columns = 96, .stride = 192 },
        { .rows = 16, .columns = 1000, .stride = 1001 },
    };
    struct state_shape shape = { .rows = i * 5 % 13, .columns = i, .stride = i + i / 3 % 6 };

    return i < N_SHORT ? shape : more[i - N_SHORT];
}

/* Return the number of floats from the first to the last element; no float between rows may
 * change. */
static size_t state_floats(const struct state_shape *shape)
{
    return shape->rows == 0 ? 0 : (shape->rows - 1) * shape->stride + shape->columns;
}

enum { STATE, INPUT, FIRST, SECOND, SHAPE, RESULT }; /* slots of a step */

/* Make a case of delta or mamba2. The result overwrites v (delta) or x (mamba2) if in_place is
 * true, else it has its own buffer. */
static struct tester_case step_case(const struct state_shape *shape, bool in_place, bool delta)
{
    const struct tester_slot vector = { TESTER_IN, TESTER_F32, 4 * shape->columns, 4 };
    const struct tester_slot rows = { TESTER_IN, TESTER_F32, 4 * shape->rows, 4 };
    size_t result = in_place ? INPUT : RESULT;
    struct tester_case c = {
        .slot = { { TESTER_INOUT, TESTER_F32, 4 * state_floats(shape), 4 },
                  vector,
                  rows,
                  rows,
                  { TESTER_IN, TESTER_BYTES, sizeof *shape, 8 },
                  vector },
        .n_slots = in_place ? RESULT : RESULT + 1,
        .pointer = { STATE, result, INPUT, FIRST, SECOND, SHAPE },
        .n_pointers = 6,
        .size = { shape->rows, shape->columns, shape->stride },
        .n_sizes = 3,
        .sizes_in_slot = true,
    };

    c.slot[result].use = in_place ? TESTER_INOUT : TESTER_OUT;
    if (delta) { /* s, o, q, k, v; mamba2 has s, y, x, b, c */
        c.pointer[2] = FIRST;
        c.pointer[3] = SECOND;
        c.pointer[4] = INPUT;
    }
    return c;
}

static void run_step(struct tester *t, const struct state_shape *shape, bool in_place, bool delta,
                     unsigned fill)
{
    static const float decays[] = { 0.875f, 1.0f, 0.0f, 0x1.fap-3f };
    struct tester_case c = step_case(shape, in_place, delta);

    c.scalar[0] = decays[tester_random(t) % 4];
    c.scalar[1] = fill_uniform(t);
    c.data = fill;
    fill_floats(t, STATE, state_floats(shape), fill);
    fill_floats(t, INPUT, shape->columns, fill_if(shape->columns % 2 == 0, fill));
    fill_floats(t, FIRST, shape->rows, FILL_UNIFORM);
    fill_floats(t, SECOND, shape->rows, FILL_UNIFORM);
    memcpy(tester_source(SHAPE), shape, sizeof *shape);
    tester_run(t, &c);
}

/* Run every size once, every second size in place. Run the heads of models both ways. */
static void test_step(struct tester *t, bool delta)
{
    for (size_t i = 0; i < N_STATES; i++) {
        struct state_shape shape = state_of(i);

        run_step(t, &shape, i / 2 % 2 == 0, delta, (unsigned)(i % FILL_KINDS));
        if (i >= N_SHORT) {
            run_step(t, &shape, i / 2 % 2 == 1, delta, FILL_UNIFORM);
        }
    }
}

/* Rows of x and of w have a gap of i % 4 floats after them. */
static void run_conv(struct tester *t, size_t i, size_t n, unsigned fill)
{
    struct conv_shape shape = { .n_taps = 1 + i % CONV_MOST_TAPS,
                                .channels = n,
                                .x_stride = n + i % 4,
                                .w_stride = n + i / 4 % 4 };
    size_t before = shape.n_taps - 1;
    struct tester_case c = {
        .slot = { { TESTER_OUT, TESTER_F32, 4 * n, 4 },
                  { TESTER_IN, TESTER_F32, 4 * (before * shape.x_stride + n), 4 },
                  { TESTER_IN, TESTER_F32, 4 * (before * shape.w_stride + n), 4 },
                  { TESTER_IN, TESTER_F32, 4 * n, 4 },
                  { TESTER_IN, TESTER_BYTES, sizeof shape, 8 } },
        .n_slots = 5,
        .pointer = { 0, 1, 2, i % 3 == 0 ? TESTER_NULL : 3, 4 },
        .n_pointers = 5,
        .size = { shape.n_taps, n },
        .n_sizes = 2,
        .sizes_in_slot = true,
        .data = fill,
    };

    fill_floats(t, 1, before * shape.x_stride + n, fill);
    fill_floats(t, 2, before * shape.w_stride + n, FILL_UNIFORM);
    fill_floats(t, 3, n, FILL_UNIFORM);
    memcpy(tester_source(4), &shape, sizeof shape);
    tester_run(t, &c);
}

static void test_conv(struct tester *t)
{
    for (size_t i = 0; i < N_LENGTHS; i++) {
        run_conv(t, i, case_length(i), (unsigned)(i % FILL_KINDS));
    }
}

bool tester_run_mixer(struct tester *t, enum kernel_op op)
{
    switch ((int)op) {
    case KERNEL_conv_f32: test_conv(t); return true;
    case KERNEL_delta_f32: test_step(t, true); return true;
    case KERNEL_mamba2_f32: test_step(t, false); return true;
    default: return false;
    }
}
