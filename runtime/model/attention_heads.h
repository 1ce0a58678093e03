/* Each head's own part of attention: prepares query, key and value, and turns the attended sum into
 * a part of the mixer's result. */
#ifndef INGOT_RUNTIME_ATTENTION_HEADS_H
#define INGOT_RUNTIME_ATTENTION_HEADS_H

#include "runtime/model/layer.h"

static inline bool attention_has(const struct transformer *t, enum ingot_feature feature)
{
    return (t->data->features & (uint32_t)feature) != 0;
}

/* Write the query of a head and a token of the chunk to q (head_dim), rotated and scaled.
 * Overwrites the core's work space. */
void attention_query(const struct transformer *t, unsigned core, uint32_t head, uint32_t token,
                     float *q);

/* Turn the key of a kv head and token, in its row of act.k, into the key to store. Returns the
 * value that belongs to the key. */
const float *attention_key_value(const struct transformer *t, uint32_t head, uint32_t token,
                                 float **key);

/* Write a head's result for a token, which is `out` / sum, to act.attended. Overwrites the core's
 * q. */
void attention_result(const struct transformer *t, unsigned core, uint32_t head, uint32_t token,
                      const float *out, float sum);

#endif
