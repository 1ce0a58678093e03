/* Any bytes as what a USB drive answers to SCSI commands (INQUIRY, TEST UNIT READY, REQUEST SENSE, READ CAPACITY (10) and (16),
 * MODE SENSE, READ, WRITE), and as what goes wrong at each of them. The driver refuses the drive by an error message or keeps its
 * books: a request ends once, none is left over, and what it calls well read is what the drive has. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FAKE_DISK_SECTORS 128

#include "board/drivers/usb/usb_storage.h"
#include "tests/unit/board/fakes/fake_xhci.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { REQUESTS = USB_STORAGE_DEPTH + 1, ROUNDS = 8, POLLS = 400, MOST = 48, ANSWER = 36 };
enum {
    OWN_ANSWER = 0x10,
    REFUSED = 0x20
}; /* bits in the byte that a command takes; the lower four are the fault */

static struct usb_storage drive;
static struct xhci host;
static struct block_device device;
static struct fake_unit *const u = &f.units[0];
static _Alignas(64) uint8_t buffers[REQUESTS][MOST * 512];

static struct input {
    const uint8_t *at, *end;
    bool lies; /* it lied about its size, so nobody knows which bytes are right */
    uint8_t mood;
} input;

static uint8_t take(void)
{
    return input.at < input.end ? *input.at++ : 0;
}

static uint8_t
    contents[FAKE_DISK_SECTORS * 512]; /* bytes of the drive; written bytes are the same */

static void make_contents(void)
{
    for (size_t i = 0; i < sizeof contents; i++)
        contents[i] = (uint8_t)(i * 7 + i / 512 * 13 + 1);
}

static void choose_fault(struct fake_unit *unit)
{
    input.mood = take();
    unit->fault = (input.mood & 15) <= LATE_EVENT ? (enum fault)(input.mood & 15) : WELL;
    unit->times = unit->fault != WELL;
    if (unit->wanted == 0)
        unit->failed = input.mood & REFUSED;
}

static void choose_answer(struct fake_unit *unit)
{
    if (!(input.mood & OWN_ANSWER))
        return;
    input.lies = input.lies || unit->cdb[0] == 0x25 || unit->cdb[0] == 0x9e;
    for (unsigned i = 0; i < ANSWER && i < unit->wanted; i++)
        unit->answer[i] = take();
}

static void set_up(void)
{
    uint8_t how = take();

    memset(&f, 0, sizeof f);
    memset(&host, 0, sizeof host);
    memset(&dma_log, 0, sizeof dma_log);
    u->speed = how & 1 ? XHCI_SPEED_SUPER : XHCI_SPEED_HIGH;
    u->first = how & 2 ? (1ull << 32) - DISK_SECTORS / 2 : 0;
    u->unit = how & 4 ? take() : 0;
    u->port = 1;
    u->of_any = true;
    u->on_command = choose_fault;
    u->on_answer = choose_answer;
    plug(u);
    if (contents[0] == 0)
        make_contents();
    memcpy(u->disk, contents, sizeof contents);
    host.setup = fake_setup();
}

static const uint8_t *right_bytes(const struct block_request *r)
{
    return contents + (r->sector - u->first) * 512;
}

static void check_row(const struct block_request *r, const bool *taken)
{
    uint32_t open = 0;

    for (unsigned i = 0; i < REQUESTS; i++)
        open += taken[i] && !r[i].done;
    if (open != drive.n_row)
        abort();
}

static void check_bytes(const struct block_request *r)
{
    if (r->status == ERR_OK && !input.lies &&
        memcmp(r->buffer, right_bytes(r), r->n_sectors * 512u) != 0)
        abort();
}

static void ask(void)
{
    struct block_request r[REQUESTS];
    bool taken[REQUESTS] = { false };

    if (!u->connected)
        plug(u);
    for (unsigned i = 0; i < REQUESTS; i++) {
        uint32_t n = 1 + take() % MOST, at = take() % (DISK_SECTORS - MOST);

        r[i] = (struct block_request){
            .sector = u->first + at, .n_sectors = n, .buffer = buffers[i], .write = take() & 1
        };
        memset(buffers[i], 0, sizeof buffers[i]);
        if (r[i].write)
            memcpy(buffers[i], right_bytes(&r[i]), n * 512u);
        taken[i] = device.submit(&device, &r[i]) == ERR_OK;
    }
    for (unsigned i = 0; i < POLLS && drive.n_row != 0; i++) {
        (void)device.poll(&device);
        check_row(r, taken);
    }
    (void)device.reset(&device);
    check_row(r, taken);
    if (drive.n_row != 0)
        abort();
    for (unsigned i = 0; i < REQUESTS; i++)
        if (taken[i])
            check_bytes(&r[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t block;

    input = (struct input){ data, data + size, false, 0 };
    set_up();
    if (xhci_start(&host) != ERR_OK)
        abort();
    if (usb_storage_open(&drive, &host, 1, xhci_n_places(&host), &device) != ERR_OK)
        return 0;
    block = device.block_bytes;
    if (device.error_message != NULL)
        return 0;
    if (device.n_sectors == 0 || block < 512 || block > USB_STORAGE_BLOCK ||
        (block & (block - 1)) != 0 || device.n_sectors % (block / 512) != 0 ||
        device.n_sectors > UINT64_MAX / 512)
        abort();
    for (unsigned round = 0; round < ROUNDS && input.at < input.end; round++)
        ask();
    return 0;
}
