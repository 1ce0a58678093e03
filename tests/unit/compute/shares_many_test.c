/* 128 cores, as boards with EFI may have: the parts still follow each core's work in a time. */
#define BOARD_MOST_CORES 128
#include "runtime/compute/shares.c" /* for that many */

#include "tests/unit/tap.h"

enum { CORES = BOARD_MAX_CORES, ROWS = CORES * 100, JOBS = 200 };

static struct shares shares;

static size_t rows_of(unsigned core)
{
    size_t first, last;

    shares_part(&shares, core, ROWS, 1, &first, &last);
    return last - first;
}

/* Every second core takes `cost` times as long for a row. */
static void run(unsigned cost)
{
    uint64_t busy[CORES];
    uint32_t given[CORES];

    for (unsigned job = 0; job < JOBS; job++) {
        for (unsigned i = 0; i < CORES; i++) {
            given[i] = (uint32_t)rows_of(i);
            busy[i] = given[i] * (i % 2 == 0 ? 1 : cost);
        }
        if (shares_measures(&shares)) {
            shares_take(&shares, busy, given);
        }
    }
}

/* Returns the ratio between core 0's part and core 1's, in tenths. */
static unsigned ratio(void)
{
    return (unsigned)(rows_of(0) * 10 / rows_of(1));
}

static bool cover_all(void)
{
    size_t sum = 0;

    for (unsigned i = 0; i < CORES; i++) {
        sum += rows_of(i);
    }
    return sum == ROWS;
}

int main(void)
{
    uint32_t capacity[CORES];

    shares_begin(&shares, CORES, NULL);
    OK(shares_are_equal(&shares) && rows_of(0) == 100 && rows_of(127) == 100,
       "the shares are equal at first");
    run(1);
    OK(shares_are_equal(&shares), "cores of one speed keep equal shares");
    run(2);
    OK(ratio() >= 18 && ratio() <= 22 && cover_all(),
       "cores that are twice as slow get half of the rows (%u / 10)", ratio());
    run(4);
    OK(ratio() >= 35 && ratio() <= 45 && cover_all(),
       "cores that are four times as slow get a quarter (%u / 10)", ratio());
    for (unsigned i = 0; i < CORES; i++) {
        capacity[i] = i % 2 == 0 ? UINT32_MAX : UINT32_MAX / 3;
    }
    shares_begin(&shares, CORES, capacity);
    OK(ratio() >= 28 && ratio() <= 32 && cover_all(),
       "the first shares follow the tree, up to its largest numbers (%u / 10)", ratio());
    return tap_done();
}
