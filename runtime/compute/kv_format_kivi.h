/* kivi (arXiv 2402.02750): keys of four bits whose channels have a range of their own over the
 * positions of a tile, so that a channel of large numbers does not make the steps of others coarse.
 * All 64 positions of a tile are converted at once, from a tile of another type. Tiers of a cache
 * use kivi; kv= does not offer it by itself. Values are stored as in uniform_4b. */
#ifndef INGOT_RUNTIME_KV_FORMAT_KIVI_H
#define INGOT_RUNTIME_KV_FORMAT_KIVI_H

#include "runtime/compute/kv_format.h"

/* float middle[W], bf16 scale[W], W = d rounded up to whole blocks of 32, then a tile of keys of
 * four bits (kernels.h) whose scales are 1. */
size_t kv_key_bytes_kivi(uint32_t d);

void kv_pack_keys_kivi(void *tile, uint32_t d, const struct kv_format *from, const void *keys,
                       float *work);
void kv_get_key_kivi(const void *tile, uint32_t d, uint32_t j, float *x);

/* q.k = sum (q_i scale_i) k_i + sum q_i middle_i. The first sum is computed in integers: for each
 * tile, the products q_i scale_i are rounded to int8. The second sum is computed once for each
 * row. */
void kv_score_kivi(const struct kernels *k, struct score_row *s, const struct kv_queries *q,
                   const void *keys, size_t n_q, size_t n, size_t d);

#endif
