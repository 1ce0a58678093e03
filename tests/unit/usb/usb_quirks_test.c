/* Devices with the quirks that Linux's tables list: they need longer pauses, shorter transfers, or
 * more time for their first answers. */
#define FAKE_DISK_SECTORS 512
#include "tests/unit/board/fakes/usb_done.h"
#include "tests/unit/board/fakes/usb_machine.h"
#include "tests/unit/tap.h"

enum { INQUIRY = 0x12, TEST_READY = 0, CAPACITY = 0x25, TRIES = 4 /* of the file layer */ };

static const char *const when[] = { "plugged in", "at the start" };

static void look(unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        f.now += 300;
        (void)usb_look();
        (void)usb_take(&usb);
    }
}

/* Start with the devices, or without unit 0, which is then plugged in. */
static void begin(bool at_start)
{
    if (!at_start)
        pull(&f.units[0]);
    (void)open_all();
    look(LOOKS);
    if (!at_start) {
        plug(&f.units[0]);
        look(LOOKS);
    }
}

static bool is_read(void)
{
    return usb.devices[0].submit != NULL && unit_read(&usb.devices[0]) == 0;
}

/* ---- pauses ---- */

static void test_pause(unsigned ms, bool fails, bool behind_hub, bool at_start)
{
    enum fake_kind kind = FAKE_DRIVE;

    for (unsigned i = 0; i < 2; i++, kind = FAKE_KEYBOARD) {
        bool good;

        clear();
        if (behind_hub)
            put(5, FAKE_HUB, XHCI_SPEED_HIGH, 1, 0);
        put(0, kind, kind == FAKE_DRIVE ? XHCI_SPEED_HIGH : XHCI_SPEED_FULL, 1, behind_hub);
        f.units[0].number = '7';
        f.units[0].quirks = (struct fake_quirks){ .pause_ms = ms, .fails = fails };
        begin(at_start);
        good = kind == FAKE_DRIVE ? is_read() : usb_has_keyboard();
        OK(good && n_wrong == 0, "a %s that hangs without a pause of %u ms works: %s%s%s",
           kind == FAKE_DRIVE ? "stick" : "keyboard", ms, when[at_start],
           behind_hub ? ", behind a hub" : "", fails ? ", with errors" : "");
        if (kind != FAKE_DRIVE)
            continue;
        pull(&f.units[0]);
        look(LOOKS);
        plug(&f.units[0]);
        look(LOOKS);
        OK(is_read(), "and when it is plugged in again");
    }
}

/* A healthy device does not wait. */
static void test_healthy(void)
{
    uint64_t before;

    clear();
    put_drive(0, 1);
    before = f.now;
    (void)open_all();
    OK(is_read() && f.now - before < 1000, "a healthy stick is read after %u ms",
       (unsigned)(f.now - before));
}

static void test_slow_hub(unsigned ms, enum fake_kind kind, bool at_start)
{
    bool good;

    clear();
    put(5, FAKE_HUB, XHCI_SPEED_HIGH, 1, 0);
    f.units[5].quirks.recovery_ms = ms;
    put(0, kind, kind == FAKE_DRIVE ? XHCI_SPEED_HIGH : XHCI_SPEED_FULL, 1, 2);
    f.units[0].number = '7';
    begin(at_start);
    good = kind == FAKE_DRIVE ? is_read() : usb_has_keyboard();
    OK(good && n_wrong == 0,
       "a %s works behind a hub whose devices need %u ms after their reset: %s",
       kind == FAKE_DRIVE ? "stick" : "keyboard", ms, when[at_start]);
}

/* ---- texts ---- */

static void test_text(bool fails, bool at_start)
{
    const struct usb_storage *s = &usb.drives[0];
    uint32_t serial;

    clear();
    put_drive(0, 1);
    begin(at_start);
    serial = s->serial;
    clear();
    put_drive(0, 1);
    f.units[0].quirks = (struct fake_quirks){ .no_long_text = true, .fails = fails };
    begin(at_start);
    OK(is_read() && n_wrong == 0, "a stick that hangs at a request for 255 bytes of text works: %s",
       when[at_start]);
    OK(serial != 0 && s->serial == serial, "it has the serial number that a healthy one has");
}

/* ---- transfers ---- */

static uint32_t most_sectors;
static enum fault long_fault;
static unsigned n_too_long;

static void fail_long(struct fake_unit *u)
{
    bool moves = u->cdb[0] == 0x28 || u->cdb[0] == 0x2a;

    u->fault = long_fault;
    u->times = moves && u->wanted > most_sectors * 512;
    n_too_long += u->times;
}

/* True if one of the file layer's tries moves so many sectors. */
static bool moves(uint32_t n_sectors, bool write)
{
    static _Alignas(65536) uint8_t data[512 * 512];
    struct block_device *d = &usb.devices[0];

    for (unsigned i = 0; i < TRIES; i++) {
        struct block_request r = { .n_sectors = n_sectors, .buffer = data, .write = write };

        memset(data, 0x5a, sizeof data);
        if (d->submit(d, &r) != ERR_OK)
            continue;
        for (unsigned k = 0; k < 10 * POLLS && !r.done; k++)
            (void)d->poll(d);
        if (!r.done)
            (void)d->reset(d);
        else if (r.status == ERR_OK)
            return memcmp(data, f.units[0].disk, n_sectors * 512) == 0;
    }
    return false;
}

static void test_transfers(uint32_t most, enum fault fault, bool write)
{
    clear();
    put_drive(0, 1);
    (void)open_all();
    most_sectors = most;
    long_fault = fault;
    n_too_long = 0;
    f.units[0].on_command = fail_long;
    OK(moves(DISK_SECTORS, write) && n_too_long > 0 && n_too_long <= 2,
       "a drive that %s if a command moves more than %u sectors %s %u: %u",
       fault == SILENT ? "hangs" : "fails", most, write ? "writes" : "reads",
       (unsigned)DISK_SECTORS, n_too_long);
    n_too_long = 0;
    OK(moves(DISK_SECTORS, write) && n_too_long == 0, "and later commands are short enough");
}

/* ---- a bridge that answers when its disk spins ---- */

static void test_spin(uint8_t command, unsigned ms, bool at_start)
{
    clear();
    put_drive(0, 1);
    f.units[0].quirks = (struct fake_quirks){ .held = command, .held_until = ms };
    start_watch();
    begin(at_start);
    OK(is_read() && n_wrong == 0 && longest < 15000,
       "a disk whose bridge answers command %02x after %u ms is read: %s", command, ms,
       when[at_start]);
}

static void test_spin_known(void)
{
    uint64_t before;

    clear();
    put_drive(0, 1);
    begin(true);
    pull(&f.units[0]);
    plug(&f.units[0]);
    f.units[0].quirks = (struct fake_quirks){ .held = INQUIRY, .held_until = UINT64_MAX };
    (void)is_read(); /* notes that it was pulled */
    before = f.now;
    OK(!is_read() && f.now - before >= 5000 && f.now - before < 15000,
       "a request to a known drive that does not answer fails after %u ms",
       (unsigned)(f.now - before));
}

int main(void)
{
    test_healthy();
    for (unsigned start = 0; start < 2; start++) {
        for (unsigned fails = 0; fails < 2; fails++) {
            test_pause(200, fails, false, start);
            test_pause(2000, fails, true, start);
            test_text(fails, start);
        }
        test_slow_hub(45, FAKE_DRIVE, start);
        test_slow_hub(100, FAKE_KEYBOARD, start);
        test_spin(INQUIRY, 15000, start);
        test_spin(TEST_READY, 15000, start);
        test_spin(CAPACITY, 15000, start);
    }
    test_spin_known();
    for (unsigned write = 0; write < 2; write++) {
        test_transfers(64, STALLED, write);
        test_transfers(64, SILENT, write);
    }
    return usb_done();
}
