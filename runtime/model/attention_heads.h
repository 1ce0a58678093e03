/* The work of attention for each head by itself: it prepares query, key and value, and turns the
 * attended sum into a part of the mixer's result. */
#ifndef INGOT_RUNTIME_ATTENTION_HEADS_H
#define INGOT_RUNTIME_ATTENTION_HEADS_H

#include "runtime/model/layer.h"

static inline bool attention_has(const struct transformer *t, enum ingot_feature feature)
{
    return (t->data->features & (uint32_t)feature) != 0;
}

/* The query of a head and token of the chunk to q (head_dim), rotated and scaled. The core's
 * work space except q is overwritten. */
void attention_query(const struct transformer *t, unsigned core, uint32_t head, uint32_t token,
                     float *q);

/* The key of a kv head and token, in its row of act.k, becomes the stored one. Returns its
 * value. */
const float *attention_key_value(const struct transformer *t, uint32_t head, uint32_t token,
                                 float **key);

/* A head's result for a token, times 1 / sum, to its place in act.attended. The core's q is
 * overwritten. */
void attention_result(const struct transformer *t, unsigned core, uint32_t head, uint32_t token,
                      const float *out, float sum);

#endif
