/* Partition tables over a FAT32 volume made by hand: every type in an MBR, and lengths that are
 * stored in two places, of which the wrong one is not believed. */
#include <stdio.h>
#include <string.h>

#include "runtime/storage/fat32_write.h"
#include "runtime/storage/partitions.h"
#include "tests/unit/storage/fake_block.h"
#include "tests/unit/storage/fat32_volume.h"
#include "tests/unit/tap.h"

enum { START = 64, BEHIND = 300, DISK_SECTORS = START + VOLUME_SECTORS + BEHIND, TABLE = 2 };

static uint8_t disk[DISK_SECTORS * 512];
static struct fake_block fake;
static struct fat32 fs;
static struct fat32_entry entry;
static struct file file;
static struct file_extent extents[FILE_MAX_EXTENTS];
static const struct file_table table = { extents, FILE_MAX_EXTENTS };

static bool why_has(const char *text)
{
    return fs.why != NULL && strstr(fs.why, text) != NULL;
}

/* The volume at START, with models/near.ingot at its front and models/far.ingot in its last
 * clusters. */
static void make_disk(void)
{
    uint8_t *folder = volume_cluster(3);

    volume_format();
    volume_add("MODELS     ", 0x10, 3, 0);
    volume_link(3, VOLUME_END);
    memset(folder, 0, 512);
    memcpy(folder, "NEAR    ING", 11);
    put_le(folder + 26, 10, 2);
    put_le(folder + 28, 1024, 4);
    volume_chain(10, 2);
    memcpy(folder + 32, "FAR     ING", 11);
    put_le(folder + 32 + 26, VOLUME_CLUSTERS, 2);
    put_le(folder + 32 + 28, 1024, 4);
    volume_chain(VOLUME_CLUSTERS, 2);
    memset(disk, 0, sizeof disk);
    memcpy(disk + START * 512, volume, sizeof volume);
    disk[510] = 0x55;
    disk[511] = 0xaa;
}

static void put_entry(int nth, uint8_t type, uint32_t start, uint32_t n)
{
    disk[446 + 16 * nth + 4] = type;
    put_le(disk + 446 + 16 * nth + 8, start, 4);
    put_le(disk + 446 + 16 * nth + 12, n, 4);
}

static enum err mount(void)
{
    fake_init(&fake, disk, DISK_SECTORS);
    fake.written = disk;
    fake.dev.writable = true;
    return fat32_mount(&fs, &fake.dev, NULL);
}

static enum err open_file(const char *path)
{
    enum err e = fat32_find(&fs, path, &entry);

    return e == ERR_OK ? fat32_open_file(&fs, &entry, &table, &file) : e;
}

static void test_types(void)
{
    unsigned n = 0;

    for (unsigned type = 0; type < 256; type++) {
        make_disk();
        put_entry(1, (uint8_t)type, START, VOLUME_SECTORS);
        n += type == 0xee || (mount() == ERR_OK && fs.first_sector == START && fs.sealed == NULL &&
                              open_file("models/far.ing") == ERR_OK);
    }
    OK(n == 256, "a FAT32 volume is found in a partition of any type: %u of 256", n);
    make_disk();
    memset(disk + START * 512, 0, 512);
    put_entry(0, 0x83, START, 100);
    put_entry(3, 0xa5, START + 100, 100);
    OK(mount() == ERR_NO_FILESYSTEM && why_has("the types 0x83, 0xa5;"),
       "types of partitions without FAT32 are named: %s", fs.why);
    memset(disk + 446, 0, 64);
    OK(mount() == ERR_NO_FILESYSTEM && why_has("no partition"),
       "a disk without partitions is reported: %s", fs.why);
}

/* Free clusters from sector `end` on belong to another partition: no file is made or read there. */
static void check_shorter(const char *what, uint64_t end)
{
    enum err e = mount();

    OK(e == ERR_OK && fs.end_sector == end && open_file("models/near.ing") == ERR_OK &&
           open_file("models/far.ing") == ERR_TRUNCATED &&
           why_has("partition ends before the file"),
       "%s: a file beyond the partition is refused: %s", what, fs.why != NULL ? fs.why : "read");
    OK(fat32_reserve(&fs, 512, &table, &file) == ERR_BAD_FILESYSTEM &&
           why_has("longer than its partition"),
       "%s: no file is made beyond the partition: %s", what, fs.why != NULL ? fs.why : "made");
}

static void test_lengths(void)
{
    make_disk();
    put_entry(0, 0x0c, START, VOLUME_SECTORS);
    OK(mount() == ERR_OK && fat32_reserve(&fs, 512, &table, &file) == ERR_OK,
       "a volume of its partition's length is mounted");
    put_entry(0, 0x0c, START, VOLUME_SECTORS - 1);
    OK(mount() == ERR_OK && open_file("models/far.ing") == ERR_TRUNCATED,
       "a partition one sector shorter than its volume ends its files: %s", fs.why);
    put_entry(0, 0x0c, START, 5000);
    check_shorter("a shorter partition", START + 5000);
    put_entry(0, 0x0c, START, 0xffffffff);
    put_entry(1, 0x83, START + 4000, 100);
    check_shorter("a partition begins in this one", START + 4000);
    put_entry(0, 0x0c, START, 5000);
    check_shorter("and the shorter of both", START + 4000);
    put_entry(1, 0, 0, 0);
    put_entry(2, 0x0c, START, 3000);
    check_shorter("two entries for it", START + 3000);
    put_entry(2, 0, 0, 0);
    put_entry(0, 0x0c, START, 0);
    OK(mount() == ERR_OK && open_file("models/far.ing") == ERR_OK &&
           fat32_reserve(&fs, 512, &table, &file) == ERR_BAD_FILESYSTEM && why_has("no length"),
       "no file is made in an entry without a length: %s", fs.why);
    put_entry(0, 0x0c, START, VOLUME_SECTORS);
    fake_init(&fake, disk, START + VOLUME_SECTORS - 100);
    fake.dev.writable = true;
    OK(fat32_mount(&fs, &fake.dev, NULL) == ERR_OK &&
           fat32_reserve(&fs, 512, &table, &file) == ERR_BAD_FILESYSTEM && why_has("card ends"),
       "no file is made on a card shorter than its partition: %s", fs.why);
}

/* ---- GPT ------------------------------------------------------------------------------------- */

static void put_gpt_entry(unsigned nth, uint64_t first, uint64_t last)
{
    uint8_t *e = disk + TABLE * 512 + nth * 128;

    memset(e, 0x5a, 16);
    put_le(e + 32, first, 8);
    put_le(e + 40, last, 8);
}

static void sign_entries(unsigned n)
{
    uint8_t *h = disk + 512;

    memset(h, 0, 512);
    memcpy(h, "EFI PART", 8);
    put_le(h + 8, 0x10000, 4);
    put_le(h + 12, 92, 4);
    put_le(h + 24, 1, 8);
    put_le(h + 72, TABLE, 8);
    put_le(h + 80, n, 4);
    put_le(h + 84, 128, 4);
    put_le(h + 88, partitions_crc32(0, disk + TABLE * 512, n * 128), 4);
    put_le(h + 16, partitions_crc32(0, h, 92), 4);
    put_entry(0, 0xee, 1, DISK_SECTORS - 1);
}

static void sign_gpt(void)
{
    sign_entries(8);
}

/* PARTITIONS_MOST are looked at; the volume is in the first of them, or just after the last. */
static void test_many(void)
{
    const unsigned n = PARTITIONS_MOST + 4;

    for (unsigned nth = 0; nth <= PARTITIONS_MOST; nth += PARTITIONS_MOST) {
        make_disk();
        for (unsigned i = 0; i < n; i++)
            put_gpt_entry(i, START + VOLUME_SECTORS + i, START + VOLUME_SECTORS + i);
        put_gpt_entry(nth, START, START + VOLUME_SECTORS - 1);
        sign_entries(n);
        if (nth == 0)
            OK(mount() == ERR_OK, "a GPT of %u entries is mounted if the first is ours", n);
        else
            OK(mount() == ERR_NO_FILESYSTEM && why_has("first 16 of the card's 20"),
               "the error tells how many entries were looked at: %s", fs.why);
    }
}

static void test_gpt(void)
{
    make_disk();
    put_gpt_entry(0, START, START + VOLUME_SECTORS - 1);
    sign_gpt();
    OK(mount() == ERR_OK && fs.end_sector == START + VOLUME_SECTORS && fs.sealed == NULL,
       "a GPT entry of the volume's length is accepted: %s", fs.why != NULL ? fs.why : "");
    put_gpt_entry(0, START, START + 5999);
    sign_gpt();
    check_shorter("GPT: a shorter partition", START + 6000);
    put_gpt_entry(0, START, DISK_SECTORS - 1);
    put_gpt_entry(7, START + 4500, START + 4600);
    sign_gpt();
    check_shorter("GPT: its last entry begins in this one", START + 4500);
    put_gpt_entry(7, DISK_SECTORS - 2, DISK_SECTORS - 1);
    sign_gpt();
    put_entry(1, 0x0c, START, 3500);
    check_shorter("a hybrid MBR says less", START + 3500);
    put_entry(1, 0, 0, 0);
    put_gpt_entry(0, START, START - 1);
    sign_gpt();
    OK(mount() == ERR_OK && fat32_reserve(&fs, 512, &table, &file) == ERR_BAD_FILESYSTEM &&
           why_has("no length"),
       "an entry that ends before it begins allows no file: %s", fs.why);
}

/* Logical partitions, each with a table in front that names the next table. */
static void put_logical(uint32_t where, uint8_t type, uint32_t first, uint32_t n, uint32_t next)
{
    uint8_t *at = disk + where * 512;

    memset(at, 0, 512);
    at[446 + 4] = type;
    put_le(at + 446 + 8, first, 4);
    put_le(at + 446 + 12, n, 4);
    at[462 + 4] = next != 0 ? 0x05 : 0;
    put_le(at + 462 + 8, next, 4);
    at[510] = 0x55;
    at[511] = 0xaa;
}

static unsigned count_partitions(void)
{
    struct partitions found;

    return partitions_find(&fs, &found) == ERR_OK ? found.n : 0;
}

static void test_logical(void)
{
    static const uint8_t types[] = { 0x05, 0x0f, 0x85 };
    unsigned n;

    for (size_t i = 0; i < sizeof types; i++) {
        make_disk();
        put_entry(0, types[i], 12, DISK_SECTORS - 12);
        put_logical(12, 0x83, 2, 4, 16);
        put_logical(28, 0x0c, START - 28, VOLUME_SECTORS, START + VOLUME_SECTORS - 12);
        put_logical(START + VOLUME_SECTORS, 0x83, 2, 4, 0);
        OK(mount() == ERR_OK && fs.first_sector == START && open_file("models/far.ing") == ERR_OK,
           "the second logical partition of type 0x%02x is mounted: %s", types[i],
           fs.why != NULL ? fs.why : "");
        OK(fs.sealed == NULL && fs.end_sector == START + VOLUME_SECTORS, "it ends where it ends");
    }
    put_logical(28, 0x0c, START - 28, VOLUME_SECTORS + 100, START + VOLUME_SECTORS - 12);
    OK(mount() == ERR_OK && fs.end_sector == START + VOLUME_SECTORS,
       "it does not reach over the next table");
    put_logical(28, 0x0c, START - 28, 0, 16);
    n = 0;
    OK(mount() == ERR_OK && fs.sealed != NULL && (n = count_partitions()) == 4,
       "tables in a circle end, and no length is noticed: %u partitions", n);
    put_logical(12, 0x83, 0, 4, 16);
    OK(mount() == ERR_OK && (n = count_partitions()) == 3,
       "a partition that begins at its own table is none: %u partitions", n);
    put_logical(12, 0x83, 2, 4, DISK_SECTORS);
    OK(mount() == ERR_NO_FILESYSTEM && why_has("0x85"), "a table beyond the disk: %s", fs.why);
    put_logical(12, 0x83, 2, 4, 16);
    disk[28 * 512 + 510] = 0;
    OK(mount() == ERR_NO_FILESYSTEM, "a table without a signature is none: %s", fs.why);
    fake.fail_sector = 28;
    fake.fail_times = 1000;
    OK(fat32_mount(&fs, &fake.dev, NULL) == ERR_NO_FILESYSTEM && why_has("0x85"),
       "a table that cannot be read: %s", fs.why);
}

/* Large lengths come from the disk and overflow nothing. */
static void test_large(void)
{
    make_disk();
    put_gpt_entry(0, START, UINT64_MAX);
    sign_gpt();
    OK(mount() == ERR_OK && fs.end_sector == DISK_SECTORS,
       "a last LBA of 2^64 - 1 is cut to the disk");
    put_gpt_entry(0, 0, UINT64_MAX);
    sign_gpt();
    OK(mount() != ERR_OK, "a first LBA of 0 is refused: %s", fs.why);
}

int main(void)
{
    test_types();
    test_lengths();
    test_gpt();
    test_many();
    test_logical();
    test_large();
    return tap_done();
}
