/* The USB drive over a controller that is a model: faults in the middle of a request are named as
 * errors, and the next request, or the one after, reads the drive's data. */
#include "board/drivers/usb/usb_storage.h"

#include "tests/unit/board/fakes/fake_xhci.h"
#include "tests/unit/board/fakes/usb_done.h"
#include "tests/unit/tap.h"

enum { POLLS = 20000 };

static struct usb_storage drive;
static struct xhci host;
static struct block_device device;
static struct fake_unit *const u = &f.units[0];
/* A controller splits a transfer that crosses 64 KiB (6.4.1), and a fault in the first part leaves
 * the second: each fault is tried on either side of such a border and across it. */
enum { BORDER = 64 * 1024, BUFFER_BYTES = 64 * 512 };

static _Alignas(BORDER) uint8_t area[2 * BORDER];
static uint8_t *buffer = area;

static uint8_t disk_byte(size_t at)
{
    return (uint8_t)(at * 7 + at / 512 * 13 + 1);
}

static unsigned n_refused; /* READ CAPACITY (16) still fails this many times */

static void refuse_long_capacity(struct fake_unit *unit)
{
    if (unit->cdb[0] != 0x9e || n_refused == 0)
        return;
    n_refused--;
    unit->fault = STALLED;
    unit->times = 1;
    unit->of_any = true;
}

static enum err open_with(uint64_t first, void (*on_command)(struct fake_unit *unit))
{
    memset(&f, 0, sizeof f);
    memset(&host, 0, sizeof host);
    n_wrong = 0;
    u->speed = XHCI_SPEED_HIGH;
    u->port = 1;
    u->first = first;
    u->on_command = on_command;
    plug(u);
    for (size_t i = 0; i < sizeof u->disk; i++)
        u->disk[i] = disk_byte(i);
    host.setup = fake_setup();
    if (xhci_start(&host) != ERR_OK)
        return ERR_IO;
    return usb_storage_open(&drive, &host, 1, xhci_n_places(&host), &device);
}

static enum err open_drive_at(uint64_t first)
{
    return open_with(first, refuse_long_capacity);
}

static enum err open_drive(void)
{
    return open_drive_at(0);
}

static enum err move(uint64_t sector, uint32_t n, bool write)
{
    static struct block_request r; /* a silent drive keeps it after the return */
    enum err e;

    r = (struct block_request){
        .sector = sector, .n_sectors = n, .buffer = buffer, .write = write
    };
    e = device.submit(&device, &r);
    for (unsigned i = 0; e == ERR_OK && i < POLLS && !r.done; i++)
        (void)device.poll(&device);
    return e != ERR_OK ? e : r.done ? r.status : ERR_BUSY;
}

/* Checks the contents of a drive whose bytes begin with those of block `first`. */
static bool reads_at(uint64_t first, uint64_t sector, uint32_t n)
{
    memset(buffer, 0, BUFFER_BYTES);
    if (move(sector, n, false) != ERR_OK)
        return false;
    for (size_t i = 0; i < n * 512u; i++)
        if (buffer[i] != disk_byte((size_t)(sector - first) * 512 + i))
            return false;
    return true;
}

static bool reads(uint64_t sector, uint32_t n)
{
    return reads_at(0, sector, n);
}

static void test_well(void)
{
    OK(open_drive() == ERR_OK && device.error_message == NULL && device.n_sectors == DISK_SECTORS &&
           device.writable,
       "the drive opens");
    OK(reads(0, 1) && reads(7, 64) && reads(DISK_SECTORS - 1, 1), "sectors are read");
    memset(buffer, 0x5a, 1024);
    OK(move(9, 2, true) == ERR_OK && u->disk[9 * 512] == 0x5a && u->disk[11 * 512 - 1] == 0x5a &&
           u->disk[11 * 512] == disk_byte(11 * 512),
       "sectors are written");
    for (unsigned i = 0; i < 200; i++) /* each ring goes round */
        (void)reads(i, 3);
    OK(reads(100, 60) && n_wrong == 0, "rings go round");
}

static void test_faults(const char *where)
{
    static const struct {
        const char *name;
        enum fault fault;
        enum err expected;
        bool begins_anew; /* the drive is given an address again */
    } rows[] = {
        { "a stalled endpoint", STALLED, ERR_IO, false },
        { "a status that stalls, too", STALLED_TWICE, ERR_IO, false },
        { "one that stalls again and again", STALLED_ALL, ERR_IO, true },
        { "half of the data", SHORT, ERR_IO, false },
        { "a babbling drive", BABBLING, ERR_IO, true },
        { "errors of the wire", BROKEN_WIRE, ERR_IO, true },
        { "another command's status", OTHER_TAG, ERR_IO, true },
        { "a phase error", OUT_OF_STEP, ERR_IO, true },
        { "a status that is none", NO_STATUS, ERR_IO, true },
        { "an event of nothing", LATE_EVENT, ERR_IO, true },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        unsigned before;
        enum err e;

        (void)open_drive();
        before = f.n_addresses;
        u->fault = rows[i].fault;
        u->times = 1;
        e = move(5, 9, false);
        OK(e == rows[i].expected, "%s %s has the result %d", rows[i].name, where, e);
        u->times = 0;
        OK(reads(5, 9) && (f.n_addresses != before) == rows[i].begins_anew && n_wrong == 0,
           "the read after the error is right, %s",
           rows[i].begins_anew ? "of a drive that begins anew" : "at once");
    }
    (void)open_drive();
    u->fault = STALLED;
    u->times = 1;
    OK(move(5, 9, true) == ERR_IO && move(5, 9, true) == ERR_OK && n_wrong == 0,
       "the write after one that stalls is right");
    u->fault = STALLED_TWICE;
    u->times = 1;
    f.n_addresses = 0;
    OK(move(5, 9, true) == ERR_IO && move(5, 9, true) == ERR_OK && f.n_addresses == 0 &&
           n_wrong == 0,
       "the write after one whose status stalls as well is right");
}

static void test_silent(void)
{
    (void)open_drive();
    u->fault = SILENT;
    u->times = 1;
    OK(move(5, 9, false) == ERR_BUSY, "a silent drive does not end a read");
    OK(device.reset(&device) == ERR_OK && drive.n_row == 0,
       "a reset ends the read of a silent drive");
    u->times = 0;
    OK(reads(5, 9) && n_wrong == 0, "the drive reads after a reset");
}

/* Beyond block 2^32 only READ, WRITE and READ CAPACITY (16) reach, and across it in one command, too. */
static void test_far(void)
{
    const uint64_t border = 1ull << 32, first = border - DISK_SECTORS / 2;

    OK(open_drive_at(first) == ERR_OK && device.error_message == NULL &&
           device.n_sectors == first + DISK_SECTORS,
       "a drive of more than 2 TiB tells its size");
    OK(reads_at(first, border - 9, 9) && u->cdb[0] == 0x28, "READ (10) reaches up to sector 2^32");
    OK(reads_at(first, border - 1, 2) && u->cdb[0] == 0x88, "READ (16) reads across sector 2^32");
    OK(reads_at(first, border, 9) && u->cdb[0] == 0x88, "READ (16) reads beyond sector 2^32");
    memset(buffer, 0x5a, 512);
    OK(move(border + 3, 1, true) == ERR_OK && u->disk[(border + 3 - first) * 512] == 0x5a &&
           n_wrong == 0,
       "sectors beyond 2 TiB are written");
    n_refused = 1;
    OK(open_drive_at(first) == ERR_OK && n_refused == 0 &&
           device.n_sectors == first + DISK_SECTORS && n_wrong == 0,
       "a drive of more than 2 TiB that fails the first READ CAPACITY (16) tells its size");
}

/* A drive whose answer to READ CAPACITY (16) is padded says how many bytes are not its own (BOT 1.0,
 * 6.7.2). */
static void pad_long_capacity(struct fake_unit *unit)
{
    unit->wrong_residue = unit->cdb[0] == 0x9e ? 20 : 0;
}

static void tell_left(struct fake_unit *unit)
{
    unit->wrong_residue = moves_blocks(unit) ? 512 : 0;
}

static void test_padded(void)
{
    const uint64_t first = 1ull << 32;

    OK(open_with(first, pad_long_capacity) == ERR_OK && device.n_sectors == first + DISK_SECTORS &&
           reads_at(first, first, 9),
       "a drive that pads its answer to READ CAPACITY (16) is read");
    u->on_command = tell_left;
    OK(move(first, 9, false) == ERR_IO, "and what it tells of bytes that are missing counts");
}

static void hide_half(struct fake_unit *unit)
{
    unit->wrong_residue = moves_blocks(unit) ? 0u - unit->wanted / 2 : 0;
}

/* A drive that sends half of the data, and says that nothing is left. */
static void test_hidden_rest(void)
{
    (void)open_drive();
    u->fault = SHORT;
    u->times = 1;
    u->on_command = hide_half;
    OK(move(5, 1, false) == ERR_IO && u->times == 0, "short data fail a read whose residue is 0");
    u->on_command = NULL;
    u->wrong_residue = 0;
    OK(reads(5, 1) && n_wrong == 0, "the next read is right");
}

static void tell_recovery(struct fake_unit *unit)
{
    if (unit->cdb[0] == 3) { /* REQUEST SENSE: 01/17/01 */
        unit->answer[2] = 1;
        unit->answer[12] = 0x17;
        unit->answer[13] = 1;
    }
}

/* A disk that reports that it recovered data has moved all of them (SPC-4, RECOVERED ERROR). */
static void test_recovered(void)
{
    (void)open_drive();
    u->recovers = true;
    u->on_answer = tell_recovery;
    OK(reads(5, 9), "data that the disk recovered are read");
    memset(buffer, 0x5a, 512);
    OK(move(7, 1, true) == ERR_OK && u->disk[7 * 512] == 0x5a && n_wrong == 0, "and are written");
    u->fault = SHORT;
    u->times = 1;
    OK(move(5, 9, false) == ERR_IO, "but not if some are missing");
}

static unsigned n_flushes;

static void fail_first_flush(struct fake_unit *unit)
{
    unit->failed = unit->cdb[0] == 0x35 && n_flushes++ == 0; /* SYNCHRONIZE CACHE */
}

static void tell_late(struct fake_unit *unit)
{
    if (unit->cdb[0] == 3) {
        unit->answer[0] = 0x71; /* about an earlier command, which recovered data */
        unit->answer[2] = 1;
    }
}

/* A command that reports an earlier command's recovery was not executed. */
static void test_recovered_late(void)
{
    (void)open_drive();
    n_flushes = 0;
    u->on_command = fail_first_flush;
    u->on_answer = tell_late;
    OK(move(5, 9, true) == ERR_IO && n_flushes == 1, "a write whose flush was not executed fails");
    OK(move(5, 9, true) == ERR_OK && n_flushes == 2 && n_wrong == 0, "and its next try is flushed");
}

static void never_answer_inquiry(struct fake_unit *unit)
{
    unit->times = unit->cdb[0] == 0x12;
}

/* A drive that has no answer is tried once by each request, because a watchdog waits for 15 s and
 * two requests are repeated in one of its turns. */
static void test_slow(void)
{
    uint64_t before;

    (void)open_drive();
    pull(u);
    (void)move(5, 9, false);
    plug(u);
    u->fault = SILENT;
    u->of_any = true;
    u->on_command = never_answer_inquiry;
    before = f.now;
    OK(move(5, 9, false) == ERR_IO && f.now - before < 7000,
       "a drive that is back and does not answer INQUIRY costs a request 5 s, not 10: %u ms",
       (unsigned)(f.now - before));
    u->on_command = NULL;
    u->times = 0;
    u->lost_requests = 6;
    OK(move(5, 9, false) == ERR_IO && u->lost_requests == 3,
       "one that answers no control transfer is tried three times, not six");
    OK(move(5, 9, false) == ERR_IO && reads(5, 9) && n_wrong == 0,
       "it is read when it answers again");
}

/* ---- a reader that stays plugged in while its card is changed ---- */

static struct {
    uint8_t key, code; /* what the reader tells about its card; 0: nothing */
    bool locked;
} card;

static void fail_without_card(struct fake_unit *unit)
{
    bool concerned = card.key != 0 && moves_blocks(unit);

    if (concerned)
        unit->fault = STALLED;
    unit->times = concerned;
    unit->failed = card.key == 2 && unit->cdb[0] == 0;
}

static void tell_card(struct fake_unit *unit)
{
    if (unit->cdb[0] == 0x1a && card.locked)
        unit->answer[2] = 0x80;
    if (unit->cdb[0] != 0x03 || card.key == 0)
        return;
    unit->answer[2] = card.key;
    unit->answer[12] = card.code;
    if (card.key == 6) /* SAM-4: a unit attention is told once */
        card.key = 0;
}

static void open_reader(void)
{
    memset(&card, 0, sizeof card);
    (void)open_with(0, fail_without_card);
    u->on_answer = tell_card;
}

static void test_changed(uint8_t key, uint8_t code, const char *name)
{
    uint8_t *byte = u->disk + 9 * 512;

    open_reader();
    card.key = key;
    card.code = code;
    OK(move(9, 1, false) == ERR_IO, "%s: the read fails", name);
    card.key = 0;
    u->first = 8; /* another card: eight sectors more */
    memset(buffer, 0x5a, 512);
    OK(move(9, 1, false) == ERR_IO && move(17, 1, true) == ERR_IO && *byte == disk_byte(9 * 512),
       "%s: a card of another size is neither read nor written", name);
    u->first = 0;
    OK(reads(9, 1) && n_wrong == 0, "%s: the first card is read when it is back", name);
}

static void test_card(void)
{
    test_changed(2, 0x3a, "a reader without its card");
    test_changed(6, 0x28, "a reader whose card was changed");
    open_reader();
    card.key = 6;
    card.code = 0x29; /* a reset */
    f.n_addresses = 0;
    OK(move(9, 1, false) == ERR_IO && reads(9, 1) && f.n_addresses == 0,
       "another unit attention leaves the drive attached");
    pull(u);
    OK(move(9, 1, false) == ERR_IO && device.writable, "a drive without a lock is pulled");
    card.locked = true;
    plug(u);
    OK(reads(9, 1) && move(9, 1, true) == ERR_UNSUPPORTED && !device.writable,
       "a drive that comes back with its lock on is not written");
    OK(reads(9, 1) && n_wrong == 0, "but read");
}

static void test_pulled(void)
{
    (void)open_drive();
    u->fault = PULLED;
    u->times = 1;
    OK(move(5, 9, false) == ERR_IO, "a drive that is pulled in the middle fails");
    u->times = 0;
    OK(move(5, 9, false) == ERR_IO && move(6, 1, false) == ERR_IO, "an unplugged drive stays gone");
    plug(u);
    OK(reads(5, 9) && n_wrong == 0, "a drive that is plugged in again is read");
    pull(u);
    OK(move(5, 9, false) == ERR_IO, "it is pulled again");
    u->first = 8; /* eight sectors more */
    plug(u);
    OK(move(8, 1, false) == ERR_IO && move(8, 1, false) == ERR_IO,
       "a drive of another size in its place gets nothing, however often");
    pull(u);
    u->first = 0;
    u->block_bytes = 4096;
    plug(u);
    OK(move(8, 1, false) == ERR_IO && move(8, 1, false) == ERR_IO,
       "a drive of the same size whose blocks are longer gets nothing, however often");
    pull(u);
    u->block_bytes = 8192;
    plug(u);
    OK(move(8, 1, false) == ERR_IO, "a drive whose blocks are too long gets nothing");
    pull(u);
    u->block_bytes = 0;
    plug(u);
    OK(reads(5, 9) && n_wrong == 0, "the first drive may come back");
}

int main(void)
{
    test_well();
    test_faults("within 64 KiB");
    buffer = area + BORDER - 4 * 512;
    test_faults("across 64 KiB");
    test_silent();
    test_far();
    test_padded();
    test_hidden_rest();
    test_recovered();
    test_recovered_late();
    test_slow();
    test_card();
    test_pulled();
    return usb_done();
}
