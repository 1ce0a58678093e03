/* /reflect makes the model look back at the conversation and store memories with tags. The turn
 * is removed afterwards. A small model would repeat itself and keep nothing useful
 * (docs/CARDS.md), so it only chooses among the person's sentences, unless a person says what to
 * look for. */
#include <string.h>

#include "runtime/app/commands_private.h"
#include "runtime/console/console.h"
#include "runtime/features/acting/chat_act.h"
#include "runtime/features/grammar/app_grammar.h"
#include "runtime/features/lessons/chat_learn.h"
#include "runtime/features/reflection/reflection_choice.h"
#include "runtime/features/reflection/reflection_grammar.h"

enum { CHOICE_TOKENS = 512 /* more tokens than any choice has */ };

#define QUESTION \
    "Look back at this conversation. What matters in it, and what should be kept in mind?"
#define CHOICE "What did I tell you about?"
#define LEAST_PARAMETERS 1000000000u /* a model with fewer parameters is not asked QUESTION */

static_assert((int)REFLECTION_WORK_BYTES <= (int)CONSTRAINT_WORK_BYTES, "there is room to make it");
static_assert((int)REFLECTION_GRAMMAR_BYTES <= (int)INGOT_GRAMMAR_BYTES, "and room for it");

/* Return the approximate number of a model's parameters, with each layer's experts counted once. */
static uint64_t n_parameters(const struct ingot_params *p)
{
    uint64_t heads = (uint64_t)p->n_heads * p->head_dim, kv = (uint64_t)p->n_kv_heads * p->head_dim;

    return p->n_layers * (2 * p->dim * (heads + kv) + (uint64_t)3 * p->dim * p->hidden) +
           (uint64_t)p->vocab * p->dim;
}

static bool is_small(const struct app *a)
{
    return n_parameters(&a->chat.session->model->image.header->params) < LEAST_PARAMETERS;
}

/* Return true if a grammar can constrain the next reply. For this, memories must be on, a grammar
 * must fit in memory, no grammar of the user may be in use, and there may be no beams. */
static bool may_hold(struct app *a)
{
    const struct grammar_state *g = grammar_of(&a->chat);

    return lessons_of(&a->chat)->learns && grammar_constraint_has_room(&g->constraint) &&
           !g->is_own && a->setup.options->load.beams <= 1;
}

/* Generate the answer. If `holds`, a grammar for it is set, and that of actions is set again
 * afterwards. */
static void answer(struct app *a, const char *question, bool holds)
{
    bool is_own = grammar_of(&a->chat)->is_own;

    grammar_of(&a->chat)->is_own = is_own || holds;
    (void)chat_reply_aside(&a->chat, question, strlen(question));
    grammar_of(&a->chat)->is_own = is_own;
    if (holds) {
        app_hold_to_actions(a);
    }
}

/* ---- a small model --------------------------------------------------------------------------- */

static void let_choose(struct app *a, struct grammar_constraint *c)
{
    const char *choices = reflection_choices(&a->chat), *error_message;
    uint32_t n = a->setup.options->reply.n;

    if (choices == NULL || grammar_constraint_use_choices(c, choices, &error_message) != ERR_OK) {
        console_printf(a->setup.console,
                       "(nothing is kept: no sentence of yours says something new)\n");
        return;
    }
    a->setup.options->reply.n = CHOICE_TOKENS; /* a truncated tag would be useless */
    answer(a, CHOICE, true);
    a->setup.options->reply.n = n;
}

static void say_what_is_missing(struct app *a)
{
    console_printf(a->setup.console,
                   "(the model is not asked: with about %u million parameters it only repeats "
                   "itself. To let it choose among your sentences, %s. "
                   "/remember keeps what you say; /reflect QUESTION asks it nevertheless)\n",
                   (unsigned)(n_parameters(&a->chat.session->model->image.header->params) /
                              1000000),
                   lessons_of(&a->chat)->learns && grammar_of(&a->chat)->is_own
                       ? "use /grammar off"
                       : "start with learn=on and grammar=on, without beams=, and set no grammar");
}

/* ---- a larger model -------------------------------------------------------------------------- */

/* Constrain the next reply to whole tags if may_hold() allows it. Returns false if the reply is not
 * constrained. */
static bool hold_tags(struct app *a, struct grammar_constraint *c)
{
    const char *error_message;

    return may_hold(a) && grammar_constraint_use(c,
                                                 reflection_grammar(grammar_constraint_memory(c),
                                                                    grammar_constraint_work(c)),
                                                 &error_message) == ERR_OK;
}

static enum command_result command_reflect(struct app *a, char *argument)
{
    struct grammar_constraint *c = &grammar_of(&a->chat)->constraint;
    const char *question = argument[0] != '\0' ? argument : QUESTION;

    if (a->chat.turns.n == 0) {
        console_printf(a->setup.console, "error: there is no turn to look back at\n");
        return COMMAND_DONE;
    }
    if (argument[0] == '\0' && is_small(a)) {
        if (may_hold(a)) {
            let_choose(a, c);
        } else {
            say_what_is_missing(a);
        }
        return COMMAND_DONE;
    }
    answer(a, question, hold_tags(a, c));
    return COMMAND_DONE;
}

static const struct chat_command command = {
    "reflect",    GROUP_CONVERSATION,
    "[QUESTION]", "let the model look back; it is not part of the conversation",
    true,         command_reflect
};

const struct feature feature_reflection = { .name = "reflection",
                                            .commands = &command,
                                            .n_commands = 1 };
