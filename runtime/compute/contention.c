#include "runtime/compute/contention.h"

enum {
    STALL_HZ = 2000,       /* 0.5 ms */
    WINDOW_HZ = 50,        /* a window is 20 ms of jobs */
    FIRST_PAUSE_HZ = 5,    /* the first pause is 0.2 s; each later pause is twice as long */
    LONGEST_PAUSE_SEC = 2, /* longest pause: trying again then costs 1 / 100 of the time */
    LOOK_HZ = 5,           /* ask for the unused processor time 5 times a second */
    LITTLE_IDLE = 250,     /* with fewer unused thousandths of a processor than this, the core
                            * does not try */
    MUCH_IDLE = 900,       /* with at least this many unused thousandths, the core returns */
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

/* The last core slows the others down if only few jobs stall, and if these stalls cost as much time
 * as the core saves when memory limits the speed. If every job stalls, the core itself is slow, and
 * its share is too large (shares.h). */
static int is_contended(const struct contention *c, const struct contention_stalls *most,
                        unsigned n_cores)
{
    return n_cores > 1 && most->ticks * 3 * n_cores > c->worked && most->n < c->n_jobs / 2;
}

/* Return true if the core may return. If the unused processor time is known, little of it forbids
 * a return, and much of it allows one before the pause is over. */
static int may_return(const struct contention *c, int idle, uint64_t now)
{
    return idle >= MUCH_IDLE || (now >= c->until && (idle < 0 || idle >= LITTLE_IDLE));
}

/* Look again soon, and at the latest when the pause is over. */
static uint64_t next_look(const struct contention *c, uint64_t now)
{
    uint64_t look = now + c->hz / LOOK_HZ;

    return now < c->until && c->until < look ? c->until : look;
}

static void begin_window(struct contention *c)
{
    c->worked = 0;
    c->n_jobs = 0;
}

/* One contended window may be a short burst of another program, such as threads that still spin
 * after their work. A rest of 0.2 s would cost more than such a burst. So the core leaves only
 * after two contended windows without a good one between them, or after one if it has just
 * returned. */
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
        if (!c->was_contended) {
            c->was_contended = true;
            begin_window(c);
            return CONTENTION_STAY;
        }
        c->until = now + c->pause;
        c->pause = c->pause * 2 < c->hz * LONGEST_PAUSE_SEC ? c->pause * 2
                                                            : c->hz * LONGEST_PAUSE_SEC;
        advice = CONTENTION_LEAVE;
    } else {
        c->was_contended = false;
        if (c->pause / 2 >= c->hz / FIRST_PAUSE_HZ) {
            c->pause /= 2;
        }
    }
    begin_window(c);
    return advice;
}
