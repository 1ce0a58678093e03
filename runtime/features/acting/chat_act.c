#include "runtime/features/acting/chat_act.h"

#include <assert.h>
#include <string.h>

#include "board/min_max.h"
#include "runtime/features/acting/action_said.h"
#include "runtime/chat/chat_turn.h"
#include "runtime/features/grammar/app_grammar.h"
#include "runtime/console/console.h"
#include "runtime/console/console_json.h"
#include "runtime/image/image.h"
#include "runtime/text/format_text.h"

/* ---- the system prompt ----------------------------------------------------------------------- */

/* Add the description of the actions to *text (*bytes). */
static void tell(void *state, struct chat *c, const char **text, size_t *bytes)
{
    struct acting_state *s = state;
    char *told = s->told;
    size_t n = *bytes;

    if (s->way == ACTING_BY_CHOICE) {
        return;
    }
    if (*text == NULL && (c->template->flags & INGOT_CHAT_SYSTEM_WHOLE) == 0) {
        uint32_t own;

        *text = image_chat_text(c->template, INGOT_CHAT_SYSTEM, &own);
        n = own;
    } else if (*text == NULL) {
        n = 0;
    }
    n = min_size(n, OPTIONS_SYSTEM_BYTES);
    memcpy(told, *text, n);
    if (n != 0) {
        n += format_text(told + n, sizeof s->told - n, "\n\n");
    }
    n += actions_prompt(s->at_work, told + n);
    *text = told;
    *bytes = n;
}

/* ---- replies that may be calls -------------------------------------------------------------- */

static void release(struct chat_call *k)
{
    k->state = CALL_PROSE;
    if (k->n != 0) {
        k->next.write(k->next.context, k->text, k->n);
    }
    k->n = 0;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void write_text(void *context, const char *text, size_t bytes)
{
    struct chat_call *k = context;
    size_t i = 0;

    if (k->turn->thinks) {
        k->next.write(k->next.context, text, bytes);
        return;
    }
    while (k->state == CALL_BEGINS && i < bytes && is_space(text[i])) {
        i++;
    }
    if (k->state == CALL_BEGINS && i < bytes) {
        k->state = text[i] == '{' ? CALL_HELD : CALL_PROSE;
    }
    if (k->state == CALL_PROSE || k->n + bytes >= sizeof k->text) {
        release(k);
        k->next.write(k->next.context, text, bytes);
        return;
    }
    memcpy(k->text + k->n, text, bytes);
    k->n += bytes;
}

static bool may_call(const struct acting_state *s, const struct chat *c)
{
    return s->way != ACTING_BY_CHOICE || grammar_of(c)->is_own;
}

static void show(void *state, struct feature_turn *t, struct feature_text *to)
{
    struct chat_call *k = &((struct acting_state *)state)->call;

    k->next = *to;
    k->turn = t;
    k->state = t->leads && t->as_turn && may_call(state, t->chat) ? CALL_BEGINS : CALL_PROSE;
    k->n = 0;
    k->reply = ACTION_PROSE;
    *to = (struct feature_text){ write_text, k };
}

/* Show the text that looked like a call but is not one. */
static void show_held(struct chat *c, struct chat_call *k)
{
    k->reply = ACTION_PROSE;
    if (k->n != 0) {
        console_token_begin(c->console, INGOT_NO_TOKEN);
        release(k);
        console_token_end(c->console);
    }
}

static void end(void *state, struct feature_turn *t, enum err error)
{
    struct acting_state *s = state;
    struct chat_call *k = &s->call;
    char copy[ACTION_CALL_BYTES];

    if (k->state != CALL_PROSE && k->n != 0) {
        memcpy(copy, k->text, k->n);
        copy[k->n] = '\0';
        k->reply = action_call_read(s->at_work, copy, k->n, &k->call, k->error_message);
    }
    if (k->reply == ACTION_PROSE || error != ERR_OK) {
        show_held(t->chat, k);
    }
    t->hidden = k->reply != ACTION_PROSE;
    t->leads_on = t->hidden && t->n_led < CHAT_CALLS;
    t->reason = t->hidden ? "actions" : NULL;
}

static void say_end(void *state, const struct feature_turn *t)
{
    if (chat_read_nothing(state, t)) {
        console_printf(t->chat->console, "(no pin or sensor was read for this reply)\n");
    }
    if (t->hidden) {
        console_printf(t->chat->console, "(stopped: a turn may have %u actions)\n",
                       (unsigned)CHAT_CALLS);
    }
}

/* ---- done ------------------------------------------------------------------------------------ */

/* ---- running an action ----------------------------------------------------------------------- */
static void show_done(struct chat *c, const struct chat_call *k, bool done, const char *result)
{
    char arguments[ACTION_TEXT_BYTES] = "";
    const char *dry = acting_of(c)->at_work->pins.dry ? "dry run: " : "";

    if (k->reply == ACTION_CALLED) {
        (void)action_call_text(acting_of(c)->at_work, &k->call, arguments);
    }
    console_to_log(c->console, true);
    console_style(c->console, CONSOLE_DIM);
    if (!done) {
        console_printf(c->console, "(not done: %s)", result);
    } else if (arguments[0] != '\0') {
        console_printf(c->console, "(%s%s: %s)", dry, k->call.action->name, arguments);
    } else {
        console_printf(c->console, "(%s%s)", dry, result);
    }
    console_style(c->console, CONSOLE_NORMAL);
    console_printf(c->console, "\n");
    console_to_log(c->console, false);
}

static void say_event(struct chat *c, const struct chat_call *k, bool done, const char *result)
{
    const struct action *action = k->reply == ACTION_CALLED ? k->call.action : NULL;
    char value[ACTION_TEXT_BYTES];

    console_event_begin(c->console, "'action','name':'%s','done':%s,'dry':%s,'arguments':{",
                        action != NULL ? action->name : "", done ? "true" : "false",
                        acting_of(c)->at_work->pins.dry ? "true" : "false");
    for (unsigned i = 0; action != NULL && i < action->n_arguments; i++) {
        const struct action_argument *g = &action->argument[i];

        console_event_more(c->console, "%s'%s':%s", i == 0 ? "" : ",", g->name,
                           action_value_json(acting_of(c)->at_work, g, k->call.value[i], value));
    }
    console_event_more(c->console, "},'result':'");
    console_write(c->console, result, strlen(result));
    console_event_end(c->console);
}

void chat_show_act(struct chat *c, const struct chat_call *k, bool done, const char *result)
{
    if (console_is_json(c->console)) {
        say_event(c, k, done, result);
    } else {
        show_done(c, k, done, result);
    }
}

void chat_show_read(struct chat *c, const char *result)
{
    console_to_log(c->console, true);
    console_style(c->console, CONSOLE_DIM);
    console_printf(c->console, "(%s)", result);
    console_style(c->console, CONSOLE_NORMAL);
    console_printf(c->console, "\n");
    console_to_log(c->console, false);
}

/* Return true if a person in this conversation has asked for what the call drives. Only text that
 * is known to come from a person counts, not text that tools, actions, files and other programs
 * have put into turns. The last text of a person is the question. */
static bool is_asked(const struct chat *c, const struct action_call *call, char *why)
{
    const struct turns *t = &c->turns;
    struct action_heard heard = { .named = false };
    unsigned question = 0;

    for (unsigned i = 0; i < t->n; i++) {
        question = t->said[i] != 0 ? i : question;
    }
    for (unsigned i = 0; i < t->n; i++) {
        const struct turn *turn = &t->list[i];

        action_hear(acting_of(c)->at_work, call, t->text + turn->text + (turn->bytes - t->said[i]),
                    t->said[i], i == question, &heard);
    }
    return action_is_asked(acting_of(c)->at_work, call, &heard, why);
}

static bool is_stopped(void *context)
{
    return console_aborted(context);
}

size_t chat_act(struct chat *c, const struct chat_call *k, char answer[ACTION_ANSWER_BYTES])
{
    const struct stop stop = { is_stopped, c->console };
    char text[ACTION_TEXT_BYTES];
    const char *result = k->error_message;
    bool done = false;

    if (k->reply == ACTION_CALLED) {
        done = is_asked(c, &k->call, text) &&
               actions_do(acting_of(c)->at_work, &k->call, &stop, text);
        result = text;
    }
    chat_show_act(c, k, done, result);
    return action_answer(answer, done, result);
}

/* ---- the feature ----------------------------------------------------------------------------- */

static bool is_led(void *state, const char *text, size_t bytes)
{
    (void)state;
    return action_is_answer(text, bytes);
}

static size_t next_turn(void *state, struct feature_turn *t, char text[FEATURE_TURN_BYTES])
{
    static_assert((int)ACTION_ANSWER_BYTES <= (int)FEATURE_TURN_BYTES, "an answer has room");
    return chat_act(t->chat, &((struct acting_state *)state)->call, text);
}

/* Measure the way to act again, because other weights may have been trained differently. */
static void weights_changed(void *state, struct chat *c)
{
    struct acting_state *s = state;

    (void)c;
    s->way = ACTING_UNKNOWN;
    memset(s->choice.has_prior, 0, sizeof s->choice.has_prior);
}

static void reset(void *state, struct chat *c)
{
    struct acting_state *s = state;

    s->at_work = NULL;
    weights_changed(state, c);
    features_switch(c->features, FEATURE_acting, false);
}

const struct feature feature_acting = {
    .name = "acting",
    .state_bytes = sizeof(struct acting_state),
    .commands = &actions_command,
    .n_commands = 1,
    .start = app_open_actions,
    .loaded = app_tell_actions,
    .reset = reset,
    .weights_changed = weights_changed,
    .system = tell,
    .is_led = is_led,
    .told = chat_choose_told,
    .shows = show,
    .reply_ends = end,
    .says_end = say_end,
    .next_turn = next_turn,
};
