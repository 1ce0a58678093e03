/* Picks the next token from logits. The pick is the same on every ISA: only + - * / on f32 and
 * the kernels, no libm. */
#ifndef INGOT_RUNTIME_SAMPLER_H
#define INGOT_RUNTIME_SAMPLER_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/kernels.h"

enum {
    SAMPLER_REPEAT_LAST = 64, /* tokens that `repeat` looks back at by default */
    SAMPLER_GUESS_MOST = 64,  /* candidates from which a guess is drawn */
    SAMPLER_BIASES_MOST = 300,
};
#define SAMPLER_NO_TOKEN 0xffffffffu

/* Added to the logit of a banned token: it comes only if no other token may. */
#define SAMPLER_BAN (-1e30f)

struct sampler_bias {
    uint32_t id;
    float add; /* SAMPLER_BAN, or -100 to 100 */
};

struct sampler_params {
    float temp;     /* 0: greedy, the other filters are unused */
    float top_p;    /* keep the most likely tokens with this total mass; 1: off */
    float min_p;    /* drop candidates below min_p times the likeliest; 0: off */
    float repeat;   /* penalty on the last tokens, including the prompt's; 1: off; > 0 */
    uint32_t top_k; /* keep the k most likely; 0: off */
    uint64_t seed;
    uint32_t repeat_last; /* how many of the last tokens; if larger than their number, all of
                           * them */
    float presence;       /* subtracted from the logit of each token that the reply has; -2 to 2, 0:
                      * off */
    float frequency;      /* the same, times how often the reply has it */
    const struct sampler_bias *biases; /* (n_biases) added to the model's logits, in this order */
    uint32_t n_biases;
};

struct sampler {
    struct sampler_params params;
    uint64_t state; /* xorshift64*, never 0 */
    uint64_t n_nan; /* NaN logits ignored since sampler_init; worth reporting if not 0 */
    float logit;    /* logit of the last pick, after penalties and biases */
    size_t
        reply; /* where the reply begins among the recent tokens; sampler_init: 0, the first one */
};

/* temp 0.8, top_p 0.95, min_p 0.05, repeat 1 over 64 tokens, top_k 40, seed 0 (the caller sets
 * one), no other penalty and no bias. */
void sampler_params_default(struct sampler_params *p);

/* Equal params give equal picks from equal logits. Any seed, including 0. */
void sampler_init(struct sampler *s, const struct sampler_params *params);

/* Bytes of scratch for sampler_pick: vocab (logit, id) pairs. */
size_t sampler_scratch_bytes(uint32_t vocab);

/* Returns the next token. logits (vocab) f32, 64-byte aligned, destroyed. recent (n_recent): the
 * tokens before, oldest first: the last repeat_last count for `repeat`, those from s->reply on
 * for the other penalties. scratch: sampler_scratch_bytes(vocab), 8-byte aligned. Order: biases,
 * repeat, frequency and presence, top_k, top_p, min_p, temp, as in llama.cpp's default chain.
 * Equal logits: the lower id first. NaN is ignored and counted, infinity counts as the largest
 * finite number. SAMPLER_NO_TOKEN if every logit is NaN or minus infinity: the model is damaged. */
uint32_t sampler_pick(struct sampler *s, float *logits, uint32_t vocab, const uint32_t *recent,
                      size_t n_recent, const struct kernels *k, void *scratch);

/* Apply only biases and penalties, the first steps of a pick. Arguments as for sampler_pick. */
void sampler_adjust(const struct sampler *s, float *logits, uint32_t vocab, const uint32_t *recent,
                    size_t n_recent, void *scratch);

/* The logit that the last pick, id after these tokens, had before biases and penalties, up to
 * rounding. */
float sampler_logit(const struct sampler *s, uint32_t id, const uint32_t *recent, size_t n_recent);

/* The distribution from which a guess was drawn: q in speculative decoding (arXiv 2211.17192). */
struct sampler_guess {
    uint32_t n; /* 0: no distribution, as at temp 0 */
    uint32_t ids[SAMPLER_GUESS_MOST];
    float share[SAMPLER_GUESS_MOST]; /* sum 1 */
};

/* sampler_pick for a draft's logits; remembers the distribution: the SAMPLER_GUESS_MOST most
 * likely tokens that the filters leave. */
uint32_t sampler_guess(struct sampler *s, float *logits, uint32_t vocab, const uint32_t *recent,
                       size_t n_recent, const struct kernels *k, void *scratch,
                       struct sampler_guess *g);

/* Returns the next token, distributed as by sampler_pick, given that id was drawn from g: id
 * with probability min(1, p / q), otherwise one from the excess of p over q. Any token other
 * than id means that the guess was wrong. Arguments and errors otherwise as for sampler_pick;
 * the same as sampler_pick if g->n is 0. */
uint32_t sampler_judge(struct sampler *s, float *logits, uint32_t vocab, const uint32_t *recent,
                       size_t n_recent, const struct kernels *k, void *scratch,
                       const struct sampler_guess *g, uint32_t id);

#endif
