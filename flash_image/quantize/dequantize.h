/* Converts GGML's blocks to floats: the values of a quantized GGUF, exactly as ggml defines
 * them. */
#ifndef INGOT_FLASH_IMAGE_DEQUANTIZE_H
#define INGOT_FLASH_IMAGE_DEQUANTIZE_H

#include <stdint.h>

#include "flash_image/source/source.h"

/* Find the function that converts one block (source_type_block() elements) of the type; NULL: it
 * has no blocks. */
typedef void dequantize_block_fn(const uint8_t *block, float *out); /* a function, for the table */
dequantize_block_fn *dequantize_of(enum source_type type);

/* Element i of 32 in 16 bytes: 0 .. 15 are the low nibbles, 16 .. 31 the high ones. */
static inline int dequantize_nibble(const uint8_t *q, unsigned i)
{
    return q[i % 16] >> i / 16 * 4 & 15;
}

/* Read scale and min of part j (32 columns) of a K format from the 12 bytes that store them, in 6
 * bits each. */
void dequantize_scale_min(const uint8_t *s, unsigned j, int *scale, int *min);

/* Scale of part j of Q3_K, -32 .. 31, from its 12 bytes. */
int dequantize_scale_q3k(const uint8_t *s, unsigned j);

/* Element c of a block of Q3_K, -4 .. 3. */
int dequantize_value_q3k(const uint8_t *block, unsigned c);

/* The 16 values of IQ4_NL and IQ4_XS. */
extern const int8_t dequantize_iq4[16];

/* The two bits of element i of TQ2_0, whose quants are q; or the digit, 0 .. 2, of element i of
 * TQ1_0. */
int dequantize_two(const uint8_t *q, unsigned i);
int dequantize_trit(const uint8_t *q, unsigned i);

#endif
