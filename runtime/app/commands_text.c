/* What the commands read and say alike. */
#include "runtime/app/commands_private.h"

#include "runtime/console/console.h"

static void say_sentence(void *context, bool fatal, const char *sentence)
{
    (void)context;
    console_printf("%s: %s\n", fatal ? "error" : "warning", sentence);
}

const struct options_report commands_report = { say_sentence, NULL };

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
