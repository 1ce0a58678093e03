/* The requests that a read keeps in flight, as its device wants, and the gain if the caller
 * computes between two polls, by a clock that only the device and the caller move. */
#include "runtime/storage/file.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/storage/fake_block.h"
#include "tests/unit/tap.h"

enum {
    SECTORS = 4096,
    BYTES = SECTORS * SECTOR_BYTES,
    PIECE = 64, /* sectors of a request; the fake takes at most 64 requests */
    REQUESTS = SECTORS / PIECE,
    NS_PER_US = 1000,
};

static uint8_t disk[BYTES];
static _Alignas(64) uint8_t buffer[BYTES + SECTOR_BYTES];
static struct fake_block fake;
static struct file file;
static struct file_read reading;

static void start_over(uint32_t queue, uint32_t wanted)
{
    fake_init(&fake, disk, SECTORS);
    fake.dev.max_sectors = PIECE;
    fake.dev.queue_depth = queue;
    fake.dev.wanted_requests = wanted;
    memset(buffer, 0xee, sizeof buffer);
    if (file_open_device(&file, &fake.dev, 0, NULL) != ERR_OK)
        abort();
}

static enum err read_all(void)
{
    return file_read_now(&reading, &file, 0, buffer, BYTES);
}

static bool all_equal(void)
{
    return memcmp(buffer, disk, BYTES) == 0;
}

/* ---- how many ---------------------------------------------------------------------------------- */

static const struct {
    uint32_t queue, wanted, in_flight;
} rows[] = {
    { 8, 0, 2 }, /* without a wish: the current one, and the next */
    { 8, 1, 1 },
    { 8, 2, 2 },
    { 8, 8, 8 },
    { 1, 8, 1 }, /* more than there is room for */
    { 64, FILE_READ_DEPTH, FILE_READ_DEPTH },
    { 64, 64, FILE_READ_DEPTH }, /* more than a read has places for */
};

enum { ROWS = sizeof rows / sizeof rows[0] };

static void test_depths(bool newest_first)
{
    for (unsigned i = 0; i < ROWS; i++) {
        start_over(rows[i].queue, rows[i].wanted);
        fake.newest_first = newest_first;
        OK(read_all() == ERR_OK && all_equal() && fake.most_pending == rows[i].in_flight &&
               fake.n_reads == REQUESTS,
           "with a queue of %u, %u wanted, %u requests are in flight, expected %u",
           (unsigned)rows[i].queue, (unsigned)rows[i].wanted, fake.most_pending,
           (unsigned)rows[i].in_flight);
    }
}

/* The last requests are fewer than there are places, and the last one is short. */
static void test_ends(void)
{
    for (unsigned i = 0; i < ROWS; i++) {
        bool right = true;

        for (uint32_t n = 1; n < 3 * PIECE; n += 31) {
            start_over(rows[i].queue, rows[i].wanted);
            right = right &&
                    file_read_now(&reading, &file, 0, buffer, n * SECTOR_BYTES) == ERR_OK &&
                    memcmp(buffer, disk, n * SECTOR_BYTES) == 0 &&
                    buffer[n * SECTOR_BYTES] == 0xee && fake.n_reads == (n + PIECE - 1) / PIECE;
        }
        OK(right, "reads that end with a short request are right, %u wanted",
           (unsigned)rows[i].wanted);
    }
}

/* A request in the middle of those in flight fails, once or for good. */
static void test_failures(bool newest_first)
{
    for (unsigned i = 0; i < ROWS; i++) {
        uint32_t middle = rows[i].in_flight / 2;
        long sector = (long)(20 + middle) * PIECE + 5;

        start_over(rows[i].queue, rows[i].wanted);
        fake.newest_first = newest_first;
        fake.fail_sector = sector;
        fake.fail_times = 1;
        OK(read_all() == ERR_OK && all_equal() && reading.n_retries == 1,
           "a request that fails once is repeated, with %u in flight", (unsigned)rows[i].in_flight);
        start_over(rows[i].queue, rows[i].wanted);
        fake.newest_first = newest_first;
        fake.fail_sector = sector;
        fake.fail_times = 1000;
        OK(read_all() == ERR_IO && reading.failed_sector == (20 + middle) * PIECE &&
               fake.n_pending == 0 && reading.bytes_done <= reading.failed_sector * SECTOR_BYTES &&
               memcmp(buffer, disk, reading.bytes_done) == 0,
           "a lasting error names sector %u, and nothing is in flight",
           (unsigned)reading.failed_sector);
        fake.fail_times = 0;
        OK(read_all() == ERR_OK && all_equal(), "the next read is right");
    }
}

static void test_stop(void)
{
    for (unsigned i = 0; i < ROWS; i++) {
        unsigned polls = 0;

        start_over(rows[i].queue, rows[i].wanted);
        (void)file_read_start(&reading, &file, 0, buffer, BYTES);
        (void)file_read_poll(&reading);
        file_read_stop(&reading);
        while (file_read_poll(&reading) == ERR_BUSY)
            polls++;
        OK(reading.status == ERR_ABORTED && fake.n_pending == 0 && polls <= rows[i].in_flight,
           "a read that is stopped ends after %u looks, with %u requests in flight", polls,
           (unsigned)rows[i].in_flight);
        OK(read_all() == ERR_OK && all_equal(), "the next read is right");
    }
}

/* With two reads at a time, the second gets the places that the first leaves, and need not wait
 * until the first has asked for everything. */
static void test_beside(void)
{
    static struct file_read second;
    uint32_t wanted = block_device_wanted(8);
    unsigned polls = 0;

    start_over(8, wanted);
    (void)file_read_start(&reading, &file, 0, buffer, BYTES / 2);
    (void)file_read_start(&second, &file, BYTES / 2, buffer + BYTES / 2, 4 * PIECE * SECTOR_BYTES);
    while (second.status == ERR_BUSY && polls++ < 1000) {
        (void)file_read_poll(&reading);
        fake.silent = true; /* when the large one polls, it takes every free place */
        (void)file_read_poll(&second);
        fake.silent = false;
    }
    OK(second.status == ERR_OK && reading.status == ERR_BUSY && fake.most_pending == 8,
       "a small read comes while a large one goes on: %u of %u wanted", (unsigned)wanted, 8u);
    while (file_read_poll(&reading) == ERR_BUSY)
        ;
    OK(memcmp(buffer, disk, BYTES / 2 + 4 * PIECE * SECTOR_BYTES) == 0,
       "the small and the large read are right");
}

/* ---- what it is worth -------------------------------------------------------------------------- */

/* A drive that works off its queue between polls: a request takes its bytes by the rate, one after
 * the other, and its answer takes a while. A card begins each request at a poll. */
static struct {
    uint64_t now, free_at, bytes_per_s, latency; /* ns */
    struct {
        struct block_request *request;
        uint64_t due; /* 0: it waits for a look */
    } queue[FAKE_MOST];
    unsigned n;
    bool is_card;
} drive;

static void drive_begin(unsigned i)
{
    uint64_t begin = drive.free_at > drive.now ? drive.free_at : drive.now;
    uint64_t bytes = drive.queue[i].request->n_sectors * (uint64_t)SECTOR_BYTES;

    drive.free_at = begin + bytes * 1000000000 / drive.bytes_per_s;
    drive.queue[i].due = drive.free_at + drive.latency;
}

static enum err drive_submit(struct block_device *dev, struct block_request *r)
{
    if (drive.n == dev->queue_depth)
        return ERR_BUSY;
    drive.queue[drive.n].request = r;
    drive.queue[drive.n].due = 0;
    if (!drive.is_card || drive.n == 0)
        drive_begin(drive.n);
    drive.n++;
    return ERR_OK;
}

static enum err drive_poll(struct block_device *dev)
{
    unsigned left = 0;

    (void)dev;
    for (unsigned i = 0; i < drive.n; i++) {
        if (drive.queue[i].due == 0 || drive.queue[i].due > drive.now) {
            drive.queue[left++] = drive.queue[i];
        } else {
            drive.queue[i].request->status = ERR_OK;
            drive.queue[i].request->done = true;
        }
    }
    drive.n = left;
    if (left > 0 && drive.queue[0].due == 0)
        drive_begin(0);
    return ERR_OK;
}

/* Returns the percentage of its rate that a drive reaches in a read of 64 MiB that is not kept. */
static unsigned percent(bool is_card, uint32_t wanted, uint64_t mb_per_s, uint64_t latency_us,
                        uint64_t gap_us)
{
    struct block_device dev = { .name = "a drive",
                                .n_sectors = 1 << 17,
                                .max_sectors = 2048,
                                .queue_depth = 16,
                                .wanted_requests = wanted,
                                .submit = drive_submit,
                                .poll = drive_poll };
    uint64_t bytes = dev.n_sectors * SECTOR_BYTES;

    memset(&drive, 0, sizeof drive);
    drive.is_card = is_card;
    drive.bytes_per_s = mb_per_s * 1000000;
    drive.latency = latency_us * NS_PER_US;
    if (file_open_device(&file, &dev, 0, NULL) != ERR_OK)
        abort();
    (void)file_read_start(&reading, &file, 0, buffer, (size_t)bytes);
    while (file_read_poll(&reading) == ERR_BUSY)
        drive.now += gap_us * NS_PER_US;
    return (unsigned)(bytes * 100000 / mb_per_s / drive.now);
}

/* Drives on one lane of the second and third generation of PCI Express, as on a Raspberry Pi 5. Core 0 polls
 * every 128 rows: those of a token take a tenth of a millisecond, and 8,192 columns for 128 tokens of a prompt
 * take 2.7. */
static void test_gaps(void)
{
    static const struct {
        uint64_t mb_per_s, latency_us, gap_us;
        unsigned of_four, of_wanted; /* the most percent; the least */
    } gaps[] = {
        { 900, 100, 1, 100, 99 },   { 900, 100, 120, 100, 98 }, { 450, 100, 2700, 90, 97 },
        { 900, 100, 1300, 90, 97 }, { 900, 100, 2700, 45, 97 }, { 900, 1000, 1, 90, 95 },
    };

    for (unsigned i = 0; i < sizeof gaps / sizeof gaps[0]; i++) {
        unsigned four = percent(false, 4, gaps[i].mb_per_s, gaps[i].latency_us, gaps[i].gap_us);
        unsigned wanted = percent(false, block_device_wanted(16), gaps[i].mb_per_s,
                                  gaps[i].latency_us, gaps[i].gap_us);

        OK(four <= gaps[i].of_four && wanted >= gaps[i].of_wanted,
           "%u MB/s, %u us, a look every %u us: four in flight give %u %%, the wanted ones %u %%",
           (unsigned)gaps[i].mb_per_s, (unsigned)gaps[i].latency_us, (unsigned)gaps[i].gap_us, four,
           wanted);
    }
}

/* A card of 90 MB/s works on one request at a time: more than two gain nothing. */
static void test_card(void)
{
    static const uint64_t gaps_us[] = { 10, 500, 2000, 8000 };

    for (unsigned i = 0; i < sizeof gaps_us / sizeof gaps_us[0]; i++) {
        unsigned two = percent(true, 0, 90, 0, gaps_us[i]),
                 four = percent(true, 4, 90, 0, gaps_us[i]);

        OK(two == four && two > 30,
           "a card with a look every %u us gives %u %% with two in flight, and %u %% with four",
           (unsigned)gaps_us[i], two, four);
    }
}

int main(void)
{
    for (size_t i = 0; i < sizeof disk; i++)
        disk[i] = (uint8_t)(i * 2654435761u >> 13 | 1);
    for (int newest = 0; newest < 2; newest++) {
        test_depths(newest != 0);
        test_failures(newest != 0);
    }
    test_ends();
    test_stop();
    test_beside();
    test_gaps();
    test_card();
    return tap_done();
}
