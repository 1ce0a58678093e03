/* The grammar that constrains replies, and its memory. */
#ifndef INGOT_RUNTIME_APP_GRAMMAR_H
#define INGOT_RUNTIME_APP_GRAMMAR_H

#include "runtime/app/app.h"
#include "runtime/features/feature.h"
#include "runtime/features/grammar/grammar_constraint.h"

struct grammar_state {
    struct grammar_constraint constraint; /* constraint of replies; none until
                                           * grammar_constraint_open */
    bool is_own;                          /* a user gave the grammar; it is not the grammar of the
                                           * actions */
    size_t bytes;                         /* bytes received so far of a grammar that arrives in
                                           * pieces */
    char error_message[512];
    /* Acting sets these at the start; NULL: there are no actions. */
    void (*otherwise)(struct app *a); /* constrains replies while no grammar is in use */
    bool (*holds)(const struct chat *c, const struct feature_turn *t); /* true if the constraint
                                                                        * applies to the reply to
                                                                        * this turn */
};

static inline struct grammar_state *grammar_of(const struct chat *c)
{
    return c->features->state[FEATURE_grammar];
}

/* Constrain replies from now on. text: a list of choices, or the name of a file of grammars/; with
 * "on", "off" or "" no grammar is used. Errors: ERR_NO_SPACE without grammar= at start, errors of
 * the files, of grammar_open and grammar_from_choices; a->error_message is set, and the previous
 * grammar stays in use. */
enum err app_use_grammar(struct app *a, const char *text);

extern const struct chat_command grammar_command;

#endif
