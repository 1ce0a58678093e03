#include "runtime/features/acting/action_call.h"

#include <string.h>

#include "runtime/text/format_text.h"
#include "runtime/text/json.h"

/* Messages quote at most this much of a call's text. */
#define SHOWN "%.40s"

/* Format only ASCII, because the text goes to the model and to the console. */
__attribute__((format(printf, 2, 0))) static enum action_reply
wrong(char *error_message, const char *format, const char *what)
{
    format_text(error_message, ACTION_TEXT_BYTES, format, what);
    for (; *error_message != '\0'; error_message++) {
        if (*error_message < ' ' || *error_message > '~') {
            *error_message = '?';
        }
    }
    return ACTION_WRONG;
}

/* ---- values --------------------------------------------------------------------------------- */

/* Read a number of decimal digits without a leading zero, as in the grammar. */
static bool read_number(const char *text, uint32_t *n)
{
    size_t digits = strspn(text, "0123456789");

    *n = 0;
    if (digits == 0 || digits > 7 || text[digits] != '\0' || (text[0] == '0' && digits > 1)) {
        return false;
    }
    for (size_t i = 0; i < digits; i++) {
        *n = *n * 10 + (uint32_t)(text[i] - '0');
    }
    return true;
}

static bool read_switch(const struct json_value *v, uint32_t *on, char *error_message)
{
    *on = strcmp(v->text, "on") == 0;
    if (v->kind == JSON_TEXT && (*on != 0 || strcmp(v->text, "off") == 0)) {
        return true;
    }
    (void)wrong(error_message, SHOWN " is on or off", v->key);
    return false;
}

static bool read_line(const struct actions *a, const struct action_argument *g,
                      const struct json_value *v, uint32_t *line, char *error_message)
{
    *line = PINS_MOST;
    if (v->kind == JSON_TEXT) {
        *line = pin_list_find(&a->pins.list, v->text, v->bytes);
    }
    if (*line < PINS_MOST && (g->lines >> *line & 1) != 0) {
        return true;
    }
    (void)wrong(error_message, "there is no line '" SHOWN "' for this action", v->text);
    return false;
}

static bool read_argument(const struct actions *a, const struct action_argument *g,
                          const struct json_value *v, uint32_t *value, char *error_message)
{
    if (v->kind != JSON_TEXT && v->kind != JSON_NUMBER) {
        (void)wrong(error_message, SHOWN " has a value of another kind", v->key);
        return false;
    }
    switch (g->kind) {
    case ARGUMENT_SWITCH: return read_switch(v, value, error_message);
    case ARGUMENT_LINE: return read_line(a, g, v, value, error_message);
    default: break;
    }
    if (v->kind == JSON_NUMBER && read_number(v->text, value) && *value >= g->least &&
        *value <= g->most) {
        return true;
    }
    format_text(error_message, ACTION_TEXT_BYTES, "%s is a whole number from %u to %u", g->name,
                (unsigned)g->least, (unsigned)g->most);
    return false;
}

/* ---- a call ---------------------------------------------------------------------------------- */

/* The members of a call. Arguments may come before the action's name, so they are kept until all
 * are read. */
struct members {
    struct json_value action, argument[ACTION_ARGUMENTS];
    unsigned n;
    bool has_action;
};

static bool read_members(struct members *m, char *text, size_t bytes, const char **why)
{
    struct json j;
    struct json_value v;

    json_open(&j, text, bytes);
    while (json_member(&j, &v) != JSON_END) {
        if (v.kind == JSON_BAD) {
            *why = j.error_message;
            return false;
        }
        if (strcmp(v.key, "action") == 0 && !m->has_action) {
            m->action = v;
            m->has_action = true;
        } else if (m->n < ACTION_ARGUMENTS) {
            m->argument[m->n++] = v;
        } else {
            *why = "it has more arguments than any action takes";
            return false;
        }
    }
    return true;
}

/* Return the index of the argument of that name, or ACTION_ARGUMENTS if the action has
 * none. */
static unsigned place_of(const struct action *action, const char *key)
{
    for (unsigned k = 0; k < action->n_arguments; k++) {
        if (strcmp(action->argument[k].name, key) == 0) {
            return k;
        }
    }
    return ACTION_ARGUMENTS;
}

static enum action_reply read_arguments(const struct actions *a, const struct members *m,
                                        struct action_call *call, char *error_message)
{
    const struct action *action = call->action;
    uint32_t had = 0;

    for (unsigned i = 0; i < m->n; i++) {
        const struct json_value *v = &m->argument[i];
        unsigned k = place_of(action, v->key);

        if (k == ACTION_ARGUMENTS || (had >> k & 1) != 0) {
            return wrong(error_message,
                         "the action has no argument '" SHOWN "', or takes it only once", v->key);
        }
        if (!read_argument(a, &action->argument[k], v, &call->value[k], error_message)) {
            return ACTION_WRONG;
        }
        had |= UINT32_C(1) << k;
    }
    for (unsigned k = 0; k < action->n_arguments; k++) {
        if ((had >> k & 1) == 0) {
            return wrong(error_message, "the action needs its argument %s",
                         action->argument[k].name);
        }
    }
    return ACTION_CALLED;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

enum action_reply action_call_read(struct actions *a, char *text, size_t bytes,
                                   struct action_call *call, char error_message[ACTION_TEXT_BYTES])
{
    struct members m = { .n = 0 };
    const char *why = "";

    for (; bytes != 0 && is_space(text[0]); bytes--) {
        text++;
    }
    if (bytes == 0 || text[0] != '{') {
        return ACTION_PROSE;
    }
    if (!read_members(&m, text, bytes, &why)) {
        return m.has_action
                   ? wrong(error_message, "the call is not JSON of one action: " SHOWN, why)
                   : ACTION_PROSE;
    }
    if (!m.has_action) {
        return ACTION_PROSE;
    }
    if (m.action.kind != JSON_TEXT) {
        return wrong(error_message, "%s is the name of an action", "action");
    }
    *call = (struct action_call){ .action = actions_find(a, m.action.text, m.action.bytes) };
    if (call->action == NULL) {
        return wrong(error_message, "there is no action '" SHOWN "'", m.action.text);
    }
    return read_arguments(a, &m, call, error_message);
}

/* ---- texts ----------------------------------------------------------------------------------- */

static const char result_begins[] = "{\"result\":\"", error_begins[] = "{\"error\":\"";

size_t action_answer(char out[ACTION_ANSWER_BYTES], bool done, const char *result)
{
    size_t n = format_text(out, ACTION_ANSWER_BYTES, "%s", done ? result_begins : error_begins);

    for (const char *at = result; *at != '\0'; at++) {
        n += json_escape(out + n, at, 1);
    }
    return n + format_text(out + n, ACTION_ANSWER_BYTES - n, "\"}");
}

bool action_is_answer(const char *text, size_t bytes)
{
    size_t result = sizeof result_begins - 1, error = sizeof error_begins - 1;

    return (bytes > result && memcmp(text, result_begins, result) == 0) ||
           (bytes > error && memcmp(text, error_begins, error) == 0);
}

const char *action_call_text(const struct actions *a, const struct action_call *call,
                             char text[ACTION_TEXT_BYTES])
{
    size_t n = 0;

    text[0] = '\0';
    for (unsigned k = 0; k < call->action->n_arguments; k++) {
        const struct action_argument *g = &call->action->argument[k];
        const char *comma = k == 0 ? "" : ", ";
        uint32_t value = call->value[k];

        switch (g->kind) {
        case ARGUMENT_SWITCH:
            n += format_text(text + n, ACTION_TEXT_BYTES - n, "%s%s", comma,
                             value != 0 ? "on" : "off");
            break;
        case ARGUMENT_LINE:
            n += format_text(text + n, ACTION_TEXT_BYTES - n, "%s%s", comma,
                             a->pins.list.pin[value].name);
            break;
        case ARGUMENT_NUMBER:
            n += format_text(text + n, ACTION_TEXT_BYTES - n, "%s%u %s", comma, (unsigned)value,
                             g->name);
            break;
        }
    }
    return text;
}

const char *action_value_json(const struct actions *a, const struct action_argument *g,
                              uint32_t value, char text[ACTION_TEXT_BYTES])
{
    switch (g->kind) {
    case ARGUMENT_SWITCH:
        format_text(text, ACTION_TEXT_BYTES, "\"%s\"", value != 0 ? "on" : "off");
        break;
    case ARGUMENT_LINE:
        format_text(text, ACTION_TEXT_BYTES, "\"%s\"", a->pins.list.pin[value].name);
        break;
    case ARGUMENT_NUMBER: format_text(text, ACTION_TEXT_BYTES, "%u", (unsigned)value); break;
    }
    return text;
}
