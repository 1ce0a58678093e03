/* A core that serves a device without DMA: reads and writes through it, failures, resets, when it
 * sleeps; and a streamed model above it, with the usual logits. */
#include "runtime/storage/io_core.h"

#include "tests/unit/rig_expected.h"

enum { SECTORS = 4096, READS = 300, MOST_SECTORS = 600 };

static struct io_core core;
static struct workers workers;

/* ---- a device behind it ------------------------------------------------------------------------ */

static uint8_t contents[SECTORS * SECTOR_BYTES], written[SECTORS * SECTOR_BYTES];
static uint8_t buffers[2][MOST_SECTORS * SECTOR_BYTES] __attribute__((aligned(64)));
static struct fake_block device;
static struct file file;
static _Atomic unsigned polls; /* of the device */
static uint32_t random_state = 1;

static uint32_t any(uint32_t n)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % n;
}

static enum err counted_poll(struct block_device *dev)
{
    atomic_fetch_add(&polls, 1);
    return fake_poll(dev);
}

static void lend(void)
{
    io_core_start(&core, workers.n_cores - 1);
    workers_lend(&workers, io_core_serve, io_core_stop, &core);
}

/* A test may touch the device while nobody serves it. */
static void take_back(void)
{
    workers_take_back(&workers);
}

static void open_device(uint64_t limit_millis)
{
    const struct platform *platform = rig_platform();
    struct file_timeout timeout = { platform, limit_millis * platform->clock.hz / 1000 };

    take_back();
    if (!io_core_is_idle(&core))
        rig_die("something is still in flight");
    fake_init(&device, contents, SECTORS);
    device.written = written;
    device.dev.writable = true;
    device.dev.poll = counted_poll;
    io_core_open(&core, &device.dev, &platform->cores, NULL);
    if (file_open_device(&file, &core.device, sizeof contents, &timeout) != ERR_OK)
        rig_die("the device does not open");
    lend();
}

static bool same(const struct file_read *r, const uint8_t *with)
{
    return r->status == ERR_OK && memcmp(r->buffer, with + r->offset, (size_t)r->bytes) == 0;
}

/* Runs two reads at a time, of any place and length, while the core comes and goes. */
static void test_reads(bool comes_and_goes, unsigned busy_every, bool newest_first)
{
    struct file_read reads[2];
    unsigned wrong = 0, moves = 0, most;

    open_device(5000);
    take_back();
    device.busy_every = busy_every;
    device.newest_first = newest_first;
    lend();
    for (int i = 0; i < READS; i++) {
        for (int j = 0; j < 2; j++) {
            uint32_t n = 1 + any(MOST_SECTORS), at = any(SECTORS - n);

            (void)file_read_start(&reads[j], &file, (uint64_t)at * SECTOR_BYTES, buffers[j],
                                  (size_t)n * SECTOR_BYTES);
        }
        while (reads[0].status == ERR_BUSY || reads[1].status == ERR_BUSY) {
            (void)file_read_poll(&reads[0]);
            (void)file_read_poll(&reads[1]);
            if (comes_and_goes && any(8) == 0) {
                moves++;
                if (core.core != 0)
                    take_back();
                else
                    lend();
            }
        }
        wrong += same(&reads[0], contents) && same(&reads[1], contents) ? 0 : 1;
    }
    take_back();
    most = device.most_pending;
    OK(wrong == 0 && most > 1 && workers.n_cores == 3,
       "%d reads%s, %u at a time%s%s, are right, and the core went %u times: %u wrong", 2 * READS,
       comes_and_goes ? " while the core comes and goes" : "", most,
       busy_every != 0 ? ", the device often busy" : "", newest_first ? ", the last one first" : "",
       moves, wrong);
}

/* The serving core continues while core 0 computes: a read keeps as many requests in flight as the
 * core takes, except those that are left to other reads. */
static void test_depth(void)
{
    struct file_read r;
    unsigned asked;

    open_device(5000);
    (void)file_read_start(&r, &file, 0, buffers[0], MOST_SECTORS * SECTOR_BYTES);
    asked = core.next - core.collected;
    while (file_read_poll(&r) == ERR_BUSY)
        ;
    OK(same(&r, contents) && asked == IO_CORE_DEPTH - IO_CORE_DEPTH / 4,
       "the core takes %u requests ahead", asked);
}

static void test_writes(void)
{
    struct file_read r;

    open_device(5000);
    memcpy(buffers[0], contents, sizeof buffers[0]);
    OK(file_write_now(&r, &file, 77 * SECTOR_BYTES, buffers[0], sizeof buffers[0]) == ERR_OK &&
           memcmp(written + 77 * SECTOR_BYTES, contents, sizeof buffers[0]) == 0,
       "writes go through the core in the same way");
    take_back();
    core.device.writable = false;
    OK(file_write_start(&r, &file, 0, buffers[0], SECTOR_BYTES) == ERR_UNSUPPORTED,
       "a write to a device that takes none is refused");
}

static void test_refusals(void)
{
    struct block_request r = { .sector = SECTORS - 1, .n_sectors = 2, .buffer = buffers[0] };

    open_device(5000);
    OK(core.device.submit(&core.device, &r) == ERR_RANGE, "a request beyond the end is refused");
    r.sector = 0;
    r.n_sectors = core.device.max_sectors + 1;
    OK(core.device.submit(&core.device, &r) == ERR_RANGE, "a request that is too large is refused");
}

static void test_errors(unsigned times)
{
    struct file_read r;
    enum err e;

    open_device(5000);
    take_back();
    device.fail_sector = 100;
    device.fail_times = times;
    lend();
    e = file_read_now(&r, &file, 90 * SECTOR_BYTES, buffers[0], 20 * SECTOR_BYTES);
    OK(times > FILE_READ_RETRIES ? e == ERR_IO && r.failed_sector == 90
                                 : same(&r, contents) && r.n_retries == times,
       "a request that fails %u times ends with '%s', after %u retries", times, err_text(e),
       r.n_retries);
}

/* Silent, until a reset helps or nothing does. */
static void test_silence(bool helps)
{
    struct file_read r;
    enum err e;

    open_device(40);
    take_back();
    device.silent = true;
    device.reset_helps = helps;
    lend();
    e = file_read_now(&r, &file, 0, buffers[0], sizeof buffers[0]);
    take_back();
    OK(helps ? same(&r, contents) && device.n_resets == 1
             : e == ERR_TIMEOUT && device.n_resets == FILE_READ_RETRIES + 1,
       "a device that is silent and %s ends with '%s' after %u resets",
       helps ? "is reset" : "stays so", err_text(e), device.n_resets);
    OK(device.n_pending == 0 && io_core_is_idle(&core), "nothing is left in flight");
}

static void test_no_reset(void)
{
    open_device(5000);
    take_back();
    OK(io_core_of(&core.device) == &core && io_core_of(&device.dev) == NULL &&
           device.dev.poll == counted_poll && device.dev.driver == &device,
       "the driver's device is as it was");
    device.dev.reset = NULL;
    io_core_open(&core, &device.dev, &rig_platform()->cores, NULL);
    OK(core.device.reset == NULL, "a device without a reset gets no reset");
    lend();
}

/* A request in flight stays so when the core leaves. */
static void test_in_flight(void)
{
    struct block_request r = { .sector = 5, .n_sectors = 1, .buffer = buffers[0] };

    open_device(5000);
    take_back();
    device.silent = true;
    lend();
    (void)core.device.submit(&core.device, &r);
    take_back();
    OK(!io_core_is_idle(&core) && !r.done, "a request stays in flight when the core goes");
    device.silent = false;
    (void)core.device.poll(&core.device);
    OK(r.done && r.status == ERR_OK && io_core_is_idle(&core),
       "core 0 ends what the other core began");
}

static enum err refuse(struct block_device *dev, struct block_request *req)
{
    (void)dev;
    (void)req;
    return ERR_IO;
}

static enum err have_no_room(struct block_device *dev, struct block_request *req)
{
    (void)dev;
    (void)req;
    return ERR_BUSY;
}

/* Requests that the device behind it refused. */
static void test_not_taken(void)
{
    struct block_request r = { .sector = 5, .n_sectors = 1, .buffer = buffers[0] };

    open_device(5000);
    take_back();
    device.dev.submit = refuse;
    OK(core.device.submit(&core.device, &r) == ERR_OK && r.done && r.status == ERR_IO,
       "a request that the device refuses ends with its error");
    device.dev.submit = have_no_room;
    OK(core.device.submit(&core.device, &r) == ERR_OK && !r.done,
       "a request without a free slot waits");
    (void)core.device.reset(&core.device);
    OK(r.done && r.status == ERR_TIMEOUT && io_core_is_idle(&core),
       "the request that timed out ends with a reset");
}

/* Without requests nobody polls: two counts taken far apart are equal. */
static void test_sleep(void)
{
    struct file_read r;
    unsigned before, after = 0;
    const struct platform_clock *clock = &rig_platform()->clock;
    bool slept = false;

    open_device(5000);
    (void)file_read_now(&r, &file, 0, buffers[0], sizeof buffers[0]);
    for (int tries = 0; tries < 100 && !slept; tries++) {
        uint64_t start = platform_ticks(clock);

        before = atomic_load(&polls);
        while (platform_ticks(clock) - start < clock->hz / 50) {
        }
        after = atomic_load(&polls);
        slept = before == after;
    }
    OK(slept, "the core sleeps without requests");
    (void)file_read_now(&r, &file, SECTOR_BYTES, buffers[0], sizeof buffers[0]);
    OK(same(&r, contents) && atomic_load(&polls) > after && r.n_timeouts == 0,
       "the core wakes for the next request at once, not by the reset of a silent device");
}

/* Requests that come at any moment while the core goes to sleep: each is heard. */
static void test_bell(void)
{
    const struct platform_clock *clock = &rig_platform()->clock;
    unsigned timeouts = 0;
    int i;

    open_device(5000);
    for (i = 0; i < 5000 && timeouts == 0; i++) {
        uint64_t start = platform_ticks(clock), pause = any((uint32_t)(clock->hz / 50000));
        struct file_read r;

        while (platform_ticks(clock) - start < pause) {
        }
        (void)file_read_now(&r, &file, 0, buffers[0], SECTOR_BYTES);
        timeouts += r.n_timeouts + !same(&r, contents);
    }
    OK(timeouts == 0, "%d requests after pauses of up to 20 us are heard", i);
}

/* ---- a model above it -------------------------------------------------------------------------- */

static struct plan_rates left; /* what two cores compute */

/* Three cores compute a gigabyte a second, and a third of that for chunks. */
static void tell_rates(uint32_t card_rate, uint32_t left_decode)
{
    struct plan_rates *rates = &rig.setup.rates;

    *rates = (struct plan_rates){ .card = card_rate, .io_core = 95, .cores = 3, .lent = &left };
    for (unsigned type = 0; type < INGOT_N_TYPES; type++) {
        rates->decode[type] = 1000;
        rates->prefill[type] = 3000;
        left.decode[type] = left_decode;
        left.prefill[type] = 4500;
    }
}

/* A card that takes a hundred times as long as the cores for a token; one core moves its data. */
static void start_lent(size_t limit, uint32_t card_rate)
{
    take_back();
    if (rig.model.stream.plan != NULL)
        stream_reset(&rig.model.stream);
    if (!io_core_is_idle(&core))
        rig_die("something is still in flight");
    (void)rig_open(limit, 0, false);
    io_core_open(&core, &rig.fake.dev, &rig_platform()->cores, NULL);
    rig.file.device = &core.device;
    tell_rates(card_rate, 1500);
    if (model_open(&rig.model, &rig.setup) != ERR_OK || rig_load() != ERR_OK)
        rig_die(rig.model.error_message);
}

/* So many cores, or one less that rests, because other programs run on this computer. */
static bool computes_with(uint32_t n)
{
    return workers.n_cores == n || (workers.rests && workers.n_cores + 1 == n);
}

static void test_model(size_t limit, const char *form)
{
    const struct stream_stats *f = &rig.model.stream.stats;
    bool equal = true, lent;

    start_lent(limit, 10 << 20);
    lent = rig.model.io_core == &core;
    for (uint32_t i = 0; i < N_TOKENS; i++) {
        equal = append(i) && equal;
        lent = lent && core.core == 2 && computes_with(2);
    }
    OK(equal && lent && f->bytes_streamed == N_TOKENS * model_planned_bytes(&rig.model),
       "%s: two cores compute, the third serves, and the logits and bytes are the same", form);
    OK(!rig.model.plan.prediction.lends_prefill, "%s: all cores compute a chunk", form);
    session_clear(&rig.session);
    equal = rig_append(ids, N_TOKENS, NULL) == ERR_OK;
    OK(equal && core.core == 2, "%s: %d tokens are not a chunk", form, N_TOKENS);
    rig.model.plan.prediction.lends_decode = false;
    session_clear(&rig.session);
    for (uint32_t i = 0; i < N_TOKENS; i++) {
        rig.model.plan.prediction.lends_decode = i % 2 !=
                                                 0; /* requests stay in flight across each change */
        equal = append(i) && equal && computes_with(i % 2 != 0 ? 2 : 3);
    }
    OK(equal, "%s: the logits are the same if the core comes and goes between tokens", form);
}

/* Fails at token 2 for good: the cache stays, and it continues when the card is well again. */
static void test_failure(size_t limit, bool flip, const char *form)
{
    uint32_t extent = 1;
    long sector;
    bool equal;
    enum err e;

    start_lent(limit, 10 << 20);
    while (rig.model.plan.pinned[extent])
        extent++;
    sector = (long)(rig.model.image.segments[extent].offset / SECTOR_BYTES);
    equal = append(0) && append(1);
    take_back();
    if (flip) {
        rig.flip_sector = sector;
        rig.flip_times = 1000;
    } else {
        rig.fake.fail_sector = sector;
        rig.fake.fail_times = 1000;
    }
    do {
        e = rig_append(&ids[2], 1, NULL);
        (void)session_cut(&rig.session, 2); /* what was there already met no fault */
    } while (e == ERR_OK);
    OK(e == (flip ? ERR_BAD_CHECKSUM : ERR_IO) && core.core == 2,
       "%s: a layer that is %s is reported: %s", form, flip ? "flipped" : "failing",
       rig.model.error_message);
    take_back();
    rig.flip_times = 0;
    rig.fake.fail_times = 0;
    for (uint32_t i = 2; i < N_TOKENS; i++)
        equal = append(i) && equal;
    OK(equal && core.core == 2, "%s: the logits are the usual ones after the layer is well", form);
}

/* Another model takes the core back, and so does one that gains nothing from it. */
static void test_swap(size_t limit)
{
    bool equal;

    start_lent(limit, 10 << 20);
    equal = append(0);
    stream_reset(&rig.model.stream);
    OK(equal && core.core == 2 && model_open(&rig.model, &rig.setup) == ERR_OK &&
           computes_with(3) && core.core == 0 && rig.model.io_core == NULL,
       "a model is opened with all cores");
    start_lent(limit, 3000u << 20);
    equal = append(0);
    OK(equal && core.core == 0 && computes_with(3) && rig.model.io_core == NULL,
       "no core serves a card that is fast against the cores");
}

/* The other cores' result without that core counts. */
static bool lends_beside(size_t limit, uint32_t card_rate, uint32_t picoseconds)
{
    start_lent(limit, card_rate);
    tell_rates(card_rate, picoseconds);
    if (model_open(&rig.model, &rig.setup) != ERR_OK)
        rig_die(rig.model.error_message);
    return rig.model.plan.prediction.lends_decode;
}

static void test_measured(size_t limit)
{
    OK(!lends_beside(limit, 10 << 20, 1000000) && lends_beside(limit, 10 << 20, 1500),
       "no core is lent if two cores are a thousand times slower than three");
    OK(!lends_beside(limit, 3000u << 20, 1500) && lends_beside(limit, 3000u << 20, 1000),
       "a core is lent if two cores are as fast as three");
}

int main(void)
{
    struct rig_limits l;

    for (size_t i = 0; i < sizeof contents; i++)
        contents[i] = (uint8_t)(i * 7 + i / SECTOR_BYTES);
    workers_start(&workers, rig_platform(), 3);
    rig.workers = &workers;
    test_sleep();
    test_bell();
    test_reads(false, 0, false);
    test_reads(false, 3, true);
    test_reads(true, 0, true);
    test_reads(true, 3, false);
    test_depth();
    test_writes();
    test_refusals();
    for (unsigned times = 1; times <= FILE_READ_RETRIES + 1; times += FILE_READ_RETRIES)
        test_errors(times);
    test_silence(true);
    test_silence(false);
    test_no_reset();
    test_in_flight();
    test_not_taken();

    take_back();
    rig_make_model("tiny", INGOT_Q8_0);
    l = rig_limits();
    set_expected();
    test_model(l.least, "least");
    test_model(l.untiled, "head pinned");
    test_failure(l.untiled, false, "head pinned");
    test_failure(l.untiled, true, "head pinned");
    test_failure(l.least, true, "least");
    test_swap(l.untiled);
    test_measured(l.untiled);
    return tap_done();
}
