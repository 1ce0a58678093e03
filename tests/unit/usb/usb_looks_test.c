/* Devices at USB that answer late, or nothing, or not as they should: how long the watchdog waits meanwhile, and what the
 * looks at the ports make of them. */
#include "tests/unit/board/fakes/usb_done.h"
#include "tests/unit/board/fakes/usb_machine.h"
#include "tests/unit/tap.h"

/* Two drives come back that do not answer, and another device is new at the same time. */
static void test_silent_looks(void)
{
    unsigned wait;

    clear();
    put_drive(0, 1);
    put_drive(1, 2);
    (void)open_all();
    usb.devices[0].in_use = usb.devices[1].in_use = true;
    pull(&f.units[0]);
    pull(&f.units[1]);
    OK(looks() != NULL && looks() != NULL && looks() == NULL, "two drives are pulled");
    for (unsigned i = 0; i < 2; i++) {
        be_silent(&f.units[i], 1000);
        plug(&f.units[i]);
    }
    put(2, FAKE_KEYBOARD, XHCI_SPEED_LOW, 3, 0);
    wait = wait_in_looks();
    OK(wait > 4000 && wait < 7000, "the watchdog waits %u ms for two silent drives", wait);
    OK(usb.keyboard.device.slot != 0, "a keyboard gets its turn behind them");
}

/* Each READ CAPACITY fails after 3 s. */
static void fail_slowly(struct fake_unit *unit)
{
    unit->times = unit->cdb[0] == 0x25;
    f.now += unit->times * 3000;
}

static void become_ready(struct fake_unit *unit)
{
    unit->failed = unit->cdb[0] == 0; /* TEST UNIT READY */
}

static void tell_becoming(struct fake_unit *unit)
{
    if (unit->cdb[0] != 3) /* REQUEST SENSE */
        return;
    unit->answer[2] = 2;
    unit->answer[12] = 4;
    unit->answer[13] = 1;
}

static void be_silent_and_deaf(struct fake_unit *unit)
{
    answer_no_inquiry(unit);
    f.deaf = unit->times != 0;
}

static void test_slow_drives(void)
{
    unsigned wait;
    uint64_t before;

    clear();
    (void)open_all();
    put_drive(0, 1);
    f.units[0].fault = STALLED;
    f.units[0].of_any = true;
    f.units[0].on_command = fail_slowly;
    wait = wait_in_looks();
    OK(wait > 2000 && wait < 7000, "the watchdog waits %u ms for a drive that fails slowly", wait);
    clear();
    (void)open_all();
    put_drive(0, 1);
    f.units[0].on_command = become_ready;
    f.units[0].on_answer = tell_becoming;
    before = f.now;
    wait = wait_in_looks();
    OK(f.now - before > 20000 && wait < 1000, "the watchdog waits %u ms for a disk that spins up",
       wait);
    clear();
    (void)open_all();
    put_drive(0, 1);
    be_silent(&f.units[0], 1);
    f.units[0].on_command = be_silent_and_deaf;
    wait = wait_in_looks();
    OK(wait > 4000 && wait < 7000,
       "the watchdog waits %u ms for a silent drive and a controller that does not stop it", wait);
}

/* Five devices that answer no request, or whose links never come up, and no keyboard. */
static void test_mute_devices(bool links)
{
    unsigned wait;
    uint64_t before;

    clear();
    (void)open_all();
    for (unsigned i = 0; i < 5; i++) {
        put(i, FAKE_DRIVE, XHCI_SPEED_HIGH, i + 1, 0);
        f.units[i].mute = links;
        f.units[i].untrained = !links;
    }
    f.now += 300;
    start_watch();
    before = f.now;
    (void)usb_take(&usb);
    feed();
    OK(f.now - before > 15000 && longest < 3000,
       "the watchdog waits %u ms while a keyboard is searched among five devices without %s",
       (unsigned)longest, links ? "answers" : "links");
    wait = wait_in_looks();
    OK(wait < 3000, "and %u ms while a drive is", wait);
}

/* A drive that leaves and returns between two looks, and is refused once. */
static void test_quick_replug(void)
{
    clear();
    put_drive(0, 2);
    (void)open_all();
    usb.devices[0].in_use = true;
    be_silent(&f.units[0], 1);
    pull(&f.units[0]);
    plug(&f.units[0]);
    OK(looks() == &usb.refused && looks() == NULL && n_silent == 0,
       "a drive that reconnects and is refused once is not unplugged");
    OK(unit_read(&usb.devices[0]) == 0 && looks() == NULL && usb.devices[0].error_message == NULL,
       "and is read at the next request");
}

/* Three known drives without files, of which one only failed; then a device that is not a drive. */
static void test_no_slot(void)
{
    clear();
    for (unsigned i = 0; i < 3; i++)
        put_drive(i, i + 1);
    (void)open_all();
    f.units[0].fault = BABBLING;
    f.units[0].times = 1;
    (void)read_from(&usb.devices[0]);
    be_silent(&f.units[0], 2);
    put(3, FAKE_KEYBOARD, XHCI_SPEED_LOW, 4, 0);
    put(4, FAKE_KEYBOARD, XHCI_SPEED_LOW, 5, 0);
    OK(looks() == &usb.refused && looks() == NULL && n_silent == 0 &&
           unit_read(&usb.devices[0]) == 0 && n_wrong == 0,
       "a drive that failed keeps its slot when a device that is not a drive comes");
    pull(&f.units[4]);
    (void)looks();
    plug(&f.units[4]);
    f.now += 300;
    (void)usb_look();
    pull(&f.units[0]);
    OK(looks() == &usb.devices[0] && usb.devices[0].error_message != NULL && looks() == NULL &&
           n_wrong == 0,
       "a drive that leaves while such a device comes is unplugged, and its slot is free");
}

/* The bit of a place says that its device is new, and no look has it after a request took it. */
static void test_taken_by_request(void)
{
    clear();
    put_drive(0, 2);
    (void)open_all();
    usb.devices[0].in_use = true;
    pull(&f.units[0]);
    (void)looks();
    plug(&f.units[0]);
    OK(unit_read(&usb.devices[0]) == 0 && tells(0, ", port 2", true), "a request takes a drive");
    f.units[0].fault = BABBLING;
    f.units[0].times = 1;
    (void)read_from(&usb.devices[0]);
    f.n_addresses = 0;
    OK(looks() == NULL && f.n_addresses == 0, "it is not new when a later request fails");
}

static void leave_at_modes(struct fake_unit *unit)
{
    unit->times = unit->cdb[0] == 0x1a; /* MODE SENSE */
}

/* A drive that is pulled while the machine starts. */
static void test_pulled_at_start(void)
{
    clear();
    put_drive(0, 2);
    put_drive(1, 3);
    f.units[0].fault = PULLED;
    f.units[0].of_any = true;
    f.units[0].on_command = leave_at_modes;
    OK(open_all() == 2 && found[0]->error_message != NULL && unit_read(found[1]) == 1,
       "the start finds a drive although another one leaves meanwhile");
}

/* Devices that reconnect again and again, beside a drive, with no keyboard. */
static void test_loose_plugs(void)
{
    struct block_device *d = NULL;

    clear();
    (void)open_all();
    for (unsigned i = 0; i < 2; i++) {
        put(i, FAKE_DRIVE, XHCI_SPEED_HIGH, i + 1, 0);
        f.units[i].mute = true;
    }
    put_drive(2, 4);
    for (unsigned i = 0; i < 6 && d == NULL; i++) {
        f.units[0].fresh = f.units[1].fresh = true;
        f.now += 300;
        (void)usb_take(&usb);
        d = usb_look();
    }
    OK(d == &usb.devices[0] && unit_read(d) == 2,
       "a drive gets its turn beside devices that reconnect all the time");
}

/* A controller that was stopped, beside a prompt. */
static void test_restart(void)
{
    clear();
    put_drive(0, 2);
    put(1, FAKE_KEYBOARD, XHCI_SPEED_LOW, 1, 0);
    (void)open_all();
    for (unsigned i = 0; i < 2; i++) {
        (void)xhci_stop(&usb.host);
        take_keys();
        OK(usb.host.running && usb.keyboard.device.slot != 0,
           "a keyboard works after start %u of its controller", (unsigned)usb.host.starts);
        OK(looks() == NULL, "and the drive is not unplugged");
        (void)xhci_stop(&usb.host);
        take_keys();
        OK(!usb.host.running && looks() == NULL,
           "the next start comes 30 s later, and the drive still waits");
        f.now += 30000;
    }
    OK(unit_read(&usb.devices[0]) == 0 && n_wrong == 0, "a read starts the controller at once");
    (void)xhci_stop(&usb.host);
    f.now += 60000;
    OK(looks() == NULL && usb.host.running && unit_read(&usb.devices[0]) == 0,
       "a look at the drives starts it too");
}

/* A device that answers nothing while the machine starts, and the core that polls the controller. */
static void test_mute_start(void)
{
    for (core_at_work = 2; core_at_work-- != 0;) {
        clear();
        put_drive(0, 1);
        f.units[0].mute = true;
        start_watch();
        (void)open_all();
        feed();
        OK(f.now > 6000 && (core_at_work == 0 ? longest < 3000 : longest > 6000),
           "while core %u starts, the watchdog waits %u ms for a mute device", core_at_work,
           (unsigned)longest);
    }
    core_at_work = 0;
}

static void be_deaf(void)
{
    clear();
    (void)open_all();
    put_drive(0, 1);
    f.deaf = true;
    (void)looks();
}

/* A device for which the controller's command has no end. */
static void test_deaf(void)
{
    be_deaf();
    put_drive(1, 2);
    (void)looks();
    OK(looks() == NULL && f.deaf, "a controller that obeys nothing finds no drive");
    f.now += 60000;
    (void)looks();
    OK(f.deaf && usb.host.starts == 1, "and is left alone while the device is there");
    pull(&f.units[0]);
    OK(tells(0, ", port 2", true) && !f.deaf && unit_read(&usb.devices[0]) == 1 && n_wrong == 0,
       "it starts again when the device is gone");
    be_deaf();
    pull(&f.units[0]);
    put_drive(2, 1);
    take_keys();
    f.now += 60000;
    OK(tells(0, ", port 1", true) && !f.deaf && unit_read(&usb.devices[0]) == 2 && n_wrong == 0,
       "or when another device is at its port");
}

/* A device for which the controller's command has no end, beside a drive that works. */
static void test_deaf_in_reply(void)
{
    clear();
    put_drive(0, 1);
    (void)open_all();
    put_drive(1, 2);
    f.deaf = true;
    (void)looks();
    pull(&f.units[1]);
    f.now += 60000;
    take_keys();
    OK(usb.host.starts == 1 && usb.drives[0].device.slot != 0 && unit_read(&usb.devices[0]) == 0,
       "a controller with a drive that works does not start again between two reads");
    (void)looks();
    OK(usb.host.starts == 2 && unit_read(&usb.devices[0]) == 0 && n_wrong == 0,
       "it starts when drives are looked for");
}

/* A key that is down while the controller starts again, and up before the keyboard is found. */
static void test_held_key(void)
{
    clear();
    put(1, FAKE_KEYBOARD, XHCI_SPEED_LOW, 1, 0);
    (void)open_all();
    press(&f.units[1], 4, 8);
    f.now += 300;
    OK(usb_take(&usb) == 'a' && usb.keyboard.keys.repeats != 0, "a key is down");
    (void)xhci_stop(&usb.host);
    take_keys();
    OK(usb.keyboard.device.slot != 0 && usb.keyboard.keys.repeats == 0,
       "it does not repeat when its keyboard is back");
}

static void press_caps_lock(struct fake_unit *unit)
{
    press(unit, 0x39, 8);
    take_keys();
    press(unit, 0, 8);
    take_keys();
}

/* A keyboard that does not answer when its light changes, at each place of the ring: some changes before
 * have an answer and take three TRBs each, and some reports are too long, which takes two. */
static void test_late_light(bool halts)
{
    struct fake_unit *unit = &f.units[1];
    unsigned n_dark = 0, n;

    for (n = 0; n < XHCI_RING - 1; n++) {
        clear();
        put(1, FAKE_KEYBOARD, XHCI_SPEED_LOW, 1, 0);
        (void)open_all();
        for (unsigned i = 0; i < n / 21; i++) {
            press(unit, 0, KEYBOARD_PACKET + 1);
            take_keys();
        }
        for (unsigned i = 0; i < n % 21; i++)
            press_caps_lock(unit);
        unit->mute = true;
        unit->halts_late = halts;
        press_caps_lock(unit);
        unit->mute = unit->halts_late = false;
        press_caps_lock(unit);
        n_dark += unit->n_leds != n % 21 + 2 || n_wrong != 0;
    }
    OK(n_dark == 0,
       "a request for the light of a keyboard works after one %s: %u failures in %u places",
       halts ? "that halts when it is given up" : "without an answer", n_dark, n);
}

/* A drive that is refused in each look, and another controller with news. The model is one controller, so
 * only one of the two drivers works with it at a time: the other one's commands have no end. */
static void test_controllers(void)
{
    static struct usb other;
    const struct xhci_setup setup = fake_setup();
    struct block_device *d = NULL;

    clear();
    put_drive(0, 1);
    (void)usb_open(&other, &setup, found, 8);
    (void)xhci_stop(&other.host);
    other.host.starts = 0;
    other.is_told[0] = false;
    put(1, FAKE_DRIVE, XHCI_SPEED_HIGH, 2, 0);
    f.units[1].block_bytes = 8192;
    pull(&f.units[0]);
    (void)open_all();
    other.drives[0].stopped = other.is_told[0] = true;
    other.drives[0].is_here = false;
    for (unsigned i = 0; i < 6 && d != &other.devices[0]; i++) {
        f.units[1].fresh = true;
        f.now += 300;
        (void)usb_take(&usb);
        d = usb_look();
    }
    OK(d == &other.devices[0] && d->error_message != NULL,
       "a controller tells of its drive although another one has news in each look");
}

int main(void)
{
    test_silent_looks();
    test_slow_drives();
    test_mute_devices(true);
    test_mute_devices(false);
    test_quick_replug();
    test_no_slot();
    test_taken_by_request();
    test_pulled_at_start();
    test_loose_plugs();
    test_restart();
    test_held_key();
    test_late_light(false);
    test_late_light(true);
    test_mute_start();
    test_deaf();
    test_deaf_in_reply();
    test_controllers(); /* last: the driver keeps its controllers */
    return usb_done();
}
