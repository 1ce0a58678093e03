/* Picks the next token from logits. The pick is the same on every ISA: only + - * / on f32 and
 * the kernels, no libm. */
#ifndef INGOT_RUNTIME_SAMPLER_H
#define INGOT_RUNTIME_SAMPLER_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/kernels.h"

enum {
    SAMPLER_REPEAT_LAST = 64, /* latest tokens to which `repeat` applies by default */
    SAMPLER_GUESS_MOST = 64,  /* candidates from which a guess is drawn */
    SAMPLER_BIASES_MOST = 300,
};
#define SAMPLER_NO_TOKEN 0xffffffffu

/* Added to the logit of a banned token, which is then picked only if no other token can be. */
#define SAMPLER_BAN (-1e30f)

struct sampler_bias {
    uint32_t id;
    float add; /* SAMPLER_BAN, or -100 to 100 */
};

struct sampler_params {
    float temp;     /* 0: greedy, without the other filters */
    float top_p;    /* keep the most likely tokens with this total mass; 1: off */
    float min_p;    /* drop candidates less likely than min_p times the likeliest; 0: off */
    float repeat;   /* > 0: penalty on the latest tokens, including tokens of the prompt; 1: off */
    uint32_t top_k; /* keep the top_k most likely tokens; 0: off */
    uint64_t seed;
    uint32_t repeat_last; /* number of latest tokens to which `repeat` applies */
    float presence;       /* subtracted from the logit of each token that is in the reply; -2 to 2,
                           * 0: off */
    float frequency;      /* as presence, times the number of the token's uses in the reply */
    const struct sampler_bias *biases; /* (n_biases) added to the model's logits, in this order */
    uint32_t n_biases;
};

struct sampler {
    struct sampler_params params;
    uint64_t state; /* xorshift64*, never 0 */
    uint64_t n_nan; /* number of NaN logits ignored since sampler_init; report it if not 0 */
    float logit;    /* logit of the last pick, after penalties and biases */
    size_t reply;   /* where the reply begins in the recent tokens; sampler_init sets 0, the first
                * token */
};

/* Set the defaults: temp 0.8, top_p 0.95, min_p 0.05, repeat 1 over 64 tokens, top_k 40, seed 0
 * (the caller sets a seed), no other penalty and no bias. */
void sampler_params_default(struct sampler_params *p);

/* Start a sampler; every seed is valid, also 0. Equal params give equal picks from equal logits. */
void sampler_init(struct sampler *s, const struct sampler_params *params);

/* Bytes of scratch for sampler_pick: vocab (logit, id) pairs. */
size_t sampler_scratch_bytes(uint32_t vocab);

/* Returns the next token. logits (vocab) f32, 64-byte aligned, destroyed. recent (n_recent): the
 * earlier tokens, oldest first. `repeat` uses the last repeat_last of these tokens; the other
 * penalties use those from s->reply on. scratch: sampler_scratch_bytes(vocab), 8-byte aligned.
 * Order: biases, repeat, frequency and presence, top_k, top_p, min_p, temp, as in llama.cpp's
 * default chain. If logits are equal, the lower id comes first. NaN is ignored and counted, plus
 * infinity is treated as the largest finite number. SAMPLER_NO_TOKEN if every logit is NaN or minus
 * infinity: the model is damaged. */
uint32_t sampler_pick(struct sampler *s, float *logits, uint32_t vocab, const uint32_t *recent,
                      size_t n_recent, const struct kernels *k, void *scratch);

/* Apply only biases and penalties, the first steps of a pick. Arguments as for sampler_pick. */
void sampler_adjust(const struct sampler *s, float *logits, uint32_t vocab, const uint32_t *recent,
                    size_t n_recent, void *scratch);

/* Return the logit that the last picked token, id, had before biases and penalties, except for
 * rounding. The token follows `recent`. */
float sampler_logit(const struct sampler *s, uint32_t id, const uint32_t *recent, size_t n_recent);

/* The distribution from which a guess was drawn: q in speculative decoding (arXiv 2211.17192). */
struct sampler_guess {
    uint32_t n; /* 0 if there is no distribution, for example at temp 0 */
    uint32_t ids[SAMPLER_GUESS_MOST];
    float share[SAMPLER_GUESS_MOST]; /* sum 1 */
};

/* Works like sampler_pick, for a draft's logits. *g gets the distribution over the
 * SAMPLER_GUESS_MOST most likely tokens that pass the filters. */
uint32_t sampler_guess(struct sampler *s, float *logits, uint32_t vocab, const uint32_t *recent,
                       size_t n_recent, const struct kernels *k, void *scratch,
                       struct sampler_guess *g);

/* Judges the guess `id`, which was drawn from g, and returns the next token with the same
 * distribution p as sampler_pick. It returns id with probability min(1, p / q), otherwise a token
 * drawn from the excess of p over q. If another token than id is returned, the guess was wrong.
 * Other arguments and errors as for sampler_pick; if g->n is 0, the result is that of
 * sampler_pick. */
uint32_t sampler_judge(struct sampler *s, float *logits, uint32_t vocab, const uint32_t *recent,
                       size_t n_recent, const struct kernels *k, void *scratch,
                       const struct sampler_guess *g, uint32_t id);

#endif
