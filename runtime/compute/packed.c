#include "runtime/compute/packed.h"

#include <assert.h>
#include <string.h>

#include "board/min_max.h"
#include "runtime/image/image.h"

/* Rows that are unpacked together: two groups, as many as the widest gemv takes at once. For
 * IQ4_XS: eight groups of one block, so that the calls of a kernel cost little time. */
enum { ROWS = 16, SCALED_ROWS = 64 };
enum { SUB_BLOCKS = BLOCK_K_COLS / BLOCK_COLS };

static const struct packed {
    uint8_t wide;        /* the type whose kernels multiply (for IQ4_XS, sub-blocks) */
    uint16_t cols;       /* of a block */
    uint16_t bytes;      /* bytes of a block of eight rows */
    uint16_t wide_bytes; /* bytes of a block in the layout that kernels take */
    uint16_t
        wide_blocks; /* number of such blocks in a packed block; if several, their sum is multiplied
                      * by the packed block's scale */
} packed_types[INGOT_N_TYPES] = {
#define TYPE_PACKED(NAME, id, name, layout, cols, act, halves, fit, of, bytes, d, m, WIDE, wide, \
                    ...) \
    [INGOT_##NAME] = { INGOT_##WIDE, cols, sizeof(struct block_##layout##x8), \
                       sizeof(struct block_##wide##x8), UNPACKED_BLOCKS_##layout },
#include "flash_image/format/types.def"
};

size_t packed_space_bytes(uint32_t types, size_t widest)
{
    size_t most = 0;

    for (unsigned type = 0; type < INGOT_N_TYPES; type++) {
        const struct packed *p = &packed_types[type];

        if (p->cols == 0 || (types >> type & 1) == 0) {
            continue;
        }
        if (p->wide_blocks > 1) {
            most = max_size(most,
                            SCALED_ROWS / GROUP_ROWS * (size_t)p->wide_blocks * p->wide_bytes);
        } else {
            most = max_size(most,
                            ROWS / GROUP_ROWS * ((widest + p->cols - 1) / p->cols) * p->wide_bytes);
        }
    }
    return most;
}

/* Unpack n blocks of eight rows. */
static void unpack(const struct kernels *k, unsigned type, void *space, const void *blocks,
                   size_t n)
{
    switch (type) {
#define TYPE_PACKED(NAME, id, name, layout, cols, act, halves, fit, of, bytes, d, m, WIDE, wide, \
                    ...) \
    case INGOT_##NAME: \
        k->unpack_##wide##x8_##layout##x8(space, blocks, n); \
        return;
#include "flash_image/format/types.def"
    default: return;
    }
}

/* Multiply n rows, at most ROWS, whose groups are at `groups`. */
static void multiply(const struct kernels *k, const struct activations *a,
                     const struct ingot_tensor *w, const uint8_t *groups,
                     const struct linear_input *in, float *y, size_t y_stride, size_t n,
                     void *space)
{
    const struct packed *p = &packed_types[w->type];
    struct ingot_tensor wide = { .type = p->wide, .cols = w->cols, .cols_padded = w->cols_padded };

    unpack(k, w->type, space, groups,
           (n + GROUP_ROWS - 1) / GROUP_ROWS * (w->cols_padded / p->cols));
    linear_rows(k, a, &wide, space, in, y, y_stride, 0, n);
}

/* Take the sub-blocks of block `b` of n rows, and the scales of these rows. */
static void take_scaled(const struct kernels *k, const struct block_iq4xsx8 *blocks,
                        size_t n_blocks, size_t b, size_t n, uint8_t *space, float *scales)
{
    for (size_t g = 0; g * GROUP_ROWS < n; g++) {
        const struct block_iq4xsx8 *block = &blocks[g * n_blocks + b];

        unpack(k, INGOT_IQ4_XS, space + g * SUB_BLOCKS * Q4X8_BYTES, block, 1);
        k->convert_f32_f16(scales + g * GROUP_ROWS, block->d, GROUP_ROWS);
    }
}

/* Multiply the sub-blocks of block b by tokens [t, t + n_tokens), at most four; results are in rows
 * of SCALED_ROWS. A gemm gives each token the same bits as the gemv. */
static void multiply_scaled(const struct kernels *k, const struct activations *a, const void *space,
                            const struct linear_input *in, size_t b, size_t t, size_t n_tokens,
                            float *sums, size_t n)
{
    static const struct ingot_tensor wide = { .type = INGOT_IQ4_NL };
    size_t blocks = in->stride / BLOCK_COLS;
    struct nibble_table table = { .ahead = k->ahead };
    struct gemm_shape shape = { n, BLOCK_K_COLS, n_tokens, SCALED_ROWS, in->stride };

    memcpy(table.values, image_tensor_values(&wide), sizeof table.values);
    if (n_tokens == 1) {
        k->gemv_f32_t4x8_q8(sums, space, a->q8 + (in->first + t) * blocks + b * SUB_BLOCKS, n,
                            BLOCK_K_COLS, &table);
        return;
    }
    /* A group of four tokens has the blocks of all columns in order; eight of them are taken
     * here. */
    k->gemm_f32_t4x8_q8x4(sums, space, a->q8x4 + t / LINEAR_GROUP * blocks + b * SUB_BLOCKS, &shape,
                          &table);
}

/* Multiply n rows, at most SCALED_ROWS: y = sum of d p over blocks, in ascending order, starting at
 * +0. */
static void multiply_blocks(const struct kernels *k, const struct activations *a,
                            const struct ingot_tensor *w, const uint8_t *groups,
                            const struct linear_input *in, float *y, size_t y_stride, size_t n,
                            void *space)
{
    size_t n_blocks = w->cols_padded / BLOCK_K_COLS;

    for (size_t t = 0; t < in->n_tokens; t++) {
        memset(y + t * y_stride, 0, n * sizeof *y);
    }
    for (size_t b = 0; b < n_blocks; b++) {
        _Alignas(16) float scales[SCALED_ROWS], sums[LINEAR_GROUP][SCALED_ROWS];

        take_scaled(k, (const void *)groups, n_blocks, b, n, space, scales);
        for (size_t t = 0; t < in->n_tokens; t += LINEAR_GROUP) {
            size_t n_tokens = min_size(in->n_tokens - t, LINEAR_GROUP);

            multiply_scaled(k, a, space, in, b, t, n_tokens, sums[0], n);
            for (size_t i = 0; i < n_tokens; i++) {
                k->mul_f32(sums[i], sums[i], scales, n);
                k->add_f32(y + (t + i) * y_stride, sums[i], n);
            }
        }
    }
}

void packed_rows(const struct kernels *k, const struct activations *a, const struct ingot_tensor *w,
                 const uint8_t *rows, const struct linear_input *in, float *y, size_t y_stride,
                 size_t first, size_t n, void *space)
{
    size_t row_bytes = image_type_row_bytes(w->type, w->cols_padded);
    bool scaled = packed_types[w->type].wide_blocks > 1;
    size_t step = scaled ? SCALED_ROWS : ROWS;

    for (size_t r = first; r < first + n; r += step) {
        const uint8_t *groups = rows + r * row_bytes;
        size_t here = min_size(first + n - r, step);

        if (scaled) {
            multiply_blocks(k, a, w, groups, in, y + r, y_stride, here, space);
        } else {
            multiply(k, a, w, groups, in, y + r, y_stride, here, space);
        }
    }
}

void packed_row(const struct kernels *k, const struct ingot_tensor *w, float *x, const void *rows,
                size_t row)
{
    const struct packed *p = &packed_types[w->type];
    size_t n_blocks = w->cols_padded / p->cols;
    struct ingot_tensor wide = { .type = p->wide, .cols = p->cols, .cols_padded = p->cols };
    const uint8_t *block = (const uint8_t *)rows + row / GROUP_ROWS * n_blocks * p->bytes;
    _Alignas(16) uint8_t space[SUB_BLOCKS * Q4X8_BYTES];

    assert((size_t)p->wide_blocks * p->wide_bytes <= sizeof space);
    for (size_t b = 0; b < n_blocks; b++, block += p->bytes, x += p->cols) {
        unpack(k, w->type, space, block, 1);
        linear_wide_row(k, &wide, x, space, row % GROUP_ROWS);
        if (p->wide_blocks > 1) {
            float scale;

            k->convert_f32_f16(&scale,
                               ((const struct block_iq4xsx8 *)(const void *)block)->d +
                                   row % GROUP_ROWS,
                               1);
            k->scale_f32(x, x, p->cols, scale);
        }
    }
}
