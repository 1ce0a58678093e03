/* Shared only by ffn_experts.c, ffn_experts_choose.c, ffn_experts_next.c and ffn_experts_wait.c. */
#ifndef INGOT_RUNTIME_FFN_EXPERTS_PRIVATE_H
#define INGOT_RUNTIME_FFN_EXPERTS_PRIVATE_H

#include "runtime/model/layer.h"
#include "runtime/model/router.h"
#include "runtime/model/transformer.h"

/* A token's part of act.work, with the router's logits and the choice. */
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

/* Return a token's work space in the layout of layer l. */
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

/* Return true if experts come from a cache instead of with the layer. */
static inline bool is_cached(const struct transformer *t)
{
    return t->stream->experts.all != NULL;
}

/* ffn_experts_choose.c: choose the experts of this core's tokens. */
void experts_choose(const struct transformer *t, unsigned core);

/* After a barrier, return the weight that a token gives to an expert, or NULL if the token does not
 * take the expert. */
const float *experts_weight(const struct transformer *t, size_t token, uint32_t expert);

/* Call both after a barrier. experts_count_tokens returns how many tokens take an expert. On core
 * 0, experts_ask requests all experts that tokens take. */
uint32_t experts_count_tokens(const struct transformer *t, uint32_t expert);
void experts_ask(const struct transformer *t);

/* ffn_experts_wait.c: return true if expert i can be computed without waiting. i counts the experts
 * that any token takes. */
bool expert_is_there(const struct transformer *t, uint32_t i);

/* Return the location of expert i, once it can be computed. */
const uint8_t *expert_extent(const struct transformer *t, uint32_t i, uint32_t expert);

/* Pass a barrier after which the whole expert is there. Returns false if it will not arrive. */
bool expert_wait(const struct transformer *t, unsigned core, uint32_t i);

/* Pass a barrier after which the part of an expert that gives its hidden values is there, but not
 * checked yet. Only for experts from the cache. */
bool expert_wait_first(const struct transformer *t, unsigned core, uint32_t i);

/* ffn_experts_next.c: predict what the next layer's router chooses, from this layer's x. After a
 * barrier core 0 requests these experts. */
void experts_choose_next(const struct transformer *t);
void experts_ask_next(const struct transformer *t);

#endif
