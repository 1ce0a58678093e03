/* Shared by the quantizers of the K formats: scales of a super-block's parts are multiples of its
 * fp16 scale. */
#ifndef INGOT_FLASH_IMAGE_SUPER_BLOCK_H
#define INGOT_FLASH_IMAGE_SUPER_BLOCK_H

#include "flash_image/quantize/least_squares.h"

enum {
    SUPER = 256,
    SUPER_PARTS = 16,
    SUPER_PART = 32
}; /* elements, most parts, and most elements in a part */

/* Return a scale in fp16 with which `steps` steps reach `most`: the nearest number or, if that is
 * too small, the next one. */
static inline uint16_t super_scale_for(float most, float steps)
{
    uint16_t half = f16_from_f32(most / steps);

    if (most > 0.0f && most > f32_from_f16(half) * (steps + 0.5f)) {
        half++;
    }
    return half;
}

/* Return how many units are nearest to `wanted`, within least .. most; 0 if the unit is 0. */
static inline int super_in_units(float wanted, float unit, int32_t least, int32_t most)
{
    if (unit > 0.0f) {
        return fit_nearest(wanted / unit, least, most);
    }
    return 0;
}

static inline double super_ratio_or_0(double a, double b)
{
    if (b > 0) {
        return a / b;
    }
    return 0;
}

#endif
