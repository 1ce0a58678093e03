/* Pixels of the screen: each cell equals the glyph table in any format; scrolled rows are copied,
 * pixels beside the text are untouched, and drawing takes at most its share of the time. */
#include "runtime/screen/screen.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/screen/glyphs.h"
#include "tests/unit/tap.h"

enum { GUARD = 64, CANARY = 0x5a };

static struct display {
    struct board_screen board;
    uint8_t *all;
    size_t bytes, flushed;
} display;

static struct screen s;
static void *cells;
static uint64_t now, a_look;

static uint64_t ticks(void *context)
{
    (void)context;
    return now += a_look;
}

static const struct platform_clock clock_of_test = { .ticks = ticks, .hz = 1000000 };

static void flush(const void *pixels, size_t bytes)
{
    const uint8_t *from = pixels;

    if (from < display.board.pixels || from + bytes > display.board.pixels + display.bytes)
        abort();
    display.flushed += bytes;
}

static void begin(uint32_t width, uint32_t height, uint32_t bits, uint32_t more)
{
    free(display.all);
    free(cells);
    display.board = (struct board_screen){ .width = width,
                                           .height = height,
                                           .bits = bits,
                                           .pitch = width * bits / 8 + more,
                                           .flush = flush };
    display.bytes = (size_t)height * display.board.pitch;
    display.all = malloc(display.bytes + 2 * GUARD);
    memset(display.all, CANARY, display.bytes + 2 * GUARD);
    display.board.pixels = display.all + GUARD;
    cells = malloc(screen_bytes(&display.board));
    screen_open(&s, &display.board, &clock_of_test, cells);
}

static void put(const char *text)
{
    screen_put(&s, text, strlen(text));
}

static uint32_t pixel(uint32_t x, uint32_t y)
{
    const uint8_t *at = display.board.pixels + (size_t)y * display.board.pitch +
                        x * display.board.bits / 8;

    return display.board.bits == 16 ? *(const uint16_t *)(const void *)at
                                    : *(const uint32_t *)(const void *)at;
}

/* Whether the pixels of a cell are its glyph's: one value where a bit is set, another where it is
 * not. */
static bool cell_is_drawn(uint32_t row, uint32_t column, uint32_t front, uint32_t back)
{
    const struct text_cell *cell = text_screen_cell(&s.text, row, column);
    const uint8_t *glyph = glyph_rows(cell->code != 0 ? cell->code : ' ');
    uint32_t scale = s.draw.scale;

    for (uint32_t y = 0; y < GLYPH_ROWS * scale; y++)
        for (uint32_t x = 0; x < GLYPH_COLUMNS * scale; x++) {
            bool set = glyph[y / scale] >> (7 - x / scale) & 1;

            if (pixel((column * 8) * scale + x, row * 16 * scale + y) != (set ? front : back))
                return false;
        }
    return true;
}

/* All cells, of ordinary text with the cursor in it. */
static bool all_is_drawn(uint32_t front)
{
    struct text_place cursor = text_screen_cursor(&s.text);

    for (uint32_t row = 0; row < s.text.rows; row++)
        for (uint32_t column = 0; column < s.text.columns; column++) {
            bool here = cursor.row == row && cursor.column == column;

            if (!cell_is_drawn(row, column, here ? 0 : front, here ? front : 0)) {
                printf("# row %u, column %u\n", (unsigned)row, (unsigned)column);
                return false;
            }
        }
    return true;
}

static bool guards_are_whole(void)
{
    for (size_t i = 0; i < GUARD; i++)
        if (display.all[i] != CANARY || display.all[GUARD + display.bytes + i] != CANARY)
            return false;
    return true;
}

static void test_format(uint32_t width, uint32_t height, uint32_t bits, uint32_t more)
{
    uint32_t front = bits == 16 ? 0xce59 : 0xc8c8c8;
    bool good = true;

    begin(width, height, bits, more);
    screen_refresh(&s, true);
    for (unsigned i = 0; i < 300; i++) {
        char text[80];

        snprintf(text, sizeof text, "%u \xc3\x84\xce\xa9\xd0\x96\xe2\x95\x94 some words%s", i,
                 i % 3 ? "\n" : " ");
        put(text);
        if (i % 7 == 0) {
            screen_refresh(&s, true);
            good = good && all_is_drawn(front);
        }
    }
    screen_refresh(&s, true);
    OK(good && all_is_drawn(front), "%ux%u, %u bits, scale %u: every cell shows its glyph",
       (unsigned)width, (unsigned)height, (unsigned)bits, (unsigned)s.draw.scale);
    OK(guards_are_whole() && display.flushed > display.bytes,
       "nothing beside the picture is written, and all of it is flushed");
}

static void test_colours(void)
{
    begin(640, 480, 32, 0);
    put("\33[1;31mE\33[0;36mR\33[7mV\33[0m ");
    screen_refresh(&s, true);
    OK(cell_is_drawn(0, 0, 0xff6060, 0) && cell_is_drawn(0, 1, 0x30a8b0, 0) &&
           cell_is_drawn(0, 2, 0, 0x30a8b0),
       "a color has 32 bits");
    begin(640, 480, 16, 0);
    put("\33[1;31mE");
    screen_refresh(&s, true);
    OK(cell_is_drawn(0, 0, 0xfb0c, 0), "a color has 16 bits");
}

/* A clock that moves at each look: drawing seems to take 1 ms. */
static void test_share(void)
{
    unsigned drawn = 0;
    uint64_t start;

    begin(640, 480, 32, 0);
    a_look = 1000;
    put("x");
    screen_refresh(&s, true);
    start = now;
    a_look = 0;
    for (unsigned i = 0; i < 1000000; i++) {
        now++;
        put("y");
        a_look = now >= s.next_tick ? 1000 : 0;
        screen_refresh(&s, false);
        drawn += a_look != 0;
        a_look = 0;
    }
    OK(drawn > 5 && drawn * 1000.0 / (double)(now - start) < 0.02,
       "the screen is drawn %u times, in %.2f %% of the time", drawn,
       drawn * 100000.0 / (double)(now - start));
    display.flushed = 0;
    screen_refresh(&s, true);
    screen_refresh(&s, true);
    OK(!s.put, "no cell waits to be drawn");
    display.flushed = 0;
    screen_refresh(&s, true);
    OK(display.flushed == 0, "nothing is drawn if nothing was put");
}

static void test_check(void)
{
    uint64_t one[4];
    struct board_screen good = {
        .pixels = (uint8_t *)one, .width = 640, .height = 480, .pitch = 1280, .bits = 16
    };
    struct board_screen b;

    OK(screen_check(&good) == ERR_OK, "a screen of 640 x 480 is accepted");
    OK((b = good, b.bits = 24, screen_check(&b)) == ERR_UNSUPPORTED, "24 bits are refused");
    OK((b = good, b.pitch = 1276, screen_check(&b)) == ERR_UNSUPPORTED,
       "a pitch shorter than a row is refused");
    OK((b = good, b.pitch = 1282, screen_check(&b)) == ERR_UNSUPPORTED, "an odd pitch is refused");
    OK((b = good, b.width = 63, screen_check(&b)) == ERR_UNSUPPORTED, "seven columns are refused");
    OK((b = good, b.height = 31, screen_check(&b)) == ERR_UNSUPPORTED,
       "a screen of one row is refused");
    OK((b = good, b.height = 1u << 31, screen_check(&b)) == ERR_UNSUPPORTED,
       "more rows than any display has are refused");
    OK((b = good, b.pixels++, screen_check(&b)) == ERR_UNSUPPORTED,
       "pixels at an odd address are refused");
}

static void test_glyphs(void)
{
    const uint8_t *cross = glyph_rows(0x251c);

    OK(glyph_rows('A') != glyph_rows('B') && glyph_rows(0xe9) != glyph_rows(0xfffd) &&
           glyph_rows(0x3a9) != glyph_rows(0xfffd) && glyph_rows(0x416) != glyph_rows(0xfffd),
       "Latin, Greek and Cyrillic letters differ");
    OK(glyph_rows(0x65e5) == glyph_rows(0xfffd) && glyph_rows(0x10ffff) == glyph_rows(0xfffd) &&
           glyph_rows(0) == glyph_rows(0xfffd),
       "characters that the font lacks are U+FFFD");
    OK((cross[0] & 0x18) != 0 && (cross[15] & 0x18) != 0 && memchr(cross, 0x1f, 16) != NULL,
       "a line of a box reaches the edges of its cell");
}

int main(void)
{
    test_format(640, 480, 16, 0);
    test_format(650, 490, 32, 24);
    test_format(1300, 1100, 32, 8);
    test_format(3840, 2160, 16, 0);
    test_format(1920, 1080, 16, 64);
    test_format(64, 32, 16, 0);
    test_colours();
    test_share();
    test_check();
    test_glyphs();
    free(display.all);
    free(cells);
    return tap_done();
}
