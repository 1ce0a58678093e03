/* The boot arguments; those about the board's line and storage are obeyed here. */
#ifndef INGOT_BOOT_ARGUMENTS_H
#define INGOT_BOOT_ARGUMENTS_H

#include <stdbool.h>

#include "board/board.h"
#include "runtime/console/console.h"
#include "runtime/options/options.h"

/* Find out whether a terminal or a program is at the line, before the first log line. The options
 * about it are read here without a report; arguments_read reads all options again. */
void arguments_find_terminal(struct options *o, struct console *c, const struct machine *machine);

/* Read all arguments into *o, say what is wrong with them, and set the line and the storage up
 * as they say. An option that is malformed keeps its default, o->refused notes it. False: the prompt of
 * prompt= is, so that nobody is there to be answered. The seed is the clock's unless it was given. */
bool arguments_read(struct options *o, struct console *c, const struct machine *machine);

#endif
