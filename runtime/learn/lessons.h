/* A learner with what it learns from. The layers do not change, so the hidden states of a lesson stay
 * what they were: they are kept, as many as there is room for, and a new lesson practises the old
 * ones with itself. The chat owns it, and the transformer asks it to adapt. */
#ifndef INGOT_RUNTIME_LEARN_LESSONS_H
#define INGOT_RUNTIME_LEARN_LESSONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/learn/learner.h"

#define LESSONS_NEAR 0.99f

#define LESSONS_NO_TARGET UINT32_MAX

enum { LESSONS_ROOM = 512 /* examples: tokens of answers */ };

struct lessons {
    struct learner learner;
    struct micro_lora_head head;
    bool gated;
    uint32_t dim, row_floats;
    uint32_t n, first;  /* examples, and where the lesson at work begins */
    float *hidden;      /* (LESSONS_ROOM, dim) normed, not adapted */
    float *lengths;     /* (LESSONS_ROOM) of hidden */
    uint32_t *targets;  /* (LESSONS_ROOM) tokens that come next */
    float *error, *row; /* (row_floats) of a step */
    float *last;        /* (dim) the latest hidden state before it was adapted */
};

/* dim: of hidden states; row_floats: of a row of the head with its padding. */
size_t lessons_bytes(uint32_t dim, uint32_t row_floats);
/* memory: lessons_bytes(), 64-byte aligned. */
void lessons_open(struct lessons *l, void *memory, uint32_t dim, uint32_t row_floats,
                  const struct micro_lora_head *head);

/* hidden (dim) becomes what the head takes; what it was is `last`. With a gate the adapter is at work
 * only where an example is near, of a cosine of LESSONS_NEAR and more: elsewhere no bit changes. */
void lessons_adapt(struct lessons *l, float *hidden);

/* Before a lesson of n examples, at most LESSONS_ROOM: the oldest make room. */
void lessons_begin(struct lessons *l, uint32_t n);
/* An example of it: after `last`, target; LESSONS_NO_TARGET: it is not practised, but opens the gate. */
void lessons_add(struct lessons *l, uint32_t target);

static inline bool lessons_has_room(const struct lessons *l)
{
    return l->n < LESSONS_ROOM;
}

/* The lesson at work, and what was learnt in it, are forgotten. False: there is none. */
bool lessons_undo(struct lessons *l);

#endif
