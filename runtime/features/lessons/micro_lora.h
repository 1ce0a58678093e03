/* An adapter of low rank on the final normed hidden state, which learns on the board:
 *
 *     h~ = h + s B (A h)          logits = head(h~)
 *
 * Only the head lies between h~ and the logits, so the true gradient needs no pass back through
 * layers. p is the softmax over the best K logits and the target:
 *
 *     e  = sum_k (p_k - [k = target]) f'(z_k) W_k     f: logit scale and cap, W: rows of the head
 *     dB = s e (A h)^T             dA = s (B^T e) h^T  (of h, not of h~; of B as it was)
 *
 * Sums have a fixed order, so the same lessons give the same bits on every board. */
#ifndef INGOT_RUNTIME_LEARN_MICRO_LORA_H
#define INGOT_RUNTIME_LEARN_MICRO_LORA_H

#include <stddef.h>
#include <stdint.h>

enum {
    MICRO_LORA_MOST_RANK = 4,   /* largest rank of a lesson's adapter */
    MICRO_LORA_RANKS = 32,      /* largest rank of a fabric's adapter */
    MICRO_LORA_CANDIDATES = 32, /* number of best logits in a step, besides the target */
};

struct micro_lora {
    uint32_t dim, rank;
    float scale;
    float *weights; /* (2, rank, dim) A, then B transposed */
};

/* The model's changes to logits after the head. */
struct micro_lora_head {
    float scale; /* logits_scale */
    float cap;   /* final_softcap; 0: none */
};

/* The tokens of a step, the target last. */
struct micro_lora_choice {
    uint32_t n;
    uint32_t ids[MICRO_LORA_CANDIDATES + 1];
    float logits[MICRO_LORA_CANDIDATES + 1];
    float errors[MICRO_LORA_CANDIDATES + 1]; /* (p - [target]) f', the weight of a row in e */
    float loss_p;                            /* probability of the target */
    float best;                              /* the largest logit of a token other than the
                                              * target */
};

/* Return how many floats the weights have; a gradient has as many. */
size_t micro_lora_floats(uint32_t dim, uint32_t rank);

/* Open an adapter. `weights` is micro_lora_floats() floats; 1 <= rank <= MICRO_LORA_RANKS. A is
 * small and random, from `seed`. B is zero, so at first h~ equals h to the bit. */
void micro_lora_open(struct micro_lora *m, float *weights, uint32_t dim, uint32_t rank,
                     unsigned seed);

/* Turn h (dim) into h~. If B is zero, no bit changes. */
void micro_lora_apply(const struct micro_lora *m, float *h);

/* Choose the best of the logits (vocab), and always the target < vocab. If logits are equal, the
 * smaller ids are chosen; NaN is never chosen. */
void micro_lora_choose(struct micro_lora_choice *c, const struct micro_lora_head *head,
                       const float *logits, uint32_t vocab, uint32_t target);

/* Return the derivative of a logit f(z) = cap tanh(scale z / cap), or scale z, from f alone. */
float micro_lora_slope(const struct micro_lora_head *head, float logit);

/* Compute the errors of another loss, the margin of the best other token over the target. Only
 * these two rows have an error, the derivative of the margin. c->n >= 2. */
void micro_lora_hinge(struct micro_lora_choice *c, const struct micro_lora_head *head);

/* Draw a token at random and return it. `at` is a random number from 0 to 1. */
uint32_t micro_lora_draw(const struct micro_lora_choice *c, float at);

/* Compute the gradient at (h, e), both (dim), in the layout of the weights. */
void micro_lora_gradient(const struct micro_lora *m, const float *h, const float *e,
                         float *gradient);

/* Change the adapter `base`: its product B A becomes keep * B A + add * b a, where b a is the
 * product of `micro`, as closely as the rank of `base` allows (least squares). The products are
 * added, because adding A and B separately would mix unrelated pairs. The two adapters have equal
 * dim and scale, and ranks up to MICRO_LORA_MOST_RANK. `work` is micro_lora_merge_floats()
 * floats. */
size_t micro_lora_merge_floats(uint32_t dim);
void micro_lora_merge(struct micro_lora *base, float keep, const struct micro_lora *micro,
                      float add, float *work);

#endif
