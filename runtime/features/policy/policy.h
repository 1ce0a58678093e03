/* A small recurrent network (FastGRNN, arXiv 1901.02358) that chooses for a turn whether a draft
 * guesses tokens, whether the model thinks first, how much context is used, and which temperature.
 * The network learns from turns and their quality. If the network is not sure, the defaults apply.
 *
 *     z = sigmoid(W x + U h + bz)     c = tanh(W x + U h + bh)     h' = (zeta (1 - z) + nu) c + z h
 *     zeta, nu: sigmoids of one number each;     p of a head: softmax(V h' + v) */
#ifndef INGOT_RUNTIME_LEARN_POLICY_H
#define INGOT_RUNTIME_LEARN_POLICY_H

#include <stdbool.h>
#include <stdint.h>

enum {
    POLICY_INPUTS = 8,
    POLICY_HIDDEN = 16,
    POLICY_CHOICES = 3, /* the most choices of a head */
    POLICY_SMALLEST_CONTEXT = 2,
};

#define POLICY_PRESSURE 0.9f /* above this pressure the smallest context is chosen */

enum policy_head { POLICY_DRAFT, POLICY_THOUGHTS, POLICY_CONTEXT, POLICY_WARMTH, POLICY_HEADS };

/* All learnt numbers, one float after the other. */
struct policy_weights {
    float w[POLICY_HIDDEN][POLICY_INPUTS];
    float u[POLICY_HIDDEN][POLICY_HIDDEN];
    float bz[POLICY_HIDDEN], bh[POLICY_HIDDEN];
    float zeta, nu;
    float v[POLICY_HEADS][POLICY_CHOICES][POLICY_HIDDEN];
    float vb[POLICY_HEADS][POLICY_CHOICES];
};

struct policy {
    struct policy_weights weights;
    float hidden[POLICY_HIDDEN]; /* state of the conversation; zeros at its beginning */
};

/* Facts before a turn, each about 0 to 1. */
struct policy_state {
    float inputs[POLICY_INPUTS];
    float pressure;   /* fraction of the memory for keys and values that is in use */
    float throughput; /* tokens per second as a fraction of the plan's prediction, or 0 before a
                       * measurement */
};

struct policy_choice {
    uint8_t choice[POLICY_HEADS]; /* 0 is the default */
    float sure[POLICY_HEADS];     /* probability of the choice */
    uint8_t own[POLICY_HEADS];    /* the choice without triggers, from which the network learns:
                                   * triggers teach nothing */
};

/* A past turn has the facts before it, the choices, and the result. */
struct trajectory {
    float inputs[POLICY_INPUTS];
    float hidden[POLICY_HIDDEN]; /* state before the turn */
    uint8_t choice[POLICY_HEADS];
    float quality; /* 0 .. 1 */
};

/* The result of a turn, as the program sees it. */
struct turn_signs {
    bool good, bad; /* /good or /bad, which override everything else */
    bool stopped;   /* the reply ended by itself, not at a limit */
    bool repeated;
    bool undone;
};

uint8_t policy_choices(enum policy_head head); /* 2 or 3 choices */

void policy_open(struct policy *p, unsigned seed);
void policy_begin(struct policy *p); /* call when a conversation begins */

/* Choose for a turn, and advance the state to the next turn. Triggers override what was learnt: at
 * a pressure above .9 the context is the smallest, and at a throughput below .5 a draft
 * guesses. */
void policy_choose(struct policy *p, const struct policy_state *state,
                   struct policy_choice *choice);

/* Return the loss of a trajectory, (quality - 1/2) times the sum of -log p of the choices, and its
 * gradient in *g (which may be NULL). A good turn makes its choices more likely; a bad turn makes
 * the other choices more likely. The gradient goes only through this turn's step; the earlier h is
 * constant. */
float policy_loss(const struct policy *p, const struct trajectory *t, struct policy_weights *g);

/* Take one step of gradient descent. Returns false if the step was dropped (NaN, weights > 100). */
bool policy_learn(struct policy *p, const struct trajectory *t, float rate);

float turn_quality(const struct turn_signs *signs);

#endif
