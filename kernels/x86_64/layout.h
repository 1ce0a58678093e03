// The structs of kernels/kernels.h and flash_image/format.h as sizes and offsets in bytes; both
// assert theirs.
#ifndef INGOT_KERNELS_X86_64_LAYOUT_H
#define INGOT_KERNELS_X86_64_LAYOUT_H

// struct gemm_shape
#define SHAPE_ROWS 0
#define SHAPE_COLS 8
#define SHAPE_TOKENS 16
#define SHAPE_Y_STRIDE 24
#define SHAPE_X_STRIDE 32

// Activations: struct block_q8, block_q8x4, block_q8k, block_q8kx4; the int8 come first.
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

// Weights: struct ingot_q8x8, ingot_q4x8, ingot_q4kx8, ingot_q6kx8; fp16 scales d come first.
#define Q8X8_BYTES 272
#define Q4X8_BYTES 144
#define QUANTS 16                   /* of both */
#define Q4K_BYTES 1152
#define Q4K_DMIN 16
#define Q4K_SCALES 32
#define Q4K_MINS 96
#define Q4K_QUANTS 128
#define Q6K_BYTES 1680
#define Q6K_SCALES 16
#define Q6K_LOW 144
#define Q6K_HIGH 1168

// struct score_row, and the positions of a tile.
#define ROW_BYTES 320
#define ROW_MAX 256
#define ROW_SUM 260
#define ROW_FACTOR 264
#define KV_TILE 64

#endif
