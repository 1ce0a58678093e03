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

void kv_rotate(float *x, uint32_t n, uint32_t d, uint32_t block)
{
    float scale = 1.0f / sqrtf((float)block);

    if (block > 1) {
        hadamard_f32_ref(x, (size_t)n * d, block);
        for (size_t i = 0; i < (size_t)n * d; i++) {
            x[i] *= scale;
        }
    }
}

void kv_rotate_heads(const struct kernels *k, float *x, uint32_t n, uint32_t d, uint32_t block)
{
    size_t numbers = (size_t)n * d;

    if (block > 1) {
        k->hadamard_f32(x, numbers, block);
        k->scale_f32(x, x, numbers, 1.0f / sqrtf((float)block));
    }
}
