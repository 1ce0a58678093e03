/* The command that constrains replies by a grammar. */
#include "runtime/app/commands_private.h"
#include "runtime/features/grammar/app_grammar.h"

#include <string.h>

#include "runtime/console/console.h"

static void show(const struct app *a)
{
    const char *name = a->setup.options->load.grammar;

    if (grammar_of(&a->chat)->constraint.on &&
        (name[0] == '\0' || strcmp(name, "on") == 0 || strcmp(name, "off") == 0)) {
        console_printf(a->setup.console, "(replies are free text, or one action of /actions)\n");
    } else if (grammar_of(&a->chat)->constraint.on) {
        console_printf(a->setup.console, "(replies are held to %s)\n",
                       a->setup.options->load.grammar);
    } else {
        console_printf(a->setup.console, "(replies are free text)\n");
    }
}

static enum command_result command_grammar(struct app *a, char *argument)
{
    if (argument[0] != '\0' && app_use_grammar(a, argument) != ERR_OK) {
        console_printf(a->setup.console, "error: %s\n", a->error_message);
        return COMMAND_DONE;
    }
    show(a);
    return COMMAND_DONE;
}

const struct chat_command grammar_command = {
    "grammar", GROUP_MODELS,
    "NAME",    "hold replies to a grammar or to choices (yes|no); off: none",
    true,      command_grammar
};
