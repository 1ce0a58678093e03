/* Acting for a model that was not trained to act (docs/ACTING.md). Before the model replies, Ingot
 * reads the requested values, decides which actions were requested, and does them. The reply then
 * takes both into account. */
#include <string.h>

#include "board/min_max.h"
#include "runtime/console/console.h"
#include "runtime/features/acting/action_said.h"
#include "runtime/features/acting/chat_act.h"
#include "runtime/features/grammar/app_grammar.h"
#include "runtime/text/format_text.h"

/* ---- which way ------------------------------------------------------------------------------- */

/* Return the way to act, which is measured once for a model and its weights. */
static enum acting_way way_of(struct acting_state *s, struct chat *c, const struct stop *stop)
{
    bool is_trained;

    if (grammar_of(c)->is_own) { /* the user's grammar replaces the grammar of actions */
        return ACTING_BY_CALLS;
    }
    if (s->way == ACTING_UNKNOWN && action_is_trained(&s->choice, c, stop, &is_trained) == ERR_OK) {
        s->way = is_trained ? ACTING_BY_CALLS : ACTING_BY_CHOICE;
    }
    return s->way;
}

/* ---- the text that tells the model ----------------------------------------------------------- */

static void note(struct acting_state *s, const char *result)
{
    s->note_bytes += format_text(s->note + s->note_bytes, sizeof s->note - s->note_bytes, "%s%s",
                                 s->note_bytes == 0 ? "" : "; ", result);
    s->note_bytes = min_size(s->note_bytes, sizeof s->note - 1);
}

static void do_call(struct acting_state *s, struct chat *c, const struct stop *stop)
{
    char result[ACTION_TEXT_BYTES];
    bool done = actions_do(s->at_work, &s->call.call, stop, result);

    s->call.reply = ACTION_CALLED;
    chat_show_act(c, &s->call, done, result);
    note(s, result);
}

/* Read the state of an output; this needs no action, because the board knows it. */
static void read_output(struct acting_state *s, struct chat *c, const struct action *action)
{
    char result[ACTION_TEXT_BYTES];
    bool on;

    if (pins_read(&s->at_work->pins, action->pin, &on) == NULL) {
        format_text(result, sizeof result, "%s is %s", action->name, on ? "on" : "off");
        chat_show_read(c, result);
        note(s, result);
    }
}

static void read_asked(struct acting_state *s, struct chat *c, const struct stop *stop)
{
    struct actions *a = s->at_work;

    for (unsigned i = 0, n = 0; i < a->n && n < CHAT_CALLS; i++) {
        struct action *action = &a->list[i];

        if (!action_form_asks_about(&s->form, a, action)) {
            continue;
        }
        n++;
        if (action->kind != ACTION_OUTPUT) {
            s->call.call = (struct action_call){ .action = action };
            do_call(s, c, stop);
        } else if (action_form_asks(&s->form, a, action->pin) == 0) {
            read_output(s, c, action);
        }
    }
}

/* ---- what is done ---------------------------------------------------------------------------- */

/* Make the last check before an output is driven, as for a call that the model writes. */
static bool is_asked(struct acting_state *s, char why[ACTION_TEXT_BYTES])
{
    struct action_heard heard = { .named = false };

    action_hear(s->at_work, &s->call.call, s->form.request, s->form.bytes, true, &heard);
    return action_is_asked(s->at_work, &s->call.call, &heard, why);
}

static void do_asked(struct acting_state *s, struct feature_turn *t, const struct stop *stop)
{
    struct actions *a = s->at_work;
    char why[ACTION_TEXT_BYTES];

    for (unsigned i = 0, n = 0; i < a->n && n < CHAT_CALLS; i++) {
        struct action *action = &a->list[i];
        unsigned may = action->kind == ACTION_OUTPUT ? action_form_asks(&s->form, a, action->pin)
                                                     : 0;
        enum choice choice;

        if (may == 0) {
            continue;
        }
        n++;
        if (action_choose(&s->choice, t->chat, a, action->pin, may, t->text + (t->bytes - t->said),
                          t->said, stop, &choice) != ERR_OK) {
            chat_show_read(t->chat, "nothing was decided: the context is full, or you stopped it");
            return;
        }
        s->call.call = (struct action_call){ .action = action, .value = { choice == CHOICE_ON } };
        if (choice != CHOICE_NONE && is_asked(s, why)) {
            do_call(s, t->chat, stop);
        }
    }
}

/* ---- the hooks ------------------------------------------------------------------------------- */

static bool is_stopped(void *context)
{
    return console_aborted(context);
}

const char *chat_choose_told(void *state, struct feature_turn *t, size_t *bytes)
{
    struct acting_state *s = state;
    const struct stop stop = { is_stopped, t->chat->console };

    s->note_bytes = 0;
    action_form_read(&s->form, t->text + (t->bytes - t->said), t->said);
    if (way_of(s, t->chat, &stop) != ACTING_BY_CHOICE || s->form.bytes == 0 ||
        t->bytes > FORM_BYTES) {
        return NULL;
    }
    read_asked(s, t->chat, &stop);
    do_asked(s, t, &stop);
    if (s->note_bytes == 0) {
        return NULL;
    }
    /* Leave out the question, because a small model answers it from its training ("The door is
     * open.") and ignores what was read. */
    *bytes = format_text(s->asked, sizeof s->asked, "Reply only with this sentence: The %s.",
                         s->note);
    *bytes = min_size(*bytes, sizeof s->asked - 1);
    return s->asked;
}

bool chat_holds_calls(const struct chat *c, const struct feature_turn *t)
{
    const struct acting_state *s = acting_of(c);

    if (s->at_work == NULL) {
        return true;
    }
    return grammar_of(c)->is_own ? t->n_led == 0 : s->way != ACTING_BY_CHOICE;
}

bool chat_read_nothing(struct acting_state *s, const struct feature_turn *t)
{
    bool asks = false;

    if (s->way == ACTING_BY_CHOICE || t->n_led != 0 || t->hidden || !t->as_turn) {
        return false;
    }
    for (unsigned i = 0; i < s->at_work->n; i++) {
        asks |= s->at_work->list[i].kind != ACTION_OUTPUT &&
                action_form_asks_about(&s->form, s->at_work, &s->at_work->list[i]);
    }
    return asks;
}
