/* New files on volumes that mkfs.vfat and mtools made. The power fails after each written sector:
 * fsck.vfat repairs the rest, every other file is unchanged, and the new one is whole, or the old one of
 * its name is, or none is there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/storage/fat32_proof.h"
#include "runtime/storage/fat32_write.h"
#include "tests/unit/storage/fake_block.h" /* first: the rig has a buffer */

#include "tests/unit/storage/fat32_rig.h"

enum { MOST_VOLUME = 70 << 20, NEW_BYTES = 20001, MOST_CUTS = 400 };

static char folder[256];
static uint8_t before[MOST_VOLUME], volume[MOST_VOLUME], new_bytes[NEW_BYTES + 511];
static size_t volume_bytes;
static struct fake_block fake;
static struct file reserved;
static struct fat32_proof proof;

/* Run a shell command in the folder. */
static int shell(const char *command)
{
    char line[2048];
    int status;

    snprintf(
        line, sizeof line,
        "PATH=$PATH:/usr/sbin:/sbin; export LC_ALL=C.UTF-8 MTOOLSRC=/dev/null MTOOLS_SKIP_CHECK=1; "
        "cd %s && { %s; } >log 2>&1",
        folder, command);
    status = system(line);
    return status < 0 ? -1 : status >> 8;
}

static bool write_file(const char *name, const void *bytes, size_t n)
{
    char path[512];
    FILE *f;
    bool good;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    f = fopen(path, "wb");
    good = f != NULL && fwrite(bytes, 1, n, f) == n;
    return f != NULL && fclose(f) == 0 && good;
}

/* Writes the volume to after.img; zeros are left out. */
static bool write_volume(void)
{
    static const uint8_t zeros[SECTOR_BYTES];
    char path[512];
    FILE *f;
    bool good;

    snprintf(path, sizeof path, "%s/after.img", folder);
    f = fopen(path, "wb");
    good = f != NULL && ftruncate(fileno(f), (off_t)volume_bytes) == 0;
    for (size_t at = 0; good && at < volume_bytes; at += SECTOR_BYTES)
        if (memcmp(volume + at, zeros, SECTOR_BYTES) != 0)
            good = fseek(f, (long)at, SEEK_SET) == 0 &&
                   fwrite(volume + at, 1, SECTOR_BYTES, f) == SECTOR_BYTES;
    return f != NULL && fclose(f) == 0 && good;
}

static void read_volume(const char *name)
{
    char path[512];
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    f = fopen(path, "rb");
    volume_bytes = f == NULL ? 0 : fread(before, 1, sizeof before, f);
    if (f != NULL)
        fclose(f);
}

/* Opens the original volume on a device that writes so many sectors; negative: all. */
static bool attach(long sectors)
{
    memcpy(volume, before, volume_bytes);
    fake_init(&fake, volume, volume_bytes / SECTOR_BYTES);
    fake.written = volume;
    fake.dev.writable = true;
    fake.sectors_left = sectors;
    return fat32_mount(&fs, &fake.dev, NULL) == ERR_OK;
}

static enum err make(const char *into, const char *name, uint64_t bytes)
{
    enum err e = fat32_reserve(&fs, bytes, &table, &reserved);

    if (e == ERR_OK)
        e = file_write_now(&reading, &reserved, 0, new_bytes, (bytes + 511) / 512 * 512);
    return e == ERR_OK ? fat32_publish(&fs, into, name, &reserved) : e;
}

/* Whether the new file is there, by mtools. */
static bool is_new(const char *into, const char *name)
{
    char command[512];

    snprintf(command, sizeof command, "rm -f got; mcopy -n -i after.img ::%s/%s got && cmp got new",
             into, name);
    return shell(command) == 0;
}

/* The bytes behind the end of the folder "models", in the second sector of its cluster: they need
 * not be zeros. fsck.vfat and mtools look behind ends, so this reader is the judge. */
static void spoil_end(void)
{
    (void)attach(-1);
    if (OK(fat32_find(&fs, "models", &entry) == ERR_OK,
           "the test's folder has something behind its end"))
        memset(before + (fs.data_sector + (entry.cluster - 2ull) * fs.cluster_sectors + 1) *
                            SECTOR_BYTES,
               'A', SECTOR_BYTES);
}

static bool ends_where_it_ends(void)
{
    struct fat32_directory dir;
    unsigned n = 0;
    enum err e;

    fake.sectors_left = -1;
    e = fat32_mount(&fs, &fake.dev, NULL);
    if (e == ERR_OK)
        e = fat32_open_directory(&fs, "models", &dir);
    while (e == ERR_OK && (e = fat32_next_entry(&dir, &entry)) == ERR_OK)
        n += entry.name[0] != 'A';
    return e == ERR_NOT_FOUND && (n == 5 || n == 6) && dir.n_entries < 30;
}

/* An image, the file that is put into it, and the command that checks its other files. */
struct row {
    const char *what, *image, *into, *name, *others;
    bool replaces, spoilt;
};

/* The state after a power cut does not count as damage: the same file can be made again without
 * fsck.vfat. */
static bool is_proved(const struct row *row)
{
    fake.sectors_left = -1;
    return fat32_mount(&fs, &fake.dev, NULL) == ERR_OK &&
           fat32_prove_new(&proof, &fs, row->into, row->name, &table) == ERR_OK;
}

static bool is_mended(void)
{
    return shell("fsck.vfat -a after.img") <= 1 && shell("fsck.vfat -n after.img") == 0;
}

static void test_cuts(const struct row *row)
{
    unsigned n_new = 0, n_wrong = 0, n_cuts;
    bool ends = false;

    read_volume(row->image);
    if (row->spoilt)
        spoil_end();
    for (n_cuts = 0; n_cuts < MOST_CUTS && !ends; n_cuts++) {
        bool good, there;

        if (!attach((long)n_cuts))
            break;
        ends = make(row->into, row->name, NEW_BYTES) == ERR_OK;
        if (n_cuts * SECTOR_BYTES + 8 * SECTOR_BYTES < NEW_BYTES && !ends)
            continue; /* clusters that nobody owns: the same again and again */
        good = is_proved(row) && write_volume() &&
               (row->spoilt ? ends_where_it_ends() : is_mended()) && shell(row->others) == 0;
        there = is_new(row->into, row->name);
        if (row->replaces && !there)
            good = good && shell("mcopy -n -i after.img ::models/b.ingot got && cmp got b") == 0;
        if (ends)
            good = good && there &&
                   (row->spoilt || (write_volume() && shell("fsck.vfat -n after.img") == 0));
        if (n_new != 0)
            good = good && there; /* there for good */
        n_new += there;
        n_wrong += !good;
    }
    OK(ends && n_wrong == 0 && n_new >= 1 && n_cuts > 40,
       "%s: the card is right after %u cuts, %u of them before the file was there", row->what,
       n_cuts, n_cuts - n_new);
}

/* A file that was cut is made again in the same clusters, which still have its bytes. */
static void test_again(void)
{
    uint64_t first;

    read_volume("some.img");
    (void)attach(30);
    OK(make("models", "c.ingot", NEW_BYTES) == ERR_IO, "the power goes in the middle of a file");
    first = file_extents(&reserved)[0].sector;
    memcpy(before, volume, volume_bytes);
    OK(attach(-1) && fat32_reserve(&fs, NEW_BYTES, &table, &reserved) == ERR_OK &&
           file_extents(&reserved)[0].sector == first &&
           file_read_now(&reading, &reserved, 0, buffer, 30 * SECTOR_BYTES) == ERR_OK &&
           memcmp(buffer, new_bytes, 30 * SECTOR_BYTES) == 0,
       "the reserved bytes are there after the power was lost");
}

static void test_pieces(void)
{
    read_volume("pieces.img");
    OK(attach(-1) && make("models", "c.ingot", NEW_BYTES) == ERR_OK && reserved.n_extents > 10,
       "a file is made in %u pieces", reserved.n_extents);
    OK(write_volume() && shell("fsck.vfat -n after.img") == 0 && is_new("models", "c.ingot"),
       "mtools reads the file");
    OK(fat32_find_model(&fs, "c", &entry) == ERR_OK &&
           fat32_open_file(&fs, &entry, &table, &file) == ERR_OK && file.bytes == NEW_BYTES &&
           file_read_now(&reading, &file, 0, buffer, (NEW_BYTES + 511) / 512 * 512) == ERR_OK &&
           memcmp(buffer, new_bytes, NEW_BYTES) == 0,
       "Ingot reads the file that it wrote");
}

/* Files until nothing fits any more; names that begin alike. */
static void test_full(void)
{
    char name[FAT32_NEW_NAME_BYTES];
    unsigned n = 0;
    enum err e = ERR_OK;

    read_volume("pieces.img");
    (void)attach(-1);
    while (e == ERR_OK && n < 200) {
        snprintf(name, sizeof name, "%u-is-the-number-of-this-file.ingot", n);
        e = make("models", name, n % 8 == 0 ? 700 : 1);
        n += e == ERR_OK;
    }
    OK(e == ERR_NO_SPACE && n > 50, "%u files are made until the card is full: %s", n, fs.why);
    OK(write_volume() && shell("fsck.vfat -n after.img") == 0 &&
           shell("mdir -b -i after.img ::models | grep -c number >n") == 0,
       "the volume is whole after the files were written");
    read_volume("some.img");
    (void)attach(-1);
    for (n = 0, e = ERR_OK; e == ERR_OK && n < 120; n++) {
        snprintf(name, sizeof name, "same-beginning-%u.ingot", n);
        e = make("models", name, 1);
    }
    OK(e == ERR_NO_SPACE && n == 100, "short names are used up: %s", fs.why);
}

static void test_refused(void)
{
    static const char *const bad[] = { "", ".ingot", "a/b.ingot", "a b", "ü.ingot", "a.", "a:b" };
    bool refused = true;

    read_volume("some.img");
    (void)attach(-1);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        refused = refused && make("models", bad[i], 5) == ERR_BAD_ARGUMENT;
    OK(refused && make("models", "deep", 5) == ERR_BAD_ARGUMENT,
       "a name that cannot be written is refused: %s", fs.why);
    OK(make("models", "c.ingot", 0) == ERR_RANGE &&
           fat32_reserve(&fs, 1ull << 32, &table, &reserved) == ERR_RANGE,
       "a size that cannot be written is refused: %s", fs.why);
    OK(fat32_reserve(&fs, 100 << 20, &table, &reserved) == ERR_NO_SPACE,
       "a file larger than the free space is refused: %s", fs.why);
    read_volume("pieces.img");
    (void)attach(-1);
    {
        struct file_table small = { extents, 3 };

        OK(fat32_reserve(&fs, NEW_BYTES, &small, &reserved) == ERR_TOO_FRAGMENTED &&
               reserved.n_extents == 0,
           "a file in more pieces than the table has is refused: %s", fs.why);
    }
    fake.dev.writable = false;
    OK(fat32_reserve(&fs, 5, &table, &reserved) == ERR_UNSUPPORTED,
       "a card that takes no writes is refused: %s", fs.why);
}

static bool make_volumes(void)
{
    return shell(
               "head -c 40000 /dev/urandom >a; head -c 9000 /dev/urandom >b; echo text >notes;"
               "truncate -s 36M some.img; mkfs.vfat -F 32 -s 1 -f 2 some.img;"
               "mcopy -i some.img notes ::notes.txt; cp some.img bare.img;"
               "mmd -i some.img ::models ::models/deep; mcopy -i some.img a ::models/a.ingot;"
               "mcopy -i some.img b ::models/b.ingot; cp some.img pieces.img;"
               /* names of three entries each, up to the folder's 13th: ".", "..", deep, a, b have 7 */
               "truncate -s 70M long.img; mkfs.vfat -F 32 -s 2 -f 2 long.img;"
               "mcopy -i long.img notes ::notes.txt; mmd -i long.img ::models ::models/deep;"
               "mcopy -i long.img a ::models/a.ingot; mcopy -i long.img b ::models/b.ingot;"
               "for i in 1 2; do mcopy -i long.img notes ::models/long-name-$i.txt; done;"
               "for i in $(seq 150); do mcopy -i pieces.img notes ::$i; done;"
               "head -c 1000000 /dev/zero >chunk;"
               "for i in $(seq 60); do mcopy -i pieces.img chunk ::chunk-$i || break; done;"
               "mdel -i pieces.img ::chunk-$i; test $i -lt 60 &&"
               /* the last file that does not fit leaves less room than wanted */
               "for i in $(seq 300); do mcopy -i pieces.img b ::rest-$i || break; done;"
               "mdel -i pieces.img ::rest-$i; test $i -lt 300 &&"
               "for i in $(seq 2 2 150); do mdel -i pieces.img ::$i; done") == 0;
}

static void test_volumes(void)
{
    static const char others[] =
        "for f in models/a.ingot:a models/b.ingot:b notes.txt:notes; do rm -f got;"
        "mcopy -n -i after.img ::${f%:*} got && cmp got ${f#*:} || exit 9; done";
    static const char no_b[] =
        "for f in models/a.ingot:a notes.txt:notes; do rm -f got;"
        "mcopy -n -i after.img ::${f%:*} got && cmp got ${f#*:} || exit 9; done";
    static const char notes[] = "rm -f got; mcopy -n -i after.img ::notes.txt got && cmp got notes";
    static const struct row rows[] = {
        { "a new file", "some.img", "models", "c.ingot", others, false, false },
        { "one with a long name in a full sector", "long.img", "models",
          "a-name-that-needs-some-entries-of-a-sector.ingot", "true", false, true },
        { "in place of another", "some.img", "models", "b.ingot", no_b, true, false },
        { "in a folder that is made", "bare.img", "models", "c.ingot", notes, false, false },
        { "in pieces, over what was deleted", "pieces.img", "models", "d.ingot", others, false,
          false },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        test_cuts(&rows[i]);
    test_again();
    test_pieces();
    test_full();
    test_refused();
}

int main(void)
{
    const char *base = getenv("TMPDIR");

    for (size_t i = 0; i < NEW_BYTES; i++)
        new_bytes[i] = (uint8_t)(i * 31 + i / 253);
    snprintf(folder, sizeof folder, "%s/ingot-fat32-XXXXXX", base != NULL ? base : "/tmp");
    if (mkdtemp(folder) == NULL) {
        OK(false, "a scratch folder like %s can be made: set TMPDIR", folder);
    } else if (shell("command -v mcopy && command -v mkfs.vfat") != 0) {
        OK(true, "volumes by mtools # SKIP mtools or dosfstools is not installed");
    } else {
        OK(make_volumes() && write_file("new", new_bytes, NEW_BYTES), "mkfs.vfat makes volumes");
        test_volumes();
        shell("rm -r \"$PWD\"");
    }
    return tap_done();
}
