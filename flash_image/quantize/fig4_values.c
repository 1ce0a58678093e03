/* The table of a FIG4 tensor. One pass over the weights makes a histogram, on which the steps of
 * k-means take almost no time. Bins are 1 / 8192 wide; two centres are about .08 apart. */
#include <math.h>
#include <string.h>

#include "flash_image/quantize/quantize_table.h"
#include "flash_image/quantize/source_rows.h"
#include "flash_image/source/map_file.h"

enum { BINS = 16384, STEPS = 8, UNITS = 200, LARGE_BYTES = 1 << 20 };

/* weight: sum of the importance of all values below a bin's end; sum: their weighted sum. */
struct histogram {
    double weight[BINS + 1], sum[BINS + 1];
};

static size_t bin_of(double x)
{
    double at = (x + 1) * (BINS / 2);

    if (at <= 0) {
        return 0;
    }
    return at < BINS ? (size_t)at : BINS - 1;
}

/* The largest magnitude of a group, in floats: GCC 12.2 for arm64 fails with an internal error
 * (vect_transform_reduction) if it vectorizes this maximum over floats that are widened to double
 * first. */
static float largest_of(const float *w)
{
    float largest = 0;

    for (size_t i = 0; i < FIG4_COLS; i++) {
        largest = fmaxf(largest, fabsf(w[i]));
    }
    return largest;
}

static void add_group(struct histogram *hist, const float *w, const float *h)
{
    double scale = fmax(1e-10, (double)largest_of(w));

    for (size_t i = 0; i < FIG4_COLS; i++) {
        double x = (double)w[i] / scale, weight = scale * scale * (h != NULL ? (double)h[i] : 1);

        if (isfinite(w[i])) { /* a weight that is not finite is refused later */
            hist->weight[bin_of(x) + 1] += weight;
            hist->sum[bin_of(x) + 1] += weight * x;
        }
    }
}

/* Add the rows of a tensor; releases a file's pages after reading them. */
static void add_rows(struct histogram *hist, const struct source_tensor *t, const float *h,
                     float *row)
{
    bool large = source_type_bytes(t->type, (uint64_t)t->rows * t->cols) >= LARGE_BYTES;
    const uint8_t *kept = t->data;

    for (uint32_t r = 0; r < t->rows; r++) {
        source_read_row(t, r, row);
        for (uint32_t c = 0; c < t->cols; c += FIG4_COLS) {
            add_group(hist, row + c, h != NULL ? h + c : NULL);
        }
        if (large && t->stride == 0) {
            map_release(&kept, source_row_data(t, r), r + 1 == t->rows);
        }
    }
}

/* Replace the sums of each bin by the sums over this bin and all bins below it. */
static void add_up(struct histogram *hist)
{
    for (size_t i = 0; i < BINS; i++) {
        hist->weight[i + 1] += hist->weight[i];
        hist->sum[i + 1] += hist->sum[i];
    }
}

/* Move each centre, in ascending order, to the mean of the weights nearest to it; a centre without
 * weights stays. */
static void step(const struct histogram *hist, double centres[NIBBLES])
{
    size_t first = 0;

    for (size_t i = 0; i < NIBBLES; i++) {
        size_t last = i + 1 < NIBBLES ? bin_of((centres[i] + centres[i + 1]) / 2) : BINS;
        double weight = hist->weight[last] - hist->weight[first];

        if (last > first && weight > 0) {
            centres[i] = (hist->sum[last] - hist->sum[first]) / weight;
        }
        first = last;
    }
}

/* Return the squared error that is added by rounding the centres to integers of `unit`. */
static double rounding_error(const struct histogram *hist, const double centres[NIBBLES],
                             double unit)
{
    double error = 0;
    size_t first = 0;

    for (size_t i = 0; i < NIBBLES; i++) {
        size_t last = i + 1 < NIBBLES ? bin_of((centres[i] + centres[i + 1]) / 2) : BINS;
        double miss = centres[i] - rint(centres[i] * unit) / unit;

        error += (hist->weight[last] - hist->weight[first]) * miss * miss;
        first = last;
    }
    return error;
}

/* The centre nearest to 0 becomes 0, and the others become integers. The unit of these integers is
 * the one of several with the least error, because a table that ends below TABLE_NARROW may fit the
 * centres better. Within TABLE_NARROW, kernels without a dot product are faster, and the squared
 * error is 1 % larger than within 127 (docs/experiments/table-types.md). */
static void round_centres(const struct histogram *hist, double centres[NIBBLES],
                          int8_t values[NIBBLES])
{
    size_t zero = 0;
    double largest = 0, best;

    for (size_t i = 0; i < NIBBLES; i++) {
        largest = fmax(largest, fabs(centres[i]));
        if (fabs(centres[i]) < fabs(centres[zero])) {
            zero = i;
        }
    }
    centres[zero] = 0;
    best = TABLE_NARROW / largest;
    for (int i = 1; i < UNITS; i++) {
        double unit = (TABLE_NARROW + .49 - i * (TABLE_NARROW / 4.0 / UNITS)) / largest;

        if (rounding_error(hist, centres, unit) < rounding_error(hist, centres, best)) {
            best = unit;
        }
    }
    for (size_t i = 0; i < NIBBLES; i++) {
        values[i] = (int8_t)lrint(centres[i] * best);
    }
}

void fig4_find_values(const struct source_tensor *t, const float *h, float *row,
                      int8_t values[NIBBLES])
{
    static struct histogram hist;
    double centres[NIBBLES] = { -1,    -.6962, -.5251, -.3949, -.2844, -.1848, -.0911, 0,
                                .0796, .1609,  .2461,  .3379,  .4407,  .5626,  .7230,  1 };

    memset(&hist, 0, sizeof hist);
    for (uint32_t i = 0; i < max_u32(t->stack, 1); i++) {
        struct source_tensor one = t->stack != 0 ? source_expert(t, i) : *t;

        add_rows(&hist, &one, h, row);
    }
    add_up(&hist);
    for (int i = 0; i < STEPS; i++) {
        step(&hist, centres);
    }
    round_centres(&hist, centres, values);
}
