/* The grammar that constrains replies, and its memory. */
#ifndef INGOT_RUNTIME_APP_GRAMMAR_H
#define INGOT_RUNTIME_APP_GRAMMAR_H

#include "runtime/app/app.h"
#include "runtime/features/feature.h"
#include "runtime/features/grammar/grammar_constraint.h"

struct grammar_state {
    struct grammar_constraint constraint; /* constrains replies; absent before
                                           * grammar_constraint_open */
    bool is_own;                          /* a user or /reflect chose the grammar; false: the
                                           * actions made it, or none is in use */
    size_t bytes;                         /* if a grammar comes in pieces, the bytes received so
                                           * far */
    char error_message[512];
    /* The feature "acting" sets these two functions at the start; without actions they stay
     * NULL. */
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
 * "on", "off" and "" mean no grammar. Errors: ERR_NO_SPACE if the board was started without
 * grammar=; the errors of reading the file, of grammar_open and of grammar_from_choices. After an
 * error a->error_message is set, and the previous grammar stays in use. */
enum err app_use_grammar(struct app *a, const char *text);

extern const struct chat_command grammar_command;

#endif
