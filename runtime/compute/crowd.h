/* A processor that other programs use too takes a core away for milliseconds, and whoever meets that core
 * waits: two cores are slower than one then. Here it is decided when the last core leaves the
 * others alone, and when it tries again. Plain figures, no threads: workers.c calls it. */
#ifndef INGOT_RUNTIME_CROWD_H
#define INGOT_RUNTIME_CROWD_H

#include <stdint.h>

enum crowd_advice {
    CROWD_STAY,
    CROWD_LEAVE,  /* the last core, until ... */
    CROWD_RETURN, /* ... this */
};

/* What a core saw at the barriers of one window. */
struct crowd_stalls {
    uint64_t ticks; /* of waits longer than crowd_stall_ticks */
    uint32_t n;
};

struct crowd {
    uint64_t hz; /* of the clock */
    uint64_t worked;
    uint32_t n_jobs;
    uint64_t pause; /* ticks for which it leaves next time */
    uint64_t until; /* 0: it is here */
    uint64_t look;  /* while it is away: when crowd_judge is asked next */
};

void crowd_open(struct crowd *c, uint64_t hz);

/* A wait longer than this is a stall: far more than jobs differ by, less than a system's slice. */
uint64_t crowd_stall_ticks(const struct crowd *c);

/* A job of `ticks` has ended `now`. True: a window is over, and crowd_judge is to be asked. */
int crowd_job(struct crowd *c, uint64_t ticks, uint64_t now);

/* most: of the core that was stalled longest since the window began. n_cores: now at work. idle: thousandths of a
 * processor that nobody used since the last time, counted while a core is away; negative: not known. */
enum crowd_advice crowd_judge(struct crowd *c, const struct crowd_stalls *most, unsigned n_cores,
                              int idle, uint64_t now);

#endif
