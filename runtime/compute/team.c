#include "runtime/compute/team.h"

#include <string.h>

enum { LOOKS = 200 }; /* at the word, before the clock is read */

static int look(const _Atomic uint32_t *word, uint32_t old)
{
    for (int i = 0; i < LOOKS; i++) {
        if (atomic_load_explicit(word, memory_order_acquire) != old) {
            return 1;
        }
    }
    return 0;
}

/* A step of a small model takes microseconds, a wake-up by the system or by firmware ten times as
 * long: cores that have a processor each meet at a barrier without sleep. The bound is time, since
 * that is what a wake-up costs. */
static int spin_change(const struct team *team, const _Atomic uint32_t *word, uint32_t old)
{
    uint64_t start;

    if (look(word, old)) {
        return 1;
    }
    if (team->spin_ticks == 0) {
        return 0;
    }
    start = board.ticks();
    do {
        if (board.yield != NULL) {
            board.yield();
        }
        if (look(word, old)) {
            return 1;
        }
    } while (board.ticks() - start < team->spin_ticks);
    return 0;
}

/* Sleepers are counted before the last look at the word, and the waker changes the word before
 * it looks at the count, both sequentially consistent: one of the two sees the other. */
static void wait_change(struct team *team, const _Atomic uint32_t *word, uint32_t old)
{
    if (spin_change(team, word, old)) {
        return;
    }
    atomic_fetch_add(&team->sleepers, 1);
    while (atomic_load(word) == old) {
        board.wait(word, old);
    }
    atomic_fetch_sub(&team->sleepers, 1);
}

static void change(struct team *team, _Atomic uint32_t *word)
{
    atomic_fetch_add(word, 1);
    if (atomic_load(&team->sleepers) != 0) {
        board.wake(word);
    }
}

void team_barrier(struct team *team)
{
    uint32_t phase = atomic_load(&team->phase);
    uint32_t n_cores = team->n_cores; /* may change once all are here: one leaves, or comes back */

    if (n_cores == 1) {
        return;
    }
    if (atomic_fetch_add(&team->arrived, 1) + 1 < n_cores) {
        wait_change(team, &team->phase, phase);
        return;
    }
    atomic_store(&team->arrived, 0);
    change(team, &team->phase);
}

static void member_main(void *arg)
{
    struct team_member *me = arg;
    struct team *team = me->team;
    uint32_t seen = atomic_load(&team->job);

    atomic_fetch_add(&team->ready, 1);
    for (;;) {
        wait_change(team, &team->job, seen);
        seen++;
        if (me->core == atomic_load(&team->lent)) {
            team->lent_work(team->lent_arg);
            seen = atomic_load(&team->job); /* core 0 waits: no job begins */
            atomic_store(&team->lent, 0);
            continue;
        }
        if (me->core >= team->n_cores) {
            continue; /* answered after the two seconds: not counted, so it may not join */
        }
        team->work(team->arg, team, me->core);
        team_barrier(team);
    }
}

/* True once `count` workers answered; false after two seconds. */
static int wait_ready(struct team *team, uint32_t count)
{
    uint64_t deadline = board.ticks() + 2 * board.ticks_hz();

    while (atomic_load(&team->ready) < count) {
        if (board.ticks() > deadline) {
            return 0;
        }
    }
    return 1;
}

void team_start(struct team *team, unsigned n_cores)
{
    memset(team, 0, sizeof *team);
    team->n_cores = 1;
    team->spin_ticks = board.ticks_hz() * board.spin_micros / 1000000;
    for (unsigned core = 1; core < n_cores && core < BOARD_MAX_CORES; core++) {
        struct team_member *m = &team->members[core];

        m->team = team;
        m->core = core;
        if (board.start_core(core, member_main, m) != ERR_OK || !wait_ready(team, core)) {
            return; /* members are numbered without gaps: the first refusal ends the team */
        }
        team->n_cores = core + 1;
    }
}

void team_run(struct team *team, team_fn *work, void *arg)
{
    team->work = work;
    team->arg = arg;
    if (team->n_cores > 1) {
        change(team, &team->job);
    }
    work(arg, team, 0);
    team_barrier(team);
}

static void do_nothing(void *arg, struct team *team, unsigned core)
{
    (void)arg;
    (void)team;
    (void)core;
}

/* A job starts the core that leaves; the others meet at its barrier without it. */
void team_lend(struct team *team, void (*work)(void *arg), void *arg)
{
    team->lent_work = work;
    team->lent_arg = arg;
    team->work = do_nothing;
    atomic_store(&team->lent, --team->n_cores);
    change(team, &team->job);
    team_barrier(team);
}

void team_take_back(struct team *team)
{
    while (atomic_load(&team->lent) != 0) {
        if (board.yield != NULL) {
            board.yield();
        }
    }
    team->n_cores++;
}

void team_share(const struct team *team, unsigned core, size_t n, size_t step, size_t *first,
                size_t *last)
{
    size_t pieces = (n + step - 1) / step;
    size_t from = pieces * core / team->n_cores * step;
    size_t to = pieces * (core + 1) / team->n_cores * step;

    *first = from < n ? from : n;
    *last = to < n ? to : n;
}
