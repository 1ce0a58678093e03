/* Runs a grammar over bytes. If a byte can be read in several ways, all of them are followed, up to
 * GRAMMAR_WAYS; further ways are dropped. So a very ambiguous grammar may allow less than it
 * describes, but never more, and it allows the same text on every board.
 *
 * Level 0 is the position after the bytes of accepted tokens. Bytes tried for the next token are on
 * higher levels. To take tried bytes back, continue from a lower level. */
#ifndef INGOT_RUNTIME_GRAMMAR_MACHINE_H
#define INGOT_RUNTIME_GRAMMAR_MACHINE_H

#include "runtime/features/grammar/grammar.h"

enum {
    GRAMMAR_WAYS = 24,     /* the most ways to read the text so far */
    GRAMMAR_LEVELS = 256,  /* the most bytes of a token; longer tokens are never allowed */
    GRAMMAR_FRAMES = 4096, /* the most open calls of all states at all levels */
    GRAMMAR_STEPS =
        1 << 27 /* the most steps for a token or a pass over a vocabulary, below 1 s on a PC */
};

/* An open call. States with the same outer calls share frames. */
struct grammar_frame {
    uint16_t call, done; /* the rule called, and how often it has run */
    uint16_t below;      /* the frame of the outer call, or 0 */
    uint16_t depth;
};

struct grammar_way {
    uint16_t state, frame; /* `frame` is 0 if no call is open */
};

struct grammar_level {
    uint16_t n_ways;
    uint16_t n_frames; /* number of frames in use */
    struct grammar_way ways[GRAMMAR_WAYS];
};

/* About 68 KiB. */
struct grammar_machine {
    const struct grammar *grammar;
    uint32_t steps; /* steps since grammar_count_steps; after GRAMMAR_STEPS steps no byte is
                * allowed */
    struct grammar_level levels[GRAMMAR_LEVELS + 1];
    struct grammar_frame frames[GRAMMAR_FRAMES];
    uint16_t moved[GRAMMAR_FRAMES]; /* new positions of frames, during grammar_settle */
};

/* Start before the first byte of a text. g must stay valid while m is used. */
void grammar_begin(struct grammar_machine *m, const struct grammar *g);

/* Count steps from 0. Call before a token or before a pass over all tokens. */
static inline void grammar_count_steps(struct grammar_machine *m)
{
    m->steps = 0;
}

/* Return true if there were too many steps, so that allowed bytes may have been refused. */
static inline bool grammar_is_spent(const struct grammar_machine *m)
{
    return m->steps > GRAMMAR_STEPS;
}

/* Read one byte after the bytes of `level` (below GRAMMAR_LEVELS); the result is at level + 1.
 * Returns false if the byte is not allowed. */
bool grammar_push(struct grammar_machine *m, unsigned level, uint8_t byte);

/* grammar_accepts returns true if the text up to `level` is complete. grammar_goes_on returns true
 * if another byte may follow this text. */
bool grammar_accepts(struct grammar_machine *m, unsigned level);
bool grammar_goes_on(struct grammar_machine *m, unsigned level);

/* Accept the bytes up to `level`, which becomes level 0. */
void grammar_settle(struct grammar_machine *m, unsigned level);

#endif
