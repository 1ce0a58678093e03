#include "flash_image/quantize/requantize.h"

#include <math.h>
#include <string.h>

#include "flash_image/quantize/dequantize.h"
#include "kernels/ref/scalar.h"

float requantize_scale_iq4_xs(const uint8_t *block, unsigned j)
{
    int scale = (block[4 + j / 2] >> j % 2 * 4 & 15) | (load_u16(block + 2) >> 2 * j & 3) << 4;

    return load_f16(block) * (float)(scale - 32);
}

static void q5_0_to_q8_0(const uint8_t *in, uint8_t *out)
{
    memcpy(out, in, 2);
    for (unsigned i = 0; i < 32; i++) {
        int high = in[2 + i / 8] >> i % 8 & 1;

        out[2 + i] = (uint8_t)(int8_t)((dequantize_nibble(in + 6, i) | high << 4) - 16);
    }
}

static void iq4_xs_to_iq4_nl(const uint8_t *in, uint8_t *out)
{
    for (unsigned j = 0; j < 8; j++, out += 18) {
        uint16_t half = f16_from_f32(requantize_scale_iq4_xs(in, j));

        out[0] = (uint8_t)half;
        out[1] = (uint8_t)(half >> 8);
        memcpy(out + 2, in + 8 + 16 * j, 16);
    }
}

static void tq1_0_to_tq2_0(const uint8_t *in, uint8_t *out)
{
    memset(out, 0, 64);
    for (unsigned i = 0; i < 256; i++) {
        uint8_t *byte = out + i / 128 * 32 + i % 32;

        *byte = (uint8_t)(*byte | dequantize_trit(in, i) << i % 128 / 32 * 2);
    }
    memcpy(out + 64, in + 52, 2);
}

/* Both halves get the scale of the whole block. */
static void q2_0_128_to_q2_0(const uint8_t *in, uint8_t *out)
{
    for (unsigned half = 0; half < 2; half++) {
        memcpy(out + 18 * half, in, 2);
        memcpy(out + 18 * half + 2, in + 2 + 16 * half, 16);
    }
}

/* Rewrite n elements of `bits` bits, which follow one scale, as blocks of 32 with that scale. An
 * element b stands for `step` * b - 1, a nibble for nibble - 8. */
static void few_to_q4_0(const uint8_t *in, unsigned n, unsigned bits, int step, uint8_t *out)
{
    for (unsigned i = 0; i < n; i++) {
        uint8_t *block = out + i / 32 * 18;
        unsigned q = (unsigned)in[2 + i * bits / 8] >> i * bits % 8 & ((1u << bits) - 1);
        unsigned nibble = (unsigned)((int)q * step + 7);

        if (i % 32 < 16) {
            memcpy(block, in, 2);
            block[2 + i % 16] = (uint8_t)nibble;
        } else {
            block[2 + i % 16] = (uint8_t)(block[2 + i % 16] | nibble << 4);
        }
    }
}

static void q2_0_to_q4_0(const uint8_t *in, uint8_t *out)
{
    few_to_q4_0(in, 64, 2, 1, out);
}

static void q2_0_128_to_q4_0(const uint8_t *in, uint8_t *out)
{
    few_to_q4_0(in, 128, 2, 1, out);
}

static void q1_0_to_q4_0(const uint8_t *in, uint8_t *out)
{
    few_to_q4_0(in, 128, 1, 2, out);
}

/* The scale 2^(e - 128) becomes fp16. Only a block of zeros may have a scale below 2^-24. */
static void mxfp4_to_own(const uint8_t *in, uint8_t *out)
{
    uint16_t half = f16_from_f32(ldexpf(1.0f, in[0] - 128));

    out[0] = (uint8_t)half;
    out[1] = (uint8_t)(half >> 8);
    memcpy(out + 2, in + 1, 16);
}

requantize_block_fn *requantize_of(enum source_type from, enum ingot_type to)
{
    static const struct {
        enum source_type from;
        enum ingot_type to;
        requantize_block_fn *function;
    } ways[] = {
        { SOURCE_Q5_0, INGOT_Q8_0, q5_0_to_q8_0 },
        { SOURCE_TQ1_0, INGOT_TQ2_0, tq1_0_to_tq2_0 },
        { SOURCE_Q2_0_128, INGOT_Q2_0, q2_0_128_to_q2_0 },
        { SOURCE_Q2_0, INGOT_Q4_0, q2_0_to_q4_0 },
        { SOURCE_Q2_0_128, INGOT_Q4_0, q2_0_128_to_q4_0 },
        { SOURCE_Q1_0, INGOT_Q4_0, q1_0_to_q4_0 },
        { SOURCE_IQ4_XS, INGOT_IQ4_NL, iq4_xs_to_iq4_nl },
        { SOURCE_MXFP4, INGOT_MXFP4, mxfp4_to_own },
    };

    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        if (ways[i].from == from && ways[i].to == to) {
            return ways[i].function;
        }
    }
    return NULL;
}
