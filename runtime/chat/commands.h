/* Lines of the chat that begin with a slash and a letter. */
#ifndef INGOT_RUNTIME_COMMANDS_H
#define INGOT_RUNTIME_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>

#include "runtime/chat/chat.h"

enum command_result {
    COMMAND_DONE, /* or refused with a sentence */
    COMMAND_ENDS, /* the conversation: /off */
};

/* Whether the line is meant as a command. "//" begins a line for the model that begins with "/". */
bool commands_is_one(const char *line, size_t bytes);

/* Obey; line is NUL-terminated, and may be overwritten. Unknown commands are answered with the
 * nearest one. */
enum command_result commands_run(struct chat *c, char *line);

#endif
