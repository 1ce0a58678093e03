/* Asynchronous reads over a device that misbehaves, and over a file of the host. */
#include "runtime/storage/file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "board/host/file_device.h"
#include "tests/unit/storage/fake_block.h"
#include "tests/unit/tap.h"

enum { SECTORS = 4096, BYTES = SECTORS * SECTOR_BYTES };

static uint8_t disk[BYTES];
static _Alignas(64) uint8_t buffer[BYTES], second_buffer[BYTES];
static struct fake_block fake;
static struct file file;
static struct file_read read_a, read_b;

static uint64_t fake_time;
static uint64_t fake_ticks(void *context)
{
    (void)context;
    return fake_time += 10;
}
static const struct platform fake_platform = { .clock = { .ticks = fake_ticks, .hz = 1000 } };
static const struct file_timeout soon = { &fake_platform, 1000 };

static void start_over(void)
{
    fake_init(&fake, disk, SECTORS);
    memset(buffer, 0xee, sizeof buffer);
    memset(second_buffer, 0xee, sizeof second_buffer);
    if (file_open_device(&file, &fake.dev, 0, NULL) != ERR_OK)
        abort();
}

static bool all_equal(void)
{
    return memcmp(buffer, disk, BYTES) == 0;
}

/* Three pieces of the disk in mixed order, 300 sectors in all. */
static void make_pieces(void)
{
    file.n_extents = 3;
    file.few[0] = (struct file_extent){ 1000, 100 };
    file.few[1] = (struct file_extent){ 10, 1 };
    file.few[2] = (struct file_extent){ 2000, 199 };
    file.bytes = 300 * SECTOR_BYTES;
}

static bool pieces_arrived(uint64_t sector, uint64_t n)
{
    for (uint64_t i = sector; i < sector + n; i++) {
        uint64_t at = i < 100 ? 1000 + i : i == 100 ? 10 : 2000 + i - 101;
        if (memcmp(buffer + (i - sector) * SECTOR_BYTES, disk + at * SECTOR_BYTES, SECTOR_BYTES))
            return false;
    }
    return buffer[n * SECTOR_BYTES] == 0xee;
}

/* Polls to the end; false if bytes_done ever counted a byte that had not arrived. */
static enum err poll_all(struct file_read *r, const uint8_t *expected, bool *prefix_true)
{
    enum err e;

    *prefix_true = true;
    do {
        e = file_read_poll(r);
        if (memcmp(r->buffer, expected, (size_t)r->bytes_done) != 0)
            *prefix_true = false;
    } while (e == ERR_BUSY);
    return e;
}

static void test_orders(void)
{
    for (int newest = 0; newest < 2; newest++) {
        bool prefix_true;

        start_over();
        fake.newest_first = newest != 0;
        OK(file_read_start(&read_a, &file, 0, buffer, BYTES) == ERR_OK, "a read starts");
        OK(poll_all(&read_a, disk, &prefix_true) == ERR_OK && prefix_true,
           "a read arrives, its prefix right all the time, %s first", newest ? "newest" : "oldest");
        OK(memcmp(buffer, disk, BYTES) == 0 && read_a.bytes_done == BYTES, "all bytes are equal");
        OK(fake.most_pending == FAKE_WANTED, "%u requests were in flight", fake.most_pending);
        OK(file_read_poll(&read_a) == ERR_OK, "a further poll returns the same result");
    }
}

/* A device's rules for a request, and the largest that it takes; sectors of a read; requests that
 * the read becomes. */
static void test_sizes(void)
{
    static const struct {
        uint32_t wanted, most, sectors;
        unsigned requests;
    } rows[] = {
        { 0, 8192, SECTORS, 8 },    /* 256 KiB each */
        { 800, 8192, SECTORS, 6 },  /* what it wants */
        { 8192, 8192, SECTORS, 4 }, /* but four at least */
        { 8192, 8192, 3000, 4 },    /* 768, a bit more than a quarter, in whole 64 KiB */
        { 8192, 8192, 700, 2 },     /* no less than without a wish */
        { 8192, 600, SECTORS, 7 },  /* no more than it takes */
        { 256, 8192, SECTORS, 8 },  /* nor small ones */
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t bytes = (size_t)rows[i].sectors * SECTOR_BYTES;
        enum err e;

        start_over();
        fake.dev.wanted_sectors = rows[i].wanted;
        fake.dev.max_sectors = rows[i].most;
        e = file_read_now(&read_a, &file, 0, buffer, bytes);
        OK(e == ERR_OK && memcmp(buffer, disk, bytes) == 0 && fake.n_reads == rows[i].requests,
           "%u sectors by %u of %u take %u requests, expected %u", (unsigned)rows[i].sectors,
           (unsigned)rows[i].wanted, (unsigned)rows[i].most, fake.n_reads, rows[i].requests);
    }
}

static void test_extents(void)
{
    static const uint64_t ranges[][2] = { { 0, 300 },   { 0, 1 },   { 99, 3 },   { 100, 1 },
                                          { 101, 199 }, { 299, 1 }, { 50, 200 }, { 300, 0 } };

    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        start_over();
        make_pieces();
        enum err e = file_read_now(&read_a, &file, ranges[i][0] * SECTOR_BYTES, buffer,
                                   ranges[i][1] * SECTOR_BYTES);
        OK(e == ERR_OK && pieces_arrived(ranges[i][0], ranges[i][1]),
           "sectors from %d, %d of them, are read over extents", (int)ranges[i][0],
           (int)ranges[i][1]);
    }
}

static void test_ranges(void)
{
    start_over();
    make_pieces();
    OK(file_read_start(&read_a, &file, 1, buffer, 512) == ERR_RANGE, "an odd offset is refused");
    OK(file_read_start(&read_a, &file, 0, buffer, 100) == ERR_RANGE, "an odd length is refused");
    OK(file_read_start(&read_a, &file, 0, buffer, 301 * 512) == ERR_RANGE,
       "a read beyond the end is refused");
    OK(file_read_start(&read_a, &file, 301 * 512, buffer, 0) == ERR_RANGE,
       "a read that begins after the end is refused");
    OK(file_read_start(&read_a, &file, UINT64_MAX - 511, buffer, 1024) == ERR_RANGE,
       "an offset that overflows is refused");
    OK(file_read_poll(&read_a) == ERR_RANGE, "a read that did not start polls as its error");
    file.bytes = 300 * 512 - 100;
    OK(file_read_now(&read_a, &file, 299 * 512, buffer, 512) == ERR_OK &&
           memcmp(buffer, disk + 2198 * 512, 412) == 0 && buffer[411] != 0 && buffer[412] == 0 &&
           buffer[511] == 0,
       "bytes after the end of the file arrive as zeros");
    file.bytes = 400 * 512;
    OK(file_read_now(&read_a, &file, 0, buffer, 400 * 512) == ERR_RANGE,
       "extents that do not cover the file are refused");
    OK(file_open_device(&file, &fake.dev, BYTES + 1, NULL) == ERR_RANGE,
       "a file larger than the device is refused");
    fake.dev.n_sectors = 0;
    OK(file_open_device(&file, &fake.dev, 0, NULL) == ERR_NO_DEVICE, "an empty device is refused");
}

static void test_failures(void)
{
    start_over();
    fake.fail_sector = 777;
    fake.fail_times = FILE_READ_RETRIES;
    OK(file_read_now(&read_a, &file, 0, buffer, BYTES) == ERR_OK &&
           memcmp(buffer, disk, BYTES) == 0 && read_a.n_retries == FILE_READ_RETRIES,
       "a sector that fails %d times arrives in the end", FILE_READ_RETRIES);

    start_over();
    fake.fail_sector = 777;
    fake.fail_times = 1000;
    OK(file_read_now(&read_a, &file, 0, buffer, BYTES) == ERR_IO,
       "a sector that always fails is an error");
    OK(1000 - fake.fail_times == FILE_READ_RETRIES + 1, "the read fails after %u tries",
       1000 - fake.fail_times);
    OK(read_a.failed_sector <= 777 && 777 < read_a.failed_sector + fake.dev.max_sectors,
       "the place of the error is kept: the request at sector %d", (int)read_a.failed_sector);
    OK(read_a.bytes_done <= 777 * 512 && memcmp(buffer, disk, read_a.bytes_done) == 0,
       "the bytes before the failed sector are there: %d bytes", (int)read_a.bytes_done);
    OK(fake.n_pending == 0, "no request is left in flight");
    OK(file_read_poll(&read_a) == ERR_IO, "the error stays");

    start_over();
    fake.fail_sector = 0;
    fake.fail_times = 1;
    fake.fail_status = ERR_RANGE;
    OK(file_read_now(&read_a, &file, 0, buffer, BYTES) == ERR_RANGE && fake.n_reads == 4,
       "a fault that no retry mends ends the read, once the other requests are back");
    OK(fake.n_pending == 0, "no request writes to the buffer after the read has ended");

    start_over();
    fake.busy_every = 2;
    OK(file_read_now(&read_a, &file, 0, buffer, BYTES) == ERR_OK && all_equal(),
       "a device that is often busy is read");
    start_over();
    fake.dev.queue_depth = 1;
    OK(file_read_now(&read_a, &file, 0, buffer, BYTES) == ERR_OK && all_equal(),
       "a device that takes one request at a time is read");
}

static void test_two_reads(void)
{
    enum err a, b;

    start_over();
    fake.dev.queue_depth = 5; /* too few for both, so they take turns */
    fake.newest_first = true;
    file_read_start(&read_a, &file, 0, buffer, BYTES / 2);
    file_read_start(&read_b, &file, BYTES / 2, second_buffer, BYTES / 2);
    while ((a = file_read_poll(&read_a)) == ERR_BUSY)
        ;
    OK(a == ERR_OK && memcmp(buffer, disk, BYTES / 2) == 0, "the first of two reads is right");
    while ((b = file_read_poll(&read_b)) == ERR_BUSY)
        ;
    OK(b == ERR_OK && memcmp(second_buffer, disk + BYTES / 2, BYTES / 2) == 0,
       "the second of two reads is right");
    OK(fake.most_pending == 5, "the queue is full with %u requests", fake.most_pending);
}

/* Writes go to the file's place and nowhere else, also after failures; a device that cannot write
 * says so. */
static void test_stop(void)
{
    unsigned polls = 0;

    start_over();
    (void)file_read_start(&read_a, &file, 0, buffer, BYTES);
    (void)file_read_poll(&read_a);
    file_read_stop(&read_a);
    while (file_read_poll(&read_a) == ERR_BUSY) {
        polls++;
    }
    OK(read_a.status == ERR_ABORTED && fake.n_pending == 0 && read_a.bytes_issued < BYTES / 2 &&
           polls < 100,
       "a read that is stopped ends with what was on its way (%u polls)", polls);
    OK(file_read_now(&read_a, &file, 0, buffer, BYTES) == ERR_OK && all_equal(),
       "the read after a stopped one is whole");
    file_read_stop(&read_a);
    OK(file_read_poll(&read_a) == ERR_OK, "a read that has ended cannot be stopped");
}

static void test_writes(void)
{
    static uint8_t image[BYTES];
    uint8_t *text = second_buffer;
    bool elsewhere = true;

    start_over();
    make_pieces();
    OK(file_write_start(&read_a, &file, 0, text, SECTOR_BYTES) == ERR_UNSUPPORTED,
       "a device that cannot write returns an error");
    fake.written = image;
    fake.dev.writable = true;
    fake.fail_sector = 10;
    fake.fail_times = 2;
    fake.fail_status = ERR_IO;
    for (size_t i = 0; i < 300 * SECTOR_BYTES; i++)
        text[i] = (uint8_t)(i * 7 + i / 251);
    memset(image, 0xdd, sizeof image);
    OK(file_write_now(&read_a, &file, 50 * SECTOR_BYTES, text, 100 * SECTOR_BYTES) == ERR_OK &&
           read_a.n_retries == 2,
       "a write over three pieces succeeds after two failures");
    OK(memcmp(image + 1050 * SECTOR_BYTES, text, 50 * SECTOR_BYTES) == 0 &&
           memcmp(image + 10 * SECTOR_BYTES, text + 50 * SECTOR_BYTES, SECTOR_BYTES) == 0 &&
           memcmp(image + 2000 * SECTOR_BYTES, text + 51 * SECTOR_BYTES, 49 * SECTOR_BYTES) == 0,
       "the bytes lie in each of the three pieces");
    for (size_t i = 0; i < SECTORS; i++) {
        bool ours = i == 10 || (i >= 1050 && i < 1100) || (i >= 2000 && i < 2049);

        elsewhere = elsewhere && (ours || image[i * SECTOR_BYTES] == 0xdd);
    }
    OK(elsewhere, "no read goes outside the extents");
    OK(file_write_now(&read_a, &file, 299 * SECTOR_BYTES, text, 2 * SECTOR_BYTES) == ERR_RANGE &&
           file_write_now(&read_a, &file, 1, text, SECTOR_BYTES) == ERR_RANGE,
       "a write beyond the file is refused, and so are other sizes");
    fake.fail_times = 100;
    OK(file_write_now(&read_a, &file, 100 * SECTOR_BYTES, text, SECTOR_BYTES) == ERR_IO &&
           read_a.failed_sector == 10,
       "a write that keeps failing fails");
}

static void test_silence(void)
{
    start_over();
    file.timeout = soon;
    fake.silent = true;
    fake.reset_helps = true;
    OK(file_read_now(&read_a, &file, 0, buffer, BYTES) == ERR_OK && all_equal(),
       "a device that falls silent is reset, and the read continues");
    OK(fake.n_resets == 1, "one reset suffices");

    start_over();
    file.timeout = soon;
    fake.silent = true;
    OK(file_read_now(&read_a, &file, 0, buffer, BYTES) == ERR_TIMEOUT,
       "a read from a device that stays silent ends");
    OK(fake.n_resets <= FILE_READ_RETRIES + 1 && fake.n_pending == 0,
       "a silent device is reset %u times at most", fake.n_resets);

    start_over();
    file.timeout = soon;
    fake.silent = true;
    fake.dev.reset = NULL;
    OK(file_read_now(&read_a, &file, 0, buffer, BYTES) == ERR_TIMEOUT,
       "a silent device without a reset ends the read with a timeout");

    start_over();
    file.timeout = soon;
    file_read_start(&read_a, &file, 0, buffer, BYTES);
    for (int i = 0; i < 200 && file_read_poll(&read_a) == ERR_BUSY; i++)
        fake_time += 5000; /* the caller computes for much longer than the limit */
    OK(file_read_poll(&read_a) == ERR_OK && fake.n_resets == 0, "a slow caller is not a silence");
}

static uint32_t looks, looks_a_poll;

static uint32_t fake_looks(const struct block_device *dev)
{
    (void)dev;
    return looks += looks_a_poll;
}

/* A device that does not answer, and another core that polls so many times for each of our polls:
 * after how many whole time limits it is reset. */
static uint64_t limits_until_reset(uint32_t looks_of_each)
{
    start_over();
    file.timeout = soon;
    fake.silent = true;
    fake.dev.looks = fake_looks;
    looks_a_poll = looks_of_each;
    fake_time = 0;
    file_read_start(&read_a, &file, 0, buffer, BYTES);
    while (fake.n_resets == 0 && fake_time < 100 * soon.limit_ticks)
        (void)file_read_poll(&read_a);
    return fake_time / soon.limit_ticks;
}

/* Another core polls the device, and its time is not ours: in an emulator its thread may stand
 * still while ours runs. */
static void test_looks(void)
{
    OK(limits_until_reset(1000) == 1,
       "a device that another core looks at often, in vain, is silent");
    OK(limits_until_reset(0) == 16, "a device that nobody looks at is not silent for a long time");
}

static void test_memory(void)
{
    start_over();
    OK(file_memory(&file, 0, 1) == NULL, "a card is not addressable");
    fake.dev.memory = disk;
    OK(file_memory(&file, 5, BYTES - 5) == disk + 5, "flash is addressable at any offset");
    OK(file_memory(&file, 5, BYTES - 4) == NULL, "addressable memory ends where the device ends");
    make_pieces();
    OK(file_memory(&file, 99 * 512 + 7, 505) == disk + 1099 * 512 + 7,
       "addressable memory may lie inside one extent");
    OK(file_memory(&file, 99 * 512 + 7, 506) == NULL,
       "addressable memory does not cross two extents");
    OK(file_memory(&file, 101 * 512, 199 * 512) == disk + 2000 * 512,
       "addressable memory may be the whole last extent");
}

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void test_host(void)
{
    static struct file_device state;
    struct block_device dev;
    const char *base = getenv("TMPDIR");
    char path[256];
    double start;
    int fd;

    snprintf(path, sizeof path, "%s/ingot-file-XXXXXX", base != NULL ? base : "/tmp");
    fd = mkstemp(path);
    if (fd < 0 || write(fd, disk, BYTES - 700) != BYTES - 700)
        abort();
    OK(file_device_open(&state, "/nowhere/at/all", 0, &dev) == ERR_NOT_FOUND &&
           strstr(state.why, "/nowhere/at/all"),
       "a missing file is named: %s", state.why);
    OK(file_device_open(&state, "/", 0, &dev) == ERR_UNSUPPORTED,
       "a folder is refused as a device: %s", state.why);
    OK(file_device_open(&state, path, 0, &dev) == ERR_OK && dev.n_sectors == SECTORS - 1,
       "a file of the host opens");
    file_open_device(&file, &dev, 0, NULL);
    memset(buffer, 0xee, sizeof buffer);
    OK(file_read_now(&read_a, &file, 0, buffer, BYTES - 512) == ERR_OK &&
           memcmp(buffer, disk, BYTES - 700) == 0,
       "a file of the host is read by its thread");
    OK(buffer[BYTES - 700] == 0 && buffer[BYTES - 513] == 0 && buffer[BYTES - 512] == 0xee,
       "the file's last sector is filled with zeros");
    if (ftruncate(fd, BYTES / 2) != 0)
        abort();
    OK(file_read_now(&read_a, &file, 0, buffer, BYTES - 512) == ERR_IO,
       "a file of the host that became shorter is an error: %s", state.why);
    file_device_close(&state);
    file_device_open(&state, path, 10 << 20, &dev);
    file_open_device(&file, &dev, 0, NULL);
    start = seconds();
    enum err e = file_read_now(&read_a, &file, 0, buffer, BYTES / 2);
    double took = seconds() - start;
    OK(e == ERR_OK && took > 0.08, "a pace of 10 MiB/s makes 1 MiB take %.3f s", took);
    file_read_start(&read_a, &file, 0, buffer, BYTES / 2);
    file_device_close(&state); /* with reads in flight: waits for them */
    OK(memcmp(buffer, disk, BYTES / 2) == 0, "closing finishes what is in flight");
    close(fd);
    unlink(path);
}

static void test_host_write(void)
{
    char path[] = "/tmp/file-test-XXXXXX";
    int fd = mkstemp(path);
    static struct file_device host;
    struct block_device device;
    bool same;

    if (fd < 0 || ftruncate(fd, 10000) != 0)
        abort();
    for (size_t i = 0; i < 10240; i++)
        second_buffer[i] = (uint8_t)(i * 13);
    OK(file_device_open_writable(&host, path, 0, &device) == ERR_OK && device.writable &&
           file_open_device(&file, &device, 10000, NULL) == ERR_OK,
       "a file of the host opens for writing");
    OK(file_write_now(&read_a, &file, 512, second_buffer + 512, 10240 - 512) == ERR_OK,
       "the file is written to its end");
    same = pread(fd, buffer, sizeof buffer, 0) == 10000 && buffer[0] == 0 &&
           memcmp(buffer + 512, second_buffer + 512, 10000 - 512) == 0;
    OK(same, "the write does not go beyond its end");
    file_device_close(&host);
    close(fd);
    unlink(path);
}

static void test_table(void)
{
    static _Alignas(64) uint8_t bytes[3 * 64];
    struct memory_range memory = { bytes + 1, sizeof bytes - 1 };
    struct file_table table = { 0 };

    OK(file_table_take(&table, &memory, 4) == ERR_OK && (uint8_t *)table.extents == bytes + 64 &&
           table.most == 4 && memory.base == bytes + 128 && memory.bytes == 64,
       "a table is cut from the front of memory, aligned");
    OK(file_table_take(&table, &memory, 5) == ERR_NO_SPACE && memory.base == bytes + 128 &&
           memory.bytes == 64,
       "a table that does not fit leaves the memory as it is");
    OK(file_table_take(&table, &memory, 4) == ERR_OK && memory.bytes == 0,
       "a table may take the memory's last byte");
}

int main(void)
{
    uint32_t random = 1;

    for (size_t i = 0; i < sizeof disk; i++) {
        random = random * 1664525u + 1013904223u;
        disk[i] = (uint8_t)(random >> 24 | 1);
    }
    test_orders();
    test_sizes();
    test_extents();
    test_ranges();
    test_failures();
    test_two_reads();
    test_stop();
    test_writes();
    test_silence();
    test_looks();
    test_memory();
    test_host();
    test_host_write();
    test_table();
    return tap_done();
}
