/* The proof before a file is written, over a FAT32 volume made by hand: damage is found in whatever
 * file it is, and volumes that are unusual and whole are accepted. */
#include <stdio.h>
#include <string.h>

#include "runtime/storage/fat32_proof.h"
#include "runtime/storage/fat32_write.h"
#include "tests/unit/storage/fake_block.h"
#include "tests/unit/storage/fat32_volume.h"
#include "tests/unit/tap.h"

enum {
    SAVES = 20, /* folders ... */
    DEEP = 21,
    SAVE = 100, /* ... and files: clusters of their first sectors */
    OTHER = 200,
    NOTES = 300,
    SAVE_CLUSTERS = 8,
};

static struct fake_block fake;
static struct fat32 fs;
static struct fat32_entry entry;
static struct file file;
static struct file_extent extents[FILE_MAX_EXTENTS];
static const struct file_table table = { extents, FILE_MAX_EXTENTS };
static struct fat32_proof proof;

static uint8_t *put_raw(uint8_t *at, const char *name83, uint8_t attributes, uint32_t cluster,
                        uint32_t bytes)
{
    memset(at, 0, 32);
    memcpy(at, name83, 11);
    at[11] = attributes;
    put_le(at + 20, cluster >> 16, 2);
    put_le(at + 26, cluster & 0xffff, 2);
    put_le(at + 28, bytes, 4);
    return at;
}

static void put_folder(uint32_t cluster, uint32_t parent)
{
    memset(volume_cluster(cluster), 0, 512);
    put_raw(volume_cluster(cluster), ".          ", 0x10, cluster, 0);
    put_raw(volume_cluster(cluster) + 32, "..         ", 0x10, parent, 0);
    volume_link(cluster, VOLUME_END);
}

/* The label, saves/chat.sav, saves/deep/notes.txt and other.bin, in a volume as a computer leaves
 * it. */
static void make_volume(void)
{
    volume_format();
    volume_link(0, 0x0ffffff8);
    volume_link(1, VOLUME_END);
    put_le(volume + 48, 1, 2);
    put_le(volume + 50, 6, 2);
    memcpy(volume + 6 * 512, volume, 512);
    volume_add("A CARD     ", 0x08, 0, 0);
    volume_add("SAVES      ", 0x10, SAVES, 0);
    volume_add("OTHER   BIN", 0x20, OTHER, 10 * 512);
    put_folder(SAVES, 0);
    put_raw(volume_cluster(SAVES) + 64, "CHAT    SAV", 0x20, SAVE, SAVE_CLUSTERS * 512);
    put_raw(volume_cluster(SAVES) + 96, "DEEP       ", 0x10, DEEP, 0);
    put_folder(DEEP, SAVES);
    put_raw(volume_cluster(DEEP) + 64, "NOTES   TXT", 0x20, NOTES, 3 * 512 + 1);
    volume_chain(SAVE, SAVE_CLUSTERS);
    volume_chain(OTHER, 10);
    volume_chain(NOTES, 4);
}

static bool mount(void)
{
    fake_init(&fake, volume, VOLUME_SECTORS);
    fake.written = volume;
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

static enum err prove_new(const char *folder, const char *name)
{
    return mount() ? fat32_prove_new(&proof, &fs, folder, name, &table) : ERR_NO_FILESYSTEM;
}

/* ---- damage ---------------------------------------------------------------------------------- */

static uint8_t *save_entry(void)
{
    return volume_cluster(SAVES) + 64;
}

static void longer(void)
{
    volume_link(SAVE + 7, 500);
    volume_link(500, VOLUME_END);
}

static void elsewhere(void)
{
    put_le(save_entry() + 26, OTHER, 2);
}

/* As long as the file, and all of it belongs to another. */
static void all_of_another(void)
{
    put_le(save_entry() + 26, OTHER + 2, 2);
}

static void last_shared(void)
{
    volume_link(SAVE + 6, OTHER + 9);
}

static void runs_into_us(void)
{
    volume_link(OTHER + 3, SAVE + 2);
}

static void ends_in_us(void)
{
    volume_link(OTHER + 8, SAVE + 7);
}

static void begins_in_us(void)
{
    put_le(volume_cluster(DEEP) + 64 + 26, SAVE + 4, 2);
}

static void same_entry(void)
{
    memcpy(volume_cluster(DEEP) + 96, save_entry(), 32);
}

static void circle(void)
{
    volume_link(OTHER + 9, OTHER + 5);
}

static void into_free(void)
{
    volume_link(NOTES + 1, 0);
}

static void out_of_volume(void)
{
    put_le(volume_cluster(DEEP) + 64 + 20, 0x0fff, 2);
}

static void shorter(void)
{
    volume_link(NOTES + 1, VOLUME_END);
}

static void label_with_clusters(void)
{
    volume_cluster(DEEP)[64 + 11] |= 0x08;
}

static void long_name_with_clusters(void)
{
    volume_cluster(DEEP)[64 + 11] = 0x0f;
}

static void dot_name(void)
{
    volume_cluster(DEEP)[64] = '.';
}

static void wrong_folder(void)
{
    put_le(volume_cluster(DEEP) + 26, SAVES, 2);
}

static void wrong_parent(void)
{
    put_le(volume_cluster(DEEP) + 32 + 26, OTHER, 2);
}

static void folder_is_parent(void)
{
    put_le(save_entry() + 32 + 26, SAVES, 2);
}

static void folder_circle(void)
{
    volume_link(DEEP, DEEP);
}

static void copy_differs(void)
{
    put_le(volume + 6 * 512 + 14, VOLUME_RESERVED - 1, 2);
}

static void copy_is_lost(void)
{
    memset(volume + 6 * 512, 0, 512);
}

/* An entry whose first byte is zero ends the folder; behind it another entry leads to clusters in
 * use. */
static void early_end(void)
{
    volume_cluster(SAVES)[96] = 0;
}

static void fat_begin(void)
{
    volume_link(0, 5);
}

static const struct {
    const char *what;
    void (*change)(void);
    const char *why;
    bool only_file; /* new files do not touch it */
} damages[] = {
    { "the chain is longer than the file", longer, "longer", true },
    { "the entry leads to another file, which is longer", elsewhere, "longer", true },
    { "the entry leads into another file", all_of_another, "same clusters", true },
    { "the last cluster is that of another file", last_shared, "same clusters", true },
    { "another file runs into it", runs_into_us, "same clusters", true },
    { "another ends in its last cluster", ends_in_us, "same clusters", true },
    { "another begins in its middle", begins_in_us, "same clusters", true },
    { "a second entry for it", same_entry, "same clusters", true },
    { "another file's chain is a circle", circle, "cyclic", false },
    { "another file's chain meets a free cluster", into_free, "free", false },
    { "another file begins outside", out_of_volume, "out of the volume", false },
    { "another file's chain is shorter than it", shorter, "shorter", false },
    { "a file has become a label", label_with_clusters, "of an unknown kind", false },
    { "a file has become a part of a name", long_name_with_clusters, "of an unknown kind", false },
    { "a name begins with a dot", dot_name, "of an unknown kind", false },
    { "a folder is another one", wrong_folder, "entry . or ..", false },
    { "a folder's parent is another one", wrong_parent, "entry . or ..", false },
    { "a folder is in itself", folder_is_parent, "entry . or ..", false },
    { "a folder's chain is a circle", folder_circle, "cyclic", false },
    { "the boot sector's copy differs", copy_differs, "copy differ", false },
    { "the boot sector's copy is lost", copy_is_lost, "copy differ", false },
    { "a folder ends before its last entry", early_end, "after the end", false },
    { "the FAT begins with something else", fat_begin, "first entries", false },
};

static void test_damage(void)
{
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        bool is_copy = strcmp(damages[i].why, "copy differ") == 0;
        enum err e;

        make_volume();
        damages[i].change();
        e = prove_save();
        OK(e == ERR_BAD_FILESYSTEM && fs.why != NULL && strstr(fs.why, damages[i].why) != NULL &&
               strstr(fs.why, is_copy ? "fsck.vfat -r" : "fsck.vfat -a") != NULL,
           "%s is found: %s", damages[i].what, fs.why != NULL ? fs.why : "passes");
    }
}

/* The same before a file is made, if the file that it would replace is damaged. */
static void test_new(void)
{
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        make_volume();
        damages[i].change();
        OK(prove_new("saves", "chat.sav") == ERR_BAD_FILESYSTEM,
           "%s is found before a file is replaced: %s", damages[i].what,
           fs.why != NULL ? fs.why : "passes");
        if (!damages[i].only_file)
            OK(prove_new("presets", "new.txt") == ERR_BAD_FILESYSTEM,
               "%s is found before a file is made", damages[i].what);
    }
    make_volume();
    put_le(volume_cluster(DEEP) + 64 + 26, SAVES, 2);
    put_le(volume_cluster(DEEP) + 64 + 28, 512, 4); /* as long as the folder */
    OK(prove_new("saves", "new.sav") == ERR_BAD_FILESYSTEM &&
           strstr(fs.why, "same clusters") != NULL,
       "a folder that shares its cluster with a file is refused: %s", fs.why);
    make_volume();
    put_le(volume_cluster(DEEP) + 64 + 26, 2, 2);
    OK(prove_new("presets", "new.txt") == ERR_BAD_FILESYSTEM,
       "a root that shares its cluster with a file is refused: %s", fs.why);
    make_volume();
    memset(volume_cluster(DEEP), 0, 512);
    OK(prove_new("presets", "new.txt") == ERR_BAD_FILESYSTEM, "a folder of zeros is refused: %s",
       fs.why);
    make_volume();
    OK(prove_new("saves", "deep") == ERR_BAD_ARGUMENT,
       "a folder in the place of a file is refused: %s", fs.why);
    OK(prove_new("other.bin", "x.txt") == ERR_BAD_ARGUMENT,
       "a file in the place of a folder is refused: %s", fs.why);
    volume_cluster(SAVES)[64 + 11] |= 1;
    OK(prove_new("saves", "chat.sav") == ERR_UNSUPPORTED && strstr(fs.why, "read-only") != NULL,
       "a read-only file is not replaced: %s", fs.why);
}

/* ---- no damage ------------------------------------------------------------------------------- */

static void check_whole(const char *what)
{
    enum err e = prove_save();

    OK(e == ERR_OK && prove_new("saves", "chat.sav") == ERR_OK &&
           prove_new("presets", "new.txt") == ERR_OK,
       "%s is not damage: %s", what, fs.why != NULL ? fs.why : "passes");
}

static void test_whole(void)
{
    make_volume();
    check_whole("a whole volume");
    volume_link(OTHER + 9, 600);
    volume_link(600, VOLUME_END);
    check_whole("space that is held behind another file");
    volume_link(700, 701);
    volume_link(701, VOLUME_END);
    check_whole("clusters that belong to nobody");
    put_raw(volume_cluster(DEEP) + 96, "EMPTY   TXT", 0x21, 0, 0);
    check_whole("an empty file, read-only");
    volume_cluster(DEEP)[96] = 0xe5;
    put_le(volume_cluster(DEEP) + 96 + 26, SAVE, 2);
    check_whole("a deleted entry that leads to the file");
    put_le(volume_cluster(SAVES) + 32 + 26, 2, 2);
    check_whole("a folder whose parent has the root's number");
    volume_link(1, 0x03ffffff);
    check_whole("a volume that was not unmounted");
    volume[65] = 1;
    check_whole("a volume that Linux did not unmount");
    put_le(volume + 50, 0, 2);
    check_whole("no copy of the boot sector");
    volume_link(SAVE + 3, 800);
    volume_link(800, SAVE + 5);
    volume_link(SAVE + 4, 0);
    check_whole("a file in pieces");
    volume_cluster(SAVES)[64 + 11] |= 1;
    OK(prove_save() == ERR_UNSUPPORTED && strstr(fs.why, "read-only") != NULL,
       "a read-only save is refused: %s", fs.why);
}

/* ---- bounds ---------------------------------------------------------------------------------- */

/* Makes so many folders inside each other; each is in the next cluster from 1000 on. */
static void nest(uint32_t n)
{
    make_volume();
    put_raw(volume_cluster(SAVES) + 96, "DEEP       ", 0x10, 1000, 0);
    for (uint32_t i = 0; i < n; i++) {
        put_folder(1000 + i, i == 0 ? SAVES : 999 + i);
        if (i + 1 < n)
            put_raw(volume_cluster(1000 + i) + 64, "DEEPER     ", 0x10, 1001 + i, 0);
    }
}

static void test_bounds(void)
{
    nest(FAT32_MOST_DEPTH - 2);
    OK(prove_save() == ERR_OK, "folders may be %u deep", FAT32_MOST_DEPTH);
    nest(FAT32_MOST_DEPTH - 1);
    OK(prove_save() == ERR_BAD_FILESYSTEM && strstr(fs.why, "deep") != NULL &&
           strstr(fs.why, "damaged") == NULL && strstr(fs.why, "deleted") != NULL,
       "folders that are too deep are refused, but not called damaged: %s", fs.why);
    make_volume(); /* in steps of 5000 clusters, so that each one needs another part of the FAT */
    for (uint32_t i = 0; i < 3000; i++) {
        volume_link(1000 + i, 5000 + i);
        volume_link(5000 + i, i + 1 < 3000 ? 1001 + i : VOLUME_END);
    }
    put_le(volume_cluster(2) + 64 + 26, 1000, 2);
    OK(prove_save() == ERR_OK && fake.n_reads < 12000, "a chain in %u pieces takes %u reads", 6000u,
       fake.n_reads);
    OK(prove_new("saves", "chat.sav") == ERR_OK && fake.n_reads < 16000,
       "a chain that is read twice takes %u reads", fake.n_reads);
    volume_link(5000 + 2999, 1000 + 1500);
    OK(prove_save() == ERR_BAD_FILESYSTEM && fake.n_reads < 40000,
       "a chain in a circle is refused after %u reads: %s", fake.n_reads, fs.why);
    fake.fail_sector = VOLUME_DATA + DEEP - 2;
    fake.fail_times = 1000;
    make_volume();
    OK(mount(), "the volume is whole again");
    fake.fail_sector = VOLUME_DATA + DEEP - 2;
    fake.fail_times = 1000;
    OK(fat32_find(&fs, "saves/chat.sav", &entry) == ERR_OK &&
           fat32_open_file(&fs, &entry, &table, &file) == ERR_OK &&
           fat32_prove_file(&proof, &fs, &entry, &file) == ERR_IO,
       "a folder that cannot be read is reported: %s", fs.why);
}

int main(void)
{
    test_damage();
    test_new();
    test_whole();
    test_bounds();
    return tap_done();
}
