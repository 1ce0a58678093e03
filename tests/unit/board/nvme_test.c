/* The NVMe driver: the order of memory and doorbells, phases, lists of pages, blocks that a request
 * covers in part, and controllers that misbehave. */
#include "board/left_out.h"
#include "runtime/storage/file.h"
#include "tests/unit/board/fakes/fake_nvme.h"

enum { POLLS = 1000, MANY = 70000 };

static struct block_request request(uint64_t sector, uint32_t n, size_t at, bool write)
{
    return (struct block_request){
        .sector = sector, .n_sectors = n, .buffer = cores.buffer + at, .write = write
    };
}

static enum err finish(struct block_request *r, unsigned polls)
{
    for (unsigned i = 0; i < polls && !r->done; i++)
        (void)device.poll(&device);
    return r->done ? r->status : ERR_BUSY;
}

static enum err transfer(uint64_t sector, uint32_t n, size_t at, bool write)
{
    struct block_request r = request(sector, n, at, write);
    enum err e = device.submit(&device, &r);

    return e != ERR_OK ? e : finish(&r, POLLS);
}

static bool holds(uint64_t sector, uint32_t n, size_t at)
{
    for (uint32_t i = 0; i < n * 512; i++)
        if (cores.buffer[at + i] != disk_byte(sector * 512 + i))
            return false;
    return true;
}

static bool is_well(void)
{
    return f.n_wrong == 0 && f.n_early == 0;
}

static void test_open(bool coherent)
{
    power_up(coherent, 9);
    OK(fake_open() == ERR_OK && device.error_message == NULL &&
           device.n_sectors == DISK_BYTES / 512 && device.writable &&
           device.queue_depth == NVME_DEPTH && device.max_sectors == 2048,
       "the drive opens");
    OK(strcmp(device.name, "NVMe drive at 0x10000000") == 0, "the drive has its name: %s",
       device.name);
    OK(is_well() && f.n_doorbells == 5, "%u admin commands come in order", f.n_doorbells);
    power_up(coherent, 9);
    f.controller[77] = 3;
    f.namespace[99] = 1;
    OK(fake_open() == ERR_OK && device.max_sectors == 64 && !device.writable,
       "the device moves 32 KiB a transfer, and is read only");
    OK(transfer(0, 65, 0, false) == ERR_RANGE && transfer(0, 1, 0, true) == ERR_UNSUPPORTED,
       "a longer transfer is refused");
    power_up(coherent, 9);
    f.gone = true;
    OK(fake_open() == ERR_NO_DEVICE, "there is nothing at the address");
}

/* A drive for servers may have 32 namespaces (its NN), of which the second and the fifth are in use
 * here. */
static void test_namespaces(bool coherent)
{
    uint32_t before = left_out_number(LEFT_OUT_NAMESPACES);

    power_up(coherent, 9);
    f.controller[516] = 32;
    f.active[0] = 2;
    f.active[4] = 5;
    OK(fake_open() == ERR_OK && left_out_number(LEFT_OUT_NAMESPACES) == before + 2 && is_well(),
       "namespaces beyond the first are counted");
    (void)device.reset(&device);
    OK(transfer(0, 1, 0, false) == ERR_OK && left_out_number(LEFT_OUT_NAMESPACES) == before + 2,
       "a reset does not count them again");
    power_up(coherent, 9);
    f.controller[518] = 1;
    f.no_list = true;
    OK(fake_open() == ERR_OK && device.error_message == NULL &&
           transfer(0, 1, 0, false) == ERR_OK && left_out_number(LEFT_OUT_NAMESPACES) == before + 2,
       "a drive that does not list its namespaces works");
}

static void test_transfers(bool coherent)
{
    static const struct {
        uint32_t n;
        size_t at;
    } rows[] = { { 1, 0 },  { 8, 0 },   { 8, 512 }, { 16, 0 },     { 16, 512 },
                 { 17, 0 }, { 24, 64 }, { 200, 0 }, { 200, 4032 }, { 7, 3968 } };

    power_up(coherent, 9);
    (void)fake_open();
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        memset(cores.buffer, 0, sizeof cores.buffer);
        OK(transfer(3 + i, rows[i].n, rows[i].at, false) == ERR_OK &&
               holds(3 + i, rows[i].n, rows[i].at),
           "%u sectors are read to offset %zu", rows[i].n, rows[i].at);
    }
    memset(cores.buffer, 0xc3, 40 * 512);
    OK(transfer(100, 40, 0, true) == ERR_OK && f.disk[100 * 512] == 0xc3 &&
           f.disk[140 * 512 - 1] == 0xc3 && f.disk[140 * 512] == disk_byte(140 * 512) &&
           f.n_flushes == 1,
       "40 sectors are written, and flushed");
    f.controller[525] = 0;
    (void)device.reset(&device);
    OK(transfer(0, 1, 0, true) == ERR_OK && f.n_flushes == 1,
       "nothing is flushed if there is no cache");
    OK(is_well(), "requests keep their order");
}

/* A write is done when a flush that came after its data is done, whatever else is on its way. */
static void test_flush(bool backwards)
{
    struct block_request reads[4], w = request(100, 40, 0, true);
    bool fine = true;

    power_up(true, 9);
    (void)fake_open();
    f.silent = true;
    f.backwards = backwards;
    memset(cores.buffer, 0xc3, 40 * 512);
    for (unsigned i = 0; i < 4; i++)
        reads[i] = request(300 + i, 1, 32768 + i * 512, false);
    fine = device.submit(&device, &reads[0]) == ERR_OK && device.submit(&device, &w) == ERR_OK &&
           device.submit(&device, &reads[1]) == ERR_OK;
    fake_release();
    (void)finish(&reads[1], POLLS);
    OK(fine && !w.done && f.n_flushes == 0 && f.n_held == 1 && f.held[0].opcode == IO_FLUSH,
       "the data before a flush are written, and the flush is on its way: %u held", f.n_held);
    fine = device.submit(&device, &reads[2]) == ERR_OK &&
           device.submit(&device, &reads[3]) == ERR_OK;
    (void)device.poll(&device);
    OK(fine && !w.done, "reads that come during a flush do not end the write");
    fake_release();
    OK(finish(&w, POLLS) == ERR_OK && f.n_flushes == 1 && f.n_unflushed == 0 &&
           finish(&reads[2], POLLS) == ERR_OK && finish(&reads[3], POLLS) == ERR_OK &&
           holds(303, 1, 32768 + 3 * 512) && is_well(),
       "the flush ends the write when the drive answers it, %s",
       backwards ? "after them" : "before them");
}

/* Goes round the queues several times, forwards and backwards, with as many in flight as
 * possible. */
static void test_many(bool coherent, bool backwards)
{
    struct block_request r[NVME_DEPTH + 1];
    bool fine = true;

    power_up(coherent, 9);
    (void)fake_open();
    f.silent = true;
    f.backwards = backwards;
    for (unsigned round = 0; round < 12 && fine; round++) {
        for (unsigned i = 0; i < NVME_DEPTH; i++) {
            r[i] = request(round * 20 + i, 3, i * 4096, false);
            fine = fine && device.submit(&device, &r[i]) == ERR_OK;
        }
        r[NVME_DEPTH] = request(0, 1, 0, false);
        fine = fine && device.submit(&device, &r[NVME_DEPTH]) == ERR_BUSY;
        fine = fine && device.poll(&device) == ERR_OK && !r[0].done;
        fake_release();
        for (unsigned i = 0; i < NVME_DEPTH; i++)
            fine = fine && finish(&r[i], POLLS) == ERR_OK && holds(round * 20 + i, 3, i * 4096);
    }
    OK(fine && is_well() && cores.driver.most_in_flight == NVME_DEPTH, "%u commands end, %s",
       f.n_commands, backwards ? "last first" : "first first");
}

/* ---- blocks of 4 KiB ---- */

static bool part_is_right(uint32_t skip, uint32_t n, bool write)
{
    uint64_t sector = 8 * 5 + skip;

    for (uint32_t i = 0; i < DISK_BYTES; i++)
        f.disk[i] = disk_byte(i);
    memset(cores.buffer, 0x77, sizeof cores.buffer);
    if (transfer(sector, n, 512, write) != ERR_OK)
        return false;
    for (uint32_t i = 0; i < DISK_BYTES; i++) {
        bool inside = i / 512 >= sector && i / 512 < sector + n;
        if (f.disk[i] != (write && inside ? 0x77 : disk_byte(i)))
            return false;
    }
    return cores.buffer[511] == 0x77 && cores.buffer[512 + n * 512] == 0x77 &&
           (write || holds(sector, n, 512));
}

static void test_parts(bool coherent)
{
    struct block_request a, b, whole;

    power_up(coherent, 12);
    OK(fake_open() == ERR_OK && device.n_sectors == DISK_BYTES / 512, "blocks of 4 KiB are read");
    for (uint32_t skip = 0; skip < 8; skip++) {
        bool fine = true;
        for (uint32_t n = 1; n < 20; n += 5)
            fine = fine && part_is_right(skip, n, false) && part_is_right(skip, n, true);
        OK(fine && is_well(), "a request that begins %u sectors inside a block is right", skip);
    }
    f.silent = true;
    a = request(3, 8, 0, true);
    b = request(11, 8, 8192, true);
    OK(device.submit(&device, &a) == ERR_OK && device.submit(&device, &b) == ERR_BUSY,
       "a write with parts of blocks goes alone");
    whole = request(8, 8, 16384, true); /* the block that the first request covers in part */
    OK(device.submit(&device, &whole) == ERR_BUSY,
       "a write with parts of blocks goes alone before one of whole blocks, too");
    for (unsigned i = 0; i < 3; i++) {
        fake_release();
        (void)device.poll(&device);
    }
    OK(a.done && a.status == ERR_OK && device.submit(&device, &b) == ERR_OK,
       "the next request comes after the flush");
}

/* ---- buffers by address and length ---- */

static void test_whole(bool coherent)
{
    power_up(coherent, 9);
    (void)fake_open();
    OK(transfer(3, 200, 0, false) == ERR_OK && f.n_whole == 0,
       "a drive that takes nothing else is read page by page");
    power_up(coherent, 9);
    f.controller[536] = 2;
    (void)fake_open();
    OK(transfer(3, 200, 4032, false) == ERR_OK && holds(3, 200, 4032) && f.n_whole == 1,
       "a long read goes by address and length");
    OK(transfer(3, 32, 0, false) == ERR_OK && holds(3, 32, 0) && f.n_whole == 1,
       "a short read is split into pages");
    memset(cores.buffer, 0xc3, 100 * 512);
    OK(transfer(100, 100, 0, true) == ERR_OK && f.disk[100 * 512] == 0xc3 &&
           f.disk[200 * 512 - 1] == 0xc3 && f.n_whole == 2,
       "a long write arrives whole");
    f.pages_only = true;
    OK(transfer(3, 70, 0, false) == ERR_IO && transfer(3, 70, 0, false) == ERR_OK &&
           holds(3, 70, 0) && f.n_whole == 2 && is_well(),
       "a read that fails is repeated page by page");
}

/* ---- faults ---- */

static void test_faults(void)
{
    struct block_request r = request(9, 2, 0, false);

    power_up(true, 9);
    (void)fake_open();
    f.fail_once = 1;
    OK(transfer(9, 1, 0, false) == ERR_IO && transfer(9, 1, 0, false) == ERR_OK && holds(9, 1, 0),
       "the transfer after one that fails is right");
    f.silent = true;
    (void)device.submit(&device, &r);
    OK(finish(&r, MANY) == ERR_BUSY, "silence is not a failure of the driver's");
    OK(device.reset(&device) == ERR_OK && r.done && r.status == ERR_TIMEOUT && f.n_starts == 2,
       "silence ends with a reset");
    f.silent = false;
    OK(transfer(9, 2, 0, false) == ERR_OK && holds(9, 2, 0), "the drive works after the reset");
    f.silent = true;
    (void)device.submit(&device, &r);
    f.csts |= CSTS_FATAL;
    OK(finish(&r, MANY) == ERR_IO, "a fatal status ends what is in flight");
    f.silent = false;
    OK(transfer(9, 2, 0, false) == ERR_OK && f.n_starts == 3,
       "the next request after a fatal status restarts the controller");
    f.extra_id = 1;
    r = request(9, 2, 0, false);
    (void)device.submit(&device, &r);
    OK(finish(&r, POLLS) == ERR_IO, "an answer that nobody asked for is an error");
    f.extra_id = 0;
    OK(transfer(9, 2, 0, false) == ERR_OK, "a wrong answer is forgotten after a fresh start");
    r = request(9, 2, 0, false);
    f.silent = true;
    (void)device.submit(&device, &r);
    f.gone = true;
    OK(finish(&r, MANY) == ERR_IO && transfer(9, 2, 0, false) == ERR_IO,
       "a drive that is gone fails its requests");
    f.gone = false;
    OK(transfer(9, 2, 0, false) == ERR_IO, "a drive stays gone if no slot sets it up again");
}

static void test_pulled(bool coherent)
{
    struct block_request r = request(9, 2, 0, false);
    unsigned starts;

    power_up(coherent, 9);
    slot_is_used = true;
    slot_is_full = false;
    slot_asked = 0;
    (void)fake_open();
    f.silent = true;
    (void)device.submit(&device, &r);
    f.gone = true;
    OK(finish(&r, MANY) == ERR_IO && slot_asked == 0,
       "a drive that is pulled fails the request in flight");
    OK(transfer(9, 2, 0, false) == ERR_IO && transfer(9, 2, 0, true) == ERR_IO && slot_asked == 2,
       "each request looks for the drive that was pulled");
    slot_is_full = true;
    OK(transfer(9, 2, 0, false) == ERR_IO,
       "a drive fails as long as none of its registers answers");
    f.gone = false;
    f.silent = false;
    f.cc = f.csts = 0;
    f.controller[4] ^= 1;
    starts = f.n_starts;
    memset(cores.buffer, 0x77, 1024);
    OK(transfer(9, 2, 0, true) == ERR_IO && transfer(9, 2, 0, true) == ERR_IO &&
           f.n_starts == starts + 2 && f.disk[9 * 512] == disk_byte(9 * 512),
       "another drive in its place gets nothing, however often");
    f.controller[4] ^= 1;
    OK(transfer(9, 2, 0, false) == ERR_OK && holds(9, 2, 0) && transfer(20, 9, 0, true) == ERR_OK,
       "a drive that is put back reads and writes");
    f.gone = true;
    OK(device.reset(&device) == ERR_TIMEOUT, "a reset finds that the drive was pulled again");
    f.gone = false;
    f.cc = f.csts = 0;
    OK(transfer(9, 2, 0, false) == ERR_OK && is_well(), "the drive is put back");
    slot_is_used = false;
}

static void test_reset_fails(void)
{
    power_up(true, 9);
    (void)fake_open();
    f.never_stops = true;
    OK(device.reset(&device) == ERR_TIMEOUT && transfer(0, 1, 0, false) == ERR_IO &&
           f.now < 3000000,
       "a controller that does not stop stays dead, in %u ms", (unsigned)(f.now / 1000));
    power_up(true, 9);
    (void)fake_open();
    f.namespace[0] ^= 1;
    OK(device.reset(&device) == ERR_TIMEOUT && transfer(0, 1, 0, false) == ERR_IO,
       "another drive after a reset is not used");
}

static bool says(const char *word)
{
    return device.error_message != NULL && strstr(device.error_message, word) != NULL &&
           device.n_sectors == 0;
}

static void test_refused(void)
{
    static const struct {
        bool namespace;
        unsigned at;
        uint8_t value;
        const char *word;
    } rows[] = {
        { false, 512, 0x77, "queue entries" }, { false, 513, 0x33, "queue entries" },
        { true, 26, 1, "does not list" },      { true, 128, 8, "metadata" },
        { true, 29, 1, "metadata" },           { true, 130, 11, "512 nor 4096" },
        { true, 130, 0, "512 nor 4096" },      { true, 7, 0xff, "an impossible size" },
    };

    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        power_up(true, 9);
        (rows[i].namespace ? f.namespace : f.controller)[rows[i].at] = rows[i].value;
        OK(fake_open() == ERR_OK && says(rows[i].word) && !(f.cc & CC_ENABLE),
           "the drive is refused: %s",
           device.error_message != NULL ? device.error_message : "no problem");
    }
    power_up(true, 9);
    memset(f.namespace, 0, 8);
    OK(fake_open() == ERR_OK && says("no namespace 1"), "a drive without a namespace is reported");
    power_up(true, 9);
    f.cap[1] |= 1u << 16;
    OK(fake_open() == ERR_OK && says("larger than 4 KiB"),
       "a drive that supports only large pages is reported");
    power_up(true, 9);
    f.never_ready = true;
    OK(fake_open() == ERR_OK && says("does not become ready") && f.now < 2000000,
       "a drive that never gets ready is reported");
    power_up(true, 9);
    f.never_ready = true;
    f.csts = CSTS_FATAL;
    OK(fake_open() == ERR_OK && says("fatal") && f.now < 2000000,
       "a drive that fails at its start is reported");
    power_up(true, 9);
    f.mute = true;
    OK(fake_open() == ERR_OK && says("does not answer") && f.now < 9000000,
       "a drive that does not answer Identify is reported");
}

static void test_short_queues(void)
{
    bool fine = true;

    power_up(true, 9);
    f.cap[0] = 1u << 24 | 7;
    OK(fake_open() == ERR_OK && device.queue_depth == 2, "queues of eight entries are enough");
    for (unsigned i = 0; i < 50; i++)
        fine = fine && transfer(i, 2, 0, false) == ERR_OK && holds(i, 2, 0);
    OK(fine && is_well(), "the queues go round");
}

/* Reads a file on a drive with blocks of 4 KiB: each request is three commands, and as many are in
 * flight as the drive wants, never more than the queue holds. */
static void test_depth(uint32_t entries, uint32_t in_flight)
{
    static struct file file;
    static struct file_read r;
    uint32_t n = 15 * 16 - 2;
    unsigned most = 0, polls = 0;
    enum err e;

    power_up(true, 12);
    f.cap[0] = 1u << 24 | (entries - 1);
    f.controller[77] = 1; /* 8 KiB a transfer: 15 requests */
    (void)fake_open();
    f.silent = true;
    (void)file_open_device(&file, &device, 0, NULL);
    (void)file_read_start(&r, &file, 3 * 512, cores.buffer, n * 512);
    for (e = ERR_BUSY; e == ERR_BUSY && polls < POLLS; polls++) {
        most = most > f.n_held ? most : f.n_held;
        fake_release();
        e = file_read_poll(&r);
    }
    OK(e == ERR_OK && holds(3, n, 0) && is_well() && most == 3 * in_flight &&
           cores.driver.most_in_flight == in_flight,
       "%u entries allow %u requests in flight, %u commands", (unsigned)entries,
       (unsigned)cores.driver.most_in_flight, most);
}

int main(void)
{
    for (int coherent = 0; coherent < 2; coherent++) {
        test_open(coherent);
        test_namespaces(coherent);
        test_transfers(coherent);
        test_flush(false);
        test_flush(true);
        test_many(coherent, false);
        test_many(coherent, true);
        test_parts(coherent);
    }
    test_faults();
    test_whole(true);
    test_whole(false);
    test_pulled(true);
    test_pulled(false);
    test_reset_fails();
    test_refused();
    test_short_queues();
    test_depth(8, 2);
    test_depth(20, 5);
    test_depth(64, 12);
    return tap_done();
}
