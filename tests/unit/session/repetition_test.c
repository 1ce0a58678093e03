/* When a text counts as repeating itself: 128 repeated tokens, and at least three periods. */
#include "runtime/session/repetition.h"

#include "board/min_max.h"
#include "tests/unit/tap.h"

enum { MOST = 2000, NEVER = 0 };

/* Returns the tokens of a text with that period until it counts; NEVER: not within MOST. */
static uint32_t tokens_until(uint32_t period)
{
    static uint32_t ids[MOST];
    struct repetition r = { .n = 0 };

    for (uint32_t i = 0; i < MOST; i++) {
        ids[i] = i % period;
        if (repetition_add(&r, &ids[i])) {
            return i + 1;
        }
    }
    return NEVER;
}

static void test_period(uint32_t period)
{
    uint32_t n = tokens_until(period);
    uint32_t expected = period + max_u32(REPETITION_TOKENS, 3 * period);

    OK(n == expected, "a period of %u is found after %u tokens, expected %u", period, n, expected);
}

/* A different token begins the count anew. */
static void test_broken(void)
{
    uint32_t ids[400] = { 0 };
    struct repetition r = { .n = 0 };
    uint32_t found = 0;

    ids[100] = 1;
    for (uint32_t i = 0; i < 400 && found == 0; i++) {
        found = repetition_add(&r, &ids[i]) ? i : 0;
    }
    OK(found == 101 + REPETITION_TOKENS, "a repetition that was broken at 100 counts at %u", found);
}

int main(void)
{
    test_period(1);
    test_period(2);
    test_period(42);
    test_period(43);
    test_period(100);
    test_period(REPETITION_LONGEST);
    OK(tokens_until(REPETITION_LONGEST + 1) == NEVER, "longer periods are not looked for");
    test_broken();
    return tap_done();
}
