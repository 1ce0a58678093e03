/* The shapes of characters on a screen: 8 x 16 pixels. The table is made when Ingot is built, from a font of
 * the distribution (toolchain/make_font.py). */
#ifndef INGOT_RUNTIME_GLYPHS_H
#define INGOT_RUNTIME_GLYPHS_H

#include <stdint.h>

enum { GLYPH_COLUMNS = 8, GLYPH_ROWS = 16 };

/* The rows of a code point's glyph from above, GLYPH_ROWS bytes, the leftmost pixel in the highest bit. For
 * one that the font lacks: those of U+FFFD. */
const uint8_t *glyph_rows(uint32_t code);

#endif
