/* Rewrites blocks of types without kernels as blocks of a type that represents them without loss:
 * the same integers and scales, in more bits. */
#ifndef INGOT_FLASH_IMAGE_REQUANTIZE_H
#define INGOT_FLASH_IMAGE_REQUANTIZE_H

#include "flash_image/source/source.h"

/* Find the function that rewrites one block of `from` (source_type_block() elements) as blocks of
 * `to`; NULL: it would lose precision. Q5_0 becomes Q8_0; IQ4_XS becomes IQ4_NL (scales are rounded
 * to fp16); MXFP4 becomes our MXFP4 (scales become fp16); TQ1_0 becomes TQ2_0; Q2_0 and Q1_0 become
 * Q4_0. */
typedef void requantize_block_fn(const uint8_t *in, uint8_t *out);
requantize_block_fn *requantize_of(enum source_type from, enum ingot_type to);

/* The scale of part j of a block of IQ4_XS. */
float requantize_scale_iq4_xs(const uint8_t *block, unsigned j);

#endif
