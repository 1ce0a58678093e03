/* Holds a reply to something, such as a grammar (runtime/features/grammar/grammar_constraint.h).
 * A token is sampled first and checked alone: usually it is allowed, and nothing else is done.
 * Only if it is refused, the whole vocabulary is checked, banned tokens are removed from the
 * logits, and a token is drawn again; if only one is left, no random number is used. The same
 * seed therefore gives the same text on every machine, and guesses ahead do not change it. */
#ifndef INGOT_RUNTIME_CONSTRAINT_H
#define INGOT_RUNTIME_CONSTRAINT_H

#include <stdbool.h>
#include <stdint.h>

struct constraint {
    const struct constraint_kind *kind;
    const float *logits; /* (vocab) logits before sampling, stored by keep */
    bool led;            /* a token of the running reply was refused because of limit */
    bool closes;         /* lead the text to its end by the shortest way: close */
};

/* Calls of one reply, in their order. */
struct constraint_kind {
    /* It begins; end_ids (n) and BOS end it, and stay valid. */
    void (*begin)(struct constraint *c, const uint32_t *end_ids, uint32_t n);
    /* Before each token: how many may still come, including this one. Refuses nothing because of
     * it if the text cannot be completed within them anyway. */
    void (*limit)(struct constraint *c, uint32_t tokens);
    /* From here on each token brings the text nearer to its end. False: it is complete, or no
     * end is within reach. */
    bool (*close)(struct constraint *c);
    /* Before the sampler destroys them: logits (vocab). */
    void (*keep)(struct constraint *c, const float *logits);
    /* Whether the token may come next; if so, it is accepted. */
    bool (*takes)(struct constraint *c, uint32_t id);
    /* logits (vocab) become the kept ones, with minus infinity for tokens that may not come
     * next. Returns how many may; *only is one of them. 0 also if finding out took too long. */
    uint32_t (*mask)(struct constraint *c, float *logits, uint32_t *only);
    /* Whether the text may end here; and whether nothing can come after it. */
    bool (*may_end)(struct constraint *c);
    bool (*is_complete)(struct constraint *c);
};

#endif
