/* Which grammar holds the replies, and its memory. */
#ifndef INGOT_RUNTIME_APP_GRAMMAR_H
#define INGOT_RUNTIME_APP_GRAMMAR_H

#include "runtime/app/app.h"
#include "runtime/features/feature.h"
#include "runtime/features/grammar/grammar_constraint.h"

struct grammar_state {
    struct grammar_constraint constraint; /* of replies; none until grammar_constraint_open */
    bool is_own;                          /* somebody gave it: it is not the table's of actions */
    size_t bytes;                         /* of one that comes in pieces, so far */
    char error_message[512];
    /* Acting sets these at the start; NULL: it has no actions. */
    void (*otherwise)(struct app *a); /* holds replies while no grammar does */
    bool (*holds)(const struct chat *c, const struct feature_turn *t); /* the reply to this turn */
};

static inline struct grammar_state *grammar_of(const struct chat *c)
{
    return c->features->state[FEATURE_grammar];
}

/* Replies are held to a grammar from now on: choices, a name of grammars/; "on", "off", "": to none. Errors:
 * ERR_NO_SPACE without grammar= at start, those of the files, of grammar_open and grammar_from_choices;
 * a->error_message, and the one before is still at work. */
enum err app_use_grammar(struct app *a, const char *text);

extern const struct chat_command grammar_command;

#endif
