/* The grammar that constrains replies, and its memory. */
#ifndef INGOT_RUNTIME_APP_GRAMMAR_H
#define INGOT_RUNTIME_APP_GRAMMAR_H

#include "runtime/app/app.h"
#include "runtime/features/feature.h"
#include "runtime/features/grammar/grammar_constraint.h"

struct grammar_state {
    struct grammar_constraint constraint; /* constrains replies; absent before
                                           * grammar_constraint_open */
    bool is_own;                          /* the grammar is a user's, not that of the
                                           * actions */
    size_t bytes;                         /* bytes that came so far of a grammar in
                                           * pieces */
    char error_message[512];
    /* Acting sets these at the start; they stay NULL without actions. */
    void (*otherwise)(struct app *a); /* constrains replies while no grammar is in use */
    bool (*holds)(const struct chat *c, const struct feature_turn *t); /* true if the constraint
                                                                        * applies to the reply to
                                                                        * this turn */
};

static inline struct grammar_state *grammar_of(const struct chat *c)
{
    return c->features->state[FEATURE_grammar];
}

/* Constrain replies from now on. `text` is a list of choices or the name of a file in grammars/;
 * "on", "off" and "" mean no grammar. Errors: ERR_NO_SPACE if the start had no grammar=; those of
 * the files, grammar_open and grammar_from_choices. After an error a->error_message is set, and the
 * previous grammar stays in use. */
enum err app_use_grammar(struct app *a, const char *text);

extern const struct chat_command grammar_command;

#endif
