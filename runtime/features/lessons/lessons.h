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

/* A flag of targets: the token was said, and it only opens the gate. */
#define LESSONS_SAID 0x80000000u
#define LESSONS_NO_TARGET UINT32_MAX /* LESSONS_SAID, and the token is not known */

enum {
    LESSONS_LEAST_ROOM =
        512, /* examples, tokens of answers, for which there is room, and at most: */
    LESSONS_MOST_ROOM = 2048,
    LESSONS_NOTE_SHARE = 4, /* examples for each note */
    LESSONS_TEXT_BYTES = 79,
};

enum lesson_kind { LESSON_TAUGHT, LESSON_GOOD, LESSON_BAD, LESSON_KINDS };

/* The subject of a lesson. Its examples stand together, in the order of the notes. */
struct lessons_note {
    uint64_t made;      /* seconds of the fabric's clock */
    uint32_t used;      /* replies in which the gate opened at one of its examples */
    uint16_t n;         /* its examples */
    uint8_t kind;       /* enum lesson_kind */
    uint8_t spoke;      /* in the current reply */
    uint8_t text_bytes; /* bytes of text: the question, or what was said before the rated reply */
    char text[LESSONS_TEXT_BYTES];
};

struct lessons {
    struct learner learner;
    struct micro_lora_head head;
    bool gated;
    uint32_t dim, row_floats;
    uint32_t room;     /* examples; notes: a LESSONS_NOTE_SHARE-th of it */
    uint32_t n, first; /* number of examples, and where the current lesson begins */
    uint32_t n_notes;  /* lessons whose examples are there, oldest first */
    struct lessons_note *notes;
    float *hidden;      /* (room, dim) normed, not adapted */
    float *lengths;     /* (room) lengths of hidden */
    uint32_t *targets;  /* (room) tokens that come next */
    float *error, *row; /* (row_floats) of a step */
    float *last;        /* (dim) the latest hidden state before it was adapted */
};

/* The room for examples if a plan has this many bytes left. */
uint32_t lessons_plan_room(uint32_t dim, uint64_t bytes);
/* dim: of hidden states; row_floats: of a row of the head with its padding. */
size_t lessons_bytes(uint32_t dim, uint32_t row_floats, uint32_t room);
/* memory: lessons_bytes(), 64-byte aligned. */
void lessons_open(struct lessons *l, void *memory, uint32_t dim, uint32_t row_floats, uint32_t room,
                  const struct micro_lora_head *head);

/* hidden (dim) becomes the input of the head; its old value is `last`. With a gate, the adapter
 * acts only near an example, at a cosine of at least LESSONS_NEAR: elsewhere no bit changes. */
void lessons_adapt(struct lessons *l, float *hidden);

/* Call before the first token of a reply is computed, and after its last one: lessons that were
 * near one of its tokens count as used. */
void lessons_reply_begins(struct lessons *l);
void lessons_reply_ends(struct lessons *l);

/* The clock was set for the first time: times before that move by so many seconds. */
void lessons_correct_clock(struct lessons *l, uint64_t change);

static inline bool lessons_is_taught(uint32_t target)
{
    return target < LESSONS_SAID;
}

/* How many examples a lesson can have: taught ones never make room, those of rated replies do. */
uint32_t lessons_most(const struct lessons *l);
/* The rated lesson that goes next, after `after` (UINT32_MAX: first of all): the least used, and
 * of these the oldest. n_notes: there is none. */
uint32_t lessons_next_to_go(const struct lessons *l, uint32_t after);
/* How many of them make room for a lesson of n examples, at most lessons_most. */
uint32_t lessons_to_go(const struct lessons *l, uint32_t n);
/* Call before a lesson of n examples, at most lessons_most, after lessons_to_go others went. text
 * (bytes): what it is about; what does not fit is left out. */
void lessons_begin(struct lessons *l, uint32_t n, enum lesson_kind kind, const char *text,
                   size_t bytes, uint64_t now);
/* Add an example: after `last`, target; with LESSONS_SAID it is not practised, but opens the
 * gate. */
void lessons_add(struct lessons *l, uint32_t target);
/* Drop example i of the current lesson; the gate is no longer open for it. */
void lessons_drop(struct lessons *l, uint32_t i);

static inline bool lessons_has_room(const struct lessons *l)
{
    return l->n < l->room;
}

/* Forget the current lesson and what was learnt in it. False: there is none. */
bool lessons_undo(struct lessons *l);

/* Forget all lessons. */
void lessons_clear(struct lessons *l);

/* ---- saving ---------------------------------------------------------------------------------- */

/* Bytes that lessons_move moves for this many examples and notes. */
uint64_t lessons_move_bytes(const struct lessons *l, uint32_t n_examples, uint32_t n_notes);

/* Passes memory on to a file, or fills it from one. */
typedef enum err lessons_move_fn(void *context, void *memory, size_t bytes);

/* Move everything that was learnt, in one order: counts, weights, EWC penalty, examples, notes. loads:
 * fills memory, which is not trusted before lessons_are_sound. Afterwards there is no lesson to
 * undo. ERR_BAD_MODEL: impossible counts; errors of move, after which a load is incomplete: call
 * lessons_clear. */
enum err lessons_move(struct lessons *l, bool loads, lessons_move_fn *move, void *context);
/* Whether there is no NaN, no weight that a step would not give, no target that the model lacks,
 * and a note for each example. */
bool lessons_are_sound(const struct lessons *l, uint32_t vocab);
/* A file of an earlier version has examples without notes: make notes for them. */
void lessons_note_old(struct lessons *l);

#endif
