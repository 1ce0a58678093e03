/* Hubs behind hubs, and hubs while three drives are known: what is found again after the outer hub was released, and
 * what the user is told. Ports are counted from the root: 1.3.2 is port 2 of the hub at port 3 of the hub at port 1. */
#include "tests/unit/board/fakes/usb_done.h"
#include "tests/unit/board/fakes/usb_machine.h"
#include "tests/unit/tap.h"

enum { LOOKS = 8 };

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

/* Looks at the ports, as at a prompt. Returns the number of reports. */
static unsigned n_reports(void)
{
    unsigned n = 0;

    for (unsigned i = 0; i < LOOKS; i++) {
        f.now += 300;
        n += usb_look() != NULL;
        (void)usb_take(&usb);
    }
    return n;
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

static void test_drives_behind(unsigned n_behind)
{
    unsigned n;

    open_nested(n_behind, 5, 0);
    for (unsigned i = 0; i < 3; i++)
        usb.devices[i].in_use = true;
    outer->enabled = false;
    n = n_reports();
    OK(n == 0, "%u drives behind two hubs are not told as unplugged when the outer one comes back",
       n_behind);
    for (unsigned i = n = 0; i < 3; i++)
        n += unit_read(&usb.devices[i]) >= 2;
    OK(n == 3 && n_wrong == 0, "and all three can be read (%u)", n);
    pull(outer);
    n = n_reports();
    OK(n == n_behind, "all %u are told as unplugged when it is pulled", n);
}

/* As if bad contacts made each look open a hub. */
static void test_bad_contacts(void)
{
    unsigned n = 0;

    open_nested(0, 5, 0);
    pull(&f.units[4]);
    for (unsigned i = 0; i < LOOKS; i++) {
        usb.host.hubs_opened++;
        f.now += 300;
        n += usb_look() != NULL;
        OK(n == (i >= XHCI_TIERS), "a hub in each of %u looks: %u reports of a pulled drive", i + 1,
           n);
    }
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
    static const uint32_t routes[] = { 0, 1, 2, 3, 4, 0x11, 0x12, 0x13 };
    unsigned n = 0;

    clear();
    for (unsigned i = 0; i < XHCI_HUBS; i++)
        put(i, FAKE_HUB, XHCI_SPEED_HIGH, 1, routes[i]);
    for (unsigned i = 0; i < 3; i++)
        put_drive(XHCI_HUBS + i, i + 2);
    (void)open_all();
    for (unsigned i = 0; i < XHCI_HUBS; i++)
        n += usb.host.hubs[i].device.slot != 0;
    OK(n == XHCI_HUBS && usb.n_drives == 3, "%u hubs and three drives are known", n);
    put_drive(XHCI_HUBS + 3, 5);
    n = n_reports();
    OK(n == 1, "one device more is reported once (%u)", n);
    pull(&f.units[XHCI_HUBS + 3]);
    put(XHCI_HUBS + 3, FAKE_DRIVE, XHCI_SPEED_HIGH, 1, 0x14);
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
    test_drives_behind(1);
    test_drives_behind(3);
    test_bad_contacts();
    test_mute_full();
    test_ignored_again();
    test_full_of_both();
    test_slow_hub();
    return usb_done();
}
