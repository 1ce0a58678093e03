/* Readers that cannot be told apart, because they have no serial numbers: the files of a card are not
 * read from a card of the same size in the other reader. */
#include "tests/unit/board/fakes/usb_done.h"
#include "tests/unit/board/fakes/usb_machine.h"
#include "tests/unit/tap.h"

enum { FIRST, SECOND, OTHER, KEYBOARD, MOUSE };

static bool is_empty[FAKE_UNITS];

static unsigned number_of(const struct fake_unit *unit)
{
    return (unsigned)(unit - f.units);
}

static void fail_without_card(struct fake_unit *unit)
{
    unit->failed = is_empty[number_of(unit)] && unit->cdb[0] == 0; /* TEST UNIT READY */
}

static void tell_no_card(struct fake_unit *unit)
{
    if (unit->cdb[0] == 3 && is_empty[number_of(unit)]) { /* REQUEST SENSE */
        unit->answer[2] = 2;
        unit->answer[12] = 0x3a;
    }
}

static void be_cd_drive(struct fake_unit *unit)
{
    if (unit->cdb[0] == 0x12) /* INQUIRY */
        unit->answer[0] = 5;
}

static void put_reader(unsigned unit, uint32_t port, uint8_t number, bool empty)
{
    put_drive(unit, port);
    is_empty[unit] = empty;
    f.units[unit].number = number;
    f.units[unit].on_command = fail_without_card;
    f.units[unit].on_answer = tell_no_card;
}

static void begin(void)
{
    clear();
    memset(is_empty, 0, sizeof is_empty);
}

/* Look as the program does: read each drive that is found. */
static void look_twice(void)
{
    for (unsigned i = 0; i < 2 * LOOKS; i++) {
        const struct block_device *d;

        f.now += 300;
        d = usb_look();
        (void)usb_take(&usb);
        if (d != NULL && d->error_message == NULL)
            (void)read_from((struct block_device *)d);
    }
}

static void pull_out(unsigned unit)
{
    pull(&f.units[unit]);
    look_twice();
}

static void plug_in(unsigned unit, uint32_t port)
{
    f.units[unit].port = port;
    plug(&f.units[unit]);
    look_twice();
}

enum order {
    WHILE_IT_IS_THERE,
    WHILE_IT_IS_AWAY,
    WHILE_ITS_FILES_WAIT,
    WHILE_ITS_CARD_WAITS,
    BEFORE_IT,
    BEFORE_IT_AND_OTHERS,
};

static const char *const orders[] = {
    "while the first is there",
    "while it is away",
    "while it is away and has open files",
    "while it is away, and comes back without its card",
    "before it",
    "before it and two sticks that go",
};

/* The second reader is empty when it is plugged in. Later it has a card, and the first is away. */
static void test_equal_readers(enum order order, uint8_t number)
{
    bool goes = order != WHILE_IT_IS_THERE && order < BEFORE_IT;
    unsigned drive = 0, n = 0;

    begin();
    put_reader(order < BEFORE_IT ? FIRST : SECOND, order < BEFORE_IT ? 2 : 3, number,
               order >= BEFORE_IT);
    for (unsigned i = OTHER; order == BEFORE_IT_AND_OTHERS && i <= KEYBOARD; i++)
        put_drive(i, i + 2);
    (void)open_all();
    look_twice();
    usb.devices[0].in_use = order == WHILE_ITS_FILES_WAIT || order == WHILE_ITS_CARD_WAITS;
    for (unsigned i = OTHER; order == BEFORE_IT_AND_OTHERS && i <= KEYBOARD; i++)
        pull_out(i);
    if (goes)
        pull_out(FIRST);
    put_reader(order < BEFORE_IT ? SECOND : FIRST, order < BEFORE_IT ? 3 : 2, number,
               order < BEFORE_IT);
    look_twice();
    is_empty[FIRST] = order == WHILE_ITS_CARD_WAITS;
    if (goes)
        plug_in(FIRST, 2);
    is_empty[FIRST] = false;
    if (order == WHILE_ITS_CARD_WAITS)
        (void)read_from(&usb.devices[0]);
    look_twice();
    while (drive + 1 < USB_DRIVES && usb.drives[drive].device.slot == 0)
        drive++;
    OK(unit_read(&usb.devices[drive]) == FIRST, "both readers are there, and the first is read");
    usb.devices[drive].in_use = true;
    pull_out(FIRST);
    pull_out(SECOND);
    is_empty[SECOND] = false;
    plug_in(SECOND, 3);
    for (unsigned i = 0; i < 5; i++) {
        n += unit_read(&usb.devices[drive]) == SECOND;
        look_twice();
    }
    OK(n == 0 && n_wrong == 0, "files are not read from an equal reader that was plugged in %s%s",
       orders[order], number != 0 ? ", with the same serial number" : "");
}

/* A reader that was refused without its card gives its port to a mouse, between two looks. */
static void test_mouse_in_place(void)
{
    unsigned drive = 0, n = 0;

    begin();
    put_reader(OTHER, 1, '1', false);
    f.units[OTHER].on_answer = be_cd_drive;
    put_reader(FIRST, 3, '2', true);
    (void)open_all();
    look_twice();
    put(KEYBOARD, FAKE_KEYBOARD, XHCI_SPEED_FULL, 5, 0);
    look_twice();
    pull(&f.units[FIRST]);
    put(MOUSE, FAKE_KEYBOARD, XHCI_SPEED_FULL, 3, 0); /* nobody takes a second one */
    look_twice();
    is_empty[FIRST] = false;
    plug_in(FIRST, 2);
    while (drive + 1 < USB_DRIVES && usb.drives[drive].device.slot == 0)
        drive++;
    OK(unit_read(&usb.devices[drive]) == FIRST, "the reader is read at another port");
    usb.devices[drive].in_use = true;
    pull_out(FIRST);
    plug_in(FIRST, 4);
    for (unsigned i = 0; i < 5; i++) {
        n += unit_read(&usb.devices[drive]) == FIRST;
        look_twice();
    }
    OK(n == 5 && n_wrong == 0, "and its files at a third one, also if a mouse had its port");
}

/* A stick is in the port of a drive with open files, is put back there, and answers late. */
static void test_silent_stick(bool has_files)
{
    begin();
    put_drive(FIRST, 2);
    (void)open_all();
    usb.devices[0].in_use = true;
    pull_out(FIRST);
    put_drive(SECOND, 2);
    look_twice();
    usb.devices[1].in_use = has_files;
    pull(&f.units[SECOND]);
    plug(&f.units[SECOND]);
    f.units[SECOND].mute = true;
    look_twice();
    OK(usb.is_told[1], "a stick %s open files that does not answer is not told as unplugged",
       has_files ? "with" : "without");
    f.units[SECOND].mute = false;
    f.now += 60000;
    look_twice();
    OK(usb.is_told[1] && unit_read(&usb.devices[1]) == SECOND && n_wrong == 0,
       "and is there when it answers");
}

static bool is_unreadable; /* block 0 of all sticks */
static uint8_t stick_number;

static void fail_block_0(struct fake_unit *unit)
{
    unit->times = is_unreadable && moves_blocks(unit) && be32(unit->cdb + 2) == 0;
    unit->fault = STALLED;
}

static void put_stick(unsigned unit, uint32_t port)
{
    put_drive(unit, port);
    f.units[unit].number = stick_number;
    f.units[unit].on_command = fail_block_0;
    memcpy(f.units[unit].disk, f.units[FIRST].disk, 512);
}

enum way { PULLED_OUT, OTHER_RESET, UNREADABLE, N_WAYS };

static const char *const ways[] = { "the first is pulled", "the second was reset before",
                                    "their first blocks cannot be read" };

/* Two sticks that nothing tells apart, such as those onto which one image was written. */
static void test_same_image(enum way way, bool at_start, uint8_t number)
{
    unsigned n = 0;

    begin();
    stick_number = number;
    is_unreadable = way == UNREADABLE;
    put_stick(FIRST, 2);
    if (at_start)
        put_stick(SECOND, 3);
    (void)open_all();
    look_twice();
    if (!at_start)
        put_stick(SECOND, 3);
    look_twice();
    usb.devices[0].in_use = true;
    OK(unit_read(&usb.devices[0]) == FIRST && unit_read(&usb.devices[1]) == SECOND,
       "two sticks with one image are two drives%s",
       number != 0 ? ", also with the same serial number" : "");
    if (way == OTHER_RESET)
        (void)usb.devices[1].reset(&usb.devices[1]);
    pull(&f.units[FIRST]);
    for (unsigned i = 0; i < 5; i++) {
        n += unit_read(&usb.devices[0]) >= 0;
        look_twice();
    }
    OK(n == 0, "the first one's files are not read from the second one if %s", ways[way]);
    plug_in(FIRST, 2);
    OK(unit_read(&usb.devices[0]) == FIRST && unit_read(&usb.devices[1]) == SECOND && n_wrong == 0,
       "both are read when it is back");
}

/* The first stick's block 0 goes bad before the second stick, which has the same image, comes. */
static void test_bad_since(uint8_t number)
{
    begin();
    stick_number = number;
    is_unreadable = false;
    put_stick(FIRST, 2);
    (void)open_all();
    usb.devices[0].in_use = true;
    is_unreadable = true;
    put_stick(SECOND, 3);
    f.units[SECOND].on_command = NULL;
    look_twice();
    OK(unit_read(&usb.devices[0]) == FIRST, "a stick whose block 0 goes bad is still read");
    pull_out(FIRST);
    OK(unit_read(&usb.devices[0]) < 0 && n_wrong == 0,
       "and its files are not read from one with its image");
}

/* A copy of a drive without a serial number may be anywhere, so the drive is taken only at its own
 * port. With a number it is found at another port. */
static void test_bound(uint8_t number)
{
    unsigned moved;

    begin();
    is_unreadable = false;
    stick_number = number;
    put_stick(FIRST, 2);
    (void)open_all();
    look_twice();
    usb.devices[0].in_use = true;
    pull_out(FIRST);
    plug_in(FIRST, 3);
    moved = number == 0;
    OK(unit_read(&usb.devices[moved]) == FIRST &&
           (number != 0 || read_from(&usb.devices[0]) != ERR_OK),
       "a stick with%s a serial number at another port is %s drive", number != 0 ? "" : "out",
       number != 0 ? "the same" : "a new");
    usb.devices[1].in_use = true;
    pull_out(FIRST);
    plug_in(FIRST, 2);
    OK(unit_read(&usb.devices[0]) == FIRST && n_wrong == 0, "and is read when it is back");
}

static void hang_at_modes(struct fake_unit *unit)
{
    unit->times = unit->cdb[0] == 0x1a; /* MODE SENSE (6) */
    unit->fault = SILENT;
    unit->of_any = true;
}

/* A drive that MODE SENSE silences is attached a second time while it is still new. */
static void test_hangs_at_modes(bool at_start)
{
    begin();
    if (!at_start)
        (void)open_all();
    put_drive(FIRST, 2);
    f.units[FIRST].number = 0;
    f.units[FIRST].on_command = hang_at_modes;
    if (at_start)
        (void)open_all();
    look_twice();
    OK(usb.devices[0].submit != NULL && unit_read(&usb.devices[0]) == FIRST && n_wrong == 0,
       "a stick without a serial number that hangs at MODE SENSE is read, %s",
       at_start ? "from the start" : "plugged in later");
}

/* The first stick is silent when its copy is plugged in. */
static void test_silent_at_its_port(void)
{
    unsigned n = 0;

    begin();
    is_unreadable = false;
    put_stick(FIRST, 2);
    (void)open_all();
    look_twice();
    usb.devices[0].in_use = true;
    f.units[FIRST].mute = true;
    (void)usb.devices[0].reset(&usb.devices[0]);
    put_stick(SECOND, 3);
    for (unsigned i = 0; i < 5; i++) {
        look_twice();
        n += unit_read(&usb.devices[0]) >= 0;
    }
    OK(n == 0 && unit_read(&usb.devices[1]) == SECOND,
       "the files of a silent stick are not read from its copy, which is another drive");
    f.units[FIRST].mute = false;
    f.now += 60000;
    look_twice();
    OK(unit_read(&usb.devices[0]) == FIRST && unit_read(&usb.devices[1]) == SECOND && n_wrong == 0,
       "and both are read when it answers again");
}

/* ---- readers with two slots, with one of two cards, or none, in each ---- */

enum { NO_CARD = -1, CARD = 0, OTHER_CARD = 20 }; /* a card is where it begins on the disk */

static int slots[FAKE_UNITS][2];

static void choose_card(struct fake_unit *unit)
{
    int card = slots[number_of(unit)][unit->lun];

    unit->times = 0;
    if (unit->cdb[0] == 0x12 || unit->cdb[0] == 3)
        return;
    if (card != NO_CARD) {
        unit->shift = (uint32_t)card;
        return;
    }
    unit->failed = unit->wanted == 0;
    unit->of_any = unit->wanted != 0;
    unit->times = unit->of_any;
    unit->fault = STALLED;
}

static void tell_empty_slot(struct fake_unit *unit)
{
    if (unit->cdb[0] == 3 && slots[number_of(unit)][unit->lun] == NO_CARD) {
        unit->answer[2] = 2;
        unit->answer[12] = 0x3a;
    }
}

static void put_slots(unsigned unit, uint32_t port, int first, int second)
{
    put_drive(unit, port);
    f.units[unit].number = 0;
    f.units[unit].unit = 1;
    f.units[unit].on_command = choose_card;
    f.units[unit].on_answer = tell_empty_slot;
    slots[unit][0] = first;
    slots[unit][1] = second;
}

/* A card is in the second slot of a reader. An equal reader has another card, and a copy of the first
 * one in its second slot, which never was a drive. */
static void test_copy_in_other_slot(void)
{
    unsigned n = 0;

    begin();
    put_slots(FIRST, 2, NO_CARD, CARD);
    put_slots(SECOND, 3, OTHER_CARD, CARD);
    memcpy(f.units[SECOND].disk, f.units[FIRST].disk, 512);
    (void)open_all();
    look_twice();
    usb.devices[0].in_use = true;
    OK(unit_read(&usb.devices[0]) == FIRST, "a card in a second slot is read");
    pull(&f.units[FIRST]);
    for (unsigned i = 0; i < 5; i++) {
        n += read_from(&usb.devices[0]) == ERR_OK;
        look_twice();
    }
    OK(n == 0, "its files are not read from a copy in the second slot of an equal reader");
    plug_in(FIRST, 2);
    OK(unit_read(&usb.devices[0]) == FIRST && n_wrong == 0, "and are read when it is back");
}

/* At the start the first of two equal readers is empty. */
static void test_empty_first(void)
{
    begin();
    put_reader(FIRST, 2, 0, true);
    put_reader(SECOND, 3, 0, false);
    OK(open_all() == 2 && has_name(found[0], ", port 2") && found[0]->error_message != NULL &&
           has_name(found[1], ", port 3") && unit_read(found[1]) == SECOND && n_wrong == 0,
       "an empty reader is reported at the start, and an equal one with a card is read");
}

int main(void)
{
    for (enum way way = PULLED_OUT; way < N_WAYS; way++) {
        test_same_image(way, true, 0);
        test_same_image(way, false, 0);
        test_same_image(way, true, '7');
        test_same_image(way, false, '7');
    }
    test_bad_since('7');
    test_bad_since(0);
    test_bound(0);
    test_bound('7');
    test_hangs_at_modes(true);
    test_hangs_at_modes(false);
    stick_number = 0;
    test_silent_at_its_port();
    test_copy_in_other_slot();
    test_empty_first();
    for (enum order order = WHILE_IT_IS_THERE; order <= BEFORE_IT_AND_OTHERS; order++)
        test_equal_readers(order, 0);
    test_equal_readers(WHILE_IT_IS_AWAY, '7');
    test_mouse_in_place();
    test_silent_stick(true);
    test_silent_stick(false);
    return usb_done();
}
