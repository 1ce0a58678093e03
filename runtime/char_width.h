/* How wide characters are on a terminal. */
#ifndef INGOT_RUNTIME_CHAR_WIDTH_H
#define INGOT_RUNTIME_CHAR_WIDTH_H

#include <stdint.h>

/* Columns that a printable character takes: combining marks none, East Asian wide forms and
 * pictures two. By block, after Unicode's EastAsianWidth.txt. */
unsigned char_width(uint32_t code);

#endif
