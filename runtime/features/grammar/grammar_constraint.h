/* A grammar that constrains replies (runtime/session/constraint.h).
 *
 * A reply may end when its text is complete; if nothing more can follow, the reply ends without
 * another token.
 *
 * A reply near its limit is led to a complete end: a token is banned if the text would then need
 * more bytes than tokens are left. So a limit, a full context or a repetition does not cut the
 * text. */
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
    bool on;    /* a grammar is in use */
    bool spent; /* the reply ended because a token took more than GRAMMAR_STEPS steps */
    struct grammar grammar;
    void *memory;                    /* (INGOT_GRAMMAR_BYTES) the compiled grammar */
    struct grammar_machine *machine; /* NULL without memory for grammars */
    float *logits;                   /* (vocab) logits before sampling */
    uint16_t *rest;                  /* (GRAMMAR_STATES) made by grammar_rest_of_states() */
    uint32_t tokens;                 /* tokens left for the current reply; set by limit() of
                              * constraint.h */
    const uint32_t *end_ids;         /* (n_end_ids) tokens that end the current reply */
    uint32_t n_end_ids;
};

/* Bytes of memory that a constraint needs for a vocabulary. */
size_t grammar_constraint_bytes(uint32_t vocab);
/* Open without a grammar. `memory` is grammar_constraint_bytes(), 64-byte aligned, or NULL if
 * grammars are never used. t and memory must outlive c. */
void grammar_constraint_open(struct grammar_constraint *c, void *memory, const struct tokenizer *t,
                             uint32_t vocab);

static inline bool grammar_constraint_has_room(const struct grammar_constraint *c)
{
    return c->machine != NULL;
}

/* Return memory for the grammar that grammar_constraint_use will use: INGOT_GRAMMAR_BYTES, 8-byte
 * aligned. The current grammar is dropped. */
void *grammar_constraint_memory(struct grammar_constraint *c);
/* Return work memory to make a grammar, 8-byte aligned and valid until grammar_constraint_use. */
enum { CONSTRAINT_WORK_BYTES = 48 << 10 };
void *grammar_constraint_work(struct grammar_constraint *c);
/* Use the grammar (bytes) in grammar_constraint_memory() from the next reply on. Errors of
 * grammar_open. */
enum err grammar_constraint_use(struct grammar_constraint *c, size_t bytes,
                                const char **error_message);
/* Use a list of choices. Errors of grammar_from_choices. */
enum err grammar_constraint_use_choices(struct grammar_constraint *c, const char *text,
                                        const char **error_message);
void grammar_constraint_off(struct grammar_constraint *c);

#endif
