/* FAT32 on volumes made by hand: fields, partition tables, chains, names and folders. */
#include <stdio.h>
#include <string.h>

#include "tests/unit/storage/fake_block.h"
#include "tests/unit/storage/fat32_rig.h"
#include "tests/unit/storage/fat32_volume.h"

static struct fake_block fake;

static enum err mount(void)
{
    fake_init(&fake, volume, VOLUME_SECTORS);
    return fat32_mount(&fs, &fake.dev, NULL);
}

static bool why_has(const char *text)
{
    return fs.why != NULL && strstr(fs.why, text) != NULL;
}

/* ---- mounting ------------------------------------------------------------------------------ */

static void test_fields(void)
{
    static const struct {
        const char *name;
        int offset, bytes;
        uint32_t value;
        enum err expected;
    } cases[] = {
        { "BPB_BytsPerSec", 11, 2, 256, ERR_UNSUPPORTED },
        { "BPB_BytsPerSec", 11, 2, 8192, ERR_UNSUPPORTED },
        { "BPB_RsvdSecCnt", 14, 2, 0, ERR_BAD_FILESYSTEM },
        { "BPB_NumFATs", 16, 1, 0, ERR_BAD_FILESYSTEM },
        { "BPB_NumFATs", 16, 1, 200, ERR_BAD_FILESYSTEM },
        { "FAT16", 17, 2, 512, ERR_UNSUPPORTED },
        { "BPB_TotSec16", 19, 2, 100, ERR_BAD_FILESYSTEM },
        { "BPB_Media", 21, 1, 0xf3, ERR_BAD_FILESYSTEM },
        { "FAT16", 22, 2, 9, ERR_UNSUPPORTED },
        { "BPB_TotSec32", 32, 4, 0, ERR_BAD_FILESYSTEM },
        { "BPB_FATSz32", 32, 4, VOLUME_DATA, ERR_BAD_FILESYSTEM },
        { "BPB_TotSec32", 32, 4, 0xffffffff, ERR_BAD_FILESYSTEM },
        { "BPB_FATSz32", 36, 4, 0, ERR_BAD_FILESYSTEM },
        { "BPB_FATSz32", 36, 4, 0xffffffff, ERR_BAD_FILESYSTEM },
        { "BPB_FATSz32", 36, 4, 78, ERR_BAD_FILESYSTEM },
        { "BPB_ExtFlags", 40, 2, 0x81, ERR_BAD_FILESYSTEM },
        { "BPB_FSVer", 42, 2, 1, ERR_BAD_FILESYSTEM },
        { "BPB_RootClus", 44, 4, 1, ERR_BAD_FILESYSTEM },
        { "BPB_RootClus", 44, 4, VOLUME_CLUSTERS + 2, ERR_BAD_FILESYSTEM },
        { "neither an MBR", 510, 2, 0, ERR_NO_FILESYSTEM },
        { "no FAT32 partition", 0, 1, 0, ERR_NO_FILESYSTEM },
    };

    volume_format();
    OK(mount() == ERR_OK && fs.why == NULL && fs.n_clusters == VOLUME_CLUSTERS,
       "a bare volume is mounted");
    put_le(volume + 19, VOLUME_SECTORS, 2);
    put_le(volume + 32, 0, 4);
    OK(mount() == ERR_OK && fs.n_sectors == VOLUME_SECTORS, "a size in BPB_TotSec16 alone is read");
    put_le(volume + 32, VOLUME_SECTORS, 4);
    OK(mount() == ERR_OK && fs.n_sectors == VOLUME_SECTORS, "an equal size in both fields is read");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        volume_format();
        put_le(volume + cases[i].offset, cases[i].value, cases[i].bytes);
        enum err e = mount();
        OK(e == cases[i].expected && why_has(cases[i].name), "%s = %u has its result: %s",
           cases[i].name, cases[i].value, fs.why != NULL ? fs.why : "mounted");
    }
    volume_format();
    volume[13] =
        3; /* not a power of two, so it is not a boot sector but a table without partitions */
    OK(mount() == ERR_NO_FILESYSTEM, "a bare volume with BPB_SecPerClus = 3 is refused");
    volume_format();
    memcpy(volume + 3, "EXFAT   ", 8);
    OK(mount() == ERR_BAD_FILESYSTEM && why_has("exFAT"),
       "exFAT with a wrong boot sector is refused: %s", fs.why);
    volume_format();
    fake_init(&fake, volume, VOLUME_RESERVED - 1);
    OK(fat32_mount(&fs, &fake.dev, NULL) == ERR_OK, "a card cut before its FAT mounts");
    OK(fat32_find(&fs, "x", &entry) == ERR_TRUNCATED,
       "a card cut before its FAT is reported by a search: %s", fs.why);
    fake_init(&fake, volume, VOLUME_SECTORS);
    fake.fail_sector = 0;
    fake.fail_times = 1000;
    OK(fat32_mount(&fs, &fake.dev, NULL) == ERR_IO, "a card that cannot be read is reported: %s",
       fs.why);
}

/* Mounts the volume at sector 8 of a partitioned disk with the given table. */
static enum err mount_table(const uint8_t (*types)[4], const uint32_t starts[4])
{
    static uint8_t disk[(8 + VOLUME_SECTORS) * 512];

    memset(disk, 0, 8 * 512);
    memcpy(disk + 8 * 512, volume, sizeof volume);
    for (int i = 0; i < 4; i++) {
        disk[446 + 16 * i + 4] = (*types)[i];
        put_le(disk + 446 + 16 * i + 8, starts[i], 4);
        put_le(disk + 446 + 16 * i + 12, VOLUME_SECTORS, 4);
    }
    disk[510] = 0x55;
    disk[511] = 0xaa;
    fake_init(&fake, disk, 8 + VOLUME_SECTORS);
    return fat32_mount(&fs, &fake.dev, NULL);
}

static void test_tables(void)
{
    volume_format();
    OK(mount_table(&(uint8_t[4]){ 0x0c }, (uint32_t[4]){ 8 }) == ERR_OK, "type 0x0C is mounted");
    OK(mount_table(&(uint8_t[4]){ 0x83, 0, 0, 0x0b }, (uint32_t[4]){ 1, 0, 0, 8 }) == ERR_OK &&
           fs.first_sector == 8,
       "type 0x0B in the fourth entry is mounted, after a Linux partition");
    OK(mount_table(&(uint8_t[4]){ 0x0c, 0x0c }, (uint32_t[4]){ 99999999, 8 }) == ERR_OK,
       "the second partition is mounted if the first lies beyond the card");
    OK(mount_table(&(uint8_t[4]){ 0x0c }, (uint32_t[4]){ 99999999 }) == ERR_BAD_FILESYSTEM,
       "a partition beyond the card is refused: %s", fs.why);
    OK(mount_table(&(uint8_t[4]){ 0x0c }, (uint32_t[4]){ 9 }) == ERR_BAD_FILESYSTEM,
       "a partition that is not a volume is refused: %s", fs.why);
    OK(mount_table(&(uint8_t[4]){ 0xee }, (uint32_t[4]){ 1 }) == ERR_BAD_FILESYSTEM &&
           why_has("GPT"),
       "a GPT that is damaged is refused: %s", fs.why);
    OK(mount_table(&(uint8_t[4]){ 0x07 }, (uint32_t[4]){ 8 }) == ERR_OK,
       "type 0x07 with FAT32 in it is mounted");
    OK(mount_table(&(uint8_t[4]){ 0x83, 0xef }, (uint32_t[4]){ 3, 5 }) == ERR_NO_FILESYSTEM &&
           why_has("0x83, 0xef;"),
       "types of partitions that are not FAT32 are named: %s", fs.why);
}

/* ---- chains -------------------------------------------------------------------------------- */

static enum err open_x(void)
{
    enum err e = mount();

    e = e == ERR_OK ? fat32_find(&fs, "x", &entry) : e;
    return e == ERR_OK ? fat32_open_file(&fs, &entry, &table, &file) : e;
}

static void new_x(uint32_t cluster, uint32_t bytes)
{
    volume_format();
    volume_add("X          ", 0x20, cluster, bytes);
}

static void test_chains(void)
{
    new_x(10, 5 * 512 - 1);
    volume_chain(10, 5);
    OK(open_x() == ERR_OK && file.n_extents == 1 &&
           file_extents(&file)[0].sector == VOLUME_DATA + 8 &&
           file_extents(&file)[0].n_sectors == 5,
       "a file in one piece is one extent");
    volume_link(14, 15);
    volume_link(15, VOLUME_END);
    OK(open_x() == ERR_OK && file_extents(&file)[0].n_sectors == 5,
       "a chain may be longer than the file");
    new_x(10, 4 * 512);
    volume_link(10, 11);
    volume_link(11, 5);
    volume_link(5, 100);
    volume_link(100, VOLUME_END);
    OK(open_x() == ERR_OK && file.n_extents == 3 &&
           file_read_now(&reading, &file, 0, buffer, 4 * 512) == ERR_OK && buffer[0] == 10 &&
           buffer[512] == 11 && buffer[1024] == 5 && buffer[1536] == 100,
       "three pieces are read, though one lies before the first");
    volume_link(5, 11);
    OK(open_x() == ERR_BAD_FILESYSTEM && why_has("cyclic"), "a cycle inside the file is found");
    volume_link(5, 5);
    OK(open_x() == ERR_BAD_FILESYSTEM && why_has("cyclic"),
       "a cluster that follows itself is refused");
    put_le(volume_cluster(2) + 28, 9000 * 512, 4);
    OK(open_x() == ERR_BAD_FILESYSTEM && why_has("cyclic"), "a cycle in a long file is found");
    put_le(volume_cluster(2) + 28, 4 * 512, 4);
    volume_link(5, 11);
    put_le(volume_cluster(2) + 28, 9000 * 512, 4);
    OK(open_x() == ERR_BAD_FILESYSTEM && why_has("cyclic"),
       "a chain with more turns than extents is a cycle");
    put_le(volume_cluster(2) + 28, 4 * 512, 4);
    volume_link(5, 100);
    volume_link(100, 10);
    OK(open_x() == ERR_BAD_FILESYSTEM && why_has("cyclic"),
       "a cycle from the last cluster is found");
    volume_link(5, VOLUME_END);
    OK(open_x() == ERR_BAD_FILESYSTEM && why_has("shorter"), "a chain that ends early is refused");
    volume_link(5, 0);
    OK(open_x() == ERR_BAD_FILESYSTEM && why_has("free"), "a chain into a free cluster is refused");
    volume_link(5, 0x0ffffff7);
    OK(open_x() == ERR_BAD_FILESYSTEM, "a chain into a bad cluster is refused");
    volume_link(5, VOLUME_CLUSTERS + 2);
    OK(open_x() == ERR_BAD_FILESYSTEM && why_has("leaves"), "a chain out of the volume is refused");
    new_x(VOLUME_CLUSTERS, 2 * 512);
    volume_chain(VOLUME_CLUSTERS, 2);
    OK(open_x() == ERR_OK && file_extents(&file)[0].n_sectors == 2,
       "a file may lie in the last clusters");
    new_x(0, 100);
    OK(open_x() == ERR_BAD_FILESYSTEM, "bytes without a cluster are refused");
    new_x(VOLUME_CLUSTERS + 2, 100);
    OK(open_x() == ERR_BAD_FILESYSTEM, "a first cluster outside is refused");
    new_x(10, 0xffffffff);
    OK(open_x() == ERR_BAD_FILESYSTEM && why_has("larger"),
       "a file with more bytes than the volume is refused");
    new_x(0, 0);
    OK(open_x() == ERR_OK && file.n_extents == 0 && file.bytes == 0, "an empty file opens");
    OK(file_read_now(&reading, &file, 0, buffer, 0) == ERR_OK &&
           file_read_now(&reading, &file, 0, buffer, 512) == ERR_RANGE,
       "a read of an empty file succeeds");
}

static void test_pieces(void)
{
    for (uint32_t n = FILE_MAX_EXTENTS; n <= FILE_MAX_EXTENTS + 1; n++) {
        new_x(10, n * 512);
        for (uint32_t i = 0; i + 1 < n; i++)
            volume_link(10 + 2 * i, 12 + 2 * i);
        volume_link(10 + 2 * (n - 1), VOLUME_END);
        enum err e = open_x();
        OK(e == (n <= FILE_MAX_EXTENTS ? ERR_OK : ERR_TOO_FRAGMENTED), "a file in %u pieces is %s",
           n, fs.why != NULL ? fs.why : "resolved");
    }
    OK(fake.n_reads < 12, "a FAT is read in large pieces: %u reads", fake.n_reads);
    for (uint32_t n = FILE_FEW_EXTENTS; n <= FILE_FEW_EXTENTS + 1; n++) {
        new_x(10, n * 512);
        for (uint32_t i = 0; i + 1 < n; i++)
            volume_link(10 + 2 * i, 12 + 2 * i);
        volume_link(10 + 2 * (n - 1), VOLUME_END);
        enum err e = open_x();
        e = fat32_open_file(&fs, &entry, NULL, &file);
        OK(e == (n <= FILE_FEW_EXTENTS ? ERR_OK : ERR_TOO_FRAGMENTED),
           "a file in %u pieces without a table is %s", n, fs.why != NULL ? fs.why : "resolved");
    }
    new_x(4000, 10 * 512);
    volume_chain(4000, 10);
    fake_init(&fake, volume, VOLUME_DATA + 4002);
    OK(fat32_mount(&fs, &fake.dev, NULL) == ERR_OK && fat32_find(&fs, "x", &entry) == ERR_OK &&
           fat32_open_file(&fs, &entry, &table, &file) == ERR_TRUNCATED,
       "a card that is cut inside the file is refused");
    for (uint32_t cut = 0; cut < 2; cut++) { /* of two sectors a cluster */
        new_x(4000, 100);
        volume[13] = 2;
        volume_link(4000, VOLUME_END);
        fake_init(&fake, volume, VOLUME_DATA + 2 * 3999 - cut);
        OK(fat32_mount(&fs, &fake.dev, NULL) == ERR_OK && fat32_find(&fs, "x", &entry) == ERR_OK &&
               fat32_open_file(&fs, &entry, &table, &file) == (cut ? ERR_TRUNCATED : ERR_OK),
           "a card that is cut %s its last cluster is told apart", cut ? "inside" : "after");
    }
    new_x(10, 3 * 512);
    volume_chain(10, 3);
    mount();
    fake.fail_sector = VOLUME_RESERVED + 1; /* in the same read as the needed sector */
    fake.fail_times = 1000;
    OK(fat32_find(&fs, "x", &entry) == ERR_OK &&
           fat32_open_file(&fs, &entry, &table, &file) == ERR_OK,
       "a bad sector beside those that are needed does no harm");
}

/* ---- names --------------------------------------------------------------------------------- */

static const char *first_name(void)
{
    struct fat32_directory dir;

    if (mount() != ERR_OK || fat32_open_directory(&fs, "/", &dir) != ERR_OK ||
        fat32_next_entry(&dir, &entry) != ERR_OK)
        return "(none)";
    return entry.name;
}

static const char *long_name_of(const uint16_t *units, unsigned n, uint8_t checksum)
{
    volume_format();
    volume_add_long(units, n, checksum);
    volume_add("SHORT~1 ING", 0x20, 0, 0);
    return first_name();
}

static void test_names(void)
{
    static const uint16_t mixed[] = { 'a', 0xe9, 0x4e2d, 0xd83d, 0xde00, 'z' };
    static const uint16_t halves[] = { 0xde00, 'a', 0xd83d };
    uint16_t units[255];
    uint8_t sum = volume_checksum("SHORT~1 ING");
    const char *name = long_name_of(mixed, 6, sum);

    OK(strcmp(name, "a\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80z") == 0,
       "a name has characters of one to four bytes: %s", name);
    OK(fat32_find(&fs, "A\xc3\x89\xe4\xb8\xad\xf0\x9f\x98\x80Z", &entry) == ERR_OK,
       "a file is found by capitals");
    OK(fat32_find(&fs, "short~1.ing", &entry) == ERR_OK, "a file is found by its short name");
    name = long_name_of(mixed, 6, (uint8_t)(sum + 1));
    OK(strcmp(name, "SHORT~1.ING") == 0, "a wrong checksum drops the long name: %s", name);
    name = long_name_of(halves, 3, sum);
    OK(strcmp(name, "\xef\xbf\xbd"
                    "a\xef\xbf\xbd") == 0,
       "half pairs become U+FFFD");
    for (unsigned i = 0; i < 255; i++)
        units[i] = 0x4e2d;
    name = long_name_of(units, 255, sum);
    OK(strlen(name) == 765, "a name of 255 units has %d bytes", (int)strlen(name));
    fat32_open_file(&fs, &entry, &table, &file);
    OK(strlen(file.name) == 255, "a name is cut to whole characters for messages: %d bytes",
       (int)strlen(file.name));
    units[13] = 0;
    OK(strlen(long_name_of(units, 13, sum)) == 39, "13 units need no terminator");

    volume_format();
    volume_add_long(mixed, 6, sum);
    volume_add("\xe5HORT~1 ING", 0x20, 0, 0); /* deleted, so its long name is an orphan */
    volume_add("INGOT      ", 0x08, 0, 0);    /* a label */
    volume_add("SHORT~1 ING", 0x20, 0, 0);
    OK(strcmp(first_name(), "SHORT~1.ING") == 0, "an orphaned long name belongs to no file");
    volume_format();
    volume_add_long(units, 200, sum);
    memmove(volume_cluster(2), volume_cluster(2) + 32, 32); /* the first piece is lost */
    volume_add("SHORT~1 ING", 0x20, 0, 0);
    OK(strcmp(first_name(), "SHORT~1.ING") == 0, "pieces out of order belong to no file");
    volume_format();
    for (unsigned i = 0; i < 52; i++)
        units[i] = (uint16_t)('a' + i / 13);
    volume_add_long(units, 52, sum);
    uint8_t swap[32];
    memcpy(swap, volume_cluster(2) + 32, 32);
    memcpy(volume_cluster(2) + 32, volume_cluster(2) + 64, 32);
    memcpy(volume_cluster(2) + 64, swap, 32);
    volume_add("SHORT~1 ING", 0x20, 0, 0);
    OK(strcmp(first_name(), "SHORT~1.ING") == 0, "pieces that changed places belong to no file");
    volume_format();
    volume_add_long(units, 39, sum);
    volume_cluster(2)[32] = 1; /* the last of three parts, and the first twice */
    volume_add("SHORT~1 ING", 0x20, 0, 0);
    OK(strcmp(first_name(), "SHORT~1.ING") == 0, "a piece that appears twice belongs to no file");
    volume_format();
    volume_add("\x05"
               "B\x81     TXT",
               0x20, 0, 0)[12] = 0x18;
    OK(strcmp(first_name(), "_b_.txt") == 0, "DOS characters and lower case are read: %s",
       entry.name);
}

static void test_folders(void)
{
    struct fat32_directory dir;
    unsigned n = 0;

    volume_format();
    for (uint32_t i = 0; i < 1000; i++) {
        char name[12];
        snprintf(name, sizeof name, "F%07u   ", i);
        volume_add(name, 0x20, 0, 0);
    }
    mount();
    fat32_open_directory(&fs, "", &dir);
    while (fat32_next_entry(&dir, &entry) == ERR_OK)
        n++;
    OK(n == 1000 && strcmp(entry.name, "F0000999") == 0, "a folder of %u entries is read", n);
    OK(fat32_next_entry(&dir, &entry) == ERR_NOT_FOUND, "a folder that was read stays at its end");
    volume_link(9061, 9001);
    mount();
    fat32_open_directory(&fs, "", &dir);
    enum err e;
    while ((e = fat32_next_entry(&dir, &entry)) == ERR_OK)
        n++;
    OK(e == ERR_BAD_FILESYSTEM && n < 70000, "a cyclic folder ends: %s", fs.why);
    volume_link(2, 9001 + VOLUME_CLUSTERS);
    OK(mount() == ERR_OK && fat32_find(&fs, "nothing", &entry) == ERR_BAD_FILESYSTEM,
       "a folder that leaves the volume is refused: %s", fs.why);
    volume_format();
    volume_add("SUB        ", 0x10, 0, 0);
    mount();
    OK(fat32_find(&fs, "sub/x", &entry) == ERR_BAD_FILESYSTEM,
       "a folder without a cluster is refused");
    OK(fat32_find(&fs, "/", &entry) == ERR_NOT_FOUND && fat32_find(&fs, "sub", &entry) == ERR_OK &&
           fat32_open_file(&fs, &entry, &table, &file) == ERR_NOT_FOUND,
       "a folder is not a file");
    unsigned models = 9;
    OK(fat32_count_models(&fs, &models) == ERR_OK && models == 0,
       "there is no model without a folder models");
    OK(get_model(0, &entry) == ERR_NOT_FOUND && why_has("models"),
       "a card without the folder models is reported: %s", fs.why);
}

/* ---- a card that falls silent -------------------------------------------------------------- */

static uint64_t fake_time;
static uint64_t fake_ticks(void *context)
{
    (void)context;
    return fake_time += 10;
}

/* Each read of a silent device takes 20 seconds to give up, so only one may be tried. */
static void test_silence(void)
{
    static const struct platform platform = { .clock = { .ticks = fake_ticks, .hz = 1000 } };
    static const struct file_timeout soon = { &platform, 1000 };
    static const struct {
        const char *name;
        uint8_t type;
        long good; /* sectors that are read before the fault */
    } cases[] = { { "an MBR", 0x0c, 0 },
                  { "a partition", 0x0c, FAT32_BUFFER_SECTORS },
                  { "a logical partition's table", 0x05, FAT32_BUFFER_SECTORS },
                  { "a GPT", 0xee, FAT32_BUFFER_SECTORS } };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        memset(volume, 0, sizeof volume);
        volume[446 + 4] = cases[i].type;
        put_le(volume + 446 + 8, 64, 4);
        put_le(volume + 510, 0xaa55, 2);
        fake_init(&fake, volume, VOLUME_SECTORS);
        fake.silent_after = cases[i].good;
        OK(fat32_mount(&fs, &fake.dev, &soon) == ERR_TIMEOUT &&
               fake.n_resets == FILE_READ_RETRIES + 1,
           "a card that is silent before %s is read times out after %u resets", cases[i].name,
           fake.n_resets);
    }
}

/* ---- a file of nearly 4 GiB, by rule ------------------------------------------------------- */

enum { BIG_FAT = 2048, BIG_DATA = 32 + BIG_FAT, BIG_CLUSTERS = 140000, BIG_CLUSTER = 64 };

static void make_big(uint64_t sector, uint8_t *out)
{
    memset(out, 0, 512);
    if (sector == 0) {
        memcpy(out, volume, 512);
        out[13] = BIG_CLUSTER;
        put_le(out + 32, BIG_DATA + BIG_CLUSTERS * BIG_CLUSTER, 4);
        put_le(out + 36, BIG_FAT, 4);
    } else if (sector >= 32 && sector < BIG_DATA) {
        for (uint32_t i = 0; i < 128; i++) {
            uint32_t cluster = ((uint32_t)sector - 32) * 128 + i;
            put_le(out + 4 * i, cluster == 2 || cluster == 131074 ? VOLUME_END : cluster + 1, 4);
        }
    } else if (sector == BIG_DATA) {
        memcpy(out, "BIG        \x20", 12);
        put_le(out + 26, 3, 2);
        put_le(out + 28, 0xffffffff, 4);
    } else {
        put_le(out, sector - BIG_DATA - BIG_CLUSTER, 8); /* the sector of the file */
    }
}

static void test_big(void)
{
    uint64_t last = ((uint64_t)1 << 32) - 512;

    volume_format();
    fake_init(&fake, NULL, BIG_DATA + BIG_CLUSTERS * BIG_CLUSTER);
    fake.make = make_big;
    OK(fat32_mount(&fs, &fake.dev, NULL) == ERR_OK && fat32_find(&fs, "big", &entry) == ERR_OK &&
           fat32_open_file(&fs, &entry, &table, &file) == ERR_OK,
       "a file of 4 GiB - 1 opens");
    OK(file.bytes == 0xffffffff && file.n_extents == 1 &&
           file_extents(&file)[0].n_sectors == (uint64_t)1 << 23,
       "a file of 4 GiB - 1 is one extent");
    OK(fake.n_reads < 120, "a chain of 131072 clusters takes %u reads", fake.n_reads);
    OK(file_read_now(&reading, &file, last, buffer, 512) == ERR_OK && buffer[0] == 0xff &&
           buffer[1] == 0xff && buffer[2] == 0x7f,
       "the last sector of the large file is the right one");
    OK(file_read_now(&reading, &file, (uint64_t)3 << 30, buffer, 1024) == ERR_OK &&
           buffer[512] == 1 && buffer[514] == 0x60,
       "a sector beyond 2 GiB is the right one");
}

int main(void)
{
    test_fields();
    test_tables();
    test_chains();
    test_pieces();
    test_names();
    test_folders();
    test_silence();
    test_big();
    return tap_done();
}
