/* The line of a console, byte by byte, while a file comes over it: no editing, no echo, and what it sends is written as it
 * is. */
#ifndef INGOT_RUNTIME_CONSOLE_WIRE_H
#define INGOT_RUNTIME_CONSOLE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/console/console.h"

/* From here on Ctrl-C is a byte as others; with `all`, XON and XOFF are, too. Written text stays before the text that comes. */
void console_wire_begin(struct console *c, bool all);

/* Lines again; flow: with XON/XOFF. */
void console_wire_end(struct console *c, bool flow);

/* The next byte; CONSOLE_NO_BYTE: none within so many milliseconds. */
int console_wire_get(struct console *c, uint32_t ms);

void console_wire_put(struct console *c, const uint8_t *bytes, size_t n);

/* The line's rate, after what was written has gone. */
void console_wire_rate(struct console *c, uint32_t baud);

#endif
