#include "runtime/compute/kv_format_get.h"
#include "kernels/kernels.h"
#include "kernels/ref/scalar.h"
#include "runtime/compute/kv_format.h"

#include <math.h>
#include <string.h>

/* ---- floats ---------------------------------------------------------------------------------- */

void kv_get_key_f16(const void *tile, uint32_t d, uint32_t j, float *x)
{
    const uint16_t *keys = tile;

    for (uint32_t i = 0; i < d; i++) {
        x[i] = f32_from_f16(keys[(size_t)i * KV_TILE + j]);
    }
}

void kv_get_value_f16(const void *tile, uint32_t d, uint32_t j, float *x)
{
    const uint16_t *values = (const uint16_t *)tile + (size_t)j * d;

    for (uint32_t i = 0; i < d; i++) {
        x[i] = f32_from_f16(values[i]);
    }
}

void kv_get_key_f32(const void *tile, uint32_t d, uint32_t j, float *x)
{
    const float *keys = tile;

    for (uint32_t i = 0; i < d; i++) {
        x[i] = keys[(size_t)i * KV_TILE + j];
    }
}

void kv_get_value_f32(const void *tile, uint32_t d, uint32_t j, float *x)
{
    memcpy(x, (const float *)tile + (size_t)j * d, d * sizeof *x);
}

/* ---- int8 ------------------------------------------------------------------------------------ */

void kv_get_key_q8(const void *tile, uint32_t d, uint32_t j, float *x)
{
    const float *scales = tile;
    const int8_t *keys = (const int8_t *)(scales + (size_t)kv_blocks(d) * KV_TILE);

    for (uint32_t i = 0; i < d; i++) {
        int8_t q = keys[((size_t)i / 4 * KV_TILE + j) * 4 + i % 4];

        x[i] = scales[i / KV_BLOCK * KV_TILE + j] * (float)q;
    }
}

void kv_get_value_q8(const void *tile, uint32_t d, uint32_t j, float *x)
{
    uint32_t n_blocks = kv_blocks(d);
    const float *scales = tile;
    const int8_t *values = (const int8_t *)(scales + (size_t)n_blocks * KV_TILE);

    for (uint32_t i = 0; i < d; i++) {
        x[i] = scales[j * n_blocks + i / KV_BLOCK] *
               (float)values[(size_t)j * n_blocks * KV_BLOCK + i];
    }
}

/* Return the index of dimension i of position j in values that interleave `wide` positions. */
static size_t value_place(uint32_t block, uint32_t i, uint32_t j, uint32_t wide)
{
    return ((size_t)(i / block * KV_TILE + j / 4 * 4) * block + i % block * 4) * wide / 4;
}

/* Return the number of dimensions that share a value's scale. */
static uint32_t value_block(uint32_t d)
{
    return (uint32_t)kv_values_block((size_t)kv_blocks(d) * KV_BLOCK);
}

static uint32_t value_blocks(uint32_t d)
{
    return kv_blocks(d) * KV_BLOCK / value_block(d);
}

void kv_get_value_rot_q8(const void *tile, uint32_t d, uint32_t j, float *x)
{
    uint32_t block = value_block(d);
    const float *scales = tile;
    const int8_t *values = (const int8_t *)(scales + (size_t)value_blocks(d) * KV_TILE);

    for (uint32_t i = 0; i < d; i++) {
        int8_t q = values[value_place(block, i, j, 4) + j % 4];

        x[i] = scales[(size_t)(i / block) * KV_TILE + j] * (float)q;
    }
}

/* ---- four bits ------------------------------------------------------------------------------- */

/* Return the lower or the upper half of a byte as -8 to 7. */
static float half_of(uint8_t byte, bool upper)
{
    uint32_t half = upper ? byte >> 4 : byte & 15u;

    return (float)(half ^ 8u) - 8.0f;
}

/* With `middles` (KV_TILE per block), the stored numbers are differences from the middles. */
static void get_key(const void *tile, const float *middles, uint32_t d, uint32_t j, float *x)
{
    const uint16_t *scales = tile;
    const uint8_t *keys = (const uint8_t *)(scales + (size_t)kv_blocks(d) * KV_TILE);

    for (uint32_t i = 0; i < d; i++) {
        size_t place = (size_t)(i / KV_BLOCK) * KV_TILE + j;
        float q = half_of(keys[((size_t)i / 4 * KV_TILE + j) * 2 + i % 2], i % 4 >= 2);

        x[i] = fmaf(q, f32_from_bf16(scales[place]), middles == NULL ? 0.0f : middles[place]);
    }
}

static void get_value(const void *tile, const float *middles, uint32_t d, uint32_t j, float *x)
{
    uint32_t block = value_block(d);
    const float *scales = tile;
    const uint8_t *values = (const uint8_t *)(scales + (size_t)value_blocks(d) * KV_TILE);

    for (uint32_t i = 0; i < d; i++) {
        size_t place = (size_t)(i / block) * KV_TILE + j;
        float q = half_of(values[value_place(block, i, j, 2) + j % 2], j % 4 >= 2);

        x[i] = fmaf(q, scales[place], middles == NULL ? 0.0f : middles[place]);
    }
}

void kv_get_key_q4(const void *tile, uint32_t d, uint32_t j, float *x)
{
    get_key(tile, NULL, d, j, x);
}

void kv_get_value_q4(const void *tile, uint32_t d, uint32_t j, float *x)
{
    get_value(tile, NULL, d, j, x);
}

void kv_get_key_uniform(const void *tile, uint32_t d, uint32_t j, float *x)
{
    const float *middles = tile;

    get_key(middles + (size_t)kv_blocks(d) * KV_TILE, middles, d, j, x);
}

void kv_get_value_uniform(const void *tile, uint32_t d, uint32_t j, float *x)
{
    const float *middles = tile;

    get_value(middles + (size_t)value_blocks(d) * KV_TILE, middles, d, j, x);
}
