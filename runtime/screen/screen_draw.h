/* Turns cells into pixels. If rows moved up, pixels are copied; glyphs are drawn where cells
 * changed. */
#ifndef INGOT_RUNTIME_SCREEN_DRAW_H
#define INGOT_RUNTIME_SCREEN_DRAW_H

#include "board/screen.h"
#include "runtime/screen/text_screen.h"

enum { SCREEN_DRAW_MAX_SCALE = 4 };

struct screen_draw {
    const struct board_screen *screen;
    uint32_t scale; /* display pixels for the width and height of a glyph's
                     * pixel */
    /* The display pixels for four pixels of a glyph, in the colours of the last drawn cell. The
     * index is the four pixels, with the leftmost in the highest bit. */
    uint64_t quads[16][2 * SCREEN_DRAW_MAX_SCALE];
    bool mixed;
    uint8_t front, back;
    bool cursor; /* the cursor is drawn, at cursor_at */
    struct text_place cursor_at;
};

/* Make all pixels black. The screen outlives d. */
void screen_draw_open(struct screen_draw *d, const struct board_screen *screen);

/* Return the value of `scale` that suits a screen. */
uint32_t screen_draw_scale(const struct board_screen *screen);

/* Return how many cells the screen has; screen and scale are set. */
uint32_t screen_draw_columns(const struct screen_draw *d);
uint32_t screen_draw_rows(const struct screen_draw *d);

/* Draw the changed cells, and the cursor, whose cell has its colours swapped. */
void screen_draw(struct screen_draw *d, struct text_screen *t);

#endif
