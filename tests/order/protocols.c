/* Runs the workers, the core that serves a card, and the ring of received bytes in every order
 * (explore.h). Then it weakens the orders of one object at a time; each of these must be found, or
 * else the explorer sees nothing, or the order is stronger than it need be. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "board/drivers/serial/receive_ring.h"
#include "runtime/compute/workers.h"
#include "runtime/storage/io_core.h"
#include "tests/order/explore.h"

/* ---- the machine -------------------------------------------------------------------------------- */

static uint64_t no_ticks(void *context)
{
    (void)context;
    return 0; /* nothing is ever late */
}

static enum err start(void *context, unsigned core, void (*entry)(void *arg), void *arg)
{
    (void)context;
    explore_start(core, entry, arg);
    return ERR_OK;
}

static void wait(void *context, const _Atomic uint32_t *word, uint32_t old)
{
    (void)context;
    explore_wait(word, old);
}

static void wake(void *context, const _Atomic uint32_t *word)
{
    (void)context;
    (void)word;
    explore_wake();
}

static void yield(void *context)
{
    (void)context;
    explore_yield();
}

static const struct platform platform = {
    .clock = { .ticks = no_ticks, .hz = 1 },
    .cores = { .n = EXPLORE_CORES, .start = start, .wait = wait, .wake = wake, .yield = yield },
};

/* ---- workers ------------------------------------------------------------------------------------ */

static struct workers workers;
static unsigned items[EXPLORE_CORES];

/* Each core writes its own word, and after the barrier reads another's. */
static void count(void *arg, struct workers *w, unsigned core)
{
    unsigned *rounds = arg;

    items[core]++;
    workers_barrier(w, core);
    explore_check(items[(core + 1) % w->n_cores] == *rounds,
                  "a core does not see what another wrote before the barrier");
}

static void run_jobs(unsigned rounds)
{
    for (unsigned round = 1; round <= rounds; round++) {
        unsigned arg = round;

        workers_run(&workers, count, &arg);
        for (unsigned core = 0; core < workers.n_cores; core++)
            explore_check(items[core] == round, "a job has ended before its work");
    }
}

static void jobs_of_two(void)
{
    memset(items, 0, sizeof items);
    workers_start(&workers, &platform, 2);
    run_jobs(2);
    workers_stop(&workers);
}

static void jobs_of_three(void)
{
    memset(items, 0, sizeof items);
    workers_start(&workers, &platform, 3);
    run_jobs(1);
    workers_stop(&workers);
}

static unsigned done_away;

static void work_away(void *arg)
{
    *(unsigned *)arg += 1;
}

static void stop_away(void *arg)
{
    (void)arg;
}

static void one_away(void)
{
    memset(items, 0, sizeof items);
    done_away = 0;
    workers_start(&workers, &platform, 2);
    workers_lend(&workers, work_away, stop_away, &done_away);
    items[1] = 1;
    run_jobs(1);
    workers_take_back(&workers);
    explore_check(done_away == 1 && workers.n_cores == 2, "work elsewhere was not done");
    items[0] = items[1] = 0;
    run_jobs(1);
    workers_stop(&workers);
}

/* ---- a core for the card ------------------------------------------------------------------------ */

static struct io_core front;
static struct block_request *held[2];
static unsigned n_held;
static bool silent;
static uint8_t data[2][4];

static enum err card_submit(struct block_device *dev, struct block_request *req)
{
    (void)dev;
    held[n_held++] = req;
    return ERR_OK;
}

static enum err card_poll(struct block_device *dev)
{
    (void)dev;
    for (; n_held > 0 && !silent; n_held--) {
        *(uint8_t *)held[n_held - 1]->buffer = 7;
        held[n_held - 1]->status = ERR_OK;
        held[n_held - 1]->done = true;
    }
    return ERR_OK;
}

static enum err card_reset(struct block_device *dev)
{
    (void)dev;
    for (; n_held > 0; n_held--) {
        held[n_held - 1]->status = ERR_TIMEOUT;
        held[n_held - 1]->done = true;
    }
    return ERR_OK;
}

static struct block_device card = {
    .n_sectors = 8, .max_sectors = 1, .submit = card_submit, .poll = card_poll, .reset = card_reset
};

static struct trace trace;

static void open_card(bool is_silent)
{
    n_held = 0;
    silent = is_silent;
    memset(data, 0, sizeof data);
    trace_open(&trace, &platform.clock);
    io_core_open(&front, &card, &platform.cores, &trace);
    io_core_start(&front, 1);
    explore_start(1, io_core_serve, &front);
}

static void ask(struct block_request *r, unsigned n)
{
    *r = (struct block_request){ .sector = n, .n_sectors = 1, .buffer = data[n] };
    explore_check(front.device.submit(&front.device, r) == ERR_OK, "a request is refused");
}

static void collect(const struct block_request *r, unsigned n)
{
    (void)front.device.poll(&front.device);
    while (!r->done) {
        explore_yield();
        (void)front.device.poll(&front.device);
    }
    explore_check(r->status == ERR_OK && data[n][0] == 7, "a request ends without its data");
}

static void card_reads(void)
{
    struct block_request r[2];

    open_card(false);
    ask(&r[0], 0);
    ask(&r[1], 1);
    collect(&r[0], 0);
    collect(&r[1], 1);
    io_core_stop(&front);
    explore_check(io_core_is_idle(&front) && front.first == 2, "requests are left");
}

static void card_is_reset(void)
{
    struct block_request r;

    open_card(true);
    ask(&r, 0);
    (void)front.device.reset(&front.device);
    (void)front.device.poll(&front.device);
    explore_check(r.done && r.status == ERR_TIMEOUT, "a reset leaves a request");
    io_core_stop(&front);
}

/* Runs /trace while the serving core is at work. */
static void trace_begins(void)
{
    struct block_request r;

    open_card(false);
    ask(&r, 0);
    trace_start(&trace);
    collect(&r, 0);
    io_core_stop(&front);
}

/* ---- received bytes ----------------------------------------------------------------------------- */

static uint8_t bytes[2];
static struct receive_ring ring;

static void receive(void *arg)
{
    unsigned *lost = arg;

    for (uint8_t byte = 1; byte <= 3; byte++)
        *lost += !receive_ring_put(&ring, byte == 2 ? RECEIVE_RING_CTRL_C : byte);
}

static void received(void)
{
    static unsigned lost;
    uint8_t last = 0;

    lost = 0;
    memset(&ring, 0, sizeof ring);
    memset(bytes, 0, sizeof bytes);
    ring.bytes = bytes;
    ring.size = sizeof bytes;
    explore_start(1, receive, &lost);
    for (int i = 0; i < 4; i++) {
        int byte = receive_ring_take(&ring);

        explore_check(byte == -1 || byte == 1 || byte == 3, "a byte is not what was received");
        explore_check(byte == -1 || byte >= last, "bytes come in another order");
        if (byte != -1)
            last = (uint8_t)byte;
        (void)receive_ring_take_ctrl_c(&ring);
    }
}

/* ---- rows --------------------------------------------------------------------------------------- */

static const struct row {
    const char *name;
    void (*program)(void);
    struct explore_bounds bounds;
} rows[] = {
    { "two workers", jobs_of_two, { 2, 2, 100000 } },
    { "three workers", jobs_of_three, { 1, 1, 100000 } },
    { "a worker away", one_away, { 2, 2, 100000 } },
    { "a card's reads", card_reads, { 2, 2, 100000 } },
    { "a card's reset", card_is_reset, { 2, 2, 100000 } },
    { "a trace begins", trace_begins, { 2, 1, 100000 } },
    { "received bytes", received, { 3, 2, 100000 } },
};

#define WEAKER(program, object, kinds, relaxed) \
    { \
#object, program, \
        { \
            &(object), kinds, relaxed \
        } \
    }
enum { BOTH = EXPLORE_LOADS | EXPLORE_STORES };

static const struct weak {
    const char *name;
    void (*program)(void);
    struct explore_weaker weaker;
} weak[] = {
    WEAKER(jobs_of_two, workers.job, EXPLORE_LOADS, true),
    WEAKER(jobs_of_two, workers.job, EXPLORE_STORES, true),
    WEAKER(jobs_of_two, workers.job, BOTH, false),
    WEAKER(jobs_of_two, workers.phase, EXPLORE_LOADS, true),
    WEAKER(jobs_of_two, workers.phase, EXPLORE_STORES, true),
    WEAKER(jobs_of_two, workers.phase, BOTH, false),
    WEAKER(jobs_of_two, workers.arrived, EXPLORE_LOADS, true),
    WEAKER(jobs_of_two, workers.arrived, EXPLORE_STORES, true),
    WEAKER(jobs_of_two, workers.sleepers, EXPLORE_LOADS, true),
    WEAKER(jobs_of_two, workers.sleepers, EXPLORE_STORES, true),
    WEAKER(jobs_of_two, workers.sleepers, BOTH, false),
    WEAKER(one_away, workers.lent, EXPLORE_LOADS, true),
    WEAKER(one_away, workers.lent, EXPLORE_STORES, true),
    WEAKER(one_away, workers.lent, BOTH, false),
    WEAKER(card_reads, front.slots[0].state, EXPLORE_LOADS, true),
    WEAKER(card_reads, front.slots[0].state, EXPLORE_STORES, true),
    WEAKER(card_reads, front.requests, EXPLORE_LOADS, true),
    WEAKER(card_reads, front.requests, EXPLORE_STORES, true),
    WEAKER(card_reads, front.requests, BOTH, false),
    WEAKER(card_reads, front.asleep, BOTH, true),
    WEAKER(card_reads, front.asleep, BOTH, false),
    WEAKER(card_is_reset, front.order, EXPLORE_LOADS, true),
    WEAKER(card_is_reset, front.order, EXPLORE_STORES, true),
    WEAKER(received, ring.put, EXPLORE_LOADS, true),
    WEAKER(received, ring.put, EXPLORE_STORES, true),
    WEAKER(received, ring.taken, EXPLORE_LOADS, true),
    WEAKER(received, ring.taken, EXPLORE_STORES, true),
};

static const struct row *row_of(void (*program)(void))
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].program == program)
            return &rows[i];
    abort();
}

static unsigned n_rows, n_failed;

static void tell(bool good, const char *row)
{
    printf("%sok %u - %s\n", good ? "" : "not ", ++n_rows, row);
    n_failed += !good;
}

/* Runs the source unchanged: no fault. */
static void test_row(const struct row *row)
{
    static const struct explore_weaker nothing = { NULL, 0, false };
    struct explore_result r = explore(row->program, &row->bounds, &nothing);
    char text[256];

    snprintf(text, sizeof text, "%s: %lu orders%s%s%s", row->name, r.runs, r.cut ? ", cut" : "",
             r.fault[0] != '\0' ? ": " : "", r.fault);
    tell(r.fault[0] == '\0' && !r.cut, text);
}

/* Weaker: a fault. */
static void test_weak(const struct weak *w)
{
    static const char *const kinds[] = { "", "loads", "stores", "loads and stores" };
    struct explore_result r = explore(w->program, &row_of(w->program)->bounds, &w->weaker);
    char text[256];

    snprintf(text, sizeof text, "%s, %s %s: %s", w->name, kinds[w->weaker.kinds],
             w->weaker.relaxed ? "relaxed" : "not sequentially consistent",
             r.fault[0] != '\0' ? r.fault : "no fault");
    tell(r.fault[0] != '\0', text);
}

int main(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        test_row(&rows[i]);
    for (size_t i = 0; i < sizeof weak / sizeof weak[0]; i++)
        test_weak(&weak[i]);
    printf("1..%u\n", n_rows);
    return n_failed != 0;
}
