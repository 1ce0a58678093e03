#include "flash_image/pack/pack_own_type.h"

#include <math.h>

#include "flash_image/quantize/dequantize.h"
#include "flash_image/quantize/source_rows.h"
#include "flash_image/source/map_file.h"
#include "kernels/ref/scalar.h"
#include "runtime/image/image.h"

enum { LARGE_BYTES = 1 << 20 };

static bool row_fits_f16(const struct source_tensor *t, uint32_t row)
{
    for (uint32_t c = 0; c < t->cols; c++) {
        float x = source_read_plain(t, row, c);
        uint16_t half = f16_from_f32(x);

        if ((half & 0x7c00) == 0x7c00 || f32_from_f16(half) != x) {
            return false;
        }
    }
    return true;
}

/* True if all weights fit F16. Releases the pages of large tensors, which are mapped. */
static bool fits_f16(const struct source_tensor *t)
{
    bool large = source_type_bytes(t->type, (uint64_t)t->rows * t->cols) >= LARGE_BYTES;
    const uint8_t *kept = t->data;
    bool fits = true;

    for (uint32_t r = 0; fits && r < t->rows; r++) {
        fits = row_fits_f16(t, r);
        if (large && t->stride == 0) {
            map_release(&kept, source_row_data(t, r), !fits || r + 1 == t->rows);
        }
    }
    return fits;
}

static enum ingot_type type_of_floats(const struct source_tensor *t)
{
    bool fits = true;

    if (t->type == SOURCE_F16 && t->row_scales == NULL) {
        return INGOT_F16;
    }
    for (uint32_t i = 0; fits && i < max_u32(t->stack, 1); i++) { /* all experts share a type */
        struct source_tensor one = t->stack != 0 ? source_expert(t, i) : *t;

        fits = fits_f16(&one);
    }
    return fits ? INGOT_F16 : INGOT_F32;
}

/* Return the type of a matrix with three values and one scale. A type with blocks stores the scale
 * in fp16, rounded if necessary. */
static enum ingot_type type_of_rounded(const struct source_tensor *t)
{
    float scale = t->row_scales == NULL ? 1.0f : t->row_scales[0];
    float near = f32_from_f16(f16_from_f32(scale));
    bool fits = isfinite(near) && fabsf(near - scale) <= scale / 2048;

    if (fits && image_type_takes(INGOT_TQ2_0, t->cols)) {
        return INGOT_TQ2_0;
    }
    return near == scale ? INGOT_F16 : INGOT_F32;
}

/* True if F16 holds the tiles' weights with NMSE below 1e-7: the largest weight, 448 times the
 * scale, is finite, and the weights that matter are normal numbers. */
static bool f8_fits(const struct source_tiles *tiles)
{
    struct source_tensor scales = { .data = tiles->scales,
                                    .rows = tiles->scale_rows,
                                    .cols = tiles->scale_cols,
                                    .type = tiles->type };

    for (uint32_t r = 0; r < scales.rows; r++) {
        for (uint32_t c = 0; c < scales.cols; c++) {
            float scale = fabsf(source_read_plain(&scales, r, c));

            if (scale != 0.0f && !(scale >= 1e-5f && scale <= 100.0f)) {
                return false;
            }
        }
    }
    return true;
}

static enum ingot_type type_of_f8(const struct source_tensor *t)
{
    bool fits = t->row_scales == NULL;

    for (uint32_t i = 0; fits && i < max_u32(t->stack, 1); i++) {
        struct source_tensor one = t->stack != 0 ? source_expert(t, i) : *t;

        fits = f8_fits(one.tiles);
    }
    return fits ? INGOT_F16 : INGOT_F32;
}

/* A type with blocks if the columns are whole blocks and scales fit fp16; else a float type. */
static enum ingot_type type_of_ternary(const struct source_tensor *t)
{
    bool fits = true;

    for (uint32_t r = 0; t->row_scales != NULL && r < t->rows; r++) {
        fits = fits && f32_from_f16(f16_from_f32(t->row_scales[r])) == t->row_scales[r];
    }
    if (!fits) {
        return INGOT_F32;
    }
    return image_type_takes(INGOT_TQ2_0, t->cols) ? INGOT_TQ2_0 : INGOT_F16;
}

/* True if the scale 2^(e - 128) fits fp16, or the block is all zeros. */
static bool mxfp4_block_fits(const uint8_t *block)
{
    for (unsigned j = 1; j < 17 && (block[0] < 104 || block[0] > 143); j++) {
        if ((block[j] & 0x77) != 0) {
            return false;
        }
    }
    return true;
}

static bool mxfp4_fits(const struct source_tensor *t)
{
    uint8_t space[SOURCE_BLOCK_BYTES];

    for (uint32_t r = 0; r < t->rows; r++) {
        for (uint32_t i = 0; i < t->cols / source_type_block(t->type); i++) {
            if (!mxfp4_block_fits(source_block(t, r, i, space))) {
                return false;
            }
        }
    }
    return true;
}

enum ingot_type pack_mxfp4_type(const struct source_tensor *t)
{
    bool fits = true;

    for (uint32_t i = 0; i < max_u32(t->stack, 1); i++) {
        struct source_tensor one = t->stack != 0 ? source_expert(t, i) : *t;

        fits = fits && mxfp4_fits(&one);
    }
    return fits ? INGOT_MXFP4 : INGOT_F32;
}

/* Short groups have more scales than blocks of 32 can store. */
static enum ingot_type type_of_grouped(const struct source_tensor *t)
{
    if (t->group % 32 == 0) {
        return INGOT_Q8_0;
    }
    return INGOT_F32;
}

static enum ingot_type type_of(const struct source_tensor *t)
{
    switch (t->type) {
    case SOURCE_F32: return INGOT_F32;
    case SOURCE_F16:
    case SOURCE_BF16: return type_of_floats(t);
    case SOURCE_TERNARY: return type_of_ternary(t);
    case SOURCE_ROUNDED_F32:
    case SOURCE_ROUNDED_F16:
    case SOURCE_ROUNDED_BF16: return type_of_rounded(t);
    case SOURCE_F8: return type_of_f8(t);
#define TYPE_WEIGHTS(NAME, ...) \
    case SOURCE_##NAME: \
        return INGOT_##NAME;
#define TYPE_TABLED_OWN(...)
#define TYPE_TABLED_AGAIN(...)
#include "flash_image/format/types.def"
    case SOURCE_Q2_0_128: return INGOT_Q2_0;
    case SOURCE_TQ1_0: return INGOT_TQ2_0;
    case SOURCE_GROUPED: return type_of_grouped(t);
    case SOURCE_MXFP4:
    case SOURCE_MXFP4_PAIRS: return pack_mxfp4_type(t);
    case SOURCE_IQ4_XS: return INGOT_IQ4_NL;
    default: return INGOT_Q8_0;
    }
}

/* True if rows end inside the blocks of a GGUF file, or the tensor is transposed: then only floats
 * hold all of its values. */
static bool cuts_blocks(const struct source_tensor *t)
{
    return dequantize_of(t->type) != NULL &&
           (t->stride != 0 || t->cols % source_type_block(t->type) != 0);
}

enum ingot_type pack_own_type(const struct source_tensor *t)
{
    enum ingot_type type = type_of(t);
    enum source_type ggml = source_ggml_type(t->type);

    if (cuts_blocks(t)) {
        return INGOT_F32;
    }
#define TYPE_PACKED(NAME, id, name, layout, columns, act, halves, fit, of, bytes, d, m, WIDE, \
                    wide, FROM) \
    if (ggml == SOURCE_##FROM && type == INGOT_##WIDE) { \
        return INGOT_##NAME; \
    }
#include "flash_image/format/types.def"
    return type;
}

enum ingot_type pack_own_head_type(const struct source_tensor *t)
{
    enum ingot_type type = type_of(t);

    /* IQ4_NL has IQ4_XS's table, but cannot store IQ4_XS's scales exactly */
    if (cuts_blocks(t) || source_ggml_type(t->type) == SOURCE_IQ4_XS ||
        !image_type_suits_head(type)) {
        return INGOT_F32;
    }
    return type;
}
