/* A memory fabric: five namespaces, each an adapter on the last normed hidden state with a gate of
 * its own,
 *
 *     h~ = h + sum_n g_n (32 / r_n) B_n (A_n h)          g_n = sigmoid(w_n x + b_n)
 *
 * where x is the direction from the mean of the background to the running mean of the turn's hidden
 * states. So a memory contributes when the turn is about its subject. A namespace whose gate is at
 * most FABRIC_SHUT changes no bit. A memory fades with every hour in which nobody needs it.
 * docs/FABRIC.md has ranks, decays and rules. The chat owns the fabric; the transformer calls
 * it. */
#ifndef INGOT_RUNTIME_LEARN_FABRIC_H
#define INGOT_RUNTIME_LEARN_FABRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"
#include "runtime/features/lessons/micro_lora.h"
#include "runtime/text/civil_time.h"

enum fabric_name {
    FABRIC_PERSONAL,
    FABRIC_EPISODIC,
    FABRIC_WIKI,
    FABRIC_SCHEDULE,
    FABRIC_CONTESTED,
    FABRIC_SPACES
};

enum {
    FABRIC_MOST_RANK = 32,
    FABRIC_LEAST_NOTES = 64, /* every fabric has room for 64 notes or more */
    FABRIC_MOST_NOTES = 256,
    FABRIC_TEXT_BYTES = 240,     /* the most bytes of a note's text */
    FABRIC_LEAST_EXAMPLES = 256, /* every fabric has room for 256 examples, the tokens of answers,
                                  * or more */
    FABRIC_MOST_EXAMPLES = 2048,
    FABRIC_RIVALS = MICRO_LORA_CANDIDATES, /* the strongest other tokens of an example, best
                                            * first */
    FABRIC_BACKGROUND = 24,                /* texts that show what the model says without
                                            * memories */
    FABRIC_SET_CLOCK = CIVIL_TIME_FIRST,   /* a clock below this counts from the machine's start */
};
#define FABRIC_SHUT 0.01f  /* a namespace whose gate is at most this does not contribute */
#define FABRIC_NEAR 0.98f  /* least cosine with an example at which a namespace contributes */
#define FABRIC_STRONG 0.5f /* a note stronger than this is practised with new notes */

struct fabric_kind {
    const char *name;
    uint32_t rank;
    float decay; /* A and B fade by the factor exp(-decay) an hour */
};
extern const struct fabric_kind fabric_kinds[FABRIC_SPACES];

/* Return the namespace of that name, or FABRIC_SPACES if there is none. */
enum fabric_name fabric_find(const char *name, size_t bytes);

/* A memory has a text and examples. */
struct fabric_note {
    uint8_t space;
    uint8_t n_examples;
    uint16_t first;           /* index of the note's first example */
    uint16_t bytes, question; /* bytes of text, and of the question at its beginning */
    uint32_t used;            /* number of replies in which the note's gate was open */
    uint64_t when;            /* when the note was learnt or last needed, in seconds of the
                               * clock */
    float
        strength; /* how much of the note's last practice remains in A and B: 1 is all, 0 nothing */
    uint8_t wins; /* all the note's examples won in its last practice */
    uint8_t spoke;         /* the note's gate was open in the current reply */
    uint16_t before_bytes; /* bytes of `before` */
    uint32_t opening;      /* the note was learnt with this chat_recall_opening */
    uint64_t made;         /* when the note was told, in seconds of the clock */
    char text[FABRIC_TEXT_BYTES];
    char before[FABRIC_TEXT_BYTES]; /* the text that the note replaced */
};

/* The numbers of notes and examples that fit. */
struct fabric_room {
    uint32_t notes, examples;
};

struct fabric_space {
    struct micro_lora lora; /* the adapter; its scale is 32 / rank */
    float *gate;            /* (dim) w */
    float bias, open;       /* b of the gate, and g in the current turn */
    float replied;          /* g in the last reply */
    float *part;            /* (dim) the adapter's contribution to the current hidden state */
    float norm;             /* length of `part` */
    uint32_t notes;
    uint64_t faded; /* seconds up to which decay is counted */
};

struct fabric {
    uint32_t dim;
    struct fabric_space spaces[FABRIC_SPACES];
    struct fabric_room room;
    struct fabric_note *notes; /* (room.notes) oldest first */
    uint32_t n_notes, n_examples, n_background;
    uint32_t that;      /* number (from 1) of the note last told or needed; 0: none */
    uint32_t practised; /* the namespace in practice, which contributes to all states, or
                    * FABRIC_SPACES */
    uint64_t clock;     /* seconds now */
    uint32_t thrown;    /* steps dropped because of NaN or too large weights */
    uint32_t
        conflicts; /* tokens for which two open namespaces disagreed, and the less certain was left
                    * out */
    uint8_t conflict[2]; /* the two namespaces of the latest conflict */
    bool watches, seen;  /* a turn's tokens are watched; some were seen */
    uint32_t from, n_seen;
    float *sum, *key;  /* (dim) sum of hidden states, and the direction of their mean */
    float *centre;     /* (dim) mean of the background */
    float *background; /* (FABRIC_BACKGROUND, dim) means of texts */
    float *keys;       /* (room.notes, dim) means of notes' questions */
    float *hidden;     /* (room.examples, dim) */
    float *lengths;    /* (room.examples) lengths of the hidden states */
    uint32_t *targets; /* (room.examples) */
    uint32_t *rivals;  /* (room.examples, FABRIC_RIVALS) set when an example is compared with all
                 * rows of the head */
    float *taken;      /* (room.examples, dim) the head's input at that comparison */
    float *ceiling; /* (room.examples) the largest logit of other rows at that comparison, at first
                   * INFINITY */
    float longest_row;        /* length of the head's longest row, or 0 if not measured yet */
    uint8_t *lost;            /* (room.examples) 1 if the example did not win */
    float *last;              /* (dim) the latest hidden state, unchanged */
    float *gradient, *before; /* (2, FABRIC_MOST_RANK, dim) gradient of a step */
    float *kept;              /* (2, FABRIC_MOST_RANK, dim) weights of a namespace, saved by
                               * fabric_keep */
    float *kept_strength;     /* (room.notes) strengths of notes, saved by fabric_keep */
    uint8_t *kept_wins;
};

/* Return the room for notes in a plan of this many bytes: the minimum plus what fits in 1/64 of the
 * bytes. */
struct fabric_room fabric_plan_room(uint32_t dim, uint64_t bytes);
size_t fabric_bytes(uint32_t dim, struct fabric_room room);
/* Open an empty fabric. memory: fabric_bytes(), 64-byte aligned. */
void fabric_open(struct fabric *f, void *memory, uint32_t dim, struct fabric_room room);
void fabric_clear(struct fabric *f);

/* ---- a turn --------------------------------------------------------------------------------- */

/* Begin a turn with the token at position `from`. The fabric sees the hidden state of each
 * of the turn's tokens until fabric_hold fixes the gates. Without a turn all gates are
 * shut. */
void fabric_watch(struct fabric *f, uint32_t from);
void fabric_see(struct fabric *f, uint32_t position, const float *hidden);
void fabric_hold(struct fabric *f);
void fabric_leave(struct fabric *f);

/* Change `hidden` (dim), the normed state of a token, to the input of the head. */
void fabric_adapt(struct fabric *f, float *hidden);

/* Call after a reply. The reply's gates are kept for display, and notes whose gate was open count
 * as needed now. */
void fabric_needed(struct fabric *f);

/* Correct the clock. Nothing fades. */
void fabric_correct_clock(struct fabric *f, uint64_t seconds);
/* Advance the clock. Notes that nobody needed fade by whole hours. */
void fabric_set_clock(struct fabric *f, uint64_t seconds);

/* ---- remembering ---------------------------------------------------------------------------- */

/* Add the turn to the background. Gates stay shut for turns of the background. */
void fabric_add_background(struct fabric *f);

/* Return the start of the answer in "QUESTION = ANSWER", or text if it is a sentence. */
const char *fabric_answer_of(const char *text, size_t bytes);
static inline const char *fabric_answer(const struct fabric_note *n)
{
    return fabric_answer_of(n->text, n->bytes);
}

static inline bool fabric_is_full(const struct fabric *f)
{
    return f->n_notes == f->room.notes;
}
/* Return the least valuable note: the most faded, then the least used, then the oldest. n_notes is
 * not 0. */
uint32_t fabric_least(const struct fabric *f);

/* Begin the adapter of a namespace anew if no note of the namespace is strong. Call this before a
 * note is added: both matrices of an adapter fade, also those of a namespace without notes, and
 * from faded ones practice takes far too long steps, or none. Faded notes are not used. */
void fabric_renew(struct fabric *f, enum fabric_name space);
/* Make a note of the turn; the fabric must not be full. text (bytes <= FABRIC_TEXT_BYTES) begins
 * with the question. */
struct fabric_note *fabric_add_note(struct fabric *f, enum fabric_name space, const char *text,
                                    size_t bytes, size_t question);
/* Return how many examples can be added. */
static inline uint32_t fabric_free_examples(const struct fabric *f)
{
    return f->room.examples - f->n_examples;
}
/* Add an example to the latest note. `target` is the token after the state `hidden` (dim). */
void fabric_add_example(struct fabric *f, const float *hidden, uint32_t target);

/* Compute gates that are open for their own notes, and shut for other notes and the background.
 * Returns false if some gates fail. */
bool fabric_make_gates(struct fabric *f);
/* Set the gates as they are when the note's question is asked. */
void fabric_ask_note(struct fabric *f, const struct fabric_note *n);

/* Train a namespace with one step for the hidden state h. `e` (dim) is the error of a loss, and
 * `missing` is how far the loss is from its aim. If the loss were linear, the step would reach the
 * aim. Returns false if the step was dropped. */
bool fabric_step(struct fabric *f, enum fabric_name space, const float *h, const float *e,
                 float missing);

/* Save and restore a namespace's weights, and which of its notes win. Between the two calls, do not
 * drop a note; notes may be added or lose examples. */
void fabric_keep(struct fabric *f, enum fabric_name space);
void fabric_put_back(struct fabric *f, enum fabric_name space);

/* Drop everything in a namespace. */
void fabric_forget_space(struct fabric *f, enum fabric_name space);
/* Drop note i because another note replaces it; the weights of the namespace do not change. */
void fabric_drop(struct fabric *f, uint32_t i);
/* Drop a note's examples. The note is then found only by its words. */
void fabric_drop_examples(struct fabric *f, uint32_t i);
/* Count note i as needed now, because it was put in front of a turn. */
void fabric_need(struct fabric *f, uint32_t i);
/* Drop note i. The namespace then knows nothing, so practise its other notes again. */
void fabric_forget(struct fabric *f, uint32_t i);

/* Move the notes of src to dst, and compute dst[:, :r] += .5 src[:, :r] for A and for B, where r is
 * the smaller rank. src is empty afterwards. */
void fabric_promote(struct fabric *f, enum fabric_name dst, enum fabric_name src);

/* ---- saving --------------------------------------------------------------------------------- */

/* Writes memory to a file, or fills it from a file. */
typedef enum err fabric_move_fn(void *context, void *memory, size_t bytes);
uint64_t fabric_move_bytes(const struct fabric *f, uint32_t n_notes, uint32_t n_examples);
/* Like lessons_move. Do not trust loaded data before fabric_is_sound returns true. */
enum err fabric_move(struct fabric *f, bool loads, fabric_move_fn *move, void *context);
bool fabric_is_sound(const struct fabric *f, uint32_t vocab);

#endif
