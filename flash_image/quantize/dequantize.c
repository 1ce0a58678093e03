#include "flash_image/quantize/dequantize.h"

#include <math.h>

#include "flash_image/quantize/codebooks.h"
#include "flash_image/quantize/requantize.h"

const int8_t dequantize_iq4[16] = {
    -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113,
};

/* The fifth bit of element i of Q5_0 or Q5_1: bit i of 32. */
static int fifth(const uint8_t *high, unsigned i)
{
    return (high[i / 8] >> i % 8 & 1) << 4;
}

static void read_q8_0(const uint8_t *block, float *out)
{
    float d = load_f16(block);

    for (unsigned i = 0; i < 32; i++) {
        out[i] = d * (float)(int8_t)block[2 + i];
    }
}

static void read_q4_0(const uint8_t *block, float *out)
{
    float d = load_f16(block);

    for (unsigned i = 0; i < 32; i++) {
        out[i] = d * (float)(dequantize_nibble(block + 2, i) - 8);
    }
}

static void read_q4_1(const uint8_t *block, float *out)
{
    float d = load_f16(block), m = load_f16(block + 2);

    for (unsigned i = 0; i < 32; i++) {
        out[i] = d * (float)dequantize_nibble(block + 4, i) + m;
    }
}

static void read_q5_0(const uint8_t *block, float *out)
{
    float d = load_f16(block);

    for (unsigned i = 0; i < 32; i++) {
        out[i] = d * (float)((dequantize_nibble(block + 6, i) | fifth(block + 2, i)) - 16);
    }
}

static void read_q5_1(const uint8_t *block, float *out)
{
    float d = load_f16(block), m = load_f16(block + 2);

    for (unsigned i = 0; i < 32; i++) {
        out[i] = d * (float)(dequantize_nibble(block + 8, i) | fifth(block + 4, i)) + m;
    }
}

static void read_iq4_nl(const uint8_t *block, float *out)
{
    float d = load_f16(block);

    for (unsigned i = 0; i < 32; i++) {
        out[i] = d * (float)dequantize_iq4[dequantize_nibble(block + 2, i)];
    }
}

/* Each part of 32 elements has a scale of 6 bits. The high 2 bits are in the 16 bits after d, the
 * low 4 bits in the 4 bytes after these. */
static void read_iq4_xs(const uint8_t *block, float *out)
{
    for (unsigned j = 0; j < 8; j++) {
        float step = requantize_scale_iq4_xs(block, j);

        for (unsigned i = 0; i < 32; i++) {
            out[32 * j + i] = step *
                              (float)dequantize_iq4[dequantize_nibble(block + 8 + 16 * j, i)];
        }
    }
}

/* FP4 has 0, .5, 1, 1.5, 2, 3, 4, 6: twice these are integers. */
static const int8_t twice_fp4[16] = { 0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12 };

/* A scale of 2^(e - 127) becomes 2^(e - 128), because the integers are twice the values. */
static void read_mxfp4(const uint8_t *block, float *out)
{
    float d = ldexpf(1.0f, block[0] - 128);

    for (unsigned i = 0; i < 32; i++) {
        out[i] = d * (float)twice_fp4[dequantize_nibble(block + 1, i)];
    }
}

/* Return half the value of an unsigned float with 4 bits of exponent and 3 of mantissa; as in GGML,
 * 0x7f is 0. */
static float half_ue4m3(uint8_t x)
{
    int exponent = x >> 3 & 15;
    float mantissa = (float)(x & 7);

    if (x == 0x7f) {
        return 0;
    }
    return exponent == 0 ? ldexpf(mantissa, -10) : ldexpf(8.0f + mantissa, exponent - 11);
}

/* Four parts of 16 elements have a scale and 8 bytes each: low nibbles are the first elements, high
 * nibbles the last ones. */
static void read_nvfp4(const uint8_t *block, float *out)
{
    for (unsigned i = 0; i < 64; i++) {
        uint8_t byte = block[4 + i / 16 * 8 + i % 8];

        out[i] = half_ue4m3(block[i / 16]) * (float)twice_fp4[byte >> i % 16 / 8 * 4 & 15];
    }
}

/* Q8_1 is Q8_0 with one more number after the scale: the sum of the elements, which is not
 * needed. */
static void read_q8_1(const uint8_t *block, float *out)
{
    float d = load_f16(block);

    for (unsigned i = 0; i < 32; i++) {
        out[i] = d * (float)(int8_t)block[4 + i];
    }
}

/* There are 16 parts of 16 elements; 32 bytes hold four rows of 32 elements of two bits. */
static void read_q2_k(const uint8_t *block, float *out)
{
    float d = load_f16(block + 80), dmin = load_f16(block + 82);

    for (unsigned c = 0; c < 256; c++) {
        /* The low nibble is the scale of the part of 16, the high nibble its min. */
        uint8_t s = block[c / 16];
        int q = block[16 + c / 128 * 32 + c % 32] >> c % 128 / 32 * 2 & 3;

        out[c] = d * (float)(s & 15) * (float)q - dmin * (float)(s >> 4);
    }
}

int dequantize_scale_q3k(const uint8_t *s, unsigned j)
{
    /* Four low bits are in the first 8 bytes, two high bits in the last 4; 32 stands for 0. */
    int low = s[j % 8] >> j / 8 * 4 & 15;

    return (low | (s[8 + j % 4] >> 2 * (j / 4) & 3) << 4) - 32;
}

/* Two bits are stored as in Q2_K, the third in the mask of 32 bytes before them; if this bit is 0,
 * the value is 4 less. */
int dequantize_value_q3k(const uint8_t *block, unsigned c)
{
    int q = block[32 + c / 128 * 32 + c % 32] >> c % 128 / 32 * 2 & 3;

    return q - 4 + 4 * (block[c % 32] >> c / 32 & 1);
}

static void read_q3_k(const uint8_t *block, float *out)
{
    float d = load_f16(block + 108);

    for (unsigned c = 0; c < 256; c++) {
        int product = dequantize_scale_q3k(block + 96, c / 16) * dequantize_value_q3k(block, c);

        out[c] = (float)product * d;
    }
}

void dequantize_scale_min(const uint8_t *s, unsigned j, int *scale, int *min)
{
    /* The first four parts have their 6 bits in a byte; the others have 4 bits in a nibble, and 2
     * at the top of a byte of the first four. */
    if (j < 4) {
        *scale = s[j] & 63;
        *min = s[j + 4] & 63;
        return;
    }
    *scale = (s[j + 4] & 15) | s[j - 4] >> 6 << 4;
    *min = s[j + 4] >> 4 | s[j] >> 6 << 4;
}

/* Scale part j of a block of Q4_K or Q5_K, which begins with d, dmin and scales; q (32) has the
 * part's integers. */
static void scale_part(const uint8_t *block, unsigned j, const int *q, float *out)
{
    float d = load_f16(block), dmin = load_f16(block + 2);
    int scale, min;

    dequantize_scale_min(block + 4, j, &scale, &min);
    for (unsigned i = 0; i < 32; i++) {
        out[i] = fmaf((float)(scale * q[i]), d, -(dmin * (float)min));
    }
}

static void read_q4_k(const uint8_t *block, float *out)
{
    for (unsigned j = 0; j < 8; j++) {
        int q[32];

        for (unsigned i = 0; i < 32; i++) {
            q[i] = block[16 + j / 2 * 32 + i] >> (j % 2 * 4) & 15;
        }
        scale_part(block, j, q, out + 32 * j);
    }
}

/* Q5_K is Q4_K with a fifth bit: bit j of 32 bytes before the nibbles, in part j. */
static void read_q5_k(const uint8_t *block, float *out)
{
    for (unsigned j = 0; j < 8; j++) {
        int q[32];

        for (unsigned i = 0; i < 32; i++) {
            int low = block[48 + j / 2 * 32 + i] >> (j % 2 * 4) & 15;

            q[i] = low | (block[16 + i] >> j & 1) << 4;
        }
        scale_part(block, j, q, out + 32 * j);
    }
}

static void read_q6_k(const uint8_t *block, float *out)
{
    const int8_t *scales = (const int8_t *)block + 192;
    float d = load_f16(block + 208);

    for (unsigned c = 0; c < 256; c++) {
        unsigned half = c / 128, quarter = c % 128 / 32, l = c % 32;
        /* Each half has 64 bytes of low nibbles and 32 bytes of pairs of high bits. */
        int low = block[half * 64 + quarter % 2 * 32 + l] >> quarter / 2 * 4 & 15;
        int high = block[128 + half * 32 + l] >> quarter * 2 & 3;

        out[c] = (float)(scales[c / 16] * ((low | high << 4) - 32)) * d;
    }
}

static void read_twos(const uint8_t *block, float *out, unsigned n)
{
    float d = load_f16(block);

    for (unsigned i = 0; i < n; i++) {
        out[i] = d * (float)((block[2 + i / 4] >> i % 4 * 2 & 3) - 1);
    }
}

static void read_q2_0(const uint8_t *block, float *out)
{
    read_twos(block, out, 64);
}

static void read_q2_0_128(const uint8_t *block, float *out)
{
    read_twos(block, out, 128);
}

int dequantize_two(const uint8_t *q, unsigned i)
{
    return q[i / 128 * 32 + i % 32] >> i % 128 / 32 * 2 & 3;
}

static void read_tq2_0(const uint8_t *block, float *out)
{
    float d = load_f16(block + 64);

    for (unsigned i = 0; i < 256; i++) {
        out[i] = d * (float)(dequantize_two(block, i) - 1);
    }
}

/* A byte b is the fraction b / 256 in base 3: digit n is the whole part of 3^(n + 1) b / 256, mod
 * 3. */
static int trit(uint8_t b, unsigned n)
{
    static const uint8_t power[] = { 1, 3, 9, 27, 81 };

    /* The first product, mod 256, drops the digits before digit n; the second one moves digit n
     * above the byte. */
    return (uint8_t)(b * power[n]) * 3 >> 8;
}

/* Each byte of the first 32 and the next 16 has five digits; each of the last 4 has four. */
int dequantize_trit(const uint8_t *q, unsigned i)
{
    if (i < 160) {
        return trit(q[i % 32], i / 32);
    }
    if (i < 240) {
        return trit(q[32 + (i - 160) % 16], (i - 160) / 16);
    }
    return trit(q[48 + (i - 240) % 4], (i - 240) / 4);
}

static void read_tq1_0(const uint8_t *block, float *out)
{
    float d = load_f16(block + 52);

    for (unsigned i = 0; i < 256; i++) {
        out[i] = d * (float)(dequantize_trit(block, i) - 1);
    }
}

static void read_q1_0(const uint8_t *block, float *out)
{
    float d = load_f16(block);

    for (unsigned i = 0; i < 128; i++) {
        out[i] = d * (float)((block[2 + i / 8] >> i % 8 & 1) * 2 - 1);
    }
}

dequantize_block_fn *dequantize_of(enum source_type type)
{
    switch (type) {
#define READER(NAME, name) \
    case SOURCE_##NAME: \
        return read_##name;
#define TYPE_WEIGHTS(NAME, id, name, ...) READER(NAME, name)
#define TYPE_TABLED_OWN(...)
#define TYPE_TABLED_AGAIN(...)
#define TYPE_READ(NAME, name, ...) READER(NAME, name)
#define TYPE_ASKED(...)
#include "flash_image/format/types.def"
#undef READER
    case SOURCE_Q2_0_128: return read_q2_0_128;
    case SOURCE_Q8_1: return read_q8_1;
    case SOURCE_NVFP4: return read_nvfp4;
    case SOURCE_IQ1_S: return dequantize_iq1_s;
    case SOURCE_IQ1_M: return dequantize_iq1_m;
    case SOURCE_IQ2_XXS: return dequantize_iq2_xxs;
    case SOURCE_IQ2_XS: return dequantize_iq2_xs;
    case SOURCE_IQ2_S: return dequantize_iq2_s;
    case SOURCE_IQ3_XXS: return dequantize_iq3_xxs;
    case SOURCE_IQ3_S: return dequantize_iq3_s;
    default: return NULL;
    }
}
