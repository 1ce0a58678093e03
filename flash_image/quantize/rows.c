#include "flash_image/quantize/rows.h"

#include <math.h>
#include <string.h>

#include "flash_image/quantize/dequantize.h"
#include "flash_image/quantize/least_squares.h"
#include "flash_image/quantize/quantize.h"
#include "flash_image/quantize/quantize_table.h"
#include "flash_image/quantize/requantize.h"
#include "flash_image/quantize/source_rows.h"
#include "kernels/ref/scalar.h"
#include "runtime/image/image.h"

enum { MOST_PADDING = 256, WIDEST_BLOCK = 34, WIDEST_BLOCK_COLS = 32 };

static const char *const not_finite = "has a weight that is not finite";
static const char *const too_large = "has weights too large for the 16-bit scales of this type; "
                                     "pack it with --type f32";
static const char *const beyond_f16 = "has weights too large for 16 bits; pack it with --type f32";

/* How a type is packed. A quantized type has GGML blocks, and groups of eight rows of
 * blocks. */
struct packing {
    enum source_type source;               /* a file's type whose weights are stored unchanged */
    size_t cols, block_bytes, group_bytes; /* columns and bytes of a block, bytes of a group */
    size_t scales[2];                      /* offsets of a block's fp16 scales */
    bool no_scales;                        /* a block has no fp16 scales */
    quantize_block_fn *quantize;           /* one block */
    void (*interleave)(const uint8_t *const blocks[8], void *group);
    size_t several; /* number of blocks of a row in one group */
    quantize_table_fn
        *quantize_table; /* called instead of quantize if nibbles are indices into a table */
};

/* Columns and bytes of a GGML block of the type. */
static size_t ggml_cols(const struct packing *p)
{
    return p->cols / p->several;
}

static size_t ggml_bytes(const struct packing *p)
{
    return p->block_bytes / p->several;
}

#define PACKING(source_type, layout, columns, of, bytes, d, m) \
    .source = (source_type), .cols = (columns), .block_bytes = (columns) / (of) * (bytes), \
    .group_bytes = sizeof(struct block_##layout##x8), .scales = { d, m }, \
    .interleave = interleave_##layout, .several = (columns) / (of)

static const struct packing packings[INGOT_N_TYPES] = {
#define TYPE_FLOATS(NAME, ...) [INGOT_##NAME] = { .source = SOURCE_##NAME },
#define TYPE_WEIGHTS(NAME, id, name, layout, columns, act, halves, fit, of, bytes, d, m, ...) \
    [INGOT_##NAME] = { PACKING(SOURCE_##NAME, layout, columns, of, bytes, d, m), \
                       .quantize = quantize_block_##layout },
#define TYPE_TABLED(NAME, id, name, layout, columns, act, halves, fit, of, bytes, d, m, ...) \
    [INGOT_##NAME] = { PACKING(SOURCE_##NAME, layout, columns, of, bytes, d, m), \
                       .quantize_table = quantize_block_##name },
#define TYPE_TABLED_OWN(NAME, id, name, layout, columns, act, halves, fit, of, bytes, d, m, ...) \
    [INGOT_##NAME] = { PACKING(SOURCE_NONE, layout, columns, of, bytes, d, m), \
                       .quantize_table = quantize_block_##name },
#define TYPE_TABLED_AGAIN TYPE_TABLED_OWN
#define TYPE_PACKED(NAME, id, name, layout, columns, act, halves, fit, of, bytes, d, m, WIDE, \
                    wide, FROM) \
    [INGOT_##NAME] = { PACKING(SOURCE_##FROM, layout, columns, of, bytes, d, m), \
                       .no_scales = (halves) == 0 },
#include "flash_image/format/types.def"
};

static const struct packing *packing_of(enum ingot_type type)
{
    return &packings[type];
}

enum rows_way rows_way(enum source_type from, enum ingot_type to)
{
    const struct packing *p = packing_of(to);
    enum source_type ggml = source_ggml_type(from);

    /* The blocks of the file already have the image's type. */
    if (p->source == from) {
        return ROWS_COPIED;
    }
    if (from == SOURCE_IQ4_XS && to == INGOT_IQ4_NL) {
        return ROWS_RESCALED;
    }
    /* The blocks change but the values do not: no weight is rounded again. */
    if (p->source == ggml || requantize_of(ggml, to) != NULL) {
        return ROWS_REQUANTIZED;
    }
    return ROWS_QUANTIZED;
}

/* Find how the tensor is converted to the type. Rows that may begin inside a block, and rows of a
 * transposed tensor, are read as floats. */
static enum rows_way way_of(const struct source_tensor *t, enum ingot_type to)
{
    if (t->stride != 0 || t->cols % source_type_block(source_ggml_type(t->type)) != 0) {
        return ROWS_QUANTIZED;
    }
    return rows_way(t->type, to);
}

struct rows_sizes rows_buffer_bytes(uint32_t most_cols)
{
    size_t cols = ((size_t)most_cols + MOST_PADDING - 1) / MOST_PADDING * MOST_PADDING;

    return (struct rows_sizes){
        .row = cols * sizeof(float),
        .blocks = INGOT_INTERLEAVE * (cols / WIDEST_BLOCK_COLS) * WIDEST_BLOCK,
        .group = INGOT_INTERLEAVE * cols * sizeof(float),
    };
}

static uint32_t pad_cols(uint32_t cols, enum ingot_type type)
{
    uint32_t padding = image_type_padding(type);

    return (cols + padding - 1) / padding * padding;
}

/* Read a row as floats, with padding; false: a weight is not finite. */
static bool read_row(const struct source_tensor *t, uint32_t row, uint32_t cols_padded, float *out)
{
    source_read_row(t, row, out);
    for (uint32_t c = 0; c < t->cols; c++) {
        if (!isfinite(out[c])) {
            return false;
        }
    }
    /* Fill up the row with zeros, which add nothing to a product. */
    memset(out + t->cols, 0, (cols_padded - t->cols) * sizeof(float));
    return true;
}

/* Add the loss of n columns, which have this importance. */
static void add_loss(struct rows_loss *loss, const float *w, const float *stored,
                     const float *importance, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double miss = (double)stored[i] - (double)w[i];
        double count = (double)importance[i] * (double)importance[i];

        /* Sums for the signal, the error, and the cosine of both. */
        loss->squares += (double)w[i] * (double)w[i];
        loss->errors += miss * miss;
        loss->products += (double)stored[i] * (double)w[i];
        loss->stored += (double)stored[i] * (double)stored[i];
        loss->counted += count * ((double)w[i] * (double)w[i]);
        loss->counted_errors += count * (miss * miss);
    }
}

/* Pack a row as F32 or F16, whose groups are single rows. */
static size_t pack_plain(const struct source_tensor *t, enum ingot_type type, uint32_t row,
                         const struct rows_buffers *b, const char **error_message)
{
    uint32_t cols = pad_cols(t->cols, type);

    if (!read_row(t, row, cols, b->row)) {
        *error_message = not_finite;
        return 0;
    }
    if (type == INGOT_F32) {
        memcpy(b->group, b->row, cols * sizeof(float));
        return cols * sizeof(float);
    }
    for (uint32_t c = 0; c < cols; c++) {
        uint16_t half = f16_from_f32(b->row[c]); /* exact if the values were fp16 before */

        if ((half & 0x7c00) == 0x7c00) {
            *error_message = beyond_f16;
            return 0;
        }
        memcpy(b->group + 2 * (size_t)c, &half, 2);
        if (b->loss != NULL) {
            float stored = f32_from_f16(half);

            add_loss(b->loss, b->row + c, &stored,
                     b->importance != NULL && c < t->cols ? b->importance + c : fit_ones, 1);
        }
    }
    return cols * sizeof(uint16_t);
}

static bool scale_is_finite(const uint8_t *scale)
{
    return (load_u16(scale) & 0x7c00) != 0x7c00;
}

static bool scales_are_finite(const uint8_t *blocks, size_t n, const struct packing *p)
{
    for (size_t i = 0; i < n; i++) {
        const uint8_t *block = blocks + i * ggml_bytes(p);

        if (!scale_is_finite(block + p->scales[0]) || !scale_is_finite(block + p->scales[1])) {
            return false;
        }
    }
    return true;
}

/* Rewrite the row's blocks as other blocks of equal values; requantize is NULL if only the order
 * differs. */
static void requantize_row(const struct source_tensor *t, requantize_block_fn *requantize,
                           const struct packing *p, uint32_t row, uint8_t *blocks)
{
    uint32_t step = source_type_block(source_ggml_type(t->type));
    uint8_t space[SOURCE_BLOCK_BYTES];

    for (uint32_t i = 0; i < t->cols / step; i++) {
        const uint8_t *in = source_block(t, row, i, space);
        /* A block of the file may hold several of ours. */
        uint8_t *out = blocks + (size_t)i * step / ggml_cols(p) * ggml_bytes(p);

        if (requantize == NULL) {
            memcpy(out, in, ggml_bytes(p));
        } else {
            requantize(in, out);
        }
    }
}

/* Quantize a block of floats; false: a value is too large for the type. */
static bool quantize_block(const struct packing *p, const float *w, const float *importance,
                           const struct rows_buffers *b, uint8_t *block)
{
    float stored[256];

    if (p->quantize_table != NULL) {
        if (!p->quantize_table(w, importance, b->codec, block)) {
            return false;
        }
        /* A type with a table needs the codec to read a block back. */
        table_read_block(block, b->codec, p->cols, stored);
    } else {
        if (!p->quantize(w, importance, block)) {
            return false;
        }
        if (b->loss != NULL) {
            dequantize_of(p->source)(block, stored);
        }
    }
    if (b->loss != NULL) {
        add_loss(b->loss, w, stored, importance, ggml_cols(p));
    }
    return true;
}

static const char *quantize_row(const struct packing *p, uint32_t cols,
                                const struct rows_buffers *b, uint8_t *blocks)
{
    size_t step = ggml_cols(p);

    for (size_t i = 0; i < cols / step; i++) {
        const float *w = b->row + i * step, *importance = fit_ones;

        if (b->importance != NULL) {
            importance = b->importance + i * step;
        }
        if (!quantize_block(p, w, importance, b, blocks + i * ggml_bytes(p))) {
            return too_large;
        }
    }
    return NULL;
}

/* Quantize a row; if NULL is returned, *error_message says why. */
static const uint8_t *quantize_row_of(const struct source_tensor *t, const struct packing *p,
                                      uint32_t row, uint32_t cols, const struct rows_buffers *b,
                                      uint8_t *space, const char **error_message)
{
    if (!read_row(t, row, cols, b->row)) {
        *error_message = not_finite;
        return NULL;
    }
    *error_message = quantize_row(p, cols, b, space);
    if (*error_message != NULL) {
        return NULL;
    }
    return space;
}

/* Return the blocks of a row, which are in the file or in `space`. NULL: *error_message says
 * why. */
static const uint8_t *pack_row(const struct source_tensor *t, enum ingot_type type, uint32_t row,
                               const struct rows_buffers *b, uint8_t *space,
                               const char **error_message)
{
    const struct packing *p = packing_of(type);
    enum rows_way way = way_of(t, type);
    const uint8_t *blocks = space;

    *error_message = not_finite;
    if (way == ROWS_COPIED) {
        blocks = source_row_data(t, row);
    } else if (way != ROWS_QUANTIZED) {
        requantize_row(t, requantize_of(source_ggml_type(t->type), type), p, row, space);
    } else {
        return quantize_row_of(t, p, row, pad_cols(t->cols, type), b, space, error_message);
    }
    /* The blocks of a file have not been checked before. */
    if (!p->no_scales && !scales_are_finite(blocks, t->cols / ggml_cols(p), p)) {
        return NULL;
    }
    return blocks;
}

void rows_begin(const struct source_tensor *t, struct ingot_tensor *entry,
                const struct rows_buffers *b)
{
    /* If the table is not given, find values that fit this matrix. */
    if (entry->type == INGOT_FIG4 && entry->values[0] == 0 && entry->values[NIBBLES - 1] == 0) {
        fig4_find_values(t, b->importance, b->row, entry->values);
    }
    if (image_tensor_values(entry) != NULL) {
        table_codec_make(b->codec, image_tensor_values(entry));
    }
}

size_t rows_pack_group(const struct source_tensor *t, enum ingot_type type, uint32_t first_row,
                       const struct rows_buffers *b, const char **error_message)
{
    const struct packing *p = packing_of(type);
    const uint8_t *rows[INGOT_INTERLEAVE] = { NULL };
    uint32_t cols = pad_cols(t->cols, type);

    if (p->cols == 0) {
        return pack_plain(t, type, first_row, b, error_message);
    }
    /* Make the blocks of eight rows; rows beyond the matrix are padding. */
    for (uint32_t r = 0; r < INGOT_INTERLEAVE && first_row + r < t->rows; r++) {
        uint8_t *space = b->blocks + r * (cols / p->cols) * p->block_bytes;

        rows[r] = pack_row(t, type, first_row + r, b, space, error_message);
        if (rows[r] == NULL) {
            return 0;
        }
    }
    /* Then take the blocks of all rows, column by column. */
    for (size_t i = 0; i < cols / p->cols; i++) {
        const uint8_t *blocks[INGOT_INTERLEAVE];

        for (size_t r = 0; r < INGOT_INTERLEAVE; r++) {
            blocks[r] = NULL;
            if (rows[r] != NULL) {
                blocks[r] = rows[r] + i * p->block_bytes;
            }
        }
        p->interleave(blocks, b->group + i * p->group_bytes);
    }
    return cols / p->cols * p->group_bytes;
}
