#include "flash_image/quantize/source_rows.h"

#include <math.h>
#include <string.h>

#include "flash_image/quantize/dequantize.h"
#include "flash_image/quantize/synthetic_rows.h"
#include "kernels/ref/scalar.h"

enum { MOST_BLOCK = 256 }; /* elements */

static void read_grouped(const struct source_tensor *t, uint64_t first, float *out)
{
    for (size_t c = 0; c < t->cols; c++) {
        /* A group may begin in the previous row. */
        float scale = load_f32(t->scales + 4 * ((first + c) / t->group));

        out[c] = scale * (float)(int8_t)t->data[first + c];
    }
}

/* ---- blocks in another order ------------------------------------------------------------------- */

enum source_type source_ggml_type(enum source_type type)
{
    switch (type) {
    case SOURCE_MXFP4_PAIRS: return SOURCE_MXFP4;
    case SOURCE_ROUNDED_F32:
    case SOURCE_ROUNDED_F16:
    case SOURCE_ROUNDED_BF16:
    case SOURCE_TERNARY: return SOURCE_TQ2_0;
    default: return type;
    }
}

/* A byte in the file holds elements 2k and 2k + 1; a byte in GGML's block, which begins with the
 * scale, holds j and j + 16. A tensor without scales is refused before it is packed. */
static void gather_mxfp4(const struct source_tensor *t, const uint8_t *in, uint8_t *out)
{
    memset(out, 0, 17);
    /* Each 16 bytes of nibbles have one byte of scale. */
    if (t->scales != NULL) {
        out[0] = t->scales[(size_t)(in - t->data) / 16];
    }
    for (unsigned i = 0; i < 32; i++) {
        unsigned nibble = in[i / 2] >> i % 2 * 4 & 15;

        out[1 + i % 16] = (uint8_t)(out[1 + i % 16] | nibble << i / 16 * 4);
    }
}

/* Return 0, 1 or 2 for the values -1, 0 or 1. */
static unsigned ternary_at(const struct source_tensor *t, uint32_t row, uint32_t col)
{
    uint32_t quarter = t->rows / 4;

    /* A byte holds the same column of four rows, which are a quarter of the matrix apart. */
    return t->data[(size_t)(row % quarter) * t->cols + col] >> row / quarter * 2 & 3;
}

static float row_scale(const struct source_tensor *t, uint32_t row)
{
    return t->row_scales == NULL ? 1.0f : t->row_scales[row];
}

static float load_float(enum source_type type, const uint8_t *at)
{
    switch (type) {
    case SOURCE_ROUNDED_F32:
    case SOURCE_F32: return load_f32(at);
    case SOURCE_ROUNDED_F16:
    case SOURCE_F16: return load_f16(at);
    default: return load_bf16(at);
    }
}

/* NaN would become 0 here, but a matrix with NaN is refused before, because it has no
 * mean. */
static int rounded_at(const struct source_tensor *t, uint32_t row, uint32_t col)
{
    const uint8_t *at = source_row_data(t, row) + source_type_bytes(t->type, col);
    float x = rintf(load_float(t->type, at) * t->rounding);

    if (x >= 1.0f) {
        return 1;
    }
    return x <= -1.0f ? -1 : 0;
}

/* Return 0, 1 or 2 for the values -1, 0 or 1. */
static unsigned three_at(const struct source_tensor *t, uint32_t row, uint32_t col)
{
    if (source_is_rounded(t->type)) {
        return (unsigned)(rounded_at(t, row, col) + 1);
    }
    return ternary_at(t, row, col);
}

static void gather_ternary(const struct source_tensor *t, uint32_t row, uint32_t first,
                           uint8_t *out)
{
    uint16_t scale = f16_from_f32(row_scale(t, row));

    memset(out, 0, 64);
    for (unsigned i = 0; i < 256; i++) {
        /* The position of element i in TQ2_0. */
        uint8_t *byte = out + i / 128 * 32 + i % 32;

        *byte = (uint8_t)(*byte | three_at(t, row, first + i) << i % 128 / 32 * 2);
    }
    out[64] = (uint8_t)scale;
    out[65] = (uint8_t)(scale >> 8);
}

const uint8_t *source_block(const struct source_tensor *t, uint32_t row, uint32_t i,
                            uint8_t space[SOURCE_BLOCK_BYTES])
{
    uint32_t n = source_type_block(source_ggml_type(t->type));
    const uint8_t *in;

    /* If the file orders blocks differently, they are rebuilt in `space`. */
    if (t->type == SOURCE_TERNARY || source_is_rounded(t->type)) {
        gather_ternary(t, row, i * n, space);
        return space;
    }
    in = source_row_data(t, row) + source_type_bytes(t->type, (uint64_t)i * n);
    if (t->type == SOURCE_MXFP4_PAIRS) {
        gather_mxfp4(t, in, space);
        return space;
    }
    return in;
}

static void read_ternary(const struct source_tensor *t, uint32_t row, float *out)
{
    for (uint32_t c = 0; c < t->cols; c++) {
        out[c] = row_scale(t, row) * (float)((int)three_at(t, row, c) - 1);
    }
}

/* ---- rows -------------------------------------------------------------------------------------- */

/* The distance from one element of a row of floats to the next, in bytes. */
static size_t column_step(const struct source_tensor *t)
{
    return (size_t)source_type_bytes(t->type, max_u32(t->stride, 1));
}

float source_read_plain(const struct source_tensor *t, uint32_t row, uint32_t col)
{
    const uint8_t *at = source_row_data(t, row) + col * column_step(t);

    return load_float(t->type, at) * row_scale(t, row);
}

/* Each type has its own loop for speed, because whole models are read here. */
static void read_floats(const struct source_tensor *t, uint32_t row, float *out)
{
    size_t width = column_step(t);
    const uint8_t *in = source_row_data(t, row);
    float scale = row_scale(t, row);

    if (t->type == SOURCE_F32) {
        for (uint32_t c = 0; c < t->cols; c++) {
            out[c] = load_f32(in + c * width) * scale + t->add;
        }
    } else if (t->type == SOURCE_F16) {
        for (uint32_t c = 0; c < t->cols; c++) {
            out[c] = load_f16(in + c * width) * scale + t->add;
        }
    } else {
        for (uint32_t c = 0; c < t->cols; c++) {
            out[c] = load_bf16(in + c * width) * scale + t->add;
        }
    }
}

/* Read E4M3 without infinities: a sign, four bits of exponent with a bias of 7, three bits of
 * mantissa. */
static float load_f8(uint8_t byte)
{
    int exponent = byte >> 3 & 15, mantissa = byte & 7;
    float x = exponent == 0 ? ldexpf((float)mantissa, -9)
                            : ldexpf((float)(8 + mantissa), exponent - 10);

    /* These bits, with either sign, are the only NaN. */
    if ((byte & 0x7f) == 0x7f) {
        return NAN;
    }
    return (byte & 0x80) != 0 ? -x : x;
}

static float tile_scale(const struct source_tiles *tiles, uint64_t row, uint64_t col)
{
    uint64_t i = row / tiles->height * tiles->scale_cols + col / tiles->width;

    return load_float(tiles->type, tiles->scales + source_type_bytes(tiles->type, i));
}

/* The tile of an element follows from its position in the matrix. */
static void read_f8(const struct source_tensor *t, uint32_t row, float *out)
{
    const struct source_tiles *tiles = t->tiles;
    uint64_t at = (uint64_t)(source_row_data(t, row) - tiles->base);

    for (uint32_t c = 0; c < t->cols; c++) {
        /* Tiles divide the matrix as the file stores it, even if it is transposed. */
        out[c] = load_f8(tiles->base[at]) * tile_scale(tiles, at / tiles->cols, at % tiles->cols) *
                 row_scale(t, row);
        at += max_u32(t->stride, 1);
    }
}

/* Read a row that begins in the block at `in`; it may begin and end inside a block. */
static void read_part(const struct source_tensor *t, uint32_t row, const uint8_t *in, float *out)
{
    dequantize_block_fn *read = dequantize_of(t->type);
    uint32_t n = source_type_block(t->type), first = (uint32_t)((uint64_t)row * t->cols % n);
    float block[MOST_BLOCK];

    for (uint32_t c = 0; c < t->cols;) {
        uint32_t part = min_u32(n - first, t->cols - c);

        /* Read the whole block, and keep only the part that belongs to the row. */
        read(in, block);
        memcpy(out + c, block + first, part * sizeof *out);
        in += source_type_bytes(t->type, n);
        c += part;
        first = 0;
    }
}

/* Read a row of a transposed tensor: each element is in another block. */
static void read_column(const struct source_tensor *t, uint32_t row, float *out)
{
    dequantize_block_fn *read = dequantize_of(t->type);
    uint64_t n = source_type_block(t->type), at = source_row_element(t, row);
    float block[MOST_BLOCK];

    for (uint32_t c = 0; c < t->cols; c++, at += t->stride) {
        read(t->data + source_type_bytes(t->type, at), block);
        out[c] = block[at % n];
    }
}

static void read_blocks(const struct source_tensor *t, uint32_t row, float *out)
{
    dequantize_block_fn *read = dequantize_of(source_ggml_type(t->type));
    uint32_t n = source_type_block(t->type);
    uint8_t space[SOURCE_BLOCK_BYTES];

    /* Rows that end within a block share blocks with other rows. */
    if (t->cols % n != 0) {
        read_part(t, row, source_row_data(t, row), out);
        return;
    }
    for (uint32_t i = 0; i < t->cols / n; i++) {
        read(source_block(t, row, i, space), out + (size_t)i * n);
    }
}

void source_read_row(const struct source_tensor *t, uint32_t row, float *out)
{
    switch (t->type) {
    case SOURCE_F32:
    case SOURCE_F16:
    case SOURCE_BF16: read_floats(t, row, out); return;
    case SOURCE_SYNTH: synthetic_row_read(t, row, out); return;
    case SOURCE_ROUNDED_F32:
    case SOURCE_ROUNDED_F16:
    case SOURCE_ROUNDED_BF16:
    case SOURCE_TERNARY: read_ternary(t, row, out); return;
    case SOURCE_F8: read_f8(t, row, out); return;
    case SOURCE_GROUPED: read_grouped(t, (uint64_t)row * t->cols, out); return;
    default: break;
    }
    if (t->stride != 0) {
        read_column(t, row, out);
    } else {
        read_blocks(t, row, out);
    }
}
