/* Converts GGML's blocks to floats: the values of a quantized GGUF, exactly as ggml defines
 * them. */
#ifndef INGOT_FLASH_IMAGE_DEQUANTIZE_H
#define INGOT_FLASH_IMAGE_DEQUANTIZE_H

#include <stdint.h>

#include "flash_image/source/source.h"

/* Find the function that converts one block (source_type_block() elements) of the type; NULL: it
 * has no blocks. */
typedef void dequantize_block_fn(const uint8_t *block, float *out); /* converts one block */
dequantize_block_fn *dequantize_of(enum source_type type);

/* Element i of 32 in 16 bytes: 0 .. 15 are the low nibbles, 16 .. 31 the high ones. */
static inline int dequantize_nibble(const uint8_t *q, unsigned i)
{
    return q[i % 16] >> i / 16 * 4 & 15;
}

/* Read the scale and the min of part j (32 columns) of Q4_K or Q5_K. They have 6 bits each; 12
 * bytes at s hold those of all parts. */
void dequantize_scale_min(const uint8_t *s, unsigned j, int *scale, int *min);

/* Return the scale of part j of Q3_K, -32 .. 31, from the 12 bytes of scales. */
int dequantize_scale_q3k(const uint8_t *s, unsigned j);

/* Element c of a block of Q3_K, -4 .. 3. */
int dequantize_value_q3k(const uint8_t *block, unsigned c);

/* The 16 values of IQ4_NL and IQ4_XS. */
extern const int8_t dequantize_iq4[16];

/* Return element i of the quants q, a number from 0 to 2: for TQ2_0 from two bits, for TQ1_0
 * from a base-3 digit. */
int dequantize_two(const uint8_t *q, unsigned i);
int dequantize_trit(const uint8_t *q, unsigned i);

#endif
