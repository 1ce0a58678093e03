/* Cards that would keep a board busy for long, by wear or on purpose: each question is answered
 * after a bounded number of reads and steps. */
#include <stdio.h>
#include <string.h>

#include "runtime/storage/fat32_proof.h"
#include "runtime/storage/fat32_write.h"
#include "tests/unit/storage/fake_block.h"
#include "tests/unit/storage/walk_card.h"
#include "tests/unit/tap.h"

enum {
    FOLDERS = 24, /* each has so many entries of the next one: 5^24 ways to the last */
    WAYS = 5,
    WANTED = 10, /* clusters */
};

static struct card card;
static uint8_t before[sizeof card.disk];
static struct fake_block fake;
static struct fat32 fs;
static struct fat32_entry entry;
static struct file file;
static struct file_extent extents[FILE_MAX_EXTENTS];
static const struct file_table table = { extents, FILE_MAX_EXTENTS };
static struct fat32_proof proof;

static bool mount(void)
{
    fake_init(&fake, card.disk, CARD_DISK);
    fake.written = card.disk;
    fake.dev.writable = true;
    return fat32_mount(&fs, &fake.dev, NULL) == ERR_OK;
}

static enum err prove_save(void)
{
    enum err e = mount() ? fat32_find(&fs, "saves/chat.sav", &entry) : ERR_NO_FILESYSTEM;

    if (e == ERR_OK)
        e = fat32_open_file(&fs, &entry, &table, &file);
    return e == ERR_OK ? fat32_prove_file(&proof, &fs, &entry, &file) : e;
}

/* exFAT: folders of so many bytes, without chains; a walk into each entry never ends. */
static void test_ways(uint32_t bytes)
{
    char name[2] = "a";
    uint32_t first;

    card_make(&card, true, CARD_MBR, 4096);
    first = card.next;
    card_put_entry(&card, 5, "ways", 0x10, first, bytes, true, &(uint32_t){ 0 });
    for (uint32_t i = 0; i < FOLDERS; i++) {
        uint8_t *at = card.disk + card_cluster_at(&card, card_take(&card, 1, OWNER_FOLDER, false));

        memset(at, 0, 512);
        for (uint32_t way = 0; i + 1 < FOLDERS && way < WAYS; way++) {
            name[0] = (char)('a' + way);
            (void)card_put_set(at + 96 * way, name, 0x10, first + i + 1, bytes, true);
        }
    }
    OK(prove_save() == ERR_BAD_FILESYSTEM && strstr(fs.why, "same clusters") != NULL,
       "folders of %u bytes that many entries lead to are refused: %s", (unsigned)bytes,
       fs.why != NULL ? fs.why : "passes");
}

/* A folder of zero bytes in the middle of a file. */
static void test_empty_folder(void)
{
    card_make(&card, true, CARD_MBR, 4096);
    OK(prove_save() == ERR_OK && file.n_extents > 1, "a file has %u pieces",
       (unsigned)file.n_extents);
    card_put_entry(&card, 5, "in", 0x10,
                   (uint32_t)(file_extents(&file)[1].sector - fs.data_sector) + 2, 0, true,
                   &(uint32_t){ 0 });
    OK(prove_save() == ERR_BAD_FILESYSTEM && strstr(fs.why, "same clusters") != NULL,
       "a folder without bytes at the file's second piece is refused: %s",
       fs.why != NULL ? fs.why : "passes");
}

/* The walk over the card ended early. Windows notes in the FAT that a volume is in use, Linux in the
 * boot sector. */
static void check_dirty(void)
{
    uint8_t *boot = card.disk + fs.first_sector * 512,
            *second = card.disk + card_fat_at(&card, 0) + 4;

    OK(proof.gave_up, "the walk over the card ends early");
    boot[65] = 1;
    OK(prove_save() == ERR_BAD_FILESYSTEM && strstr(fs.why, "not unmounted") != NULL,
       "then a volume is refused that Linux did not unmount: %s",
       fs.why != NULL ? fs.why : "passes");
    boot[65] = 0;
    second[3] &= 0xf7;
    OK(prove_save() == ERR_BAD_FILESYSTEM && strstr(fs.why, "not unmounted") != NULL,
       "and one that Windows did not: %s", fs.why != NULL ? fs.why : "passes");
    second[3] |= 8;
    OK(prove_save() == ERR_OK, "a volume that was unmounted is not refused");
}

/* Behind the end of a folder are entries that lead to free clusters, whose part of the FAT is far
 * from the folder. */
static void test_behind(void)
{
    uint32_t n = 1500, first;

    card_make(&card, false, CARD_MBR, 4096);
    first = card_take(&card, n, OWNER_FOLDER, false);
    card_put_entry(&card, 5, "behind", 0x10, first, 0, false, &(uint32_t){ 0 });
    for (uint32_t i = 0; i < n; i++) {
        uint8_t *at = card.disk + card_cluster_at(&card, first + i);

        memset(at, 0, 512);
        for (uint32_t k = i == 0 ? 3 : 0; k < 16; k++) {
            memcpy(at + 32 * k, "GONE    BIN ", 12);
            card_put(at + 32 * k + 26, card.next + 100, 2);
        }
    }
    memcpy(card.disk + card_cluster_at(&card, first), ".          ", 11);
    card.disk[card_cluster_at(&card, first) + 11] = 0x10;
    card_put(card.disk + card_cluster_at(&card, first) + 26, first, 2);
    memcpy(card.disk + card_cluster_at(&card, first) + 32, "..         ", 11);
    card.disk[card_cluster_at(&card, first) + 43] = 0x10;
    card_put(card.disk + card_cluster_at(&card, first) + 58, card.folders[5].first, 2);
    OK(prove_save() == ERR_OK && fake.n_reads < 20000,
       "%u entries behind an end cost only %u reads: %s", (unsigned)n * 16, fake.n_reads,
       fs.why != NULL ? fs.why : "passes");
    check_dirty();
}

/* Free clusters in many pieces, and a second FAT in which none is free. */
static void test_free(void)
{
    card_make(&card, false, CARD_MBR, 4096);
    for (uint32_t i = card.next; i < CARD_CLUSTERS + 2; i += 2)
        card_link(&card, i, 0x0fffffff);
    OK(mount() && fat32_reserve(&fs, WANTED * 512, &table, &file) == ERR_OK && file.n_extents > 1 &&
           fake.n_reads < 100,
       "%u pieces are reserved after %u reads if every second cluster is free",
       (unsigned)file.n_extents, fake.n_reads);
    card_make(&card, false, CARD_MBR, 4096);
    memset(card.disk + card_fat_at(&card, 1), 0xff, CARD_FAT_SECTORS * 512);
    OK(mount() && fat32_reserve(&fs, WANTED * 512, &table, &file) == ERR_NO_SPACE &&
           fake.n_reads < 1000,
       "nothing is reserved after %u reads if the second FAT has no free cluster: %s", fake.n_reads,
       fs.why);
    for (uint32_t i = card.next + 1000; i < card.next + 1000 + WANTED; i++)
        card_put(card.disk + card_fat_at(&card, 1) + 4 * i, 0, 4);
    OK(mount() && fat32_reserve(&fs, WANTED * 512, &table, &file) == ERR_OK &&
           file.n_extents == 1 &&
           file_extents(&file)[0].sector == fs.data_sector + card.next + 1000 - 2,
       "clusters that are free in both FATs are found");
}

/* Clusters that were reserved on another card: they come after this volume's last one, where the
 * FAT has zeros to the end of its sector. */
static void test_other_card(void)
{
    card_make(&card, false, CARD_MBR, 4096);
    OK(mount() && fat32_reserve(&fs, 512, &table, &file) == ERR_OK, "a cluster is reserved");
    extents[0].sector = fs.data_sector + CARD_CLUSTERS;
    OK(fat32_publish(&fs, "models", "n.ingot", &file) == ERR_BAD_FILESYSTEM &&
           card_get(card.disk + card_fat_at(&card, 0) + 4 * (CARD_CLUSTERS + 2)) == 0,
       "a file beyond the end of the volume is refused: %s", fs.why != NULL ? fs.why : "passes");
    extents[0].sector = fs.data_sector - 1;
    OK(fat32_publish(&fs, "models", "n.ingot", &file) == ERR_BAD_FILESYSTEM,
       "a file before the first data sector is refused");
    card_make(&card, true, CARD_MBR, 4096);
    memcpy(before, card.disk, sizeof before);
    extents[0].sector = fs.data_sector + card.next + 50;
    OK(mount() && fs.is_exfat &&
           fat32_publish(&fs, "models", "n.ingot", &file) == ERR_BAD_FILESYSTEM &&
           memcmp(before, card.disk, sizeof before) == 0,
       "exFAT stays as it is: %s", fs.why != NULL ? fs.why : "passes");
}

int main(void)
{
    test_ways(0);
    test_ways(512);
    test_empty_folder();
    test_behind();
    test_free();
    test_other_card();
    return tap_done();
}
