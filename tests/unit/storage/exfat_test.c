/* exFAT and GPT on disks that tests/exfat.py made, whole and damaged. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "board/host/file_device.h"
#include "runtime/storage/partitions.h"
#include "tests/unit/storage/fake_block.h"
#include "tests/unit/storage/fat32_rig.h"

enum { DISK_BYTES = 16 << 20, START = 1 << 20 };

static char folder[256];
static uint8_t disk[DISK_BYTES], whole[DISK_BYTES];
static struct fake_block fake;

static bool shell(const char *command)
{
    char line[2048];

    snprintf(line, sizeof line,
             "PATH=$PATH:/usr/sbin:/sbin MAKE=$PWD/tests/exfat.py; export LC_ALL=C.UTF-8; cd %s && "
             "{ %s; } >log 2>&1",
             folder, command);
    return system(line) == 0;
}

static bool load(const char *name)
{
    char path[512];
    size_t n = 0;
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    f = fopen(path, "rb");
    if (f != NULL) {
        n = fread(whole, 1, sizeof whole, f);
        fclose(f);
    }
    memcpy(disk, whole, sizeof disk);
    return n == sizeof whole;
}

static enum err mount(void)
{
    fake_init(&fake, disk, DISK_BYTES / 512);
    return fat32_mount(&fs, &fake.dev, NULL);
}

static bool why_has(const char *text)
{
    return fs.why != NULL && strstr(fs.why, text) != NULL;
}

static bool file_equals(const char *name)
{
    static uint8_t expected[sizeof buffer];
    char path[512];
    size_t n = 0;
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    f = fopen(path, "rb");
    if (f != NULL) {
        n = fread(expected, 1, sizeof expected, f);
        fclose(f);
    }
    return f != NULL && n == file.bytes &&
           file_read_now(&reading, &file, 0, buffer, (n + 511) / 512 * 512) == ERR_OK &&
           memcmp(buffer, expected, n) == 0;
}

static enum err open_model(const char *name)
{
    enum err e = fat32_find_model(&fs, name, &entry);

    return e == ERR_OK ? fat32_open_file(&fs, &entry, &table, &file) : e;
}

/* ---- whole disks --------------------------------------------------------------------------- */

static void check_disk(const char *name, uint32_t block, unsigned pieces)
{
    unsigned n = 0;

    OK(load(name), "the disk is loaded: %s", name);
    fake_init(&fake, disk, DISK_BYTES / 512);
    fake.dev.block_bytes = block;
    OK(fat32_mount(&fs, &fake.dev, NULL) == ERR_OK && fs.is_exfat && fs.why == NULL,
       "the disk mounts: %s", fs.why != NULL ? fs.why : "exFAT");
    OK(fat32_count_models(&fs, &n) == ERR_OK && n == 42, "the disk has %u models", n);
    OK(open_model("A") == ERR_OK && file_equals("a.ingot") && file.n_extents >= pieces &&
           (pieces > 1 || file.n_extents == 1),
       "a model is found by its name, in %u pieces", file.n_extents);
    OK(open_model("GRÖßE 模型 mit einem ziemlich langen Namen") == ERR_OK && file_equals("b.ingot"),
       "a model with a long name is found: %s", entry.name);
    OK(fat32_find(&fs, "deep/er/notes.txt", &entry) == ERR_OK &&
           fat32_open_file(&fs, &entry, &table, &file) == ERR_OK && file_equals("notes"),
       "a path opens");
    OK(open_model("empty") == ERR_OK && file.bytes == 0, "an empty file opens");
    OK(open_model("nothing") == ERR_NOT_FOUND && open_model("") == ERR_NOT_FOUND,
       "a model that does not exist is reported: %s", fs.why);
    OK(get_model(41, &entry) == ERR_OK && strcmp(entry.name, "n9.ingot") == 0 &&
           get_model(42, &entry) == ERR_NOT_FOUND,
       "the last file by name is found");
}

static void test_whole(void)
{
#define FILES \
    "models/a.ingot=a.ingot 'models/größe 模型 mit einem ziemlich langen Namen.ingot=b.ingot' " \
    "models/empty.ingot=+0 models/._a.ingot=notes deep/er/notes.txt=notes " \
    "$(for i in $(seq 39); do echo models/n$i.ingot=notes; done)"
    OK(shell("head -c 300123 /dev/urandom >a.ingot; head -c 70001 /dev/urandom >b.ingot; "
             "echo text >notes; $MAKE gpt.img " FILES " && $MAKE mbr.img --table mbr " FILES
             " && $MAKE none.img --table none --cluster 512 " FILES
             " && $MAKE pieces.img --pieces " FILES " && $MAKE 4k.img --block 4096 " FILES
             " && $MAKE mbr4k.img --table mbr --block 4096 " FILES
             " && $MAKE 2k.img --sector 2048 --cluster 32768 " FILES),
       "tests/exfat.py makes disks");
    check_disk("gpt.img", 0, 1);
    check_disk("mbr.img", 512, 1);
    check_disk("none.img", 0, 1);
    check_disk("pieces.img", 0, 70);
    check_disk("4k.img", 4096, 1);
    check_disk("4k.img", 0, 1); /* copied to a disk with blocks of another size */
    check_disk("gpt.img", 4096, 1);
    check_disk("mbr4k.img", 4096, 1);
    check_disk("mbr4k.img", 0, 1);
    check_disk("mbr.img", 4096, 1);
    check_disk("2k.img", 0, 1);
}

static void test_tools(void)
{
    if (!shell("command -v fsck.exfat && command -v sgdisk")) {
        OK(true, "fsck.exfat and sgdisk # SKIP exfatprogs or gdisk is not installed");
        return;
    }
    OK(shell("fsck.exfat -n none.img"), "fsck.exfat finds nothing wrong in a volume");
    OK(shell(
           "for i in gpt pieces 2k; do dd if=$i.img of=part bs=1M skip=1 count=14 && dd if=$i.img bs=4K "
           "of=part seek=$((14 * 256)) skip=$((15 * 256)) count=$((256 - 33)) conv=notrunc && "
           "fsck.exfat -n part || exit 1; done"),
       "fsck.exfat finds nothing wrong in volumes of partitions");
    OK(shell("sgdisk -v gpt.img | grep 'No problems found'"), "sgdisk finds no fault in the GPT");
}

/* Makes sectors of the volume larger than 512. */
static void test_fat32_sectors(void)
{
    static struct file_device state;
    struct block_device dev;
    char path[512];

    if (!shell("command -v mkfs.fat && command -v mcopy")) {
        OK(true, "FAT32 with larger sectors # SKIP mtools or dosfstools is not installed");
        return;
    }
    for (unsigned bytes = 1024; bytes <= 4096; bytes *= 2) {
        char command[256];

        snprintf(command, sizeof command,
                 "rm -f fat.img; truncate -s 320M fat.img && mkfs.fat -F 32 -s 1 -S %u fat.img && "
                 "export MTOOLSRC=/dev/null && mmd -i fat.img ::models && "
                 "mcopy -i fat.img a.ingot b.ingot ::models",
                 bytes);
        snprintf(path, sizeof path, "%s/fat.img", folder);
        OK(shell(command) && file_device_open(&state, path, 0, &dev) == ERR_OK &&
               fat32_mount(&fs, &dev, NULL) == ERR_OK && open_model("b") == ERR_OK &&
               file_equals("b.ingot"),
           "FAT32 with sectors of %u bytes is mounted: %s", bytes,
           fs.why != NULL ? fs.why : "read");
        file_device_close(&state);
    }
}

/* ---- beyond 4 GiB -------------------------------------------------------------------------- */

static void test_large(void)
{
    static struct file_device state;
    struct block_device dev;
    char path[512];
    uint64_t at = (5ull << 30) + 4096;

    OK(shell("$MAKE large.img --size 7000 --cluster 131072 models/large.ingot=+6000000123"),
       "the test has a disk with a sparse file of 6 GB");
    snprintf(path, sizeof path, "%s/large.img", folder);
    OK(file_device_open(&state, path, 0, &dev) == ERR_OK &&
           fat32_mount(&fs, &dev, NULL) == ERR_OK && open_model("large") == ERR_OK &&
           file.bytes == 6000000123u && file.n_extents == 1,
       "the sparse file opens with its %llu bytes", (unsigned long long)file.bytes);
    OK(shell(
           "printf 'beyond' | dd of=large.img bs=1 conv=notrunc seek=$((1048576 + "
           "$(od -An -tu4 -j $((1048576 + 88)) -N 4 large.img) * 512 + 2 * 131072 + 5 * 1073741824 + 4096))") &&
           file_read_now(&reading, &file, at, buffer, 512) == ERR_OK &&
           memcmp(buffer, "beyond", 6) == 0,
       "the sparse file is read beyond 4 GiB at the right place: %llu",
       (unsigned long long)file_extents(&file)[0].sector);
    OK(file_read_now(&reading, &file, 6000000000u / 512 * 512, buffer, 512) == ERR_OK &&
           file_read_now(&reading, &file, 6000000512u / 512 * 512, buffer, 512) == ERR_RANGE,
       "the sparse file is read up to its end, and no further");
    file_device_close(&state);
}

/* ---- damage -------------------------------------------------------------------------------- */

static void put(uint8_t *p, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        p[i] = (uint8_t)(value >> (8 * i));
}

/* Puts the checksum of a boot region right, so that only a field is wrong. */
static void sign_boot(uint8_t *region)
{
    uint32_t sum = 0;

    for (unsigned i = 0; i < 11 * 512; i++) {
        if (i != 106 && i != 107 && i != 112)
            sum = (sum << 31 | sum >> 1) + region[i];
    }
    for (unsigned i = 0; i < 512; i += 4)
        put(region + 11 * 512 + i, sum, 4);
}

static void test_boot(void)
{
    static const struct {
        const char *name;
        int offset, bytes;
        uint64_t value;
        enum err expected;
    } cases[] = {
        { "MustBeZero", 63, 1, 1, ERR_BAD_FILESYSTEM },
        { "FatOffset", 80, 4, 23, ERR_BAD_FILESYSTEM },
        { "FatLength", 84, 4, 0, ERR_BAD_FILESYSTEM },
        { "FatLength", 84, 4, 0xffffffff, ERR_BAD_FILESYSTEM },
        { "FatLength is too small", 84, 4, 20, ERR_BAD_FILESYSTEM },
        { "ClusterHeapOffset", 88, 4, 40, ERR_BAD_FILESYSTEM },
        { "ClusterCount", 92, 4, 0, ERR_BAD_FILESYSTEM },
        { "ClusterCount", 92, 4, 0xfffffff6, ERR_BAD_FILESYSTEM },
        { "ClusterCount", 72, 8, 1000, ERR_BAD_FILESYSTEM },
        { "FirstClusterOfRoot", 96, 4, 1, ERR_BAD_FILESYSTEM },
        { "FirstClusterOfRoot", 96, 4, 0xffffffff, ERR_BAD_FILESYSTEM },
        { "FileSystemRevision", 104, 2, 0x200, ERR_UNSUPPORTED },
        { "BytesPerSectorShift", 108, 1, 8, ERR_BAD_FILESYSTEM },
        { "BytesPerSectorShift", 108, 1, 13, ERR_BAD_FILESYSTEM },
        { "SectorsPerClusterShift", 109, 1, 17, ERR_BAD_FILESYSTEM },
        { "NumberOfFats", 110, 1, 0, ERR_BAD_FILESYSTEM },
        { "NumberOfFats", 110, 1, 3, ERR_BAD_FILESYSTEM },
        { "signature", 510, 2, 0, ERR_BAD_FILESYSTEM },
    };
    uint8_t *boot = disk + START;

    (void)load("gpt.img");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        memcpy(boot, whole + START, 24 * 512);
        put(boot + cases[i].offset, cases[i].value, cases[i].bytes);
        sign_boot(boot);
        memcpy(boot + 12 * 512, boot, 12 * 512); /* the copy says the same */
        enum err e = mount();
        OK(e == cases[i].expected && why_has(cases[i].name), "a wrong %s has its result: %s",
           cases[i].name, fs.why != NULL ? fs.why : "mounted");
    }
    memcpy(boot, whole + START, 24 * 512);
    boot[7 * 512 + 9] ^= 1;
    OK(mount() == ERR_OK, "the copy of a boot region with a wrong bit is read");
    boot[12 * 512 + 7 * 512 + 9] ^= 1;
    OK(mount() == ERR_BAD_FILESYSTEM && why_has("checksum"),
       "a wrong bit in both boot regions is reported: %s", fs.why);
    memcpy(boot, whole + START, 24 * 512);
    boot[106] ^= 2; /* dirty */
    boot[112] = 50;
    OK(mount() == ERR_OK, "fields that change in use are not in the checksum");
    boot[108] = 77;
    OK(mount() == ERR_OK, "the copy serves if the sector size is impossible");
    memcpy(boot, whole + START, 24 * 512);
    fake_init(&fake, disk, DISK_BYTES / 512);
    fake.fail_sector = START / 512;
    fake.fail_times = 1000;
    OK(fat32_mount(&fs, &fake.dev, NULL) == ERR_IO,
       "a boot sector that cannot be read is reported: %s", fs.why);
}

static uint8_t *find_set(uint8_t *from)
{
    uint8_t *p = from;

    while (p < disk + DISK_BYTES - 96 && !(p[0] == 0x85 && p[32] == 0xc0 && p[64] == 0xc1))
        p += 32;
    return p;
}

/* Finds the set of models/a.ingot: 'a' '.' after the piece's flags. */
static uint8_t *set_of_a(void)
{
    uint8_t *p = find_set(disk + START);

    while (p < disk + DISK_BYTES - 96 && memcmp(p + 66, "a\0.\0i\0", 6) != 0)
        p = find_set(p + 32);
    return p;
}

static void sign_set(uint8_t *set)
{
    uint16_t sum = 0;

    for (unsigned i = 0; i < 32u * (set[1] + 1u); i++) {
        if (i != 2 && i != 3)
            sum = (uint16_t)((sum << 15 | sum >> 1) + set[i]);
    }
    put(set + 2, sum, 2);
}

static enum err open_damaged(int offset, uint64_t value, int bytes, bool sign)
{
    uint8_t *set;

    memcpy(disk, whole, sizeof disk);
    set = set_of_a();
    put(set + offset, value, bytes);
    if (sign)
        sign_set(set);
    return mount() == ERR_OK ? open_model("a") : ERR_NO_FILESYSTEM;
}

static void test_sets(void)
{
    unsigned n = 0;

    (void)load("gpt.img");
    OK(open_damaged(4, 0x21, 2, true) == ERR_OK,
       "a set with other attributes is accepted if its checksum is right");
    OK(open_damaged(4, 0x21, 2, false) == ERR_BAD_FILESYSTEM && why_has("damaged"),
       "a set with other attributes and a wrong checksum is refused: %s", fs.why);
    OK(fat32_count_models(&fs, &n) == ERR_OK && n == 41 && open_model("n1") == ERR_OK,
       "the other files are still there: %u", n);
    OK(open_damaged(1, 1, 1, true) == ERR_BAD_FILESYSTEM, "too few entries are refused");
    OK(open_damaged(1, 19, 1, true) == ERR_BAD_FILESYSTEM && open_model("n1") == ERR_OK,
       "a set of too many entries is refused, and those after it are found");
    OK(open_damaged(1, 5, 1, true) == ERR_BAD_FILESYSTEM &&
           open_model("größe 模型 mit einem ziemlich langen Namen") == ERR_OK,
       "a set of more entries than it has is refused, and the file after it is found");
    OK(open_damaged(35, 0, 1, true) == ERR_BAD_FILESYSTEM, "a file without a name is refused");
    OK(open_damaged(35, 255, 1, true) == ERR_BAD_FILESYSTEM && open_model("n1") == ERR_OK,
       "a name longer than its pieces is refused");
    OK(open_damaged(64, 0xc0, 1, true) == ERR_BAD_FILESYSTEM, "a second stream is refused");
    OK(open_damaged(32 + 20, 1, 4, true) == ERR_BAD_FILESYSTEM && why_has("outside"),
       "a first cluster outside the volume is refused: %s", fs.why);
    OK(open_damaged(32 + 20, fs.n_clusters + 1, 4, true) == ERR_BAD_FILESYSTEM &&
           why_has("outside"),
       "a run that leaves the volume is refused");
    OK(open_damaged(32 + 8, 5, 8, true) == ERR_BAD_FILESYSTEM && why_has("not written"),
       "bytes that were not written are reported: %s", fs.why);
    memcpy(disk, whole, sizeof disk);
    put(set_of_a() + 32 + 24, UINT64_MAX, 8);
    put(set_of_a() + 32 + 8, UINT64_MAX, 8);
    sign_set(set_of_a());
    OK(mount() == ERR_OK && open_model("a") == ERR_BAD_FILESYSTEM && why_has("larger"),
       "a file larger than the volume is refused: %s", fs.why);
    OK(open_damaged(33, 1, 1, true) == ERR_BAD_FILESYSTEM && why_has("free"),
       "a chain that the FAT does not have is refused: %s", fs.why);
    memcpy(disk, whole, sizeof disk);
    OK(mount() == ERR_OK, "the volume is whole again");
    fake.fail_sector = (set_of_a() - disk) / 512;
    fake.fail_times = 1000;
    OK(open_model("a") == ERR_IO && why_has("cannot be read"),
       "a folder that cannot be read is reported: %s", fs.why);
}

static void test_chains(void)
{
    uint8_t *fat, *link;
    uint32_t cluster;

    (void)load("pieces.img");
    fat = disk + START + 32 * 512;
    OK(mount() == ERR_OK && open_model("a") == ERR_OK && !entry.contiguous,
       "a file in pieces opens");
    cluster = entry.cluster;
    link = fat + cluster * 4;
    put(link, cluster, 4);
    OK(mount() == ERR_OK && open_model("a") == ERR_BAD_FILESYSTEM && why_has("cyclic"),
       "a cyclic chain is refused: %s", fs.why);
    put(link, UINT32_MAX, 4);
    OK(mount() == ERR_OK && open_model("a") == ERR_BAD_FILESYSTEM && why_has("shorter"),
       "a chain shorter than its file is refused: %s", fs.why);
    put(link, 0xfffffff7, 4);
    OK(mount() == ERR_OK && open_model("a") == ERR_BAD_FILESYSTEM, "a bad cluster is refused: %s",
       fs.why);
}

/* ---- GPT ----------------------------------------------------------------------------------- */

/* Puts the checksums of a header right. */
static void sign_header(uint8_t *h)
{
    put(h + 16, 0, 4);
    put(h + 16, partitions_crc32(0, h, 92), 4);
}

static void test_gpt(void)
{
    static const struct {
        const char *name;
        int offset, bytes;
        uint64_t value;
    } cases[] = {
        { "is not there", 0, 1, 'e' },
        { "Revision", 8, 4, 0x20000 },
        { "HeaderSize", 12, 4, 91 },
        { "HeaderSize", 12, 4, 513 },
        { "MyLBA", 24, 8, 2 },
        { "PartitionEntryLBA", 72, 8, UINT64_MAX },
        { "NumberOfPartition", 80, 4, 0 },
        { "NumberOfPartition", 80, 4, 1025 },
        { "SizeOfPartitionEntry", 84, 4, 127 },
        { "SizeOfPartitionEntry", 84, 4, 1024 },
        { "checksum of its table", 88, 4, 1 },
    };
    uint8_t *h = disk + 512, *copy = disk + DISK_BYTES - 512;

    OK(partitions_crc32(0, (const uint8_t *)"123456789", 9) == 0xcbf43926u,
       "the CRC-32 gives its check value");
    (void)load("gpt.img");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        memcpy(disk, whole, sizeof disk);
        put(h + cases[i].offset, cases[i].value, cases[i].bytes);
        sign_header(h);
        OK(mount() == ERR_OK, "GPT, %s: the copy is read", cases[i].name);
        memset(copy, 0, 512);
        OK(mount() == ERR_BAD_FILESYSTEM && why_has(cases[i].name) && why_has("GPT"),
           "a GPT without its copy is refused: %s", fs.why != NULL ? fs.why : "mounted");
    }
    memcpy(disk, whole, sizeof disk);
    h[40] ^= 1;
    OK(mount() == ERR_OK, "a header with a wrong bit gives way to the copy");
    copy[40] ^= 1;
    OK(mount() == ERR_BAD_FILESYSTEM && why_has("header's checksum"),
       "a GPT with both headers wrong is refused: %s", fs.why);
    memcpy(disk, whole, sizeof disk);
    disk[1024 + 60] ^= 1;
    OK(mount() == ERR_OK, "a table with a wrong bit gives way to the copy");
    memcpy(disk, whole, sizeof disk);
    fake_init(&fake, disk, DISK_BYTES / 512);
    fake.fail_sector = 1;
    fake.fail_times = 1000;
    OK(fat32_mount(&fs, &fake.dev, NULL) == ERR_OK, "the copy serves if a header cannot be read");
    put(disk + 1024 + 32, UINT64_MAX - 3, 8);
    put(h + 88, partitions_crc32(0, disk + 1024, 128 * 128), 4);
    sign_header(h);
    OK(mount() == ERR_BAD_FILESYSTEM && why_has("beyond the end"),
       "a table beyond the end of the disk is refused: %s", fs.why);
    memcpy(disk, whole, sizeof disk);
    memcpy(disk + START + 3, "NTFS    ", 8);
    OK(mount() == ERR_UNSUPPORTED && why_has("NTFS"), "a volume of NTFS is named: %s", fs.why);
    memset(disk + START, 0, 512);
    OK(mount() == ERR_NO_FILESYSTEM && why_has("no FAT32 partition"),
       "a disk without a volume is reported: %s", fs.why);
    /* the second of two partitions, after a Linux one */
    memcpy(disk, whole, sizeof disk);
    memcpy(disk + 1024 + 128, disk + 1024, 128);
    put(disk + 1024 + 32, 100, 8);
    put(h + 88, partitions_crc32(0, disk + 1024, 128 * 128), 4);
    sign_header(h);
    OK(mount() == ERR_OK && fs.first_sector == START / 512,
       "the second partition of a GPT is found");
}

int main(void)
{
    const char *base = getenv("TMPDIR");

    snprintf(folder, sizeof folder, "%s/ingot-exfat-XXXXXX", base != NULL ? base : "/tmp");
    if (mkdtemp(folder) == NULL) {
        OK(false, "a scratch folder like %s can be made: set TMPDIR", folder);
        return tap_done();
    }
    test_whole();
    test_tools();
    test_fat32_sectors();
    test_large();
    test_boot();
    test_sets();
    test_chains();
    test_gpt();
    shell("rm -r \"$PWD\"");
    return tap_done();
}
