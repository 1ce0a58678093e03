/* FIG4's published gates, and the quantizers of the types with a table against plain rules. */
#include <math.h>
#include <stdlib.h>

#include "flash_image/quantize/least_squares.h"
#include "flash_image/quantize/quantize_table.h"
#include "flash_image/source/source.h"
#include "kernels/kernels.h"
#include "kernels/ref/scalar.h"
#include "runtime/image/image.h"
#include "tests/unit/model_files.h"
#include "tests/unit/tap.h"

enum { ROWS = 96, COLS = 768 };

static float weights[ROWS * COLS], scratch[COLS];

/* Box and Muller's. */
static float next_normal(uint32_t *seed)
{
    double u = (double)next_weight(seed) / 2 + .5, v = (double)next_weight(seed);

    return (float)(.14 * sqrt(-2 * log(fmax(u, 1e-9))) * cos(3.14159265358979 * v));
}

static struct source_tensor bell_shaped(void)
{
    uint32_t seed = 78;

    for (size_t i = 0; i < ROWS * COLS; i++) {
        weights[i] = next_normal(&seed);
    }
    return (struct source_tensor){
        .data = (const uint8_t *)weights, .rows = ROWS, .cols = COLS, .type = SOURCE_F32
    };
}

struct loss {
    double squares, errors, stored, product;
};

static void add_loss(struct loss *l, const float *w, const float *stored)
{
    for (size_t i = 0; i < FIG4_COLS; i++) {
        double miss = (double)w[i] - (double)stored[i];

        l->squares += (double)w[i] * (double)w[i];
        l->stored += (double)stored[i] * (double)stored[i];
        l->product += (double)w[i] * (double)stored[i];
        l->errors += miss * miss;
    }
}

/* Takes the largest element as the scale, in f32, and the nearest value. */
static void plain_block(const float *w, const double values[16], float *stored)
{
    double scale = 1e-10;

    for (size_t i = 0; i < FIG4_COLS; i++) {
        scale = fmax(scale, fabs((double)w[i]));
    }
    for (size_t i = 0; i < FIG4_COLS; i++) {
        double best = values[0];

        for (size_t j = 1; j < 16; j++) {
            if (fabs(values[j] * scale - (double)w[i]) < fabs(best * scale - (double)w[i])) {
                best = values[j];
            }
        }
        stored[i] = (float)(best * scale);
    }
}

static void test_gates(void)
{
    static const double nf4[16] = { -1,    -.6962, -.5251, -.3949, -.2844, -.1848, -.0911, 0,
                                    .0796, .1609,  .2461,  .3379,  .4407,  .5626,  .7230,  1 };
    struct source_tensor t = bell_shaped();
    struct loss ours = { 0 }, theirs = { 0 }, plain = { 0 };
    struct table_codec codec;
    int8_t values[NIBBLES];
    double centres[16], rounded, end;
    bool fits = true;

    fig4_find_values(&t, NULL, scratch, values);
    table_codec_make(&codec, values);
    end = abs(values[0]) > abs(values[15]) ? abs(values[0]) : abs(values[15]);
    for (size_t i = 0; i < 16; i++) {
        centres[i] = values[i] / end;
    }
    for (size_t at = 0; at < ROWS * COLS; at += FIG4_COLS) {
        uint8_t block[66];
        float stored[FIG4_COLS];

        fits = quantize_block_fig4(weights + at, fit_ones, &codec, block) && fits;
        table_read_block(block, &codec, FIG4_COLS, stored);
        add_loss(&ours, weights + at, stored);
        plain_block(weights + at, nf4, stored);
        add_loss(&theirs, weights + at, stored);
        plain_block(weights + at, centres, stored);
        add_loss(&plain, weights + at, stored);
    }
    rounded = ours.product / sqrt(ours.squares * ours.stored);
    printf("# NMSE: NF4 %.5f, FIG4 with the largest as f32 scale %.5f, ours in fp16 %.5f\n",
           theirs.errors / theirs.squares, plain.errors / plain.squares,
           ours.errors / ours.squares);
    OK(fits && rounded >= 0.9948, "FIG4 of a bell has the cosine %.5f", rounded);
    OK(ours.errors <= (1 - .053) * theirs.errors && plain.errors < theirs.errors,
       "FIG4 has %.1f %% less squared error than NF4, %.1f with the scale searched for",
       100 * (1 - plain.errors / theirs.errors), 100 * (1 - ours.errors / theirs.errors));
    OK(end <= TABLE_NARROW && end >= .75 * TABLE_NARROW, "the outermost value is %.0f", end);
}

static double block_error(const float *w, const uint8_t *block, const struct table_codec *codec)
{
    float stored[32];
    double error = 0;

    table_read_block(block, codec, 32, stored);
    for (size_t i = 0; i < 32; i++) {
        error += pow((double)w[i] - (double)stored[i], 2);
    }
    return error;
}

static double least_error(const float *w, const struct table_codec *codec, double d)
{
    double error = 0;

    for (size_t i = 0; i < 32; i++) {
        double least = 1e30;

        for (size_t j = 0; j < 16; j++) {
            least = fmin(least, pow((double)w[i] - d * codec->values[j], 2));
        }
        error += least;
    }
    return error;
}

/* Tries many scales of either sign. */
static double least_of_scales(const float *w, const struct table_codec *codec)
{
    double largest = 0, least = 1e30;

    for (size_t i = 0; i < 32; i++) {
        largest = fmax(largest, fabs((double)w[i]));
    }
    for (int i = 0; i < 400; i++) {
        double d = largest / (80 + .2 * i);

        least = fmin(least, fmin(least_error(w, codec, d), least_error(w, codec, -d)));
    }
    return least;
}

static void test_blocks(void)
{
    struct ingot_tensor iq4 = { .type = INGOT_IQ4_NL }, mx = { .type = INGOT_MXFP4 };
    struct table_codec iq4_codec, mx_codec;
    double iq4_sum = 0, least = 0, mx_sum = 0, mx_least = 0;
    uint32_t seed = 5;
    bool fits = true;

    table_codec_make(&iq4_codec, image_tensor_values(&iq4));
    table_codec_make(&mx_codec, image_tensor_values(&mx));
    for (int n = 0; n < 300; n++) {
        double best = 1e30;
        uint8_t block[18];
        float w[32];

        for (size_t i = 0; i < 32; i++) {
            w[i] = next_normal(&seed);
        }
        fits = quantize_block_iq4_nl(w, fit_ones, &iq4_codec, block) && fits;
        iq4_sum += block_error(w, block, &iq4_codec);
        least += least_of_scales(w, &iq4_codec);
        fits = quantize_block_mxfp4(w, fit_ones, &mx_codec, block) && fits;
        mx_sum += block_error(w, block, &mx_codec);
        for (int e = -24; e < 16; e++) {
            best = fmin(best, least_error(w, &mx_codec, ldexp(1, e)));
        }
        mx_least += best;
    }
    OK(fits && iq4_sum < 1.02 * least, "IQ4_NL is %.1f %% above the least error of 800 scales",
       100 * (iq4_sum / least - 1));
    OK(mx_sum <= 1.001 * mx_least, "MXFP4 is %.2g %% above the least error of all powers of 2",
       100 * (mx_sum / mx_least - 1));
}

/* FORMAT.md's worked example: element (1, 101) of a group of FIG4. */
static void test_place(void)
{
    uint8_t blocks[8][66] = { { 0 } };
    const uint8_t *rows[8];
    struct block_fig4x8 group;

    for (size_t r = 0; r < 8; r++) {
        rows[r] = r < 7 ? blocks[r] : NULL;
    }
    blocks[1][1] = 0x3c;
    blocks[1][2 + 3 * 16 + 5] = 0x70;
    blocks[1][2 + 3 * 16 + 6] = 0x09;
    interleave_fig4(rows, &group);
    OK(group.d[1] == 0x3c00 && group.q[3][32 + 4 + 1] == 0x70 && group.q[3][32 + 4 + 2] == 9 &&
           group.d[7] == 0,
       "FIG4's elements lie where FORMAT.md says");
}

int main(void)
{
    float w[128] = { 1e9f }, tiny[128] = { 1e-30f };
    struct ingot_tensor iq4 = { .type = INGOT_IQ4_NL };
    struct table_codec codec;
    uint8_t block[66];

    test_gates();
    test_blocks();
    test_place();
    table_codec_make(&codec, image_tensor_values(&iq4));
    OK(!quantize_block_iq4_nl(w, fit_ones, &codec, block) &&
           !quantize_block_fig4(w, fit_ones, &codec, block) &&
           !quantize_block_mxfp4(w, fit_ones, &codec, block),
       "weights beyond every fp16 scale are refused");
    OK(quantize_block_iq4_nl(tiny, fit_ones, &codec, block) && block[0] == 0 && block[1] == 0,
       "weights below every fp16 scale become zeros");
    return tap_done();
}
