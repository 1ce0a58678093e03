/* All cores as one group of workers: core 0 calls workers_run, every core runs the same function
 * and meets the others at barriers. Idle cores sleep in the platform's wait (WFE, WFI, futex). */
#ifndef INGOT_RUNTIME_WORKERS_H
#define INGOT_RUNTIME_WORKERS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"
#include "runtime/base/platform.h"
#include "runtime/base/trace.h"
#include "runtime/compute/contention.h"
#include "runtime/compute/shares.h"

struct workers;
typedef void workers_fn(void *arg, struct workers *workers, unsigned core);

/* A core of the platform that was asked to start. */
struct worker_start {
    struct workers *workers;
    _Atomic uint32_t core; /* its number among the workers; UINT32_MAX: it did not answer in time */
    _Atomic uint32_t here; /* 1: it answered */
};

struct worker {
    uint64_t waited; /* ticks in the job that is measured, ... */
    uint64_t busy;   /* ... and the others of it: its own until the job's end, then core 0's */
    uint32_t given;  /* of its items, of 65536 for each time that some are shared out */
    struct contention_stalls stalls;
};

struct workers {
    unsigned n_cores;
    const struct platform *platform; /* whose cores these are */
    struct trace *trace;             /* the owner's, set after workers_start; NULL: none is kept */
    uint64_t spin_ticks;             /* its cores' spin_micros */
    workers_fn *work;
    void *arg;
    bool measures;                /* this job */
    struct shares shares;         /* core 0 changes them between jobs */
    struct contention contention; /* used where the platform says that other programs run */
    bool rests;                   /* the core that is away left by its advice */
    _Atomic uint32_t ready;       /* cores that have arrived at their first wait */
    _Atomic uint32_t job;         /* counts jobs; a change starts the workers */
    _Atomic uint32_t arrived;     /* cores at the current barrier */
    _Atomic uint32_t phase;       /* counts barriers; a change opens the gate */
    _Atomic uint32_t sleepers;    /* cores that may be asleep */
    void (*lent_work)(void *arg);
    void (*lent_stop)(void *arg); /* NULL: no core is away */
    void *lent_arg;
    _Atomic uint32_t lent;    /* the core that is to do lent_work, or how far it is; 0: none */
    _Atomic uint32_t counted; /* cores 0 .. counted - 1 answered in time */
    _Atomic uint32_t ends;    /* 1: the entry functions return */
    struct worker members[BOARD_MAX_CORES];
    struct worker_start starts[BOARD_MAX_CORES]; /* by the platform's number of the core */
    uint32_t capacity[BOARD_MAX_CORES]; /* the platform's, without those that did not start */
};

/* Start cores 1 .. n_cores-1 of the platform (n_cores in 1 .. BOARD_MAX_CORES) and wait until they
 * answer, two seconds each at most. A core that refuses or does not answer is left out, and the next one is
 * started: see workers->n_cores. The platform outlives the workers; its cores and its clock are used. */
void workers_start(struct workers *workers, const struct platform *platform, unsigned n_cores);

/* The entry functions of the other cores return. Core 0, outside workers_run, no core being away. */
void workers_stop(struct workers *workers);

/* work(arg, workers, core) on every core; returns when all have returned. Core 0 only. */
void workers_run(struct workers *workers, workers_fn *work, void *arg);

/* The last core leaves the workers (n_cores is at least 2 and becomes one less) and runs
 * work(arg), while the others go on without it. stop(arg), called on core 0, makes work return, if it
 * has not by itself: the core waits then. Core 0, outside workers_run; one core at most is away. */
void workers_lend(struct workers *workers, void (*work)(void *arg), void (*stop)(void *arg),
                  void *arg);

/* Stop that work and take the core back; does nothing where no core is away. Core 0, outside
 * workers_run. */
void workers_take_back(struct workers *workers);

/* A core that rests because other programs take its time comes back, for now: n_cores counts it again.
 * Core 0, outside workers_run. */
void workers_gather(struct workers *workers);

/* Wait until every worker is here. After that each sees the memory that the others wrote before. */
void workers_barrier(struct workers *workers, unsigned core);

/* Between them this core waits for something else, a card say, which does not make it a slow one. */
uint64_t workers_wait_begin(const struct workers *workers);
void workers_wait_end(struct workers *workers, unsigned core, uint64_t begin);

/* This core's share [*first, *last) of n items, in whole steps of `step` items: the same in all of a job
 * for the same n and step. */
void workers_share(struct workers *workers, unsigned core, size_t n, size_t step, size_t *first,
                   size_t *last);

#endif
