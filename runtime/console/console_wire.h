/* A console's line, byte by byte, while a file comes over it: without editing or echo; written
 * bytes go out unchanged. */
#ifndef INGOT_RUNTIME_CONSOLE_WIRE_H
#define INGOT_RUNTIME_CONSOLE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/console/console.h"

/* From now on Ctrl-C is an ordinary byte; with `all`, XON and XOFF are, too. Text written before
 * is sent first. */
void console_wire_begin(struct console *c, bool all);

/* Back to lines; flow: with XON/XOFF. */
void console_wire_end(struct console *c, bool flow);

/* Return the next byte; CONSOLE_NO_BYTE: none arrived within this many milliseconds. */
int console_wire_get(struct console *c, uint32_t ms);

void console_wire_put(struct console *c, const uint8_t *bytes, size_t n);

/* Change the line's rate after written bytes have been sent. */
void console_wire_rate(struct console *c, uint32_t baud);

#endif
