/* Every core takes its share exactly once, and a barrier separates what is before from after. */
#include "runtime/compute/workers.h"

#include <string.h>
#include <unistd.h>

#include "board/host/host_platform.h"
#include "tests/unit/tap.h"

enum { ITEMS = 1000, ROUNDS = 300 };

static struct platform platform;

struct work {
    uint32_t count[ITEMS]; /* how often each item was taken */
    uint32_t sums[BOARD_MAX_CORES];
    _Atomic uint32_t wrong; /* cores that saw an unfinished sum behind the barrier */
};

static void take_share(void *arg, struct workers *workers, unsigned core)
{
    struct work *w = arg;
    size_t first, last;
    uint32_t total = 0;

    workers_share(workers, core, ITEMS, 8, &first, &last);
    w->sums[core] = 0;
    for (size_t i = first; i < last; i++) {
        w->count[i]++;
        w->sums[core]++;
    }
    workers_barrier(workers);
    for (unsigned i = 0; i < workers->n_cores; i++) {
        total += w->sums[i];
    }
    if (total != ITEMS) {
        atomic_fetch_add(&w->wrong, 1);
    }
    workers_barrier(workers);
}

static void test_cores(unsigned n)
{
    static struct workers crews[BOARD_MAX_CORES]; /* workers live on after the test */
    static struct work w;
    struct workers *workers = &crews[n - 1];
    uint32_t uneven = 0;

    memset(&w, 0, sizeof w);
    workers_start(workers, &platform, n);
    OK(workers->n_cores == n, "%u cores answer", n);
    for (int round = 0; round < ROUNDS; round++) {
        workers_run(workers, take_share, &w);
    }
    for (size_t i = 0; i < ITEMS; i++) {
        uneven += w.count[i] != ROUNDS;
    }
    OK(uneven == 0, "%u cores: every item once a round", n);
    OK(w.wrong == 0, "%u cores: the barrier holds", n);
}

/* ---- a core that is away ------------------------------------------------------------------------ */

enum { LATE_MICROS = 100000, ROUNDS_AWAY = 10 };

static void (*wait_well)(void *context, const _Atomic uint32_t *word, uint32_t old);
static _Thread_local bool late; /* this core: it comes late out of its next sleep */

static void wait_late(void *context, const _Atomic uint32_t *word, uint32_t old)
{
    wait_well(context, word, old);
    if (late && atomic_load(word) != old) {
        late = false;
        usleep(LATE_MICROS);
    }
}

static void return_at_once(void *returned)
{
    late = true;
    atomic_fetch_add((_Atomic uint32_t *)returned, 1);
}

static void do_nothing(void *arg)
{
    (void)arg;
}

/* Its work returns long before core 0 asks for it, and it is late for the jobs that have no place for
 * it. Each job has each item once all the same, without it and with it. */
static void test_returns_early(void)
{
    static struct platform sleepy;
    static struct workers workers;
    static struct work w;
    static _Atomic uint32_t returned;
    uint32_t uneven = 0;

    host_platform(&sleepy, NULL);
    wait_well = sleepy.cores.wait;
    sleepy.cores.wait = wait_late;
    sleepy.cores.spin_micros = 0;
    workers_start(&workers, &sleepy, 3);
    workers_lend(&workers, return_at_once, do_nothing, &returned);
    while (atomic_load(&returned) == 0) {
        platform_yield(&sleepy.cores);
    }
    for (int round = 0; round < ROUNDS_AWAY; round++) {
        workers_run(&workers, take_share, &w);
    }
    OK(workers.n_cores == 2 && w.wrong == 0,
       "a core whose work returned is away until it is asked");
    workers_take_back(&workers);
    for (int round = 0; round < ROUNDS; round++) {
        workers_run(&workers, take_share, &w);
    }
    for (size_t i = 0; i < ITEMS; i++) {
        uneven += w.count[i] != ROUNDS_AWAY + ROUNDS;
    }
    OK(uneven == 0 && w.wrong == 0 && workers.n_cores == 3,
       "and then it has its share: every item once a round");
    workers_stop(&workers);
}

static void test_share(void)
{
    struct workers workers = { .n_cores = 3 };
    size_t first, last, end = 0;

    for (unsigned core = 0; core < 3; core++) {
        workers_share(&workers, core, 20, 8, &first, &last);
        OK(first == end && (last % 8 == 0 || last == 20), "core %u has rows %zu to %zu of 20", core,
           first, last);
        end = last;
    }
    OK(end == 20, "shares end at the end");
    workers_share(&workers, 2, 0, 8, &first, &last);
    OK(first == 0 && last == 0, "nothing is shared as nothing");
}

int main(void)
{
    host_platform(&platform, NULL);
    test_share();
    for (unsigned n = 1; n <= 4; n++) {
        test_cores(n);
    }
    test_returns_early();
    return tap_done();
}
