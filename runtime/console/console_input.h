/* The input half of the console (console_input.c), as console.c starts it; everybody else
 * includes runtime/console/console.h. */
#ifndef INGOT_RUNTIME_CONSOLE_INPUT_H
#define INGOT_RUNTIME_CONSOLE_INPUT_H

#include "runtime/console/console.h"

/* Empty the ring and take input from port, of which getc, idle and echo are used. */
void console_input_init(const struct console_port *port);

#endif
