/* The screen that shows what the console writes: text_screen.h over screen_draw.h. Writing text
 * changes cells, not pixels. Pixels are drawn when there is time: after each drawing, at least
 * SCREEN_REST times its duration passes before the next one. So drawing takes at most 1 /
 * SCREEN_REST of the time, with any display, model and board. */
#ifndef INGOT_RUNTIME_SCREEN_H
#define INGOT_RUNTIME_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"
#include "board/screen.h"
#include "runtime/base/platform.h"
#include "runtime/screen/screen_draw.h"
#include "runtime/screen/text_screen.h"

enum {
    SCREEN_REST = 80, /* 1.25 % */
    SCREEN_HZ = 40,   /* drawings a second at most */
};

struct screen {
    struct board_screen board;
    const struct platform_clock *clock;
    struct text_screen text;
    struct screen_draw draw;
    bool put;           /* something was written since the last drawing */
    uint64_t next_tick; /* only a forced drawing may begin before this tick */
};

/* Check that a screen can be used: its pixels lie within pitch x height bytes (board/screen.h), and
 * it has room for TEXT_SCREEN_MIN_COLUMNS and two rows. Otherwise return ERR_UNSUPPORTED. */
enum err screen_check(const struct board_screen *board);

/* Bytes of memory that screen_open() needs. */
size_t screen_bytes(const struct board_screen *board);

/* Open the screen of a board that screen_check has checked. The screen keeps using `memory`, which
 * is 4-byte aligned. clock outlives s. */
void screen_open(struct screen *s, const struct board_screen *board,
                 const struct platform_clock *clock, void *memory);

/* Write text with control characters, as for a terminal. */
void screen_put(struct screen *s, const char *text, size_t bytes);

/* Draw what was written. If `now` is false, draw only if enough time has passed. */
void screen_refresh(struct screen *s, bool now);

#endif
