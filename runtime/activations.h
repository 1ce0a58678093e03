/* The work space of a forward pass over up to `chunk` tokens. Every row is padded with zeros
 * to a multiple of 32, so that the integer kernels see whole blocks. */
#ifndef INGOT_RUNTIME_ACTIVATIONS_H
#define INGOT_RUNTIME_ACTIVATIONS_H

#include <stddef.h>
#include <stdint.h>

#include "board/board.h"
#include "flash_image/format.h"
#include "kernels/kernels.h"
#include "runtime/arena.h"

enum { ATTENTION_TILE = 64 }; /* positions; aligned at position 0, part of the contract */

struct activations {
    uint32_t chunk;
    size_t dim_stride;    /* floats from one token's row to the next, as all strides */
    size_t q_stride;      /* n_heads * head_dim, padded */
    size_t kv_stride;
    size_t hidden_stride;
    size_t block_stride;  /* blocks from one token's quantized row to the next */
    float *x;             /* (chunk, dim) residual stream */
    float *norm;          /* (chunk, dim) */
    float *q;             /* (chunk, n_heads * head_dim) */
    float *k;             /* (chunk, n_kv_heads * head_dim) */
    float *v;
    float *attended;      /* (chunk, n_heads * head_dim) */
    float *gate;          /* (chunk, hidden) */
    float *up;
    struct block_q8 *blocks; /* (chunk, widest row / 32): the quantized input of a gemv */
    float *cos_sin;       /* (chunk, head_dim) */
    float *scores;        /* (BOARD_MAX_CORES, ATTENTION_TILE) */
    float *logits;        /* (vocab) */
};

/* What activations_take takes of ARENA_SCRATCH. Dimensions are bounded by the image reader, so
 * nothing overflows 64 bits. */
size_t activations_bytes(const struct ingot_params *p, uint32_t chunk);

/* Take and zero them. */
void activations_take(struct activations *a, const struct ingot_params *p, uint32_t chunk,
                      struct arena *arena);

#endif
