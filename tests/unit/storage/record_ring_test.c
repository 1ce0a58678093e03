/* Records on a card that loses its power at any sector: each is whole or missing, and those that
 * stay are the newest. */
#include "runtime/storage/record_ring.h"

#include "host/cli/record_list.h"
#include "tests/unit/rig.h"

enum { FILE_SECTORS = 24, FILE_BYTES = FILE_SECTORS * SECTOR_BYTES, MOST_BYTES = 4096 };

static struct fake_block card;
static _Alignas(64) uint8_t card_data[FILE_BYTES], kept[FILE_BYTES], buffer[MOST_BYTES];
static struct file file;
static struct record_ring ring;

static void insert_card(void)
{
    fake_init(&card, card_data, FILE_SECTORS);
    card.written = card_data;
    card.dev.writable = true;
    card.dev.max_sectors = 4;
    if (file_open_device(&file, &card.dev, FILE_BYTES, NULL) != ERR_OK)
        rig_die("the card does not open");
}

static enum err start(void)
{
    insert_card();
    return record_ring_open(&ring, &file, buffer, 3 * SECTOR_BYTES);
}

/* Record n: its length and its letters depend on n. */
static uint32_t length_of(uint64_t n)
{
    return 1 + (uint32_t)(n * 487 % 2600);
}

static enum err append(uint64_t n)
{
    memset(buffer + sizeof(struct record_header), (int)('a' + n % 26), length_of(n));
    return record_ring_append(&ring, buffer, length_of(n));
}

static bool is_whole(const struct record *r)
{
    uint64_t n = r->sequence;

    return r->bytes == length_of(n) && r->text[0] == (char)('a' + n % 26) &&
           r->text[r->bytes - 1] == (char)('a' + n % 26);
}

/* Checks that the records of the card are whole, and that the newest `least` of them end at number
 * `last`. A record that did not fit at the file's end may have left older ones there. */
static bool are_newest(uint64_t last, size_t least)
{
    struct record_list l;
    bool good = record_list_read(&l, card_data, FILE_BYTES) && l.n >= least;

    for (size_t i = 0; good && i < l.n; i++)
        good = is_whole(&l.list[i]) && (i == 0 || l.list[i].sequence > l.list[i - 1].sequence);
    for (size_t i = 0; good && i < least; i++)
        good = l.list[l.n - 1 - i].sequence == last - i;
    record_list_free(&l);
    return good;
}

static void test_turns(void)
{
    unsigned wrong = 0;

    memset(card_data, 0, sizeof card_data);
    OK(start() == ERR_OK && ring.sequence == 0 && are_newest(0, 0), "a blank file has no record");
    for (uint64_t n = 1; n <= 100; n++) {
        wrong += append(n) != ERR_OK || !are_newest(n, n < 4 ? (size_t)n : 3);
        if (n % 3 == 0)
            wrong += start() != ERR_OK || ring.sequence != n;
    }
    OK(wrong == 0,
       "the newest of a hundred records are there, with a start now and then (%u wrong)", wrong);
    OK(record_ring_append(&ring, buffer, FILE_BYTES) == ERR_NO_SPACE && are_newest(100, 3),
       "a record that is longer than the file is refused");
}

static void test_power(void)
{
    unsigned wrong = 0, cuts = 0, lost = 0;

    memset(card_data, 0, sizeof card_data);
    (void)start();
    for (uint64_t n = 1; n <= 60; n++) {
        long sectors = (long)record_ring_sectors(length_of(n));

        memcpy(kept, card_data, sizeof kept);
        for (long cut = 0; cut < sectors; cut++) {
            memcpy(card_data, kept, sizeof kept);
            (void)start();
            card.sectors_left = cut;
            wrong += append(n) == ERR_OK;
            wrong += start() != ERR_OK || ring.sequence != n - 1 || !are_newest(n - 1, n > 1);
            lost += append(n) != ERR_OK || !are_newest(n, 1);
            cuts++;
        }
        memcpy(card_data, kept, sizeof kept);
        (void)start();
        wrong += append(n) != ERR_OK;
    }
    OK(cuts > 100 && wrong == 0,
       "the record before is the newest if power is lost at any of %u sectors (%u wrong)", cuts,
       wrong);
    OK(lost == 0, "the next record is written after power was lost (%u lost)", lost);
}

static void test_damage(void)
{
    struct record_list l;
    struct record_header h;

    memset(card_data, 0, sizeof card_data);
    (void)start();
    for (uint64_t n = 1; n <= 4; n++)
        (void)append(n);
    card_data[sizeof h] ^= 1; /* of the first one's bytes */
    OK(record_list_read(&l, card_data, FILE_BYTES) && l.n == 3 && l.damaged == 1 &&
           l.list[0].sequence == 2,
       "a damaged record is counted and left out");
    record_list_free(&l);
    OK(record_list_read(&l, card_data, 5 * SECTOR_BYTES) && l.n == 1,
       "a record that continues beyond the file is not read");
    record_list_free(&l);
    OK(!record_ring_look(card_data + SECTOR_BYTES + 1, 9, &h), "no record begins inside a sector");
    card.fail_sector = 7;
    card.fail_times = 100;
    OK(record_ring_open(&ring, &file, buffer, sizeof buffer) == ERR_IO &&
           ring.io.failed_sector >= 4,
       "a file that cannot be read is reported with its place: %llu",
       (unsigned long long)ring.io.failed_sector);
}

int main(void)
{
    test_turns();
    test_power();
    test_damage();
    return tap_done();
}
