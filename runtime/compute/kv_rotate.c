#include "runtime/compute/kv_rotate.h"

#include <math.h>

enum { LEAST = 64, MOST = 512 };

uint32_t kv_rotation(uint32_t d)
{
    uint32_t block = d & -d;

    if (block < LEAST) {
        return 1;
    }
    return block < MOST ? block : MOST;
}

static void add_and_subtract(float *x, uint32_t block, uint32_t stride)
{
    for (uint32_t at = 0; at < block; at += 2 * stride) {
        for (uint32_t i = at; i < at + stride; i++) {
            float a = x[i], b = x[i + stride];

            x[i] = a + b;
            x[i + stride] = a - b;
        }
    }
}

static void rotate_block(float *x, uint32_t block)
{
    float scale = 1.0f / sqrtf((float)block);

    for (uint32_t stride = 1; stride < block; stride *= 2) {
        add_and_subtract(x, block, stride);
    }
    for (uint32_t i = 0; i < block; i++) {
        x[i] *= scale;
    }
}

void kv_rotate(float *x, uint32_t n, uint32_t d, uint32_t block)
{
    for (uint32_t at = 0; at < n * d && block > 1; at += block) {
        rotate_block(x + at, block);
    }
}
