/* The work space of a forward pass over up to `chunk` tokens. Every row of floats is padded with
 * zeros to a multiple of 32, so that the integer kernels read whole blocks. */
#ifndef INGOT_RUNTIME_ACTIVATIONS_H
#define INGOT_RUNTIME_ACTIVATIONS_H

#include <stddef.h>
#include <stdint.h>

#include "board/machine.h"
#include "flash_image/format/format.h"
#include "kernels/kernels.h"
#include "runtime/base/arena.h"
#include "runtime/compute/attention.h"

enum { ACTIVATIONS_SAVED = 9 }; /* rows of `saved`: one token and a draft of eight */

/* For each kind of quantized input: the types of matrices that take it, bits 1 << ingot_type. */
enum {
#define TYPE_TAKES_q8(NAME) 1u << INGOT_##NAME |
#define TYPE_TAKES_q8k(NAME)
#define TYPE_WEIGHTS(NAME, id, name, layout, cols, act, ...) TYPE_TAKES_##act(NAME)
#define TYPE_PACKED(NAME, id, name, layout, cols, act, ...) TYPE_TAKES_##act(NAME)
    ACTIVATIONS_BITS_q8 =
#include "flash_image/format/types.def"
        0u,
#undef TYPE_TAKES_q8
#undef TYPE_TAKES_q8k
#define TYPE_TAKES_q8(NAME)
#define TYPE_TAKES_q8k(NAME) 1u << INGOT_##NAME |
#define TYPE_WEIGHTS(NAME, id, name, layout, cols, act, ...) TYPE_TAKES_##act(NAME)
#define TYPE_PACKED(NAME, id, name, layout, cols, act, ...) TYPE_TAKES_##act(NAME)
    ACTIVATIONS_BITS_q8k =
#include "flash_image/format/types.def"
        0u,
#undef TYPE_TAKES_q8
#undef TYPE_TAKES_q8k
};
#define ACTIVATIONS_Q8 ((uint32_t)ACTIVATIONS_BITS_q8)
#define ACTIVATIONS_Q8K ((uint32_t)ACTIVATIONS_BITS_q8k)

struct activations {
    uint32_t chunk;
    size_t dim_stride; /* floats from one token's row to the next; other strides likewise */
    size_t q_stride;   /* stride of the queries of all heads, padded */
    size_t kv_stride;
    size_t hidden_stride;
    size_t per_layer_stride;
    float *x;     /* (chunk, dim) residual stream */
    float *saved; /* (the smaller of ACTIVATIONS_SAVED and chunk, dim) copy of x, to redo a layer */
    float *norm;  /* (chunk, dim) input of a block */
    float *out;   /* (chunk, dim) output of a block */
    float *q;     /* (chunk, queries) */
    float *k;     /* (chunk, n_kv_heads * head_dim) */
    float *v;
    float *attended; /* (chunk, queries) */
    float *gate;     /* (the larger of chunk and experts of a token, hidden) */
    float *up;
    float *zeros;          /* (head_dim) */
    float *rows_per_layer; /* (chunk, n_layers * per_layer_dim) from the table per layer; NULL:
                          * none */
    float *per_layer;      /* (as rows_per_layer) each layer's vector, made from rows_per_layer and
                            * the token's embedding */
    float *gathered;       /* (chunk, dim) inputs of an expert's tokens; NULL: no experts */
    uint8_t *work;         /* (chunk, work_bytes) for the layer's blocks */
    /* The quantized input of a matrix, in the forms that the model's types take: single tokens,
     * and groups of four tokens for a gemm. Rows follow each other without a gap. */
    struct block_q8 *q8;
    struct block_q8x4 *q8x4;
    struct block_q8k *q8k;
    struct block_q8kx4 *q8kx4;
    struct block_q8 *kept_q8; /* (chunk, dim) input kept for the experts; NULL: no experts */
    struct block_q8k *kept_q8k;
    uint8_t *
        unpacked; /* (BOARD_MAX_CORES, unpacked_bytes) weights for packed_rows (packed.h); NULL: no packed types */
    size_t unpacked_bytes;
    float *cos_sin[INGOT_MAX_ROPES];       /* (chunk, head_dim) cosines and sines for each rope */
    float *cos_sin_query[INGOT_MAX_ROPES]; /* cos_sin times attn_scale */
    struct attention_work attention[BOARD_MAX_CORES];
    size_t logits_stride;
    float *logits; /* (rows of logits, vocab) */
};

/* The numbers that determine the sizes. */
struct activations_request {
    const struct ingot_params *params;
    uint32_t chunk;       /* >= 1 */
    uint32_t types;       /* bit 1 << enum ingot_type of every matrix of the model */
    uint32_t logits_rows; /* tokens whose logits are computed together; 0 counts as 1 */
    size_t work_bytes;    /* bytes of the layers' own work space, for each token */
    uint32_t experts;     /* the most experts that a token takes in a layer; 0: no experts */
    uint32_t inner_dim;   /* width of the widest recurrent mixer, whose result is a matrix's
                           * input */
    uint32_t queries;     /* the largest total width of all heads of a layer */
};

/* Bytes of ARENA_SCRATCH that activations_take takes. The image reader bounds all
 * dimensions, so nothing overflows 64 bits. */
size_t activations_bytes(const struct activations_request *r);

/* Bytes of a token's widest matrix input, in the form that a gemm reads. */
size_t activations_input_bytes(const struct activations_request *r);

/* Take the buffers from ARENA_SCRATCH and zero them. */
void activations_take(struct activations *a, const struct activations_request *r,
                      struct arena *arena);

#endif
