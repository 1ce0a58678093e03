/* Hubs that stop answering, or answer too late: they are released, and found again with the devices behind them. Ports that
 * are disabled or switched off while a device is there. */
#include "tests/unit/board/fakes/usb_done.h"
#include "tests/unit/board/fakes/usb_machine.h"
#include "tests/unit/tap.h"

/* A hub with a drive, whose file is open, and a keyboard. */
static void open_hub(uint32_t drive_speed)
{
    clear();
    put(0, FAKE_HUB, XHCI_SPEED_HIGH, 2, 0);
    put(1, FAKE_DRIVE, drive_speed, 2, 1);
    put(2, FAKE_KEYBOARD, XHCI_SPEED_LOW, 2, 3);
    (void)open_all();
    usb.devices[0].in_use = true;
}

static bool all_work(void)
{
    return unit_read(&usb.devices[0]) == 1 && usb.keyboard.device.slot != 0 && n_wrong == 0;
}

/* A hub that stops answering, until its port is reset, or for good. */
static void test_mute_hub(void)
{
    unsigned wait;

    open_hub(XHCI_SPEED_HIGH);
    f.units[0].mute = true;
    f.now += 300;
    (void)usb_take(&usb);
    OK(usb.host.hubs[0].device.slot == 0, "a hub that does not answer is released");
    f.units[0].mute = false;
    OK(looks() == NULL && all_work(),
       "it is taken again, with its drive and its keyboard, when it answers");
    f.units[0].mute = true;
    wait = wait_in_looks();
    take_keys();
    OK(wait < 3000 && usb.host.hubs[0].device.slot == 0 && usb.devices[0].error_message != NULL,
       "one that answers no more is released, and its drive is unplugged: the watchdog waits %u ms",
       wait);
    f.n_addresses = 0;
    take_keys();
    OK(looks() == NULL && f.n_addresses == 0, "after some tries it is left alone");
    f.units[0].mute = false;
    pull(&f.units[0]);
    (void)looks();
    for (unsigned i = 0; i < 3; i++)
        plug(&f.units[i]);
    OK(tells(0, ", port 2.1", true), "its drive is back when it is plugged in again");
    take_keys();
    OK(all_work(), "and so is its keyboard");
}

static void test_beside_keyboard(void)
{
    clear();
    put(0, FAKE_KEYBOARD, XHCI_SPEED_LOW, 1, 0);
    (void)open_all();
    put(1, FAKE_HUB, XHCI_SPEED_HIGH, 2, 0);
    put(2, FAKE_DRIVE, XHCI_SPEED_HIGH, 2, 1);
    OK(tells(0, ", port 2.1", true) && unit_read(&usb.devices[0]) == 2 &&
           usb.host.hubs[1].device.slot == 0 && n_wrong == 0,
       "a hub that comes while a keyboard is attached is opened once");
}

/* A hub that answers all requests but those for the state of a port. */
static void test_unknown_ports(void)
{
    unsigned wait;

    open_hub(XHCI_SPEED_HIGH);
    f.units[0].tells_no_port = true;
    wait = wait_in_looks();
    take_keys();
    OK(wait < 3000 && usb.devices[0].error_message != NULL,
       "a hub that tells of no port is released: the watchdog waits %u ms", wait);
    f.n_addresses = 0;
    take_keys();
    OK(looks() == NULL && f.n_addresses == 0, "after some tries it is left alone");
    OK(unit_read(&usb.devices[0]) < 0 && f.n_addresses == 1 && n_wrong == 0,
       "a request for the drive behind it tries its port once");
    f.units[0].tells_no_port = false;
    pull(&f.units[0]);
    (void)looks();
    for (unsigned i = 0; i < 3; i++)
        plug(&f.units[i]);
    take_keys();
    OK(tells(0, ", port 2.1", true) && all_work(), "it works when it is plugged in again");
}

/* A hub that answers too late, from one of its requests on, until its port is reset. */
static void test_late_hub(void)
{
    unsigned n_told = 0, n_unread = 0, n;

    for (n = 1; n <= 30; n++) {
        open_hub(XHCI_SPEED_HIGH);
        pull(&f.units[2]);
        take_keys();
        f.units[0].late = n;
        plug(&f.units[2]);
        n_told += looks() != NULL;
        take_keys();
        n_told += looks() != NULL;
        n_unread += !all_work() || f.units[0].late != 0;
    }
    OK(n_told == 0 && n_unread == 0,
       "late answers of a hub are not taken for others': %u changes and %u failures in %u cases",
       n_told, n_unread, n - 1);
    open_hub(XHCI_SPEED_FULL);
    f.units[1].fault = STALLED;
    f.units[1].times = 1;
    f.units[0].late = 1;
    OK(read_from(&usb.devices[0]) == ERR_IO && usb.host.hubs[0].device.slot == 0,
       "a hub is released that does not clear its translator in time");
    OK(unit_read(&usb.devices[0]) == 1 && n_wrong == 0,
       "and the next request finds the drive behind it");
}

/* A hub that answers too late, from one of its requests on, while it reports too much current. */
static void test_late_current(void)
{
    unsigned n_unread = 0, n;

    for (n = 1; n <= 12; n++) {
        open_hub(XHCI_SPEED_HIGH);
        f.units[0].over_current = 1 << 4;
        f.units[0].late = n;
        (void)wait_in_looks();
        take_keys();
        n_unread += !all_work() || f.units[0].late != 0;
    }
    OK(n_unread == 0, "a hub is not asked after it was released: %u failures in %u cases", n_unread,
       n - 1);
    open_hub(XHCI_SPEED_HIGH);
    f.units[0].had_current = 1 << 1; /* the drive's port: GET_STATUS and CLEAR_FEATURE */
    f.units[0].late = 2;
    f.now += 300;
    (void)usb_look();
    OK(usb.drives[0].device.slot == 0, "the drive at such a port is released in the same look");
    take_keys();
    OK(looks() == NULL && all_work(), "and both are found again");
}

/* A hub that was released before the drive behind it stalls. */
static void test_translator_is_gone(void)
{
    uint64_t before;

    open_hub(XHCI_SPEED_FULL);
    pull(&f.units[2]);
    f.units[0].mute = true;
    take_keys();
    f.units[0].mute = false;
    OK(usb.host.hubs[0].device.slot == 0 && usb.drives[0].device.slot != 0,
       "a hub is released before its drive");
    f.units[1].fault = STALLED;
    f.units[1].times = 1;
    before = f.now;
    OK(read_from(&usb.devices[0]) == ERR_IO && f.now - before < 1000 && n_wrong == 0,
       "its translator is not asked when the drive stalls");
    OK(unit_read(&usb.devices[0]) == 1 && n_wrong == 0, "the next request finds both");
}

/* Answers for the state of a port that are lost on the bus, so that no request takes long. */
static void test_lost_answers(void)
{
    open_hub(XHCI_SPEED_HIGH);
    f.n_addresses = 0;
    f.units[0].lost_requests = 2;
    take_keys();
    OK(looks() == NULL && all_work() && f.n_addresses == 0,
       "two lost answers of a hub change nothing");
    f.units[0].lost_requests = 3;
    take_keys();
    OK(looks() == NULL && all_work() && f.n_addresses != 0,
       "after three in a row it is reset, and found again with its devices");
    f.units[0].lost_requests = 1u << 30;
    take_keys();
    (void)wait_in_looks();
    f.n_addresses = 0;
    take_keys();
    OK(looks() == NULL && f.n_addresses == 0 && f.units[0].lost_requests > 1u << 29 &&
           usb.host.hubs[0].device.slot == 0,
       "if all are lost, it is left alone after some tries");
    clear();
    put(0, FAKE_HUB, XHCI_SPEED_HIGH, 2, 0);
    (void)open_all();
    put(1, FAKE_DRIVE, XHCI_SPEED_HIGH, 2, 1);
    f.now += 300;
    (void)usb_take(&usb);
    f.units[0].lost_requests = 1;
    f.now += 300;
    (void)usb_take(&usb);
    OK(tells(0, ", port 2.1", true) && unit_read(&usb.devices[0]) == 1,
       "a drive that was new before a lost answer is still new after it");
}

/* A hub with a drive behind another hub, and a keyboard elsewhere. */
static void open_two_hubs(void)
{
    clear();
    put(0, FAKE_HUB, XHCI_SPEED_HIGH, 2, 0);
    put(1, FAKE_HUB, XHCI_SPEED_HIGH, 2, 3);
    put(2, FAKE_DRIVE, XHCI_SPEED_HIGH, 2, 0x13);
    put(3, FAKE_KEYBOARD, XHCI_SPEED_LOW, 1, 0);
    (void)open_all();
}

static void test_hub_behind_hub(void)
{
    open_two_hubs();
    f.units[0].lost_requests = 1;
    f.now += 300;
    (void)usb_look();
    OK(unit_read(&usb.devices[0]) == 2, "a hub behind a hub that loses an answer stays");
    f.units[1].enabled = false;
    for (unsigned i = 0; i < 8; i++) {
        f.now += 300;
        (void)usb_look();
    }
    OK(usb.host.hubs[1].device.slot != 0 && unit_read(&usb.devices[0]) == 2 && n_wrong == 0,
       "and is found again, with its drive, when its port is disabled");
}

/* Ports that are disabled although their device is there (USB 2.0, 11.8.1). */
static void test_disabled(void)
{
    struct fake_unit *u = &f.units[0];
    unsigned n = 0;

    open_hub(XHCI_SPEED_HIGH);
    f.units[2].enabled = false;
    take_keys();
    OK(all_work(), "a keyboard is found again when its port at a hub is disabled");
    clear();
    put(0, FAKE_KEYBOARD, XHCI_SPEED_LOW, 1, 0);
    (void)open_all();
    for (unsigned i = 0; i < 6; i++) {
        press(u, 4, 8);
        take_keys();
        u->enabled = false;
        take_keys();
        n += usb.keyboard.device.slot != 0;
    }
    OK(n == 6, "and at the controller, each time after a key: %u of 6 times", n);
    for (unsigned i = 0; i < 4; i++) {
        press(u, 0, KEYBOARD_PACKET + 1);
        take_keys();
    }
    OK(usb.keyboard.device.slot != 0 && u->enabled, "and when its endpoint fails four times");
    for (n = 0; n < 10 && usb.keyboard.device.slot != 0; n++) {
        u->enabled = false;
        take_keys();
    }
    f.n_addresses = 0;
    take_keys();
    OK(n == 2 && f.n_addresses == 0, "but it is left alone after %u more times without a key", n);
    pull(u);
    take_keys();
    plug(u);
    take_keys();
    OK(usb.keyboard.device.slot != 0 && n_wrong == 0, "until it is plugged in again");
}

/* A hub whose port is disabled while each slot has a drive. */
static void test_disabled_full(void)
{
    clear();
    put(0, FAKE_HUB, XHCI_SPEED_HIGH, 1, 0);
    put(1, FAKE_KEYBOARD, XHCI_SPEED_LOW, 1, 1);
    for (unsigned i = 2; i < 5; i++)
        put_drive(i, i);
    (void)open_all();
    f.units[0].enabled = false;
    f.now += 300;
    OK(usb.n_drives == 3 && usb_look() == NULL && usb.host.hubs[0].device.slot != 0,
       "a hub that was let go is not ignored as a new device without a slot");
    take_keys();
    OK(usb.keyboard.device.slot != 0 && looks() == NULL && n_wrong == 0,
       "and the keyboard behind it is back");
}

/* Ports of the controller that were switched off for their current (xHCI 5.4.8). */
static void test_switched_off(void)
{
    clear();
    put_drive(0, 1);
    (void)open_all();
    f.unpowered = f.over_current = true;
    f.n_power = 0;
    plug(&f.units[0]);
    OK(tells(0, ", port 1", false) && looks() == NULL && f.n_power == 0,
       "a port with too much current stays off, and its drive is unplugged");
    f.over_current = false;
    OK(tells(0, ", port 1", true) && f.n_power == 1 && unit_read(&usb.devices[0]) == 0 &&
           n_wrong == 0,
       "it is switched on when there is not too much, and its drive is back");
}

/* Ports of a hub that are off without a change of their own (USB 2.0, 11.24.2.6). */
static void test_switched_off_hub(void)
{
    struct fake_unit *hub = &f.units[0];

    open_hub(XHCI_SPEED_HIGH);
    hub->n_power = 0;
    OK(looks() == NULL && hub->n_power == 0, "ports of a hub that are on get no request");
    hub->powered = 0;
    plug(&f.units[1]);
    plug(&f.units[2]);
    (void)looks();
    (void)looks();
    take_keys();
    OK(all_work() && hub->n_power == HUB_PORTS, "ports that are off are switched on, once");
    hub->shorted = 1 << 4;
    hub->powered &= ~hub->shorted;
    OK(looks() == NULL && hub->n_power == HUB_PORTS, "a port with too much current stays off");
    hub->shorted = 0;
    OK(looks() == NULL && hub->n_power == HUB_PORTS + 1, "until there is not too much");
    clear();
    put(0, FAKE_HUB, XHCI_SPEED_SUPER, 2, 0);
    put(1, FAKE_DRIVE, XHCI_SPEED_SUPER, 2, 1);
    (void)open_all();
    hub->n_power = 0;
    OK(looks() == NULL && hub->n_power == 0 && unit_read(&usb.devices[0]) == 1 && n_wrong == 0,
       "ports of a hub of USB 3 that are on get no request");
}

int main(void)
{
    test_lost_answers();
    test_hub_behind_hub();
    test_disabled();
    test_disabled_full();
    test_switched_off();
    test_switched_off_hub();
    test_mute_hub();
    test_beside_keyboard();
    test_unknown_ports();
    test_late_hub();
    test_late_current();
    test_translator_is_gone();
    return usb_done();
}
