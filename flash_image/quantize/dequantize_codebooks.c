/* Every product below is exact in f32: a scale has 11 bits, its factor at most 5, a coordinate at
 * most 6. */
#include <string.h>

#include "flash_image/quantize/codebooks.h"
#include "flash_image/source/source.h"
#include "kernels/ref/scalar.h"

enum { PARTS = 8 /* of 32 elements */, HIGH_COUNT = 256 /* points that an 8-bit number selects */ };

/* Add an eighth sign to seven signs so that the number of ones is even; bit i: element i. */
static unsigned all_signs(uint32_t seven)
{
    unsigned signs = seven & 127;

    return signs | (unsigned)__builtin_parity(signs) << 7;
}

static float signed_by(unsigned signs, unsigned i, float x)
{
    return (signs >> i & 1) != 0 ? -x : x;
}

/* ---- IQ2: eight elements to a point ---------------------------------------------------------- */

static void put_eight(float *out, uint16_t point, unsigned signs, float step)
{
    static const float values[] = { 8, 25, 43, 0 };

    for (unsigned i = 0; i < 8; i++) {
        out[i] = signed_by(signs, i, step * values[point >> 2 * i & 3]);
    }
}

/* Return the step of a part: d / 8, and d / 4 more for each unit of scale. */
static float step_of(float d, unsigned scale)
{
    return d * (0.5f + (float)scale) * 0.25f;
}

/* A part has the numbers of four points, then 32 bits: four groups of seven signs and a scale. */
void dequantize_iq2_xxs(const uint8_t *block, float *out)
{
    float d = load_f16(block);

    for (unsigned part = 0; part < PARTS; part++) {
        const uint8_t *at = block + 2 + 8 * part;
        uint32_t rest = load_u32(at + 4);

        for (unsigned l = 0; l < 4; l++) {
            put_eight(out + 32 * part + 8 * l, codebook_iq2_xxs[at[l]], all_signs(rest >> 7 * l),
                      step_of(d, rest >> 28));
        }
    }
}

/* 16 bits hold a point's number in 9 bits, and seven signs; two points share a nibble of scale. */
void dequantize_iq2_xs(const uint8_t *block, float *out)
{
    float d = load_f16(block);

    for (unsigned l = 0; l < 4 * PARTS; l++) {
        uint16_t both = load_u16(block + 2 + 2 * l);
        unsigned scale = block[66 + l / 4] >> l % 4 / 2 * 4 & 15;

        put_eight(out + 8 * l, codebook_iq2_xs[both & 511], all_signs(both >> 9),
                  step_of(d, scale));
    }
}

/* A byte holds 8 bits of a point's number; 2 more bits follow later. All eight signs are stored.
 * Scales are as in IQ2_XS. */
void dequantize_iq2_s(const uint8_t *block, float *out)
{
    float d = load_f16(block);

    for (unsigned l = 0; l < 4 * PARTS; l++) {
        unsigned high = block[66 + l / 4] >> 2 * (l % 4) & 3;
        unsigned scale = block[74 + l / 4] >> l % 4 / 2 * 4 & 15;

        put_eight(out + 8 * l, codebook_iq2_s[block[2 + l] + high * HIGH_COUNT], block[34 + l],
                  step_of(d, scale));
    }
}

/* ---- IQ3: four elements to a point ----------------------------------------------------------- */

static void put_four(float *out, uint16_t point, const uint8_t values[8], unsigned signs,
                     float step)
{
    for (unsigned i = 0; i < 4; i++) {
        out[i] = signed_by(signs, i, step * (float)values[point >> 3 * i & 7]);
    }
}

/* A block begins with the codebook index of each point. Then each part of the block has four groups
 * of seven signs, and a scale. */
void dequantize_iq3_xxs(const uint8_t *block, float *out)
{
    static const uint8_t values[8] = { 4, 12, 20, 28, 36, 44, 52, 62 };
    float d = load_f16(block);

    for (unsigned l = 0; l < 8 * PARTS; l++) {
        uint32_t rest = load_u32(block + 66 + l / 8 * 4);
        unsigned signs = all_signs(rest >> 7 * (l % 8 / 2)) >> 4 * (l % 2);

        put_four(out + 4 * l, codebook_iq3_xxs[block[2 + l]], values, signs,
                 d * (0.5f + (float)(rest >> 28)) * 0.5f);
    }
}

/* Each point's number has a ninth bit; each element has a sign, and each part a nibble of scale. */
void dequantize_iq3_s(const uint8_t *block, float *out)
{
    static const uint8_t values[8] = { 1, 3, 5, 7, 9, 11, 13, 15 };
    float d = load_f16(block);

    for (unsigned l = 0; l < 8 * PARTS; l++) {
        unsigned high = block[66 + l / 8] >> l % 8 & 1;
        unsigned signs = (unsigned)block[74 + l / 2] >> 4 * (l % 2);
        unsigned scale = block[106 + l / 16] >> l / 8 % 2 * 4 & 15;

        put_four(out + 4 * l, codebook_iq3_s[block[2 + l] + high * HIGH_COUNT], values, signs,
                 d * (float)(1 + 2 * scale));
    }
}

/* ---- IQ1: -1, 0 and 1, all shifted by an eighth ---------------------------------------------- */

static void put_moved(float *out, uint16_t point, bool down, float step)
{
    for (unsigned i = 0; i < 8; i++) {
        out[i] = step * ((float)(point >> 2 * i & 3) - 1.0f + (down ? -0.125f : 0.125f));
    }
}

/* A byte holds 8 bits of a point's number. The 16 bits of a part hold three more bits for each
 * point, a scale, and the direction of the shift. */
void dequantize_iq1_s(const uint8_t *block, float *out)
{
    float d = load_f16(block);

    for (unsigned l = 0; l < 4 * PARTS; l++) {
        unsigned rest = load_u16(block + 34 + l / 4 * 2);
        unsigned high = rest >> 3 * (l % 4) & 7;

        put_moved(out + 8 * l, codebook_iq1[block[2 + l] + high * HIGH_COUNT], rest >> 15 != 0,
                  d * (float)(2 * (rest >> 12 & 7) + 1));
    }
}

/* A nibble for each point holds three more bits of its number, and the direction of its shift. Four
 * words of 16 bits have four scales of two points each, and d in their top nibbles. */
void dequantize_iq1_m(const uint8_t *block, float *out)
{
    uint8_t scale[2] = { 0 };
    float d;

    for (unsigned i = 0; i < 4; i++) {
        scale[i / 2] = (uint8_t)(scale[i / 2] | block[48 + 2 * i + 1] >> 4 << i % 2 * 4);
    }
    d = load_f16(scale);
    for (unsigned l = 0; l < 4 * PARTS; l++) {
        unsigned nibble = block[32 + l / 2] >> l % 2 * 4 & 15;
        unsigned factor = load_u16(block + 48 + l / 8 * 2) >> 3 * (l % 8 / 2) & 7;

        put_moved(out + 8 * l, codebook_iq1[block[l] + (nibble & 7) * HIGH_COUNT], nibble >> 3 != 0,
                  d * (float)(2 * factor + 1));
    }
}
