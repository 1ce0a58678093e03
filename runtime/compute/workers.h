/* All cores as one group of workers: core 0 calls workers_run; then every core runs the same
 * function and meets the others at barriers. Idle cores sleep in the platform's wait (WFE, WFI,
 * futex). */
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
    _Atomic uint32_t core; /* the core's number among the workers; UINT32_MAX: no answer in time */
    _Atomic uint32_t here; /* 1: it answered */
};

struct worker {
    uint64_t waited; /* ticks of waiting in this job */
    uint64_t busy;   /* ticks of work in a measured job; core 0 reads it after the job */
    uint64_t uneven; /* ticks at which the work of an uneven division began; 0: other work */
    uint32_t given;  /* the core's part of the items, in 65536ths, summed over the even divisions */
    struct contention_stalls stalls;
};

struct workers {
    unsigned n_cores;
    const struct platform *platform; /* whose cores these are */
    struct trace *trace;             /* belongs to the owner, set after workers_start; NULL: no
                                      * trace */
    uint64_t spin_ticks;             /* spin_micros of the cores */
    workers_fn *work;
    void *arg;
    bool measures;                /* this job is measured */
    struct shares shares;         /* core 0 changes the shares between jobs */
    struct contention contention; /* used only if the platform says that other programs run */
    bool rests;                   /* the absent core left because `contention` advised it */
    _Atomic uint32_t ready;       /* cores that have arrived at their first wait */
    _Atomic uint32_t job;         /* number of jobs so far; a change starts the workers */
    _Atomic uint32_t arrived;     /* cores at the current barrier */
    _Atomic uint32_t phase;       /* number of barriers so far; a change opens the barrier */
    _Atomic uint32_t sleepers;    /* cores that may be asleep */
    void (*lent_work)(void *arg);
    void (*lent_stop)(void *arg); /* NULL: no core is away */
    void *lent_arg;
    _Atomic uint32_t lent;    /* number of the core that has to begin lent_work, then AWAY or
                               * WANTED_BACK (workers.c); 0: no core */
    _Atomic uint32_t counted; /* cores 0 to counted - 1 answered in time */
    _Atomic uint32_t ends;    /* 1: the entry functions return */
    struct worker members[BOARD_MAX_CORES];
    struct worker_start starts[BOARD_MAX_CORES]; /* indexed by the platform's core number */
    uint32_t capacity[BOARD_MAX_CORES];          /* speeds of the platform's cores that started */
};

/* Start cores 1 to n_cores - 1 of the platform (n_cores <= BOARD_MAX_CORES) and wait for
 * their answers, at most two seconds each. A core that refuses or does not answer is left out,
 * and the next core is started: see workers->n_cores. The platform must outlive the workers,
 * which use its cores and clock. */
void workers_start(struct workers *workers, const struct platform *platform, unsigned n_cores);

/* Make the entry functions of the other cores return. Call on core 0, outside workers_run, while no
 * core is away. */
void workers_stop(struct workers *workers);

/* Run work(arg, workers, core) on every core; returns when all have returned. Core 0 only. */
void workers_run(struct workers *workers, workers_fn *work, void *arg);

/* The last core leaves the workers (n_cores is at least 2 and decreases by one) and runs
 * work(arg), while the others continue without it. stop(arg), called on core 0, makes work
 * return. If work returns earlier by itself, the core waits until it is taken back. Call on core 0,
 * outside workers_run; only one core can be away. */
void workers_lend(struct workers *workers, void (*work)(void *arg), void (*stop)(void *arg),
                  void *arg);

/* Stop the work of workers_lend and take the core back; does nothing if no core is away. Core 0,
 * outside workers_run. */
void workers_take_back(struct workers *workers);

/* Call back a core that rests because other programs use its time: n_cores counts it again. Core
 * 0, outside workers_run. */
void workers_gather(struct workers *workers);

/* Wait until every worker is here. After that, every worker sees what the others wrote before. */
void workers_barrier(struct workers *workers, unsigned core);

/* Between these two calls this core waits for something else, such as a card; this time does not
 * make the core look slow. */
uint64_t workers_wait_begin(const struct workers *workers);
void workers_wait_end(struct workers *workers, unsigned core, uint64_t begin);

/* This core's share [*first, *last) of n items, in whole steps of `step` items. For equal n and
 * step the share stays the same during a job. */
void workers_share(struct workers *workers, unsigned core, size_t n, size_t step, size_t *first,
                   size_t *last);

#endif
