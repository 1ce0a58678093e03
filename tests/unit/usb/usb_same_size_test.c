/* Cards and sticks of one size and with the same numbers: they are told apart by their first blocks. */
#include "tests/unit/board/fakes/usb_done.h"
#include "tests/unit/board/fakes/usb_machine.h"
#include "tests/unit/tap.h"

enum { OTHER_CARD = 20, PARTITION = 8, TABLE = 446 };

static bool is_changed, is_out; /* the reader's card, since its last question; the card is out */

static void fail_card(struct fake_unit *unit)
{
    unit->failed = (is_changed || is_out) && unit->cdb[0] == 0; /* TEST UNIT READY */
    unit->of_any = (is_changed || is_out) && moves_blocks(unit);
    unit->times = unit->of_any;
    unit->fault = STALLED;
}

static void tell_card(struct fake_unit *unit)
{
    if (unit->cdb[0] != 3 || !(is_changed || is_out)) /* REQUEST SENSE */
        return;
    unit->answer[2] = is_out ? 2 : 6;
    unit->answer[12] = is_out ? 0x3a : 0x28;
    is_changed = false;
}

/* Put a card into the reader: its data begin at this block of the unit's disk. */
static void put_card(uint32_t shift, bool tells)
{
    f.units[0].shift = shift;
    is_changed = tells;
    is_out = false;
}

/* Look as the program does: read each drive that is found. */
static void list(void)
{
    for (unsigned i = 0; i < 2 * LOOKS; i++) {
        struct block_device *d;

        f.now += 300;
        d = usb_look();
        if (d != NULL && d->error_message == NULL)
            (void)read_from(d);
    }
}

/* True if drive `drive` reads the data of this card, or of a unit's disk from this block on. */
static bool reads_card(unsigned drive, unsigned unit, uint32_t shift)
{
    return read_from(&usb.devices[drive]) == ERR_OK && is_of(buffers[0], unit, 5 + shift);
}

/* Number of reads that end well, among five with looks between them. */
static unsigned n_read(unsigned drive)
{
    unsigned n = 0;

    for (unsigned i = 0; i < 5; i++) {
        n += read_from(&usb.devices[drive]) == ERR_OK;
        list();
    }
    return n;
}

/* A reader with a card that has open files; readers and sticks have no serial numbers. */
static void begin(void)
{
    clear();
    is_changed = is_out = false;
    put_drive(0, 2);
    f.units[0].number = '7';
    f.units[0].on_command = fail_card;
    f.units[0].on_answer = tell_card;
    (void)open_all();
    usb.devices[0].in_use = true;
}

static void test_swapped_card(bool tells, bool unplugged)
{
    const char *how = tells ? "a reader that says so" : "a reader that was unplugged meanwhile";

    begin();
    if (unplugged)
        pull(&f.units[0]);
    if (unplugged)
        list();
    put_card(OTHER_CARD, tells);
    if (unplugged)
        plug(&f.units[0]);
    OK(n_read(0) == 0, "files are not read from another card of the same size in %s", how);
    OK(usb.is_told[1] && !usb.is_told[0] && reads_card(1, 0, OTHER_CARD),
       "the other card is a new drive");
    if (unplugged)
        pull(&f.units[0]);
    if (unplugged)
        list();
    put_card(0, tells);
    if (unplugged)
        plug(&f.units[0]);
    list();
    OK(usb.is_told[0] && !usb.is_told[1] && reads_card(0, 0, 0) && n_wrong == 0,
       "and the first one is found when it is back");
}

/* The listed card is replaced by the first one, and no attention tells it. */
static void test_untold_card(void)
{
    begin();
    put_card(OTHER_CARD, true);
    (void)n_read(0);
    put_card(0, false);
    list();
    OK(usb.is_told[0] && !usb.is_told[1] && reads_card(0, 0, 0) && n_wrong == 0,
       "a card of the same size that is put back untold is found");
}

/* Another stick with the same numbers and size comes while the first is away. */
static void test_equal_stick(uint32_t port, uint32_t back)
{
    begin();
    pull(&f.units[0]);
    list();
    put_drive(1, port);
    f.units[1].number = '7';
    OK(n_read(0) == 0 && usb.is_told[1] && unit_read(&usb.devices[1]) == 1,
       "an equal stick at port %u, which was never seen, is a new drive", (unsigned)port);
    if (port == back) {
        pull(&f.units[1]);
        list();
    }
    f.units[0].port = back;
    plug(&f.units[0]);
    list();
    OK(unit_read(&usb.devices[0]) == 0 && (port == back || unit_read(&usb.devices[1]) == 1) &&
           n_wrong == 0,
       "the first one is read when it is back at port %u", (unsigned)back);
}

/* A table with one partition, in block 0 of a unit. */
static void put_table(unsigned unit, uint8_t type)
{
    uint8_t *d = f.units[unit].disk;

    memset(d, 0, 512);
    d[TABLE + 4] = type;
    d[TABLE + 8] = type == 0xee ? 1 : PARTITION;
    d[510] = 0x55;
    d[511] = 0xaa;
}

/* Two sticks whose blocks 0 are the same; the second takes the place of the first. */
static void test_same_tables(uint8_t type)
{
    begin();
    pull(&f.units[0]);
    put_table(0, type);
    plug(&f.units[0]);
    (void)open_all();
    usb.devices[0].in_use = true;
    pull(&f.units[0]);
    list();
    put_drive(1, 2);
    f.units[1].number = '7';
    put_table(1, type);
    OK(n_read(0) == 0 && unit_read(&usb.devices[1]) == 1 && n_wrong == 0,
       "sticks with equal tables are told apart by %s",
       type == 0xee ? "their GPT" : "their first partition");
}

/* A block at which block 0 seems to say that a partition begins is written. */
static void test_file_block(const char *system, bool is_same)
{
    begin();
    put_table(0, 0xc);
    if (strcmp(system, "FAT32") == 0)
        memcpy(f.units[0].disk, "\xeb\x58\x90MSDOS5.0\0\2", 13);
    if (strcmp(system, "exFAT") == 0)
        memcpy(f.units[0].disk,
               "\xeb\x76\x90"
               "EXFAT   ",
               11);
    if (strcmp(system, "GRUB's code") == 0) /* its bytes 11 and 12 are code */
        memcpy(f.units[0].disk, "\xeb\x63\x90\x10\x8e\xd0\xbc\0\xb0\xb8\0\0\x8e", 13);
    if (strcmp(system, "a bad status") == 0)
        f.units[0].disk[TABLE] = 0x12; /* a status that is not allowed */
    if (strcmp(system, "no signature") == 0)
        f.units[0].disk[510] = 0;
    if (strcmp(system, "no partition") == 0)
        f.units[0].disk[TABLE + 4] = 0;
    if (strcmp(system, "a partition beyond the end") == 0)
        f.units[0].disk[TABLE + 9] = DISK_SECTORS >> 8;
    (void)open_all();
    usb.devices[0].in_use = true;
    pull(&f.units[0]);
    list();
    f.units[0].disk[PARTITION * 512] ^= 1;
    plug(&f.units[0]);
    list();
    OK((read_from(&usb.devices[0]) == ERR_OK) == is_same && n_wrong == 0,
       "with %s in block 0, a change of block %u makes %s drive", system, PARTITION,
       is_same ? "no other" : "another");
}

static bool changes_late; /* the card is replaced by a larger one at the next read of block 0 */

static void change_late(struct fake_unit *unit)
{
    if (changes_late && unit->cdb[0] == 0x28) {
        changes_late = false;
        put_card(0, true);
        unit->first = 4;
    }
    fail_card(unit);
}

/* A new drive's card is replaced while its first blocks are read. */
static void test_changed_meanwhile(void)
{
    begin();
    pull(&f.units[0]);
    f.units[0].on_command = change_late;
    changes_late = true;
    plug(&f.units[0]);
    (void)open_all();
    OK(!changes_late && found[0]->error_message == NULL &&
           usb.devices[0].n_sectors == DISK_SECTORS + 4,
       "a new drive whose card is replaced meanwhile has the size of the second card");
    usb.devices[0].in_use = true;
    pull(&f.units[0]);
    list();
    plug(&f.units[0]);
    list();
    OK(usb.is_told[0] && read_from(&usb.devices[0]) == ERR_OK && n_wrong == 0,
       "and is found when it comes back");
}

static unsigned n_faults; /* reads of block 0 that still fail */
static enum fault fault;

static void fail_block_0(struct fake_unit *unit)
{
    unit->times = unit->cdb[0] == 0x28 && be32(unit->cdb + 2) == 0 && n_faults != 0;
    unit->fault = fault;
    n_faults -= unit->times;
}

static void open_with_faults(enum fault of, unsigned n)
{
    clear();
    put_drive(0, 2);
    f.units[0].on_command = fail_block_0;
    fault = of;
    n_faults = n;
    (void)open_all();
}

static void test_unreadable(void)
{
    open_with_faults(STALLED, 4);
    OK(found[0]->error_message == NULL && n_faults == 0 && unit_read(found[0]) == 0,
       "a drive whose block 0 is read at the fifth try is used");
    open_with_faults(SHORT, 4);
    OK(found[0]->error_message == NULL && n_faults == 0 && unit_read(found[0]) == 0,
       "a short answer does not count as the block");
    usb.devices[0].in_use = true;
    pull(&f.units[0]);
    list();
    n_faults = 4;
    plug(&f.units[0]);
    list();
    OK(unit_read(&usb.devices[0]) == 0 && n_faults == 0, "also when it comes back");
    pull(&f.units[0]);
    list();
    n_faults = 1000;
    plug(&f.units[0]);
    list();
    OK(read_from(&usb.devices[0]) == ERR_IO, "a drive whose block 0 cannot be read is not there");
    n_faults = 0;
    OK(unit_read(&usb.devices[0]) == 0, "and is when it can be read");
    open_with_faults(SILENT, 1000);
    OK(found[0]->error_message != NULL && f.now < 30000 && n_wrong == 0,
       "a drive that falls silent at block 0 is refused after %u ms", (unsigned)f.now);
    open_with_faults(WELL, 0);
    pull(&f.units[0]);
    f.units[0].recovers = true;
    f.units[0].sense = 1;
    plug(&f.units[0]);
    (void)open_all();
    OK(found[0]->error_message == NULL && unit_read(found[0]) == 0 && n_wrong == 0,
       "a block that the drive could read after an error counts");
}

/* Block 0 cannot be read when the drive is new; the file layer may not need it. */
static void test_unreadable_at_first(unsigned faults_again)
{
    open_with_faults(STALLED, 1000);
    usb.devices[0].in_use = true;
    OK(found[0]->error_message == NULL && unit_read(found[0]) == 0,
       "a new drive whose block 0 cannot be read is used");
    pull(&f.units[0]);
    list();
    n_faults = faults_again;
    plug(&f.units[0]);
    list();
    OK(usb.is_told[0] && unit_read(&usb.devices[0]) == 0, "and is found again %s",
       faults_again != 0 ? "as it was" : "when that can be read");
}

static uint64_t wakes_at; /* until then the drive's reads fail, because it does not spin */
static unsigned read_ms;  /* time that each failing read takes */

static void fail_asleep(struct fake_unit *unit)
{
    unit->times = unit->cdb[0] == 0x28 && f.now < wakes_at;
    unit->fault = STALLED;
    f.now += unit->times * read_ms;
}

static void tell_becoming_ready(struct fake_unit *unit)
{
    if (unit->cdb[0] != 3 || read_ms != 0) /* REQUEST SENSE */
        return;
    unit->answer[2] = 2;
    unit->answer[12] = 4;
    unit->answer[13] = 1;
}

static void open_asleep(uint64_t until, unsigned ms)
{
    clear();
    put_drive(0, 2);
    f.units[0].on_command = fail_asleep;
    f.units[0].on_answer = tell_becoming_ready;
    wakes_at = until;
    read_ms = ms;
    start_watch();
    (void)open_all();
    feed();
}

/* A disk in standby that says so when it is read, and one that fails slowly. */
static void test_asleep(void)
{
    open_asleep(8000, 0);
    OK(found[0]->error_message == NULL && usb.drives[0].print != 0 && f.now < 9000 &&
           longest < 3000 && unit_read(found[0]) == 0 && n_wrong == 0,
       "a disk whose reads fail for 8 s until it spins is used after %u ms", (unsigned)f.now);
    open_asleep(UINT64_MAX, 0);
    OK(found[0]->error_message == NULL && usb.drives[0].print == 0 && f.now < 25000 &&
           longest < 3000 && n_wrong == 0,
       "a disk that never spins is waited for %u ms", (unsigned)f.now);
    open_asleep(UINT64_MAX, 10000);
    OK(found[0]->error_message == NULL && usb.drives[0].print == 0 && f.now < 25000 && n_wrong == 0,
       "a disk whose reads fail after 10 s each is waited for %u ms", (unsigned)f.now);
}

int main(void)
{
    test_swapped_card(true, false);
    test_swapped_card(false, true);
    test_untold_card();
    for (uint32_t port = 2; port <= 3; port++)
        for (uint32_t back = 2; back <= 4; back++)
            test_equal_stick(port, back);
    test_same_tables(0xc);
    test_same_tables(0xee);
    test_file_block("a table", false);
    test_file_block("GRUB's code", false);
    test_file_block("FAT32", true);
    test_file_block("exFAT", true);
    test_file_block("no signature", true);
    test_file_block("a bad status", true);
    test_file_block("no partition", true);
    test_file_block("a partition beyond the end", true);
    test_changed_meanwhile();
    test_unreadable();
    test_unreadable_at_first(1000);
    test_unreadable_at_first(0);
    test_asleep();
    return usb_done();
}
