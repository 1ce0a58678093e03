/* Saves on cards that report success and do something else: they never lose an earlier save. */
#include "tests/unit/chat/saved_chat_rig.h"

static uint8_t good[FILE_BYTES]; /* seed 3 in the first half; seed 1, the newest, in the second */

static enum err save_seed(uint32_t seed, uint32_t n)
{
    talk(seed, n);
    return save(n);
}

/* A save of seed 4 then goes to the first half. */
static void put_two_saved(void)
{
    insert_blank_card();
    if (save_seed(5, 20) != ERR_OK || save_seed(3, 50) != ERR_OK || save_seed(1, 100) != ERR_OK)
        rig_die("no save");
    memcpy(good, card_data, sizeof good);
}

/* The same card, whose next half is filled with bytes that nobody writes. */
static void put_back(unsigned next_half)
{
    memcpy(card_data, good, sizeof good);
    memset(card_data + next_half * (FILE_BYTES / 2) + SECTOR_BYTES, 0x5a,
           FILE_BYTES / 2 - SECTOR_BYTES);
    insert_card(FILE_BYTES);
}

static bool loads(uint32_t seed, uint32_t n)
{
    struct saved_chat_state state;

    return load(&state) == ERR_OK && rig.session.n_ids == n && turns_are(seed, n / 10);
}

/* Sectors of the payload of 90 tokens. */
static long payload_sectors(void)
{
    struct saved_chat_state state = state_of(90);

    talk(4, 90);
    return (long)(saved_chat_bytes(&state) / 2 / SECTOR_BYTES - 1);
}

static void make_lost(long sector)
{
    card.lost_write = sector;
}

static void make_wrong(long sector)
{
    card.wrong_write = sector;
}

static void test_lies(void (*lie)(long), const char *what)
{
    long n = payload_sectors();
    unsigned wrong = 0;

    for (long sector = 0; sector <= n; sector++) {
        bool told;

        put_back(0);
        lie(sector);
        told = save_seed(4, 90) == ERR_BAD_CHECKSUM &&
               strstr(saved.error_message, "a card returned other bytes than were written") != NULL;
        insert_card(FILE_BYTES);
        wrong += !told || !loads(1, 100) || save_seed(4, 90) != ERR_OK || !loads(4, 90);
    }
    OK(n > 100 && wrong == 0,
       "any of %ld sectors is %s: the save fails, the old one stays, and the next works (%u wrong)",
       n + 1, what, wrong);
}

/* The written bytes are still in the buffer, and are not what was read back. */
static void test_stale(void)
{
    put_back(0);
    card.lost_write = card.lost_read = 12;
    OK(save_seed(4, 20) == ERR_BAD_CHECKSUM,
       "a sector that is neither written nor read is noticed: %s", saved.error_message);
    put_back(0);
    card.lost_write = card.lost_read = 0;
    OK(save_seed(4, 20) == ERR_BAD_CHECKSUM,
       "a header that is neither written nor read is noticed, too");
}

/* The card takes all writes, and fails every read after any of its sectors. If only the header
 * cannot be read back, the new conversation may be there as well. */
static void test_read_errors(void)
{
    unsigned wrong = 0, news = 0;
    long n = 0;

    for (bool done = false; !done; n++) {
        enum err e;

        put_back(0);
        card.reads_left = n;
        e = save_seed(4, 90);
        done = e == ERR_OK;
        wrong += !done &&
                 (e != ERR_IO || strstr(saved.error_message, "cannot read at sector") == NULL);
        insert_card(FILE_BYTES);
        if (!done && !loads(1, 100)) {
            news++;
            wrong += !loads(4, 90) || card_data[16] != 4;
        }
    }
    OK(wrong == 0 && news == 1 && n > 2 * payload_sectors(),
       "the save is still there if reads fail after any of %ld sectors (%u wrong)", n, wrong);
}

/* ---- a save that went bad later ------------------------------------------------------------- */

/* The power fails at each sector of the next save: the older conversation is there. */
static void test_bad_newest(void (*spoil)(void), const char *what)
{
    unsigned wrong = 0;

    for (long cut = 1; cut < payload_sectors(); cut += 9) {
        put_back(0);
        memcpy(card_data, good, sizeof good);
        spoil();
        card.sectors_left = cut;
        wrong += save_seed(4, 90) == ERR_OK;
        insert_card(FILE_BYTES);
        wrong += !loads(3, 50);
    }
    OK(wrong == 0,
       "the older save stays if power is lost while the newest, which is %s, is written over",
       what);
    memcpy(card_data, good, sizeof good);
    insert_card(FILE_BYTES);
    spoil();
    OK(save_seed(4, 90) == ERR_OK, "the save replaces the damaged one: %s", saved.error_message);
    insert_card(FILE_BYTES);
    OK(loads(4, 90) && !saved.is_older, "the save is then the newest one");
    OK(memcmp(card_data, good, FILE_BYTES / 2) == 0, "the older save is untouched");
}

static void damage(void)
{
    card_data[FILE_BYTES / 2 + 5000] ^= 1;
}

static void make_unreadable(void)
{
    card.fail_sector = HALF_SECTORS + 7;
    card.fail_times = 4; /* a read and its retries; writing heals the sector */
}

static void make_header_unreadable(void)
{
    card.fail_sector = HALF_SECTORS;
    card.fail_times = 4;
}

static void test_both_bad(void)
{
    memcpy(card_data, good, sizeof good);
    insert_card(FILE_BYTES);
    memset(card_data, 0, SECTOR_BYTES);
    make_header_unreadable();
    OK(save_seed(4, 90) == ERR_OK &&
           memcmp(card_data + FILE_BYTES / 2, good + FILE_BYTES / 2, FILE_BYTES / 2) == 0,
       "if one half is blank and one unreadable, the unreadable one is kept: %s",
       saved.error_message);

    memcpy(card_data, good, sizeof good);
    insert_card(FILE_BYTES);
    damage();
    card_data[5000] ^= 1;
    OK(save_seed(4, 90) == ERR_OK && loads(4, 90) && !saved.is_older,
       "the save overwrites one of two damaged halves");
    OK(save_seed(5, 20) == ERR_OK && loads(5, 20), "the next save overwrites the other half");
}

int main(void)
{
    rig_alone();
    rig_compute(false);
    rig_make_model("tiny", INGOT_Q8_0);
    if (rig_start(0, 0, false) != ERR_OK)
        rig_die(rig.model.error_message);
    put_two_saved();
    test_lies(make_lost, "not written");
    test_lies(make_wrong, "written wrong");
    test_stale();
    test_read_errors();
    test_bad_newest(damage, "damaged");
    test_bad_newest(make_unreadable, "unreadable");
    test_bad_newest(make_header_unreadable, "without a readable header");
    test_both_bad();
    return tap_done();
}
