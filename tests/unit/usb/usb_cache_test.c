/* The USB drive at a controller that does not look into caches (Raspberry Pi 4's VL805): lines that the driver did
 * not write back stay with the core, lines that it did not drop are read as they were, and a dirty line goes to
 * memory at any time (dma_log.h). No byte of a buffer or beside one is lost by that. */
#include "board/drivers/usb/usb_storage.h"

#include "tests/unit/board/fakes/fake_xhci.h"
#include "tests/unit/board/fakes/usb_done.h"
#include "tests/unit/tap.h"

enum { POLLS = 20000, LINE = DMA_LOG_LINE, BORDER = 64 << 10, BESIDE = 4 * LINE };

/* All that the controller reaches. */
static _Alignas(BORDER) struct world {
    uint8_t area[2 * BORDER];
    struct usb_storage drive;
    struct xhci host;
} world;
static uint8_t memory[sizeof world], fetched[sizeof world];
static struct block_device device;
static struct fake_unit *const u = &f.units[0];

static uint8_t disk_byte(size_t at)
{
    return (uint8_t)(at * 7 + at / 512 * 13 + 1);
}

static void open_drive(uint32_t block_bytes)
{
    dma_log.cores = NULL;
    memset(&f, 0, sizeof f);
    memset(&world, 0, sizeof world);
    n_wrong = 0;
    u->speed = XHCI_SPEED_HIGH;
    u->port = 1;
    u->block_bytes = block_bytes;
    plug(u);
    for (size_t i = 0; i < sizeof u->disk; i++)
        u->disk[i] = disk_byte(i);
    world.host.setup = fake_setup();
    world.host.setup.window.coherent = false;
    dma_log_watch((uint8_t *)&world, memory, fetched, sizeof world);
    OK(xhci_start(&world.host) == ERR_OK &&
           usb_storage_open(&world.drive, &world.host, 1, xhci_n_places(&world.host), &device) ==
               ERR_OK &&
           device.error_message == NULL && device.n_sectors == DISK_SECTORS,
       "a drive with blocks of %u bytes opens: %s", block_bytes,
       device.error_message != NULL ? device.error_message : "all");
}

static enum err move(uint64_t sector, uint32_t n, uint8_t *buffer, bool write)
{
    struct block_request r = { .sector = sector, .n_sectors = n, .buffer = buffer, .write = write };
    enum err e = device.submit(&device, &r);

    for (unsigned i = 0; e == ERR_OK && i < POLLS && !r.done; i++)
        (void)device.poll(&device);
    return e != ERR_OK ? e : r.done ? r.status : ERR_BUSY;
}

/* Makes lines in the buffer and on both sides of it dirty. */
static void dirty(const uint8_t *buffer, size_t bytes)
{
    uint8_t *from = world.area + (buffer - world.area) - BESIDE;

    for (size_t i = 0; i < bytes + 2 * BESIDE; i++)
        from[i] = (uint8_t)(0xa5 ^ i);
}

static bool beside_stays(const uint8_t *buffer, size_t bytes)
{
    const uint8_t *from = buffer - BESIDE;

    for (size_t i = 0; i < bytes + 2 * BESIDE; i++)
        if ((i < BESIDE || i >= BESIDE + bytes) && from[i] != (uint8_t)(0xa5 ^ i))
            return false;
    return true;
}

static bool reads(uint64_t sector, uint32_t n, uint8_t *buffer)
{
    dirty(buffer, n * 512u);
    if (move(sector, n, buffer, false) != ERR_OK || !beside_stays(buffer, n * 512u))
        return false;
    for (size_t i = 0; i < n * 512u; i++)
        if (buffer[i] != disk_byte((size_t)sector * 512 + i))
            return false;
    return true;
}

/* Puts back what was there. */
static bool writes(uint64_t sector, uint32_t n, uint8_t *buffer)
{
    size_t at = (size_t)sector * 512, bytes = n * 512u;
    bool good;

    dirty(buffer, bytes);
    good = move(sector, n, buffer, true) == ERR_OK && beside_stays(buffer, bytes) &&
           memcmp(u->disk + at, buffer, bytes) == 0 &&
           (at == 0 || u->disk[at - 1] == disk_byte(at - 1)) &&
           (at + bytes == sizeof u->disk || u->disk[at + bytes] == disk_byte(at + bytes));
    for (size_t i = 0; i < bytes; i++)
        u->disk[at + i] = disk_byte(at + i);
    return good;
}

static void test_aligned(uint32_t block_bytes)
{
    static const uint32_t lengths[] = { 1, 3, 8, 61 };
    unsigned good = 0, n = 0;

    open_drive(block_bytes);
    for (unsigned i = 0; i < 40; i++) { /* each ring goes round, and so does the ring of events */
        uint32_t sectors = lengths[i % 4];
        uint8_t *buffer = world.area + BORDER + (i % 3 == 0 ? -512 : (int)(i % 7 + 4) * LINE);

        good += reads(i * 3 % 64, sectors, buffer);
        good += writes(5 + i % 50, sectors, buffer);
        n += 2;
    }
    OK(good == n && n_wrong == 0, "blocks of %u bytes: %u of %u requests move what they should",
       block_bytes, good, n);
}

/* A line that the buffer shares with other data cannot be given to the controller, so the caller
 * copies. */
static void test_unaligned(void)
{
    static const int edges[] = { 1, 4, 32, LINE - 4, -4 };
    unsigned good = 0;

    open_drive(512);
    for (unsigned i = 0; i < 5; i++) {
        uint8_t *buffer = world.area + BORDER / 2 + edges[i];

        u->cdb[0] = 0;
        dirty(buffer, 512);
        good += move(7, 1, buffer, false) == ERR_RANGE && beside_stays(buffer, 512) &&
                move(7, 1, buffer, true) == ERR_RANGE && u->cdb[0] == 0;
    }
    OK(good == 5 && u->disk[7 * 512] == disk_byte(7 * 512) && n_wrong == 0,
       "buffers off the lines are refused before anything moves: %u of 5", good);
    OK(reads(7, 1, world.area + BORDER / 2), "a buffer on the lines is read");
}

/* Data in the lines next to a buffer change while the controller is at work. */
static void test_while_it_works(void)
{
    uint8_t *buffer = world.area + BORDER / 2;
    struct block_request r = { .sector = 9, .n_sectors = 2, .buffer = buffer };
    bool good = true;

    open_drive(512);
    dirty(buffer, 1024);
    OK(device.submit(&device, &r) == ERR_OK, "a read is under way");
    buffer[-1] = 1;
    buffer[1024] = 2;
    dma_log_evict_all();
    for (unsigned i = 0; i < POLLS && !r.done; i++)
        (void)device.poll(&device);
    for (size_t i = 0; i < 1024; i++)
        good = good && buffer[i] == disk_byte(9 * 512 + i);
    OK(r.done && r.status == ERR_OK && good && buffer[-1] == 1 && buffer[1024] == 2,
       "the data of a read arrive, and what was written beside them stays");
}

int main(void)
{
    test_aligned(512);
    test_aligned(4096);
    test_unaligned();
    test_while_it_works();
    return usb_done();
}
