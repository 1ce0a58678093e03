/* How wide characters are on a terminal. */
#ifndef INGOT_RUNTIME_CHAR_WIDTH_H
#define INGOT_RUNTIME_CHAR_WIDTH_H

#include <stdbool.h>
#include <stdint.h>

/* Return the columns of a printable character: 0 for combining marks, 2 for East Asian wide forms
 * and pictures, by block of Unicode's EastAsianWidth.txt. */
unsigned char_width(uint32_t code);

/* Return true if a character belongs to the one before it: marks, variation selectors, joiners. */
bool char_joins(uint32_t code);

#endif
