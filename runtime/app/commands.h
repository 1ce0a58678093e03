/* Commands: lines of the conversation that begin with a slash and a letter
 * (chat_is_command()). */
#ifndef INGOT_RUNTIME_COMMANDS_H
#define INGOT_RUNTIME_COMMANDS_H

#include "runtime/app/app.h"

/* Run a command; line is NUL-terminated and may be overwritten. The answer to an unknown command
 * names the most similar command. */
enum command_result commands_run(struct app *a, char *line);

#endif
