/* Holds replies to a grammar. A token is sampled first, and asked about alone: mostly it is allowed, and
 * nothing else was done. Only when it is refused the vocabulary is gone through, what may not come is
 * taken out of the logits, and a token is drawn again; the only one that is left takes no draw. So the
 * same seed gives the same text on every machine, and guesses ahead change none.
 *
 * An end of the reply is allowed where the text is complete; where nothing more can come, the reply
 * ends without another token.
 *
 * A reply that may not become longer is led to its end: a token does not come if after it more bytes would be missing
 * than tokens may still come, each byte taking one at most. So a limit, a full context and a reply that repeats itself
 * leave no half of a text. */
#ifndef INGOT_RUNTIME_CONSTRAINT_H
#define INGOT_RUNTIME_CONSTRAINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"
#include "runtime/features/grammar/grammar_rest.h"
#include "runtime/features/grammar/grammar_tokens.h"

struct constraint {
    const struct tokenizer *tokenizer;
    uint32_t vocab;
    bool on; /* a grammar is at work */
    bool
        spent; /* it took more than GRAMMAR_STEPS for a token of the reply at work, which ended there */
    struct grammar grammar;
    void *memory;                    /* (INGOT_GRAMMAR_BYTES) of it */
    struct grammar_machine *machine; /* NULL: there is no room for grammars */
    float *logits;                   /* (vocab) as they were before sampling */
    uint16_t *rest;                  /* (GRAMMAR_STATES) of the grammar at work: grammar_rest.h */
    uint32_t tokens;         /* of the reply at work that may still come: constraint_limit */
    bool closes;             /* by the shortest way: constraint_close */
    bool led;                /* a token of the reply at work was refused for that */
    const uint32_t *end_ids; /* (n_end_ids) of the reply at work */
    uint32_t n_end_ids;
};

/* Bytes for a vocabulary. */
size_t constraint_bytes(uint32_t vocab);
/* No grammar is at work. memory: constraint_bytes(), 64-byte aligned; NULL: none ever will be. t and
 * memory outlive c. */
void constraint_open(struct constraint *c, void *memory, const struct tokenizer *t, uint32_t vocab);

static inline bool constraint_has_room(const struct constraint *c)
{
    return c->machine != NULL;
}

/* The destination of a compiled grammar before constraint_use: INGOT_GRAMMAR_BYTES, 8-byte aligned. The grammar
 * at work is gone. */
void *constraint_memory(struct constraint *c);
/* Memory to make it with, 8-byte aligned, until constraint_use. */
enum { CONSTRAINT_WORK_BYTES = 48 << 10 };
void *constraint_work(struct constraint *c);
/* The `bytes` bytes there are at work from the next reply on. Errors of grammar_open. */
enum err constraint_use(struct constraint *c, size_t bytes, const char **problem);
/* A list of choices is. Errors of grammar_from_choices. */
enum err constraint_use_choices(struct constraint *c, const char *text, const char **problem);
void constraint_off(struct constraint *c);

/* ---- of a reply ---- */

/* It begins; end_ids (n) and BOS end it, and stay. */
void constraint_begin(struct constraint *c, const uint32_t *end_ids, uint32_t n);
/* Before each token: how many may still come, this one included. Nothing is refused for it where the text cannot be
 * complete within them anyway. */
void constraint_limit(struct constraint *c, uint32_t tokens);
/* From here on each token brings the text nearer to its end. False: it is complete, or no end is in reach. */
bool constraint_close(struct constraint *c);
/* Before the sampler destroys them: logits (vocab). */
void constraint_keep(struct constraint *c, const float *logits);
/* Whether the token may come next, and if it does, it has. */
bool constraint_takes(struct constraint *c, uint32_t id);
/* logits (vocab) are the kept ones, minus infinity where a token may not come next. How many may; *only
 * is one of them. 0 as well where finding that out took too long. */
uint32_t constraint_mask(struct constraint *c, float *logits, uint32_t *only);
/* Whether the text is complete and nothing can come after it. */
bool constraint_is_complete(struct constraint *c);

#endif
