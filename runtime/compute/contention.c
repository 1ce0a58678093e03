#include "runtime/compute/contention.h"

enum {
    STALL_HZ = 2000,       /* 0.5 ms */
    WINDOW_HZ = 50,        /* 20 ms of jobs */
    FIRST_PAUSE_HZ = 5,    /* 0.2 s, doubled each time, ... */
    LONGEST_PAUSE_SEC = 2, /* ... up to this: then trying costs one hundredth */
    LOOK_HZ = 5,           /* how often to ask how much processor time others leave */
    LITTLE_IDLE = 250,     /* thousandths of a processor: with less than this a try is not worth
                            * it, ... */
    MUCH_IDLE = 900,       /* ... and this much is enough for the core */
};

void contention_open(struct contention *c, uint64_t hz)
{
    *c = (struct contention){ .hz = hz, .pause = hz / FIRST_PAUSE_HZ };
}

uint64_t contention_stall_ticks(const struct contention *c)
{
    return c->hz / STALL_HZ;
}

int contention_job(struct contention *c, uint64_t ticks, uint64_t now)
{
    c->worked += ticks;
    c->n_jobs++;
    return c->until != 0 ? now >= c->look : c->worked > c->hz / WINDOW_HZ;
}

/* The last core is in the way if as much time is lost as it contributes when memory is the
 * bound, and only few jobs lose it. If every job waits, the core is slow, and its share of the
 * job is too large (shares.h). */
static int is_contended(const struct contention *c, const struct contention_stalls *most,
                        unsigned n_cores)
{
    return n_cores > 1 && most->ticks * 3 * n_cores > c->worked && most->n < c->n_jobs / 2;
}

/* The processor time that others leave decides if it is known, otherwise only elapsed time. */
static int may_return(const struct contention *c, int idle, uint64_t now)
{
    return idle >= MUCH_IDLE || (now >= c->until && (idle < 0 || idle >= LITTLE_IDLE));
}

/* Soon, and again when the pause is over. */
static uint64_t next_look(const struct contention *c, uint64_t now)
{
    uint64_t look = now + c->hz / LOOK_HZ;

    return now < c->until && c->until < look ? c->until : look;
}

enum contention_advice contention_judge(struct contention *c, const struct contention_stalls *most,
                                        unsigned n_cores, int idle, uint64_t now)
{
    enum contention_advice advice = CONTENTION_STAY;

    c->look = next_look(c, now);
    if (c->until != 0 && may_return(c, idle, now)) {
        c->until = 0;
        advice = CONTENTION_RETURN;
    } else if (c->until != 0) {
        return CONTENTION_STAY;
    } else if (is_contended(c, most, n_cores)) {
        c->until = now + c->pause;
        c->pause = c->pause * 2 < c->hz * LONGEST_PAUSE_SEC ? c->pause * 2
                                                            : c->hz * LONGEST_PAUSE_SEC;
        advice = CONTENTION_LEAVE;
    } else if (c->pause / 2 >= c->hz / FIRST_PAUSE_HZ) {
        c->pause /= 2;
    }
    c->worked = 0;
    c->n_jobs = 0;
    return advice;
}
