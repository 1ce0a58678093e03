/* Holds a reply to something, such as a grammar (runtime/features/grammar/grammar_constraint.h). A token is sampled first, and asked
 * about alone: mostly it is allowed, and nothing else was done. Only when it is refused the vocabulary is gone through, what may
 * not come is taken out of the logits, and a token is drawn again; the only one that is left takes no draw. So the same seed
 * gives the same text on every machine, and guesses ahead change none. */
#ifndef INGOT_RUNTIME_CONSTRAINT_H
#define INGOT_RUNTIME_CONSTRAINT_H

#include <stdbool.h>
#include <stdint.h>

struct constraint {
    const struct constraint_kind *kind;
    const float *logits; /* (vocab) as they were before sampling: keep */
    bool led;            /* a token of the running reply was refused because of limit */
    bool closes;         /* by the shortest way: close */
};

/* Calls of one reply, in their order. */
struct constraint_kind {
    /* It begins; end_ids (n) and BOS end it, and stay. */
    void (*begin)(struct constraint *c, const uint32_t *end_ids, uint32_t n);
    /* Before each token: how many may still come, this one included. Nothing is refused for it where the text cannot be
     * complete within them anyway. */
    void (*limit)(struct constraint *c, uint32_t tokens);
    /* From here on each token brings the text nearer to its end. False: it is complete, or no end is in reach. */
    bool (*close)(struct constraint *c);
    /* Before the sampler destroys them: logits (vocab). */
    void (*keep)(struct constraint *c, const float *logits);
    /* Whether the token may come next, and if it does, it has. */
    bool (*takes)(struct constraint *c, uint32_t id);
    /* logits (vocab) are the kept ones, minus infinity where a token may not come next. How many may; *only
     * is one of them. 0 as well where finding that out took too long. */
    uint32_t (*mask)(struct constraint *c, float *logits, uint32_t *only);
    /* Whether the text may end here; and whether nothing can come after it. */
    bool (*may_end)(struct constraint *c);
    bool (*is_complete)(struct constraint *c);
};

#endif
