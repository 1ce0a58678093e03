#include "flash_image/quantize/source_rows.h"

#include "flash_image/quantize/dequantize.h"
#include "flash_image/quantize/synthetic_rows.h"

static void read_grouped(const struct source_tensor *t, uint64_t first, float *out)
{
    for (size_t c = 0; c < t->cols; c++) {
        float scale = load_f32(t->scales + 4 * ((first + c) / t->group));

        out[c] = scale * (float)(int8_t)t->data[first + c];
    }
}

float source_read_plain(const struct source_tensor *t, uint32_t row, uint32_t col)
{
    uint64_t i = t->stride != 0 ? (uint64_t)col * t->stride + row : (uint64_t)row * t->cols + col;

    return t->type == SOURCE_F32   ? load_f32(t->data + 4 * i)
           : t->type == SOURCE_F16 ? load_f16(t->data + 2 * i)
                                   : load_bf16(t->data + 2 * i);
}

/* Models are read whole: a loop for each type. */
static void read_floats(const struct source_tensor *t, uint32_t row, float *out)
{
    size_t step = t->stride != 0 ? t->stride : 1;
    size_t width = (size_t)source_type_bytes(t->type, step);
    const uint8_t *in = t->data +
                        source_type_bytes(t->type, t->stride != 0 ? row : (uint64_t)row * t->cols);

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

static void read_blocks(const struct source_tensor *t, const uint8_t *in, float *out)
{
    dequantize_block_fn *read = dequantize_of(t->type);
    uint32_t n = source_type_block(t->type);

    for (size_t c = 0; c < t->cols; c += n) {
        read(in + source_type_bytes(t->type, c), out + c);
    }
}

void source_read_row(const struct source_tensor *t, uint32_t row, float *out)
{
    uint64_t first = (uint64_t)row * t->cols;
    const uint8_t *in = t->data + source_type_bytes(t->type, first);

    switch (t->type) {
    case SOURCE_F32:
    case SOURCE_F16:
    case SOURCE_BF16: read_floats(t, row, out); return;
    case SOURCE_SYNTH: synthetic_row_read(t, row, out); return;
    case SOURCE_GROUPED: read_grouped(t, first, out); return;
    default: read_blocks(t, in, out); return;
    }
}
