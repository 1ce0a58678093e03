/* The boot arguments. Arguments about the board's serial line and storage take effect here. */
#ifndef INGOT_BOOT_ARGUMENTS_H
#define INGOT_BOOT_ARGUMENTS_H

#include <stdbool.h>

#include "board/board.h"
#include "runtime/console/console.h"
#include "runtime/options/options.h"

/* Find out whether a terminal or a program is on the line, before the first log line. Only the
 * options about the line are read here, without a report; arguments_read reads all options
 * again. */
void arguments_find_terminal(struct options *o, struct console *c, const struct machine *machine);

/* Read all arguments into *o, report the errors, and set up the line and the storage as the
 * arguments say. A malformed option keeps its default, and o->refused notes it. Returns false if
 * the prompt of prompt= is malformed, because nobody is at the line to correct it. The seed comes
 * from the clock unless an option gives it. */
bool arguments_read(struct options *o, struct console *c, const struct machine *machine);

#endif
