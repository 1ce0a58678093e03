#include "flash_image/quantize/synthetic_rows.h"

#include <string.h>

uint64_t synthetic_mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* The addresses of these two variables stand for the data of made-up tensors. */
static const uint8_t dense_data, sparse_data;

const uint8_t *synthetic_data(bool sparse)
{
    if (sparse) {
        return &sparse_data;
    }
    return &dense_data;
}

bool synthetic_rows_end(const struct source_tensor *t, uint32_t row)
{
    return t->data == &sparse_data && row >= INGOT_INTERLEAVE;
}

void synthetic_row_read(const struct source_tensor *t, uint32_t row, float *out)
{
    bool norm = t->rows == 1;
    /* Values are uniform on (-s, s) with s = sqrt(3 / cols), so products with inputs of unit
     * variance have unit variance. */
    float inverse = 3.0f / (float)t->cols;
    float scale = 1.0f;

    if (synthetic_rows_end(t, row)) {
        memset(out, 0, t->cols * sizeof *out);
        return;
    }
    for (int i = 0; i < 40;
         i++) { /* Newton's square root needs no libm and gives the same bits everywhere */
        scale = 0.5f * (scale + inverse / scale);
    }
    for (uint32_t c = 0; c < t->cols; c++) {
        uint64_t bits = synthetic_mix(synthetic_mix((uint64_t)t->group << 32 | row) + c);
        float unit = (float)((int64_t)(bits >> 40) - 0x800000) * 0x1p-23f;

        if (norm) {
            out[c] = 1.0f + 0.1f * unit + t->add;
        } else {
            out[c] = scale * unit;
        }
    }
}
