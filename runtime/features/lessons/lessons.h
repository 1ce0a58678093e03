/* A learner and its examples. The layers do not change, so a lesson's hidden states stay valid. As
 * many examples as fit are kept, and a new lesson also practises the old examples. The chat owns
 * the lessons; the transformer calls them to adapt states. */
#ifndef INGOT_RUNTIME_LEARN_LESSONS_H
#define INGOT_RUNTIME_LEARN_LESSONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"
#include "runtime/features/lessons/learner.h"

#define LESSONS_NEAR 0.99f

/* If an example's target has this flag, the example is not practised and only opens the gate. */
#define LESSONS_SAID 0x80000000u
#define LESSONS_NO_TARGET UINT32_MAX /* LESSONS_SAID without a token */

enum {
    LESSONS_LEAST_ROOM =
        512, /* room for at least this many examples, which are tokens of answers */
    LESSONS_MOST_ROOM = 2048,
    LESSONS_NOTE_SHARE = 4, /* examples for each note */
    LESSONS_TEXT_BYTES = 79,
};

enum lesson_kind { LESSON_TAUGHT, LESSON_GOOD, LESSON_BAD, LESSON_KINDS };

/* The subject of a lesson. Examples of a lesson are adjacent, and lie in the order of the notes. */
struct lessons_note {
    uint64_t made;      /* when the note was made, in seconds of the fabric's clock */
    uint32_t used;      /* replies in which an example of the lesson opened the gate */
    uint16_t n;         /* number of the lesson's examples */
    uint8_t kind;       /* enum lesson_kind */
    uint8_t spoke;      /* the gate opened in the current reply */
    uint8_t text_bytes; /* bytes of `text`, which is the question, or the text before the rated
                         * reply */
    char text[LESSONS_TEXT_BYTES];
};

struct lessons {
    struct learner learner;
    struct micro_lora_head head;
    bool gated;
    bool in_file; /* these lessons were saved or loaded, so a save replaces them even with none */
    uint32_t dim, row_floats;
    uint32_t room;     /* the most examples; the most notes are room / LESSONS_NOTE_SHARE */
    uint32_t n, first; /* number of examples, and index of the current lesson's first example */
    uint32_t n_notes;  /* number of lessons that still have examples, oldest first */
    struct lessons_note *notes;
    float *hidden;      /* (room, dim) normed hidden states, not adapted */
    float *lengths;     /* (room) lengths of the hidden states */
    uint32_t *targets;  /* (room) tokens that follow the hidden states */
    float *error, *row; /* (row_floats) error of a step, and a row of the head */
    float *last;        /* (dim) the latest hidden state before it was adapted */
};

/* Return the room for examples if a plan has this many bytes left. */
uint32_t lessons_plan_room(uint32_t dim, uint64_t bytes);
/* Return how many bytes of memory the lessons need. A hidden state has `dim` numbers; a row of the
 * head has row_floats, padding included. */
size_t lessons_bytes(uint32_t dim, uint32_t row_floats, uint32_t room);
/* memory: lessons_bytes(), 64-byte aligned. */
void lessons_open(struct lessons *l, void *memory, uint32_t dim, uint32_t row_floats, uint32_t room,
                  const struct micro_lora_head *head);

/* Change `hidden` (dim) to the input of the head; `last` keeps the old value. If there is a gate,
 * the adapter changes only states that are near an example: the cosine of state and example is
 * LESSONS_NEAR or more. */
void lessons_adapt(struct lessons *l, float *hidden);

/* Call before the first token of a reply is computed, and after its last token. Lessons that were
 * near a token of the reply count as used. */
void lessons_reply_begins(struct lessons *l);
void lessons_reply_ends(struct lessons *l);

/* After the clock was set for the first time, from `clock` to `now`, turn times that were counted
 * from a start into dates. A time after `clock` is from an earlier start and becomes `now`. Times
 * that are dates stay. */
void lessons_correct_clock(struct lessons *l, uint64_t clock, uint64_t now);

static inline bool lessons_is_taught(uint32_t target)
{
    return target < LESSONS_SAID;
}

/* Return true if text (bytes) is the question of a taught answer. Longer questions than a note keeps
 * are not found. */
bool lessons_have_taught(const struct lessons *l, const char *text, size_t bytes);

/* Return how many examples a lesson can have. Taught examples stay; examples of rated replies can
 * be dropped to make room. */
uint32_t lessons_most(const struct lessons *l);
/* Return the rated lesson that is dropped next after the lesson `after`; UINT32_MAX asks for the
 * first. The least used lessons are dropped first, and the oldest first among equals. Returns
 * n_notes if no lesson is left. */
uint32_t lessons_next_to_go(const struct lessons *l, uint32_t after);
/* Return how many lessons must be dropped for a lesson of n <= lessons_most() examples. */
uint32_t lessons_to_go(const struct lessons *l, uint32_t n);
/* Begin a lesson of n <= lessons_most() examples, and drop lessons_to_go() lessons. text (bytes) is
 * the lesson's subject; it is cut if it is too long. */
void lessons_begin(struct lessons *l, uint32_t n, enum lesson_kind kind, const char *text,
                   size_t bytes, uint64_t now);
/* Add an example. `target` is the token after the state `last`. If it has the flag LESSONS_SAID,
 * the example is not practised, but opens the gate. */
void lessons_add(struct lessons *l, uint32_t target);
/* Drop example i of the current lesson. The gate then shuts at the example. */
void lessons_drop(struct lessons *l, uint32_t i);

static inline bool lessons_has_room(const struct lessons *l)
{
    return l->n < l->room;
}

/* Forget the current lesson and what was learnt in it. Returns false if there is no current
 * lesson. */
bool lessons_undo(struct lessons *l);

/* Forget all lessons. */
void lessons_clear(struct lessons *l);

/* ---- saving ---------------------------------------------------------------------------------- */

/* Bytes that lessons_move moves for this many examples and notes. */
uint64_t lessons_move_bytes(const struct lessons *l, uint32_t n_examples, uint32_t n_notes);

/* Writes memory to a file, or fills it from a file. */
typedef enum err lessons_move_fn(void *context, void *memory, size_t bytes);

/* Move everything that was learnt, in this order: counts, weights, EWC penalty, examples, notes. If
 * `loads` is true, this fills memory from the file; trust the result only after lessons_are_sound.
 * No lesson can be undone afterwards. Errors: ERR_BAD_MODEL for impossible counts, and those of
 * move. If a load fails, call lessons_clear. */
enum err lessons_move(struct lessons *l, bool loads, lessons_move_fn *move, void *context);
/* Return true if all weights are finite and within a step's limits, all targets are in the model's
 * vocabulary, and each example belongs to a note. */
bool lessons_are_sound(const struct lessons *l, uint32_t vocab);
/* Make notes for the examples of a file of an earlier version, which has no notes. */
void lessons_note_old(struct lessons *l);

#endif
