/* A file is reserved, written and then named. The card changes in between: a proof comes before
 * each of the two, and all FATs are equal at the end. */
#include <stdio.h>
#include <string.h>

#include "runtime/storage/storage_new.h"
#include "tests/unit/storage/fake_block.h"
#include "tests/unit/storage/walk_card.h"
#include "tests/unit/tap.h"

enum { NEW_BYTES = 5000 };

static struct card card;
static uint8_t before[sizeof card.disk];
static struct fake_block fake;
static struct platform platform;
static struct storage storage;
static struct storage_new new_file;
static struct file_extent extents[FILE_MAX_EXTENTS];
static const struct file_table table = { extents, FILE_MAX_EXTENTS };

static unsigned find_devices(void *context, struct block_device *devices[BOARD_MAX_BLOCK])
{
    (void)context;
    devices[0] = &fake.dev;
    return 1;
}

static uint64_t ticks(void *context)
{
    static uint64_t now;

    (void)context;
    return now += 1;
}

static void start(enum card_table kind)
{
    const struct storage_setup setup = { .platform = &platform };

    card_make(&card, false, kind, 8192);
    fake_init(&fake, card.disk, CARD_DISK);
    fake.written = card.disk;
    fake.dev.writable = true;
    platform = (struct platform){ .name = "made up",
                                  .clock = { .ticks = ticks, .hz = 1000000 },
                                  .storage = { .find = find_devices } };
    storage_open(&storage, &setup);
}

static bool fats_are_alike(void)
{
    return memcmp(card.disk + card_fat_at(&card, 0), card.disk + card_fat_at(&card, 1),
                  CARD_FAT_SECTORS * 512) == 0;
}

static uint32_t fat_of(uint32_t cluster)
{
    return card_get(card.disk + card_fat_at(&card, 0) + 4 * cluster);
}

static void test_both_fats(void)
{
    uint32_t first;

    start(CARD_MBR);
    first = card_find(&card, "models/b.ingot")->first;
    OK(storage_new_open(&storage, "models/b.ingot", NEW_BYTES, &table, &new_file) == ERR_OK &&
           fat_of(first) != 0 && storage_new_publish(&storage, &new_file) == ERR_OK,
       "a file is made in place of another: %s", storage.error_message);
    OK(fats_are_alike() && fat_of(first) == 0,
       "the replaced file's clusters are free in both FATs");
    start(CARD_GPT);
    OK(storage_new_open(&storage, "grammars/g.grammar", NEW_BYTES, &table, &new_file) == ERR_OK &&
           storage_new_publish(&storage, &new_file) == ERR_OK && fats_are_alike(),
       "a file is made in a new folder, and both FATs have the chains: %s", storage.error_message);
}

/* A cluster that is in use in only one FAT may belong to a file, whichever FAT it is. */
static void test_one_fat(unsigned fat)
{
    uint32_t free;

    start(CARD_BARE);
    free = card.next;
    card_put(card.disk + card_fat_at(&card, fat) + 4 * free, 0x0fffffff, 4);
    OK(storage_new_open(&storage, "models/c.ingot", NEW_BYTES, &table, &new_file) != ERR_OK ||
           file_extents(&new_file.file)[0].sector > CARD_META + free - 2 ||
           file_extents(&new_file.file)[0].sector + file_extents(&new_file.file)[0].n_sectors <=
               CARD_META + free - 2,
       "a cluster that only FAT %u calls used is not taken: %s", fat, storage.error_message);
}

enum change { CHAIN, ENTRY, SECOND_FAT, OTHER_VOLUME, CHANGES };

/* Changes the card between the two. */
static void change_card(enum change change)
{
    const struct card_file *old = card_find(&card, "models/b.ingot"),
                           *other = card_find(&card, "notes.txt");
    uint32_t taken = (uint32_t)(file_extents(&new_file.file)[0].sector - card.start - CARD_META) +
                     2;

    switch (change) {
    case CHAIN: card_link(&card, old->first, other->first); break;
    case ENTRY: /* another file begins where the new one was written */
        card_put(card.disk + other->entry + other->entry_bytes - 32 + 26, taken, 2);
        break;
    case SECOND_FAT: card_put(card.disk + card_fat_at(&card, 1) + 4 * taken, 0x0fffffff, 4); break;
    default: /* shorter than its partition says */
        card_put(card.disk + card.start * 512 + 32, CARD_VOLUME / 2, 4);
        break;
    }
}

static void test_changed(enum change change)
{
    static const char *const what[CHANGES] = { "the old file's chain leads into another file",
                                               "another file begins in the new one's clusters",
                                               "the second FAT calls the new clusters used",
                                               "the volume has another length" };
    enum err e;

    start(CARD_MBR);
    if (!OK(storage_new_open(&storage, "models/b.ingot", NEW_BYTES, &table, &new_file) == ERR_OK,
            "there is room for a new file: %s", storage.error_message))
        return;
    change_card(change);
    memcpy(before, card.disk, sizeof before);
    e = storage_new_publish(&storage, &new_file);
    OK(e != ERR_OK && memcmp(before, card.disk, sizeof before) == 0,
       "%s: nothing is written after that change: %s", what[change], storage.error_message);
}

/* The error message about a file that cannot be made has its own cause, and not that of the error
 * code behind it. */
static void test_one_cause(void)
{
    static const struct {
        uint64_t bytes;
        bool read_only, is_exfat;
        const char *cause;
    } rows[] = { { 200000000, false, false, "the card has no room for it: delete files" },
                 { 1ull << 32, false, false, "a file on FAT32 has 1 to 4294967295 bytes" },
                 { 0, false, false, "a file on FAT32 has 1 to 4294967295 bytes" },
                 { 500, true, false, "it is read-only" },
                 { 500, false, true, "copy the file on a computer" } };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *at;
        enum err e;

        start(CARD_MBR);
        if (rows[i].is_exfat)
            card_make(&card, true, CARD_MBR, 8192);
        fake.dev.writable = !rows[i].read_only;
        e = storage_new_open(&storage, "models/n.ingot", rows[i].bytes, &table, &new_file);
        at = strstr(storage.error_message, rows[i].cause);
        OK(e != ERR_OK && at != NULL && at[strlen(rows[i].cause)] == '\0' &&
               strstr(storage.error_message, err_text(e)) == NULL,
           "an error names one cause: %s", storage.error_message);
    }
}

int main(void)
{
    test_one_cause();
    test_both_fats();
    test_one_fat(0);
    test_one_fat(1);
    for (int i = 0; i < CHANGES; i++)
        test_changed((enum change)i);
    return tap_done();
}
