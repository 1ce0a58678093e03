/* Types of GGUF files whose groups of weights are points of a codebook. No kernel computes with
 * these types: they are read as floats if --type names another type. */
#ifndef INGOT_FLASH_IMAGE_CODEBOOKS_H
#define INGOT_FLASH_IMAGE_CODEBOOKS_H

#include <stdint.h>

/* Points of eight coordinates of 2 bits: 0, 1, 2 mean -1, 0, 1 in IQ1, and 8, 25, 43 in IQ2. */
extern const uint16_t codebook_iq1[2048], codebook_iq2_xxs[256], codebook_iq2_xs[512],
    codebook_iq2_s[1024];

/* Entries of four coordinates of 3 bits. */
extern const uint16_t codebook_iq3_xxs[256], codebook_iq3_s[512];

/* Convert one block of 256 elements to floats, for dequantize_of(). */
void dequantize_iq1_s(const uint8_t *block, float *out);
void dequantize_iq1_m(const uint8_t *block, float *out);
void dequantize_iq2_xxs(const uint8_t *block, float *out);
void dequantize_iq2_xs(const uint8_t *block, float *out);
void dequantize_iq2_s(const uint8_t *block, float *out);
void dequantize_iq3_xxs(const uint8_t *block, float *out);
void dequantize_iq3_s(const uint8_t *block, float *out);

#endif
