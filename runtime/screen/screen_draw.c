#include "runtime/screen/screen_draw.h"

#include <string.h>

#include "board/min_max.h"
#include "runtime/screen/glyphs.h"

/* Each step of the scale needs this many lines: with 1080, a character has 16 x 32 pixels. */
enum { LINES_A_SCALE = 540 };

/* 0xRRGGBB. */
static const uint32_t palette[TEXT_COLOURS] = {
    0x000000, 0xc03030, 0x30a030, 0xb08020, 0x4060d0, 0xb040b0, 0x30a8b0, 0xc8c8c8,
    0x787878, 0xff6060, 0x60e060, 0xf0e060, 0x80a0ff, 0xf080f0, 0x70f0f8, 0xffffff,
};

uint32_t screen_draw_scale(const struct board_screen *screen)
{
    return min_u32(max_u32(1, screen->height / LINES_A_SCALE), SCREEN_DRAW_MAX_SCALE);
}

static uint32_t glyph_width(const struct screen_draw *d)
{
    return GLYPH_COLUMNS * d->scale;
}

static uint32_t glyph_height(const struct screen_draw *d)
{
    return GLYPH_ROWS * d->scale;
}

uint32_t screen_draw_columns(const struct screen_draw *d)
{
    return min_u32(d->screen->width / glyph_width(d), TEXT_SCREEN_MAX_COLUMNS);
}

uint32_t screen_draw_rows(const struct screen_draw *d)
{
    return min_u32(d->screen->height / glyph_height(d), TEXT_SCREEN_MAX_ROWS);
}

static uint8_t *row_pixels(const struct screen_draw *d, uint32_t row)
{
    return d->screen->pixels + (size_t)row * glyph_height(d) * d->screen->pitch;
}

static void flush(const struct screen_draw *d, const uint8_t *pixels, size_t bytes)
{
    if (d->screen->flush != NULL) {
        d->screen->flush(pixels, bytes);
    }
}

void screen_draw_open(struct screen_draw *d, const struct board_screen *screen)
{
    size_t bytes = (size_t)screen->height * screen->pitch;

    *d = (struct screen_draw){ .screen = screen, .scale = screen_draw_scale(screen) };
    memset(screen->pixels, 0, bytes);
    flush(d, screen->pixels, bytes);
}

static uint32_t pixel_of(const struct screen_draw *d, uint8_t colour)
{
    uint32_t c = palette[colour % TEXT_COLOURS];

    if (d->screen->bits == 16) {
        return (c >> 8 & 0xf800) | (c >> 5 & 0x07e0) | (c >> 3 & 0x001f);
    }
    return c;
}

static void put_pixel(uint8_t *to, uint32_t bits, uint32_t pixel)
{
    if (bits == 16) {
        *(uint16_t *)(void *)to = (uint16_t)pixel;
    } else {
        *(uint32_t *)(void *)to = pixel;
    }
}

/* Compute four pixels of a glyph in these colours, for all 16 combinations. */
static void mix(struct screen_draw *d, uint8_t front, uint8_t back)
{
    uint32_t bits = d->screen->bits, pixels[2] = { pixel_of(d, back), pixel_of(d, front) };

    if (d->mixed && d->front == front && d->back == back) {
        return;
    }
    d->mixed = true;
    d->front = front;
    d->back = back;
    for (uint32_t four = 0; four < 16; four++) {
        uint8_t *to = (uint8_t *)d->quads[four];

        for (uint32_t i = 0; i < 4 * d->scale; i++) {
            put_pixel(to + i * bits / 8, bits, pixels[four >> (3 - i / d->scale) & 1]);
        }
    }
}

static void draw_cell(struct screen_draw *d, uint32_t row, uint32_t column,
                      const struct text_cell *cell, bool reversed)
{
    const uint8_t *glyph = glyph_rows(cell->code != 0 ? cell->code : ' ');
    uint32_t words = d->scale * d->screen->bits / 16; /* 64-bit words of four pixels of the glyph */
    uint8_t *line = row_pixels(d, row) + (size_t)column * 2 * words * sizeof(uint64_t);

    mix(d, reversed ? cell->back : cell->front, reversed ? cell->front : cell->back);
    for (uint32_t y = 0; y < glyph_height(d); y++, line += d->screen->pitch) {
        const uint8_t bits = glyph[y / d->scale];
        const uint64_t *left = d->quads[bits >> 4], *right = d->quads[bits & 15];
        uint64_t *to = (uint64_t *)(void *)line;

        for (uint32_t i = 0; i < words; i++) {
            to[i] = left[i];
            to[words + i] = right[i];
        }
    }
}

/* Copy rows that scrolled; cells that also changed are drawn afterwards. */
static void move_rows(struct screen_draw *d, struct text_screen *t)
{
    uint32_t kept = t->rows - t->moved;
    size_t row_bytes = (size_t)glyph_height(d) * d->screen->pitch;

    if (t->moved == 0) {
        return;
    }
    memmove(row_pixels(d, 0), row_pixels(d, t->moved), kept * row_bytes);
    flush(d, row_pixels(d, 0), kept * row_bytes);
    d->cursor = d->cursor && d->cursor_at.row >= t->moved;
    d->cursor_at.row -= d->cursor ? t->moved : 0;
    t->moved = 0;
}

static void draw_row(struct screen_draw *d, struct text_screen *t, uint32_t row)
{
    struct text_row *changed = text_screen_changed(t, row);

    if (changed->from == changed->to) {
        return;
    }
    for (uint32_t column = changed->from; column < changed->to; column++) {
        bool under_cursor = d->cursor && d->cursor_at.row == row && d->cursor_at.column == column;

        draw_cell(d, row, column, text_screen_cell(t, row, column), under_cursor);
    }
    flush(d, row_pixels(d, row), (size_t)glyph_height(d) * d->screen->pitch);
    changed->from = changed->to = 0;
}

void screen_draw(struct screen_draw *d, struct text_screen *t)
{
    move_rows(d, t);
    if (d->cursor) {
        text_screen_touch(t, d->cursor_at.row, d->cursor_at.column);
    }
    d->cursor = true;
    d->cursor_at = text_screen_cursor(t);
    text_screen_touch(t, d->cursor_at.row, d->cursor_at.column);
    for (uint32_t row = 0; row < t->rows; row++) {
        draw_row(d, t, row);
    }
}
