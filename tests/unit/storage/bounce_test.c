/* Memory that a device's DMA does not reach: it is read and written, also across the end, through
 * memory in reach; which half is copied while the other is on its way; failed and silent
 * requests. */
#include "runtime/storage/bounce.h"

#include <stdio.h>
#include <stdlib.h>

#include "runtime/storage/file.h"
#include "runtime/storage/io_core.h"
#include "tests/unit/storage/fake_block.h"
#include "tests/unit/tap.h"

enum {
    SECTORS = 8192,
    MOST_SECTORS = 3000, /* of a read: several halves, and never a multiple of a half */
    NEAR_BYTES = MOST_SECTORS * SECTOR_BYTES,
    FAR_BYTES = NEAR_BYTES,
    READS = 200,
};

/* All of the machine's memory: the bounce's, some within reach of DMA, some that is not. */
static struct memory {
    _Alignas(4096) uint8_t bounce[BOUNCE_BYTES];
    uint8_t in_reach[NEAR_BYTES];
    uint8_t beyond[FAR_BYTES];
} memory;
#define DMA_END ((uint64_t)(uintptr_t)memory.beyond)

static uint8_t contents[SECTORS * SECTOR_BYTES], written[SECTORS * SECTOR_BYTES];
static struct fake_block device;
static struct bounce bounce;
static struct file file;
static unsigned n_out_of_reach; /* requests that the device was given all the same */
static unsigned n_idle;         /* polls after which it has nothing, though more is asked for */
static uint64_t now;

static uint32_t random_state = 7;
static uint32_t any(uint32_t n)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % n;
}

static uint64_t made_up_ticks(void *context)
{
    (void)context;
    return now += 10;
}

static const struct platform platform = { .clock = { .ticks = made_up_ticks, .hz = 1000 } };

static enum err watched_submit(struct block_device *dev, struct block_request *r)
{
    uint64_t end = (uintptr_t)r->buffer + (uint64_t)r->n_sectors * SECTOR_BYTES;

    n_out_of_reach += end > dev->dma_end || r->n_sectors > BOUNCE_HALF_SECTORS;
    return fake_submit(dev, r);
}

static void start(void)
{
    struct file_timeout timeout = { &platform, 50000 };

    fake_init(&device, contents, SECTORS);
    device.written = written;
    device.dev.max_sectors = 2048;
    device.dev.writable = true;
    device.dev.submit = watched_submit;
    device.dev.dma_end = DMA_END;
    n_out_of_reach = n_idle = 0;
    memset(&memory, 0, sizeof memory);
    bounce_open(&bounce, &device.dev, memory.bounce);
    if (file_open_device(&file, &bounce.device, sizeof contents, &timeout) != ERR_OK) {
        printf("Bail out! the device does not open\n");
        exit(1);
    }
}

static bool same(const struct file_read *r, const uint8_t *with)
{
    return r->status == ERR_OK && memcmp(r->buffer, with + r->offset, (size_t)r->bytes) == 0;
}

static bool is_idle(void)
{
    return bounce.n_queued == 0 && bounce.halves[0].asked == NULL &&
           bounce.halves[1].asked == NULL && device.n_pending == 0;
}

/* ---- reads and writes -------------------------------------------------------------------------- */

/* Returns a destination for a read of so many bytes: within reach, beyond it, or across the end. */
static uint8_t *any_place(uint32_t bytes)
{
    uint32_t room = (uint32_t)(sizeof memory.in_reach + sizeof memory.beyond) - bytes;

    return memory.in_reach + any(room / 16) * 16;
}

/* Runs two at a time, at any place and of any length. */
static void test_anywhere(bool write, unsigned busy_every, bool newest_first)
{
    uint64_t wanted = 0;
    unsigned wrong = 0;

    start();
    device.busy_every = busy_every;
    device.newest_first = newest_first;
    for (int i = 0; i < READS; i++) {
        uint32_t n = 1 + any(MOST_SECTORS), at = any(SECTORS - n);
        uint8_t *to = any_place(n * SECTOR_BYTES);
        struct file_read r;
        enum err e;

        memset(written, 0, sizeof written);
        if (write) {
            memcpy(to, contents + (size_t)at * SECTOR_BYTES, (size_t)n * SECTOR_BYTES);
            e = file_write_now(&r, &file, (uint64_t)at * SECTOR_BYTES, to,
                               (size_t)n * SECTOR_BYTES);
        } else {
            e = file_read_now(&r, &file, (uint64_t)at * SECTOR_BYTES, to, (size_t)n * SECTOR_BYTES);
        }
        wrong += e != ERR_OK || !same(&r, write ? written : contents);
        wanted += (uint64_t)n * SECTOR_BYTES;
    }
    OK(wrong == 0 && n_out_of_reach == 0 && is_idle(),
       "%d %s anywhere%s%s are right: %u wrong, %u of them out of reach", READS,
       write ? "writes" : "reads", busy_every != 0 ? ", the device often busy" : "",
       newest_first ? ", the last one first" : "", wrong, n_out_of_reach);
    OK(bounce.copied + bounce.in_reach == wanted && bounce.copied != 0 && bounce.in_reach != 0,
       "each byte is copied once or not at all: %llu of %llu", (unsigned long long)bounce.copied,
       (unsigned long long)wanted);
}

/* The bytes around the buffer stay unchanged, and so does all of it after a write. */
static void test_borders(void)
{
    uint8_t *to = memory.beyond - 3 * SECTOR_BYTES;
    struct file_read r;
    bool clean = true;

    start();
    memset(memory.in_reach, 0x5a, sizeof memory.in_reach + sizeof memory.beyond);
    OK(file_read_now(&r, &file, 5 * SECTOR_BYTES, to, 7 * SECTOR_BYTES) == ERR_OK &&
           same(&r, contents) && n_out_of_reach == 0 && bounce.copied == 7 * SECTOR_BYTES,
       "a buffer that straddles the end goes through the bounce as a whole");
    for (size_t i = 0; i < 4096; i++)
        clean = clean && to[-1 - (long)i] == 0x5a && to[7 * SECTOR_BYTES + i] == 0x5a;
    OK(clean, "nothing around the buffer is touched");
    to = memory.beyond - 7 * SECTOR_BYTES;
    OK(file_read_now(&r, &file, 5 * SECTOR_BYTES, to, 7 * SECTOR_BYTES) == ERR_OK &&
           same(&r, contents) && bounce.in_reach == 7 * SECTOR_BYTES,
       "a buffer that ends at the border is within reach to its last byte");
    OK(file_read_now(&r, &file, 0, memory.beyond, SECTOR_BYTES) == ERR_OK && same(&r, contents) &&
           bounce.copied == 8 * SECTOR_BYTES,
       "a buffer that begins at the border is beyond reach");
}

/* The driver gets the caller's own request. */
static void test_in_reach(void)
{
    struct block_request r = { .sector = 9, .n_sectors = 300, .buffer = memory.in_reach };
    bool own;

    start();
    (void)bounce.device.submit(&bounce.device, &r);
    own = device.n_pending == 1 && device.pending[0] == &r;
    (void)bounce.device.poll(&bounce.device);
    OK(own && r.done && bounce.copied == 0 && bounce.in_reach == 300 * SECTOR_BYTES &&
           memcmp(memory.in_reach, contents + 9 * SECTOR_BYTES, 300 * SECTOR_BYTES) == 0,
       "within reach the driver has the caller's own request, and nothing is copied");
}

/* After each poll, which copied one half, the other is at the device. */
static void test_overlap(bool write)
{
    struct file_read r;
    unsigned most = 0;

    start();
    if (write)
        (void)file_write_start(&r, &file, 0, memory.beyond, sizeof memory.beyond);
    else
        (void)file_read_start(&r, &file, 0, memory.beyond, sizeof memory.beyond);
    while (file_read_poll(&r) == ERR_BUSY) {
        n_idle += device.n_pending == 0;
        most = device.most_pending;
    }
    OK(r.status == ERR_OK && n_idle == 0 && most == 2 && bounce.copied == sizeof memory.beyond,
       "%s: two halves are on their way, and the device never waits for a copy",
       write ? "a write" : "a read");
}

/* ---- refusals, failures ------------------------------------------------------------------------ */

static void test_refusals(void)
{
    struct block_request r = { .sector = SECTORS - 1, .n_sectors = 2, .buffer = memory.beyond };
    struct block_request many[BOUNCE_DEPTH + BOUNCE_HALVES + 1];
    unsigned taken = 0;

    start();
    OK(bounce.device.submit(&bounce.device, &r) == ERR_RANGE,
       "a request beyond the device's end is refused");
    r = (struct block_request){ .n_sectors = BOUNCE_HALF_SECTORS + 1, .buffer = memory.beyond };
    OK(bounce.device.max_sectors == BOUNCE_HALF_SECTORS &&
           bounce.device.submit(&bounce.device, &r) == ERR_RANGE,
       "a request that is larger than half of the bounce is refused");
    device.dev.max_sectors = 64;
    bounce_open(&bounce, &device.dev, memory.bounce);
    OK(bounce.device.max_sectors == 64, "a request has no more sectors than the device takes");
    device.dev.writable = false;
    bounce_open(&bounce, &device.dev, memory.bounce);
    r = (struct block_request){ .n_sectors = 1, .buffer = memory.beyond, .write = true };
    OK(bounce.device.submit(&bounce.device, &r) == ERR_UNSUPPORTED,
       "a write to a device that takes none is refused");

    start();
    for (unsigned i = 0; i < sizeof many / sizeof many[0]; i++) {
        many[i] = (struct block_request){ .sector = i, .n_sectors = 1, .buffer = memory.beyond };
        taken += bounce.device.submit(&bounce.device, &many[i]) == ERR_OK;
    }
    OK(taken == BOUNCE_DEPTH + BOUNCE_HALVES, "%u requests wait, and no more", taken);
    while (!is_idle())
        (void)bounce.device.poll(&bounce.device);
    OK(many[taken - 1].done && bounce.device.submit(&bounce.device, &many[taken]) == ERR_OK,
       "a request is taken when there is room again");
}

static void test_errors(unsigned times, bool write)
{
    struct file_read r;
    bool untouched = true;
    enum err e;

    start();
    memset(memory.beyond, 0x77, sizeof memory.beyond);
    device.fail_sector = 100;
    device.fail_times = times;
    e = write ? file_write_now(&r, &file, 90 * SECTOR_BYTES, memory.beyond, 20 * SECTOR_BYTES)
              : file_read_now(&r, &file, 90 * SECTOR_BYTES, memory.beyond, 20 * SECTOR_BYTES);
    for (size_t i = 0; i < 20 * SECTOR_BYTES; i++)
        untouched = untouched && memory.beyond[i] == 0x77;
    OK(times > FILE_READ_RETRIES ? e == ERR_IO && r.failed_sector == 90 && untouched
                                 : same(&r, write ? written : contents) && r.n_retries == times,
       "a %s that fails %u times ends with '%s', after %u retries", write ? "write" : "read", times,
       err_text(e), r.n_retries);
    OK(is_idle() && file_read_now(&r, &file, 0, memory.beyond, sizeof memory.beyond) == ERR_OK &&
           same(&r, contents),
       "the read after the failures is right");
}

/* Silent, with both halves on their way and more that waits, until a reset helps or nothing
 * does. */
static void test_silence(bool helps)
{
    struct file_read r;
    enum err e;

    start();
    device.silent = true;
    device.reset_helps = helps;
    e = file_read_now(&r, &file, 0, memory.beyond, sizeof memory.beyond);
    OK(helps ? e == ERR_OK && same(&r, contents) && device.n_resets == 1
             : e == ERR_TIMEOUT && device.n_resets == FILE_READ_RETRIES + 1,
       "a device that is silent and %s ends with '%s' after %u resets",
       helps ? "is reset" : "stays so", err_text(e), device.n_resets);
    OK(is_idle(), "no request is left in flight");
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

static void test_not_taken(void)
{
    struct block_request r = { .sector = 5, .n_sectors = 1, .buffer = memory.beyond };

    start();
    device.dev.submit = refuse;
    (void)bounce.device.submit(&bounce.device, &r);
    (void)bounce.device.poll(&bounce.device);
    OK(r.done && r.status == ERR_IO && is_idle(),
       "a request that the device refuses ends with its error");
    device.dev.submit = have_no_room;
    (void)bounce.device.submit(&bounce.device, &r);
    (void)bounce.device.poll(&bounce.device);
    OK(!r.done && !is_idle(), "a request without a free slot waits");
    device.dev.submit = watched_submit;
    (void)bounce.device.poll(&bounce.device);
    (void)bounce.device.poll(&bounce.device);
    OK(r.done && r.status == ERR_OK && is_idle(), "the waiting request ends when a slot is free");
    device.dev.submit = have_no_room;
    (void)bounce.device.submit(&bounce.device, &r);
    (void)bounce.device.reset(&bounce.device);
    OK(r.done && r.status == ERR_TIMEOUT && is_idle(),
       "a request that is given up ends with a reset");
    device.dev.reset = NULL;
    bounce_open(&bounce, &device.dev, memory.bounce);
    OK(bounce.device.reset == NULL, "a device without a reset gets no reset");
}

/* ---- where its memory is from ------------------------------------------------------------------ */

static void test_memory(void)
{
    struct memory_range range = { memory.in_reach + 1, sizeof memory.in_reach - 1 };
    struct memory_range small = { memory.in_reach, BOUNCE_BYTES - 1 }, none = { NULL, 0 };
    uint8_t *taken = bounce_take_memory(&range, DMA_END);
    uint64_t end;

    OK(taken == memory.in_reach + BOUNCE_ALIGN && range.base == taken + BOUNCE_BYTES &&
           range.base + range.bytes == memory.beyond,
       "the bounce is taken from the front of a range, in whole lines of the cache");
    OK(bounce_take_memory(&small, DMA_END) == NULL && small.bytes == BOUNCE_BYTES - 1 &&
           bounce_take_memory(&none, DMA_END) == NULL,
       "the bounce is not taken from a range that is too small");
    range = (struct memory_range){ memory.in_reach, sizeof memory.in_reach };
    end = (uintptr_t)memory.in_reach + BOUNCE_BYTES;
    OK(bounce_take_memory(&range, end - 1) == NULL && range.base == memory.in_reach,
       "no memory is taken where its last byte would be beyond reach");
    OK(bounce_take_memory(&range, end) == memory.in_reach,
       "memory up to the end of reach is taken");
}

static void test_fronts(void)
{
    struct io_core core;

    start();
    OK(bounce_of(&bounce.device) == &bounce && bounce_of(&device.dev) == NULL &&
           bounce.device.dma_end == 0 && device.dev.submit == watched_submit,
       "the bounce's device reaches all of memory, and the driver's stays as it is");
    io_core_open(&core, &bounce.device, &platform.cores, NULL);
    OK(bounce_of(&core.device) == NULL && io_core_of(&core.device)->inner == &bounce.device,
       "a core may serve the bounce");
}

int main(void)
{
    for (size_t i = 0; i < sizeof contents; i++)
        contents[i] = (uint8_t)(i * 7 + i / SECTOR_BYTES);
    for (int write = 0; write < 2; write++) {
        test_anywhere(write, 0, false);
        test_anywhere(write, 3, true);
        test_anywhere(write, 2, false);
        test_overlap(write);
        test_errors(1, write);
        test_errors(FILE_READ_RETRIES + 1, write);
    }
    test_borders();
    test_in_reach();
    test_refusals();
    test_silence(true);
    test_silence(false);
    test_not_taken();
    test_memory();
    test_fronts();
    return tap_done();
}
