/* Attention of one kv head: query rows over the cached positions, tile by tile with an online
 * softmax (FlashAttention, arXiv 2205.14135). Decode and prefill use the same function: a row's
 * result depends only on its query and the cache, not on the rows computed with it. */
#ifndef INGOT_RUNTIME_ATTENTION_H
#define INGOT_RUNTIME_ATTENTION_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/kernels.h"
#include "runtime/compute/kv_cache.h"

enum { ATTENTION_ROWS = 32 }; /* query rows of a block at most */

/* Work space of one core, in ARENA_SCRATCH. */
struct attention_work {
    struct score_row *scores; /* (ATTENTION_ROWS), 64-byte aligned */
    float *q;                 /* (ATTENTION_ROWS, head_dim): the block's queries, in order */
    float *out;               /* (ATTENTION_ROWS, value_dim): results, not yet divided by the sum */
    struct block_q8 *blocks;  /* (ATTENTION_ROWS, kv_blocks(head_dim)) for integer_query */
};

/* A block of queries: n_tokens tokens with rows_per_token heads each, at most ATTENTION_ROWS in
 * total. Row t * rows_per_token + h sees positions up to first_position + t. */
struct attention_block {
    const struct kv_cache *kv;
    uint32_t layer;
    uint32_t kv_head;
    uint32_t first_position; /* position of the block's first token */
    uint32_t n_tokens;
    uint32_t rows_per_token;
    uint32_t window;    /* positions that a row sees, including its own; 0: all */
    float softcap;      /* soft cap of the scores; 0: none */
    const float *sinks; /* (rows_per_token) an additional logit in each head's sum; NULL: none */
};

/* Compute the attention of a block. work->q holds the queries, rotated and scaled. Row r of the
 * result is work->out[r] / work->scores[r].sum. */
void attention_run(const struct kernels *k, const struct attention_block *b,
                   const struct attention_work *work);

#endif
