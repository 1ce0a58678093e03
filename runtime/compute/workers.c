#include "runtime/compute/workers.h"

#include <string.h>

enum {
    LOOKS = 200,            /* number of polls of the word before the clock is read */
    AWAY = BOARD_MAX_CORES, /* value of `lent` after the core has begun its other work */
    WANTED_BACK,            /* value of `lent` from core 0's request until the core is back */
    GIVEN_WHOLE = 1 << 16,
    EVEN_STEPS = 4, /* fewer steps for each core make an uneven division */
};
#define LEFT_OUT UINT32_MAX /* stands for the number of a core that gets no job */

static int look(const _Atomic uint32_t *word, uint32_t old)
{
    for (int i = 0; i < LOOKS; i++) {
        if (atomic_load_explicit(word, memory_order_acquire) != old) {
            return 1;
        }
    }
    return 0;
}

/* A step of a small model takes microseconds, a wake-up by the system or by firmware ten times
 * as long. So cores with their own processors wait at a barrier without sleeping, up to a limit.
 * The limit is measured in time, because a wake-up costs time. */
static int spin_change(const struct workers *workers, const _Atomic uint32_t *word, uint32_t old)
{
    const struct platform *platform = workers->platform;
    uint64_t start;

    if (workers->spin_ticks == 0) {
        return 0;
    }
    start = platform_ticks(&platform->clock);
    do {
        platform_yield(&platform->cores);
        if (look(word, old)) {
            return 1;
        }
    } while (platform_ticks(&platform->clock) - start < workers->spin_ticks);
    return 0;
}

/* A sleeper counts itself before it reads the word for the last time; the waker changes the
 * word before it reads the count. These accesses are sequentially consistent, so at least one of
 * the two sees the other's change. */
static void wait_long(struct workers *workers, const _Atomic uint32_t *word, uint32_t old)
{
    const struct platform_cores *cores = &workers->platform->cores;

    if (spin_change(workers, word, old)) {
        return;
    }
    atomic_fetch_add(&workers->sleepers, 1);
    while (atomic_load(word) == old) {
        cores->wait(cores->context, word, old);
    }
    atomic_fetch_sub(&workers->sleepers, 1);
}

static void wait_change(struct workers *workers, const _Atomic uint32_t *word, uint32_t old)
{
    if (!look(word, old)) {
        wait_long(workers, word, old);
    }
}

/* Call after changing the word. */
static void wake_sleepers(struct workers *workers, const _Atomic uint32_t *word)
{
    const struct platform_cores *cores = &workers->platform->cores;

    if (atomic_load(&workers->sleepers) != 0) {
        cores->wake(cores->context, word);
    }
}

static void change(struct workers *workers, _Atomic uint32_t *word)
{
    atomic_fetch_add(word, 1);
    wake_sleepers(workers, word);
}

/* Return true for the last core to arrive, which releases the others. n_cores may change once all
 * cores are here, because a core leaves or returns. */
static int arrive(struct workers *workers)
{
    uint32_t n_cores = workers->n_cores;

    if (atomic_fetch_add(&workers->arrived, 1) + 1 < n_cores) {
        return 0;
    }
    atomic_store(&workers->arrived, 0);
    change(workers, &workers->phase);
    return 1;
}

/* Wait for the others and count a stall; the clock is read only if they do not come at once. */
static void wait_stalled(struct workers *workers, struct contention_stalls *stalls, uint32_t phase)
{
    const struct platform_clock *clock = &workers->platform->clock;
    uint64_t begin, took;

    if (look(&workers->phase, phase)) {
        return;
    }
    begin = platform_ticks(clock);
    wait_long(workers, &workers->phase, phase);
    took = platform_ticks(clock) - begin;
    if (took > contention_stall_ticks(&workers->contention)) {
        stalls->ticks += took;
        stalls->n++;
    }
}

static void meet(struct workers *workers, unsigned core)
{
    uint32_t phase = atomic_load(&workers->phase);

    if (workers->n_cores > 1 && !arrive(workers)) {
        wait_stalled(workers, &workers->members[core].stalls, phase);
    }
}

uint64_t workers_wait_begin(const struct workers *workers)
{
    return workers->measures ? platform_ticks(&workers->platform->clock) : 0;
}

/* The work of an uneven division ended at `now`: neither its time nor its items count. */
static void end_uneven(struct worker *me, uint64_t now)
{
    if (me->uneven != 0) {
        me->waited += now - me->uneven;
        me->uneven = 0;
    }
}

void workers_wait_end(struct workers *workers, unsigned core, uint64_t begin)
{
    struct worker *me = &workers->members[core];

    if (workers->measures) {
        end_uneven(me, begin);
        me->waited += platform_ticks(&workers->platform->clock) - begin;
    }
}

void workers_barrier(struct workers *workers, unsigned core)
{
    uint64_t begin = workers_wait_begin(workers);

    meet(workers, core);
    workers_wait_end(workers, core, begin);
}

/* Do this core's part of the job. */
static void do_part(struct workers *workers, unsigned core)
{
    struct worker *me = &workers->members[core];
    uint64_t begin = workers_wait_begin(workers);

    me->waited = 0;
    me->given = 0;
    me->uneven = 0;
    workers->work(workers->arg, workers, core);
    if (workers->measures) {
        uint64_t now = platform_ticks(&workers->platform->clock);

        end_uneven(me, now);
        me->busy = now - begin - me->waited;
    }
}

/* The lent core does its other work. The work may end before core 0 wants the core back; until then
 * jobs run without this core. */
static void work_elsewhere(struct workers *workers)
{
    atomic_store(&workers->lent, AWAY);
    workers->lent_work(workers->lent_arg);
    wait_change(workers, &workers->lent, AWAY);
}

/* A barrier waits only for the cores of the job. So a core that is away, or was not counted,
 * reads only atomic members: core 0 writes all other members for the next job without
 * waiting for it. */
static void member_main(void *arg)
{
    struct worker_start *me = arg;
    struct workers *workers = me->workers;
    uint32_t seen = atomic_load(&workers->job), core;

    atomic_fetch_add(&workers->ready, 1);
    atomic_store(&me->here, 1);
    for (;;) {
        wait_change(workers, &workers->job, seen);
        seen++;
        core = atomic_load(&me->core);
        if (atomic_load(&workers->ends) != 0) {
            atomic_fetch_sub(&workers->ready, 1); /* the last access of this core to *workers */
            return;
        }
        if (core == atomic_load(&workers->lent)) {
            work_elsewhere(workers);
            seen = atomic_load(&workers->job); /* core 0 waits, so no job begins meanwhile */
            atomic_store(&workers->lent, 0);
            continue;
        }
        if (core >= atomic_load(&workers->counted)) {
            continue; /* a core that answered too late must not join */
        }
        do_part(workers, core);
        (void)arrive(workers); /* only core 0 waits for all; other cores wait for the next job */
    }
}

/* Return true when the core has answered; false after two seconds. */
static int wait_here(struct workers *workers, const struct worker_start *start)
{
    const struct platform_clock *clock = &workers->platform->clock;
    uint64_t deadline = platform_ticks(clock) + 2 * clock->hz;

    while (atomic_load(&start->here) == 0) {
        if (platform_ticks(clock) > deadline) {
            return 0;
        }
    }
    return 1;
}

/* Set the parts of jobs for this many cores, without measurements. */
static void share_among(struct workers *workers, unsigned n_cores)
{
    shares_begin(&workers->shares, n_cores,
                 workers->platform->cores.capacity != NULL ? workers->capacity : NULL);
}

/* Start a core of the platform as the workers' core n_cores, unless it refuses or does not
 * answer. */
static void start_core(struct workers *workers, unsigned platform_core)
{
    const struct platform_cores *cores = &workers->platform->cores;
    struct worker_start *start = &workers->starts[platform_core];
    unsigned core = workers->n_cores;

    start->workers = workers;
    atomic_store(&start->core, core);
    if (cores->start(cores->context, platform_core, member_main, start) != ERR_OK ||
        !wait_here(workers, start)) {
        atomic_store(&start->core, LEFT_OUT); /* a core that answers later gets no job */
        return;
    }
    if (cores->capacity != NULL) {
        workers->capacity[core] = cores->capacity[platform_core];
    }
    workers->n_cores = core + 1;
    share_among(workers, core + 1);
    atomic_store(&workers->counted, core + 1);
}

void workers_start(struct workers *workers, const struct platform *platform, unsigned n_cores)
{
    const struct platform_cores *cores = &platform->cores;

    memset(workers, 0, sizeof *workers);
    workers->n_cores = 1;
    workers->platform = platform;
    workers->capacity[0] = cores->capacity != NULL ? cores->capacity[0] : 1;
    share_among(workers, 1);
    atomic_store(&workers->counted, 1);
    contention_open(&workers->contention, platform->clock.hz);
    workers->spin_ticks = platform->clock.hz * cores->spin_micros / 1000000;
    for (unsigned core = 1; core < n_cores && core < BOARD_MAX_CORES; core++) {
        start_core(workers, core);
    }
}

static void take_measure(struct workers *workers)
{
    uint64_t busy[BOARD_MAX_CORES];
    uint32_t given[BOARD_MAX_CORES];

    for (unsigned i = 0; i < workers->n_cores; i++) {
        busy[i] = workers->members[i].busy;
        given[i] = workers->members[i].given;
    }
    shares_take(&workers->shares, busy, given);
}

static void do_nothing(void *arg, struct workers *workers, unsigned core)
{
    (void)arg;
    (void)workers;
    (void)core;
}

static void rest(void *arg)
{
    (void)arg; /* nothing to do: the core sleeps until it is wanted */
}

/* Return the core that was stalled longest; clears the window. */
static struct contention_stalls take_stalls(struct workers *workers)
{
    struct contention_stalls most = { 0, 0 };

    for (unsigned i = 0; i < workers->n_cores; i++) {
        if (workers->members[i].stalls.ticks > most.ticks) {
            most = workers->members[i].stalls;
        }
        workers->members[i].stalls = (struct contention_stalls){ 0, 0 };
    }
    return most;
}

/* Return the unused processor time since the last call; only needed while a core rests. */
static int idle_processors(const struct workers *workers)
{
    const struct platform_cores *cores = &workers->platform->cores;

    return cores->idle_processors != NULL ? cores->idle_processors(cores->context) : -1;
}

/* Between jobs: let the last core leave for a while, or return. */
static void heed_contention(struct workers *workers, uint64_t now)
{
    struct contention_stalls most = take_stalls(workers);
    int idle = workers->rests ? idle_processors(workers) : -1;
    enum contention_advice advice = contention_judge(&workers->contention, &most, workers->n_cores,
                                                     idle, now);

    if (advice == CONTENTION_LEAVE) {
        workers_lend(workers, rest, rest, NULL);
        workers->rests = true;
        (void)idle_processors(workers); /* measure from now on */
    } else if (advice == CONTENTION_RETURN && workers->rests) {
        workers_take_back(workers);
    }
}

/* Contention is not judged while a core is lent for other work. */
static bool may_be_contended(const struct workers *workers)
{
    return workers->platform->cores.yield != NULL &&
           (workers->rests || (workers->n_cores > 1 && workers->lent_stop == NULL));
}

static void run_job(struct workers *workers)
{
    if (workers->n_cores > 1) {
        change(workers, &workers->job);
    }
    do_part(workers, 0);
    meet(workers, 0);
}

void workers_run(struct workers *workers, workers_fn *work, void *arg)
{
    const struct platform_clock *clock = &workers->platform->clock;
    bool contended = may_be_contended(workers);
    uint64_t begin = contended ? platform_ticks(clock) : 0, end;

    workers->work = work;
    workers->arg = arg;
    workers->measures = shares_measures(&workers->shares);
    run_job(workers);
    if (workers->measures) {
        take_measure(workers);
    }
    if (contended) {
        end = platform_ticks(clock);
        if (contention_job(&workers->contention, end - begin, end)) {
            heed_contention(workers, end);
        }
    }
}

void workers_gather(struct workers *workers)
{
    if (workers->rests) {
        workers_take_back(workers);
        contention_open(&workers->contention, workers->platform->clock.hz);
    }
}

void workers_stop(struct workers *workers)
{
    workers_gather(workers);
    atomic_store(&workers->ends, 1);
    change(workers, &workers->job);
    while (atomic_load(&workers->ready) != 0) {
        platform_yield(&workers->platform->cores);
    }
    workers->n_cores = 1;
    share_among(workers, 1);
}

/* A job starts the core that leaves; the others meet at the job's barrier without it. Wait until
 * the core has left: a core that is taken back earlier would join the next job as a normal
 * worker. */
void workers_lend(struct workers *workers, void (*work)(void *arg), void (*stop)(void *arg),
                  void *arg)
{
    workers_gather(workers);
    workers->lent_work = work;
    workers->lent_stop = stop;
    workers->lent_arg = arg;
    workers->work = do_nothing;
    workers->measures = false;
    atomic_store(&workers->lent, --workers->n_cores);
    share_among(workers, workers->n_cores);
    change(workers, &workers->job);
    meet(workers, 0);
    while (atomic_load(&workers->lent) != AWAY) {
        platform_yield(&workers->platform->cores);
    }
}

void workers_take_back(struct workers *workers)
{
    if (workers->lent_stop == NULL) {
        return;
    }
    workers->lent_stop(workers->lent_arg);
    workers->lent_stop = NULL;
    atomic_store(&workers->lent, WANTED_BACK);
    wake_sleepers(workers, &workers->lent);
    while (atomic_load(&workers->lent) != 0) {
        platform_yield(&workers->platform->cores);
    }
    workers->n_cores++;
    workers->rests = false;
    share_among(workers, workers->n_cores);
}

/* Count what a core gets in a measured job. A division into few steps is left out: the core's part
 * of the steps is far from its share, and one head or token must not count as much as many rows of
 * a matrix. */
static void count_part(struct workers *workers, unsigned core, size_t n, size_t step, size_t items)
{
    struct worker *me = &workers->members[core];
    uint64_t now = platform_ticks(&workers->platform->clock);

    end_uneven(me, now);
    if (n < EVEN_STEPS * step * workers->n_cores) {
        me->uneven = now;
        return;
    }
    me->given += (uint32_t)(items * GIVEN_WHOLE / n);
}

void workers_share(struct workers *workers, unsigned core, size_t n, size_t step, size_t *first,
                   size_t *last)
{
    /* A small model divides its work eighty times a token. Because of the early return, the call of
     * shares_part can be a tail call. */
    if (!workers->measures) {
        shares_part(&workers->shares, core, n, step, first, last);
        return;
    }
    shares_part(&workers->shares, core, n, step, first, last);
    count_part(workers, core, n, step, *last - *first);
}
