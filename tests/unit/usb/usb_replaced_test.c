/* Devices that are replaced while no look comes, or while a look tries them. */
#include "tests/unit/board/fakes/usb_done.h"
#include "tests/unit/board/fakes/usb_machine.h"
#include "tests/unit/tap.h"

/* A hub that comes in place of a drive with open files answers nothing in the first look, so it counts as the drive. A
 * keyboard is behind it at once, or is moved there later. */
static void test_hub_in_place_of_drive(bool later)
{
    clear();
    put_drive(0, 2);
    if (later)
        put(5, FAKE_KEYBOARD, XHCI_SPEED_LOW, 5, 0);
    (void)open_all();
    usb.devices[0].in_use = true;
    (void)n_reports();
    pull(&f.units[0]);
    put(1, FAKE_HUB, XHCI_SPEED_HIGH, 2, 0);
    f.units[1].mute = true;
    if (!later)
        put(3, FAKE_KEYBOARD, XHCI_SPEED_LOW, 2, 1);
    for (unsigned i = 0; i < 2; i++) { /* the first look only notes that it came */
        f.now += 300;
        (void)usb_look();
    }
    f.units[1].mute = false;
    (void)n_reports();
    if (later) {
        pull(&f.units[5]);
        (void)n_reports();
        put(3, FAKE_KEYBOARD, XHCI_SPEED_LOW, 2, 1);
        (void)n_reports();
    }
    OK(usb.keyboard.device.slot != 0 && usb.host.hubs[0].device.slot != 0 && n_wrong == 0,
       "a keyboard %s behind a hub that counted as a drive is found", later ? "moved" : "that is");
}

/* A hub with a keyboard and two drives falls silent; a look for drives meets that first. */
static void test_silent_with_all(void)
{
    unsigned n;

    clear();
    put(0, FAKE_HUB, XHCI_SPEED_HIGH, 4, 0);
    for (unsigned i = 1; i < 3; i++) {
        put(i, FAKE_DRIVE, XHCI_SPEED_HIGH, 4, i);
        f.units[i].number = (uint8_t)('0' + i);
    }
    put(5, FAKE_KEYBOARD, XHCI_SPEED_LOW, 4, 3);
    (void)open_all();
    (void)n_reports();
    f.units[0].mute = true;
    n = n_reports() + n_reports();
    OK(n == 2 && !usb.is_told[0] && !usb.is_told[1] && n_wrong == 0,
       "both drives of a silent hub are told, though its keyboard is searched for (%u)", n);
}

static uint64_t second_try; /* when the silent hub was tried as a hub for the second time */

/* The hub's contact breaks for 300 ms. */
static uint64_t break_while_tried(void)
{
    static unsigned n;
    static bool had_slot;
    bool has_slot = usb.host.hubs[0].device.slot != 0;

    f.now++;
    n = second_try == 0 && f.n_addresses == 0 ? 0 : n + (has_slot && !had_slot);
    had_slot = has_slot;
    if (n == 2 && second_try == 0)
        second_try = f.now;
    if (second_try != 0 && f.now == second_try + 100)
        pull(&f.units[0]);
    if (second_try != 0 && f.now == second_try + 400)
        plug(&f.units[0]);
    return f.now;
}

static void test_silent_and_loose(void)
{
    clear();
    put(0, FAKE_HUB, XHCI_SPEED_HIGH, 4, 0);
    put(1, FAKE_DRIVE, XHCI_SPEED_HIGH, 4, 1);
    put(5, FAKE_KEYBOARD, XHCI_SPEED_LOW, 5, 0);
    (void)open_all();
    (void)n_reports();
    usb.devices[0].in_use = true;
    f.units[0].mute = true;
    f.n_addresses = 0;
    second_try = 0;
    usb.host.setup.ticks = break_while_tried;
    (void)n_reports();
    OK(second_try != 0 && !usb.is_told[0] && n_wrong == 0,
       "the drive of a silent hub with a loose contact is told");
}

/* A device makes the controller deaf twice; then another one is in its place. */
static void test_deaf_full(void)
{
    clear();
    for (unsigned i = 0; i < 3; i++)
        put_drive(i, i + 1);
    put(3, FAKE_KEYBOARD, XHCI_SPEED_LOW, 5, 0);
    (void)open_all();
    (void)n_reports();
    for (unsigned i = 0; i < 2; i++) {
        put(4, FAKE_HUB, XHCI_SPEED_HIGH, 4, 0);
        f.deaf = true;
        (void)n_reports();
        pull(&f.units[4]);
        if (i == 0)
            (void)n_reports(); /* which start the controller again */
    }
    put(5, FAKE_HUB, XHCI_SPEED_HIGH, 4, 0);
    (void)n_reports();
    f.now += 60000;
    (void)n_reports();
    OK(!f.deaf && usb.host.starts == 3 && f.units[5].slot != 0,
       "the controller is started again for another device, without a free slot");
}

static uint64_t third_try; /* when the silent device got its third reset */

/* It is pulled 100 ms later, and another one comes after 500 ms more. */
static uint64_t pull_while_tried(void)
{
    f.now++;
    if (f.n_addresses == 3 && third_try == 0)
        third_try = f.now;
    if (third_try != 0 && f.now == third_try + 100)
        pull(&f.units[4]);
    if (third_try != 0 && f.now == third_try + 600)
        put(5, FAKE_HUB, XHCI_SPEED_HIGH, 4, 0);
    return f.now;
}

static void test_pulled_while_tried(void)
{
    clear();
    for (unsigned i = 0; i < 3; i++)
        put_drive(i, i + 1);
    put(3, FAKE_KEYBOARD, XHCI_SPEED_LOW, 5, 0);
    (void)open_all();
    (void)n_reports();
    put(4, FAKE_HUB, XHCI_SPEED_HIGH, 4, 0);
    f.units[4].mute = true;
    f.n_addresses = 0;
    third_try = 0;
    usb.host.setup.ticks = pull_while_tried;
    (void)n_reports();
    f.now += 60000;
    (void)n_reports();
    OK(third_try != 0 && usb.host.hubs[0].device.slot != 0 && n_wrong == 0,
       "a hub that comes while a silent device is tried is opened, without a free slot");
}

int main(void)
{
    test_silent_and_loose();
    test_hub_in_place_of_drive(false);
    test_hub_in_place_of_drive(true);
    test_silent_with_all();
    test_deaf_full();
    test_pulled_while_tried();
    return usb_done();
}
