/* Angles against libm's, which is right to the last bit of a double here. */
#include <math.h>
#include <stdint.h>

#include "runtime/compute/rope_table.h"
#include "tests/unit/tap.h"

static double worst_error(uint32_t position, uint32_t d, float base)
{
    float row[512];
    double worst = 0.0;

    rope_table_row(row, position, d, base, NULL);
    for (uint32_t i = 0; i < d / 2; i++) {
        double angle = (double)position * pow((double)base, -2.0 * i / (double)d);
        double c = fabs((double)row[2 * i] - cos(angle));
        double s = fabs((double)row[2 * i + 1] - sin(angle));

        worst = c > worst ? c : worst;
        worst = s > worst ? s : worst;
    }
    return worst;
}

int main(void)
{
    static const float bases[] = { 10000.0f, 500000.0f, 1000000.0f, 1.5f };
    static const uint32_t sizes[] = { 2, 8, 64, 80, 128, 512 };

    for (size_t b = 0; b < sizeof bases / sizeof bases[0]; b++) {
        double worst = 0.0;

        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            for (uint32_t p = 0; p < 1048576; p = p < 600 ? p + 1 : p * 5 / 4 + 1) {
                double e = worst_error(p, sizes[s], bases[b]);

                worst = e > worst ? e : worst;
            }
        }
        OK(worst < 1e-7, "base %.1f: the largest error is %.3g up to position 2^20",
           (double)bases[b], worst);
    }
    return tap_done();
}
