/* Reading and answers that the commands share. */
#include "runtime/app/commands_private.h"

#include "runtime/console/console.h"

static void say_sentence(void *context, bool refused, const char *sentence)
{
    console_printf(context, "%s: %s\n", refused ? "error" : "warning", sentence);
}

struct options_report commands_report(struct app *a)
{
    return (struct options_report){ say_sentence, a->setup.console };
}

char *commands_cut_word(char *text, char **rest)
{
    char *end = text;

    while (*end != ' ' && *end != '\0') {
        end++;
    }
    while (*end == ' ') {
        *end++ = '\0';
    }
    *rest = end;
    return text;
}
