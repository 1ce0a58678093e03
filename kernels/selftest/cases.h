/* Shared by the cases of all ops: how buffers are filled, and the lists of each topic. */
#ifndef INGOT_KERNELS_SELFTEST_CASES_H
#define INGOT_KERNELS_SELFTEST_CASES_H

#include "kernels/selftest/tester.h"

/* The contents of a buffer of floats. */
enum fill {
    FILL_UNIFORM, /* +-1 */
    FILL_WIDE,    /* exponents from -40 to 40 */
    FILL_FINITE,  /* zeros, subnormals and extremes among ordinary values */
    FILL_SPECIAL, /* as FILL_FINITE, with infinities and NaNs */
    FILL_EQUAL,   /* one value everywhere, so that maxima tie */
    FILL_KINDS
};

/* The contents of integer blocks. */
enum block_fill {
    BLOCK_RANDOM,
    BLOCK_LEAST,    /* bytes -128, nibbles 15, scales and mins 63: largest sums */
    BLOCK_GREATEST, /* 127 against -128 */
    BLOCK_MIXED,    /* random picks of -128, 127, 0 */
    BLOCK_PAIR,     /* two products -128 * -128, one chunk apart, whose sum does not fit an int16 */
    BLOCK_SCALES,   /* unusual scales: 0, subnormal, huge */
    BLOCK_KINDS
};

/* The layouts of weights that gemvs and gemms read, each once. */
enum weights {
#define TYPE_FLOATS(NAME, id, name, ...) WEIGHTS_##name,
#define TYPE_WEIGHTS(NAME, id, name, layout, ...) WEIGHTS_##layout,
#define TYPE_TABLED_AGAIN(...)
#include "flash_image/format/types.def"
};

/* Weights of a format, and the activations x that its gemv and gemm take. */
struct weights_format {
    size_t cols;        /* columns in a block; for floats, a row has a multiple of this */
    size_t bytes;       /* size of a block of 8 rows */
    size_t float_bytes; /* of a weight, for float formats, which have no blocks; else 0 */
    size_t align;
    bool
        table; /* the nibbles are indices into a struct nibble_table, the last pointer of its ops */
    size_t x_bytes; /* size of a block of one token, and of four */
    size_t x4_bytes;
    size_t x_align; /* of one token */
    unsigned fills; /* kinds of contents */
};
const struct weights_format *weights_format(enum weights type);

/* Return the size in bytes of a matrix of rows x cols in this format, with rows padded to whole
 * groups. */
size_t weights_bytes(enum weights type, size_t rows, size_t cols);

/* Return a random float from -1 to 1. */
float fill_uniform(struct tester *t);

/* Returns `fill` if `wanted`, else FILL_UNIFORM. */
unsigned fill_if(bool wanted, unsigned fill);

/* Return the factor by which to multiply values of `fill`: `range` if they are uniform. */
float fill_factor(unsigned fill, float range);

/* Fill a slot with n values or blocks, a matrix, or a tile of the cache with d dimensions. */
void fill_floats(struct tester *t, size_t slot, size_t n, enum fill fill);
void fill_halves(struct tester *t, size_t slot, size_t n, enum fill fill);
void fill_random_bytes(struct tester *t, size_t slot, size_t n);
void fill_weights(struct tester *t, size_t slot, enum weights type, size_t rows, size_t cols,
                  unsigned fill);

/* Fill a struct nibble_table, with its gemv's `ahead`. */
void fill_table(struct tester *t, size_t slot, unsigned fill, size_t ahead);

/* Fill one block of activations as quantize writes it, but also with -128. `last` is the index of
 * the last block in its row. */
void fill_block_q8(struct tester *t, struct block_q8 *out, enum block_fill fill, bool last);
void fill_block_q8k(struct tester *t, struct block_q8k *out, enum block_fill fill, bool last);
/* Like fill_block_q8, but without -128. */
void fill_quantized_q8(struct tester *t, struct block_q8 *out, enum block_fill fill);

/* Return the length of case i of a vector op: 0 to 70, then lengths from models and lengths close
 * to these. */
enum { N_LENGTHS = 77 };
size_t case_length(size_t i);

/* Run all cases of an op; returns false if the op belongs to another topic. */
bool tester_run_matrix(struct tester *t, enum kernel_op op);
bool tester_run_quantize(struct tester *t, enum kernel_op op);
bool tester_run_vector(struct tester *t, enum kernel_op op);
bool tester_run_attention(struct tester *t, enum kernel_op op);
bool tester_run_attention_int(struct tester *t, enum kernel_op op);
bool tester_run_mixer(struct tester *t, enum kernel_op op);

#endif
