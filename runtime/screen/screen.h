/* The screen that shows what the console writes: text_screen.h over screen_draw.h. Putting text changes
 * cells, not pixels. Those are drawn when there is time: for each tick that drawing took, SCREEN_REST more go by
 * until it begins again. So tokens lose no more than 1 / SCREEN_REST to it, whatever display, model and board. */
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
    SCREEN_HZ = 40,   /* drawn so often a second at most */
};

struct screen {
    struct board_screen board;
    const struct platform_clock *clock;
    struct text_screen text;
    struct screen_draw draw;
    bool put;           /* something was, since it was drawn */
    uint64_t next_tick; /* not before */
};

/* Whether a board's screen can be used: all of its pixels within pitch x height bytes, as screen.h has them, and
 * large enough for TEXT_SCREEN_MIN_COLUMNS and two rows. ERR_UNSUPPORTED. */
enum err screen_check(const struct board_screen *board);

/* Bytes of memory that screen_open() wants. */
size_t screen_bytes(const struct board_screen *board);

/* A checked board's screen; memory, aligned to 4 bytes, stays the screen's. clock outlives s. */
void screen_open(struct screen *s, const struct board_screen *board,
                 const struct platform_clock *clock, void *memory);

/* Text with control characters, as a terminal gets it. */
void screen_put(struct screen *s, const char *text, size_t bytes);

/* Draw what was put: now, or only if it is time. */
void screen_refresh(struct screen *s, bool now);

#endif
