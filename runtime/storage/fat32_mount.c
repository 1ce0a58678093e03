/* Chooses which volume of a device to mount, by the first sectors and contents of its
 * partitions. */
#include <string.h>

#include "runtime/storage/exfat.h"
#include "runtime/storage/fat32.h"
#include "runtime/storage/fat32_volume.h"
#include "runtime/storage/partitions.h"
#include "runtime/text/format_text.h"

enum { OEM_NAME = 3, SIGNATURE = 510 }; /* byte offsets in a boot sector */

static enum err fat32_mount_volume(struct fat32 *fs, uint64_t sector, bool has_length)
{
    const uint8_t *boot;
    enum err e = fat32_fetch_sector(fs, sector, &boot);

    fs->first_sector = sector;
    fs->is_exfat = false;
    if (e != ERR_OK)
        return e;
    e = exfat_is_boot_sector(boot) ? exfat_mount(fs, sector) : fat32_mount_fat(fs, boot);
    fat32_seal(fs, has_length);
    return e;
}

/* Mount a partition. If the table does not call a partition FAT32, its first bytes decide. */
static enum err fat32_mount_partition(struct fat32 *fs, const struct partition *p)
{
    const uint8_t *boot;
    enum err e;

    if (p->sector == 0)
        return fat32_fail(fs, ERR_BAD_FILESYSTEM,
                          "the FAT32 or exFAT partition starts beyond the end of the card");
    fs->end_sector = p->end;
    if (p->is_fat32)
        return fat32_mount_volume(fs, p->sector, p->has_length);
    e = fat32_fetch_sector(fs, p->sector, &boot);
    if (e != ERR_OK)
        return e;
    if (!fat32_is_boot_sector(boot) && !exfat_is_boot_sector(boot) &&
        memcmp(boot + OEM_NAME, "NTFS    ", 8) != 0)
        return fat32_fail(fs, ERR_NO_FILESYSTEM, NULL);
    return fat32_mount_volume(fs, p->sector, p->has_length);
}

static bool fat32_has_models(struct fat32 *fs)
{
    struct fat32_directory dir;

    return fat32_open_directory(fs, "models", &dir) == ERR_OK;
}

/* Return the message for a table without FAT32 and exFAT. The message names the types of
 * partitions, so that a person recognizes the disk. */
static const char *fat32_none(struct fat32 *fs, const struct partitions *found)
{
    size_t n;

    if (found->n_all > found->n) {
        format_text(
            fs->text, sizeof fs->text,
            "none of the first %u of the card's %u partitions has FAT32 or exFAT, and the others are not looked at: move yours to the front",
            found->n, found->n_all);
        return fs->text;
    }
    n = format_text(fs->text, sizeof fs->text,
                    "the card has no FAT32 partition and no exFAT: its table has %s",
                    found->n_types == 0 ? "no partition" : "the types");

    for (unsigned i = 0; i < found->n_types; i++)
        n += format_text(fs->text + n, sizeof fs->text - n, "%s 0x%02x", i == 0 ? "" : ",",
                         (unsigned)found->types[i]);
    format_text(fs->text + n, sizeof fs->text - n,
                "; write it with `make card`, or format a partition as FAT32 or exFAT");
    return fs->text;
}

/* Mount the first partition with a folder of models, because a board's loader may need its own
 * partition in front. Without such a folder, mount the first partition that mounts. If none mounts,
 * return the first partition's error. */
static enum err fat32_mount_table(struct fat32 *fs)
{
    const struct partition *usable = NULL;
    struct partitions found;
    enum err first = partitions_find(fs, &found);
    const char *why = fs->why;

    if (first == ERR_TIMEOUT) /* do not ask a silent device again */
        return first;
    if (first == ERR_OK) {
        first = ERR_NO_FILESYSTEM;
        why = fat32_none(fs, &found);
    }
    for (unsigned i = 0; i < found.n; i++) {
        enum err e = fat32_mount_partition(fs, &found.list[i]);

        if (e == ERR_TIMEOUT || (e == ERR_OK && fat32_has_models(fs)))
            return e;
        if (e == ERR_OK && usable == NULL)
            usable = &found.list[i];
        else if (e != ERR_OK && e != ERR_NO_FILESYSTEM &&
                 (first == ERR_NO_FILESYSTEM || first == ERR_UNSUPPORTED)) {
            first = e;
            why = fs->why;
        }
    }
    if (usable != NULL)
        return fat32_mount_partition(fs, usable);
    return fat32_fail(fs, first, why);
}

enum err fat32_mount(struct fat32 *fs, struct block_device *device,
                     const struct file_timeout *timeout)
{
    const uint8_t *sector;
    enum err e;

    memset(fs, 0, sizeof *fs);
    e = file_open_device(&fs->device, device, 0, timeout);
    if (e != ERR_OK)
        return fat32_fail(fs, e, "the card is empty");
    fs->end_sector = device->n_sectors;
    e = fat32_fetch_sector(fs, 0, &sector);
    if (e != ERR_OK)
        return e;
    if (sector[SIGNATURE] != 0x55 || sector[SIGNATURE + 1] != 0xaa)
        return fat32_fail(
            fs, ERR_NO_FILESYSTEM,
            "the card has neither an MBR nor a file system, so no FAT32 partition: write it with "
            "`make card`, or format it as FAT32 or exFAT");
    if (fat32_is_boot_sector(sector) || exfat_is_boot_sector(sector))
        e = fat32_mount_volume(fs, 0, true);
    else
        e = fat32_mount_table(fs);
    if (e == ERR_OK)
        fs->why = NULL;
    if (e == ERR_TRUNCATED)
        return ERR_BAD_FILESYSTEM;
    return e;
}
