/* A learner and its examples. The layers do not change, so the hidden states of a lesson stay
 * valid: as many as fit are kept, and a new lesson practises the old ones as well. The chat owns
 * it, and the transformer calls it to adapt states. */
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
    uint32_t n, first;  /* number of examples, and where the current lesson begins */
    float *hidden;      /* (LESSONS_ROOM, dim) normed, not adapted */
    float *lengths;     /* (LESSONS_ROOM) lengths of hidden */
    uint32_t *targets;  /* (LESSONS_ROOM) tokens that come next */
    float *error, *row; /* (row_floats) of a step */
    float *last;        /* (dim) the latest hidden state before it was adapted */
};

/* dim: of hidden states; row_floats: of a row of the head with its padding. */
size_t lessons_bytes(uint32_t dim, uint32_t row_floats);
/* memory: lessons_bytes(), 64-byte aligned. */
void lessons_open(struct lessons *l, void *memory, uint32_t dim, uint32_t row_floats,
                  const struct micro_lora_head *head);

/* hidden (dim) becomes the input of the head; its old value is `last`. With a gate, the adapter
 * acts only near an example, at a cosine of at least LESSONS_NEAR: elsewhere no bit changes. */
void lessons_adapt(struct lessons *l, float *hidden);

/* How many examples a lesson can have: taught ones never make room, examples that only open the
 * gate do. */
uint32_t lessons_most(const struct lessons *l);
/* Call before a lesson of n examples, at most lessons_most: the oldest ones that only open the
 * gate make room; returns how many did. */
uint32_t lessons_begin(struct lessons *l, uint32_t n);
/* Add an example: after `last`, target; LESSONS_NO_TARGET: it is not practised, but opens the
 * gate. */
void lessons_add(struct lessons *l, uint32_t target);
/* Drop example i; the gate is no longer open for it. */
void lessons_drop(struct lessons *l, uint32_t i);

static inline bool lessons_has_room(const struct lessons *l)
{
    return l->n < LESSONS_ROOM;
}

/* Forget the current lesson and what was learnt in it. False: there is none. */
bool lessons_undo(struct lessons *l);

/* Forget all lessons. */
void lessons_clear(struct lessons *l);

/* ---- saving ---------------------------------------------------------------------------------- */

/* Bytes that lessons_move moves for this many examples. */
uint64_t lessons_move_bytes(const struct lessons *l, uint32_t n_examples);

/* Passes memory on to a file, or fills it from one. */
typedef enum err lessons_move_fn(void *context, void *memory, size_t bytes);

/* Move everything that was learnt, in one order: counts, weights, EWC penalty, examples. loads:
 * fills memory, which is not trusted before lessons_are_sound. Afterwards there is no lesson to
 * undo. ERR_BAD_MODEL: impossible counts; errors of move, after which a load is incomplete: call
 * lessons_clear. */
enum err lessons_move(struct lessons *l, bool loads, lessons_move_fn *move, void *context);
/* Whether there is no NaN, no weight that a step would not give, and no target that the model
 * lacks. */
bool lessons_are_sound(const struct lessons *l, uint32_t vocab);

#endif
