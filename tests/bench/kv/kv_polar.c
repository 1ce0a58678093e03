/* polar_4b: of a block of 128 numbers the pairs (x[2i], x[2i+1]) as angle and radius, the last of an odd
 * number with a zero. Both over the range that they have in the block: fp16 scale and least of the
 * angles, of the radii, then two bits of angle and two of radius a pair. The range of the angles begins
 * after their widest gap, wherever on the circle that is.
 *
 * polar_r (PolarQuant, arXiv 2502.02617): a block of 128 is rotated at random; in groups of 16 pairs
 * become angle and radius, pairs of radii angle and radius again, until one radius is left, in fp16.
 * 4 bits for the first angles, which go round, and 2 for those of radii, within a quarter: 62 bits for
 * 16 numbers. The rest of a block is a group of 8, 4, 2 or 1. An angle is the one of its table on
 * whose ray the pair has the longest projection, and that is the radius that goes on. */
#include <math.h>
#include <string.h>

#include "board/min_max.h"
#include "tests/bench/kv/kv_code.h"

enum { BLOCK = 128 };

/* ---- angles, by +, -, *, / and sqrt alone: the same bits everywhere ------------------------------ */

#define PI 3.14159265358979323846

/* For 0 <= x <= 1: halves x twice, then computes the series. */
static double arc_tangent(double x)
{
    double sum = 0.0, power;

    /* tan(a / 2) = tan a / (1 + sqrt(1 + tan^2 a)). */
    x = x / (1.0 + sqrt(1.0 + x * x));
    x = x / (1.0 + sqrt(1.0 + x * x));
    power = x;
    /* x - x^3/3 + x^5/5 - ..., two terms at a time; x is below 0.2. */
    for (int k = 1; k < 32; k += 4) {
        sum += power / k - power * x * x / (k + 2);
        power *= x * x * x * x;
    }
    return 4.0 * sum;
}

/* Returns the angle of (x, y), in [0, 2 pi). */
static float angle_of(double x, double y)
{
    double a = fabs(x), b = fabs(y), angle;

    if (a <= 0.0 && b <= 0.0) {
        return 0.0f;
    }
    /* Computes the first octant, then the quadrant and the half by symmetry. */
    angle = b <= a ? arc_tangent(b / a) : PI / 2 - arc_tangent(a / b);
    angle = x < 0.0 ? PI - angle : angle;
    return (float)(y < 0.0 ? 2 * PI - angle : angle);
}

/* Compute cos x and sin x for |x| < 4 pi, by their series. */
static void cos_sin(float pair[2], double x)
{
    double term = 1.0, sum[2] = { 0.0, 0.0 };

    for (int k = 0; k < 64; k++) {
        sum[k % 2] += k % 4 < 2 ? term : -term;
        term *= x / (k + 1);
    }
    pair[0] = (float)sum[0];
    pair[1] = (float)sum[1];
}

/* ---- polar_4b --------------------------------------------------------------------------------- */

enum { PAIRS = BLOCK / 2, LEVELS = 4, RANGE_BYTES = 4 };

static uint32_t bytes_4b(uint32_t n)
{
    return 2 * RANGE_BYTES + ((n + 1) / 2 + 1) / 2;
}

/* Finds scale and least number of a range, and each number's level: bits at, at + 4, ... of
 * `levels`. */
static void put_range(uint8_t *to, uint8_t *levels, uint32_t at, const float *x, uint32_t n)
{
    float min = x[0], max = x[0], scale;

    for (uint32_t i = 1; i < n; i++) {
        min = min_float(x[i], min);
        max = max_float(x[i], max);
    }
    kv_put_half(to, (max - min) / LEVELS);
    kv_put_half(to + 2, min);
    /* Levels are chosen for the numbers that the reader will see, rounded to fp16. */
    scale = kv_get_half(to);
    min = kv_get_half(to + 2);
    for (uint32_t i = 0; i < n; i++) {
        float q = scale > 0.0f ? floorf((x[i] - min) / scale) : 0.0f;

        kv_put_bits(levels, 4 * i + at, 2, (uint32_t)max_float(min_float(q, LEVELS - 1), 0.0f));
    }
}

static float of_range(const uint8_t *from, uint32_t level)
{
    return fmaf((float)level + 0.5f, kv_get_half(from), kv_get_half(from + 2));
}

/* Sorts angles so that they begin after the widest gap and their range is the smallest; they may
 * pass 2 pi. */
static void begin_after_gap(float *angles, uint32_t n)
{
    const float turn = (float)(2 * PI);
    float widest = -1.0f, first = angles[0];

    /* Finds for each angle the next one in the circle, and the gap to it. */
    for (uint32_t i = 0; i < n; i++) {
        float gap = turn, next = angles[i];

        for (uint32_t j = 0; j < n; j++) {
            float step = angles[j] - angles[i];

            step = step < 0.0f ? step + turn : step;
            if (j != i && step < gap) {
                gap = step;
                next = angles[j];
            }
        }
        /* The range begins at the far side of the widest gap. */
        if (gap > widest) {
            widest = gap;
            first = next;
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        angles[i] = angles[i] < first ? angles[i] + turn : angles[i];
    }
}

static void encode_4b(uint8_t *to, const float *x, uint32_t n)
{
    float angles[PAIRS], radii[PAIRS];
    uint8_t *levels = to + 2 * RANGE_BYTES;
    uint32_t n_pairs = (n + 1) / 2;

    for (uint32_t i = 0; i < n_pairs; i++) {
        float a = x[2 * i], b = 2 * i + 1 < n ? x[2 * i + 1] : 0.0f;

        angles[i] = angle_of((double)a, (double)b);
        radii[i] = sqrtf(fmaf(a, a, b * b));
    }
    begin_after_gap(angles, n_pairs);
    put_range(to, levels, 0, angles, n_pairs);
    put_range(to + RANGE_BYTES, levels, 2, radii, n_pairs);
}

static void decode_4b(float *x, const uint8_t *from, uint32_t n)
{
    const uint8_t *levels = from + 2 * RANGE_BYTES;
    float ray[LEVELS][2], radius[LEVELS];

    /* Four rays and four radii serve the whole block. */
    for (uint32_t l = 0; l < LEVELS; l++) {
        cos_sin(ray[l], (double)of_range(from, l));
        radius[l] = of_range(from + RANGE_BYTES, l);
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t pair = kv_get_bits(levels, i / 2 * 4, 4);

        x[i] = radius[pair / LEVELS] * ray[pair % LEVELS][i % 2];
    }
}

const struct kv_code kv_code_polar_4b = { BLOCK, bytes_4b, encode_4b, decode_4b };

/* ---- polar_r ---------------------------------------------------------------------------------- */

enum { GROUP = 16, RADIUS_BITS = 16, FIRST = 16, LATER = 4 };

/* Rays: cosine and sine of the middles of 16 equal parts of the circle, and of the angles that are best
 * for radii of 2, 4 and 8 normal numbers each (density sin^1, sin^3, sin^7 of twice the angle). */
static const float first_rays[FIRST / 4][2] = { { .9807853f, .1950903f },
                                                { .8314696f, .5555702f },
                                                { .5555702f, .8314696f },
                                                { .1950903f, .9807853f } };
static const float later_rays[3][LATER][2] = {
    { { .9523438f, .3050268f },
      { .8056340f, .5924136f },
      { .5924136f, .8056340f },
      { .3050268f, .9523438f } },
    { { .9104246f, .4136750f },
      { .7810479f, .6244711f },
      { .6244711f, .7810479f },
      { .4136750f, .9104246f } },
    { { .8656486f, .5006521f },
      { .7609979f, .6487543f },
      { .6487543f, .7609979f },
      { .5006521f, .8656486f } },
};

/* Returns ray `index` of a level of the tree. The first angles go round, a quarter after the
 * other. */
static void ray_of(float ray[2], uint32_t level, uint32_t index)
{
    const float *r = level == 0 ? first_rays[index % 4] : later_rays[level - 1][index % LATER];

    ray[0] = r[0];
    ray[1] = r[1];
    for (uint32_t quarter = level == 0 ? index / 4 : 0; quarter > 0; quarter--) {
        float was = ray[0];

        ray[0] = -ray[1];
        ray[1] = was;
    }
}

static uint32_t angle_bits(uint32_t level)
{
    return level == 0 ? 4 : 2;
}

/* Encodes a group of n, a power of two. */
static uint32_t group_bits(uint32_t n)
{
    uint32_t bits = RADIUS_BITS;

    for (uint32_t level = 0; n > 1; level++) {
        n /= 2;
        bits += n * angle_bits(level);
    }
    return bits;
}

/* Returns the length of the next group of a block of which n numbers are left. */
static uint32_t group_of(uint32_t n)
{
    uint32_t group = GROUP;

    while (group > n) {
        group /= 2;
    }
    return group;
}

static uint32_t bytes_r(uint32_t n)
{
    uint32_t bits = 0;

    for (; n > 0; n -= group_of(n)) {
        bits += group_bits(group_of(n));
    }
    return (bits + 7) / 8;
}

/* Returns the ray on which a pair has its longest projection, which becomes *radius. */
static uint32_t best_ray(const float pair[2], uint32_t level, float *radius)
{
    uint32_t best = 0;

    for (uint32_t i = 0; i < 1u << angle_bits(level); i++) {
        float ray[2], length;

        ray_of(ray, level, i);
        length = fmaf(pair[0], ray[0], pair[1] * ray[1]);
        if (i == 0 || length > *radius) {
            *radius = length;
            best = i;
        }
    }
    return best;
}

/* Uses up x (n). The group begins at bit `at`: radius, then angles, the first before the later. */
static void put_group(uint8_t *to, uint32_t at, float *x, uint32_t n)
{
    uint32_t next = at + RADIUS_BITS;
    uint8_t half[2];

    for (uint32_t level = 0; n > 1; level++) {
        n /= 2;
        for (uint32_t i = 0; i < n; i++, next += angle_bits(level)) {
            float pair[2] = { x[2 * i], x[2 * i + 1] };

            kv_put_bits(to, next, angle_bits(level), best_ray(pair, level, &x[i]));
        }
    }
    kv_put_half(half, x[0]);
    kv_put_bits(to, at, 8, half[0]);
    kv_put_bits(to, at + 8, 8, half[1]);
}

/* Decodes from the last radius down. */
static void get_group(float *x, const uint8_t *from, uint32_t at, uint32_t n)
{
    uint8_t half[2] = { (uint8_t)kv_get_bits(from, at, 8), (uint8_t)kv_get_bits(from, at + 8, 8) };
    uint32_t end = at + group_bits(n), level = 0;

    while (2u << level < n) {
        level++;
    }
    x[0] = kv_get_half(half);
    for (uint32_t width = 1; width < n; width *= 2, level--) {
        end -= width * angle_bits(level);
        for (uint32_t i = width; i-- > 0;) {
            float ray[2], radius = x[i];

            ray_of(ray, level, kv_get_bits(from, end + i * angle_bits(level), angle_bits(level)));
            x[2 * i] = radius * ray[0];
            x[2 * i + 1] = radius * ray[1];
        }
    }
}

static void encode_r(uint8_t *to, const float *x, uint32_t n)
{
    float y[BLOCK], *group = y;
    uint32_t at = 0;

    memcpy(y, x, n * sizeof *y);
    kv_turn(y, n);
    while (n > 0) {
        uint32_t width = group_of(n);

        put_group(to, at, group, width);
        at += group_bits(width);
        group += width;
        n -= width;
    }
}

static void decode_r(float *x, const uint8_t *from, uint32_t n)
{
    uint32_t at = 0, done = 0;

    while (done < n) {
        uint32_t width = group_of(n - done);

        get_group(x + done, from, at, width);
        at += group_bits(width);
        done += width;
    }
    kv_turn_back(x, n);
}

const struct kv_code kv_code_polar_r = { BLOCK, bytes_r, encode_r, decode_r };
