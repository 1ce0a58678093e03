#include "board/lamp_code.h"

/* A look takes 20 ns or so, as it reads a counter behind a barrier: so many are a millisecond, or the flash is
 * a little short. */
enum { LOOKS_PER_MILLI = 50000, GUESSED_LOOKS_PER_MILLI = 20000 };

static void wait(const struct lamp *lamp, uint32_t millis)
{
    uint64_t start = lamp->ticks(), ticks = lamp->ticks_hz * millis / 1000;
    uint64_t looks = (uint64_t)millis * LOOKS_PER_MILLI;

    if (lamp->ticks_hz == 0) {
        looks = (uint64_t)millis * GUESSED_LOOKS_PER_MILLI;
        ticks = UINT64_MAX;
    }
    while (looks-- > 0 && lamp->ticks() - start < ticks)
        continue;
}

static void flash(const struct lamp *lamp, uint32_t millis)
{
    lamp->set(true);
    wait(lamp, millis);
    lamp->set(false);
}

void lamp_code_show(const struct lamp *lamp, unsigned code)
{
    flash(lamp, LAMP_CODE_LONG_MILLIS);
    for (unsigned i = 0; i < code; i++) {
        wait(lamp, LAMP_CODE_SHORT_MILLIS);
        flash(lamp, LAMP_CODE_SHORT_MILLIS);
    }
    wait(lamp, LAMP_CODE_PAUSE_MILLIS);
}
