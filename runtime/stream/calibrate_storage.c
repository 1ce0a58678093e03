#include "runtime/stream/calibrate_storage.h"

enum {
    PIECE_BYTES = 1 << 20,
    LEAST_PIECES = 4,
    MOST_PIECES = 32,
    ALONE_BYTES = 256 << 10, /* one request of a file's */
    ALONE_HZ = 20,           /* or less, on a slow card: what it brings in 50 ms */
    ALONE_LEAST = 3,
    ALONE_MOST = 16,    /* of them, until a tenth of a second is over */
    LEAST_PERCENT = 50, /* below that it is the time to look */
};

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* How much of a request's time a core spends on it: what its start takes, and what is left to do
 * when nobody has looked for half as long again as it takes. */
static uint32_t measure_io_core(const struct plan_rates *rates, const struct file *file,
                                const struct platform_clock *clock, struct memory_range memory)
{
    uint64_t room = least(memory.bytes, file->bytes / (2 * ALONE_MOST));
    uint64_t bytes = least(least(ALONE_BYTES, rates->card / ALONE_HZ), room) / SECTOR_BYTES *
                     SECTOR_BYTES;
    uint64_t takes = bytes != 0 ? bytes * clock->hz / rates->card : 0, spent = takes;
    uint64_t begin = platform_ticks(clock);
    bool over = false;

    for (uint64_t i = 0; takes != 0 && (i < ALONE_LEAST || (i < ALONE_MOST && !over)); i++) {
        uint64_t start = platform_ticks(clock), started, looked;
        struct file_read read;

        (void)file_read_start(&read, file, (i + 1) * bytes, memory.base, (size_t)bytes);
        started = platform_ticks(clock);
        while (platform_ticks(clock) - started < takes + takes / 2) {
        }
        looked = platform_ticks(clock);
        while (file_read_poll(&read) == ERR_BUSY) {
        }
        spent = least(spent, started - start + (platform_ticks(clock) - looked));
        over = looked - begin > clock->hz / 10;
    }
    spent = takes != 0 ? spent * 100 / takes : 0;
    return spent < LEAST_PERCENT ? 0 : (uint32_t)spent;
}

/* Two reads take turns, so that the card is never idle. The second half of them counts: what a
 * card or its reader had cached comes at once at first. */
void calibrate_storage(struct plan_rates *rates, const struct file *file,
                       const struct platform_clock *clock, struct memory_range memory,
                       stream_progress_fn *progress, void *context)
{
    uint64_t limit = memory.bytes / 2 < PIECE_BYTES ? memory.bytes / 2 : PIECE_BYTES;
    uint64_t piece = (limit < file->bytes ? limit : file->bytes) / SECTOR_BYTES * SECTOR_BYTES;
    uint64_t step = (file->bytes - piece) / MOST_PIECES / SECTOR_BYTES * SECTOR_BYTES;
    uint64_t total = piece * LEAST_PIECES, start = platform_ticks(clock),
             times[MOST_PIECES + 1] = { 0 };
    struct file_read reads[2];
    bool good = piece != 0, more = good;
    unsigned n = 0;

    if (good) {
        (void)file_read_start(&reads[0], file, 0, memory.base, (size_t)piece);
    }
    while (more) {
        struct file_read *now = &reads[n % 2];

        more = n + 1 < MOST_PIECES && (n < LEAST_PIECES || times[n] < clock->hz / 3);
        if (more) { /* a refusal shows in the poll */
            (void)file_read_start(&reads[(n + 1) % 2], file, (n + 1) * step,
                                  memory.base + (n + 1) % 2 * piece, (size_t)piece);
        }
        while (file_read_poll(now) == ERR_BUSY) {
            uint64_t done = n * piece + now->bytes_done;

            if (progress != NULL &&
                !progress(context, "measuring the card", done < total ? done : total, total)) {
                file_read_stop(now);
            }
        }
        good = good && now->status == ERR_OK;
        times[++n] = platform_ticks(clock) - start;
        if (!good && more) {
            file_read_stop(&reads[n % 2]);
            while (file_read_poll(&reads[n % 2]) == ERR_BUSY) {
            }
            more = false;
        }
    }
    if (good && times[n] > times[n / 2]) {
        rates->card = (n - n / 2) * piece * clock->hz / (times[n] - times[n / 2]);
        rates->io_core = measure_io_core(rates, file, clock, memory);
    }
}
