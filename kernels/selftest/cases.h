/* Shared by the cases of all ops: how buffers are filled, and the lists of each topic. */
#ifndef INGOT_KERNELS_SELFTEST_CASES_H
#define INGOT_KERNELS_SELFTEST_CASES_H

#include "kernels/selftest/tester.h"

/* How a buffer of floats is filled. */
enum fill {
    FILL_UNIFORM, /* +-1 */
    FILL_WIDE,    /* exponents from -40 to 40 */
    FILL_FINITE,  /* zeros, subnormals, extremes between ordinary values */
    FILL_SPECIAL, /* the same with infinities and NaNs */
    FILL_EQUAL,   /* one value, so that maxima tie and sums round alike */
    FILL_KINDS
};

/* How integer blocks are filled. */
enum block_fill {
    BLOCK_RANDOM,
    BLOCK_LEAST,    /* -128 everywhere, nibbles 15, scales and mins 63: the largest sums */
    BLOCK_GREATEST, /* 127 against -128 */
    BLOCK_MIXED,    /* random picks of -128, 127, 0 */
    BLOCK_PAIR,     /* -128 * -128 twice, a chunk apart: the sum of the two is not an int16 */
    BLOCK_SCALES,   /* odd scales: 0, subnormal, huge */
    BLOCK_KINDS
};

/* Layouts of weights: those of the types' rows. */
enum weights {
#define TYPE_FLOATS(NAME, id, name, ...) WEIGHTS_##name,
#define TYPE_WEIGHTS(NAME, id, name, layout, ...) WEIGHTS_##layout,
#define TYPE_TABLED_AGAIN(...)
#include "flash_image/format/types.def"
};

/* Weights of a format, and the activations x that its gemv and gemm take. */
struct weights_format {
    size_t cols;        /* of a block; of floats: what a row has a multiple of */
    size_t bytes;       /* of a block of 8 rows */
    size_t float_bytes; /* of a float format alone, which has no blocks */
    size_t align;
    bool table;     /* its nibbles go through a struct nibble_table, the last pointer of its ops */
    size_t x_bytes; /* of a block of one token, and of four */
    size_t x4_bytes;
    size_t x_align; /* of one token */
    unsigned fills; /* kinds of contents */
};
const struct weights_format *weights_format(enum weights type);

/* Bytes of rows x cols of a format as a kernel takes them, rows padded to whole groups. */
size_t weights_bytes(enum weights type, size_t rows, size_t cols);

/* +-1 */
float fill_uniform(struct tester *t);

/* `fill` where it is wanted, else FILL_UNIFORM. */
unsigned fill_if(bool wanted, unsigned fill);

/* The factor for the values of a fill, so that uniform ones span +-range. */
float fill_factor(unsigned fill, float range);

/* Contents of a slot: n values; n blocks; rows x cols; a tile of the cache with d dimensions. */
void fill_floats(struct tester *t, size_t slot, size_t n, enum fill fill);
void fill_halves(struct tester *t, size_t slot, size_t n, enum fill fill);
void fill_random_bytes(struct tester *t, size_t slot, size_t n);
void fill_weights(struct tester *t, size_t slot, enum weights type, size_t rows, size_t cols,
                  unsigned fill);

/* A struct nibble_table, with its gemv's `ahead`. */
void fill_table(struct tester *t, size_t slot, unsigned fill, size_t ahead);

/* One block of activations as quantize makes it, and with -128 too. `last` is that of its row. */
void fill_block_q8(struct tester *t, struct block_q8 *out, enum block_fill fill, bool last);
void fill_block_q8k(struct tester *t, struct block_q8k *out, enum block_fill fill, bool last);
/* The first alone: no -128. */
void fill_quantized_q8(struct tester *t, struct block_q8 *out, enum block_fill fill);

/* Lengths of the vector ops: 0 to 70, then a model's, then beside them. */
enum { N_LENGTHS = 77 };
size_t case_length(size_t i);

/* All cases of an op; false if the op is of another topic. */
bool tester_run_matrix(struct tester *t, enum kernel_op op);
bool tester_run_quantize(struct tester *t, enum kernel_op op);
bool tester_run_vector(struct tester *t, enum kernel_op op);
bool tester_run_attention(struct tester *t, enum kernel_op op);
bool tester_run_attention_int(struct tester *t, enum kernel_op op);
bool tester_run_mixer(struct tester *t, enum kernel_op op);

#endif
