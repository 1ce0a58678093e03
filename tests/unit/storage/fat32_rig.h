/* A file system, the current entry and file, and room for data. */
#ifndef INGOT_TESTS_UNIT_FAT32_RIG_H
#define INGOT_TESTS_UNIT_FAT32_RIG_H

#include "runtime/storage/fat32.h"
#include "tests/unit/tap.h" /* first: a parameter there is named file */

static struct fat32 fs;
static struct fat32_entry entry;
static struct file file;
static struct file_extent extents[FILE_MAX_EXTENTS];
static const struct file_table table = { extents, FILE_MAX_EXTENTS };
static struct file_read reading;
static _Alignas(64) uint8_t buffer[4 << 20];

/* Find model number `index` in sorted order. ERR_NOT_FOUND: there are fewer models. */
static inline enum err get_model(unsigned index, struct fat32_entry *out)
{
    enum err e = fat32_image_after(&fs, "models", "", out);

    for (; e == ERR_OK && index > 0; index--) {
        char after[FAT32_NAME_BYTES];

        memcpy(after, out->name, sizeof after);
        e = fat32_image_after(&fs, "models", after, out);
    }
    return e;
}

#endif
