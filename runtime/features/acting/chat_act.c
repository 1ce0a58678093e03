#include "runtime/features/acting/chat_act.h"

#include <string.h>

#include "board/min_max.h"
#include "runtime/features/acting/action_said.h"
#include "runtime/chat/chat_turn.h"
#include "runtime/console/console.h"
#include "runtime/console/console_json.h"
#include "runtime/image/image.h"
#include "runtime/text/format_text.h"

/* ---- the system prompt ----------------------------------------------------------------------- */

void chat_tell_actions(struct chat *c, const char **text, size_t *bytes)
{
    char *told = c->told;
    size_t n = *bytes;

    if (c->actions == NULL) {
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
        n += format_text(told + n, sizeof c->told - n, "\n\n");
    }
    n += actions_prompt(c->actions, told + n);
    *text = told;
    *bytes = n;
}

/* ---- a reply that may be a call -------------------------------------------------------------- */

void chat_call_open(struct chat_call *k, struct actions *actions,
                    void (*write)(void *context, const char *text, size_t bytes), void *context)
{
    k->actions = actions;
    k->write = write;
    k->context = context;
    k->state = actions != NULL ? CALL_BEGINS : CALL_PROSE;
    k->n = 0;
    k->reply = ACTION_PROSE;
}

void chat_call_release(struct chat_call *k)
{
    k->state = CALL_PROSE;
    if (k->n != 0) {
        k->write(k->context, k->text, k->n);
    }
    k->n = 0;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

void chat_call_write(struct chat_call *k, const char *text, size_t bytes)
{
    size_t i = 0;

    while (k->state == CALL_BEGINS && i < bytes && is_space(text[i])) {
        i++;
    }
    if (k->state == CALL_BEGINS && i < bytes) {
        k->state = text[i] == '{' ? CALL_HELD : CALL_PROSE;
    }
    if (k->state == CALL_PROSE || k->n + bytes >= sizeof k->text) {
        chat_call_release(k);
        k->write(k->context, text, bytes);
        return;
    }
    memcpy(k->text + k->n, text, bytes);
    k->n += bytes;
}

bool chat_call_end(struct chat_call *k)
{
    char copy[ACTION_CALL_BYTES];

    if (k->state == CALL_PROSE || k->n == 0) {
        return false;
    }
    memcpy(copy, k->text, k->n);
    copy[k->n] = '\0';
    k->reply = action_call_read(k->actions, copy, k->n, &k->call, k->problem);
    return k->reply == ACTION_PROSE;
}

/* ---- done ------------------------------------------------------------------------------------ */

/* What was done in one dim line: (light: on), (temperature is 41.5 C). */
static void show(struct chat *c, const struct chat_call *k, bool done, const char *result)
{
    char arguments[ACTION_TEXT_BYTES] = "";
    const char *dry = c->actions->pins.dry ? "dry run: " : "";

    if (k->reply == ACTION_CALLED) {
        (void)action_call_text(c->actions, &k->call, arguments);
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
                        c->actions->pins.dry ? "true" : "false");
    for (unsigned i = 0; action != NULL && i < action->n_arguments; i++) {
        const struct action_argument *g = &action->argument[i];

        console_event_more(c->console, "%s'%s':%s", i == 0 ? "" : ",", g->name,
                           action_value_json(c->actions, g, k->call.value[i], value));
    }
    console_event_more(c->console, "},'result':'");
    console_write(c->console, result, strlen(result));
    console_event_end(c->console);
}

/* Whether a person of this conversation has asked for what the call drives. Only words that are known to be a person's are
 * heard: not what tools, actions, files and other programs have put into turns. The last of them are the question. */
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

        action_hear(c->actions, call, t->text + turn->text + (turn->bytes - t->said[i]), t->said[i],
                    i == question, &heard);
    }
    return action_is_asked(c->actions, call, &heard, why);
}

static bool is_stopped(void *context)
{
    return console_aborted(context);
}

size_t chat_act(struct chat *c, const struct chat_call *k, char answer[ACTION_ANSWER_BYTES])
{
    const struct stop stop = { is_stopped, c->console };
    char text[ACTION_TEXT_BYTES];
    const char *result = k->problem;
    bool done = false;

    if (k->reply == ACTION_CALLED) {
        done = is_asked(c, &k->call, text) && actions_do(c->actions, &k->call, &stop, text);
        result = text;
    }
    if (console_is_json(c->console)) {
        say_event(c, k, done, result);
    } else {
        show(c, k, done, result);
    }
    return action_answer(answer, done, result);
}

unsigned chat_question(const struct chat *c)
{
    const struct turns *t = &c->turns;
    unsigned i = t->n - 1;

    while (i != 0 && action_is_answer(t->text + t->list[i].text, t->list[i].bytes)) {
        i--;
    }
    return i;
}
