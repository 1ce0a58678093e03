/* CPU contention: a processor that other programs use too takes a core away for milliseconds, and whoever meets that
 * core at a barrier waits: two cores are slower than one then. This decides when the last core leaves the
 * others alone, and when it tries again. Plain figures, no threads: workers.c calls it. */
#ifndef INGOT_RUNTIME_CONTENTION_H
#define INGOT_RUNTIME_CONTENTION_H

#include <stdint.h>

enum contention_advice {
    CONTENTION_STAY,
    CONTENTION_LEAVE,  /* the last core, until ... */
    CONTENTION_RETURN, /* ... this */
};

/* A core's times at the barriers of one window. */
struct contention_stalls {
    uint64_t ticks; /* of waits longer than contention_stall_ticks */
    uint32_t n;
};

struct contention {
    uint64_t hz; /* of the clock */
    uint64_t worked;
    uint32_t n_jobs;
    uint64_t pause; /* ticks for which it leaves next time */
    uint64_t until; /* 0: it is here */
    uint64_t look;  /* while it is away: when contention_judge is asked next */
};

void contention_open(struct contention *c, uint64_t hz);

/* A wait longer than this is a stall: far more than jobs differ by, less than a system's slice. */
uint64_t contention_stall_ticks(const struct contention *c);

/* A job of `ticks` has ended `now`. True: a window is over, and contention_judge is to be asked. */
int contention_job(struct contention *c, uint64_t ticks, uint64_t now);

/* most: of the core that was stalled longest since the window began. n_cores: now at work. idle: thousandths of a
 * processor that nobody used since the last time, counted while a core is away; negative: not known. */
enum contention_advice contention_judge(struct contention *c, const struct contention_stalls *most,
                                        unsigned n_cores, int idle, uint64_t now);

#endif
