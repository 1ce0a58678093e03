/* A learner with what it learns from. The layers do not change, so the hidden states of a lesson stay
 * what they were: they are kept, as many as there is room for, and a new lesson practises the old
 * ones with itself. The chat owns it, and the transformer asks it to adapt. */
#ifndef INGOT_RUNTIME_LEARN_LESSONS_H
#define INGOT_RUNTIME_LEARN_LESSONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"
#include "runtime/features/lessons/learner.h"

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

/* How many examples a lesson can have: what is taught never makes room, what only opens the gate does. */
uint32_t lessons_most(const struct lessons *l);
/* Before a lesson of n examples, at most lessons_most: the oldest that only open the gate make room; so many did. */
uint32_t lessons_begin(struct lessons *l, uint32_t n);
/* An example of it: after `last`, target; LESSONS_NO_TARGET: it is not practised, but opens the gate. */
void lessons_add(struct lessons *l, uint32_t target);
/* Example i goes, and the gate is not open for it any more. */
void lessons_drop(struct lessons *l, uint32_t i);

static inline bool lessons_has_room(const struct lessons *l)
{
    return l->n < LESSONS_ROOM;
}

/* The lesson at work, and what was learnt in it, are forgotten. False: there is none. */
bool lessons_undo(struct lessons *l);

/* All of them are forgotten. */
void lessons_clear(struct lessons *l);

/* ---- kept beyond a start -------------------------------------------------------------------- */

/* Bytes that lessons_move moves for so many examples. */
uint64_t lessons_move_bytes(const struct lessons *l, uint32_t n_examples);

/* Passes memory on, or fills it. */
typedef enum err lessons_move_fn(void *context, void *memory, size_t bytes);

/* Everything that was learnt, in one order: counts, weights, EWC penalty, examples. loads: memory is filled,
 * and nothing of it is believed before lessons_are_sound. There is no lesson to undo then.
 * ERR_BAD_MODEL: counts that cannot be; errors of move, after which a load is a mix: lessons_clear. */
enum err lessons_move(struct lessons *l, bool loads, lessons_move_fn *move, void *context);
/* No NaN, no weights that a step would not leave, no target that the model has not. */
bool lessons_are_sound(const struct lessons *l, uint32_t vocab);

#endif
