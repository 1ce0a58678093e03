/* Lines of the conversation that begin with a slash and a letter, as chat_is_command() finds
 * them. */
#ifndef INGOT_RUNTIME_COMMANDS_H
#define INGOT_RUNTIME_COMMANDS_H

#include "runtime/app/app.h"

/* Run a command; line is NUL-terminated and may be overwritten. An unknown command is answered
 * with the most similar one. */
enum command_result commands_run(struct app *a, char *line);

#endif
