/* Shared only by ffn_experts.c, ffn_experts_choose.c, ffn_experts_next.c and ffn_experts_wait.c. */
#ifndef INGOT_RUNTIME_FFN_EXPERTS_PRIVATE_H
#define INGOT_RUNTIME_FFN_EXPERTS_PRIVATE_H

#include "runtime/model/layer.h"
#include "runtime/model/router.h"
#include "runtime/model/transformer.h"

/* A token's part of act.work: the router's logits, and the choice. */
struct token_work {
    float shared; /* weight of the dense part */
    float *logits, *scores;
    struct router_choice *chosen;
};

static inline size_t padded(size_t n)
{
    return (n + 15) / 16 * 16;
}

static inline size_t experts_work_bytes(const struct ingot_layer *l)
{
    return (16 + 2 * padded(l->n_experts)) * sizeof(float) +
           padded(l->n_experts_used * sizeof(struct router_choice));
}

/* As it would be in layer l. */
static inline struct token_work work_of_layer(const struct transformer *t,
                                              const struct ingot_layer *l, size_t token)
{
    float *at = (float *)(void *)(t->act.work + token * experts_work_bytes(l));
    size_t n = padded(l->n_experts);

    return (struct token_work){ at[0], at + 16, at + 16 + n,
                                (struct router_choice *)(void *)(at + 16 + 2 * n) };
}

static inline struct token_work work_of(const struct transformer *t, size_t token)
{
    return work_of_layer(t, t->data, token);
}

/* Whether experts come from a cache, and not with the layer. */
static inline bool is_cached(const struct transformer *t)
{
    return t->stream->experts.all != NULL;
}

/* ffn_experts_choose.c: the choices of this core's tokens; ... */
void experts_choose(const struct transformer *t, unsigned core);

/* ... after a barrier, a token's weight of an expert, or NULL if it does not take it; ... */
const float *experts_weight(const struct transformer *t, size_t token, uint32_t expert);

/* ... how many tokens take it; and core 0 requests all experts that any token takes. */
uint32_t experts_count_tokens(const struct transformer *t, uint32_t expert);
void experts_ask(const struct transformer *t);

/* ffn_experts_wait.c; i: the index among those that any token takes. Whether it can be computed
 * without waiting; ... */
bool expert_is_there(const struct transformer *t, uint32_t i);

/* ... its location, then or after ... */
const uint8_t *expert_extent(const struct transformer *t, uint32_t i, uint32_t expert);

/* ... a barrier, when all of it is there (false: it will not come), ... */
bool expert_wait(const struct transformer *t, unsigned core, uint32_t i);

/* ... or when the unchecked part is there that its hidden values need; only for one from the
 * cache. */
bool expert_wait_first(const struct transformer *t, unsigned core, uint32_t i);

/* ffn_experts_next.c: what the next layer's router would choose from this layer's x; and core 0
 * requests it, after a barrier. */
void experts_choose_next(const struct transformer *t);
void experts_ask_next(const struct transformer *t);

#endif
