/* A grammar that holds replies (runtime/session/constraint.h).
 *
 * An end of the reply is allowed where the text is complete; where nothing more can come, the reply
 * ends without another token.
 *
 * A reply that may not become longer is led to its end: a token does not come if after it more bytes would be missing
 * than tokens may still come, each byte taking one at most. So a limit, a full context and a reply that repeats itself
 * leave no half of a text. */
#ifndef INGOT_RUNTIME_GRAMMAR_CONSTRAINT_H
#define INGOT_RUNTIME_GRAMMAR_CONSTRAINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"
#include "runtime/features/grammar/grammar_rest.h"
#include "runtime/features/grammar/grammar_tokens.h"
#include "runtime/session/constraint.h"

extern const struct constraint_kind grammar_kind;

struct grammar_constraint {
    struct constraint base;
    const struct tokenizer *tokenizer;
    uint32_t vocab;
    bool on; /* a grammar is at work */
    bool
        spent; /* it took more than GRAMMAR_STEPS for a token of the running reply, which ended there */
    struct grammar grammar;
    void *memory;                    /* (INGOT_GRAMMAR_BYTES) of it */
    struct grammar_machine *machine; /* NULL: there is no room for grammars */
    float *logits;                   /* (vocab) as they were before sampling */
    uint16_t *rest;                  /* (GRAMMAR_STATES) of the grammar at work: grammar_rest.h */
    uint32_t tokens;         /* of the running reply that may still come: limit() of constraint.h */
    const uint32_t *end_ids; /* (n_end_ids) of the running reply */
    uint32_t n_end_ids;
};

/* Bytes for a vocabulary. */
size_t grammar_constraint_bytes(uint32_t vocab);
/* No grammar is at work. memory: grammar_constraint_bytes(), 64-byte aligned; NULL: none ever will be. t and
 * memory outlive c. */
void grammar_constraint_open(struct grammar_constraint *c, void *memory, const struct tokenizer *t,
                             uint32_t vocab);

static inline bool grammar_constraint_has_room(const struct grammar_constraint *c)
{
    return c->machine != NULL;
}

/* The memory for a compiled grammar before grammar_constraint_use: INGOT_GRAMMAR_BYTES, 8-byte aligned. The grammar
 * at work is gone. */
void *grammar_constraint_memory(struct grammar_constraint *c);
/* Memory to make it with, 8-byte aligned, until grammar_constraint_use. */
enum { CONSTRAINT_WORK_BYTES = 48 << 10 };
void *grammar_constraint_work(struct grammar_constraint *c);
/* The `bytes` bytes there are at work from the next reply on. Errors of grammar_open. */
enum err grammar_constraint_use(struct grammar_constraint *c, size_t bytes,
                                const char **error_message);
/* A list of choices is. Errors of grammar_from_choices. */
enum err grammar_constraint_use_choices(struct grammar_constraint *c, const char *text,
                                        const char **error_message);
void grammar_constraint_off(struct grammar_constraint *c);

#endif
