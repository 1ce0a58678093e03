/* USB as real controllers and devices behave: the registers of a VL805 and of RP1's controllers, hubs behind hubs, a keyboard
 * with a hub in it, devices that answer slowly, disks that spin up, readers of several cards, a wrong residue. */
#include "board/drivers/usb/usb.h"

#include "tests/unit/board/fakes/fake_xhci.h"
#include "tests/unit/board/fakes/usb_done.h"
#include "tests/unit/tap.h"

enum { POLLS = 20000, SECTORS = 9 };
enum { TEST_READY = 0x00, SENSE = 0x03, INQUIRY = 0x12, MODE = 0x1a, START_STOP = 0x1b };

static struct usb usb;
static struct block_device *found[8];
static uint8_t buffer[SECTORS * 512];

static uint8_t disk_byte(unsigned unit, size_t at)
{
    return (uint8_t)(at * 11 + at / 512 * 5 + unit * 37 + 1);
}

static void clear(const struct fake_chip *chip)
{
    memset(&f, 0, sizeof f);
    n_wrong = 0;
    fake_chip = chip;
    for (unsigned u = 0; u < FAKE_UNITS; u++)
        for (size_t i = 0; i < sizeof f.units[u].disk; i++)
            f.units[u].disk[i] = disk_byte(u, i);
}

static struct fake_unit *put(unsigned unit, enum fake_kind kind, uint32_t speed, uint32_t port,
                             uint32_t route)
{
    struct fake_unit *u = &f.units[unit];

    u->kind = kind;
    u->speed = speed;
    u->port = port;
    u->route = route;
    u->number = (uint8_t)('1' + unit);
    plug(u);
    return u;
}

static unsigned open_all(void)
{
    const struct xhci_setup setup = fake_setup();

    memset(&usb, 0, sizeof usb);
    return usb_open(&usb, &setup, found, 8);
}

static bool reads(struct block_device *device, unsigned unit)
{
    struct block_request r = { .sector = 5, .n_sectors = SECTORS, .buffer = buffer };

    memset(buffer, 0, sizeof buffer);
    if (device == NULL || device->submit == NULL || device->submit(device, &r) != ERR_OK)
        return false;
    for (unsigned i = 0; i < POLLS && !r.done; i++)
        (void)device->poll(device);
    for (size_t i = 0; i < sizeof buffer; i++)
        if (buffer[i] != disk_byte(unit, 5 * 512 + i))
            return false;
    return r.done && r.status == ERR_OK;
}

static bool ends_with(const struct block_device *device, const char *end)
{
    size_t n = strlen(device->name), m = strlen(end);

    return n > m && strcmp(device->name + n - m, end) == 0;
}

/* Returns the text typed at the keyboard. */
static int typed(void)
{
    int c;

    f.now += 300;
    c = usb_take(&usb);
    return c >= 0 ? c : usb_take(&usb);
}

/* ---- controllers ---- */

static void test_chip(const struct fake_chip *chip)
{
    uint32_t super = chip->first_super;

    clear(chip);
    put(0, FAKE_DRIVE, XHCI_SPEED_HIGH, 1, 0);
    put(1, FAKE_DRIVE, XHCI_SPEED_SUPER, super, 0);
    OK(open_all() == 2 && usb.host.why == NULL, "%s opens, with 31 scratchpad pages or two: %s",
       chip->name, usb.host.why != NULL ? usb.host.why : "well");
    OK(reads(found[0], 0) && reads(found[1], 1) && n_wrong == 0,
       "%s: a stick of USB 2 and one of USB 3 are read", chip->name);
    OK(usb.drives[1].device.speed == XHCI_SPEED_SUPER, "%s: a stick of USB 3 runs at its speed",
       chip->name);
    (void)xhci_stop(&usb.host);
    OK(reads(found[0], 0) && reads(found[1], 1) && n_wrong == 0,
       "%s: both sticks are read after the controller was stopped", chip->name);
    pull(&f.units[1]);
    (void)reads(found[1], 1);
    plug(&f.units[1]);
    OK(reads(found[1], 1) && n_wrong == 0,
       "%s: the stick of USB 3 is read after it was pulled and is back", chip->name);
}

/* More requests than a ring has TRBs, so that each ring is read to its end while the other is in use. */
static void test_rings(const struct fake_chip *chip, uint32_t speed)
{
    unsigned n = 0;

    clear(chip);
    put(0, FAKE_DRIVE, speed, speed == XHCI_SPEED_SUPER ? chip->first_super : 1, 0);
    (void)open_all();
    for (unsigned i = 0; i < 3 * XHCI_RING; i++)
        n += reads(found[0], 0);
    OK(n == 3 * XHCI_RING && n_wrong == 0,
       "%s, speed %u: %u of %u reads are right, several times round the rings", chip->name,
       (unsigned)speed, n, 3 * XHCI_RING);
}

/* Pieces of a buffer that begins within a packet and crosses 64 KiB of the bus. */
static void test_pieces(const struct fake_chip *chip, uint32_t route)
{
    static _Alignas(1 << 16) uint8_t large[3 << 16];
    unsigned n = 0, n_all = 0;

    for (uint32_t before = 64; before < 3 * 1024; before += 64) {
        struct block_request r = {
            .sector = 5, .n_sectors = SECTORS, .buffer = large + (1 << 16) - before, .write = true
        };

        clear(chip);
        if (route != 0)
            put(1, FAKE_HUB, XHCI_SPEED_SUPER, chip->first_super, 0);
        put(0, FAKE_DRIVE, XHCI_SPEED_SUPER, chip->first_super, route);
        (void)open_all();
        for (size_t i = 0; i < SECTORS * 512; i++)
            large[(1 << 16) - before + i] = (uint8_t)(i * 7 + before);
        n_all++;
        if (found[0]->submit(found[0], &r) != ERR_OK)
            continue;
        for (unsigned i = 0; i < POLLS && !r.done; i++)
            (void)found[0]->poll(found[0]);
        n += r.done && r.status == ERR_OK && n_wrong == 0 &&
             memcmp(f.units[0].disk + 5 * 512, r.buffer, SECTORS * 512) == 0;
    }
    OK(n == n_all, "%s%s: %u of %u writes are right from anywhere in a packet", chip->name,
       route != 0 ? ", behind a hub" : "", n, n_all);
}

static void test_scratch(void)
{
    static const struct fake_chip greedy = { "a greedy one", 0x05000420, 0x0c400031,
                                             0x002841eb,     2,          false };

    clear(&greedy);
    put(0, FAKE_DRIVE, XHCI_SPEED_HIGH, 1, 0);
    OK(open_all() == 1 && strstr(found[0]->error_message, "more than 64 pages") != NULL,
       "a controller that wants 65 pages has an error message: %s",
       found[0]->error_message != NULL ? found[0]->error_message : "");
}

/* A VL805 whose program has just been loaded (xHCI 5.4.2: CNR). */
static void test_not_ready(void)
{
    clear(&fake_vl805);
    put(0, FAKE_DRIVE, XHCI_SPEED_HIGH, 1, 0);
    f.not_ready = 5;
    OK(open_all() == 1 && reads(found[0], 0) && n_wrong == 0,
       "no register is written before the controller is ready");
}

/* ---- hubs ---- */

/* A Pi 4's sockets are behind the hub in the VL805, Raspberry Pi's keyboard has a hub of its own. */
static void test_keyboard_with_hub(void)
{
    clear(&fake_vl805);
    put(0, FAKE_HUB, XHCI_SPEED_HIGH, 1, 0);
    put(1, FAKE_HUB, XHCI_SPEED_HIGH, 1, 0x2);
    put(2, FAKE_KEYBOARD, XHCI_SPEED_LOW, 1, 0x32);
    put(3, FAKE_DRIVE, XHCI_SPEED_HIGH, 1, 0x1);
    put(4, FAKE_DRIVE, XHCI_SPEED_FULL, 1, 0x12);
    OK(open_all() == 2 && usb_has_keyboard() && n_wrong == 0,
       "a keyboard with a hub in it opens, behind a hub");
    OK(usb.keyboard.device.route == 0x32 && usb.keyboard.device.port == 1,
       "the route of the keyboard is right");
    OK(f.units[2].n_leds == 1, "the keyboard's LEDs are set at the start");
    (void)typed();
    press(&f.units[2], 4, 8);
    OK(typed() == 'a', "a key arrives");
    press(&f.units[2], 0, 8);
    (void)typed();
    press(&f.units[2], 5, KEYBOARD_PACKET);
    OK(typed() == 'b' && usb_has_keyboard() && n_wrong == 0,
       "reports of more than 8 bytes are taken by their first 8");
    OK(ends_with(found[0], ", port 1.1") && ends_with(found[1], ", port 1.2.1") &&
           reads(found[0], 3) && reads(found[1], 4) && n_wrong == 0,
       "drives at either hub are read");
    pull(&f.units[1]);
    f.now += 300;
    (void)usb_look();
    (void)typed();
    OK(!usb_has_keyboard() && !reads(found[1], 4) && reads(found[0], 3),
       "the keyboard and the drive are gone when their hub is pulled");
    for (unsigned u = 1; u < 5; u++)
        if (u != 3)
            plug(&f.units[u]);
    for (unsigned i = 0; i < 8; i++) {
        f.now += 300;
        (void)usb_look();
        (void)usb_take(&usb);
    }
    OK(usb_has_keyboard() && reads(found[1], 4) && n_wrong == 0,
       "the keyboard and the drive are back with their hub");
}

/* Between a device and the controller are at most five hubs (USB 2.0 4.1.1). */
static void test_chain(uint32_t speed)
{
    clear(&fake_rp1);
    put(0, FAKE_HUB, speed, speed == XHCI_SPEED_SUPER ? 3 : 1, 0);
    put(1, FAKE_HUB, speed, f.units[0].port, 0x4);
    put(2, FAKE_HUB, speed, f.units[0].port, 0x34);
    put(3, FAKE_HUB, speed, f.units[0].port, 0x234);
    put(4, FAKE_HUB, speed == XHCI_SPEED_HIGH ? XHCI_SPEED_FULL : speed, f.units[0].port, 0x1234);
    put(5, FAKE_DRIVE, f.units[4].speed, f.units[0].port, 0x21234);
    OK(open_all() == 1 && ends_with(found[0], ".4.3.2.1.2") && reads(found[0], 5) && n_wrong == 0,
       "a drive behind five hubs is read at speed %u", (unsigned)speed);
}

static void test_many_hubs(void)
{
    clear(&fake_vl805);
    put(0, FAKE_HUB, XHCI_SPEED_HIGH, 1, 0);
    put(1, FAKE_DRIVE, XHCI_SPEED_HIGH, 1, 3);
    (void)open_all();
    for (unsigned i = 0; i < XHCI_HUBS; i++)
        if (usb.host.hubs[i].device.slot == 0)
            usb.host.hubs[i].device.slot = XHCI_SLOTS + 1;
    usb.host.news[1] = XHCI_NEW;
    OK(xhci_hub_open(&usb.host, 1) == ERR_NO_SPACE && usb.host.left_out != NULL &&
           strstr(usb.host.left_out, "eight hubs") != NULL,
       "a ninth hub is left alone, and a message says so");
}

static void test_many_descriptors(void)
{
    clear(&fake_vl805);
    put(0, FAKE_DRIVE, XHCI_SPEED_HIGH, 1, 0)->more_descriptors = XHCI_PAGE;
    OK(open_all() == 1 && reads(found[0], 0) && n_wrong == 0 && usb.host.left_out != NULL &&
           strstr(usb.host.left_out, "more than 4096 bytes") != NULL,
       "the drive of a device with more than 4096 bytes of descriptors works, with a message");
}

static void test_over_current(void)
{
    clear(&fake_vl805);
    put(0, FAKE_HUB, XHCI_SPEED_HIGH, 1, 0);
    (void)open_all();
    f.units[0].over_current = 1 << 2;
    put(1, FAKE_DRIVE, XHCI_SPEED_HIGH, 1, 2);
    for (unsigned i = 0; i < 8; i++) {
        f.now += 300;
        (void)usb_look();
    }
    OK(reads(&usb.devices[0], 1) && n_wrong == 0,
       "a port that was off for its current is on again");
}

/* ---- devices ---- */

static void test_translator(void)
{
    clear(&fake_vl805);
    put(0, FAKE_HUB, XHCI_SPEED_HIGH, 1, 0);
    put(1, FAKE_DRIVE, XHCI_SPEED_FULL, 1, 3);
    (void)open_all();
    f.units[1].fault = STALLED;
    f.units[1].times = 1;
    OK(!reads(found[0], 1) && reads(found[0], 1) && f.units[0].n_cleared == 1 && n_wrong == 0,
       "a stall behind a fast hub clears the hub's translator");
}

static void test_lost(enum fake_kind kind, const char *name)
{
    for (unsigned lost = 1; lost <= 2; lost++) {
        clear(&fake_vl805);
        put(0, kind, XHCI_SPEED_FULL, 1, 0)->lost_requests = lost;
        (void)open_all();
        OK((kind == FAKE_DRIVE ? reads(found[0], 0) : usb_has_keyboard()) && n_wrong == 0,
           "%s that does not answer %u requests at first works", name, lost);
    }
}

/* ---- a disk that spins up ---- */

static struct {
    uint64_t started; /* 0: nobody asked */
    uint32_t ms;
    bool waits_for_start;
} motor;

static bool turns(void)
{
    return motor.started != 0 && f.now - motor.started >= motor.ms;
}

static void disk_command(struct fake_unit *u)
{
    if (u->cdb[0] == START_STOP && motor.started == 0) {
        wrong(u->cdb[4] != 1);
        motor.started = f.now;
    }
    if (motor.started == 0 && !motor.waits_for_start)
        motor.started = f.now;
    u->failed = u->cdb[0] == TEST_READY && !turns();
    if (moves_blocks(u)) {
        u->fault = STALLED;
        u->times = !turns();
    }
}

static void disk_answer(struct fake_unit *u)
{
    if (u->cdb[0] != SENSE || turns())
        return;
    u->answer[2] = 2;
    u->answer[12] = 4;
    u->answer[13] = motor.started == 0 ? 2 : 1;
}

static bool opens_disk(uint32_t ms, bool waits_for_start)
{
    struct fake_unit *u;

    clear(&fake_vl805);
    memset(&motor, 0, sizeof motor);
    motor.ms = ms;
    motor.waits_for_start = waits_for_start;
    u = put(0, FAKE_DRIVE, XHCI_SPEED_SUPER, 2, 0);
    u->on_command = disk_command;
    u->on_answer = disk_answer;
    return open_all() == 1 && reads(found[0], 0) && n_wrong == 0;
}

static void test_disks(void)
{
    OK(opens_disk(8000, true), "a disk that is ready 8 s after it was asked to start is read");
    OK(opens_disk(15000, false), "a disk that spins up for 15 s by itself is read");
    OK(!opens_disk(40000, true) && found[0]->error_message != NULL,
       "a disk that never spins up has an error message");
    for (unsigned spins = 0; spins < 2; spins++) {
        (void)opens_disk(8000, true);
        motor.started = spins ? f.now : 0; /* it has stopped, and somebody may have woken it */
        OK(!reads(found[0], 0) && reads(found[0], 0) && n_wrong == 0,
           "a disk that has stopped by itself%s is started by the second request",
           spins ? " and spins up again" : "");
    }
}

/* ---- what drives answer ---- */

static void hang_at_modes(struct fake_unit *u)
{
    u->times = u->cdb[0] == MODE;
    if (u->cdb[0] == MODE)
        u->tag = 0;
}

/* A drive that was just connected fails its first commands. */
static unsigned inquiries;

static void fail_inquiries(struct fake_unit *u)
{
    u->times = u->cdb[0] == INQUIRY && inquiries++ < 4;
}

static void card_in_third(struct fake_unit *u)
{
    u->failed = u->cdb[0] == TEST_READY && u->lun != 2;
}

static void no_card(struct fake_unit *u)
{
    if (u->cdb[0] == SENSE && u->lun != 2) {
        u->answer[2] = 2;
        u->answer[12] = 0x3a;
    }
}

static void want_192(struct fake_unit *u)
{
    u->times = u->cdb[0] == MODE && u->wanted != 192;
}

static void test_answers(void)
{
    struct fake_unit *u;

    clear(&fake_vl805);
    u = put(0, FAKE_DRIVE, XHCI_SPEED_HIGH, 1, 0);
    u->wrong_residue = 512;
    OK(open_all() == 1 && reads(found[0], 0),
       "a stick that always tells that 512 bytes are left is read");
    u->fault = SHORT;
    u->times = 1;
    OK(!reads(found[0], 0), "a stick with a wrong residue and short data fails the read");
    clear(&fake_vl805);
    u = put(0, FAKE_DRIVE, XHCI_SPEED_HIGH, 1, 0);
    u->fault = SILENT;
    u->of_any = true;
    u->on_command = want_192;
    OK(open_all() == 1 && reads(found[0], 0),
       "a disk that knows only MODE SENSE of 192 bytes is read");
    u->on_command = hang_at_modes;
    OK(open_all() == 1 && found[0]->error_message == NULL && reads(found[0], 0) &&
           found[0]->writable,
       "a disk that hangs on MODE SENSE is reset and used without it");
    clear(&fake_vl805);
    u = put(0, FAKE_DRIVE, XHCI_SPEED_HIGH, 1, 0);
    u->fault = STALLED;
    u->of_any = true;
    u->on_command = fail_inquiries;
    OK(open_all() == 1 && found[0]->error_message == NULL && reads(found[0], 0) && inquiries == 5,
       "a disk that fails its first four INQUIRYs is read");
    clear(&fake_vl805);
    u = put(0, FAKE_DRIVE, XHCI_SPEED_HIGH, 1, 0);
    u->unit = 3;
    u->on_command = card_in_third;
    u->on_answer = no_card;
    OK(open_all() == 1 && found[0]->error_message == NULL && reads(found[0], 0) && u->lun == 2 &&
           n_wrong == 0,
       "a reader with a card in its third slot is read");
    pull(u);
    (void)reads(found[0], 0);
    u->on_command = NULL; /* a card of the same size is in each slot */
    plug(u);
    OK(reads(found[0], 0) && u->lun == 2 && n_wrong == 0,
       "the reader is back with cards in all slots, and the one in the third slot is read");
    pull(u);
    (void)reads(found[0], 0);
    u->unit = 1;
    plug(u);
    OK(!reads(found[0], 0) && n_wrong == 0, "a reader with fewer slots is another one");
}

/* An answer to an abandoned command does not belong to the next one. */
static void test_late_command(void)
{
    clear(&fake_vl805);
    put(0, FAKE_DRIVE, XHCI_SPEED_HIGH, 1, 0);
    (void)open_all();
    post(0x300000000 + 64, CODE_PARAMETER << 24, EVENT_COMMAND << 10);
    f.units[0].fault = STALLED;
    f.units[0].times = 1;
    OK(!reads(found[0], 0) && reads(found[0], 0) && n_wrong == 0,
       "a command's event that nobody waits for is dropped");
}

int main(void)
{
    test_chip(&fake_vl805);
    test_chip(&fake_rp1);
    test_rings(&fake_vl805, XHCI_SPEED_HIGH);
    test_rings(&fake_vl805, XHCI_SPEED_SUPER);
    test_rings(&fake_rp1, XHCI_SPEED_SUPER);
    test_pieces(&fake_vl805, 0);
    test_pieces(&fake_vl805, 0x2);
    test_pieces(&fake_rp1, 0);
    test_scratch();
    test_not_ready();
    test_keyboard_with_hub();
    test_chain(XHCI_SPEED_HIGH);
    test_chain(XHCI_SPEED_SUPER);
    test_many_hubs();
    test_many_descriptors();
    test_over_current();
    test_translator();
    test_lost(FAKE_DRIVE, "a drive");
    test_lost(FAKE_KEYBOARD, "a keyboard");
    test_disks();
    test_answers();
    test_late_command();
    return usb_done();
}
