/* CPU contention: if other programs also use a processor, its core stops for milliseconds, and all
 * cores wait for that core at the next barrier. Two cores are then slower than one. This code
 * decides when the last core leaves the others, and when it returns. This code only computes,
 * without threads; workers.c calls it. */
#ifndef INGOT_RUNTIME_CONTENTION_H
#define INGOT_RUNTIME_CONTENTION_H

#include <stdbool.h>
#include <stdint.h>

enum contention_advice {
    CONTENTION_STAY,
    CONTENTION_LEAVE,  /* the last core rests from now on */
    CONTENTION_RETURN, /* the core that rests works again */
};

/* How long a core waited at the barriers of one window. */
struct contention_stalls {
    uint64_t ticks; /* waits longer than contention_stall_ticks */
    uint32_t n;
};

struct contention {
    uint64_t hz; /* of the clock */
    uint64_t worked;
    uint32_t n_jobs;
    uint64_t pause;     /* ticks for which the core rests next time */
    uint64_t until;     /* ticks until which the core rests; 0: it works */
    uint64_t look;      /* ticks of the next call of contention_judge, while the core rests */
    bool was_contended; /* the last window in which the core worked was contended */
};

void contention_open(struct contention *c, uint64_t hz);

/* A wait longer than this is a stall. The limit is much longer than the usual differences between
 * cores in a job, and shorter than a time slice of the operating system. */
uint64_t contention_stall_ticks(const struct contention *c);

/* A job of `ticks` has ended at `now`. Return true if contention_judge has to be called: a window
 * is over or, while a core rests, the time of the next look has come. */
int contention_job(struct contention *c, uint64_t ticks, uint64_t now);

/* Decide at the end of a window or, while a core rests, whether that core returns. most: the stalls
 * of the core that was stalled longest since the window began. n_cores: cores in use now. idle:
 * thousandths of a processor that no program used since the last call, counted while a core is
 * away; negative if unknown. */
enum contention_advice contention_judge(struct contention *c, const struct contention_stalls *most,
                                        unsigned n_cores, int idle, uint64_t now);

#endif
