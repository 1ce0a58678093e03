/* The K formats: GGML blocks in their packed places, read back by a decoder written from
 * FORMAT.md alone, by the kernels' references and by the GGML side; and the quantizers' error. */
#include <math.h>

#include "flash_image/format.h"
#include "flash_image/quantize/least_squares.h"
#include "flash_image/quantize/quantize.h"
#include "flash_image/quantize/source_rows.h"
#include "flash_image/source/source.h"
#include "kernels/kernels.h"
#include "kernels/ref/scalar.h"
#include "tests/unit/model_files.h"
#include "tests/unit/tap.h"

enum { ROWS = 11, GROUPS = 2, BLOCKS = 3, COLS = BLOCKS * 256, Q4K = 144, Q6K = 210 };

static uint8_t q4k[ROWS * BLOCKS * Q4K], q6k[ROWS * BLOCKS * Q6K];
static uint8_t packed4[GROUPS * BLOCKS * 1152], packed6[GROUPS * BLOCKS * 1680];

/* ---- FORMAT.md, section 8, in bytes ---------------------------------------------------------- */

static float fp16_at(const uint8_t *p)
{
    return f32_from_f16((uint16_t)(p[0] | p[1] << 8));
}

static float format_q4k(size_t row, size_t col)
{
    const uint8_t *block = packed4 + (row / 8 * BLOCKS + col / 256) * 1152;
    size_t r = row % 8, c = col % 256, j = c / 32, p = c / 64, l = c % 32;
    uint8_t scale = block[32 + j * 8 + r];
    uint8_t mins = block[96 + j % 4 * 8 + r];
    uint8_t q = block[128 + p * 256 + l / 4 * 32 + r * 4 + l % 4];
    int min = scale >> 6 | (j < 4 ? mins & 15 : mins >> 4) << 2;
    int nibble = c % 64 < 32 ? q & 15 : q >> 4;

    return fmaf((float)((scale & 63) * nibble), fp16_at(block + 2 * r),
                -(fp16_at(block + 16 + 2 * r) * (float)min));
}

static float format_q6k(size_t row, size_t col)
{
    const uint8_t *block = packed6 + (row / 8 * BLOCKS + col / 256) * 1680;
    size_t r = row % 8, c = col % 256, j = c / 16, p = c / 64, l = c % 32;
    int scale = (int8_t)block[16 + j * 8 + r];
    uint8_t low = block[144 + p * 256 + l / 4 * 32 + r * 4 + l % 4];
    uint8_t high = block[1168 + c / 128 * 256 + l / 4 * 32 + r * 4 + l % 4];
    int q = (c % 64 < 32 ? low & 15 : low >> 4) | (high >> (c / 32 % 4 * 2) & 3) << 4;

    return (float)(scale * (q - 32)) * fp16_at(block + 2 * r);
}

/* ---- the same weights three ways ------------------------------------------------------------- */

/* Any bits but scales that are not finite. */
static void fill(uint8_t *blocks, size_t n, size_t bytes, size_t scale, size_t other)
{
    uint32_t seed = 17;

    for (size_t i = 0; i < n * bytes; i++) {
        blocks[i] = (uint8_t)(int)(next_weight(&seed) * 127.9f);
    }
    for (size_t i = 0; i < n; i++) {
        blocks[i * bytes + scale + 1] &= 0xbb;
        blocks[i * bytes + other + 1] &= 0xbb;
    }
}

static void pack_blocks(const uint8_t *blocks, size_t bytes, uint8_t *groups, size_t group_bytes,
                        void (*interleave)(const uint8_t *const blocks[8], void *group))
{
    memset(groups, 0xa5, GROUPS * BLOCKS * group_bytes);
    for (size_t i = 0; i < GROUPS * BLOCKS; i++) {
        const uint8_t *in[8];
        union { /* as aligned as the packer's buffer */
            struct block_q4kx8 q4;
            struct block_q6kx8 q6;
        } group;

        for (size_t r = 0; r < 8; r++) {
            size_t row = i / BLOCKS * 8 + r;

            in[r] = row < ROWS ? blocks + (row * BLOCKS + i % BLOCKS) * bytes : NULL;
        }
        interleave(in, &group);
        memcpy(groups + i * group_bytes, &group, group_bytes);
    }
}

static bool same(float a, float b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static void test_three_ways(bool four)
{
    struct source_tensor t = { .data = four ? q4k : q6k,
                               .rows = ROWS,
                               .cols = COLS,
                               .type = four ? SOURCE_Q4_K : SOURCE_Q6_K };
    static float kernel[COLS], ggml[COLS];
    bool format = true, source = true, zero = true;

    for (size_t row = 0; row < GROUPS * 8; row++) {
        if (four) {
            dequantize_f32_q4kx8_ref(kernel, packed4, row, COLS);
        } else {
            dequantize_f32_q6kx8_ref(kernel, packed6, row, COLS);
        }
        if (row < ROWS) {
            source_read_row(&t, (uint32_t)row, ggml);
        }
        for (size_t c = 0; c < COLS; c++) {
            format = format && same(kernel[c], four ? format_q4k(row, c) : format_q6k(row, c));
            source = source && (row >= ROWS || same(kernel[c], ggml[c]));
            zero = zero && (row < ROWS || kernel[c] == 0.0f);
        }
    }
    OK(format, "%s: the kernels read what FORMAT.md says", four ? "Q4_K" : "Q6_K");
    OK(source, "and that is what stood in GGML's blocks, bit for bit");
    OK(zero, "rows of padding are zeros");
}

static void test_layouts(void)
{
    fill(q4k, ROWS * BLOCKS, Q4K, 0, 2);
    fill(q6k, ROWS * BLOCKS, Q6K, 208, 208);
    pack_blocks(q4k, Q4K, packed4, 1152, interleave_q4k);
    pack_blocks(q6k, Q6K, packed6, 1680, interleave_q6k);
    test_three_ways(true);
    test_three_ways(false);
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
       "the worked example of FORMAT.md, Q4_K");
    OK(p6[5042] == 0x34 && p6[5043] == 0x12 && p6[5105] == 99 && p6[5477] == 0xd0 &&
           p6[6245] == 0x80,
       "and Q6_K");
}

/* ---- quantizers ------------------------------------------------------------------------------ */

static void read_block(const uint8_t *block, bool four, float out[256])
{
    struct source_tensor t = {
        .data = block, .rows = 1, .cols = 256, .type = four ? SOURCE_Q4_K : SOURCE_Q6_K
    };

    source_read_row(&t, 0, out);
}

/* NaN where the block is refused. */
static double block_error(const float w[256], bool four)
{
    uint8_t block[Q6K];
    float out[256];
    double error = 0;

    if (!(four ? quantize_block_q4k(w, fit_ones, block) : quantize_block_q6k(w, fit_ones, block))) {
        return (double)NAN;
    }
    read_block(block, four, out);
    for (size_t i = 0; i < 256; i++) {
        error += ((double)out[i] - (double)w[i]) * ((double)out[i] - (double)w[i]);
    }
    return error;
}

/* Without a search: the range of each part in even steps, and the scales rounded. */
static double plain_error(const float w[256], bool four)
{
    size_t n = four ? 32 : 16;
    double scale[16], min[16], most_scale = 0, most_min = 0, error = 0;

    for (size_t j = 0; j < 256 / n; j++) {
        double low = 0, high = 0, far = 0;

        for (size_t i = j * n; i < (j + 1) * n; i++) {
            low = fmin(low, (double)w[i]);
            high = fmax(high, (double)w[i]);
            far = fabs((double)w[i]) > fabs(far) ? (double)w[i] : far;
        }
        scale[j] = four ? (high - low) / 15 : far / -32;
        min[j] = four ? -low : 0;
        most_scale = fmax(most_scale, fabs(scale[j]));
        most_min = fmax(most_min, min[j]);
    }
    for (size_t i = 0; i < 256; i++) {
        double steps = four ? 63 : 127;
        double s = rint(scale[i / n] / (most_scale / steps)) * (most_scale / steps);
        double m = four ? rint(min[i / n] / (most_min / steps)) * (most_min / steps) : 0;
        double q = s != 0 ? rint(((double)w[i] + m) / s) : 0;
        double miss;

        q = four ? fmin(fmax(q, 0), 15) : fmin(fmax(q, -32), 31);
        miss = s * q - m - (double)w[i];
        error += miss * miss;
    }
    return error;
}

/* A sum of four is near enough to a bell; every 40th weight is four times as large, as a trained
 * model has them. */
static void bell(float w[256], float scale, uint32_t *seed)
{
    for (size_t i = 0; i < 256; i++) {
        float x = next_weight(seed) + next_weight(seed) + next_weight(seed) + next_weight(seed);

        w[i] = scale * (i % 40 == 39 ? 4 : 1) * x;
    }
}

static void test_error(bool four, double bound, double gain)
{
    double error = 0, plain = 0, all = 0;
    unsigned worse = 0;
    uint32_t seed = 23;

    for (int n = 0; n < 2000; n++) {
        float scale = ldexpf(1.0f, n % 16 - 10);
        float w[256];
        double e, p;

        bell(w, scale, &seed);
        e = block_error(w, four);
        p = plain_error(w, four);
        worse += !(e <= p);
        error += e / (double)(scale * scale);
        plain += p / (double)(scale * scale);
        for (size_t i = 0; i < 256; i++) {
            all += (double)(w[i] / scale) * (double)(w[i] / scale);
        }
    }
    OK(error / all < bound, "%s: NMSE %.3g, below %.3g", four ? "Q4_K" : "Q6_K", error / all,
       bound);
    OK(error < (1 - gain) * plain, "%.1f %% better than minimum and maximum rounded",
       100 * (1 - error / plain));
    OK(worse == 0, "and no block is worse (%u of 2000)", worse);
}

/* Blocks of one value, of values beyond fp16 in either direction, with a single weight. */
static void test_edges(bool four)
{
    static const float values[] = { 0.0f, -0.0f, 1.0f, -1.0f, 1e-3f, -3e-5f, 6e4f, -6e4f, 1e6f };
    const char *name = four ? "Q4_K" : "Q6_K";
    bool near = true;
    float w[256] = { 0 };

    for (size_t v = 0; v < sizeof values / sizeof values[0]; v++) {
        double square = 256.0 * (double)values[v] * (double)values[v];

        for (size_t i = 0; i < 256; i++) {
            w[i] = values[v];
        }
        near = near && block_error(w, four) <= 1e-4 * square;
    }
    OK(near, "%s: blocks of one value", name);
    memset(w, 0, sizeof w);
    w[77] = -0.7f;
    OK(block_error(w, four) < 1e-4, "a single weight");
    for (size_t i = 0; i < 256; i++) {
        w[i] = 1e-30f * (float)i;
    }
    OK(block_error(w, four) < 1e-50, "weights far below fp16 are nearly 0");
    for (size_t i = 0; i < 256; i++) {
        w[i] = 3e-7f * (float)((int)(i % 21) - 10);
    }
    OK(block_error(w, four) < 256 * 4e-14, "scales among fp16's smallest");
    w[3] = 3e38f;
    w[4] = -3e38f;
    OK(isnan(block_error(w, four)), "scales beyond fp16 are refused");
    w[3] = w[4] = -5e9f;
    OK(isnan(block_error(w, four)), "negative ones as well");
}

/* Blocks and floats of another implementation, where they are. */
static void test_fixture(const char *json, const char *key, const uint8_t *blocks, bool four)
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
        read_block(blocks + n / 256 * (four ? Q4K : Q6K), four, out);
        worst = fmax(worst, fabs((double)out[n % 256] - expected));
        at = end;
    }
    OK(n == 1024 && worst < 2e-6, "%s of another packer: %zu weights, at most %.2g apart", key, n,
       worst);
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
        test_fixture((const char *)json.data, "\"Q4_K\"", data, true);
        test_fixture((const char *)json.data, "\"Q6_K\"", data + 4 * (Q4K + 176),
                     false); /* 176: Q5_K */
    }
    bytes_free(&gguf);
    bytes_free(&json);
}

int main(void)
{
    test_layouts();
    test_worked_example();
    test_error(true, 7.5e-3, 0.1);
    test_error(false, 5.5e-4, 0.1);
    test_edges(true);
    test_edges(false);
    test_fixtures();
    return tap_done();
}
