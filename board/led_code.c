#include "board/led_code.h"

/* A poll takes about 20 ns, because it reads a counter after a barrier, so this many polls take a
 * millisecond or a little less. */
enum { LOOKS_PER_MILLI = 50000, GUESSED_LOOKS_PER_MILLI = 20000 };

static void wait(const struct led *led, uint32_t millis)
{
    uint64_t start = led->ticks(), ticks = led->ticks_hz * millis / 1000;
    uint64_t looks = (uint64_t)millis * LOOKS_PER_MILLI;

    if (led->ticks_hz == 0) {
        looks = (uint64_t)millis * GUESSED_LOOKS_PER_MILLI;
        ticks = UINT64_MAX;
    }
    while (looks-- > 0 && led->ticks() - start < ticks)
        continue;
}

static void flash(const struct led *led, uint32_t millis)
{
    led->set(true);
    wait(led, millis);
    led->set(false);
}

void led_code_show(const struct led *led, unsigned code)
{
    flash(led, LED_CODE_LONG_MILLIS);
    for (unsigned i = 0; i < code; i++) {
        wait(led, LED_CODE_SHORT_MILLIS);
        flash(led, LED_CODE_SHORT_MILLIS);
    }
    wait(led, LED_CODE_PAUSE_MILLIS);
}
