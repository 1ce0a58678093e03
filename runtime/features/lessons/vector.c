#include "runtime/features/lessons/vector.h"

#include <math.h>

#include "kernels/ref/scalar.h"

float vector_dot(const float *x, const float *y, size_t n)
{
    float lane[16] = { 0 };
    size_t i = 0;

    for (; i + 16 <= n; i += 16) {
        for (size_t k = 0; k < 16; k++) {
            lane[k] += x[i + k] * y[i + k];
        }
    }
    for (size_t k = 0; i + k < n; k++) {
        lane[k] += x[i + k] * y[i + k];
    }
    return fold16(lane);
}

void vector_add(float *y, const float *x, float a, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        y[i] += a * x[i];
    }
}

void vector_scale(float *x, float a, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        x[i] *= a;
    }
}

/* Check for an exponent whose bits are all ones; this works whatever the compiler's flags say about
 * NaN. */
bool vector_is_finite(const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if ((f32_bits(x[i]) & 0x7f800000u) == 0x7f800000u) {
            return false;
        }
    }
    return true;
}

bool vector_normalize(float *x, size_t n)
{
    float square = vector_dot(x, x, n);

    if (!(square > 0.0f) || !vector_is_finite(&square, 1)) {
        return false;
    }
    vector_scale(x, 1.0f / sqrtf(square), n);
    return true;
}

/* Use Numerical Recipes' generator, whose upper 24 bits are exact in a float. */
void vector_random(float *x, size_t n, float size, unsigned *seed)
{
    for (size_t i = 0; i < n; i++) {
        *seed = *seed * 1664525u + 1013904223u;
        x[i] = ((float)(*seed >> 8) * 0x1p-23f - 1.0f) * size;
    }
}
