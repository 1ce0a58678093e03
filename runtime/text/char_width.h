/* How wide characters are on a terminal. */
#ifndef INGOT_RUNTIME_CHAR_WIDTH_H
#define INGOT_RUNTIME_CHAR_WIDTH_H

#include <stdbool.h>
#include <stdint.h>

/* Columns that a printable character takes: 0 for combining marks, 2 for East Asian wide forms
 * and pictures. By block, from Unicode's EastAsianWidth.txt. */
unsigned char_width(uint32_t code);

/* Return true if a character belongs to the one before it: marks, variation selectors, joiners. */
bool char_joins(uint32_t code);

#endif
