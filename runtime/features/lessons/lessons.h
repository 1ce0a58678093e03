/* A learner and its examples. The layers do not change, so the hidden states of a lesson stay
 * valid: as many as fit are kept, and a new lesson practises the old examples as well. The chat
 * owns the lessons; the transformer calls them to adapt states. */
#ifndef INGOT_RUNTIME_LEARN_LESSONS_H
#define INGOT_RUNTIME_LEARN_LESSONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"
#include "runtime/features/lessons/learner.h"

#define LESSONS_NEAR 0.99f

/* A flag of targets: the example is not practised and only opens the gate. */
#define LESSONS_SAID 0x80000000u
#define LESSONS_NO_TARGET UINT32_MAX /* LESSONS_SAID if no token is known */

enum {
    LESSONS_LEAST_ROOM =
        512, /* the least and the most examples (tokens of answers) for which there is room */
    LESSONS_MOST_ROOM = 2048,
    LESSONS_NOTE_SHARE = 4, /* examples for each note */
    LESSONS_TEXT_BYTES = 79,
};

enum lesson_kind { LESSON_TAUGHT, LESSON_GOOD, LESSON_BAD, LESSON_KINDS };

/* The subject of a lesson. Examples of a lesson are adjacent, in the order of the notes. */
struct lessons_note {
    uint64_t made;      /* when it was made, in seconds of the fabric's clock */
    uint32_t used;      /* replies in which the gate opened at one of its examples */
    uint16_t n;         /* its examples */
    uint8_t kind;       /* enum lesson_kind */
    uint8_t spoke;      /* the gate opened in the current reply */
    uint8_t text_bytes; /* bytes of text: the question, or what was said before the rated reply */
    char text[LESSONS_TEXT_BYTES];
};

struct lessons {
    struct learner learner;
    struct micro_lora_head head;
    bool gated;
    uint32_t dim, row_floats;
    uint32_t room;     /* for examples; notes have 1 / LESSONS_NOTE_SHARE of it */
    uint32_t n, first; /* number of examples, and where the current lesson begins */
    uint32_t n_notes;  /* lessons that still have examples, oldest first */
    struct lessons_note *notes;
    float *hidden;      /* (room, dim) normed, not adapted */
    float *lengths;     /* (room) lengths of hidden */
    uint32_t *targets;  /* (room) tokens that come next */
    float *error, *row; /* (row_floats) error of a step, and a row of the head */
    float *last;        /* (dim) the latest hidden state before it was adapted */
};

/* Return the room for examples if a plan has this many bytes left. */
uint32_t lessons_plan_room(uint32_t dim, uint64_t bytes);
/* Bytes of memory. dim: numbers of a hidden state; row_floats: numbers of a row of the head with
 * its padding. */
size_t lessons_bytes(uint32_t dim, uint32_t row_floats, uint32_t room);
/* memory: lessons_bytes(), 64-byte aligned. */
void lessons_open(struct lessons *l, void *memory, uint32_t dim, uint32_t row_floats, uint32_t room,
                  const struct micro_lora_head *head);

/* hidden (dim) becomes the input of the head; its old value is `last`. With a gate, the adapter
 * acts only near an example, at a cosine of at least LESSONS_NEAR; no other state changes a bit. */
void lessons_adapt(struct lessons *l, float *hidden);

/* Call before the first token of a reply is computed, and after its last token: lessons that were
 * near a token of the reply count as used. */
void lessons_reply_begins(struct lessons *l);
void lessons_reply_ends(struct lessons *l);

/* The clock was set for the first time: move earlier times by this many seconds. */
void lessons_correct_clock(struct lessons *l, uint64_t change);

static inline bool lessons_is_taught(uint32_t target)
{
    return target < LESSONS_SAID;
}

/* Return how many examples a lesson can have. Taught examples stay; examples of rated replies can
 * be dropped for it. */
uint32_t lessons_most(const struct lessons *l);
/* Return the rated lesson to drop after the lesson `after`, or the first to drop (UINT32_MAX): the
 * least used lessons come first, among these the oldest. Returns n_notes if there is none. */
uint32_t lessons_next_to_go(const struct lessons *l, uint32_t after);
/* Return how many lessons must be dropped for a lesson of n examples, at most lessons_most. */
uint32_t lessons_to_go(const struct lessons *l, uint32_t n);
/* Call before a lesson of n examples, at most lessons_most; drops lessons_to_go lessons. text
 * (bytes): the lesson's subject, cut if it is too long. */
void lessons_begin(struct lessons *l, uint32_t n, enum lesson_kind kind, const char *text,
                   size_t bytes, uint64_t now);
/* Add an example: target follows the state `last`. With LESSONS_SAID the example is not
 * practised, but opens the gate. */
void lessons_add(struct lessons *l, uint32_t target);
/* Drop example i of the current lesson; the gate is no longer open for it. */
void lessons_drop(struct lessons *l, uint32_t i);

static inline bool lessons_has_room(const struct lessons *l)
{
    return l->n < l->room;
}

/* Forget the current lesson and what was learnt in it. Returns false if there is none. */
bool lessons_undo(struct lessons *l);

/* Forget all lessons. */
void lessons_clear(struct lessons *l);

/* ---- saving ---------------------------------------------------------------------------------- */

/* Bytes that lessons_move moves for this many examples and notes. */
uint64_t lessons_move_bytes(const struct lessons *l, uint32_t n_examples, uint32_t n_notes);

/* Writes memory to a file, or fills it from a file. */
typedef enum err lessons_move_fn(void *context, void *memory, size_t bytes);

/* Move everything that was learnt, in one order: counts, weights, EWC penalty, examples, notes.
 * With `loads` this fills memory, which is not trusted before lessons_are_sound. No lesson can be
 * undone afterwards. ERR_BAD_MODEL: impossible counts; errors of move, after which a load is
 * incomplete: call lessons_clear. */
enum err lessons_move(struct lessons *l, bool loads, lessons_move_fn *move, void *context);
/* Return true if all weights are finite and within a step's limits, all targets are in the model's
 * vocabulary, and each example belongs to a note. */
bool lessons_are_sound(const struct lessons *l, uint32_t vocab);
/* A file of an earlier version has examples without notes: make notes for them. */
void lessons_note_old(struct lessons *l);

#endif
