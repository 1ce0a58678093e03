#include "runtime/screen/screen.h"

#include "board/min_max.h"

enum { LEAST_ROWS = 2, MOST_PIXELS = 16384 };

static void open_drawing(struct screen_draw *d, const struct board_screen *board)
{
    *d = (struct screen_draw){ .screen = board, .scale = 1 };
    d->scale = screen_draw_scale(board);
}

enum err screen_check(const struct board_screen *board)
{
    struct screen_draw d;

    if ((board->bits != 16 && board->bits != 32) || board->pixels == NULL ||
        (uintptr_t)board->pixels % 8 != 0 || board->pitch % 8 != 0 || board->width > MOST_PIXELS ||
        board->height > MOST_PIXELS || board->pitch < board->width * (board->bits / 8)) {
        return ERR_UNSUPPORTED;
    }
    open_drawing(&d, board);
    if (screen_draw_columns(&d) < TEXT_SCREEN_MIN_COLUMNS || screen_draw_rows(&d) < LEAST_ROWS) {
        return ERR_UNSUPPORTED;
    }
    return ERR_OK;
}

size_t screen_bytes(const struct board_screen *board)
{
    struct screen_draw d;

    open_drawing(&d, board);
    return text_screen_bytes(screen_draw_columns(&d), screen_draw_rows(&d));
}

void screen_open(struct screen *s, const struct board_screen *board,
                 const struct platform_clock *clock, void *memory)
{
    *s = (struct screen){ .board = *board, .clock = clock };
    screen_draw_open(&s->draw, &s->board);
    text_screen_open(&s->text, screen_draw_columns(&s->draw), screen_draw_rows(&s->draw), memory);
}

void screen_put(struct screen *s, const char *text, size_t bytes)
{
    text_screen_put(&s->text, text, bytes);
    s->put = true;
}

void screen_refresh(struct screen *s, bool now)
{
    uint64_t start, took;

    if (!s->put) {
        return;
    }
    start = platform_ticks(s->clock);
    if (!now && start < s->next_tick) {
        return;
    }
    s->put = false;
    screen_draw(&s->draw, &s->text);
    took = platform_ticks(s->clock) - start;
    s->next_tick = start + took + max_u64(took * SCREEN_REST, s->clock->hz / SCREEN_HZ);
}
