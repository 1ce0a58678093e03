/* GGML's types as floats: a file of four K types beside the floats that ggml made of them, and for
 * the others blocks of random bytes beside the definition, written again element by element. */
#include <math.h>

#include "flash_image/quantize/dequantize.h"
#include "flash_image/quantize/quantize_table.h"
#include "flash_image/quantize/requantize.h"
#include "tests/unit/model_files.h"
#include "tests/unit/tap.h"

enum { ELEMENTS = 1024 };

/* Reads the numbers after "key": [ in a text; 0: none. */
static size_t json_floats(const struct bytes *b, const char *key, float *out)
{
    const char *at = memmem(b->data, b->n, key, strlen(key));
    size_t n = 0;

    at = at != NULL ? strchr(at, '[') : NULL;
    while (at != NULL && *at != ']' && n < ELEMENTS) {
        char *end;

        out[n++] = strtof(at + 1, &end);
        at = end;
    }
    return n;
}

static void test_fixture(const char *assets)
{
    static const struct {
        const char *key;
        enum source_type type;
        size_t offset; /* of its data, which begins at byte 352 */
    } tensors[] = {
        { "\"Q4_K\"", SOURCE_Q4_K, 4096 },
        { "\"Q5_K\"", SOURCE_Q5_K, 4672 },
        { "\"Q6_K\"", SOURCE_Q6_K, 5376 },
        { "\"Q2_K\"", SOURCE_Q2_K, 6240 },
    };
    char path[512];
    struct bytes file, json;

    snprintf(path, sizeof path, "%s/hf/tiny/tiny_kquant.gguf", assets);
    file = bytes_load(path);
    snprintf(path, sizeof path, "%s/hf/tiny/tiny_kquant_ref.json", assets);
    json = bytes_load(path);
    bytes_add(&json, "", 1);
    for (size_t i = 0; file.n == 6944 && i < sizeof tensors / sizeof tensors[0]; i++) {
        static float expected[ELEMENTS], ours[ELEMENTS];
        double worst = 0;

        for (size_t at = 0; at < ELEMENTS; at += 256) {
            dequantize_of(tensors[i].type)(file.data + 352 + tensors[i].offset +
                                               source_type_bytes(tensors[i].type, at),
                                           ours + at);
        }
        if (!OK(json_floats(&json, tensors[i].key, expected) == ELEMENTS,
                "%s: there are reference values", tensors[i].key)) {
            continue;
        }
        for (size_t at = 0; at < ELEMENTS; at++) {
            worst = fmax(worst, (double)fabsf(ours[at] - expected[at]));
        }
        OK(worst < 1e-6, "%s: the values are within %.2g of ggml's %d floats", tensors[i].key,
           worst, ELEMENTS);
    }
    bytes_free(&file);
    bytes_free(&json);
}

/* ---- the definitions once more: element c of a block ----------------------------------------- */

static double half(const uint8_t *p)
{
    return (double)load_f16(p);
}

static int five_bits(const uint8_t *high, const uint8_t *low, unsigned c)
{
    uint32_t bits = load_u32(high);
    int nibble = c < 16 ? low[c] % 16 : low[c - 16] / 16;

    return nibble + ((bits >> c) % 2 != 0 ? 16 : 0);
}

static double define_q4_1(const uint8_t *b, unsigned c)
{
    return half(b) * (c < 16 ? b[4 + c] % 16 : b[4 + c - 16] / 16) + half(b + 2);
}

static double define_q5_0(const uint8_t *b, unsigned c)
{
    return half(b) * (five_bits(b + 2, b + 6, c) - 16);
}

static double define_q5_1(const uint8_t *b, unsigned c)
{
    return half(b) * five_bits(b + 4, b + 8, c) + half(b + 2);
}

static double define_iq4_nl(const uint8_t *b, unsigned c)
{
    static const int values[] = { -127, -104, -83, -65, -49, -35, -22, -10,
                                  1,    13,   25,  38,  53,  69,  89,  113 };

    return half(b) * values[c < 16 ? b[2 + c] % 16 : b[2 + c - 16] / 16];
}

/* Each half of 128 reads its 32 bytes four times, two bits further each time. */
static double define_q2_k(const uint8_t *b, unsigned c)
{
    unsigned part = c / 16, which = c / 128, turn = c / 32 % 4;
    unsigned q = (unsigned)b[16 + 32 * which + c % 32] >> 2 * turn;

    return half(b + 80) * (b[part] % 16) * (double)(q % 4) - half(b + 82) * (b[part] / 16);
}

static double define_q3_k(const uint8_t *b, unsigned c)
{
    unsigned part = c / 16, which = c / 128, turn = c / 32 % 4;
    unsigned q = ((unsigned)b[32 + 32 * which + c % 32] >> 2 * turn) % 4;
    unsigned mask = 1u << (4 * which + turn);
    unsigned low = part < 8 ? b[96 + part] % 16u : b[96 + part - 8] / 16u;
    unsigned high = ((unsigned)b[104 + part % 4] >> 2 * (part / 4)) % 4;
    int scale = (int)(low + 16 * high) - 32;

    return half(b + 108) * scale * ((int)q - ((b[c % 32] & mask) != 0 ? 0 : 4));
}

/* The digits of a byte in base 3 are those of the least n with b >= n * 256 / 243; n's first digit is
 * worth 81. */
static double define_tq1_0(const uint8_t *b, unsigned c)
{
    static const int worth[] = { 81, 27, 9, 3, 1 };
    unsigned at = c < 160 ? c % 32 : c < 240 ? 32 + (c - 160) % 16 : 48 + (c - 240) % 4;
    unsigned digit = c < 160 ? c / 32 : c < 240 ? (c - 160) / 16 : (c - 240) / 4;
    int n = b[at] * 243 / 256;

    return half(b + 52) * (n / worth[digit] % 3 - 1);
}

static double define_tq2_0(const uint8_t *b, unsigned c)
{
    static const int worth[] = { 1, 4, 16, 64 };

    return half(b + 64) * (b[c / 128 * 32 + c % 32] / worth[c / 32 % 4] % 4 - 1);
}

static double define_q2_0(const uint8_t *b, unsigned c)
{
    static const int worth[] = { 1, 4, 16, 64 };

    return half(b) * (b[2 + c / 4] / worth[c % 4] % 4 - 1);
}

static double define_q1_0(const uint8_t *b, unsigned c)
{
    return (b[2 + c / 8] & 1 << c % 8) != 0 ? half(b) : -half(b);
}

static void random_block(uint8_t *block, size_t n, uint32_t *seed)
{
    for (size_t i = 0; i < n; i++) {
        next_weight(seed);
        block[i] = (uint8_t)(*seed >> 24);
    }
}

/* Makes the fp16 scales at these offsets finite. */
static void tame(uint8_t *block, const size_t scales[2])
{
    for (size_t i = 0; i < 2; i++) {
        block[scales[i] + 1] = (uint8_t)((block[scales[i] + 1] & 0x83) | 0x28);
    }
}

static void test_definitions(void)
{
    static const struct {
        enum source_type type;
        size_t scales[2];
        double (*define)(const uint8_t *block, unsigned c);
    } rows[] = {
        { SOURCE_Q4_1, { 0, 2 }, define_q4_1 },     { SOURCE_Q5_0, { 0, 0 }, define_q5_0 },
        { SOURCE_Q5_1, { 0, 2 }, define_q5_1 },     { SOURCE_Q2_K, { 80, 82 }, define_q2_k },
        { SOURCE_Q3_K, { 108, 108 }, define_q3_k }, { SOURCE_IQ4_NL, { 0, 0 }, define_iq4_nl },
        { SOURCE_TQ1_0, { 52, 52 }, define_tq1_0 }, { SOURCE_TQ2_0, { 64, 64 }, define_tq2_0 },
        { SOURCE_Q2_0, { 0, 0 }, define_q2_0 },     { SOURCE_Q2_0_128, { 0, 0 }, define_q2_0 },
        { SOURCE_Q1_0, { 0, 0 }, define_q1_0 },
    };
    uint32_t seed = 21;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint32_t n = source_type_block(rows[i].type);
        double worst = 0;

        for (int round = 0; round < 50; round++) {
            uint8_t block[256];
            float out[256];

            random_block(block, source_type_bytes(rows[i].type, n), &seed);
            tame(block, rows[i].scales);
            dequantize_of(rows[i].type)(block, out);
            for (unsigned c = 0; c < n; c++) {
                double exact = rows[i].define(block, c);

                worst = fmax(worst, fabs((double)out[c] - exact) / fmax(fabs(exact), 1.0));
            }
        }
        OK(worst < 1e-6, "%s: the values are within %.2g of their definition",
           source_type_name(rows[i].type), worst);
    }
}

/* Makes the scale in a random block a number, for types that are read only if --type asks for
 * it. */
static void tame_asked(enum source_type type, uint8_t *block)
{
    if (type == SOURCE_NVFP4) {
        for (unsigned i = 0; i < 4; i++) {
            block[i] &= 0x7f;
        }
    } else if (type == SOURCE_IQ1_M) {
        block[53] &= 0x3f;
        block[55] = (uint8_t)((block[55] & 0x8f) | 0x20);
    } else {
        block[1] = (uint8_t)((block[1] & 0x83) | 0x28);
    }
}

/* FNV-1a of the floats of 500 random blocks, little-endian. */
static uint64_t hash_of(enum source_type type)
{
    uint64_t hash = 0xcbf29ce484222325u;
    uint32_t x = 1, n = source_type_block(type);

    for (int round = 0; round < 500; round++) {
        uint8_t block[256], bytes[256 * sizeof(float)];
        float out[256];

        for (size_t i = 0; i < source_type_bytes(type, n); i++) {
            x = x * 1664525u + 1013904223u;
            block[i] = (uint8_t)(x >> 24);
        }
        tame_asked(type, block);
        dequantize_of(type)(block, out);
        memcpy(bytes, out, n * sizeof(float));
        for (size_t i = 0; i < n * sizeof(float); i++) {
            hash = (hash ^ bytes[i]) * 0x100000001b3u;
        }
    }
    return hash;
}

/* As GGML's own functions read the same blocks. */
static void test_asked(void)
{
    static const struct {
        enum source_type type;
        uint64_t hash;
    } rows[] = {
        { SOURCE_NVFP4, 0xee1ce55ac179ed6du },   { SOURCE_IQ1_S, 0xad06c00a51898e0du },
        { SOURCE_IQ1_M, 0xf426c3f7fb5ee454u },   { SOURCE_IQ2_XXS, 0x09252c039d5ad63bu },
        { SOURCE_IQ2_XS, 0xf047dbcce7f4ef5eu },  { SOURCE_IQ2_S, 0x4b83766e9a49f245u },
        { SOURCE_IQ3_XXS, 0xc9f7ad8022fea8e2u }, { SOURCE_IQ3_S, 0x657e1422eadbb7a5u },
    };
    uint8_t block[36] = { 0x00, 0x3c, 0xff, 0xff, 1, 0x80, 0x7f };
    float out[32];

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint64_t hash = hash_of(rows[i].type);

        OK(hash == rows[i].hash, "%s: the floats are those that GGML reads, bit for bit (%016llx)",
           source_type_name(rows[i].type), (unsigned long long)hash);
    }
    dequantize_of(SOURCE_Q8_1)(block, out);
    OK(out[0] == 1 && out[1] == -128 && out[2] == 127 && out[3] == 0,
       "Q8_1: the sum after the scale does not become a value");
}

/* A block converted without loss means the same. */
static void test_requantized(enum source_type from, enum ingot_type to, enum source_type as,
                             const size_t scales[2], double tolerance)
{
    uint32_t n = source_type_block(from), step = source_type_block(as);
    double errors = 0, squares = 0;
    uint32_t seed = 33;

    for (int round = 0; round < 50; round++) {
        uint8_t block[256], blocks[512];
        float before[256], after[256];

        random_block(block, source_type_bytes(from, n), &seed);
        tame(block, scales);
        dequantize_of(from)(block, before);
        requantize_of(from, to)(block, blocks);
        for (uint32_t c = 0; c < n; c += step) {
            dequantize_of(as)(blocks + source_type_bytes(as, c), after + c);
        }
        for (uint32_t c = 0; c < n; c++) {
            errors += pow((double)after[c] - (double)before[c], 2);
            squares += pow((double)before[c], 2);
        }
    }
    OK(errors <= tolerance * squares, "%s as %s: the error is NMSE %.2g", source_type_name(from),
       source_type_name(as), errors / squares);
}

/* Nibbles of 4-bit floats (sign, two bits of exponent from 1 / 2 on, one of mantissa) times 2^(e -
 * 127): as the format defines them, and in our blocks wherever fp16 holds half of the scale. */
static void test_mxfp4(void)
{
    static const int8_t values[16] = { 0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12 };
    static const double floats[8] = { 0, .5, 1, 1.5, 2, 3, 4, 6 };
    struct table_codec codec;
    bool right = true, same = true;
    uint32_t seed = 9;

    table_codec_make(&codec, values);
    for (int e = 0; e < 250; e++) { /* beyond, 6 * 2^(e - 127) is not a float */
        uint8_t block[17], ours[18];
        float out[32], again[32];

        random_block(block, sizeof block, &seed);
        block[0] = (uint8_t)e;
        dequantize_of(SOURCE_MXFP4)(block, out);
        requantize_of(SOURCE_MXFP4, INGOT_MXFP4)(block, ours);
        table_read_block(ours, &codec, 32, again);
        for (unsigned i = 0; i < 32; i++) {
            unsigned nibble = i < 16 ? block[1 + i] % 16 : block[1 + i - 16] / 16;
            double exact = ldexp(floats[nibble % 8], e - 127);

            right = right && (double)out[i] == (nibble < 8 ? exact : -exact);
        }
        same = same && ((e >= 104 && e <= 143) == (memcmp(out, again, sizeof out) == 0));
    }
    OK(right, "MXFP4 is what its 4-bit floats and powers of 2 say");
    OK(same, "GGML's MXFP4 and ours agree from 2^-24 to 2^15, and only there");
}

int main(void)
{
    static const size_t first[] = { 0, 0 }, tq1_0[] = { 52, 52 };
    const char *assets = getenv("INGOT_ASSETS");

    test_fixture(assets != NULL ? assets : "../shared/models");
    test_definitions();
    test_asked();
    test_requantized(SOURCE_Q5_0, INGOT_Q8_0, SOURCE_Q8_0, first, 0);
    test_requantized(SOURCE_IQ4_XS, INGOT_IQ4_NL, SOURCE_IQ4_NL, first, 1e-7);
    test_mxfp4();
    test_requantized(SOURCE_TQ1_0, INGOT_TQ2_0, SOURCE_TQ2_0, tq1_0, 0);
    test_requantized(SOURCE_Q2_0_128, INGOT_Q2_0, SOURCE_Q2_0, first, 0);
    test_requantized(SOURCE_Q2_0, INGOT_Q4_0, SOURCE_Q4_0, first, 0);
    test_requantized(SOURCE_Q2_0_128, INGOT_Q4_0, SOURCE_Q4_0, first, 0);
    test_requantized(SOURCE_Q1_0, INGOT_Q4_0, SOURCE_Q4_0, first, 0);
    return tap_done();
}
