/* Constrains a reply, for example to a grammar (runtime/features/grammar/grammar_constraint.h). A
 * token is sampled first, and only this token is checked: usually it is allowed, and nothing else
 * is done. If the token is refused, the whole vocabulary is checked, banned tokens are removed from
 * the logits, and a token is drawn again; if only one token is left, no random number is used. The
 * same seed therefore gives the same text on every machine, and guessed tokens do not change the
 * text. */
#ifndef INGOT_RUNTIME_CONSTRAINT_H
#define INGOT_RUNTIME_CONSTRAINT_H

#include <stdbool.h>
#include <stdint.h>

struct constraint {
    const struct constraint_kind *kind;
    const float *logits; /* (vocab) logits before sampling, stored by keep */
    bool led;            /* a token of the running reply was refused because of limit */
    bool closes;         /* set by close: lead the text to its end by the shortest way */
};

/* The calls for one reply, in order. */
struct constraint_kind {
    /* A reply begins. end_ids (n), which stay valid, and BOS end the reply. */
    void (*begin)(struct constraint *c, const uint32_t *end_ids, uint32_t n);
    /* Called before each token: `tokens` tokens may still come, this one included. If the text
     * cannot be completed within this number, the limit refuses nothing. */
    void (*limit)(struct constraint *c, uint32_t tokens);
    /* From now on each token brings the text nearer to its end. Return false if the text is
     * complete, or cannot end. */
    bool (*close)(struct constraint *c);
    /* Keep the logits (vocab), before the sampler destroys them. */
    void (*keep)(struct constraint *c, const float *logits);
    /* Return true if the token may come next; the token is then accepted. */
    bool (*takes)(struct constraint *c, uint32_t id);
    /* Restore the kept logits (vocab), with minus infinity for tokens that may not come next.
     * Return how many tokens may come (one of them is *only), or 0 if the check took too long. */
    uint32_t (*mask)(struct constraint *c, float *logits, uint32_t *only);
    /* may_end returns true if the text may end here; is_complete returns true if nothing can come
     * after it. */
    bool (*may_end)(struct constraint *c);
    bool (*is_complete)(struct constraint *c);
};

#endif
