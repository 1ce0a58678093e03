#include "flash_image/rows.h"

#include <math.h>
#include <string.h>

#include "flash_image/quantize.h"
#include "runtime/image.h"

enum { Q8_BLOCK = 34, Q4_BLOCK = 18, BLOCK_COLS = 32 };

static const char *const not_finite = "has a weight that is not finite";
static const char *const too_large = "has weights too large for the 16-bit scales of this type; "
                                     "pack it with --type f32";

struct rows_sizes rows_buffer_bytes(uint32_t most_cols)
{
    size_t cols = ((size_t)most_cols + BLOCK_COLS - 1) / BLOCK_COLS * BLOCK_COLS;

    return (struct rows_sizes){
        .row = cols * sizeof(float),
        .blocks = INGOT_INTERLEAVE * (cols / BLOCK_COLS) * Q8_BLOCK,
        .group = INGOT_INTERLEAVE * cols * sizeof(float),
    };
}

static uint32_t pad_cols(uint32_t cols, enum ingot_type type)
{
    uint32_t padding = image_type_padding(type);

    return (cols + padding - 1) / padding * padding;
}

/* A row as floats, padded; false: not finite. */
static bool read_row(const struct source_tensor *t, uint32_t row, uint32_t cols_padded, float *out)
{
    source_read_row(t, row, out);
    for (uint32_t c = 0; c < t->cols; c++) {
        if (!isfinite(out[c])) {
            return false;
        }
    }
    memset(out + t->cols, 0, (cols_padded - t->cols) * sizeof(float));
    return true;
}

static size_t pack_f32(const struct source_tensor *t, uint32_t row, const struct rows_buffers *b,
                       const char **problem)
{
    uint32_t cols = pad_cols(t->cols, INGOT_F32);

    if (!read_row(t, row, cols, b->row)) {
        *problem = not_finite;
        return 0;
    }
    for (uint32_t c = 0; c < cols; c++) {
        memcpy(b->group + 4 * (size_t)c, &b->row[c], 4);
    }
    return cols * sizeof(float);
}

/* The blocks of a row as they stand in the file; NULL: a scale is not finite. */
static const uint8_t *copy_blocks(const struct source_tensor *t, uint32_t row, size_t block_bytes)
{
    size_t n = t->cols / BLOCK_COLS;
    const uint8_t *blocks = t->data + row * n * block_bytes;

    for (size_t i = 0; i < n; i++) {
        if ((load_u16(blocks + i * block_bytes) & 0x7c00) == 0x7c00) {
            return NULL;
        }
    }
    return blocks;
}

static const uint8_t *quantize_row(const struct source_tensor *t, enum ingot_type type,
                                   uint32_t row, const struct rows_buffers *b, uint8_t *blocks,
                                   const char **problem)
{
    uint32_t cols = pad_cols(t->cols, type);

    if (!read_row(t, row, cols, b->row)) {
        *problem = not_finite;
        return NULL;
    }
    for (size_t i = 0; i < cols / BLOCK_COLS; i++) {
        const float *w = b->row + i * BLOCK_COLS;
        bool fits = type == INGOT_Q8_0 ? quantize_block_q8(w, blocks + i * Q8_BLOCK)
                                       : quantize_block_q4(w, blocks + i * Q4_BLOCK);

        if (!fits) {
            *problem = too_large;
            return NULL;
        }
    }
    return blocks;
}

/* Row `row` as GGML blocks of the type asked for. */
static const uint8_t *row_blocks(const struct source_tensor *t, enum ingot_type type, uint32_t row,
                                 const struct rows_buffers *b, uint8_t *space,
                                 const char **problem)
{
    const uint8_t *blocks;

    if (!((t->type == SOURCE_Q8_0 && type == INGOT_Q8_0) ||
          (t->type == SOURCE_Q4_0 && type == INGOT_Q4_0))) {
        return quantize_row(t, type, row, b, space, problem);
    }
    blocks = copy_blocks(t, row, type == INGOT_Q8_0 ? Q8_BLOCK : Q4_BLOCK);
    if (blocks == NULL) {
        *problem = not_finite;
    }
    return blocks;
}

size_t rows_pack_group(const struct source_tensor *t, enum ingot_type type, uint32_t first_row,
                       const struct rows_buffers *b, const char **problem)
{
    size_t block_bytes = type == INGOT_Q8_0 ? Q8_BLOCK : Q4_BLOCK;
    size_t n = pad_cols(t->cols, type) / BLOCK_COLS;
    const uint8_t *rows[INGOT_INTERLEAVE] = { NULL };

    if (type == INGOT_F32) {
        return pack_f32(t, first_row, b, problem);
    }
    for (uint32_t r = 0; r < INGOT_INTERLEAVE && first_row + r < t->rows; r++) {
        rows[r] = row_blocks(t, type, first_row + r, b, b->blocks + r * n * block_bytes, problem);
        if (rows[r] == NULL) {
            return 0;
        }
    }
    for (size_t i = 0; i < n; i++) {
        const uint8_t *blocks[INGOT_INTERLEAVE];

        for (size_t r = 0; r < INGOT_INTERLEAVE; r++) {
            blocks[r] = rows[r] != NULL ? rows[r] + i * block_bytes : NULL;
        }
        if (type == INGOT_Q8_0) {
            interleave_q8(blocks, (struct ingot_q8x8 *)(void *)b->group + i);
        } else {
            interleave_q4(blocks, (struct ingot_q4x8 *)(void *)b->group + i);
        }
    }
    return n * (type == INGOT_Q8_0 ? sizeof(struct ingot_q8x8) : sizeof(struct ingot_q4x8));
}
