#include "runtime/stream/calibrate_storage.h"

#include "board/min_max.h"
#include "runtime/storage/io_core.h"

enum {
    SAMPLE_BYTES = 1 << 20,
    LEAST_SAMPLES = 4,
    MOST_SAMPLES = 32,
    ALONE_BYTES = 256 << 10, /* size of a request of file.c */
    ALONE_HZ = 20,           /* a slow card's request is what it reads in 50 ms */
    ALONE_LEAST = 3,
    ALONE_MOST = 16,    /* the most samples; a tenth of a second also ends them */
    LEAST_PERCENT = 50, /* a lower percentage is only the cost of polls */
};

/* Return for what percentage of a request's time a core is needed. This is the time to start the
 * request, and the time that the request still takes after a pause without polls; the pause is 1.5
 * times as long as the request. Return 0 for a device that works without polls. Firmware that only
 * reports a finished request late does not take a core. */
static uint32_t measure_io_core(const struct plan_rates *rates, const struct file *file,
                                const struct platform_clock *clock, struct memory_range memory)
{
    uint64_t room = min_u64(memory.bytes, file->bytes / (2 * ALONE_MOST));
    uint64_t bytes = min_u64(min_u64(ALONE_BYTES, rates->card / ALONE_HZ), room) / SECTOR_BYTES *
                     SECTOR_BYTES;
    uint64_t begin = platform_ticks(clock), takes, spent;
    bool over = false;

    if (file->device->wanted_requests != 0 && io_core_of(file->device) == NULL) {
        return 0;
    }
    if (bytes == 0) { /* nothing was read, or the card is too slow */
        return 0;
    }
    takes = spent = bytes * clock->hz / rates->card;
    if (takes == 0) {
        return 0;
    }
    for (uint64_t i = 0; i < ALONE_LEAST || (i < ALONE_MOST && !over); i++) {
        uint64_t start = platform_ticks(clock), started, looked;
        struct file_read read;

        (void)file_read_start(&read, file, (i + 1) * bytes, memory.base, (size_t)bytes);
        started = platform_ticks(clock);
        while (platform_ticks(clock) - started < takes + takes / 2) {
        }
        looked = platform_ticks(clock);
        while (file_read_poll(&read) == ERR_BUSY) {
        }
        spent = min_u64(spent, started - start + (platform_ticks(clock) - looked));
        over = looked - begin > clock->hz / 10;
    }
    spent = spent * 100 / takes;
    if (spent < LEAST_PERCENT) {
        return 0;
    }
    return (uint32_t)spent;
}

/* Samples of the file, read in order with two in flight, so that the card is never idle. */
struct samples {
    const struct file *file;
    const struct platform_clock *clock;
    uint8_t *memory;
    uint64_t bytes, step; /* bytes of a sample, and distance from one start to the next */
    uint64_t start;
    uint64_t times[MOST_SAMPLES + 1]; /* [n] is the ticks from the start until n samples had come */
    struct file_read reads[2];
    stream_progress_fn *progress; /* or NULL */
    void *context;
};

static void start_sample(struct samples *p, unsigned n)
{
    (void)file_read_start(&p->reads[n % 2], p->file, n * p->step, p->memory + n % 2 * p->bytes,
                          (size_t)p->bytes); /* the poll reports an error */
}

/* Wait for sample number n. */
static enum err wait_sample(struct samples *p, unsigned n)
{
    struct file_read *read = &p->reads[n % 2];
    uint64_t total = p->bytes * LEAST_SAMPLES;

    while (file_read_poll(read) == ERR_BUSY) {
        uint64_t done = min_u64(n * p->bytes + read->bytes_done, total);

        if (p->progress != NULL && !p->progress(p->context, "measuring the card", done, total)) {
            file_read_stop(read);
        }
    }
    p->times[n + 1] = platform_ticks(p->clock) - p->start;
    return read->status;
}

/* Read samples for a third of a second, at least LEAST_SAMPLES. Return how many came, or 0 if a
 * sample failed. */
static unsigned read_samples(struct samples *p)
{
    bool more = true;
    unsigned n = 0;

    start_sample(p, 0);
    for (; more; n++) {
        more = n + 1 < MOST_SAMPLES && (n < LEAST_SAMPLES || p->times[n] < p->clock->hz / 3);
        if (more) {
            start_sample(p, n + 1);
        }
        if (wait_sample(p, n) == ERR_OK) {
            continue;
        }
        if (more) {
            file_read_stop(&p->reads[(n + 1) % 2]);
            (void)wait_sample(p, n + 1);
        }
        return 0;
    }
    return n;
}

/* Only the second half of the samples counts, because the first bytes may come from a cache of
 * the card or its reader. */
void calibrate_storage(struct plan_rates *rates, const struct file *file,
                       const struct platform_clock *clock, struct memory_range memory,
                       stream_progress_fn *progress, void *context)
{
    uint64_t most = min_u64(min_u64(memory.bytes / 2, SAMPLE_BYTES), file->bytes);
    struct samples p = { .file = file,
                         .clock = clock,
                         .memory = memory.base,
                         .bytes = most / SECTOR_BYTES * SECTOR_BYTES,
                         .progress = progress,
                         .context = context };
    unsigned n;

    if (p.bytes == 0) {
        return;
    }
    p.step = (file->bytes - p.bytes) / MOST_SAMPLES / SECTOR_BYTES * SECTOR_BYTES;
    p.start = platform_ticks(clock);
    n = read_samples(&p);
    if (n == 0 || p.times[n] <= p.times[n / 2]) {
        return;
    }
    rates->card = (n - n / 2) * p.bytes * clock->hz / (p.times[n] - p.times[n / 2]);
    rates->io_core = measure_io_core(rates, file, clock, memory);
}
