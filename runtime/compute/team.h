/* All cores as one team: core 0 calls team_run, every core runs the same function and meets
 * the others at barriers. Idle cores sleep in board.wait (WFE, WFI, futex). */
#ifndef INGOT_RUNTIME_TEAM_H
#define INGOT_RUNTIME_TEAM_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "board/board.h"
#include "board/err.h"

struct team;
typedef void team_fn(void *arg, struct team *team, unsigned core);

struct team_member {
    struct team *team;
    unsigned core;
};

struct team {
    unsigned n_cores;
    uint64_t spin_ticks; /* board.spin_micros */
    team_fn *work;
    void *arg;
    _Atomic uint32_t ready;    /* cores that have arrived at their first wait */
    _Atomic uint32_t job;      /* counts jobs; a change starts the workers */
    _Atomic uint32_t arrived;  /* cores at the current barrier */
    _Atomic uint32_t phase;    /* counts barriers; a change opens the gate */
    _Atomic uint32_t sleepers; /* cores that may be in board.wait */
    void (*lent_work)(void *arg);
    void *lent_arg;
    _Atomic uint32_t lent; /* the core that does lent_work; 0: none */
    struct team_member members[BOARD_MAX_CORES];
};

/* Start cores 1 .. n_cores-1 (n_cores in 1 .. BOARD_MAX_CORES) and wait until they answer, two
 * seconds at most. A core that firmware refuses is left out: see team->n_cores. */
void team_start(struct team *team, unsigned n_cores);

/* work(arg, team, core) on every core; returns when all have returned. Core 0 only. */
void team_run(struct team *team, team_fn *work, void *arg);

/* The last core leaves the team (n_cores is at least 2 and becomes one less) and runs work(arg),
 * while the others go on without it. Core 0, outside team_run; one core at most is away. */
void team_lend(struct team *team, void (*work)(void *arg), void *arg);

/* Wait for that work, which was told to return, and have the core in the team again. */
void team_take_back(struct team *team);

/* Wait until every core of the team is here; memory written before is seen after. */
void team_barrier(struct team *team);

/* This core's share [*first, *last) of n items in pieces of `step`. */
void team_share(const struct team *team, unsigned core, size_t n, size_t step, size_t *first,
                size_t *last);

#endif
