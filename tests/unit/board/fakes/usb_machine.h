/* A USB driver at a controller that is a model, for tests of several devices: they are put in, pulled, read and looked
 * for. */
#ifndef INGOT_TESTS_UNIT_USB_MACHINE_H
#define INGOT_TESTS_UNIT_USB_MACHINE_H

#include "board/board.h"
#include "board/drivers/usb/usb.h"

#include "tests/unit/board/fakes/fake_xhci.h"

enum { POLLS = 20000, SECTORS = 9, LOOKS = 8 };

static struct usb usb;
static struct block_device *found[8];
static uint8_t buffers[USB_DRIVES][SECTORS * 512];

static inline uint8_t disk_byte(unsigned unit, size_t at)
{
    return (uint8_t)(at * 7 + at / 512 * 13 + unit * 101 + 1);
}

static inline void clear(void)
{
    memset(&f, 0, sizeof f);
    n_wrong = 0;
    for (unsigned u = 0; u < FAKE_UNITS; u++)
        for (size_t i = 0; i < sizeof f.units[u].disk; i++)
            f.units[u].disk[i] = disk_byte(u, i);
}

static inline void put(unsigned unit, enum fake_kind kind, uint32_t speed, uint32_t port,
                       uint32_t route)
{
    struct fake_unit *u = &f.units[unit];

    u->kind = kind;
    u->speed = speed;
    u->port = port;
    u->route = route;
    plug(u);
}

static inline unsigned open_all(void)
{
    const struct xhci_setup setup = fake_setup();

    memset(&usb, 0, sizeof usb);
    return usb_open(&usb, &setup, found, 8);
}

static inline bool is_of(const uint8_t *data, unsigned unit, uint64_t sector)
{
    for (size_t i = 0; i < SECTORS * 512; i++)
        if (data[i] != disk_byte(unit, (size_t)sector * 512 + i))
            return false;
    return true;
}

static inline enum err read_from(struct block_device *device)
{
    static struct block_request r; /* a silent drive keeps it after the return */
    enum err e;

    r = (struct block_request){ .sector = 5, .n_sectors = SECTORS, .buffer = buffers[0] };
    memset(buffers[0], 0, sizeof buffers[0]);
    e = device->submit(device, &r);
    for (unsigned i = 0; e == ERR_OK && i < POLLS && !r.done; i++)
        (void)device->poll(device);
    return e != ERR_OK ? e : r.done ? r.status : ERR_BUSY;
}

/* Returns the unit whose data a device has; -1: none. */
static inline int unit_read(struct block_device *device)
{
    if (read_from(device) != ERR_OK)
        return -1;
    for (unsigned u = 0; u < FAKE_UNITS; u++)
        if (is_of(buffers[0], u, 5))
            return (int)u;
    return -2;
}

static inline bool has_name(const struct block_device *device, const char *end)
{
    size_t n = strlen(device->name), m = strlen(end);

    return n > m && strcmp(device->name + n - m, end) == 0;
}

/* Checks the next reports, by the end of the name and whether it can be used; NULL: nothing.
 * Contacts settle between two of them. */
static inline const struct block_device *looks(void)
{
    const struct block_device *d = NULL;

    for (unsigned i = 0; i < 4 && d == NULL; i++) {
        f.now += 300;
        d = usb_look();
    }
    return d;
}

static inline bool tells(unsigned drive, const char *end, bool works)
{
    const struct block_device *d = looks();

    return d == &usb.devices[drive] && has_name(d, end) && (d->error_message == NULL) == works;
}

/* ---- drives that fail, by number ---- */

static unsigned n_silent; /* so many INQUIRY have no answer */

static inline void answer_no_inquiry(struct fake_unit *unit)
{
    unit->times = unit->cdb[0] == 0x12 && n_silent != 0;
    n_silent -= unit->times;
}

static inline void be_silent(struct fake_unit *unit, unsigned n)
{
    unit->fault = SILENT;
    unit->of_any = true;
    unit->on_command = answer_no_inquiry;
    n_silent = n;
}

/* A unit in front of its port's number, with a serial number of its own. */
static inline void put_drive(unsigned unit, uint32_t port)
{
    put(unit, FAKE_DRIVE, XHCI_SPEED_HIGH, port, 0);
    f.units[unit].number = (uint8_t)('1' + unit);
}

/* ---- the watchdog, and a prompt ---- */

static uint64_t fed, longest; /* when the watchdog was fed; its longest wait, in ms */

static inline void feed(void)
{
    longest = f.now - fed > longest ? f.now - fed : longest;
    fed = f.now;
}

const struct board board = { .name = "fake", .alive = feed };

static inline void start_watch(void)
{
    longest = 0;
    fed = f.now;
}

/* Look several times. Returns the watchdog's longest wait. */
static inline unsigned wait_in_looks(void)
{
    start_watch();
    for (unsigned i = 0; i < 8; i++) {
        f.now += 300;
        (void)usb_look();
        feed();
    }
    return (unsigned)longest;
}

/* Look at the ports LOOKS times, as at a prompt. Returns the number of reports. */
static inline unsigned n_reports(void)
{
    unsigned n = 0;

    for (unsigned i = 0; i < LOOKS; i++) {
        f.now += 300;
        n += usb_look() != NULL;
        (void)usb_take(&usb);
    }
    return n;
}

/* Read keys for a second. */
static inline void take_keys(void)
{
    for (unsigned i = 0; i < 4; i++) {
        f.now += 300;
        (void)usb_take(&usb);
    }
}

#endif
