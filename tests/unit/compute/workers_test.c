/* Every core takes its share exactly once, and a barrier separates the work before from the work
 * after. */
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
    workers_barrier(workers, core);
    for (unsigned i = 0; i < workers->n_cores; i++) {
        total += w->sums[i];
    }
    if (total != ITEMS) {
        atomic_fetch_add(&w->wrong, 1);
    }
    workers_barrier(workers, core);
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
    OK(uneven == 0, "%u cores: every item is taken once a round", n);
    OK(w.wrong == 0, "%u cores: the barrier holds", n);
}

/* ---- a core that is away ------------------------------------------------------------------------ */

enum { LATE_MICROS = 100000, ROUNDS_AWAY = 10 };

static void (*wait_well)(void *context, const _Atomic uint32_t *word, uint32_t old);
static _Thread_local bool late; /* this core wakes late from its next sleep */

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

/* Its work returns long before core 0 asks for it, and it is late for jobs that have no part for
 * it. Each job has each item once all the same, without it and with it. */
static void test_returns_early(void)
{
    static struct platform sleepy;
    static struct workers workers;
    static struct work w;
    static _Atomic uint32_t returned;
    uint32_t uneven = 0;

    sleepy = platform;
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
       "a core that is back has its share, and every item is taken once a round");
    workers_stop(&workers);
}

/* ---- cores that do not start ---------------------------------------------------------------------- */

static enum err (*start_well)(void *context, unsigned core, void (*entry)(void *arg), void *arg);
static struct {
    void (*entry)(void *arg);
    void *arg;
} held;

/* Core 1 says yes and does not come (a monitor core without MMU, say), core 3 says no. */
static enum err start_some(void *context, unsigned core, void (*entry)(void *arg), void *arg)
{
    if (core == 3) {
        return ERR_NO_DEVICE;
    }
    if (core != 1) {
        return start_well(context, core, entry, arg);
    }
    held.entry = entry;
    held.arg = arg;
    return ERR_OK;
}

static void test_refusals(void)
{
    static const uint32_t capacity[5] = { 1, 9, 2, 9, 3 };
    static struct platform some;
    static struct workers workers;
    static struct work w;
    uint32_t uneven = 0;

    some = platform;
    start_well = some.cores.start;
    some.cores.start = start_some;
    some.cores.capacity = capacity;
    workers_start(&workers, &some, 5);
    OK(workers.n_cores == 3, "two of four cores do not start, and the others work: %u of 5",
       workers.n_cores);
    OK(workers.capacity[1] == 2 && workers.capacity[2] == 3, "each core has its own speed");
    if (held.entry != NULL) {
        (void)start_well(some.cores.context, 1, held.entry, held.arg);
    }
    for (int round = 0; round < ROUNDS; round++) {
        workers_run(&workers, take_share, &w);
    }
    for (size_t i = 0; i < ITEMS; i++) {
        uneven += w.count[i] != ROUNDS;
    }
    OK(uneven == 0 && w.wrong == 0, "a core that comes late has no part in a job");
    workers_stop(&workers);
}

/* ---- unequal cores ------------------------------------------------------------------------------ */

enum { SLOW = 3, ITEM_MICROS = 20, SLEEPS = 160, JOB_ITEMS = 240 };

static uint32_t cost(unsigned core)
{
    return core == SLOW ? 3 : 1;
}

/* A core that sleeps needs no processor, so four of known speed run on any machine. */
static void sleep_share(void *arg, struct workers *workers, unsigned core)
{
    uint32_t *micros = arg;
    size_t first, last;

    workers_share(workers, core, JOB_ITEMS, 1, &first, &last);
    micros[core] = (uint32_t)(last - first) * ITEM_MICROS * cost(core);
    usleep(micros[core]);
    workers_barrier(workers, core); /* the others wait there for the slow one */
}

static uint32_t longest_of(const uint32_t micros[4])
{
    uint32_t most = 0;

    for (unsigned core = 0; core < 4; core++) {
        most = micros[core] > most ? micros[core] : most;
    }
    return most;
}

/* On a busy computer a core that sleeps may wake late and then counts as slow for a while. So the parts have settled when they stay near the ideal for SETTLED
 * jobs in a row, which may take a few times as many jobs as on a computer at rest. */
static void test_throttled(void)
{
    enum { SETTLED = 8, MOST_JOBS = 20 * SLEEPS };
    static struct workers workers;
    static uint32_t micros[4];
    uint32_t most = 0, ideal = JOB_ITEMS * ITEM_MICROS * 3 / 10;
    unsigned settled = 0, jobs = 0;

    workers_start(&workers, &platform, 4);
    workers_run(&workers, sleep_share, micros);
    OK(micros[SLOW] == JOB_ITEMS / 4 * ITEM_MICROS * 3, "the first parts are equal: %u us for %u",
       micros[SLOW], ideal);
    for (; jobs < MOST_JOBS && settled < SETTLED; jobs++) {
        workers_run(&workers, sleep_share, micros);
        most = longest_of(micros);
        settled = most <= ideal * 23 / 20 ? settled + 1 : 0;
    }
    OK(settled == SETTLED,
       "the shares settle with one core of four at a third: %u us for %u after %u jobs", most,
       ideal, jobs);
    workers_stop(&workers);
}

/* Core 0 waits for a card in each job, which does not make it slow. */
static void wait_for_card(void *arg, struct workers *workers, unsigned core)
{
    uint64_t begin = workers_wait_begin(workers);

    (void)arg;
    if (core == 0) {
        usleep(500);
        workers_wait_end(workers, core, begin);
    }
    workers_barrier(workers, core);
    usleep(500);
}

static void test_waits(void)
{
    static struct workers workers;
    size_t first, last;

    workers_start(&workers, &platform, 2);
    for (int i = 0; i < SLEEPS; i++) {
        workers_run(&workers, wait_for_card, NULL);
    }
    workers_share(&workers, 0, ITEMS, 1, &first, &last);
    OK(last >= ITEMS * 2 / 5, "a core that waits for a card keeps its share: %zu of %u", last,
       ITEMS);
    workers_stop(&workers);
}

static void test_share(void)
{
    struct workers workers = { .n_cores = 3 };
    size_t first, last, end = 0;

    shares_begin(&workers.shares, 3, NULL);
    for (unsigned core = 0; core < 3; core++) {
        workers_share(&workers, core, 20, 8, &first, &last);
        OK(first == end && (last % 8 == 0 || last == 20), "core %u has rows %zu to %zu of 20", core,
           first, last);
        end = last;
    }
    OK(end == 20, "the shares end at the last row");
    workers_share(&workers, 2, 0, 8, &first, &last);
    OK(first == 0 && last == 0, "a share of no rows is empty");
}

static uint64_t told; /* ticks of the clock below */

static uint64_t told_ticks(void *context)
{
    (void)context;
    return told;
}

/* A division into few items counts neither by its items nor by its time, so that a core that always
 * gets the only head or token does not look twice as fast. */
static void test_uneven(void)
{
    static struct platform slow = { .clock = { .ticks = told_ticks, .hz = 1000 } };
    static struct workers w;
    struct worker *last_core = &w.members[1];
    size_t first, last;

    w.platform = &slow;
    w.n_cores = 2;
    w.measures = true;
    shares_begin(&w.shares, 2, NULL);
    told = 100;
    workers_share(&w, 1, 1, 1, &first, &last);
    OK(first == 0 && last == 1 && last_core->given == 0, "the only item counts as nothing");
    told = 130;
    workers_share(&w, 1, 576, 8, &first, &last);
    OK(last - first == 288 && last_core->given == 1 << 15 && last_core->waited == 30,
       "half of a matrix counts as half: %u of 65536, and 30 ticks of the item do not: %u",
       (unsigned)last_core->given, (unsigned)last_core->waited);
    told = 200;
    workers_share(&w, 1, 3, 1, &first, &last);
    told = 210;
    workers_wait_end(&w, 1, workers_wait_begin(&w));
    told = 215;
    workers_share(&w, 1, 576, 8, &first, &last);
    OK(last_core->given == 1 << 16 && last_core->waited == 40,
       "an uneven part ends where a wait begins: %u ticks", (unsigned)last_core->waited);
}

int main(void)
{
    host_platform(&platform, NULL);
    platform.cores.yield =
        NULL; /* no core rests because of other programs: contention_test.c tests that */
    test_share();
    test_uneven();
    for (unsigned n = 1; n <= 4; n++) {
        test_cores(n);
    }
    test_returns_early();
    test_refusals();
    test_throttled();
    test_waits();
    return tap_done();
}
