/* When the last core leaves: when few jobs lose much time, for longer each time, or until others
 * leave a processor to it. */
#include "runtime/compute/contention.h"

#include "tests/unit/tap.h"

enum { HZ = 1000000, JOB = 60, SLICE = 3000 };

static int idle = -1; /* what others leave free, in thousandths */

/* Runs jobs of two cores; one job in `each` takes a slice more, 0: none does. Returns the ticks
 * until the advice differs from "stay"; 0: it does not within a second. */
static uint64_t run_jobs(struct contention *c, uint32_t each, uint64_t *now,
                         enum contention_advice *advice)
{
    uint64_t begin = *now;
    struct contention_stalls stalls = { 0, 0 };

    for (uint32_t i = 1; *now - begin < 4 * HZ; i++) {
        uint64_t ticks = JOB;

        if (each != 0 && i % each == 0 && c->until == 0) {
            ticks += SLICE;
            stalls.ticks += SLICE;
            stalls.n++;
        }
        *now += ticks;
        if (!contention_job(c, ticks, *now)) {
            continue;
        }
        *advice = contention_judge(c, &stalls, c->until != 0 ? 1 : 2, idle, *now);
        stalls = (struct contention_stalls){ 0, 0 };
        if (*advice != CONTENTION_STAY) {
            return *now - begin;
        }
    }
    return 0;
}

static void test_quiet(void)
{
    struct contention c;
    enum contention_advice advice = CONTENTION_STAY;
    uint64_t now = 0;

    contention_open(&c, HZ);
    OK(run_jobs(&c, 0, &now, &advice) == 0, "nobody leaves on a quiet machine");
    OK(run_jobs(&c, 500, &now, &advice) == 0, "nobody leaves for a slice now and then");
    OK(run_jobs(&c, 1, &now, &advice) == 0, "nobody leaves if every job waits");
}

/* Other programs take `slices` slices one after the other every `every` ticks, for four seconds. */
static bool stays_in_bursts(unsigned slices, uint64_t every)
{
    struct contention c;
    struct contention_stalls stalls = { 0, 0 };
    uint64_t next = every;
    unsigned left = 0;

    contention_open(&c, HZ);
    for (uint64_t now = 0; now < 4 * HZ;) {
        uint64_t ticks = JOB;

        if (now >= next) {
            left = slices;
            next += every;
        }
        if (left > 0) {
            ticks += SLICE;
            stalls.ticks += SLICE;
            stalls.n++;
            left--;
        }
        now += ticks;
        if (!contention_job(&c, ticks, now)) {
            continue;
        }
        if (contention_judge(&c, &stalls, 2, -1, now) != CONTENTION_STAY) {
            return false;
        }
        stalls = (struct contention_stalls){ 0, 0 };
    }
    return true;
}

static void test_bursts(void)
{
    OK(stays_in_bursts(3, HZ / 10), "nobody leaves for bursts of 9 ms, ten in a second");
    OK(!stays_in_bursts(3, HZ / 50), "the core leaves for a burst of 9 ms in each 20 ms");
}

static void test_contended(void)
{
    struct contention c;
    enum contention_advice advice = CONTENTION_STAY;
    uint64_t now = 0, away = 0, here = 0, last = 0;

    contention_open(&c, HZ);
    here = run_jobs(&c, 50, &now, &advice);
    OK(advice == CONTENTION_LEAVE && here > 0 && here < HZ / 20,
       "a core that is held up leaves, after %u us", (unsigned)here);
    for (int i = 0; i < 12; i++) {
        last = run_jobs(&c, 50, &now, &advice);
        OK(advice == CONTENTION_RETURN, "the core tries again after %u us", (unsigned)last);
        away += last;
        here += run_jobs(&c, 50, &now, &advice);
        OK(advice == CONTENTION_LEAVE, "the core leaves again");
    }
    OK(here * 20 < away, "after %u us of work and %u away, trying costs less than a twentieth",
       (unsigned)here, (unsigned)away);
    OK(run_jobs(&c, 50, &now, &advice) <= 2 * HZ + JOB,
       "the core tries every two seconds at least");
    OK(run_jobs(&c, 0, &now, &advice) == 0 && c.pause < HZ * 2 / 5,
       "a core stays on a machine that is quiet again, and forgets");
}

/* Runs away from contention, with `idle` as given. Returns the ticks until it comes back. */
static uint64_t away_with(struct contention *c, uint64_t *now, int left)
{
    enum contention_advice advice = CONTENTION_STAY;
    uint64_t away;

    idle = left;
    away = run_jobs(c, 50, now, &advice);
    OK(away == 0 || advice == CONTENTION_RETURN,
       "the core comes back after %u us with %d thousandths idle", (unsigned)away, left);
    return away;
}

static void test_idle(void)
{
    struct contention c;
    enum contention_advice advice = CONTENTION_STAY;
    uint64_t now = 0;

    contention_open(&c, HZ);
    (void)run_jobs(&c, 50, &now, &advice);
    OK(advice == CONTENTION_LEAVE && away_with(&c, &now, 100) == 0,
       "the core never tries if others leave no time");
    OK(away_with(&c, &now, 950) <= HZ / 5 + 2 * JOB,
       "the core is back in 0.2 s if a processor is free");
    (void)run_jobs(&c, 50, &now, &advice);
    OK(away_with(&c, &now, 500) >= HZ * 2 / 5,
       "a core that half a processor is free for tries as if nothing were known");
    (void)run_jobs(&c, 50, &now, &advice);
    OK(away_with(&c, &now, 950) <= HZ / 5 + 2 * JOB, "the core does not wait for the longer pause");
    idle = -1;
}

int main(void)
{
    test_quiet();
    test_bursts();
    test_contended();
    test_idle();
    return tap_done();
}
