/* The shapes of characters on a screen: 8 x 16 pixels. The build makes the table from a font of
 * the distribution (toolchain/make_font.py). */
#ifndef INGOT_RUNTIME_GLYPHS_H
#define INGOT_RUNTIME_GLYPHS_H

#include <stdint.h>

enum { GLYPH_COLUMNS = 8, GLYPH_ROWS = 16 };

/* Return the rows of a code point's glyph from the top, GLYPH_ROWS bytes, with the leftmost pixel
 * in the highest bit. If the font lacks the code point, return those of U+FFFD. */
const uint8_t *glyph_rows(uint32_t code);

#endif
