/* Runs a grammar over bytes. If a byte can be read in several ways, all of them are followed, up to
 * GRAMMAR_WAYS; later ones are lost, so that a grammar that is ambiguous beyond that allows less than it
 * says, the same everywhere, and never more.
 *
 * The machine stands after the bytes of tokens that were accepted, at level 0. Bytes tried on the way
 * to a token lie on levels above it and are taken back by going on from a lower level. */
#ifndef INGOT_RUNTIME_GRAMMAR_MACHINE_H
#define INGOT_RUNTIME_GRAMMAR_MACHINE_H

#include "runtime/features/grammar/grammar.h"

enum {
    GRAMMAR_WAYS = 24,     /* in which the text so far can be read */
    GRAMMAR_LEVELS = 256,  /* bytes of a token at most: longer ones are never allowed */
    GRAMMAR_FRAMES = 4096, /* open calls of all ways at all levels */
    GRAMMAR_STEPS =
        1 << 27 /* of one token, or of one look at all of a vocabulary: below a second on a PC */
};

/* An open call: ways that begin alike share theirs. */
struct grammar_frame {
    uint16_t call, done; /* how often it has run */
    uint16_t below;      /* the call that it is in; 0: none */
    uint16_t depth;
};

struct grammar_way {
    uint16_t state, frame; /* frame 0: no call is open */
};

struct grammar_level {
    uint16_t n_ways;
    uint16_t n_frames; /* in use up to here */
    struct grammar_way ways[GRAMMAR_WAYS];
};

/* About 68 KiB. */
struct grammar_machine {
    const struct grammar *grammar;
    uint32_t
        steps; /* since grammar_count_steps; beyond GRAMMAR_STEPS no byte is allowed, the same everywhere */
    struct grammar_level levels[GRAMMAR_LEVELS + 1];
    struct grammar_frame frames[GRAMMAR_FRAMES];
    uint16_t moved[GRAMMAR_FRAMES]; /* where frames go, while a text is settled */
};

/* Before the first byte of a text. g stays. */
void grammar_begin(struct grammar_machine *m, const struct grammar *g);

/* Steps are counted anew: a token, or a look at all of them, begins. */
static inline void grammar_count_steps(struct grammar_machine *m)
{
    m->steps = 0;
}

/* Whether they were too many, so that more may be allowed than was found. */
static inline bool grammar_is_spent(const struct grammar_machine *m)
{
    return m->steps > GRAMMAR_STEPS;
}

/* One byte after those of `level` (below GRAMMAR_LEVELS), whose result is level + 1. False: it is not
 * allowed there. */
bool grammar_push(struct grammar_machine *m, unsigned level, uint8_t byte);

/* Whether the text up to `level` is complete; and whether any byte may come after it. */
bool grammar_accepts(struct grammar_machine *m, unsigned level);
bool grammar_goes_on(struct grammar_machine *m, unsigned level);

/* The bytes up to `level` are part of the text: it is level 0 from now on. */
void grammar_settle(struct grammar_machine *m, unsigned level);

#endif
