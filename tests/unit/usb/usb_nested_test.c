/* Hubs behind hubs, and hubs while three drives are known: what is found again after the outer hub was released, and
 * what the user is told. Ports are counted from the root: 1.3.2 is port 2 of the hub at port 3 of the hub at port 1. */
#include "tests/unit/board/fakes/usb_done.h"
#include "tests/unit/board/fakes/usb_machine.h"
#include "tests/unit/tap.h"

/* Routes of eight hubs. */
static const uint32_t eight[XHCI_HUBS] = { 0, 1, 2, 3, 4, 0x11, 0x12, 0x13 };
static struct fake_unit *const outer = &f.units[0], *const inner = &f.units[1];

/* Two hubs, drives as units 2 to 4, of which n_behind are behind the inner hub, and a keyboard as unit 5. */
static void open_nested(unsigned n_behind, uint32_t keyboard_port, uint32_t keyboard_route)
{
    clear();
    put(0, FAKE_HUB, XHCI_SPEED_HIGH, 1, 0);
    put(1, FAKE_HUB, XHCI_SPEED_HIGH, 1, 3);
    for (unsigned i = 0; i < 3; i++) {
        put_drive(i + 2, i + 2);
        if (i < n_behind)
            put(i + 2, FAKE_DRIVE, XHCI_SPEED_HIGH, 1, 0x13 + i * 0x10);
    }
    put(5, FAKE_KEYBOARD, XHCI_SPEED_LOW, keyboard_port, keyboard_route);
    (void)open_all();
}

static bool both_are_open(void)
{
    return usb.host.hubs[0].device.slot != 0 && usb.host.hubs[1].device.slot != 0;
}

/* Drives elsewhere; the hubs go and come back. Then one drive is plugged in behind the inner hub instead. */
static void test_full(const char *how, uint32_t keyboard_port, uint32_t keyboard_route)
{
    unsigned n;

    open_nested(0, keyboard_port, keyboard_route);
    if (strcmp(how, "disabled") == 0)
        outer->enabled = false;
    else if (strcmp(how, "mute for a while") == 0)
        outer->lost_requests = 3;
    else {
        outer->over_current = 1 << 3;
        plug(inner);
    }
    n = n_reports();
    OK(n == 0 && both_are_open() && usb.keyboard.device.slot != 0,
       "outer hub %s, three drives: both hubs are back without a word (%u reports)", how, n);
    pull(&f.units[4]);
    (void)looks();
    put(4, FAKE_DRIVE, XHCI_SPEED_HIGH, 1, 0x13);
    f.units[4].number = '9';
    OK(tells(2, ", port 1.3.1", true) && unit_read(&usb.devices[2]) == 4 && n_wrong == 0,
       "and a new drive behind the inner one is found");
}

static void test_drives_behind(unsigned n_behind, bool in_use)
{
    unsigned n;

    open_nested(n_behind, 5, 0);
    for (unsigned i = 0; i < 3; i++)
        usb.devices[i].in_use = in_use;
    outer->enabled = false;
    n = n_reports();
    OK(n == 0 && both_are_open(),
       "%u drives behind two hubs are not told as unplugged when the outer one comes back",
       n_behind);
    for (unsigned i = n = 0; i < 3; i++)
        n += unit_read(&usb.devices[i]) >= 2;
    OK(n == 3 && n_wrong == 0, "and all three can be read (%u)", n);
    pull(outer);
    n = n_reports();
    OK(n == n_behind, "all %u are told as unplugged when it is pulled", n);
}

/* A look ends at the first device that it takes, and the next one begins behind that. Here it begins between the two
 * hubs, after a drive (or a mouse) came to a port between them. */
static void test_look_begins_between(bool keys_first, enum fake_kind kind)
{
    unsigned n;

    clear();
    put(0, FAKE_HUB, XHCI_SPEED_HIGH, 1, 0);
    put(1, FAKE_HUB, XHCI_SPEED_HIGH, 1, 3);
    for (unsigned i = 2; i < 4; i++) {
        put(i, FAKE_DRIVE, XHCI_SPEED_HIGH, 1, 0x10 * (i - 1) + 3);
        f.units[i].number = (uint8_t)('0' + i);
    }
    put(4, FAKE_KEYBOARD, XHCI_SPEED_LOW, 1, 1);
    (void)open_all();
    (void)n_reports();
    put(5, kind, kind == FAKE_DRIVE ? XHCI_SPEED_SUPER : XHCI_SPEED_LOW, 3, 0);
    f.units[5].number = '5';
    n = n_reports();
    OK(n == (kind == FAKE_DRIVE), "a drive that comes is told, a mouse is not (%u)", n);
    outer->enabled = false;
    if (keys_first)
        take_keys();
    n = n_reports();
    OK(n == 0 && n_wrong == 0, "drives behind two hubs are not told, wherever the look begins (%u)",
       n);
}

/* The first look after the outer hub was released opens a new hub elsewhere. */
static void test_other_is_first(void)
{
    unsigned n;

    open_nested(1, 5, 0);
    pull(&f.units[4]);
    (void)n_reports();
    put(4, FAKE_HUB, XHCI_SPEED_HIGH, 4, 0);
    f.now += 300;
    (void)usb_look(); /* which notes it; the next one takes it */
    outer->enabled = false;
    usb.last_place = 1;
    n = n_reports();
    OK(n == 0 && n_wrong == 0,
       "a drive behind two closed hubs is not told before a look opens them (%u)", n);
}

/* Three drives are known, one of which is gone and has no open files, so its slot may be taken. */
static void test_hub_takes_no_slot(void)
{
    unsigned n;

    clear();
    for (unsigned i = 0; i < 3; i++)
        put_drive(i, i + 1);
    put(5, FAKE_KEYBOARD, XHCI_SPEED_LOW, 5, 0);
    (void)open_all();
    pull(&f.units[1]);
    OK(tells(1, ", port 2", false), "a drive is pulled");
    put(4, FAKE_HUB, XHCI_SPEED_HIGH, 4, 0);
    n = n_reports();
    OK(n == 0 && usb.host.hubs[0].device.slot != 0 && usb.devices[1].n_sectors != 0,
       "a hub that comes does not take its slot (%u)", n);
}

/* A hub with drives comes back after a hub with a lower number was pulled. */
static void test_number(bool nested)
{
    unsigned n;

    clear();
    put(0, FAKE_HUB, XHCI_SPEED_HIGH, 1, 0);
    put(1, FAKE_HUB, XHCI_SPEED_HIGH, 2, 0);
    if (nested)
        put(2, FAKE_HUB, XHCI_SPEED_HIGH, 2, 3);
    for (unsigned i = 3; i < 5; i++) {
        put(i, FAKE_DRIVE, XHCI_SPEED_HIGH, 2, nested ? 0x10 * (i - 2) + 3 : i - 2);
        f.units[i].number = (uint8_t)('0' + i);
    }
    put(5, FAKE_KEYBOARD, XHCI_SPEED_LOW, 5, 0);
    (void)open_all();
    pull(&f.units[0]);
    (void)n_reports();
    f.units[1].enabled = false;
    n = n_reports();
    OK(n == 0 && n_wrong == 0, "a hub keeps its number, and its drives are not told (%u)", n);
}

/* Nothing tries whether a device behind five hubs is a hub, so its change is not cleared by a reset. */
static void test_behind_five(void)
{
    static const uint32_t routes[] = { 0, 1, 0x11, 0x111, 0x1111 };
    unsigned n;

    clear();
    for (unsigned i = 0; i < XHCI_TIERS; i++)
        put(i, FAKE_HUB, XHCI_SPEED_HIGH, 1, routes[i]);
    for (unsigned i = 0; i < 3; i++)
        put_drive(XHCI_TIERS + i, 2 + i);
    put(8, FAKE_KEYBOARD, XHCI_SPEED_LOW, 5, 0);
    (void)open_all();
    put(9, FAKE_DRIVE, XHCI_SPEED_HIGH, 1, 0x11111);
    n = n_reports();
    OK(n == 1 && n_wrong == 0, "a drive too many behind five hubs is reported once (%u)", n);
    pull(&f.units[9]);
    put(9, FAKE_HUB, XHCI_SPEED_HIGH, 1, 0x11111);
    f.n_addresses = 0;
    n = n_reports();
    OK(n == 1 && f.n_addresses == 0, "and so is a hub, which gets no address there (%u)", n);
}

/* A hub whose ports' state never comes is opened again by one request, not by each. */
static void test_tells_no_port(void)
{
    unsigned n = 0;

    clear();
    put(0, FAKE_HUB, XHCI_SPEED_HIGH, 1, 0);
    put(1, FAKE_DRIVE, XHCI_SPEED_HIGH, 1, 1);
    (void)open_all();
    usb.devices[0].in_use = true;
    outer->tells_no_port = true;
    pull(&f.units[1]);
    for (unsigned i = 0; i < 6; i++) {
        outer->n_power = 0;
        (void)unit_read(&usb.devices[0]);
        n += outer->n_power != 0;
    }
    OK(n == 1, "a hub that tells of no port is opened again by %u of 6 requests", n);
}

/* Three drives are known; the hub of one of them falls silent. */
static void test_mute_with_drive(bool in_use)
{
    uint64_t before;
    unsigned n;

    clear();
    put(0, FAKE_HUB, XHCI_SPEED_HIGH, 1, 0);
    put(1, FAKE_DRIVE, XHCI_SPEED_HIGH, 1, 1);
    put_drive(2, 2);
    put_drive(3, 3);
    put(4, FAKE_KEYBOARD, XHCI_SPEED_LOW, 5, 0);
    (void)open_all();
    for (unsigned i = 0; i < 3; i++)
        usb.devices[i].in_use = in_use;
    outer->mute = true;
    n = n_reports();
    OK(n == 1, "the drive of a hub that falls silent is told as unplugged (%u)", n);
    before = f.now;
    n = n_reports();
    OK(n == 0 && f.now - before < LOOKS * 310, "and the hub is left alone: %u looks take %u ms",
       LOOKS, (unsigned)(f.now - before));
}

/* Each request for a drive that is gone tries all places. */
static void test_requests_and_eight_hubs(void)
{
    unsigned n = 0;

    clear();
    for (unsigned i = 0; i < XHCI_HUBS; i++)
        put(i, FAKE_HUB, XHCI_SPEED_HIGH, 1, eight[i]);
    put_drive(8, 2);
    put(10, FAKE_KEYBOARD, XHCI_SPEED_LOW, 5, 0);
    put(11, FAKE_KEYBOARD, XHCI_SPEED_LOW, 1, 0x14);
    (void)open_all();
    (void)n_reports();
    usb.devices[0].in_use = true;
    pull(&f.units[8]);
    (void)n_reports();
    for (unsigned i = 0; i < 4; i++) {
        (void)unit_read(&usb.devices[0]);
        n += n_reports();
    }
    OK(n == 0, "requests do not report a device beside eight hubs again (%u)", n);
}

/* The search for the keyboard opens the hub again, and its ports do not answer. */
static void test_half_mute_full(bool keys_first)
{
    unsigned n;

    clear();
    put(0, FAKE_HUB, XHCI_SPEED_HIGH, 1, 0);
    put(1, FAKE_KEYBOARD, XHCI_SPEED_LOW, 1, 1);
    for (unsigned i = 2; i < 5; i++)
        put_drive(i, i);
    (void)open_all();
    outer->tells_no_port = true;
    if (keys_first)
        take_keys();
    n = n_reports();
    OK(n == 0, "a hub that tells of no port is not told as a drive too many (%u)", n);
}

static void test_mute_full(void)
{
    clear();
    put(0, FAKE_HUB, XHCI_SPEED_HIGH, 1, 0);
    put(1, FAKE_KEYBOARD, XHCI_SPEED_LOW, 1, 1);
    for (unsigned i = 2; i < 5; i++)
        put_drive(i, i);
    (void)open_all();
    outer->mute = true;
    OK(n_reports() == 0, "a hub that stops answering is not told as a drive too many");
}

/* Pulled and plugged in again while no look comes, as during a reply. */
static void test_ignored_again(void)
{
    clear();
    put(0, FAKE_KEYBOARD, XHCI_SPEED_LOW, 5, 0);
    for (unsigned i = 1; i < 4; i++)
        put_drive(i, i);
    (void)open_all();
    put_drive(4, 4);
    OK(n_reports() == 1, "a fourth drive is reported once");
    pull(&f.units[4]);
    pull(&f.units[1]);
    take_keys();
    plug(&f.units[4]);
    take_keys();
    OK(tells(0, ", port 1", false) && tells(0, ", port 4", true) && unit_read(&usb.devices[0]) == 4,
       "and is taken when it comes again after another was pulled");
}

/* Nothing attaches a device that may be a hub too many, so only its report takes note of it. */
static void test_full_of_both(void)
{
    unsigned n = 0;

    clear();
    for (unsigned i = 0; i < XHCI_HUBS; i++)
        put(i, FAKE_HUB, XHCI_SPEED_HIGH, 1, eight[i]);
    for (unsigned i = 0; i < 3; i++)
        put_drive(XHCI_HUBS + i, i + 2);
    put(XHCI_HUBS + 3, FAKE_KEYBOARD, XHCI_SPEED_LOW, 1, 0x14);
    (void)open_all();
    for (unsigned i = 0; i < XHCI_HUBS; i++)
        n += usb.host.hubs[i].device.slot != 0;
    OK(n == XHCI_HUBS && usb.n_drives == 3, "%u hubs and three drives are known", n);
    (void)n_reports(); /* the keyboard, which came after eight hubs, may be one, too */
    put_drive(XHCI_HUBS + 4, 5);
    n = n_reports();
    OK(n == 1, "one device more is reported once (%u)", n);
    pull(&f.units[XHCI_HUBS + 4]);
    put(XHCI_HUBS + 4, FAKE_DRIVE, XHCI_SPEED_HIGH, 1, 0x21);
    n = n_reports();
    OK(n == 1 && n_wrong == 0, "and once behind a hub (%u)", n);
}

/* The translator of a high-speed hub reports a lost answer of the hub behind it as a stall (USB 2.0, 11.17). */
static void test_slow_hub(void)
{
    clear();
    put(0, FAKE_HUB, XHCI_SPEED_HIGH, 1, 0);
    put(1, FAKE_HUB, XHCI_SPEED_FULL, 1, 1);
    put(2, FAKE_KEYBOARD, XHCI_SPEED_LOW, 1, 0x11);
    (void)open_all();
    f.n_addresses = 0;
    for (unsigned i = 0; i < 6; i++) {
        inner->lost_requests = 1;
        take_keys();
    }
    OK(usb.keyboard.device.slot != 0 && f.n_addresses == 0,
       "a full-speed hub that loses answers keeps its keyboard");
    inner->lost_requests = 3;
    take_keys();
    take_keys();
    OK(usb.keyboard.device.slot != 0 && f.n_addresses == 3 && n_wrong == 0,
       "and after three in a row both are found again");
}

int main(void)
{
    test_full("disabled", 5, 0);
    test_full("disabled", 1, 1);
    test_full("mute for a while", 5, 0);
    test_full("switched off at its port", 5, 0);
    test_drives_behind(1, true);
    test_drives_behind(3, true);
    test_drives_behind(3, false);
    test_other_is_first();
    test_look_begins_between(false, FAKE_DRIVE);
    test_look_begins_between(true, FAKE_DRIVE);
    test_look_begins_between(false, FAKE_KEYBOARD);
    test_hub_takes_no_slot();
    test_number(false);
    test_number(true);
    test_behind_five();
    test_tells_no_port();
    test_mute_with_drive(false);
    test_mute_with_drive(true);
    test_requests_and_eight_hubs();
    test_half_mute_full(false);
    test_half_mute_full(true);
    test_mute_full();
    test_ignored_again();
    test_full_of_both();
    test_slow_hub();
    return usb_done();
}
