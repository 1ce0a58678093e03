/* A model with adapters in use computes y = W x + sum s B (A x), one adapter after the other. The
 * core that prepares x for the matrix also computes the first half, u = s A x. The core that
 * computes rows of the result adds the second half, y += B u. Adapters need no further barrier; a
 * model without adapters spends one test on them. To get the same bits everywhere, the order is
 * fixed: A x is a gemv of floats, and is multiplied by s; then expand_f32 adds B u, one adapter
 * after the other, before the bias is added. */
#ifndef INGOT_RUNTIME_LORA_H
#define INGOT_RUNTIME_LORA_H

#include <stddef.h>
#include <stdint.h>

#include "flash_image/format/adapter.h"
#include "kernels/kernels.h"
#include "runtime/compute/linear.h"

enum {
    LORA_MOST = 4,   /* the most adapters in use at once */
    LORA_ROLES = 16, /* the most matrices of a layer that have a pair */
};

/* An adapter in memory. */
struct lora_adapter {
    const struct adapter_header *header;
    const struct adapter_pair *pairs; /* (header->n_pairs); a and b are offsets into data */
    const uint8_t *data;              /* ADAPTER_ALIGN-aligned */
    uint32_t type;                    /* INGOT_F32 or INGOT_F16 */
};

/* An adapter in use, and its scale. */
struct lora_use {
    const struct lora_adapter *adapter;
    float scale;
};

/* A pair of the current layer. */
struct lora_pair {
    const struct adapter_pair *pair;
    const struct lora_adapter *adapter;
    float scale;    /* the scale of the use times that of the pair */
    uint32_t first; /* index of the pair's first number in a token's row of u */
};

struct lora {
    uint32_t n;
    struct lora_use uses[LORA_MOST];
    float *u;        /* (chunk, stride) */
    uint32_t stride; /* at least the sum of all adapters' most_ranks */
    /* In the layer given to lora_enter, role r has the pairs from pairs[first[r]] up to
     * pairs[first[r + 1]]. */
    struct lora_pair pairs[LORA_MOST * LORA_ROLES];
    uint8_t first[INGOT_N_ROLES + 1];
};

/* Return the number of floats in a token's row of u, for adapters whose most_ranks sum to
 * `ranks`. */
uint32_t lora_stride(uint32_t ranks);

/* Return a CRC of the adapters in use, their scales and order, or 0 for none. l may be NULL. */
uint32_t lora_crc(const struct lora *l);

/* Select the pairs of a layer, or none (INGOT_NO_LAYER). */
void lora_enter(struct lora *l, uint32_t layer);

static inline bool lora_has(const struct lora *l, enum ingot_role role)
{
    return l->first[role] != l->first[role + 1];
}

/* Compute u for tokens [first, last) of `in` and the matrices in `roles` (bits 1 << enum
 * ingot_role). */
void lora_shrink(const struct lora *l, const struct kernels *k, const struct activations *a,
                 uint64_t roles, const struct linear_input *in, size_t first, size_t last);

/* Add adapters to rows [first, first + n) of the result of the role's matrix, at y (tokens,
 * y_stride); first % 8 == 0. Call lora_shrink for the same input first. */
void lora_expand(const struct lora *l, const struct kernels *k, enum ingot_role role, size_t first,
                 size_t n, float *y, size_t y_stride, const struct linear_input *in);

/* Add adapters to the embedding's row of a token: x (dim) += scale s B A[token]. lora_enter has
 * selected the pairs of the embedding. */
void lora_embed(const struct lora *l, const struct kernels *k, uint32_t token, float scale,
                float *x);

#endif
