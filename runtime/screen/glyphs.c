#include "runtime/screen/glyphs.h"

#include <stddef.h>

struct glyph_run {
    uint16_t first, count, at;
};

#include "font_8x16.inc"

const uint8_t *glyph_rows(uint32_t code)
{
    size_t low = 0, high = sizeof runs / sizeof runs[0];

    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct glyph_run *run = &runs[middle];

        if (code < run->first) {
            high = middle;
        } else if (code >= (uint32_t)run->first + run->count) {
            low = middle + 1;
        } else {
            return glyphs[run->at + (code - run->first)];
        }
    }
    return glyphs[sizeof glyphs / sizeof glyphs[0] - 1]; /* the last glyph, U+FFFD */
}
