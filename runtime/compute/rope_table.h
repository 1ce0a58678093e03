/* Angles of rotary position embeddings, computed by our own routine: libm differs between C
 * libraries, but the logits must not differ. */
#ifndef INGOT_RUNTIME_ROPE_TABLE_H
#define INGOT_RUNTIME_ROPE_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* out[2i] = cos(position * base^(-2i/d) / factor[i]), out[2i+1] = sin(...), i < d/2, d even, as
 * f32; factors NULL: 1 throughout. Computed in binary64 with only +, -, *, / and fma, so every
 * machine gives the same bits; absolute error below 1e-7 (f32 rounding) for positions up to 2^20.
 * base > 1. */
void rope_table_row(float *out, uint32_t position, uint32_t d, float base, const float *factors);

#endif
