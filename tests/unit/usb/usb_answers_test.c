/* A USB drive's answers to SCSI commands at its start: wrong ones have an error message each, and
 * those that are only unusual are taken. tests/fuzz/usb_storage_fuzz.c tries any bytes. */
#include "board/drivers/usb/usb_storage.h"

#include "tests/unit/board/fakes/fake_xhci.h"
#include "tests/unit/board/fakes/usb_done.h"
#include "tests/unit/tap.h"

enum {
    INQUIRY = 0x12,
    READY = 0x00,
    SENSE = 0x03,
    CAPACITY = 0x25,
    LONG_CAPACITY = 0x9e,
    MODE = 0x1a
};

struct answer {
    const char *name;
    uint8_t command;
    enum fault fault; /* WELL: it answers */
    bool refused;     /* the command fails, and `bytes` is its sense */
    uint8_t bytes[18];
    const char *why; /* NULL: it is taken */
};

static const struct answer rows[] = {
    { "a CD drive", INQUIRY, WELL, false, { 5 }, "is not a disk: use a drive" },
    { "a unit that is not there", INQUIRY, WELL, false, { 0x7f }, "is not a disk: use a drive" },
    { "an INQUIRY that stalls", INQUIRY, STALLED, false, { 0 }, "is not a disk: use a drive" },
    { "an INQUIRY without end", INQUIRY, SILENT, false, { 0 }, "does not answer as it should" },
    { "no medium", READY, WELL, true, { 0x70, 0, 2, [12] = 0x3a }, "the USB reader is empty" },
    { "no medium, as descriptors",
      READY,
      WELL,
      true,
      { 0x72, 2, 0x3a },
      "the USB reader is empty" },
    { "no medium, but the sense is none",
      READY,
      WELL,
      true,
      { 0x12, 2, 2, [12] = 0x3a },
      "does not become ready" },
    { "a motor that never runs",
      READY,
      WELL,
      true,
      { 0x70, 0, 2, [12] = 4 },
      "does not become ready" },
    { "a phase error",
      READY,
      OUT_OF_STEP,
      false,
      { 0 },
      "does not answer as it should: use another" },
    { "no size", CAPACITY, STALLED, false, { 0 }, "does not report its size" },
    { "half of a size", CAPACITY, SHORT, false, { 0, 0, 1 }, "are not 512 to 4096 bytes" },
    { "blocks of nothing",
      CAPACITY,
      WELL,
      false,
      { 0, 0, 1, 0, 0, 0, 0, 0 },
      "are not 512 to 4096 bytes" },
    { "blocks of 520",
      CAPACITY,
      WELL,
      false,
      { 0, 0, 1, 0, 0, 0, 2, 8 },
      "are not 512 to 4096 bytes" },
    { "blocks of 1536",
      CAPACITY,
      WELL,
      false,
      { 0, 0, 1, 0, 0, 0, 6, 0 },
      "are not 512 to 4096 bytes" },
    { "blocks of 8192",
      CAPACITY,
      WELL,
      false,
      { 0, 0, 1, 0, 0, 0, 32, 0 },
      "are not 512 to 4096 bytes" },
    { "blocks of 2 GiB",
      CAPACITY,
      WELL,
      false,
      { 0, 0, 1, 0, 128, 0, 0, 0 },
      "are not 512 to 4096 bytes" },
    { "blocks of 2048", CAPACITY, WELL, false, { 0, 0, 1, 0, 0, 0, 8, 0 }, NULL },
    { "more than can be",
      LONG_CAPACITY,
      WELL,
      false,
      { 255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 2 },
      "does not report its size" },
    { "a size of more than 2 TiB, of which the drive does not know the command",
      LONG_CAPACITY,
      STALLED,
      true,
      { 0x70, 0, 5, [12] = 0x20 },
      NULL },
    { "a card that is gone when its size of more than 2 TiB is asked",
      LONG_CAPACITY,
      STALLED,
      true,
      { 0x70, 0, 2, [12] = 0x3a },
      "does not report its size" },
    { "a card that is replaced when its size of more than 2 TiB is asked",
      LONG_CAPACITY,
      STALLED,
      true,
      { 0x70, 0, 6, [12] = 0x28 },
      "does not report its size" },
    { "a size of more than 2 TiB without end",
      LONG_CAPACITY,
      SILENT,
      false,
      { 0 },
      "does not report its size" },
    { "a size of more than 2 TiB in blocks of nothing",
      LONG_CAPACITY,
      WELL,
      false,
      { 0, 0, 0, 2 },
      "are not 512 to 4096 bytes" },
    { "no pages of modes", MODE, STALLED, false, { 0 }, NULL },
    { "a lock that is on", MODE, WELL, false, { 3, 0, 0x80 }, NULL },
};

static struct usb_storage drive;
static struct xhci host;
static struct block_device device;
static struct fake_unit *const u = &f.units[0];
static const struct answer *row;

static void begin(struct fake_unit *unit)
{
    bool mine = unit->cdb[0] == row->command;

    unit->times = mine;
    unit->failed = mine && row->refused && row->fault == WELL;
}

static void answer(struct fake_unit *unit)
{
    uint8_t command = row->refused ? SENSE : row->command;

    if (unit->cdb[0] == command)
        memcpy(unit->answer, row->bytes, sizeof row->bytes);
}

static enum err open_drive(void)
{
    memset(&f, 0, sizeof f);
    memset(&host, 0, sizeof host);
    u->speed = XHCI_SPEED_HIGH;
    u->port = 1;
    u->first = row->command == LONG_CAPACITY ? 1ull << 32 : 0;
    u->fault = row->fault;
    u->of_any = true;
    u->on_command = begin;
    u->on_answer = answer;
    plug(u);
    host.setup = fake_setup();
    if (xhci_start(&host) != ERR_OK)
        return ERR_IO;
    return usb_storage_open(&drive, &host, 1, xhci_n_places(&host), &device);
}

int main(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bool good;
        enum err e;

        row = &rows[i];
        e = open_drive();
        good = e == ERR_OK && (row->why == NULL) == (device.error_message == NULL);
        if (row->why != NULL)
            good = good && strstr(device.error_message, row->why) != NULL &&
                   strstr(device.error_message, ": ") != NULL;
        else
            good = good && device.n_sectors != 0 && device.writable != (row->bytes[2] == 0x80);
        OK(good, "%s has its result: %s", row->name,
           device.error_message != NULL ? device.error_message : "it is taken");
    }
    return usb_done();
}
