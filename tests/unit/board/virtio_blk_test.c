/* The virtio block device's driver: the order of memory and registers, requests, and devices that
 * misbehave. */
#include "tests/unit/board/fakes/fake_virtio.h"

enum { POLLS = 1000 };

static enum err probe(void)
{
    return virtio_blk_probe(&driver, 0x0a003e00, &device);
}

static struct block_request request(uint64_t sector, uint32_t n, size_t at, bool write)
{
    return (struct block_request){
        .sector = sector, .n_sectors = n, .buffer = buffer + at, .write = write
    };
}

static enum err finish(struct block_request *r)
{
    for (unsigned i = 0; i < POLLS && !r->done; i++)
        (void)device.poll(&device);
    return r->done ? r->status : ERR_BUSY;
}

static enum err transfer(uint64_t sector, uint32_t n, size_t at, bool write)
{
    struct block_request r = request(sector, n, at, write);
    enum err e = device.submit(&device, &r);

    return e != ERR_OK ? e : finish(&r);
}

static bool holds(uint64_t sector, uint32_t n, size_t at)
{
    for (uint32_t i = 0; i < n * 512; i++)
        if (buffer[at + i] != disk_byte(sector + i / 512, i % 512))
            return false;
    return true;
}

/* ---- a device as it should be ---- */

static void test_open(void)
{
    power_up();
    OK(probe() == ERR_OK && device.n_sectors == FAKE_SECTORS && device.writable &&
           device.queue_depth == VIRTIO_BLK_DEPTH && device.max_sectors == VIRTIO_BLK_MAX_SECTORS,
       "the device opens");
    OK(strcmp(device.name, "virtio-blk at 0xa003e00") == 0, "the device has its name: %s",
       device.name);
    OK(f.taken[1] == FEATURE_HIGH_VERSION_1 && f.taken[0] == 0,
       "no feature is taken but version 1");
    OK(f.n_ready == 1 && f.n_early == 0, "the rings are ordered before the queue is ready");
    OK(driver.avail.flags == AVAIL_NO_INTERRUPT, "the device sends no interrupts");
    power_up();
    f.torn = 2;
    OK(probe() == ERR_OK && device.n_sectors == FAKE_SECTORS,
       "a capacity that changes is read anew");
    power_up();
    f.features[0] = FEATURE_RO;
    OK(probe() == ERR_OK && !device.writable && transfer(1, 1, 0, true) == ERR_UNSUPPORTED &&
           f.n_notified == 0,
       "a device that can only be read takes no writes");
}

static void test_transfers(void)
{
    power_up();
    (void)probe();
    OK(transfer(7, 8, 512, false) == ERR_OK && holds(7, 8, 512), "eight sectors are read");
    OK(buffer[511] == 0 && buffer[512 + 8 * 512] == 0,
       "no byte beside the eight sectors is written");
    memset(buffer, 0x3c, 4 * 512);
    OK(transfer(100, 4, 0, true) == ERR_OK && f.disk[100 * 512] == 0x3c &&
           f.disk[104 * 512 - 1] == 0x3c && f.disk[104 * 512] == disk_byte(104, 0),
       "four are written");
    for (unsigned i = 0, bad = 0; i < 300; i++) { /* indices go round the ring */
        bad += transfer(i, 1, 0, false) != ERR_OK || !holds(i, i == 100 ? 0 : 1, 0);
        if (i == 299)
            OK(bad <= 4, "300 more reads are right, but for the four sectors that were written");
    }
    OK(f.n_notified == 302, "each request is notified once");
    OK(f.n_unordered == 0, "entries are ordered before the index that publishes them");
    OK(f.n_early == 0, "the index is ordered before the notification");
    OK(f.n_wrong == 0, "each chain is a header, data and a status byte");
    OK(transfer(FAKE_SECTORS, 1, 0, false) == ERR_RANGE && transfer(0, 0, 0, false) == ERR_RANGE,
       "a request beyond the device's end is refused");
    device.dma_end = (uintptr_t)buffer + 8 * 512;
    OK(transfer(1, 8, 0, false) == ERR_OK && transfer(1, 8, 512, false) == ERR_RANGE &&
           f.n_notified == 303,
       "nothing moves to memory that DMA does not reach");
    driver.used.flags = USED_NO_NOTIFY;
    (void)transfer(1, 1, 0, false);
    OK(f.n_notified == 303, "a device that looks by itself is not notified");
}

static void test_many(bool backwards)
{
    struct block_request r[VIRTIO_BLK_DEPTH], more = request(0, 1, 0, false);
    unsigned right = 0;

    power_up();
    (void)probe();
    f.silent = true;
    f.backwards = backwards;
    for (unsigned i = 0; i < VIRTIO_BLK_DEPTH; i++) {
        r[i] = request(3 * i + 1, 2, i * 1024, false);
        (void)device.submit(&device, &r[i]);
    }
    OK(device.submit(&device, &more) == ERR_BUSY, "a full queue takes no more");
    OK(device.poll(&device) == ERR_OK && !r[0].done, "nothing is done yet");
    for (unsigned i = 0; i < 2; i++, fake_release())
        f.silent = false;
    for (unsigned i = 0; i < VIRTIO_BLK_DEPTH; i++)
        right += finish(&r[i]) == ERR_OK && holds(3 * i + 1, 2, i * 1024);
    OK(right == VIRTIO_BLK_DEPTH && driver.in_flight == 0 && f.n_wrong == 0,
       "all requests have what they asked for, %s", backwards ? "the last first" : "in order");
}

static void test_segments(void)
{
    power_up();
    f.features[0] = FEATURE_SIZE_MAX | FEATURE_SEG_MAX;
    f.size_max = 4096 + 100;
    f.seg_max = 5;
    OK(probe() == ERR_OK && device.max_sectors == 40, "a segment has whole sectors: %u sectors",
       (unsigned)device.max_sectors);
    OK(transfer(50, 40, 0, false) == ERR_OK && holds(50, 40, 0), "a read may have five segments");
    OK(transfer(50, 9, 0, false) == ERR_OK && holds(50, 9, 0) && f.n_wrong == 0,
       "a read of nine sectors after five segments is right");
    power_up();
    f.most = 8;
    OK(probe() == ERR_OK && device.queue_depth == 2 && transfer(5, 3, 0, false) == ERR_OK &&
           holds(5, 3, 0),
       "a short queue is enough");
}

/* ---- others ---- */

static void test_refused(void)
{
    power_up();
    f.kind = 1;
    OK(probe() == ERR_NO_DEVICE && driver.why == NULL, "a network card is refused");
    power_up();
    f.version = 1;
    OK(probe() == ERR_UNSUPPORTED && strstr(driver.why, "force-legacy=false") != NULL,
       "a legacy device is refused: %s", driver.why);
    power_up();
    f.features[1] = 0;
    OK(probe() == ERR_UNSUPPORTED && driver.why != NULL,
       "a device of another version is refused: %s", driver.why);
    power_up();
    f.refuses = true;
    OK(probe() == ERR_IO && f.regs[VIRTIO_STATUS / 4] == STATUS_FAILED,
       "a device that refuses the features is refused: %s", driver.why);
    power_up();
    f.most = 2;
    OK(probe() == ERR_IO && driver.why != NULL, "a device with too short a queue is refused: %s",
       driver.why);
    power_up();
    f.never_resets = true;
    f.regs[VIRTIO_STATUS / 4] = STATUS_DRIVER_OK;
    OK(probe() == ERR_TIMEOUT && driver.why != NULL, "a device that does not reset is refused: %s",
       driver.why);
}

static void test_faults(void)
{
    struct block_request r = request(9, 1, 0, false);

    power_up();
    (void)probe();
    f.status = 1;
    OK(transfer(9, 1, 0, false) == ERR_IO, "a request that the device fails has an error");
    f.status = 0;
    OK(transfer(9, 1, 0, false) == ERR_OK && holds(9, 1, 0),
       "the request after a failed one is right");
    f.extra_id = 3 * 5;
    OK(transfer(9, 1, 0, false) == ERR_IO && driver.dead,
       "after an answer to no request the device is not trusted");
    OK(transfer(9, 1, 0, false) == ERR_IO, "the device fails until a reset");
    f.extra_id = 0;
    OK(device.reset(&device) == ERR_OK && transfer(9, 1, 0, false) == ERR_OK && holds(9, 1, 0),
       "the device works after a reset");
    f.extra_id = 1;
    OK(transfer(9, 1, 0, false) == ERR_IO, "an answer that names no chain's head is refused");
    f.extra_id = 0;
    (void)device.reset(&device);
    f.silent = true;
    (void)device.submit(&device, &r);
    OK(device.reset(&device) == ERR_OK && r.done && r.status == ERR_TIMEOUT,
       "a reset ends requests");
    f.silent = false;
    OK(transfer(9, 1, 0, false) == ERR_OK && f.n_early == 0, "requests after a reset are served");
    f.silent = true;
    r = request(9, 1, 0, false);
    (void)device.submit(&device, &r);
    f.regs[VIRTIO_STATUS / 4] |= STATUS_NEEDS_RESET;
    for (unsigned i = 0; i < 70000 && !r.done; i++)
        (void)device.poll(&device);
    OK(r.done && r.status == ERR_IO, "a device that needs a reset is found out");
}

/* A device that has just ended a request when it is reset: its data, its status and its element of
 * the ring are on their way, and arrive at the next barrier. */
static void test_reset_order(void)
{
    struct block_request r = request(9, 1, 0, false);

    power_up();
    OK(probe() == ERR_OK && f.n_early == 0, "memory is ordered before a reset");
    f.silent = true;
    (void)device.submit(&device, &r);
    fake_release();
    OK(f.n_late > 0 && device.reset(&device) == ERR_OK && r.done && r.status == ERR_TIMEOUT,
       "a reset while answers are under way");
    OK(f.n_late == 0 && f.n_early == 0, "no late answer arrives in a ring that is used again");
    f.silent = false;
    OK(transfer(9, 1, 0, false) == ERR_OK && holds(9, 1, 0), "the ring works after the reset");
    f.silent = true;
    r = request(9, 1, 0, false);
    (void)device.submit(&device, &r);
    f.regs[VIRTIO_STATUS / 4] |= STATUS_NEEDS_RESET;
    for (unsigned i = 0; i < 70000 && !r.done; i++)
        (void)device.poll(&device);
    OK(r.done && driver.dead && f.n_late == 0,
       "a dead device hands a buffer back when nothing is under way to it");
}

int main(void)
{
    test_open();
    test_transfers();
    test_many(false);
    test_many(true);
    test_segments();
    test_refused();
    test_faults();
    test_reset_order();
    return tap_done();
}
