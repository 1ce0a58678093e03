/* The memory layouts that kernels take, each defined once: weights, activations, the sizes of a
 * gemm, rows of scores. Assembly uses the numbers, C the structs; static assertions after each
 * struct check that both agree. flash_image/format/ writes the same weights to files, so their
 * layouts change only with the version of the format. Numbers are little-endian. */
#ifndef INGOT_KERNELS_BLOCKS_H
#define INGOT_KERNELS_BLOCKS_H

/* Columns in a block of the plain formats (Q8_0, Q4_0, Q4_1, Q5_0, Q5_1) and of the K formats (Q2_K
 * to Q6_K). */
#define COLS_LOG2 5
#define COLS_K_LOG2 8
#define BLOCK_COLS (1 << COLS_LOG2)
#define BLOCK_K_COLS (1 << COLS_K_LOG2)

/* Types whose nibbles are indices into a table of values; in FIG4 128 columns share a scale. */
#define NIBBLES 16
#define FIG4_COLS_LOG2 7
#define FIG4_COLS (1 << FIG4_COLS_LOG2)

/* Weights: the blocks of GROUP_ROWS rows form one group, which stores CHUNK_COLS columns of each
 * row, then the next columns. */
#define GROUP_ROWS 8
#define CHUNK_COLS 4

/* Weights: struct block_q8x8, block_q4x8, block_q4kx8 and so on. The fp16 scales come first. */
#define Q8X8_BYTES 272
#define Q4X8_BYTES 144
#define QUANTS 16 /* offset of q[] in all of these */
#define FIG4_BYTES 528
#define Q41_BYTES 160
#define Q41_MINS 16
#define Q41_QUANTS 32
#define Q50_BYTES 176
#define Q50_HIGH 16
#define Q50_QUANTS 48
#define Q51_BYTES 192
#define Q51_MINS 16
#define Q51_HIGH 32
#define Q51_QUANTS 64
/* Offsets that several types share: dmin of the types with minima; K45: scales,
 * minima and low bits of Q4_K and Q5_K; K36: scales of Q3_K and Q6_K. */
#define K_DMIN 16
#define K45_SCALES 32
#define K45_MINS 96
#define K45_QUANTS 128
#define K36_SCALES 16
#define Q4K_BYTES 1152
#define Q6K_BYTES 1680
#define Q6K_LOW 144
#define Q6K_HIGH 1168
#define Q5K_BYTES 1408 /* as Q4_K, then high[] */
#define Q5K_HIGH 1152
#define Q3K_BYTES 912
#define Q3K_LOW 144
#define Q3K_HIGH 656
#define Q2K_BYTES 672
#define Q2K_SCALES 32
#define Q2K_QUANTS 160
#define TQ2_BYTES 528
#define TQ2_QUANTS 16
#define Q2_BYTES 576
#define Q2_QUANTS 64
#define Q1_BYTES 288
#define Q1_QUANTS 32

/* Packed types (struct block_q3kpx8 and so on) have the same values in fewer bytes. Packed weights
 * are unpacked before they are multiplied. */
#define Q3KP_BYTES 880
#define MX4P_BYTES 136
#define IQ4XS_BYTES 1088
#define TQ1_BYTES 432
#define Q2P_BYTES 544
#define TQ1_DIGITS 416 /* number of bytes with five digits: 13 times 32 */
#define TQ1_FIFTHS 96  /* bytes that hold the fifth digits; each serves bytes i, i + 96 and so on */
/* The number of wide blocks that one packed block becomes. */
#define UNPACKED_BLOCKS_q3kp 1
#define UNPACKED_BLOCKS_mx4p 1
#define UNPACKED_BLOCKS_iq4xs (BLOCK_K_COLS / BLOCK_COLS)
#define UNPACKED_BLOCKS_tq1 1
#define UNPACKED_BLOCKS_q2p 1

/* Activations: struct block_q8, block_q8x4, block_q8k, block_q8kx4. The int8 come first. */
#define Q8_BYTES 40
#define Q8_SCALE 32
#define Q8_SUM 36
#define Q8X4_BYTES 160
#define Q8X4_SCALE 128
#define Q8X4_SUM 144
#define Q8K_BYTES 304
#define Q8K_SUM 256
#define Q8K_SCALE 288
#define Q8KX4_BYTES 1168
#define Q8KX4_SUM 1024
#define Q8KX4_SCALE 1152

/* struct nibble_table */
#define TABLE_BYTES 24
#define TABLE_AHEAD 16
#define TABLE_NARROW 31 /* an int16 can hold 8 products of such a value with an int8 */

/* struct gemm_shape */
#define SHAPE_BYTES 40
#define SHAPE_ROWS 0
#define SHAPE_COLS 8
#define SHAPE_TOKENS 16
#define SHAPE_Y_STRIDE 24
#define SHAPE_X_STRIDE 32

/* struct state_shape */
#define STATE_SHAPE_BYTES 24
#define STATE_ROWS 0
#define STATE_COLUMNS 8
#define STATE_STRIDE 16

/* struct conv_shape */
#define CONV_SHAPE_BYTES 32
#define CONV_TAPS 0
#define CONV_CHANNELS 8
#define CONV_X_STRIDE 16
#define CONV_W_STRIDE 24
#define CONV_MOST_TAPS 8

/* Positions in a tile of the cache. The first tile begins at position 0; this is part of the
 * contract. */
#define KV_TILE 64

/* struct score_row */
#define SCORE_ROW_BYTES 320
#define SCORE_ROW_MAX 256
#define SCORE_ROW_SUM 260
#define SCORE_ROW_FACTOR 264

#ifndef __ASSEMBLER__

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define LAYOUT_BYTES(type, bytes) \
    static_assert(sizeof(struct type) == (bytes), "assembly and files rely on it")
#define LAYOUT_AT(type, member, at) \
    static_assert(offsetof(struct type, member) == (at), "assembly and files rely on it")

/* ---- weights: one block of eight rows -------------------------------------------------------- */

/* Each layout also defines isum: the integer sum over a block of one row (kernels/ops.inc). */

/* Q8_0, 32 columns. value (r, c) = d[r] * q[block_place(r, c)].
 * isum = sum q x.q. */
struct block_q8x8 {
    uint16_t d[GROUP_ROWS]; /* fp16, finite, like every scale of weights */
    int8_t q[GROUP_ROWS * BLOCK_COLS];
};
LAYOUT_BYTES(block_q8x8, Q8X8_BYTES);
LAYOUT_AT(block_q8x8, q, QUANTS);

/* Q4_0, 32 columns. value (r, c) = d[r] * (nibble - 8). The nibble of column c < 16 is the low
 * nibble of q[block_place(r, c)], the nibble of column c + 16 the high nibble of the same byte.
 * isum = sum nibble x.q - 8 * x.sum. */
struct block_q4x8 {
    uint16_t d[GROUP_ROWS];
    uint8_t q[GROUP_ROWS * BLOCK_COLS / 2];
};
LAYOUT_BYTES(block_q4x8, Q4X8_BYTES);
LAYOUT_AT(block_q4x8, q, QUANTS);

/* Q4_1, 32 columns. value (r, c) = d[r] * nibble + m[r], the nibble as in block_q4x8.
 * isum = sum nibble x.q; then acc = fma(m, (float)x.sum * x.d, acc). */
struct block_q41x8 {
    uint16_t d[GROUP_ROWS];
    uint16_t m[GROUP_ROWS];
    uint8_t q[GROUP_ROWS * BLOCK_COLS / 2];
};
LAYOUT_BYTES(block_q41x8, Q41_BYTES);
LAYOUT_AT(block_q41x8, m, Q41_MINS);
LAYOUT_AT(block_q41x8, q, Q41_QUANTS);

/* Q5_0, 32 columns. value (r, c) = d[r] * (q - 16), q of 5 bits: the low 4 are the nibble of
 * block_q4x8, the fifth is bit c / 4 of high[block_place(r, c % 4)].
 * isum = sum q x.q - 16 * x.sum. */
struct block_q50x8 {
    uint16_t d[GROUP_ROWS];
    uint8_t high[GROUP_ROWS * BLOCK_COLS / 8];
    uint8_t q[GROUP_ROWS * BLOCK_COLS / 2];
};
LAYOUT_BYTES(block_q50x8, Q50_BYTES);
LAYOUT_AT(block_q50x8, high, Q50_HIGH);
LAYOUT_AT(block_q50x8, q, Q50_QUANTS);

/* Q5_1, 32 columns. value (r, c) = d[r] * q + m[r], with q of 5 bits as in block_q50x8. Sums as in
 * block_q41x8. */
struct block_q51x8 {
    uint16_t d[GROUP_ROWS];
    uint16_t m[GROUP_ROWS];
    uint8_t high[GROUP_ROWS * BLOCK_COLS / 8];
    uint8_t q[GROUP_ROWS * BLOCK_COLS / 2];
};
LAYOUT_BYTES(block_q51x8, Q51_BYTES);
LAYOUT_AT(block_q51x8, m, Q51_MINS);
LAYOUT_AT(block_q51x8, high, Q51_HIGH);
LAYOUT_AT(block_q51x8, q, Q51_QUANTS);

/* IQ4_NL and MXFP4 use block_q4x8, too: value (r, c) = d[r] * values[nibble], with the table of the type. FIG4 has 128
 * columns, one scale for their four runs of 32, and a table for each tensor. The nibble of column c is in q[c / 32], at the
 * position of column c % 32 in block_q4x8. FIG4 has one isum for 128 columns. Block i is multiplied by half i % 2 of block i
 * / 2 of x; the last half of x is not read if it is beyond cols. */
#define block_t4x8 block_q4x8
struct block_fig4x8 {
    uint16_t d[GROUP_ROWS];
    uint8_t q[FIG4_COLS / BLOCK_COLS][GROUP_ROWS * BLOCK_COLS / 2];
};
LAYOUT_BYTES(block_fig4x8, FIG4_BYTES);
LAYOUT_AT(block_fig4x8, q, QUANTS);

/* Q4_K, 256 columns in 8 sub-blocks of 32. value = d * scale * nibble - dmin * min. Sub-block j of row r has scale =
 * scales[j][r] & 63 and a min of 6 bits: the low 2 are scales[j][r] >> 6, the high 4 the low (j < 4) or high (j >= 4) nibble
 * of mins[j % 4][r]. The nibble of (r, c) is in q[c / 64 * 256 + block_place(r, c % 32)]: the low one for c % 64 < 32, else
 * the high one. isum = sum_j scale_j dot_j, imin = sum_j min_j sum_j over the 8 sub-blocks; then acc = fma(-(float)imin,
 * dmin * x.d, acc). Dequantized: fma((float)(scale * q), d, -(dmin * (float)min)); scale * q is an integer. */
struct block_q4kx8 {
    uint16_t d[GROUP_ROWS];
    uint16_t dmin[GROUP_ROWS];
    uint8_t scales[8][GROUP_ROWS];
    uint8_t mins[4][GROUP_ROWS];
    uint8_t q[GROUP_ROWS * BLOCK_K_COLS / 2];
};
LAYOUT_BYTES(block_q4kx8, Q4K_BYTES);
LAYOUT_AT(block_q4kx8, dmin, K_DMIN);
LAYOUT_AT(block_q4kx8, scales, K45_SCALES);
LAYOUT_AT(block_q4kx8, mins, K45_MINS);
LAYOUT_AT(block_q4kx8, q, K45_QUANTS);

/* Q6_K, 256 columns in 16 sub-blocks of 16. value = d * scales[c / 16][r] * (q - 32). The
 * low 4 bits of q are in low[], arranged like the nibbles of block_q4kx8. The high 2 are
 * high[c / 128 * 256 + block_place(r, c % 32)] >> 2 * (c / 32 % 4) & 3. isum = sum_j scale_j
 * dot_j over 16 sub-blocks of (q - 32). Dequantized: (float)(scale * (q - 32)) * d. */
struct block_q6kx8 {
    uint16_t d[GROUP_ROWS];
    int8_t scales[16][GROUP_ROWS];
    uint8_t low[GROUP_ROWS * BLOCK_K_COLS / 2];
    uint8_t high[GROUP_ROWS * BLOCK_K_COLS / 4];
};
LAYOUT_BYTES(block_q6kx8, Q6K_BYTES);
LAYOUT_AT(block_q6kx8, scales, K36_SCALES);
LAYOUT_AT(block_q6kx8, low, Q6K_LOW);
LAYOUT_AT(block_q6kx8, high, Q6K_HIGH);

/* Q5_K is Q4_K with q of 5 bits: the low 4 are in q[] like the nibbles of Q4_K, the
 * fifth is high[block_place(r, c % 32)] >> c / 32 & 1. Sums as in block_q4kx8. */
struct block_q5kx8 {
    uint16_t d[GROUP_ROWS];
    uint16_t dmin[GROUP_ROWS];
    uint8_t scales[8][GROUP_ROWS];
    uint8_t mins[4][GROUP_ROWS];
    uint8_t q[GROUP_ROWS * BLOCK_K_COLS / 2];
    uint8_t high[GROUP_ROWS * BLOCK_K_COLS / 8];
};
LAYOUT_BYTES(block_q5kx8, Q5K_BYTES);
LAYOUT_AT(block_q5kx8, scales, K45_SCALES);
LAYOUT_AT(block_q5kx8, mins, K45_MINS);
LAYOUT_AT(block_q5kx8, q, K45_QUANTS);
LAYOUT_AT(block_q5kx8, high, Q5K_HIGH);

/* Q3_K, 256 columns in 16 sub-blocks of 16. value = d * scales[c / 16][r] * q, scales of -32 to 31,
 * q of 3 bits in two's complement, -4 to 3. The low 2 bits of q are in low[] like the high bits of
 * block_q6kx8; its sign is in high[] like the fifth bit of block_q5kx8. isum = sum_j scale_j dot_j
 * over 16 sub-blocks. */
struct block_q3kx8 {
    uint16_t d[GROUP_ROWS];
    int8_t scales[16][GROUP_ROWS];
    uint8_t low[GROUP_ROWS * BLOCK_K_COLS / 4];
    uint8_t high[GROUP_ROWS * BLOCK_K_COLS / 8];
};
LAYOUT_BYTES(block_q3kx8, Q3K_BYTES);
LAYOUT_AT(block_q3kx8, scales, K36_SCALES);
LAYOUT_AT(block_q3kx8, low, Q3K_LOW);
LAYOUT_AT(block_q3kx8, high, Q3K_HIGH);

/* Q2_K, 256 columns in 16 sub-blocks of 16. value = d * scale * q - dmin * min, where scale is the
 * low nibble and min the high nibble of scales[c / 16][r]. q has 2 bits and is in q[] as in low[]
 * of Q3_K. The sums are as in block_q4kx8, over 16 sub-blocks. */
struct block_q2kx8 {
    uint16_t d[GROUP_ROWS];
    uint16_t dmin[GROUP_ROWS];
    uint8_t scales[16][GROUP_ROWS];
    uint8_t q[GROUP_ROWS * BLOCK_K_COLS / 4];
};
LAYOUT_BYTES(block_q2kx8, Q2K_BYTES);
LAYOUT_AT(block_q2kx8, dmin, K_DMIN);
LAYOUT_AT(block_q2kx8, scales, Q2K_SCALES);
LAYOUT_AT(block_q2kx8, q, Q2K_QUANTS);

/* TQ2_0, 256 columns. value (r, c) = d[r] * (two - 1), two = q[block_place(r, c % 64)] >> 2 * (c / 64)
 * & 3: a byte has four columns of a row, 64 apart.
 * isum = sum (two - 1) x.q. */
struct block_tq2x8 {
    uint16_t d[GROUP_ROWS];
    uint8_t q[GROUP_ROWS * BLOCK_K_COLS / 4];
};
LAYOUT_BYTES(block_tq2x8, TQ2_BYTES);
LAYOUT_AT(block_tq2x8, q, TQ2_QUANTS);

/* Q2_0: the same with one scale for each 64 columns, d[c / 64][r]: for each 64 columns in turn acc
 * = fma((float)isum, d * x.d, acc). */
struct block_q2x8 {
    uint16_t d[4][GROUP_ROWS];
    uint8_t q[GROUP_ROWS * BLOCK_K_COLS / 4];
};
LAYOUT_BYTES(block_q2x8, Q2_BYTES);
LAYOUT_AT(block_q2x8, q, Q2_QUANTS);

/* Q1_0, 256 columns. value (r, c) = d[c / 128][r] * (2 * bit - 1), bit = q[block_place(r, c % 32)] >>
 * (c / 32) & 1. For each 128 columns in turn, isum = sum (2 bit - 1) x.q. */
struct block_q1x8 {
    uint16_t d[2][GROUP_ROWS];
    uint8_t q[GROUP_ROWS * BLOCK_K_COLS / 8];
};
LAYOUT_BYTES(block_q1x8, Q1_BYTES);
LAYOUT_AT(block_q1x8, q, Q1_QUANTS);

/* ---- packed types: the bytes of a GGUF file, from which kernels/ref/unpack.c makes one of the layouts above ---- */

/* Packed Q3_K: scales have 6 bits. scales[j][r] of block_q3kx8 is (scales_low[j % 8][r]
 * >> 4 * (j / 8) & 15 | (scales_high[j % 4][r] >> 2 * (j / 4) & 3) << 4) - 32. */
struct block_q3kpx8 {
    uint16_t d[GROUP_ROWS];
    uint8_t scales_low[8][GROUP_ROWS];
    uint8_t scales_high[4][GROUP_ROWS];
    uint8_t low[GROUP_ROWS * BLOCK_K_COLS / 4];
    uint8_t high[GROUP_ROWS * BLOCK_K_COLS / 8];
};
LAYOUT_BYTES(block_q3kpx8, Q3KP_BYTES);

/* MXFP4, 32 columns, each scale a power of two in one byte: d[r] of block_q4x8 is 2^(e[r] - 25), or 0 if e[r] is 0;
 * e[r] <= 40. */
struct block_mx4px8 {
    uint8_t e[GROUP_ROWS];
    uint8_t q[GROUP_ROWS * BLOCK_COLS / 2];
};
LAYOUT_BYTES(block_mx4px8, MX4P_BYTES);

/* IQ4_XS, 256 columns in 8 sub-blocks of 32: value (r, c) = d[r] * s * values[nibble], with the nibbles q[c / 32] as in block_q4x8 and s of
 * 6 bits, (scales_low[j % 4][r] >> 4 * (j / 4) & 15 | (scales_high[j % 2][r] >> 2 * (j / 2) & 3) << 4) - 32. Unpacked, a sub-block
 * is a block_q4x8 whose scale is s. p is the gemv of the sub-block; then acc = acc + d p. */
struct block_iq4xsx8 {
    uint16_t d[GROUP_ROWS];
    uint8_t scales_low[4][GROUP_ROWS];
    uint8_t scales_high[2][GROUP_ROWS];
    uint8_t q[BLOCK_K_COLS / BLOCK_COLS][GROUP_ROWS * BLOCK_COLS / 2];
};
LAYOUT_BYTES(block_iq4xsx8, IQ4XS_BYTES);

/* TQ1_0, 256 columns. The fraction b / 256 of a byte b has five digits in base 3 (b is rounded up,
 * as in GGML): digit n - 1 is b * 3^n / 256 mod 3. The first four of digits[i] are bits 6, 4, 2 and
 * 0 of q[i] of block_tq2x8, and the fifth is the two bits 2 * (i / TQ1_FIFTHS) of q[TQ1_DIGITS + i
 * % TQ1_FIFTHS]; the last 32 bytes have no fifth digit. */
struct block_tq1x8 {
    uint16_t d[GROUP_ROWS];
    uint8_t digits[TQ1_DIGITS];
};
LAYOUT_BYTES(block_tq1x8, TQ1_BYTES);

/* Q2_0 from files with one scale for 128 columns: d[j][r] of block_q2x8 is d[j / 2][r]. */
struct block_q2px8 {
    uint16_t d[2][GROUP_ROWS];
    uint8_t q[GROUP_ROWS * BLOCK_K_COLS / 4];
};
LAYOUT_BYTES(block_q2px8, Q2P_BYTES);

/* Index of the byte of row r, column c in a run of chunks. */
static inline size_t block_place(size_t r, size_t c)
{
    return c / CHUNK_COLS * (GROUP_ROWS * CHUNK_COLS) + r * CHUNK_COLS + c % CHUNK_COLS;
}

/* ---- activations ----------------------------------------------------------------------------- */

/* 32 columns of one token. */
struct block_q8 {
    int8_t q[BLOCK_COLS];
    float d;     /* x ~ d * q */
    int32_t sum; /* of q[] */
};
LAYOUT_BYTES(block_q8, Q8_BYTES);
LAYOUT_AT(block_q8, d, Q8_SCALE);
LAYOUT_AT(block_q8, sum, Q8_SUM);

/* The same for four tokens, with q[] interleaved like the weights: column c of token t is
 * q[c/4][t][c%4]. */
struct block_q8x4 {
    int8_t q[BLOCK_COLS / CHUNK_COLS][4][CHUNK_COLS];
    float d[4];
    int32_t sum[4];
};
LAYOUT_BYTES(block_q8x4, Q8X4_BYTES);
LAYOUT_AT(block_q8x4, d, Q8X4_SCALE);
LAYOUT_AT(block_q8x4, sum, Q8X4_SUM);

/* 256 columns of one token, for the K formats. */
struct block_q8k {
    int8_t q[BLOCK_K_COLS];
    int16_t sum[16]; /* sums of 16 numbers of q[] each */
    float d;         /* x ~ d * q */
    float reserved[3];
};
LAYOUT_BYTES(block_q8k, Q8K_BYTES);
LAYOUT_AT(block_q8k, sum, Q8K_SUM);
LAYOUT_AT(block_q8k, d, Q8K_SCALE);

/* 256 columns of each of four tokens. */
struct block_q8kx4 {
    int8_t q[BLOCK_K_COLS / CHUNK_COLS][4][CHUNK_COLS]; /* [column / 4][token][column % 4] */
    int16_t sum[16][4];                                 /* [column / 16][token] */
    float d[4];
};
LAYOUT_BYTES(block_q8kx4, Q8KX4_BYTES);
LAYOUT_AT(block_q8kx4, sum, Q8KX4_SUM);
LAYOUT_AT(block_q8kx4, d, Q8KX4_SCALE);

/* ---- other structs that assembly reads ------------------------------------------------------- */

/* The values of a matrix's nibbles, and the prefetch distance of its gemv (kernels.h). */
struct nibble_table {
    int8_t values[NIBBLES]; /* -127 to 127, so the sum of two products with an int8 fits an int16 */
    size_t ahead;
};
LAYOUT_BYTES(nibble_table, TABLE_BYTES);
LAYOUT_AT(nibble_table, ahead, TABLE_AHEAD);

/* The sizes of a gemm. Row t of y starts at y + t * y_stride. */
struct gemm_shape {
    size_t rows;     /* rows of W, and columns of y */
    size_t cols;     /* of W and x */
    size_t n_tokens; /* rows of x and y */
    size_t y_stride; /* floats, >= rows */
    size_t x_stride; /* floats, >= cols; for f32 activations only */
};
LAYOUT_BYTES(gemm_shape, SHAPE_BYTES);
LAYOUT_AT(gemm_shape, rows, SHAPE_ROWS);
LAYOUT_AT(gemm_shape, cols, SHAPE_COLS);
LAYOUT_AT(gemm_shape, n_tokens, SHAPE_TOKENS);
LAYOUT_AT(gemm_shape, y_stride, SHAPE_Y_STRIDE);
LAYOUT_AT(gemm_shape, x_stride, SHAPE_X_STRIDE);

/* The columns of the state of one head of a recurrent mixer that a call computes. */
struct state_shape {
    size_t rows;    /* length of the keys, or of Mamba's inner state */
    size_t columns; /* any part of the head's columns; columns are independent */
    size_t stride;  /* distance in floats from a row to the next, >= columns */
};
LAYOUT_BYTES(state_shape, STATE_SHAPE_BYTES);
LAYOUT_AT(state_shape, rows, STATE_ROWS);
LAYOUT_AT(state_shape, columns, STATE_COLUMNS);
LAYOUT_AT(state_shape, stride, STATE_STRIDE);

/* The sizes of a causal convolution. Rows j start at x + j * x_stride and w + j * w_stride. */
struct conv_shape {
    size_t n_taps; /* 1 to CONV_MOST_TAPS: rows of x and w */
    size_t channels;
    size_t x_stride; /* floats, >= channels */
    size_t w_stride; /* floats, >= channels */
};
LAYOUT_BYTES(conv_shape, CONV_SHAPE_BYTES);
LAYOUT_AT(conv_shape, n_taps, CONV_TAPS);
LAYOUT_AT(conv_shape, channels, CONV_CHANNELS);
LAYOUT_AT(conv_shape, x_stride, CONV_X_STRIDE);
LAYOUT_AT(conv_shape, w_stride, CONV_W_STRIDE);

/* One query's scores over a tile of the cache, and its online softmax so far. */
struct score_row {
    float s[KV_TILE];
    float max;    /* maximum of all scores so far; -INFINITY before the first tile */
    float sum;    /* sum of exp(score - max) so far; 0 before the first tile */
    float factor; /* factor by which this tile multiplies the sums so far: exp(old max - max) */
    float reserved[13];
};
LAYOUT_BYTES(score_row, SCORE_ROW_BYTES);
LAYOUT_AT(score_row, max, SCORE_ROW_MAX);
LAYOUT_AT(score_row, sum, SCORE_ROW_SUM);
LAYOUT_AT(score_row, factor, SCORE_ROW_FACTOR);

#endif
#endif
