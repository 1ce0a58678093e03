/* Sets of harts and SBI's windows of them, for machines with more than 64 cores. */
#define BOARD_MOST_CORES 128
#include "boot/riscv64/core_set.h"

#include "tests/unit/tap.h"

static struct core_set set;
static uint64_t harts[CORE_SET_WORDS * CORE_SET_BITS];

/* Counts how often each core is in a window; all of the set's but `self`. */
static bool reaches(unsigned self, unsigned n, unsigned *n_windows)
{
    unsigned reached = 0;

    *n_windows = 0;
    for (unsigned word = 0; word < CORE_SET_WORDS; word++) {
        uint64_t cores = core_set_others(&set, word, self), base;

        while (cores != 0 && *n_windows < 1000) {
            uint64_t mask = core_set_take_window(harts, word, &cores, &base);

            ++*n_windows;
            for (unsigned core = 0; core < BOARD_MAX_CORES; core++)
                if (core != self && harts[core] >= base && harts[core] - base < 64)
                    reached += (unsigned)(mask >> (harts[core] - base) & 1);
        }
    }
    return reached == n;
}

int main(void)
{
    unsigned n;

    for (unsigned core = 0; core < BOARD_MAX_CORES; core++)
        harts[core] = core;
    OK(reaches(0, 0, &n) && n == 0, "an empty set has no window");
    core_set_add(&set, 40);
    OK(atomic_load(&set.words[0]) == (uint64_t)1 << 40 && reaches(0, 1, &n) && n == 1,
       "a core beyond the 32nd is in the set");
    OK(reaches(40, 0, &n) && n == 0, "the core that asks is not in its own set");
    for (unsigned core = 0; core < BOARD_MAX_CORES; core++)
        core_set_add(&set, core);
    OK(reaches(70, BOARD_MAX_CORES - 1, &n) && n == 2, "128 cores have two windows");
    core_set_remove(&set, 127);
    core_set_remove(&set, 64);
    OK(reaches(70, BOARD_MAX_CORES - 3, &n) && n == 2,
       "the set reaches all but two of the 128 cores");
    for (unsigned core = 0; core < BOARD_MAX_CORES; core++)
        harts[core] = (uint64_t)core * 1000 + 5;
    OK(reaches(1, BOARD_MAX_CORES - 3, &n) && n == BOARD_MAX_CORES - 3,
       "ids that lie far apart have a window each");
    for (unsigned core = 0; core < BOARD_MAX_CORES; core++)
        harts[core] = BOARD_MAX_CORES - 1 - core;
    OK(reaches(1, BOARD_MAX_CORES - 3, &n) && n == 2, "ids may be in another order than the cores");
    return tap_done();
}
