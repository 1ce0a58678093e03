/* /reflect: the model looks back at the conversation, with what it remembers by tags; the turn is not part of it afterwards. */
#include <string.h>

#include "runtime/app/commands_private.h"
#include "runtime/console/console.h"

#define QUESTION \
    "Look back at this conversation. What matters in it, and what should be kept in mind?"

static enum command_result command_reflect(struct app *a, char *argument)
{
    const char *question = argument[0] != '\0' ? argument : QUESTION;

    if (chat_reply_aside(&a->chat, question, strlen(question)) == ERR_NOT_FOUND) {
        console_printf(a->setup.console, "error: there is no turn to look back at\n");
    }
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
