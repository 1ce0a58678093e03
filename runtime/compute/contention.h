/* CPU contention: a processor that other programs use, too, stops a core for milliseconds, and
 * every core waits for it at the next barrier. Two cores are then slower than one. This decides
 * when the last core leaves the others, and when it tries again. Plain numbers, no threads:
 * workers.c calls it. */
#ifndef INGOT_RUNTIME_CONTENTION_H
#define INGOT_RUNTIME_CONTENTION_H

#include <stdint.h>

enum contention_advice {
    CONTENTION_STAY,
    CONTENTION_LEAVE,  /* only the last core, until ... */
    CONTENTION_RETURN, /* ... this */
};

/* The waiting times of a core at the barriers of one window. */
struct contention_stalls {
    uint64_t ticks; /* waits longer than contention_stall_ticks */
    uint32_t n;
};

struct contention {
    uint64_t hz; /* of the clock */
    uint64_t worked;
    uint32_t n_jobs;
    uint64_t pause; /* ticks for which the core leaves next time */
    uint64_t until; /* 0: it is here */
    uint64_t look;  /* while the core is away: when contention_judge is called next */
};

void contention_open(struct contention *c, uint64_t hz);

/* A wait longer than this is a stall: much longer than jobs differ, shorter than a time slice of
 * the system. */
uint64_t contention_stall_ticks(const struct contention *c);

/* A job of `ticks` has ended at `now`. True: a window is over, and contention_judge has to be
 * called. */
int contention_job(struct contention *c, uint64_t ticks, uint64_t now);

/* most: the times of the core that was stalled longest since the window began. n_cores: cores in
 * use now. idle: thousandths of a processor that no program used since the last call, counted
 * while a core is away; negative: unknown. */
enum contention_advice contention_judge(struct contention *c, const struct contention_stalls *most,
                                        unsigned n_cores, int idle, uint64_t now);

#endif
