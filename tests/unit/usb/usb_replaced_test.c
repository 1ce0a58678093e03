/* Devices that are replaced while no look comes, or while a look tries them. */
#include "tests/unit/board/fakes/usb_done.h"
#include "tests/unit/board/fakes/usb_machine.h"
#include "tests/unit/tap.h"

/* The sense of commands that need the reader's card; key 0: they succeed. */
static struct {
    uint8_t key, code;
    bool stays; /* also of later commands */
} card;

static unsigned n_asked; /* TEST UNIT READY */

static void fail_card(struct fake_unit *unit)
{
    bool needs_card = unit->cdb[0] == 0 ||
                      unit->cdb[0] == 0x25; /* TEST UNIT READY, READ CAPACITY */

    n_asked += unit->cdb[0] == 0;
    unit->failed = card.key != 0 && needs_card;
    unit->times = card.key != 0 && moves_blocks(unit);
    if (unit->times != 0)
        unit->fault = STALLED;
}

static void tell_card(struct fake_unit *unit)
{
    if (unit->cdb[0] != 3) /* REQUEST SENSE */
        return;
    unit->answer[2] = card.key;
    unit->answer[12] = card.code;
    if (!card.stays)
        card.key = card.code = 0;
}

/* Give the unit's answers for some looks, as at a prompt. */
static void answer_looks(uint8_t key, uint8_t code, unsigned n)
{
    card.key = key;
    card.code = code;
    card.stays = true;
    for (unsigned i = 0; i < n; i++) {
        f.now += 300;
        (void)usb_look();
    }
    card.key = card.code = 0;
    card.stays = false;
}

/* Put in the card that begins at block `first` of the unit's disk; each has another size. */
static void put_card(uint32_t first)
{
    card.key = 6; /* the medium may have changed */
    card.code = 0x28;
    f.units[0].first = first;
}

/* The card with open files is replaced by another one, which requests and looks find, and is put back. */
static void test_card_is_put_back(void)
{
    unsigned n = 0;

    clear();
    put_drive(0, 2);
    f.units[0].on_command = fail_card;
    f.units[0].on_answer = tell_card;
    (void)open_all();
    usb.devices[0].in_use = true;
    put_card(4);
    for (unsigned i = 0; i < 2; i++)
        (void)read_from(&usb.devices[0]);
    (void)n_reports();
    OK(!usb.is_told[0] && usb.is_told[1], "another card is a new drive");
    put_card(0);
    for (unsigned i = 0; i < 4; i++) {
        n += unit_read(&usb.devices[0]) == 0;
        (void)n_reports();
    }
    OK(n >= 3 && usb.is_told[0] && n_wrong == 0, "a card that is put back is read (%u of 4 times)",
       n);
}

/* Look as the program does: list each drive that is found, which reads it. Returns the number of
 * reports. */
static unsigned look_and_list(void)
{
    unsigned n = 0;

    for (unsigned i = 0; i < LOOKS; i++) {
        struct block_device *d;

        f.now += 300;
        d = usb_look();
        n += d != NULL;
        if (d != NULL && d->error_message == NULL)
            (void)read_from(d);
    }
    return n;
}

enum way { AT_ONCE, AFTER_LOOKS, SLOWLY, UNTOLD };

static const char *const ways[] = { "between two looks", "some looks later",
                                    "in a reader that takes time",
                                    "in a reader that does not tell it" };

/* Take the card out and put in the other one. */
static void change_card(uint32_t first, enum way way)
{
    if (way != AT_ONCE)
        answer_looks(2, 0x3a, 3); /* there is no card */
    if (way == SLOWLY)
        answer_looks(2, 4, 3); /* it becomes ready */
    put_card(first);
    if (way == UNTOLD || way == SLOWLY)
        card.key = card.code = 0;
}

/* A card with open files is replaced by another one, which is listed; then the first is put back. */
static void test_card_after_listing(enum way way, bool both_in_use)
{
    unsigned n;

    clear();
    put_drive(0, 2);
    f.units[0].on_command = fail_card;
    f.units[0].on_answer = tell_card;
    (void)open_all();
    usb.devices[0].in_use = true;
    change_card(4, AT_ONCE);
    for (unsigned i = 0; i < 2; i++)
        (void)read_from(&usb.devices[0]);
    (void)look_and_list();
    OK(!usb.is_told[0] && usb.is_told[1] && usb.drives[1].device.slot != 0,
       "another card is listed");
    usb.devices[1].in_use = both_in_use;
    change_card(0, way);
    n = look_and_list();
    OK(n == 2 && usb.is_told[0] && !usb.is_told[1],
       "a card that is put back %s, after another was listed, is found%s", ways[way],
       both_in_use ? ", if both have open files" : "");
    OK(unit_read(&usb.devices[0]) == 0 && n_wrong == 0, "its files are read");
    if (!both_in_use)
        return;
    change_card(4, way);
    n = look_and_list();
    OK(n == 2 && usb.is_told[1] && !usb.is_told[0] && read_from(&usb.devices[1]) == ERR_OK &&
           n_wrong == 0,
       "and then the other card");
}

/* The second card is taken out, missed by a request, and put back; its reader is not always ready. */
static void test_listed_card_stays(void)
{
    clear();
    put_drive(0, 2);
    f.units[0].on_command = fail_card;
    f.units[0].on_answer = tell_card;
    (void)open_all();
    usb.devices[0].in_use = true;
    put_card(4);
    for (unsigned i = 0; i < 2; i++)
        (void)read_from(&usb.devices[0]);
    (void)look_and_list();
    f.n_addresses = 0;
    answer_looks(2, 4, 3);
    OK(look_and_list() == 0 && usb.drives[1].device.slot != 0 && f.n_addresses == 0,
       "a card whose reader becomes ready is not changed");
    answer_looks(2, 0x3a, 3);
    card.key = 2;
    card.code = 0x3a;
    OK(read_from(&usb.devices[1]) != ERR_OK && read_from(&usb.devices[1]) == ERR_OK,
       "the second card is read when it is put back");
    n_asked = 0;
    OK(look_and_list() == 0 && n_asked == LOOKS && n_wrong == 0,
       "and stays; its reader is asked once in each look (%u times)", n_asked);
    usb.devices[0].in_use = false;
    n_asked = 0;
    OK(look_and_list() == 0 && n_asked == 0, "but not after the files were closed");
}

/* A drive with open files is pulled; another one, at the same port or not, is not asked. */
static void test_others_are_not_asked(uint32_t port, uint8_t number)
{
    clear();
    put_drive(0, 2);
    (void)open_all();
    usb.devices[0].in_use = true;
    pull(&f.units[0]);
    (void)look_and_list();
    put(1, FAKE_DRIVE, XHCI_SPEED_HIGH, port, 0);
    f.units[1].number = number;
    f.units[1].first = 4; /* another size */
    f.units[1].on_command = fail_card;
    (void)look_and_list();
    n_asked = 0;
    (void)look_and_list();
    OK(usb.drives[1].device.slot != 0 && n_asked == 0 && n_wrong == 0,
       "a drive %s is not asked for its card",
       port == 2 ? "with another serial number" : "with equal numbers at another port");
}

static void fall_silent(struct fake_unit *unit)
{
    unit->times = unit->cdb[0] == 0; /* TEST UNIT READY */
    unit->fault = SILENT;
    unit->of_any = true;
}

/* The reader falls silent when it is asked for its card. */
static void test_silent_reader(void)
{
    clear();
    put_drive(0, 2);
    f.units[0].on_command = fail_card;
    f.units[0].on_answer = tell_card;
    (void)open_all();
    usb.devices[0].in_use = true;
    put_card(4);
    for (unsigned i = 0; i < 2; i++)
        (void)read_from(&usb.devices[0]);
    (void)look_and_list();
    f.units[0].on_command = fall_silent;
    (void)look_and_list();
    OK(usb.drives[1].device.slot == 0, "a reader that falls silent is released");
    f.units[0].of_any = false;
    f.units[0].on_command = fail_card;
    put_card(0);
    OK(unit_read(&usb.devices[0]) == 0 && n_wrong == 0,
       "and its first card is read by the next request");
}

/* While no look comes, the hub is pulled, and a reader from behind it is plugged in there, without its card. */
static void test_reader_in_place_of_hub(void)
{
    clear();
    put(0, FAKE_HUB, XHCI_SPEED_HIGH, 4, 0);
    for (unsigned i = 1; i < 3; i++) {
        put(i, FAKE_DRIVE, XHCI_SPEED_HIGH, 4, i);
        f.units[i].number = (uint8_t)('0' + i);
    }
    put(5, FAKE_KEYBOARD, XHCI_SPEED_LOW, 5, 0);
    (void)open_all();
    for (unsigned i = 0; i < 2; i++)
        usb.devices[i].in_use = true;
    pull(&f.units[0]);
    f.units[1].on_command = fail_card;
    f.units[1].on_answer = tell_card;
    put(1, FAKE_DRIVE, XHCI_SPEED_HIGH, 4, 0);
    answer_looks(2, 0x3a, LOOKS);
    OK(!usb.is_told[0] && !usb.is_told[1] && n_wrong == 0,
       "both drives of a pulled hub are told, though a reader without a card is in its place");
}

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
    test_card_is_put_back();
    for (enum way way = AT_ONCE; way <= UNTOLD; way++) {
        test_card_after_listing(way, false);
        test_card_after_listing(way, true);
    }
    test_listed_card_stays();
    test_others_are_not_asked(2, '7');
    test_others_are_not_asked(3, '1');
    test_silent_reader();
    test_reader_in_place_of_hub();
    test_silent_and_loose();
    test_hub_in_place_of_drive(false);
    test_hub_in_place_of_drive(true);
    test_silent_with_all();
    test_deaf_full();
    test_pulled_while_tried();
    return usb_done();
}
