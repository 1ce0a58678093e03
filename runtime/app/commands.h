/* Lines of the conversation that begin with a slash and a letter: chat_is_command() tells them. */
#ifndef INGOT_RUNTIME_COMMANDS_H
#define INGOT_RUNTIME_COMMANDS_H

#include "runtime/app/app.h"

/* Obey; line is NUL-terminated, and may be overwritten. Unknown commands are answered with the
 * nearest one. */
enum command_result commands_run(struct app *a, char *line);

#endif
