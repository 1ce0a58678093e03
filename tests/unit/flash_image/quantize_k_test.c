/* The K formats: GGML blocks in their packed places, read back by a decoder written from FORMAT.md
 * alone, by the kernels' references and by the GGML side; and the quantizers' error. */
#include <math.h>

#include "flash_image/format/format.h"
#include "flash_image/quantize/least_squares.h"
#include "flash_image/quantize/quantize.h"
#include "flash_image/quantize/source_rows.h"
#include "flash_image/source/source.h"
#include "kernels/kernels.h"
#include "kernels/ref/scalar.h"
#include "tests/unit/model_files.h"
#include "tests/unit/tap.h"

enum { ROWS = 11, GROUPS = 2, BLOCKS = 3, COLS = BLOCKS * 256, Q4K = 144, Q6K = 210 };
enum { MOST_BYTES = Q6K, MOST_GROUP = 1680 };

static uint8_t ggml[ROWS * BLOCKS * MOST_BYTES];
static uint8_t packed[GROUPS * BLOCKS * MOST_GROUP];

/* ---- FORMAT.md, section 10, in bytes --------------------------------------------------------- */

static float fp16_at(const uint8_t *p)
{
    return f32_from_f16((uint16_t)(p[0] | p[1] << 8));
}

/* Returns the place that FORMAT.md gives the element, from the block of its group. */
struct place {
    const uint8_t *block;
    size_t r, c, l;
};

static struct place place_of(size_t row, size_t col, size_t group_bytes)
{
    return (struct place){ packed + (row / 8 * BLOCKS + col / 256) * group_bytes, row % 8,
                           col % 256, col % 32 };
}

static size_t byte_at(const struct place *p, size_t offset)
{
    return offset + p->l / 4 * 32 + p->r * 4 + p->l % 4;
}

static int nibble_at(const struct place *p, size_t offset)
{
    uint8_t q = p->block[byte_at(p, offset + p->c / 64 * 256)];

    return p->c % 64 < 32 ? q & 15 : q >> 4;
}

static int two_bits_at(const struct place *p, size_t offset)
{
    return p->block[byte_at(p, offset + p->c / 128 * 256)] >> (p->c / 32 % 4 * 2) & 3;
}

static int bit_at(const struct place *p, size_t offset)
{
    return p->block[byte_at(p, offset)] >> (p->c / 32) & 1;
}

static float with_min(const struct place *p, int scale, int q, int min)
{
    return fmaf((float)(scale * q), fp16_at(p->block + 2 * p->r),
                -(fp16_at(p->block + 16 + 2 * p->r) * (float)min));
}

static float six_bit_scales(const struct place *p, int q)
{
    size_t j = p->c / 32;
    uint8_t scale = p->block[32 + j * 8 + p->r], mins = p->block[96 + j % 4 * 8 + p->r];

    return with_min(p, scale & 63, q, scale >> 6 | (j < 4 ? mins & 15 : mins >> 4) << 2);
}

static float signed_scales(const struct place *p, int q)
{
    int scale = (int8_t)p->block[16 + p->c / 16 * 8 + p->r];

    return (float)(scale * q) * fp16_at(p->block + 2 * p->r);
}

static float format_q4k(const struct place *p)
{
    return six_bit_scales(p, nibble_at(p, 128));
}

static float format_q5k(const struct place *p)
{
    return six_bit_scales(p, nibble_at(p, 128) | bit_at(p, 1152) << 4);
}

static float format_q6k(const struct place *p)
{
    return signed_scales(p, (nibble_at(p, 144) | two_bits_at(p, 1168) << 4) - 32);
}

static float format_q3k(const struct place *p)
{
    return signed_scales(p, two_bits_at(p, 144) - 4 * bit_at(p, 656));
}

static float format_q2k(const struct place *p)
{
    uint8_t scale = p->block[32 + p->c / 16 * 8 + p->r];

    return with_min(p, scale & 15, two_bits_at(p, 160), scale >> 4);
}

/* A type; its GGML block, if that has fp16 scales; and the rule of a plain quantizer. */
struct k_type {
    const char *name;
    enum source_type source;
    size_t bytes, group_bytes, scales[2];
    quantize_block_fn *quantize;
    void (*interleave)(const uint8_t *const blocks[8], void *group);
    void (*dequantize)(float *restrict y, const void *restrict w, size_t row, size_t cols);
    float (*format)(const struct place *p);
    size_t part;
    int least, most, most_scale; /* of q, of a part's scale */
    double bound, gain;          /* of the NMSE of bell-shaped weights */
};

static const struct k_type types[] = {
    { "Q4_K",
      SOURCE_Q4_K,
      Q4K,
      1152,
      { 0, 2 },
      quantize_block_q4k,
      interleave_q4k,
      dequantize_f32_q4kx8_ref,
      format_q4k,
      32,
      0,
      15,
      63,
      7.5e-3,
      0.1 },
    { "Q6_K",
      SOURCE_Q6_K,
      Q6K,
      1680,
      { 208, 208 },
      quantize_block_q6k,
      interleave_q6k,
      dequantize_f32_q6kx8_ref,
      format_q6k,
      16,
      -32,
      31,
      127,
      5.5e-4,
      0.1 },
    { "Q5_K",
      SOURCE_Q5_K,
      176,
      1408,
      { 0, 2 },
      quantize_block_q5k,
      interleave_q5k,
      dequantize_f32_q5kx8_ref,
      format_q5k,
      32,
      0,
      31,
      63,
      2e-3,
      0.1 },
    { "Q3_K",
      SOURCE_Q3_K,
      110,
      912,
      { 108, 108 },
      quantize_block_q3k,
      interleave_q3k,
      dequantize_f32_q3kx8_ref,
      format_q3k,
      16,
      -4,
      3,
      31,
      3.2e-2,
      0.1 },
    { "Q2_K",
      SOURCE_Q2_K,
      84,
      672,
      { 80, 82 },
      quantize_block_q2k,
      interleave_q2k,
      dequantize_f32_q2kx8_ref,
      format_q2k,
      16,
      0,
      3,
      15,
      1e-1,
      0.2 },
};
enum { N_TYPES = sizeof types / sizeof types[0] };

/* ---- the same weights three ways ------------------------------------------------------------- */

/* Any bits, without scales that are not finite. */
static void fill(const struct k_type *k)
{
    uint32_t seed = 17;

    for (size_t i = 0; i < ROWS * BLOCKS * k->bytes; i++) {
        ggml[i] = (uint8_t)(int)(next_weight(&seed) * 127.9f);
    }
    for (size_t i = 0; i < ROWS * BLOCKS; i++) {
        ggml[i * k->bytes + k->scales[0] + 1] &= 0xbb;
        ggml[i * k->bytes + k->scales[1] + 1] &= 0xbb;
    }
}

static void pack_blocks(const struct k_type *k)
{
    memset(packed, 0xa5, sizeof packed);
    for (size_t i = 0; i < GROUPS * BLOCKS; i++) {
        const uint8_t *in[8];
        struct block_q6kx8 group; /* the largest block, aligned like the packer's buffer */

        for (size_t r = 0; r < 8; r++) {
            size_t row = i / BLOCKS * 8 + r;

            in[r] = row < ROWS ? ggml + (row * BLOCKS + i % BLOCKS) * k->bytes : NULL;
        }
        k->interleave(in, &group);
        memcpy(packed + i * k->group_bytes, &group, k->group_bytes);
    }
}

static bool same(float a, float b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static void test_three_ways(const struct k_type *k)
{
    struct source_tensor t = { .data = ggml, .rows = ROWS, .cols = COLS, .type = k->source };
    static float kernel[COLS], floats[COLS];
    bool format = true, source = true, zero = true;

    fill(k);
    pack_blocks(k);
    for (size_t row = 0; row < GROUPS * 8; row++) {
        k->dequantize(kernel, packed, row, COLS);
        if (row < ROWS) {
            source_read_row(&t, (uint32_t)row, floats);
        }
        for (size_t c = 0; c < COLS; c++) {
            struct place p = place_of(row, c, k->group_bytes);

            format = format && same(kernel[c], k->format(&p));
            source = source && (row >= ROWS || same(kernel[c], floats[c]));
            zero = zero && (row < ROWS || kernel[c] == 0.0f);
        }
    }
    OK(format, "%s: the kernels read the layout of FORMAT.md", k->name);
    OK(source, "the kernels' values are those of GGML's blocks, bit for bit");
    OK(zero, "rows of padding are zeros");
}

/* FORMAT.md's worked example, 10 rows of 512 columns: a block for (9, 357) with one element. */
static void test_worked_example(void)
{
    static uint8_t zero4[Q4K], zero6[Q6K], b4[Q4K], b6[Q6K];
    const uint8_t *in4[8] = { zero4, b4 }, *in6[8] = { zero6, b6 };
    struct block_q4kx8 q4[4];
    struct block_q6kx8 q6[4];
    const uint8_t *p4 = (const void *)q4, *p6 = (const void *)q6;

    b4[0] = 0x34, b4[1] = 0x12, b4[2] = 0x78, b4[3] = 0x16;
    b4[4 + 3] = 41;     /* the scale of part 3 */
    b4[4 + 7] = 0x36;   /* its min: 54 */
    b4[16 + 37] = 0xb0; /* columns 69 and 101: part 3 is the high nibbles of 32 .. 63 */
    b6[5 + 32] = 0xd0;  /* column 101, quarter 3: the high nibble of byte 32 + 5 */
    b6[128 + 5] = 0x80; /* and bits 6 and 7 of the fifth high byte */
    b6[192 + 6] = 99;
    b6[208] = 0x34, b6[209] = 0x12;
    interleave_q4k(in4, &q4[3]);
    interleave_q6k(in6, &q6[3]);
    OK(p4[3456 + 2] == 0x34 && p4[3456 + 3] == 0x12 && p4[3456 + 18] == 0x78 &&
           p4[3456 + 19] == 0x16 && p4[3513] == (41 | (54 & 3) << 6) &&
           (p4[3577] & 15) == 54 >> 2 && p4[3877] == 0xb0,
       "the worked example of FORMAT.md is right for Q4_K");
    OK(p6[5042] == 0x34 && p6[5043] == 0x12 && p6[5105] == 99 && p6[5477] == 0xd0 &&
           p6[6245] == 0x80,
       "the worked example of FORMAT.md is right for Q6_K");
}

/* ---- quantizers ------------------------------------------------------------------------------ */

static void read_block(const uint8_t *block, enum source_type type, float out[256])
{
    struct source_tensor t = { .data = block, .rows = 1, .cols = 256, .type = type };

    source_read_row(&t, 0, out);
}

/* Returns NaN if the block is refused. */
static double block_error(const float w[256], const struct k_type *k)
{
    uint8_t block[MOST_BYTES];
    float out[256];
    double error = 0;

    if (!k->quantize(w, fit_ones, block)) {
        return (double)NAN;
    }
    read_block(block, k->source, out);
    for (size_t i = 0; i < 256; i++) {
        error += ((double)out[i] - (double)w[i]) * ((double)out[i] - (double)w[i]);
    }
    return error;
}

/* Does not search: takes the range of each part in even steps, and rounds the scales. */
static double plain_error(const float w[256], const struct k_type *k)
{
    size_t n = k->part;
    double scale[16], min[16], most_scale = 0, most_min = 0, error = 0, steps = k->most_scale;

    for (size_t j = 0; j < 256 / n; j++) {
        double low = 0, high = 0, far = 0;

        for (size_t i = j * n; i < (j + 1) * n; i++) {
            low = fmin(low, (double)w[i]);
            high = fmax(high, (double)w[i]);
            far = fabs((double)w[i]) > fabs(far) ? (double)w[i] : far;
        }
        scale[j] = k->least == 0 ? (high - low) / k->most : far / k->least;
        min[j] = k->least == 0 ? -low : 0;
        most_scale = fmax(most_scale, fabs(scale[j]));
        most_min = fmax(most_min, min[j]);
    }
    for (size_t i = 0; i < 256; i++) {
        double s = rint(scale[i / n] / (most_scale / steps)) * (most_scale / steps);
        double m = most_min > 0 ? rint(min[i / n] / (most_min / steps)) * (most_min / steps) : 0;
        double q = s != 0 ? rint(((double)w[i] + m) / s) : 0;
        double miss;

        q = fmin(fmax(q, k->least), k->most);
        miss = s * q - m - (double)w[i];
        error += miss * miss;
    }
    return error;
}

/* A sum of four is close enough to a bell; every 40th weight is four times as large, as in a
 * trained model. */
static void bell(float w[256], float scale, uint32_t *seed)
{
    for (size_t i = 0; i < 256; i++) {
        float x = next_weight(seed) + next_weight(seed) + next_weight(seed) + next_weight(seed);

        w[i] = scale * (i % 40 == 39 ? 4 : 1) * x;
    }
}

static void test_error(const struct k_type *k)
{
    double error = 0, plain = 0, all = 0;
    unsigned worse = 0;
    uint32_t seed = 23;

    for (int n = 0; n < 2000; n++) {
        float scale = ldexpf(1.0f, n % 16 - 10);
        float w[256];
        double e, p;

        bell(w, scale, &seed);
        e = block_error(w, k);
        p = plain_error(w, k);
        worse += !(e <= p);
        error += e / (double)(scale * scale);
        plain += p / (double)(scale * scale);
        for (size_t i = 0; i < 256; i++) {
            all += (double)(w[i] / scale) * (double)(w[i] / scale);
        }
    }
    OK(error / all < k->bound, "%s: the error is NMSE %.3g, below %.3g", k->name, error / all,
       k->bound);
    OK(error < (1 - k->gain) * plain,
       "the error is %.1f %% below that of minimum and maximum rounded", 100 * (1 - error / plain));
    /* the scales there are not fp16 */
    OK(worse <= 5, "hardly a block is worse (%u of 2000)", worse);
}

/* Blocks of one value, of values beyond fp16 in either direction, and with a single weight. */
static void test_edges(const struct k_type *k)
{
    static const float values[] = { 0.0f, -0.0f, 1.0f, -1.0f, 1e-3f, -3e-5f, 6e4f, -6e4f, 1e6f };
    double step = 6e-6 / (k->most - k->least); /* of weights of 3e-6 to either side */
    bool near = true;
    float w[256] = { 0 };

    for (size_t v = 0; v < sizeof values / sizeof values[0]; v++) {
        double square = 256.0 * (double)values[v] * (double)values[v];

        for (size_t i = 0; i < 256; i++) {
            w[i] = values[v];
        }
        /* a part of 15 steps has its min among fp16's smallest, in steps of 3 % */
        near = near && block_error(w, k) <= (k->most_scale == 15 ? 2e-4 : 1e-4) * square;
    }
    OK(near, "%s: blocks of one value keep it", k->name);
    memset(w, 0, sizeof w);
    w[77] = -0.7f;
    OK(block_error(w, k) < 1e-4, "a single weight is exact");
    for (size_t i = 0; i < 256; i++) {
        w[i] = 1e-30f * (float)i;
    }
    OK(block_error(w, k) < 1e-50, "weights far below fp16 are nearly 0");
    for (size_t i = 0; i < 256; i++) {
        w[i] = 3e-7f * (float)((int)(i % 21) - 10);
    }
    OK(block_error(w, k) < 256 * (1e-14 + step * step / 3),
       "scales among fp16's smallest keep their steps");
    w[3] = 3e38f;
    w[4] = -3e38f;
    OK(isnan(block_error(w, k)), "scales beyond fp16 are refused");
    w[3] = w[4] = -5e9f;
    OK(isnan(block_error(w, k)), "negative scales beyond fp16 are refused as well");
}

/* Blocks and floats of another implementation, if they are there. */
static void test_fixture(const char *json, const char *key, const uint8_t *blocks,
                         const struct k_type *k)
{
    const char *at = strstr(json, "\"dequant\"");
    double worst = 0;
    size_t n = 0;

    at = at != NULL ? strstr(at, key) : NULL;
    at = at != NULL ? strchr(at, '[') : NULL;
    for (; at != NULL && n < 1024; n++) {
        char *end;
        double expected = strtod(at + 1, &end);
        float out[256];

        if (end == at + 1) {
            break;
        }
        read_block(blocks + n / 256 * k->bytes, k->source, out);
        worst = fmax(worst, fabs((double)out[n % 256] - expected));
        at = end;
    }
    OK(n == 1024 && worst < 2e-6, "%s of another packer: %zu weights are %.2g apart at most", key,
       n, worst);
}

static void test_fixtures(void)
{
    const char *root = getenv("INGOT_ASSETS");
    char path[2][512];
    struct bytes gguf, json;

    for (int i = 0; i < 2; i++) {
        snprintf(path[i], sizeof path[i], "%s/hf/tiny/tiny_kquant%s",
                 root != NULL ? root : "../shared/models", i == 0 ? ".gguf" : "_ref.json");
    }
    gguf = bytes_load(path[0]);
    json = bytes_load(path[1]);
    if (gguf.n != 6944 || json.n == 0) {
        OK(true, "tiny_kquant # SKIP not under INGOT_ASSETS");
    } else { /* a front of 352 bytes, 1024 floats, then 4 blocks each of Q4_K, Q5_K, Q6_K, Q2_K */
        const uint8_t *data = gguf.data + 352 + 4096;

        bytes_add(&json, "", 1);
        test_fixture((const char *)json.data, "\"Q4_K\"", data, &types[0]);
        data += 4 * types[0].bytes;
        test_fixture((const char *)json.data, "\"Q5_K\"", data, &types[2]);
        data += 4 * types[2].bytes;
        test_fixture((const char *)json.data, "\"Q6_K\"", data, &types[1]);
        data += 4 * types[1].bytes + 24; /* up to a multiple of 32 */
        test_fixture((const char *)json.data, "\"Q2_K\"", data, &types[4]);
    }
    bytes_free(&gguf);
    bytes_free(&json);
}

int main(void)
{
    test_worked_example();
    for (size_t i = 0; i < N_TYPES; i++) {
        test_three_ways(&types[i]);
        test_error(&types[i]);
        test_edges(&types[i]);
    }
    test_fixtures();
    return tap_done();
}
