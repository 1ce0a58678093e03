/* Parsing and answers that several commands share. */
#include "runtime/app/commands_private.h"

#include "runtime/console/console.h"

static void say_error_message(void *context, bool refused, const char *error_message)
{
    console_printf(context, "%s: %s\n", refused ? "error" : "warning", error_message);
}

struct options_report commands_report(struct app *a)
{
    return (struct options_report){ say_error_message, a->setup.console };
}

char *commands_cut_word(char *text, char **rest)
{
    char *end = text;

    while (*end != ' ' && *end != '\t' && *end != '\0') {
        end++;
    }
    while (*end == ' ' || *end == '\t') {
        *end++ = '\0';
    }
    *rest = end;
    return text;
}
