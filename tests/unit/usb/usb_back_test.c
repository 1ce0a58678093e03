/* Drives that come back and do not answer as they should, or too late: which drive a look takes them for. And drives of a
 * controller that does not stop. */
#include "tests/unit/board/fakes/usb_done.h"
#include "tests/unit/board/fakes/usb_machine.h"
#include "tests/unit/tap.h"

/* A drive that is back at its own port, or at port 1, and is refused once. */
static void refuse_once(bool with_files, uint32_t port)
{
    clear();
    put_drive(0, 2);
    (void)open_all();
    pull(&f.units[0]);
    usb.devices[0].in_use = with_files;
    (void)looks();
    usb.devices[0].in_use = with_files;
    be_silent(&f.units[0], 1);
    f.units[0].port = port;
    plug(&f.units[0]);
}

static void test_refused_once(void)
{
    const struct block_device *told;

    for (uint32_t port = 2; port >= 1; port--) {
        refuse_once(true, port);
        told = looks();
        OK(told == &usb.refused && told->error_message != NULL && usb.n_drives == 1 &&
               n_silent == 0,
           "port %u: a drive that counts and is refused once is reported, and does not become a new one",
           (unsigned)port);
        OK(unit_read(&usb.devices[0]) == 0 && looks() == &usb.devices[0] && looks() == NULL &&
               n_wrong == 0,
           "port %u: its file continues at the next read", (unsigned)port);
    }
    refuse_once(true, 2);
    (void)looks();
    OK(tells(0, ", port 2", true) && looks() == NULL && unit_read(&usb.devices[0]) == 0,
       "it is there again at its port even if nothing reads its file");
    refuse_once(false, 2);
    OK(tells(0, ", port 2", true) && usb.n_drives == 1 && n_silent == 0 &&
           unit_read(&usb.devices[0]) == 0 && looks() == NULL && n_wrong == 0,
       "a drive without files that is refused once works as a new drive in its own slot");
    pull(&f.units[0]);
    OK(tells(0, ", port 2", false), "and is unplugged again");
    f.units[0].port = 1;
    plug(&f.units[0]);
    OK(tells(0, ", port 1", true) && unit_read(&usb.devices[0]) == 0, "and is known at port 1");
    refuse_once(false, 2);
    n_silent = 2;
    OK(tells(0, ", port 2", false) && looks() == NULL, "one that is refused twice is reported");
    pull(&f.units[0]);
    plug(&f.units[0]);
    OK(tells(0, ", port 2", true) && unit_read(&usb.devices[0]) == 0 && usb.n_drives == 1,
       "and works when it is plugged in again");
}

static void test_forgotten_twice(void)
{
    clear();
    put_drive(0, 1);
    put_drive(1, 2);
    (void)open_all();
    pull(&f.units[0]);
    pull(&f.units[1]);
    (void)looks();
    (void)looks();
    be_silent(&f.units[0], 2);
    plug(&f.units[0]);
    (void)looks();
    pull(&f.units[0]);
    be_silent(&f.units[1], 1);
    plug(&f.units[1]);
    OK(tells(0, ", port 2", true) && unit_read(&usb.devices[0]) == 1 && n_silent == 0,
       "a drive that was forgotten is read in another slot");
    refuse_once(false, 2);
    pull(&f.units[0]);
    n_silent = 0;
    put(1, FAKE_DRIVE, XHCI_SPEED_HIGH, 1, 0);
    f.units[1].number = f.units[0].number;
    memcpy(f.units[1].disk, f.units[0].disk, sizeof f.units[1].disk);
    be_silent(&f.units[1], 1);
    OK(tells(0, ", port 1", true) && n_silent == 0 && usb.n_drives == 1 &&
           unit_read(&usb.devices[0]) == 0,
       "an equal drive at another port, which is refused once, is that drive, as without a refusal");
}

/* A drive's slot while another drive, which is back, is first taken for a new one in it. */
static void test_forgotten(void)
{
    clear();
    put_drive(0, 1);
    put_drive(1, 2);
    (void)open_all();
    pull(&f.units[0]);
    pull(&f.units[1]);
    (void)looks();
    (void)looks();
    be_silent(&f.units[0], 2);
    plug(&f.units[0]);
    OK(tells(0, ", port 1", false), "a drive that is refused twice has no size any more");
    be_silent(&f.units[1], 1);
    f.units[1].port = 3;
    plug(&f.units[1]);
    OK(tells(1, ", port 3", true) && unit_read(&usb.devices[1]) == 1 && n_silent == 0,
       "another one comes back, and is refused once");
    OK(usb.devices[0].n_sectors == 0 && usb.devices[0].error_message != NULL && n_wrong == 0,
       "the first one still cannot be used");
    clear();
    put_drive(0, 2);
    (void)open_all();
    pull(&f.units[0]);
    plug(&f.units[0]);
    f.units[0].mute = true;
    OK(tells(0, ", port 2", false) && looks() == NULL,
       "a drive that reconnects and answers no more is unplugged, by its name");
}

/* Two drives that reconnect, of which one answers no more, while a third one's loss is reported. */
static void test_two_forgotten(void)
{
    clear();
    put_drive(0, 1);
    put_drive(1, 2);
    put_drive(2, 4);
    (void)open_all();
    for (unsigned i = 1; i < 3; i++) {
        pull(&f.units[i]);
        plug(&f.units[i]);
    }
    f.units[2].mute = true;
    be_silent(&f.units[1], 2); /* the first time when port 4 is looked at */
    f.now += 300;
    (void)usb_look();
    pull(&f.units[0]);
    usb.last_place = 2; /* port 4 is next */
    OK(tells(0, ", port 1", false) && usb.is_told[2] && usb.devices[2].n_sectors == 0,
       "a drive is forgotten whose loss is not reported yet");
    OK(tells(1, ", port 2", true) && n_silent == 0 && unit_read(&usb.devices[1]) == 1,
       "another one that is refused keeps its own slot, and is not unplugged");
    OK(tells(2, ", port 4", false) && looks() == NULL && n_wrong == 0,
       "then the first one's loss is reported");
}

/* A drive behind one with blocks that are too large, which keeps a slot of a lower number free. */
static void test_own_slot(void)
{
    clear();
    put_drive(0, 1);
    f.units[0].block_bytes = 8192;
    put_drive(1, 2);
    (void)open_all();
    be_silent(&f.units[1], 1);
    pull(&f.units[1]);
    plug(&f.units[1]);
    OK(tells(1, ", port 2", true) && unit_read(&usb.devices[1]) == 1 && n_silent == 0 &&
           looks() == NULL && n_wrong == 0,
       "a drive that reconnects and is refused once is not reported as unplugged");
}

/* A drive is pulled while another one comes, which gets its slot, or is first taken for a new one in it. */
static void test_lost_first(bool is_new)
{
    clear();
    put_drive(0, 1);
    put_drive(1, 2);
    put_drive(2, 4);
    (void)open_all();
    pull(&f.units[1]);
    (void)looks();
    pull(&f.units[0]);
    if (is_new) {
        usb.devices[1].in_use = true;
        put_drive(3, 3);
    } else {
        be_silent(&f.units[1], 1);
        f.units[1].port = 3;
        plug(&f.units[1]);
    }
    take_keys();
    OK(tells(0, ", port 1", false), "a drive that is gone is reported before %s comes",
       is_new ? "a new one" : "another one");
    OK(tells(!is_new, ", port 3", true) && n_silent == 0 &&
           unit_read(&usb.devices[!is_new]) == (is_new ? 3 : 1) && looks() == NULL && n_wrong == 0,
       "and then that one");
}

/* INQUIRY has an answer each second time. */
static void answer_every_second(struct fake_unit *unit)
{
    static bool odd;

    if (unit->cdb[0] == 0x12)
        odd = !odd;
    unit->times = unit->cdb[0] == 0x12 && odd;
}

static void test_unsteady(void)
{
    const struct block_device *told;

    refuse_once(false, 1);
    f.units[0].on_command = answer_every_second;
    told = looks();
    OK(told == &usb.refused && told->error_message != NULL && has_name(told, ", port 1") &&
           n_wrong == 0,
       "a drive that works only as a new one is reported");
}

/* A device with the numbers and the size of a drive, but with longer blocks. */
static void test_other_blocks(void)
{
    clear();
    put_drive(0, 2);
    (void)open_all();
    usb.devices[0].in_use = true;
    pull(&f.units[0]);
    (void)looks();
    f.units[0].block_bytes = 1024;
    plug(&f.units[0]);
    OK(tells(1, ", port 2", true) && unit_read(&usb.devices[1]) == 0 && n_wrong == 0,
       "a drive of the same size with longer blocks is a new one");
}

/* A drive whose first three tries get no answer. */
static void test_late_answers(void)
{
    for (unsigned files = 0; files < 2; files++)
        for (uint32_t port = 2; port >= 1; port--) {
            refuse_once(files, port);
            n_silent = 0;
            f.units[0].lost_requests = 3;
            OK(tells(0, port == 2 ? ", port 2" : ", port 1", true) && usb.n_drives == 1 &&
                   unit_read(&usb.devices[0]) == 0 && f.units[0].lost_requests == 0 &&
                   looks() == NULL && n_wrong == 0,
               "port %u: a drive that answers late, %s files, stays in its slot", (unsigned)port,
               files ? "with" : "without");
        }
    refuse_once(true, 2);
    n_silent = 0;
    f.units[0].mute = true;
    OK(tells(0, ", port 2", true) && looks() == NULL && unit_read(&usb.devices[0]) < 0,
       "a device without answers may be the drive of its port");
    f.units[0].mute = false;
    OK(unit_read(&usb.devices[0]) == 0 && usb.n_drives == 1 && looks() == NULL && n_wrong == 0,
       "its file continues when it answers");
}

/* Another device, which answers late, in place of a drive with open files: a drive, or a hub with one. */
static void test_taken_for_a_drive(bool hub)
{
    refuse_once(true, 2);
    n_silent = 0;
    pull(&f.units[0]);
    put(2, FAKE_KEYBOARD, XHCI_SPEED_LOW, 4, 0);
    take_keys();
    if (hub)
        put(1, FAKE_HUB, XHCI_SPEED_HIGH, 2, 0);
    else
        put_drive(1, 2);
    f.units[1].lost_requests = 3;
    OK(tells(0, ", port 2", true) && looks() == NULL && f.units[1].lost_requests == 0,
       "%s that answers late is taken for the drive of its port", hub ? "a hub" : "a drive");
    OK(unit_read(&usb.devices[0]) < 0, "the drive's files do not read it");
    if (hub)
        put(3, FAKE_DRIVE, XHCI_SPEED_HIGH, 2, 1);
    (void)wait_in_looks();
    OK(!usb.is_told[0] && usb.is_told[1] && usb.n_drives == 2 &&
           unit_read(&usb.devices[1]) == (hub ? 3 : 1) && looks() == NULL && n_wrong == 0,
       "which then is unplugged, and the device is new");
}

/* The drive is at another port meanwhile. */
static void test_taken_elsewhere(void)
{
    refuse_once(true, 2);
    n_silent = 0;
    pull(&f.units[0]);
    put_drive(1, 2);
    f.units[1].mute = true;
    OK(tells(0, ", port 2", true) && looks() == NULL, "a mute device is taken for a drive");
    f.units[0].port = 3;
    plug(&f.units[0]);
    for (unsigned i = 0; i < 2; i++) {
        f.now += 300;
        (void)usb_look();
    }
    f.units[1].mute = false;
    OK(usb.drives[0].place == 3 && tells(1, ", port 2", true) && unit_read(&usb.devices[0]) == 0 &&
           unit_read(&usb.devices[1]) == 1 && n_wrong == 0,
       "until that is found at another port: then the device is new");
}

static unsigned n_empty; /* so many slots of a reader are empty, from the first one on */

static bool has_no_card(const struct fake_unit *unit)
{
    return unit->lun < n_empty;
}

static void take_card_out(struct fake_unit *unit)
{
    unit->failed = has_no_card(unit) && unit->cdb[0] == 0; /* TEST UNIT READY */
}

static void tell_no_card(struct fake_unit *unit)
{
    if (unit->cdb[0] != 3 || !has_no_card(unit)) /* REQUEST SENSE */
        return;
    unit->answer[2] = 2;
    unit->answer[12] = 0x3a;
}

/* A reader with two slots, of which the first one had a card, comes back. */
static void replug_reader(bool with_files, unsigned empty)
{
    clear();
    put_drive(0, 2);
    f.units[0].unit = 1;
    (void)open_all();
    pull(&f.units[0]);
    (void)looks();
    usb.devices[0].in_use = with_files;
    f.units[0].on_command = take_card_out;
    f.units[0].on_answer = tell_no_card;
    n_empty = empty;
    plug(&f.units[0]);
}

static void test_moved_card(bool with_files)
{
    replug_reader(with_files, 1);
    OK(tells(with_files, ", port 2", true) && unit_read(&usb.devices[with_files]) == 0 &&
           usb.drives[with_files].unit == 1 && n_wrong == 0,
       "a reader's card is listed after it moved to the other slot, %s files of the first",
       with_files ? "with" : "without");
}

static void test_late_card(void)
{
    replug_reader(true, 2);
    OK(looks() == &usb.refused && usb.n_drives == 1, "an empty reader keeps its slot");
    n_empty = 0;
    OK(tells(0, ", port 2", true) && unit_read(&usb.devices[0]) == 0 && n_wrong == 0,
       "its file continues when the card is there");
    replug_reader(true, 2);
    (void)looks();
    OK(tells(0, ", port 2", true), "an empty reader counts as there");
    n_empty = 1;
    OK(unit_read(&usb.devices[0]) < 0, "until a request finds its card in the other slot");
    (void)wait_in_looks();
    OK(!usb.is_told[0] && usb.is_told[1] && usb.drives[1].unit == 1 &&
           unit_read(&usb.devices[1]) == 0 && n_wrong == 0,
       "then the card is new");
}

static void stop_in_vain(void)
{
    f.not_ready = 1u << 30;
    (void)xhci_stop(&usb.host);
}

/* A controller whose stop fails may still move data. */
static void test_dead(void)
{
    static struct block_request r;

    clear();
    put_drive(0, 2);
    put_drive(1, 3);
    (void)open_all();
    usb.devices[0].in_use = true;
    f.units[0].fault = SILENT;
    f.units[0].times = 1;
    r = (struct block_request){ .sector = 5, .n_sectors = SECTORS, .buffer = buffers[0] };
    (void)usb.devices[0].submit(&usb.devices[0], &r);
    pull(&f.units[1]);
    stop_in_vain();
    (void)looks();
    OK(usb.host.dead && !r.done && read_from(&usb.devices[1]) != ERR_OK,
       "after a stop that fails a request keeps its buffer, and no other begins");
    OK(usb.devices[0].reset(&usb.devices[0]) != ERR_OK && r.done && usb.host.dead,
       "a reset reports that data may still move");
    f.not_ready = f.units[0].times = 0;
    plug(&f.units[1]);
    f.now += 30000;
    (void)looks();
    (void)looks();
    OK(!usb.host.dead && unit_read(&usb.devices[0]) == 0 && unit_read(&usb.devices[1]) == 1 &&
           n_wrong == 0,
       "after a start that works, drives are taken again");
    r = (struct block_request){ .sector = 5, .n_sectors = SECTORS, .buffer = buffers[0] };
    f.units[0].times = 1;
    (void)usb.devices[0].submit(&usb.devices[0], &r);
    stop_in_vain();
    f.not_ready = f.units[0].times = 0;
    f.now += 30000;
    (void)looks();
    OK(r.done && r.status == ERR_IO && unit_read(&usb.devices[0]) == 0 && n_wrong == 0,
       "a look starts the controller although a request waits");
}

/* Plug a reader in at this port, with a card or without one. */
static void move_reader(unsigned unit, uint32_t port, bool with_card)
{
    pull(&f.units[unit]);
    (void)wait_in_looks();
    n_empty = !with_card;
    f.units[unit].port = port;
    plug(&f.units[unit]);
    (void)wait_in_looks();
}

/* Open files of the card that was found at this port. */
static unsigned open_files_at(uint32_t port)
{
    for (unsigned i = 0; i < USB_DRIVES; i++)
        if (usb.drives[i].device.slot != 0 && usb.drives[i].device.port == port) {
            usb.devices[i].in_use = true;
            return i;
        }
    return 0;
}

/* A reader that was refused without its card moves with it. */
static void test_refused_reader(unsigned n_readers)
{
    unsigned moved = n_readers - 1, drive;

    clear();
    for (unsigned i = 0; i < n_readers; i++) {
        put_drive(i, 2 + i);
        f.units[i].on_command = take_card_out;
        f.units[i].on_answer = tell_no_card;
    }
    n_empty = n_readers - 1; /* one reader has its card at first */
    (void)open_all();
    if (n_readers == 1)
        move_reader(moved, 4, false);
    move_reader(moved, 4, true);
    drive = open_files_at(4);
    move_reader(moved, 5, true);
    OK(usb.drives[drive].n_sectors != 0 &&
           (unit_read(&usb.devices[drive]) == (int)moved ||
            unit_read(&usb.devices[drive]) == (int)moved) &&
           n_wrong == 0,
       "the card of %s is read at a third port",
       n_readers == 1 ? "a reader that was empty at its second port"
                      : "one of two readers that were empty at the start");
}

/* While no look comes, a reader with open files takes the port of a drive, without its card. */
static void test_empty_reader_in_place(void)
{
    clear();
    put_drive(0, 2);
    put_drive(1, 3);
    f.units[0].on_command = take_card_out;
    f.units[0].on_answer = tell_no_card;
    n_empty = 0;
    (void)open_all();
    usb.devices[0].in_use = true;
    pull(&f.units[0]);
    pull(&f.units[1]);
    n_empty = 1;
    f.units[0].port = 3;
    plug(&f.units[0]);
    (void)wait_in_looks();
    OK(!usb.is_told[1] && n_wrong == 0,
       "a drive is told as unplugged if another's reader is there");
}

int main(void)
{
    test_refused_once();
    test_forgotten_twice();
    test_late_answers();
    test_forgotten();
    test_two_forgotten();
    test_own_slot();
    test_lost_first(true);
    test_lost_first(false);
    test_unsteady();
    test_other_blocks();
    test_taken_for_a_drive(false);
    test_taken_for_a_drive(true);
    test_taken_elsewhere();
    test_moved_card(true);
    test_moved_card(false);
    test_late_card();
    test_refused_reader(1);
    test_refused_reader(2);
    test_empty_reader_in_place();
    test_dead();
    return usb_done();
}
