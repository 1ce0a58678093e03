/* Cards that come, go and return in readers.
 *
 * Why this file is long: all rows use one model of a reader's slots. */
#include "tests/unit/board/fakes/usb_done.h"
#include "tests/unit/board/fakes/usb_machine.h"
#include "tests/unit/tap.h"

enum { SHORT_CAPACITY = 0x25, LONG_CAPACITY = 0x9e }; /* commands that read the size */

/* The slots of a reader. Sense is that of commands that need the card; key 0: they succeed. */
static struct slot {
    uint32_t first; /* the block of the unit's disk at which the card begins */
    uint8_t key, code;
    bool stays; /* the sense is that of later commands, too */
    bool large; /* the card has 2^33 more blocks */
} slots[2];

static unsigned n_asked; /* TEST UNIT READY */

static bool reset_tells;   /* the reader reports all cards as changed after a reset */
static unsigned n_started; /* addresses that it has had */

static void tell_reset(void)
{
    if (reset_tells && f.n_addresses != n_started)
        for (unsigned i = 0; i < 2; i++)
            if (slots[i].key == 0)
                slots[i] = (struct slot){ slots[i].first, 6, 0x28, false, false };
    n_started = f.n_addresses;
}

static void fail_card(struct fake_unit *unit)
{
    bool has_data = unit->cdb[0] == SHORT_CAPACITY || unit->cdb[0] == LONG_CAPACITY ||
                    moves_blocks(unit);
    const struct slot *s = &slots[unit->lun];

    tell_reset();
    n_asked += unit->cdb[0] == 0;
    unit->first = s->first;
    unit->failed = s->key != 0 && unit->cdb[0] == 0;
    unit->of_any = s->key != 0 && has_data;
    unit->times = unit->of_any;
    if (unit->of_any)
        unit->fault = STALLED;
}

static void tell_card(struct fake_unit *unit)
{
    struct slot *s = &slots[unit->lun];

    if (s->large && unit->cdb[0] == SHORT_CAPACITY)
        memset(unit->answer, 255, 4);
    if (s->large && unit->cdb[0] == LONG_CAPACITY)
        unit->answer[3] += 2;
    if (unit->cdb[0] != 3) /* REQUEST SENSE */
        return;
    unit->answer[2] = s->key;
    unit->answer[12] = s->code;
    if (!s->stays)
        s->key = s->code = 0;
}

/* Put in a card that begins at this block; each has another size. */
static void put_card(unsigned slot, uint32_t first)
{
    slots[slot] = (struct slot){ first, 6, 0x28, false, false }; /* the medium may have changed */
}

static void take_card(unsigned slot)
{
    slots[slot] = (struct slot){ 0, 2, 0x3a, true, false }; /* there is no medium */
}

static void be_reader(unsigned unit, unsigned n_slots)
{
    f.units[unit].unit = (uint8_t)(n_slots - 1);
    f.units[unit].on_command = fail_card;
    f.units[unit].on_answer = tell_card;
    memset(slots, 0, sizeof slots);
}

/* A reader with a card that has open files. */
static void start_with_card(unsigned n_slots)
{
    clear();
    put_drive(0, 2);
    be_reader(0, n_slots);
    if (n_slots > 1)
        take_card(1);
    (void)open_all();
    usb.devices[0].in_use = true;
}

/* The card with open files is replaced by another one, which requests and looks find, and is put back. */
static void test_card_is_put_back(void)
{
    unsigned n = 0;

    start_with_card(1);
    put_card(0, 4);
    for (unsigned i = 0; i < 2; i++)
        (void)read_from(&usb.devices[0]);
    (void)n_reports();
    OK(!usb.is_told[0] && usb.is_told[1], "another card is a new drive");
    put_card(0, 0);
    for (unsigned i = 0; i < 4; i++) {
        n += unit_read(&usb.devices[0]) == 0;
        (void)n_reports();
    }
    OK(n >= 3 && usb.is_told[0] && n_wrong == 0, "a card that is put back is read (%u of 4 times)",
       n);
}

/* Look as the program does: list each drive that is found, which reads it. Returns the number of
 * reports. */
static unsigned list(unsigned n_looks)
{
    unsigned n = 0;

    for (unsigned i = 0; i < n_looks; i++) {
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
    if (way != AT_ONCE) {
        take_card(0);
        (void)list(3);
    }
    if (way == SLOWLY) {
        slots[0].code = 4; /* it becomes ready */
        (void)list(3);
    }
    put_card(0, first);
    if (way == UNTOLD || way == SLOWLY)
        slots[0].key = slots[0].code = 0;
}

/* Two requests miss a drive's card. */
static void ask_in_vain(unsigned drive)
{
    for (unsigned i = 0; i < 2; i++)
        (void)read_from(&usb.devices[drive]);
}

/* Requests miss the card with open files; looks find another one. */
static void miss_card(void)
{
    ask_in_vain(0);
    (void)list(LOOKS);
}

/* A card with open files is replaced by another one, which is listed; then the first is put back. */
static void test_card_after_listing(enum way way, bool both_in_use)
{
    unsigned n;

    start_with_card(1);
    change_card(4, AT_ONCE);
    miss_card();
    OK(!usb.is_told[0] && usb.is_told[1] && usb.drives[1].device.slot != 0,
       "another card is listed");
    usb.devices[1].in_use = both_in_use;
    change_card(0, way);
    n = list(LOOKS);
    OK(n == 2 && usb.is_told[0] && !usb.is_told[1],
       "a card that is put back %s, after another was listed, is found%s", ways[way],
       both_in_use ? ", if both have open files" : "");
    OK(unit_read(&usb.devices[0]) == 0 && n_wrong == 0, "its files are read");
    if (!both_in_use)
        return;
    change_card(4, way);
    n = list(LOOKS);
    OK(n == 2 && usb.is_told[1] && !usb.is_told[0] && read_from(&usb.devices[1]) == ERR_OK &&
           n_wrong == 0,
       "and then the other card");
}

/* The second card is taken out, missed by a request, and put back; its reader is not always ready. */
static void test_listed_card_stays(void)
{
    start_with_card(1);
    put_card(0, 4);
    miss_card();
    f.n_addresses = 0;
    slots[0] = (struct slot){ 4, 2, 4, true, false };
    (void)list(3);
    slots[0].key = 0;
    OK(list(LOOKS) == 0 && usb.drives[1].device.slot != 0 && f.n_addresses == 0,
       "a card whose reader becomes ready is not changed");
    take_card(0);
    (void)list(3);
    OK(read_from(&usb.devices[1]) != ERR_OK, "a card that was taken out is not read");
    slots[0] = (struct slot){ 4, 0, 0, false, false };
    OK(read_from(&usb.devices[1]) == ERR_OK, "but is read when it is put back");
    (void)list(2); /* the slot was empty, so the reader is started once more */
    n_asked = 0;
    OK(list(LOOKS) == 0 && n_asked == LOOKS && n_wrong == 0,
       "and stays; its reader is asked once in each look (%u times)", n_asked);
    usb.devices[0].in_use = false;
    n_asked = 0;
    OK(list(LOOKS) == 0 && n_asked == 0, "but not after the files were closed");
}

/* A drive with open files is pulled; another one, at the same port or not, is not asked. */
static void test_others_are_not_asked(uint32_t port, uint8_t number)
{
    clear();
    put_drive(0, 2);
    (void)open_all();
    usb.devices[0].in_use = true;
    pull(&f.units[0]);
    (void)list(LOOKS);
    put(1, FAKE_DRIVE, XHCI_SPEED_HIGH, port, 0);
    f.units[1].number = number;
    be_reader(1, 1);
    slots[0].first = 4; /* another size */
    (void)list(LOOKS);
    n_asked = 0;
    (void)list(LOOKS);
    OK(usb.drives[1].device.slot != 0 && n_asked == (number == '1' ? LOOKS : 0) && n_wrong == 0,
       number == '1' ? "a drive with equal numbers at another port may be the reader of that card"
                     : "a drive with another serial number is not asked for its card");
}

/* Both cards have open files; the attached one is taken out and put back, which the reader does not
 * tell. */
static void test_same_card_returns(void)
{
    start_with_card(1);
    put_card(0, 4);
    miss_card();
    usb.devices[1].in_use = true;
    put_card(0, 0);
    (void)list(LOOKS);
    take_card(0);
    (void)list(3);
    memset(slots, 0, sizeof slots);
    f.n_addresses = 0;
    OK(list(LOOKS) == 0 && usb.drives[0].device.slot != 0 && f.n_addresses == 0 && n_wrong == 0,
       "a card that is put back itself is not started again");
}

/* The first card is put back in the reader's first slot; the other card is in the second one. */
static void test_two_slots(bool at_start)
{
    start_with_card(2);
    if (at_start)
        put_card(1, 4);
    take_card(0);
    if (!at_start) {
        miss_card();
        put_card(1, 4);
    }
    miss_card();
    OK(usb.drives[1].device.slot != 0 && usb.drives[1].unit == 1,
       "the card in the other slot is listed");
    put_card(0, 0);
    (void)list(LOOKS);
    OK(usb.is_told[0] && unit_read(&usb.devices[0]) == 0 && n_wrong == 0,
       "a card that is put back in its slot is found, with another card in the other slot");
}

/* The card with open files is the second drive; the first drive's card takes the reader. */
static void test_second_drive(void)
{
    start_with_card(2);
    take_card(0);
    put_card(1, 4);
    miss_card();
    usb.devices[0].in_use = false;
    usb.devices[1].in_use = true;
    put_card(0, 0);
    take_card(1);
    ask_in_vain(1);
    (void)list(LOOKS);
    OK(usb.drives[0].device.slot != 0 && !usb.is_told[1], "the card that nobody uses is listed");
    put_card(1, 4);
    (void)list(LOOKS);
    OK(usb.is_told[1] && read_from(&usb.devices[1]) == ERR_OK && n_wrong == 0,
       "a card with open files goes before a drive with a lower number");
}

/* The first card is put back before the reader is asked for the first time. */
static void test_back_at_once(unsigned n_slots)
{
    start_with_card(n_slots);
    take_card(0);
    put_card(n_slots - 1, 4);
    ask_in_vain(0);
    for (unsigned i = 0; i < LOOKS && usb.drives[1].device.slot == 0; i++)
        (void)list(1);
    put_card(0, 0);
    (void)list(LOOKS);
    OK(usb.is_told[0] && unit_read(&usb.devices[0]) == 0 && n_wrong == 0,
       "a card that is put back before the first question is found, in a reader with %u slots",
       n_slots);
}

/* A third card is in the first card's slot. The reader reports all cards as changed after a reset. */
static void test_third_card(void)
{
    start_with_card(2);
    reset_tells = true;
    take_card(0);
    put_card(1, 4);
    miss_card();
    put_card(0, 2);
    (void)list(LOOKS);
    f.n_addresses = n_started = 0;
    OK(list(LOOKS) == 0 && usb.drives[1].device.slot != 0 && f.n_addresses == 0,
       "a reader with a third card is not started in each look (%u times)", f.n_addresses);
    put_card(0, 0); /* while no look comes */
    (void)list(LOOKS);
    OK(usb.is_told[0] && (unit_read(&usb.devices[0]) == 0 || unit_read(&usb.devices[0]) == 0) &&
           n_wrong == 0,
       "the first card is found in place of the third one");
    reset_tells = false;
}

/* Cards with open files are in both slots: only one of them is attached. It stays while it is there. */
static void test_both_in_use(bool taken_out)
{
    start_with_card(2);
    take_card(0);
    put_card(1, 4);
    miss_card();
    usb.devices[1].in_use = true;
    put_card(0, 0);
    f.n_addresses = 0;
    OK(list(LOOKS) == 0 && usb.drives[1].device.slot != 0 && f.n_addresses == 0,
       "a card with open files does not give way to one in the other slot");
    if (taken_out)
        take_card(1);
    else
        usb.devices[1].in_use = false;
    (void)list(LOOKS);
    OK(usb.is_told[0] && unit_read(&usb.devices[0]) == 0 && n_wrong == 0, "but does when %s",
       taken_out ? "it is taken out" : "its files are closed");
}

/* The listed card is replaced by a third one, which the reader does not report. */
static void test_untold_third_card(void)
{
    uint64_t n_sectors;

    start_with_card(1);
    n_sectors = usb.devices[0].n_sectors;
    put_card(0, 4);
    miss_card();
    slots[0] = (struct slot){ 2, 0, 0, false, false };
    (void)list(LOOKS);
    OK(usb.drives[1].device.slot != 0 && usb.devices[1].n_sectors == n_sectors + 2 && n_wrong == 0,
       "a third card in the listed card's slot is a new drive");
}

static bool changes_late; /* the card is replaced during the next MODE SENSE */

static void change_late(struct fake_unit *unit)
{
    bool now = changes_late && unit->cdb[0] == 0x1a;

    if (now)
        put_card(0, 2);
    fail_card(unit);
    if (now) {
        unit->of_any = true;
        unit->fault = STALLED;
        unit->times = 1;
        changes_late = false;
    }
}

static uint8_t late_command;   /* the card is taken out when this command comes next; 0: it stays */
static bool is_replaced;       /* another card is put in at once */
static bool refuses_long_size; /* the reader does not know READ CAPACITY (16) */

static void go_late(struct fake_unit *unit)
{
    struct slot *s = &slots[unit->lun];

    if (late_command != 0 && unit->cdb[0] == late_command) {
        if (is_replaced)
            put_card(0, 2);
        else
            take_card(0);
        late_command = 0;
    }
    if (refuses_long_size && unit->cdb[0] == LONG_CAPACITY && s->key == 0) {
        s->key = 5;
        s->code = 0x20;
    }
    fail_card(unit);
}

/* A card of 2^32 blocks, in a reader that does not know READ CAPACITY (16), is replaced while its
 * size is read: by a question, or at a start. */
static void test_replaced_in_question(bool at_start)
{
    unsigned new = at_start ? 0 : 2; /* the slot of a drive without open files, if there is one */
    uint64_t n_sectors;

    start_with_card(1);
    n_sectors = usb.devices[0].n_sectors;
    f.units[0].on_command = go_late;
    refuses_long_size = is_replaced = true;
    put_card(0, 4);
    slots[0].large = true;
    miss_card();
    OK(usb.drives[1].device.slot != 0 && usb.devices[1].n_sectors == 1ull << 32,
       "a drive that refuses READ CAPACITY (16) has 2^32 blocks");
    usb.devices[1].in_use = true;
    usb.devices[0].in_use = !at_start; /* only a reader of a missing card is asked */
    if (at_start) {
        slots[0] = (struct slot){ 4, 6, 0x28, false,
                                  true }; /* the next request releases the card */
        (void)read_from(&usb.devices[1]);
    }
    late_command = LONG_CAPACITY;
    if (at_start) {
        OK(read_from(&usb.devices[1]) != ERR_OK && late_command == 0,
           "a card that is put in while the size is read at a start is not read as the first");
        (void)read_from(&usb.devices[1]);
    }
    (void)list(LOOKS);
    OK(late_command == 0 && usb.drives[new].device.slot != 0 &&
           usb.devices[new].n_sectors == n_sectors + 2 && n_wrong == 0,
       "it is a new drive");
    refuses_long_size = is_replaced = false;
}

/* The first card has open files. It is put back and taken out again, which a request finds. Then a
 * stick comes: the other card does not count as there because its reader is. */
static void test_stick_beside_empty_reader(bool is_full)
{
    unsigned stick = is_full ? 1 : 2, other = is_full ? 2 : 1;

    start_with_card(1);
    if (is_full) { /* three drives are known */
        put_drive(1, 4);
        (void)list(2 * LOOKS);
    }
    change_card(4, AT_ONCE);
    miss_card();
    change_card(0, AT_ONCE);
    ask_in_vain(other);
    (void)list(LOOKS);
    take_card(0);
    miss_card();
    put_drive(2, 5);
    (void)list(4 * LOOKS);
    OK(!usb.is_told[other] || usb.drives[other].device.port == 5,
       "a card that is not there is not told when a stick comes");
    OK(unit_read(&usb.devices[is_full ? other : stick]) == 2 && n_wrong == 0, "the stick is read%s",
       is_full ? " in the slot of that card" : "");
}

/* The listed card is taken out between two commands of a question; then the first is put back. */
static void test_gone_in_question(bool large, uint8_t command)
{
    start_with_card(1);
    put_card(0, 4);
    slots[0].large = large;
    miss_card();
    f.units[0].on_command = go_late;
    late_command = command;
    OK(list(LOOKS) == 0 && late_command == 0 && !usb.is_told[0] && usb.drives[1].device.slot != 0,
       "a card that is taken out before command %02xh of a question is not told as another",
       command);
    put_card(0, 0);
    (void)list(LOOKS);
    OK(usb.is_told[0] && !usb.is_told[1] && unit_read(&usb.devices[0]) == 0 && n_wrong == 0,
       "and the first card is found after it");
}

/* The reader fails its question without a cause: the sense key is 0. */
static void test_no_cause(void)
{
    start_with_card(1);
    put_card(0, 4);
    miss_card();
    slots[0] = (struct slot){ 0, 0x10, 0, true, false };
    OK(list(LOOKS) == 0 && usb.drives[1].device.slot != 0 && n_wrong == 0,
       "a card stays while its reader does not say what is wrong");
}

static void move_reader(uint32_t port)
{
    pull(&f.units[0]);
    (void)list(LOOKS);
    f.units[0].port = port;
    plug(&f.units[0]);
    (void)list(LOOKS);
}

/* While no look comes, the reader moves with its first card, and a stick takes its port. */
static void test_stick_in_place_of_reader(void)
{
    start_with_card(1);
    put_card(0, 4);
    miss_card();
    pull(&f.units[0]);
    put_card(0, 0);
    f.units[0].port = 3;
    plug(&f.units[0]);
    put_drive(1, 2);
    (void)list(LOOKS);
    OK(unit_read(&usb.devices[0]) == 0, "the first card is read in its reader, which has moved");
    move_reader(4);
    OK(unit_read(&usb.devices[0]) == 0 && n_wrong == 0, "and at another port");
}

static bool changes_at_start; /* the disk is replaced when START UNIT comes, which tells it */

static void start_disk(struct fake_unit *unit)
{
    bool starts = unit->cdb[0] == 0x1b; /* START UNIT */

    if (starts && changes_at_start)
        put_card(unit->lun, 2);
    else if (starts && slots[unit->lun].code == 4)
        slots[unit->lun].key = 0;
    fail_card(unit);
    unit->failed |= starts && changes_at_start;
    changes_at_start &= !starts;
}

/* The listed disk waits for START UNIT, and is replaced when a question sends it. */
static void test_replaced_at_start_unit(void)
{
    start_with_card(1);
    put_card(0, 4);
    miss_card();
    usb.devices[1].in_use = true;
    f.units[0].on_command = start_disk;
    changes_at_start = true;
    slots[0] = (struct slot){ 4, 2, 4, true, false };
    while (changes_at_start) {
        f.now += 300;
        (void)usb_look();
    }
    OK(read_from(&usb.devices[1]) != ERR_OK && n_wrong == 0,
       "a disk that is replaced when it is started is not read as the one before");
}

/* The slots are the bays of a dock, and the disk that is put back waits for START UNIT. */
static void test_waiting_disk(void)
{
    start_with_card(2);
    f.units[0].on_command = start_disk;
    take_card(0);
    put_card(1, 4);
    miss_card();
    slots[0] = (struct slot){ 0, 2, 4, true, false };
    (void)list(LOOKS);
    OK(usb.is_told[0] && unit_read(&usb.devices[0]) == 0 && n_wrong == 0,
       "a disk that is put back in another bay is started");
}

/* A card of more than 2^32 blocks is taken out before its size is known. */
static void test_gone_at_start(void)
{
    clear();
    put_drive(0, 2);
    be_reader(0, 1);
    slots[0].large = true;
    f.units[0].on_command = go_late;
    late_command = LONG_CAPACITY;
    (void)open_all();
    OK(late_command == 0 && usb.devices[0].error_message != NULL,
       "a card that is taken out while its size is read has no size");
    pull(&f.units[0]);
    put_card(0, 0);
    (void)list(LOOKS);
    plug(&f.units[0]);
    (void)list(LOOKS);
    OK(unit_read(&usb.devices[0]) == 0 && n_wrong == 0,
       "and the reader is used when it is plugged in again with a card");
}

/* A card is replaced during the last command of its start: of a later one, and of the first one. */
static void test_late_change(void)
{
    uint64_t n_sectors;

    start_with_card(1);
    n_sectors = usb.devices[0].n_sectors;
    f.units[0].on_command = change_late;
    take_card(0);
    ask_in_vain(0);
    put_card(0, 0);
    changes_late = true;
    OK(read_from(&usb.devices[0]) != ERR_OK && !changes_late && n_wrong == 0,
       "a card that is replaced at the end of its start is not read as the first one");
    clear();
    put_drive(0, 2);
    be_reader(0, 1);
    f.units[0].on_command = change_late;
    changes_late = true;
    (void)open_all();
    OK(!changes_late && usb.drives[0].device.slot != 0 &&
           usb.devices[0].n_sectors == n_sectors + 2 && n_wrong == 0,
       "the size of a new card that is replaced at the end of its start is read again");
}

/* The first card is moved to the other slot and back. */
static void test_other_slot(void)
{
    start_with_card(2);
    take_card(0);
    put_card(1, 0);
    miss_card();
    OK(usb.drives[1].device.slot != 0 && usb.drives[1].unit == 1,
       "a card in another slot is a new drive");
    take_card(1);
    (void)list(3);
    put_card(0, 0);
    (void)list(LOOKS);
    OK(usb.is_told[0] && !usb.is_told[1] && unit_read(&usb.devices[0]) == 0 && n_wrong == 0,
       "a card that is moved to the other slot and back is found");
}

/* The reader moves with the other card; then the first one is put back. */
static void test_moved_reader(void)
{
    start_with_card(1);
    put_card(0, 4);
    miss_card();
    pull(&f.units[0]);
    (void)list(LOOKS);
    put_drive(0, 3);
    (void)list(LOOKS);
    OK(usb.drives[1].device.slot != 0 && usb.drives[1].place == 3, "a reader moves with a card");
    change_card(0, AFTER_LOOKS);
    (void)list(LOOKS);
    OK(usb.is_told[0] && !usb.is_told[1] && unit_read(&usb.devices[0]) == 0 && n_wrong == 0,
       "the first card is found in a reader that has moved");
}

/* A reader with the same numbers has one slot less: the missing slot is not asked. */
static void test_fewer_slots(void)
{
    start_with_card(2);
    take_card(0);
    put_card(1, 0);
    usb.devices[0].in_use = false;
    miss_card();
    usb.devices[0].in_use = true;
    OK(usb.drives[0].device.slot != 0 && usb.drives[0].unit == 1,
       "a card in another slot takes the entry of a drive without open files");
    pull(&f.units[0]);
    (void)list(LOOKS);
    be_reader(0, 1);
    put_card(0, 2);
    plug(&f.units[0]);
    (void)list(LOOKS);
    OK(usb.drives[1].device.slot != 0, "a reader with one slot is another drive");
    n_asked = 0;
    (void)list(LOOKS);
    OK(n_asked == 0 && n_wrong == 0, "a slot that a reader does not have is not asked");
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
    start_with_card(1);
    put_card(0, 4);
    miss_card();
    f.units[0].on_command = fall_silent;
    (void)list(LOOKS);
    OK(usb.drives[1].device.slot == 0, "a reader that falls silent is released");
    f.units[0].of_any = false;
    f.units[0].on_command = fail_card;
    put_card(0, 0);
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
    be_reader(1, 1);
    take_card(0);
    put(1, FAKE_DRIVE, XHCI_SPEED_HIGH, 4, 0);
    (void)n_reports();
    OK(!usb.is_told[0] && !usb.is_told[1] && n_wrong == 0,
       "both drives of a pulled hub are told, though a reader without a card is in its place");
}

int main(void)
{
    test_card_is_put_back();
    for (enum way way = AT_ONCE; way <= UNTOLD; way++) {
        test_card_after_listing(way, false);
        test_card_after_listing(way, true);
    }
    test_listed_card_stays();
    test_same_card_returns();
    test_two_slots(false);
    test_two_slots(true);
    test_second_drive();
    test_back_at_once(1);
    test_back_at_once(2);
    test_third_card();
    test_both_in_use(false);
    test_both_in_use(true);
    test_untold_third_card();
    test_gone_in_question(false, SHORT_CAPACITY);
    test_gone_in_question(true, LONG_CAPACITY);
    test_replaced_in_question(false);
    test_replaced_in_question(true);
    test_stick_beside_empty_reader(false);
    test_stick_beside_empty_reader(true);
    test_no_cause();
    test_stick_in_place_of_reader();
    test_waiting_disk();
    test_replaced_at_start_unit();
    test_gone_at_start();
    test_late_change();
    test_other_slot();
    test_moved_reader();
    test_fewer_slots();
    test_others_are_not_asked(2, '7');
    test_others_are_not_asked(3, '1');
    test_silent_reader();
    test_reader_in_place_of_hub();
    return usb_done();
}
