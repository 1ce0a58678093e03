/* The memory of grammars, and the grammar in use. */
#include "runtime/features/grammar/app_grammar.h"

#include <string.h>

#include "runtime/app/app_private.h"
#include "runtime/console/console.h"
#include "runtime/features/grammar/grammar.h"
#include "runtime/text/base64.h"
#include "runtime/text/format_text.h"

static size_t session_bytes_with_grammar(const struct image *image)
{
    return session_bytes(image) +
           arena_take_bytes(grammar_constraint_bytes(image->header->params.vocab));
}

static bool has_room(const struct app *a)
{
    return options_given(a->setup.options, OPTION_GRAMMAR) ||
           grammar_of(&a->chat)->otherwise != NULL;
}

/* Copy the message, because reading the previous grammar again would overwrite it. */
static enum err refuse(struct app *a, enum err e, const char *name, const char *error_message)
{
    format_text(grammar_of(&a->chat)->error_message, sizeof grammar_of(&a->chat)->error_message,
                "%.100s%s%s", name, name[0] != '\0' ? ": " : "", error_message);
    return app_fail(a, e, grammar_of(&a->chat)->error_message);
}

static enum err use_file(struct app *a, const char *name)
{
    const struct app_files *files = a->setup.files;
    struct grammar_constraint *c = &grammar_of(&a->chat)->constraint;
    const char *error_message = "";
    size_t bytes;
    enum err e;

    if (files->read_grammar == NULL) {
        return app_fail(a, ERR_UNSUPPORTED, "there is no card that could hold grammars");
    }
    e = files->read_grammar(files->context, name, grammar_constraint_memory(c), &bytes);
    if (e != ERR_OK) {
        return refuse(a, e, "", files->error_message(files->context));
    }
    e = grammar_constraint_use(c, bytes, &error_message);
    return e == ERR_OK ? ERR_OK : refuse(a, e, name, error_message);
}

/* Return true if the text begins with `word`; *rest is the text after it. */
static bool begins(const char *text, const char *word, const char **rest)
{
    size_t n = strlen(word);

    *rest = text + n;
    return strncmp(text, word, n) == 0;
}

/* Take one piece of a compiled grammar, in base64; a program sends it if there is no card. The
 * first piece ends the use of the old grammar, and the last piece starts the use of the new one. */
static enum err use_piece(struct app *a, const char *text, bool last)
{
    struct grammar_constraint *c = &grammar_of(&a->chat)->constraint;
    uint8_t *memory = grammar_constraint_memory(c);
    const char *error_message = "";
    size_t n = 0, before = grammar_of(&a->chat)->bytes;
    enum err e;

    grammar_constraint_off(c);
    grammar_of(&a->chat)->bytes = 0;
    if (!base64_get(memory + before, INGOT_GRAMMAR_BYTES - before, text, strlen(text), &n)) {
        return refuse(a, ERR_BAD_ARGUMENT, "grammar",
                      "a piece of it is not base64, or all pieces together are longer than 64 KiB");
    }
    if (!last) {
        grammar_of(&a->chat)->bytes = before + n;
        return ERR_OK;
    }
    e = grammar_constraint_use(c, before + n, &error_message);
    return e == ERR_OK ? ERR_OK : refuse(a, e, "grammar", error_message);
}

static void hold_otherwise(struct app *a)
{
    struct grammar_state *g = grammar_of(&a->chat);

    grammar_constraint_off(&g->constraint);
    if (g->otherwise != NULL) {
        g->otherwise(a);
    }
}

static enum err use(struct app *a, const char *text)
{
    struct grammar_constraint *c = &grammar_of(&a->chat)->constraint;
    const char *error_message = "";
    const char *rest;
    enum err e = ERR_OK;

    grammar_of(&a->chat)->is_own = true;
    if (begins(text, "piece:", &rest) || begins(text, "last:", &rest)) {
        return use_piece(a, rest, text[0] == 'l');
    }
    grammar_of(&a->chat)->bytes = 0;
    if (text[0] == '\0' || strcmp(text, "on") == 0 || strcmp(text, "off") == 0) {
        grammar_of(&a->chat)->is_own = false;
        hold_otherwise(a);
    } else if (grammar_is_choices(text)) {
        e = grammar_constraint_use_choices(c, text, &error_message);
        e = e == ERR_OK ? ERR_OK : refuse(a, e, "grammar", error_message);
    } else {
        e = use_file(a, text);
    }
    return e;
}

enum err app_use_grammar(struct app *a, const char *text)
{
    char *kept = a->setup.options->load.grammar;
    const char *rest;
    enum err e;

    if (!grammar_constraint_has_room(&grammar_of(&a->chat)->constraint) &&
        strcmp(text, "off") == 0) {
        return ERR_OK;
    }
    if (!grammar_constraint_has_room(&grammar_of(&a->chat)->constraint)) {
        return app_fail(a, ERR_NO_SPACE,
                        "no memory is kept for grammars: start with grammar=on (ingot: --grammar "
                        "on)");
    }
    if (a->setup.options->load.beams > 1) {
        return app_fail(a, ERR_UNSUPPORTED,
                        "a grammar cannot be combined with beams=: start without beams=");
    }
    if (begins(text, "piece:", &rest) || begins(text, "last:", &rest)) {
        format_text(kept, OPTIONS_GRAMMAR_BYTES, "on"); /* a grammar that a program sent is not used
                                                         * for the next model */
        return use(a, text);
    }
    if (strlen(text) >= OPTIONS_GRAMMAR_BYTES) {
        return app_fail(a, ERR_TOO_LONG, "the choices are too long together");
    }
    e = use(a, text);
    if (e == ERR_OK && text != kept) {
        format_text(kept, OPTIONS_GRAMMAR_BYTES, "%s", text);
    } else if (e != ERR_OK && text != kept) {
        (void)use(a, kept); /* this cannot fail, because the grammar was in use before */
        a->error_message = grammar_of(&a->chat)->error_message;
    }
    return e;
}

static void plan(void *state, struct app *a, struct model_setup *setup)
{
    (void)state;
    if (has_room(a)) {
        setup->sequence_bytes = session_bytes_with_grammar;
    }
}

static void open_constraint(void *state, struct app *a)
{
    struct model *m = &a->target.model;
    uint32_t vocab = m->image.header->params.vocab;

    if (!has_room(a)) {
        return;
    }
    features_switch(&a->features, FEATURE_grammar, true);
    grammar_constraint_open(&((struct grammar_state *)state)->constraint,
                            arena_take(&m->arena, ARENA_SCRATCH, grammar_constraint_bytes(vocab)),
                            &m->tokenizer, vocab);
    if (a->setup.options->load.grammar[0] == '\0') {
        hold_otherwise(a);
    } else if (app_use_grammar(a, a->setup.options->load.grammar) != ERR_OK) {
        console_log(a->setup.console, "warning: grammar= has no effect: %s", a->error_message);
    }
}

static void reset(void *state, struct chat *c)
{
    struct grammar_state *g = state;

    memset(&g->constraint, 0, sizeof g->constraint);
    g->is_own = false;
    features_switch(c->features, FEATURE_grammar, false);
}

/* ---- replies --------------------------------------------------------------------------------- */

static void choose(void *state, struct feature_turn *t, struct generate_params *p,
                   struct generator *g)
{
    struct grammar_state *s = state;

    (void)g;
    p->constraint = s->constraint.on && (s->holds == NULL || s->holds(t->chat, t))
                        ? &s->constraint.base
                        : NULL;
}

static void say_end(void *state, const struct feature_turn *t)
{
    const struct grammar_state *g = state;

    if (t->result.end == GENERATE_NO_WAY_ON) {
        console_printf(t->chat->console, "%s\n",
                       g->constraint.spent
                           ? "(stopped: the grammar takes too many steps for a token)"
                           : "(stopped: the grammar allows no token)");
    }
}

static const char *set_field(void *state, struct chat *c, const char *text)
{
    struct app *a = c->features->app;

    (void)state;
    return app_use_grammar(a, text) == ERR_OK ? NULL : a->error_message;
}

static const struct feature_field field = { .name = "grammar", .set = set_field };

const struct feature feature_grammar = {
    .name = "grammar",
    .state_bytes = sizeof(struct grammar_state),
    .commands = &grammar_command,
    .n_commands = 1,
    .field = &field,
    .planned = plan,
    .loaded = open_constraint,
    .reset = reset,
    .chooses = choose,
    .says_end = say_end,
};
