/* A card in memory, for fuzzers, which mount it, list it, and resolve and read its models. */
#ifndef INGOT_TESTS_FUZZ_CARD_H
#define INGOT_TESTS_FUZZ_CARD_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/storage/fat32.h"
#include "runtime/storage/fat32_write.h"

static struct {
    struct fat32 fs;
    struct file file;
    struct file_read read;
    _Alignas(64) uint8_t buffer[16384];
} work;

static enum err card_submit(struct block_device *dev, struct block_request *r)
{
    if (r->n_sectors == 0 || r->n_sectors > dev->max_sectors || r->sector >= dev->n_sectors ||
        r->n_sectors > dev->n_sectors - r->sector)
        return ERR_RANGE;
    if (r->write)
        memcpy((uint8_t *)dev->driver + r->sector * SECTOR_BYTES, r->buffer,
               (size_t)r->n_sectors * SECTOR_BYTES);
    else
        memcpy(r->buffer, (const uint8_t *)dev->driver + r->sector * SECTOR_BYTES,
               (size_t)r->n_sectors * SECTOR_BYTES);
    r->status = ERR_OK;
    r->done = true;
    return ERR_OK;
}

static enum err card_poll(struct block_device *dev)
{
    (void)dev;
    return ERR_OK;
}

/* Whatever resolves must be on the device and cover the file, and reading it must not fail. */
static void read_file(const struct fat32_entry *entry, uint64_t n_sectors)
{
    static struct file_extent extents[FILE_MAX_EXTENTS];
    struct file_table table = { extents, FILE_MAX_EXTENTS };
    uint64_t covered = 0, bytes;

    if (fat32_open_file(&work.fs, entry, &table, &work.file) != ERR_OK) {
        if (work.fs.why == NULL)
            abort(); /* an error without its error message */
        return;
    }
    for (uint32_t i = 0; i < work.file.n_extents; i++) {
        struct file_extent x = file_extents(&work.file)[i];
        if (x.sector >= n_sectors || x.n_sectors > n_sectors - x.sector)
            abort();
        covered += x.n_sectors * SECTOR_BYTES;
    }
    if (covered < work.file.bytes)
        abort();
    bytes = (work.file.bytes + SECTOR_BYTES - 1) / SECTOR_BYTES * SECTOR_BYTES;
    if (bytes > sizeof work.buffer)
        bytes = sizeof work.buffer;
    if (file_read_now(&work.read, &work.file, 0, work.buffer, bytes) != ERR_OK)
        abort();
}

static void read_model(const char *name, uint64_t n_sectors)
{
    struct fat32_entry entry;

    if (fat32_find_model(&work.fs, name, &entry) == ERR_OK)
        read_file(&entry, n_sectors);
}

/* Makes a new file if the card allows it: it is there afterwards, or an error says why. */
static void write_file(struct block_device *dev, const char *folder, const char *name)
{
    static struct file_extent extents[64];
    const struct file_table table = { extents, 64 };
    struct fat32_entry entry;
    char path[64];

    dev->writable = true;
    if (fat32_mount(&work.fs, dev, NULL) != ERR_OK)
        return;
    if (fat32_reserve(&work.fs, 1700, &table, &work.file) != ERR_OK ||
        fat32_publish(&work.fs, folder, name, &work.file) != ERR_OK) {
        if (work.fs.why == NULL)
            abort();
        return;
    }
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    if (fat32_mount(&work.fs, dev, NULL) == ERR_OK && fat32_find(&work.fs, path, &entry) == ERR_OK)
        read_file(&entry, dev->n_sectors);
}

/* Runs all of this on a card of size bytes; with `writes` they change. */
static void read_card(const uint8_t *data, size_t size, bool writes)
{
    union {
        const uint8_t *from;
        void *to;
    } bytes = { data }; /* driver is the device's own; written where a fuzzer gives a copy */
    struct block_device dev = { .name = "card",
                                .n_sectors = size / SECTOR_BYTES,
                                .max_sectors = 8,
                                .queue_depth = 1,
                                .submit = card_submit,
                                .poll = card_poll,
                                .driver = bytes.to };
    struct fat32_entry entry;
    char after[FAT32_NAME_BYTES] = "";
    unsigned n = 0;

    if (fat32_mount(&work.fs, &dev, NULL) != ERR_OK) {
        if (work.fs.why == NULL)
            abort();
        return;
    }
    (void)fat32_count_models(&work.fs, &n);
    for (unsigned i = 0; i < 8 && fat32_image_after(&work.fs, "models", after, &entry) == ERR_OK;
         i++) {
        memcpy(after, entry.name, sizeof after);
        read_file(&entry, dev.n_sectors);
    }
    read_model("größe 模型 with a LONG name", dev.n_sectors);
    read_model("models/SMALL", dev.n_sectors);
    if (writes) {
        write_file(&dev, "models", "a-new-file-with-a-long-name.ingot");
        write_file(&dev, "models", "small.ingot");
        write_file(&dev, "presets", "new.txt");
    }
}

#endif
