/* The description of the table for a model. Models are trained on its words, so the words must not
 * change. */
#include "runtime/features/acting/actions.h"

#include <stdarg.h>

#include "board/min_max.h"
#include "runtime/text/format_text.h"

struct writer {
    char *text; /* (ACTIONS_PROMPT_BYTES) */
    size_t n;
};

__attribute__((format(printf, 2, 3))) static void put(struct writer *w, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    w->n += format_text_args(w->text + w->n, ACTIONS_PROMPT_BYTES - w->n, format, args);
    va_end(args);
    w->n = min_size(w->n, ACTIONS_PROMPT_BYTES - 1);
}

static void put_lines(struct writer *w, const struct actions *a, uint32_t lines)
{
    const char *bar = "";

    for (unsigned i = 0; i < a->pins.list.n; i++) {
        if ((lines >> i & 1) != 0) {
            put(w, "%s%s", bar, a->pins.list.pin[i].name);
            bar = "|";
        }
    }
}

static void put_argument(struct writer *w, const struct actions *a, const struct action_argument *g)
{
    put(w, "%s ", g->name);
    switch (g->kind) {
    case ARGUMENT_SWITCH: put(w, "on|off"); break;
    case ARGUMENT_LINE: put_lines(w, a, g->lines); break;
    case ARGUMENT_NUMBER: put(w, "%u..%u", (unsigned)g->least, (unsigned)g->most); break;
    }
}

/* Write a call of the first action of the table, with its first value, as the example. */
static void put_example(struct writer *w, const struct action *first)
{
    put(w, "{\"action\":\"%s\"", first->name);
    if (first->n_arguments != 0) { /* the first argument is a pin, so a value follows it */
        put(w, ",\"value\":\"on\"");
    }
    put(w, "}");
}

size_t actions_prompt(const struct actions *a, char text[ACTIONS_PROMPT_BYTES])
{
    struct writer w = { text, 0 };

    text[0] = '\0';
    if (a->n == 0) {
        return 0;
    }
    put(&w, "You can act. To act, reply with one line of JSON, such as ");
    put_example(&w, &a->list[0]);
    put(&w, ".\nActions:");
    for (unsigned i = 0; i < a->n; i++) {
        const struct action *action = &a->list[i];

        put(&w, "\n%s", action->name);
        for (unsigned k = 0; k < action->n_arguments; k++) {
            put(&w, k == 0 ? ": " : ", ");
            put_argument(&w, a, &action->argument[k]);
        }
    }
    return w.n;
}
