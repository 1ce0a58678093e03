/* Several drives at a controller that is a model, at its own ports and behind hubs of each speed: which are
 * found, that each reads its own data, that a drive in trouble leaves the others alone, and which is taken
 * again after it was pulled. Why this file is long: every test needs the same controller, units and looks. */
#include "tests/unit/board/fakes/usb_done.h"
#include "tests/unit/board/fakes/usb_machine.h"
#include "tests/unit/tap.h"

static void test_own_ports(void)
{
    struct block_request r[2] = { { .sector = 5, .n_sectors = SECTORS, .buffer = buffers[0] },
                                  { .sector = 5, .n_sectors = SECTORS, .buffer = buffers[1] } };

    clear();
    OK(open_all() == 0, "no drive is there");
    put(0, FAKE_DRIVE, XHCI_SPEED_HIGH, 1, 0);
    put(1, FAKE_DRIVE, XHCI_SPEED_SUPER, 3, 0);
    OK(open_all() == 2 && has_name(found[0], ", port 1") && has_name(found[1], ", port 3"),
       "two drives are named by their ports");
    OK(found[0]->submit(found[0], &r[0]) == ERR_OK && found[1]->submit(found[1], &r[1]) == ERR_OK,
       "the drives of both ports are asked at the same time");
    for (unsigned i = 0; i < POLLS && !(r[0].done && r[1].done); i++)
        (void)found[i % 2]->poll(found[i % 2]);
    OK(r[0].status == ERR_OK && r[1].status == ERR_OK && is_of(buffers[0], 0, 5) &&
           is_of(buffers[1], 1, 5) && n_wrong == 0,
       "each of the two drives reads its own sectors");
    put(2, FAKE_DRIVE, XHCI_SPEED_HIGH, 2, 0);
    OK(open_all() == 3 && has_name(found[1], ", port 2") && unit_read(found[1]) == 2,
       "three devices open");
    f.units[0].block_bytes = 8192;
    OK(open_all() == 3 && found[0]->error_message != NULL && unit_read(found[1]) == 2 &&
           unit_read(found[2]) == 1,
       "a drive that cannot be used is named, and the others are found");
}

/* A silent drive is given up, and the other's read continues. */
static void test_trouble(void)
{
    struct block_request r = { .sector = 5, .n_sectors = SECTORS, .buffer = buffers[1] };

    clear();
    put(0, FAKE_DRIVE, XHCI_SPEED_HIGH, 1, 0);
    put(1, FAKE_DRIVE, XHCI_SPEED_HIGH, 2, 0);
    f.units[1].number = '7';
    (void)open_all();
    f.units[0].fault = SILENT;
    f.units[0].times = 1;
    (void)found[1]->submit(found[1], &r);
    OK(read_from(found[0]) == ERR_BUSY && found[0]->reset(found[0]) == ERR_OK,
       "a drive that is silent is reset");
    for (unsigned i = 0; i < POLLS && !r.done; i++)
        (void)found[1]->poll(found[1]);
    f.units[0].times = 0;
    OK(r.status == ERR_OK && is_of(buffers[1], 1, 5) && unit_read(found[0]) == 0 && n_wrong == 0,
       "a read of the other drive goes on, and then the drive that was reset reads");
    (void)xhci_stop(&usb.host);
    OK(read_from(found[0]) == ERR_OK && read_from(found[1]) == ERR_OK && n_wrong == 0,
       "a controller that was stopped begins anew for both");
}

/* Pulls two, and puts each into the other's port. */
static void exchange(void)
{
    for (unsigned u = 0; u < 2; u++)
        pull(&f.units[u]);
    (void)read_from(found[0]);
    (void)read_from(found[1]);
    for (unsigned u = 0; u < 2; u++) {
        f.units[u].port = 3 - f.units[u].port;
        plug(&f.units[u]);
    }
}

static void test_exchanged(void)
{
    clear();
    put(0, FAKE_DRIVE, XHCI_SPEED_HIGH, 1, 0);
    put(1, FAKE_DRIVE, XHCI_SPEED_HIGH, 2, 0);
    f.units[0].number = '4';
    f.units[1].number = '5';
    (void)open_all();
    exchange();
    OK(unit_read(found[0]) == 0 && unit_read(found[1]) == 1 && has_name(found[0], ", port 2"),
       "drives that changed ports are known by their numbers");
    pull(&f.units[0]);
    OK(read_from(found[0]) == ERR_IO && read_from(found[0]) == ERR_IO && unit_read(found[1]) == 1,
       "one drive is gone, and the other is not taken for it");
    clear();
    put(0, FAKE_DRIVE, XHCI_SPEED_HIGH, 1, 0);
    put(1, FAKE_DRIVE, XHCI_SPEED_HIGH, 2, 0);
    f.units[0].number = f.units[1].number = '7';
    (void)open_all();
    pull(&f.units[0]);
    (void)read_from(found[0]);
    f.units[0].port = 3;
    plug(&f.units[0]);
    OK(unit_read(found[0]) == 0 && unit_read(found[1]) == 1 && n_wrong == 0,
       "of two drives with equal numbers, one is recognized at another port by its data");
}

static void test_hub(uint32_t hub_speed, uint32_t first, uint32_t second, const char *name)
{
    clear();
    put(0, FAKE_HUB, hub_speed, 2, 0);
    put(1, FAKE_DRIVE, first, 2, 1);
    put(2, FAKE_DRIVE, second, 2, HUB_PORTS);
    put(3, FAKE_DRIVE, XHCI_SPEED_HIGH, 1, 0);
    for (unsigned u = 1; u < 4; u++)
        f.units[u].number = (uint8_t)('0' + u);
    OK(open_all() == 3 && has_name(found[0], ", port 1") && has_name(found[1], ", port 2.1") &&
           has_name(found[2], ", port 2.4") && n_wrong == 0,
       "%s: two drives behind the hub and one beside it are found", name);
    OK(unit_read(found[1]) == 1 && unit_read(found[2]) == 2 && unit_read(found[0]) == 3 &&
           n_wrong == 0,
       "%s: all three drives are read", name);
    pull(&f.units[2]);
    OK(read_from(found[2]) == ERR_IO && unit_read(found[1]) == 1, "%s: one drive is pulled", name);
    plug(&f.units[2]);
    OK(unit_read(found[2]) == 2, "%s: the drive is read when it is back", name);
    pull(&f.units[0]);
    OK(read_from(found[1]) == ERR_IO && read_from(found[2]) == ERR_IO && unit_read(found[0]) == 3,
       "%s: the hub is pulled, and only what is behind it is gone", name);
    for (unsigned u = 0; u < 3; u++)
        plug(&f.units[u]);
    OK(unit_read(found[1]) == 1 && unit_read(found[2]) == 2 && n_wrong == 0,
       "%s: both drives are read when the hub is back", name);
}

static void test_plugged(void)
{
    clear();
    OK(open_all() == 0 && looks() == NULL, "no drive is there, and none comes");
    put(0, FAKE_DRIVE, XHCI_SPEED_HIGH, 1, 0);
    f.units[0].number = '1';
    OK(tells(0, ", port 1", true) && unit_read(&usb.devices[0]) == 0 && looks() == NULL,
       "a new drive is reported once");
    usb.devices[0].in_use = true;
    pull(&f.units[0]);
    OK(tells(0, ", port 1", false) && strcmp(usb.devices[0].error_message, "it was unplugged") == 0,
       "a drive that is unplugged is reported");
    put(1, FAKE_DRIVE, XHCI_SPEED_SUPER, 1, 0);
    f.units[1].number = '2';
    OK(tells(1, ", port 1", true) && unit_read(&usb.devices[1]) == 1 &&
           unit_read(&usb.devices[0]) == -1,
       "another drive in its place is another device");
    f.units[0].port = 3;
    plug(&f.units[0]);
    OK(tells(0, ", port 3", true) && unit_read(&usb.devices[0]) == 0,
       "the first drive is back at another port");
    pull(&f.units[0]);
    put(2, FAKE_DRIVE, XHCI_SPEED_HIGH, 2, 0);
    f.units[2].number = '3';
    OK(read_from(&usb.devices[0]) == ERR_IO && tells(0, ", port 3", false) &&
           tells(2, ", port 2", true) && unit_read(&usb.devices[2]) == 2,
       "a new drive is found although a read has met the unplugged one first");
    pull(&f.units[2]);
    put(3, FAKE_DRIVE, XHCI_SPEED_HIGH, 3, 0);
    f.units[3].number = '4';
    OK(tells(2, ", port 2", false) && tells(2, ", port 3", true) &&
           unit_read(&usb.devices[2]) == 3 && n_wrong == 0,
       "a fourth drive takes the slot of one that nobody counts on");
    usb.devices[2].in_use = usb.devices[1].in_use = true;
    put(4, FAKE_DRIVE, XHCI_SPEED_HIGH, 2, 0);
    OK(looks() == &usb.refused && looks() == NULL,
       "no drive is replaced if all of them are counted on");
    f.units[3].block_bytes = 8192;
    pull(&f.units[3]);
    OK(tells(2, ", port 3", false), "a drive that was refused is unplugged");
    plug(&f.units[3]);
    OK(looks() == &usb.refused && usb.devices[2].error_message != NULL && n_wrong == 0,
       "a refused drive stays unusable when it is back");
}

/* A drive whose transfer failed for good is still at its port, and nobody reports it as pulled. */
static void test_failed(void)
{
    clear();
    put(0, FAKE_DRIVE, XHCI_SPEED_HIGH, 1, 0);
    (void)open_all();
    f.units[0].fault = BABBLING;
    f.units[0].times = 1;
    OK(read_from(&usb.devices[0]) == ERR_IO && looks() == NULL &&
           usb.devices[0].error_message == NULL,
       "a drive that fails is not unplugged");
    OK(unit_read(&usb.devices[0]) == 0 && looks() == NULL && n_wrong == 0,
       "a drive that failed is read again");
    f.units[0].times = 1;
    (void)read_from(&usb.devices[0]);
    pull(&f.units[0]);
    OK(tells(0, ", port 1", false),
       "a drive that failed and is then pulled is reported as unplugged");
    f.units[0].number = '8';
    plug(&f.units[0]);
    OK(tells(1, ", port 1", true) && unit_read(&usb.devices[1]) == 0 && n_wrong == 0,
       "another drive at the same port is another device");
}

static void test_plugged_hub(void)
{
    clear();
    (void)open_all();
    put(0, FAKE_HUB, XHCI_SPEED_HIGH, 2, 0);
    put(1, FAKE_DRIVE, XHCI_SPEED_HIGH, 2, 3);
    OK(tells(0, ", port 2.3", true) && unit_read(&usb.devices[0]) == 1,
       "a hub and its drive are found");
    put(2, FAKE_DRIVE, XHCI_SPEED_FULL, 2, 1);
    f.units[2].number = '2';
    OK(tells(1, ", port 2.1", true) && unit_read(&usb.devices[1]) == 2,
       "a second drive at the hub is found");
    pull(&f.units[0]);
    OK(tells(0, ", port 2.3", false) && tells(1, ", port 2.1", false),
       "both drives of the hub disappear with it");
    for (unsigned u = 0; u < 3; u++)
        plug(&f.units[u]);
    OK(tells(0, ", port 2.3", true) && tells(1, ", port 2.1", true) &&
           unit_read(&usb.devices[1]) == 2 && n_wrong == 0,
       "both drives of the hub come back with it");
}

/* Two drives that only differ in size: the one that is refused leaves the other's place and name alone. */
static void test_other_size(void)
{
    clear();
    put(0, FAKE_DRIVE, XHCI_SPEED_HIGH, 2, 0);
    (void)open_all();
    usb.devices[0].in_use = true;
    pull(&f.units[0]);
    OK(tells(0, ", port 2", false), "a drive of a certain size is unplugged");
    put(1, FAKE_DRIVE, XHCI_SPEED_HIGH, 1, 0);
    f.units[1].first = 8; /* eight sectors more */
    OK(tells(1, ", port 1", true) && has_name(&usb.devices[0], ", port 2"),
       "a drive of another size is another device, and the first one keeps its name");
    plug(&f.units[0]);
    OK(tells(0, ", port 2", true) && unit_read(&usb.devices[0]) == 0 && n_wrong == 0,
       "the first one continues at its own port");
    clear();
    put(0, FAKE_DRIVE, XHCI_SPEED_HIGH, 2, 0);
    (void)open_all();
    put(1, FAKE_DRIVE, XHCI_SPEED_HIGH, 1, 0);
    f.units[1].first = 8;
    f.units[0].fault = BABBLING;
    f.units[0].times = 1;
    OK(read_from(found[0]) == ERR_IO && unit_read(found[0]) == 0 && n_wrong == 0,
       "a drive that failed is read again beside a new one of another size");
}

/* Drives that only differ in what is on them. */
static void test_equal(void)
{
    clear();
    put(0, FAKE_DRIVE, XHCI_SPEED_HIGH, 2, 0);
    (void)open_all();
    usb.devices[0].in_use = true;
    pull(&f.units[0]);
    plug(&f.units[0]);
    put(1, FAKE_DRIVE, XHCI_SPEED_HIGH, 1, 0);
    OK(tells(1, ", port 1", true) && unit_read(&usb.devices[0]) == 0 &&
           unit_read(&usb.devices[1]) == 1 && looks() == NULL && n_wrong == 0,
       "a drive that reconnects keeps its files, although an equal one is new at a lower port");
    f.units[0].fault = BABBLING;
    f.units[0].times = 1;
    OK(read_from(&usb.devices[0]) == ERR_IO && looks() == NULL && unit_read(&usb.devices[0]) == 0 &&
           unit_read(&usb.devices[1]) == 1,
       "a drive that failed beside an equal one is read again");
}

static void take_card_out(struct fake_unit *u)
{
    u->failed = u->cdb[0] == 0; /* TEST UNIT READY */
}

static void tell_no_card(struct fake_unit *u)
{
    if (u->cdb[0] != 3) /* REQUEST SENSE */
        return;
    u->answer[2] = 2;
    u->answer[12] = 0x3a;
}

/* A reader whose card was taken out, and an equal reader with an equal card, which was never here before. */
static void test_equal_readers(void)
{
    clear();
    put(0, FAKE_DRIVE, XHCI_SPEED_HIGH, 2, 0);
    (void)open_all();
    usb.devices[0].in_use = true;
    f.units[0].on_command = take_card_out;
    f.units[0].on_answer = tell_no_card;
    f.units[0].fault = BABBLING;
    f.units[0].times = 1;
    (void)read_from(&usb.devices[0]);
    put(1, FAKE_DRIVE, XHCI_SPEED_HIGH, 1, 0);
    OK(read_from(&usb.devices[0]) == ERR_IO && tells(1, ", port 1", true) &&
           unit_read(&usb.devices[1]) == 1 && read_from(&usb.devices[0]) == ERR_IO,
       "an equal reader at another port is not taken for one that is empty");
    f.units[0].on_command = NULL;
    OK(unit_read(&usb.devices[0]) == 0 && looks() == NULL && n_wrong == 0,
       "the card is back in the first reader, and is read");
}

/* Two equal drives at the same port of two hubs; a start of the controller finds the hubs in the other order. */
static void test_equal_behind_hubs(void)
{
    clear();
    put(0, FAKE_HUB, XHCI_SPEED_HIGH, 3, 0);
    put(1, FAKE_DRIVE, XHCI_SPEED_HIGH, 3, 2);
    (void)open_all();
    put(2, FAKE_HUB, XHCI_SPEED_HIGH, 1, 0);
    put(3, FAKE_DRIVE, XHCI_SPEED_HIGH, 1, 2);
    OK(tells(1, ", port 1.2", true) && unit_read(&usb.devices[0]) == 1 &&
           unit_read(&usb.devices[1]) == 3,
       "two equal drives are read behind two hubs");
    (void)xhci_stop(&usb.host);
    OK(unit_read(&usb.devices[0]) == 1 && unit_read(&usb.devices[1]) == 3 &&
           has_name(&usb.devices[0], ", port 3.2") && n_wrong == 0,
       "each of them is read at its own hub after a new start of the controller");
}

/* A pulled drive whose port has another one that cannot be used. */
static void test_replaced(void)
{
    clear();
    put(0, FAKE_DRIVE, XHCI_SPEED_HIGH, 2, 0);
    f.units[0].number = '1';
    (void)open_all();
    pull(&f.units[0]);
    put(1, FAKE_DRIVE, XHCI_SPEED_HIGH, 2, 0);
    f.units[1].number = '2';
    f.units[1].block_bytes = 8192;
    OK(tells(1, ", port 2", false) && tells(0, ", port 2", false) &&
           strcmp(usb.devices[0].error_message, "it was unplugged") == 0,
       "a drive is reported as unplugged although its port has one that cannot be used");
    pull(&f.units[1]);
    plug(&f.units[0]);
    OK(tells(0, ", port 2", true) && unit_read(&usb.devices[0]) == 0 && looks() == NULL,
       "the drive is back at its port");
    f.units[0].fault = BABBLING;
    f.units[0].times = 1;
    OK(read_from(&usb.devices[0]) == ERR_IO && looks() == NULL && n_wrong == 0,
       "the drive that was back and then failed is not unplugged");
}

int main(void)
{
    test_equal();
    test_equal_readers();
    test_equal_behind_hubs();
    test_replaced();
    test_plugged();
    test_plugged_hub();
    test_failed();
    test_other_size();
    test_own_ports();
    test_trouble();
    test_exchanged();
    test_hub(XHCI_SPEED_FULL, XHCI_SPEED_FULL, XHCI_SPEED_FULL, "a hub of full speed");
    test_hub(XHCI_SPEED_HIGH, XHCI_SPEED_HIGH, XHCI_SPEED_FULL, "a hub of high speed");
    test_hub(XHCI_SPEED_SUPER, XHCI_SPEED_SUPER, XHCI_SPEED_SUPER, "a hub of speed super");
    return usb_done();
}
