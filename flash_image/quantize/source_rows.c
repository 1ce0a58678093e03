#include "flash_image/quantize/source_rows.h"

#include <string.h>

#include "flash_image/quantize/dequantize.h"
#include "flash_image/quantize/synthetic_rows.h"

enum { MOST_BLOCK = 256 }; /* elements */

static void read_grouped(const struct source_tensor *t, uint64_t first, float *out)
{
    for (size_t c = 0; c < t->cols; c++) {
        float scale = load_f32(t->scales + 4 * ((first + c) / t->group));

        out[c] = scale * (float)(int8_t)t->data[first + c];
    }
}

/* Bytes from an element of a row of floats to the next. */
static size_t column_step(const struct source_tensor *t)
{
    return (size_t)source_type_bytes(t->type, max_u32(t->stride, 1));
}

float source_read_plain(const struct source_tensor *t, uint32_t row, uint32_t col)
{
    const uint8_t *at = source_row_data(t, row) + col * column_step(t);

    switch (t->type) {
    case SOURCE_F32: return load_f32(at);
    case SOURCE_F16: return load_f16(at);
    default: return load_bf16(at);
    }
}

/* Models are read whole: a loop for each type. */
static void read_floats(const struct source_tensor *t, uint32_t row, float *out)
{
    size_t width = column_step(t);
    const uint8_t *in = source_row_data(t, row);

    if (t->type == SOURCE_F32) {
        for (uint32_t c = 0; c < t->cols; c++) {
            out[c] = load_f32(in + c * width) + t->add;
        }
    } else if (t->type == SOURCE_F16) {
        for (uint32_t c = 0; c < t->cols; c++) {
            out[c] = load_f16(in + c * width) + t->add;
        }
    } else {
        for (uint32_t c = 0; c < t->cols; c++) {
            out[c] = load_bf16(in + c * width) + t->add;
        }
    }
}

/* A part of a row of the file begins inside a block perhaps, at `in`, and ends inside one. */
static void read_part(const struct source_tensor *t, uint32_t row, const uint8_t *in, float *out)
{
    dequantize_block_fn *read = dequantize_of(t->type);
    uint32_t n = source_type_block(t->type), first = (uint32_t)((uint64_t)row * t->cols % n);
    float block[MOST_BLOCK];

    for (uint32_t c = 0; c < t->cols;) {
        uint32_t part = min_u32(n - first, t->cols - c);

        read(in, block);
        memcpy(out + c, block + first, part * sizeof *out);
        in += source_type_bytes(t->type, n);
        c += part;
        first = 0;
    }
}

static void read_blocks(const struct source_tensor *t, uint32_t row, float *out)
{
    dequantize_block_fn *read = dequantize_of(t->type);
    const uint8_t *in = source_row_data(t, row);
    uint32_t n = source_type_block(t->type);

    if (t->cols % n != 0) {
        read_part(t, row, in, out);
        return;
    }
    for (size_t c = 0; c < t->cols; c += n) {
        read(in + source_type_bytes(t->type, c), out + c);
    }
}

void source_read_row(const struct source_tensor *t, uint32_t row, float *out)
{
    switch (t->type) {
    case SOURCE_F32:
    case SOURCE_F16:
    case SOURCE_BF16: read_floats(t, row, out); return;
    case SOURCE_SYNTH: synthetic_row_read(t, row, out); return;
    case SOURCE_GROUPED: read_grouped(t, (uint64_t)row * t->cols, out); return;
    default: read_blocks(t, row, out); return;
    }
}
