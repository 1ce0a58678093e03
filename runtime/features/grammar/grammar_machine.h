/* Runs a grammar over bytes. If a byte can be read in several ways, all of them are followed, up to
 * GRAMMAR_WAYS; further ways are dropped. A very ambiguous grammar may therefore allow less than it
 * describes, but never more, and the same on every machine.
 *
 * Level 0 is the position after the bytes of accepted tokens. Bytes that are tried for the next
 * token are on higher levels; continuing from a lower level takes them back. */
#ifndef INGOT_RUNTIME_GRAMMAR_MACHINE_H
#define INGOT_RUNTIME_GRAMMAR_MACHINE_H

#include "runtime/features/grammar/grammar.h"

enum {
    GRAMMAR_WAYS = 24,     /* ways to read the text so far */
    GRAMMAR_LEVELS = 256,  /* bytes of a token at most: longer tokens are never allowed */
    GRAMMAR_FRAMES = 4096, /* open calls of all states at all levels */
    GRAMMAR_STEPS =
        1 << 27 /* limit for a token, or for a pass over a vocabulary: less than 1 s on a PC */
};

/* An open call. States with the same outer calls share frames. */
struct grammar_frame {
    uint16_t call, done; /* the rule called, and how often it has run */
    uint16_t below;      /* the call that contains it; 0: none */
    uint16_t depth;
};

struct grammar_way {
    uint16_t state, frame; /* frame 0: no call is open */
};

struct grammar_level {
    uint16_t n_ways;
    uint16_t n_frames; /* number of frames in use */
    struct grammar_way ways[GRAMMAR_WAYS];
};

/* About 68 KiB. */
struct grammar_machine {
    const struct grammar *grammar;
    uint32_t steps; /* steps since grammar_count_steps; after GRAMMAR_STEPS no byte is allowed, on
                * any machine */
    struct grammar_level levels[GRAMMAR_LEVELS + 1];
    struct grammar_frame frames[GRAMMAR_FRAMES];
    uint16_t moved[GRAMMAR_FRAMES]; /* new positions of frames, during grammar_settle */
};

/* Start before the first byte of a text. g must stay. */
void grammar_begin(struct grammar_machine *m, const struct grammar *g);

/* Count steps from 0: call before a token, or before a pass over all tokens. */
static inline void grammar_count_steps(struct grammar_machine *m)
{
    m->steps = 0;
}

/* Return true if there were too many steps, so that allowed bytes may have been refused. */
static inline bool grammar_is_spent(const struct grammar_machine *m)
{
    return m->steps > GRAMMAR_STEPS;
}

/* Read one byte after those of `level` (below GRAMMAR_LEVELS); the result is level + 1. Returns
 * false if the byte is not allowed. */
bool grammar_push(struct grammar_machine *m, unsigned level, uint8_t byte);

/* The first returns true if the text up to `level` is complete, the second if a byte may follow. */
bool grammar_accepts(struct grammar_machine *m, unsigned level);
bool grammar_goes_on(struct grammar_machine *m, unsigned level);

/* Accept the bytes up to `level`, which becomes level 0. */
void grammar_settle(struct grammar_machine *m, unsigned level);

#endif
