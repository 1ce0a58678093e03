/* A memory fabric: five namespaces, each an adapter on the last normed hidden state with a gate of its own,
 *
 *     h~ = h + sum_n g_n (32 / r_n) B_n (A_n h)          g_n = sigmoid(w_n x + b_n)
 *
 * where x is the direction of the running mean of the turn's hidden states so far, from the mean of
 * what the model says anyhow. So a memory speaks where somebody speaks of what it is about, and a
 * namespace whose gate is at most FABRIC_SHUT changes no bit. A memory fades with the hours in which nobody
 * needed it. Ranks, decays and rules: docs/FABRIC.md. The chat owns it, the transformer asks it. */
#ifndef INGOT_RUNTIME_LEARN_FABRIC_H
#define INGOT_RUNTIME_LEARN_FABRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"
#include "runtime/features/lessons/micro_lora.h"

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
    FABRIC_LEAST_NOTES = 64, /* that there is room for, and at most: */
    FABRIC_MOST_NOTES = 256,
    FABRIC_TEXT_BYTES = 240, /* of a note */
    FABRIC_LEAST_EXAMPLES =
        256, /* tokens of answers that are learnt by heart, of all notes; at most: */
    FABRIC_MOST_EXAMPLES = 2048,
    FABRIC_RIVALS = MICRO_LORA_CANDIDATES, /* tokens that an example is compared with, best first */
    FABRIC_BACKGROUND = 24,                /* directions of what the model says anyhow */
    FABRIC_SET_CLOCK =
        946684800, /* seconds of the year 2000: one before it counts from the start */
};
#define FABRIC_SHUT 0.01f  /* a gate at most this is not asked */
#define FABRIC_NEAR 0.98f  /* cosine with an example from which on a namespace speaks */
#define FABRIC_STRONG 0.5f /* a note above it is practised with new ones */

struct fabric_kind {
    const char *name;
    uint32_t rank;
    float decay; /* of A and of B an hour */
};
extern const struct fabric_kind fabric_kinds[FABRIC_SPACES];

/* FABRIC_SPACES: none is called so. */
enum fabric_name fabric_find(const char *name, size_t bytes);

/* Something remembered: what was said, and which examples are its. */
struct fabric_note {
    uint8_t space;
    uint8_t n_examples;
    uint16_t first;           /* of its examples */
    uint16_t bytes, question; /* of text, and of the question that it begins with */
    uint32_t used;            /* replies in which its gate was open */
    uint64_t when;            /* seconds of the fabric's clock: learnt, or needed last */
    float strength;           /* what is left of A and B since it was practised, 1 to 0 */
    uint8_t wins;             /* all its examples did when it was practised last */
    uint8_t spoke;            /* in the running reply */
    uint16_t before_bytes;    /* of before */
    uint32_t opening;         /* what it was learnt with (chat_recall_opening) */
    uint64_t made;            /* seconds of the clock: told */
    char text[FABRIC_TEXT_BYTES];
    char before[FABRIC_TEXT_BYTES]; /* the text that it replaced */
};

/* How many there is room for. */
struct fabric_room {
    uint32_t notes, examples;
};

struct fabric_space {
    struct micro_lora lora; /* its scale is 32 / rank */
    float *gate;            /* (dim) w */
    float bias, open;       /* b, and g of the current turn */
    float replied;          /* g of the last reply */
    float *part;            /* (dim) what it adds to the hidden state at work; */
    float norm;             /* its length */
    uint32_t notes;
    uint64_t faded; /* seconds: until when decay is counted */
};

struct fabric {
    uint32_t dim;
    struct fabric_space spaces[FABRIC_SPACES];
    struct fabric_room room;
    struct fabric_note *notes; /* (room.notes) oldest first */
    uint32_t n_notes, n_examples, n_background;
    uint32_t that; /* a note's number from 1 on: told, or needed, last; 0: none */
    uint32_t
        practised; /* a namespace whose examples are looked at: each is near itself; else FABRIC_SPACES */
    uint64_t clock;  /* seconds now */
    uint32_t thrown; /* steps that would have left NaN, or weights too long */
    uint32_t
        conflicts; /* tokens for which two open namespaces wanted opposites: the less sure was left out */
    uint8_t conflict[2]; /* the latest two */
    bool watches, seen;  /* tokens of a turn pass now; some did */
    uint32_t from, n_seen;
    float *sum, *key;  /* (dim) of hidden states; direction of their mean */
    float *centre;     /* (dim) mean of the background */
    float *background; /* (FABRIC_BACKGROUND, dim) means of texts */
    float *keys;       /* (room.notes, dim) means of notes' questions */
    float *hidden;     /* (room.examples, dim) */
    float *lengths;    /* (room.examples) of hidden */
    uint32_t *targets; /* (room.examples) */
    uint32_t *
        rivals; /* (room.examples, FABRIC_RIVALS) since it was compared with all rows of the head; */
    float *taken; /* (room.examples, dim) what the head took then; */
    float
        *ceiling; /* (room.examples) no other row's logit was larger; INFINITY: not compared yet */
    float longest_row;        /* of the head, as a vector; 0: not measured yet */
    uint8_t *lost;            /* (room.examples) did not win: are practised */
    float *last;              /* (dim) the latest hidden state, as it was */
    float *gradient, *before; /* (2, FABRIC_MOST_RANK, dim) of a step */
    float *kept;              /* (2, FABRIC_MOST_RANK, dim) of a namespace, by fabric_keep */
    float *kept_strength;     /* (room.notes) ... and of its notes */
    uint8_t *kept_wins;
};

/* The room of a plan with so many bytes for all: the least, and what a 64th of them holds beyond that. */
struct fabric_room fabric_plan_room(uint32_t dim, uint64_t bytes);
size_t fabric_bytes(uint32_t dim, struct fabric_room room);
/* memory: fabric_bytes(), 64-byte aligned. Nothing is remembered. */
void fabric_open(struct fabric *f, void *memory, uint32_t dim, struct fabric_room room);
void fabric_clear(struct fabric *f);

/* ---- a turn --------------------------------------------------------------------------------- */

/* One begins with the token at position `from`; each of its tokens is seen as it passes the layers, until
 * fabric_hold: from there on the gates stay. No turn: all gates are shut. */
void fabric_watch(struct fabric *f, uint32_t from);
void fabric_see(struct fabric *f, uint32_t position, const float *hidden);
void fabric_hold(struct fabric *f);
void fabric_leave(struct fabric *f);

/* hidden (dim) of a token, normed, becomes what the head takes. */
void fabric_adapt(struct fabric *f, float *hidden);

/* The reply has ended: its gates are kept to be looked at, and notes whose gate was open were needed now. */
void fabric_needed(struct fabric *f);

/* The clock is corrected, and no time has gone by. */
void fabric_correct_clock(struct fabric *f, uint64_t seconds);
/* The clock went on: what nobody needed fades by whole hours. */
void fabric_set_clock(struct fabric *f, uint64_t seconds);

/* ---- remembering ---------------------------------------------------------------------------- */

/* The turn seen becomes one of the background: what gates stay shut for. */
void fabric_add_background(struct fabric *f);

/* The start of the answer of "QUESTION = ANSWER"; text: it is an error message. */
const char *fabric_answer_of(const char *text, size_t bytes);
static inline const char *fabric_answer(const struct fabric_note *n)
{
    return fabric_answer_of(n->text, n->bytes);
}

static inline bool fabric_is_full(const struct fabric *f)
{
    return f->n_notes == f->room.notes;
}
/* Which of n_notes != 0 is missed least: faded first, then used least, then oldest. */
uint32_t fabric_least(const struct fabric *f);

/* A note is made of the turn seen; the fabric is not full. text (bytes <= FABRIC_TEXT_BYTES) begins with the question. */
struct fabric_note *fabric_add_note(struct fabric *f, enum fabric_name space, const char *text,
                                    size_t bytes, size_t question);
/* As many examples of it can follow. */
static inline uint32_t fabric_free_examples(const struct fabric *f)
{
    return f->room.examples - f->n_examples;
}
/* For the latest note: after hidden (dim), target. */
void fabric_add_example(struct fabric *f, const float *hidden, uint32_t target);

/* Gates that are open for their notes, and shut for others' and the background. False: some are not. */
bool fabric_make_gates(struct fabric *f);
/* The gates as for the question of a note. */
void fabric_ask_note(struct fabric *f, const struct fabric_note *n);

/* A step of a namespace from the hidden state h, where e (dim) is the error of a loss that misses its aim
 * by `missing`: as long as it takes to get there, were the loss linear. False: thrown away. */
bool fabric_step(struct fabric *f, enum fabric_name space, const float *h, const float *e,
                 float missing);

/* A namespace's weights, and which of its notes win, are kept, and come back; between the two, notes only come or lose examples. */
void fabric_keep(struct fabric *f, enum fabric_name space);
void fabric_put_back(struct fabric *f, enum fabric_name space);

/* All of a namespace goes. */
void fabric_forget_space(struct fabric *f, enum fabric_name space);
/* Note i goes, and its namespace's weights stay: for one that replaces it. */
void fabric_drop(struct fabric *f, uint32_t i);
/* The note stays, and is known by its words alone. */
void fabric_drop_examples(struct fabric *f, uint32_t i);
/* Note i is told in front of a turn: it was needed now. */
void fabric_need(struct fabric *f, uint32_t i);
/* Note i goes. Its namespace knows nothing then: the others of it have to be practised again. */
void fabric_forget(struct fabric *f, uint32_t i);

/* Notes of one namespace become another's, and dst[:, :r] += .5 src[:, :r] of A and of B, r the smaller
 * rank; src is empty then. */
void fabric_promote(struct fabric *f, enum fabric_name dst, enum fabric_name src);

/* ---- kept beyond a start -------------------------------------------------------------------- */

/* Passes memory on, or fills it. */
typedef enum err fabric_move_fn(void *context, void *memory, size_t bytes);
uint64_t fabric_move_bytes(const struct fabric *f, uint32_t n_notes, uint32_t n_examples);
/* As lessons_move: what was loaded is not believed before fabric_is_sound. */
enum err fabric_move(struct fabric *f, bool loads, fabric_move_fn *move, void *context);
bool fabric_is_sound(const struct fabric *f, uint32_t vocab);

#endif
