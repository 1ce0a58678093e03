/* A storage over cards and flash of a made-up platform. */
#ifndef INGOT_TESTS_UNIT_STORAGE_RIG_H
#define INGOT_TESTS_UNIT_STORAGE_RIG_H

#include <stdio.h>
#include <string.h>

#include "board/memory_device.h"
#include "flash_image/format/format.h"
#include "runtime/storage/storage.h"
#include "tests/unit/storage/fake_block.h"
#include "tests/unit/storage/fat32_volume.h"
#include "tests/unit/tap.h"

enum { FLASH_BYTES = 16 * 4096, MODEL_BYTES = 3 * 4096 };

static struct fake_block card, second;
static struct block_device flash;
static _Alignas(4096) uint8_t flash_memory[FLASH_BYTES], initrd_memory[FLASH_BYTES];
static struct block_device *attached[BOARD_MAX_BLOCK];
static unsigned n_attached;
static struct platform platform;
static struct storage storage;
static struct file file; /* that was found last */
static struct file_extent extents[FILE_MAX_EXTENTS];
static const struct file_table table = { extents, FILE_MAX_EXTENTS };

static char console[8192];
static inline void keep_line(void *context, const char *line)
{
    size_t n = strlen(console);

    (void)context;
    snprintf(console + n, sizeof console - n, "%s\n", line);
}

static uint64_t now;
static inline uint64_t made_up_ticks(void *context)
{
    (void)context;
    return now += 10;
}

static inline unsigned find_storage(void *context, struct block_device *devices[BOARD_MAX_BLOCK])
{
    (void)context;
    memcpy(devices, attached, sizeof attached);
    return n_attached;
}

static inline void put_ingot(uint8_t *memory, uint64_t bytes)
{
    struct ingot_header *h = (void *)memory;

    memcpy(h->magic, INGOT_MAGIC, sizeof h->magic);
    h->file_bytes = bytes;
}

static inline void put_model(const char *name83, char letter, uint32_t cluster, uint32_t bytes)
{
    const uint16_t name[7] = { (uint16_t)letter, '.', 'i', 'n', 'g', 'o', 't' };

    volume_add_long(name, 7, volume_checksum(name83));
    volume_add(name83, 0x20, cluster, bytes);
    volume_chain(cluster, bytes / 512);
}

/* A card's volume: models/a.ingot at cluster 100, models/b.ingot at 200, and notes. */
static inline void put_card(bool models)
{
    uint8_t *directory = volume_cluster(20);

    volume_format();
    volume_add("NOTES   TXT", 0x20, 50, 10);
    volume_link(50, VOLUME_END);
    volume_add("MODELS     ", 0x10, 20, 0);
    volume_link(20, VOLUME_END);
    memset(directory, 0, 512);
    if (!models)
        return;
    put_model("AAAAAA~1ING", 'a', 100, MODEL_BYTES);
    put_model("BBBBBB~1ING", 'b', 200, 4096);
    memcpy(directory, volume_cluster(2) + 64, 128); /* goes from the root folder into models */
    memset(volume_cluster(2) + 64, 0, 128);
}

/* Nothing attached, flash erased. */
static inline void start_over(void)
{
    console[0] = '\0';
    platform = (struct platform){ .name = "made up",
                                  .clock = { .ticks = made_up_ticks, .hz = 1000 },
                                  .storage = { .find = find_storage } };
    memset(flash_memory, 0xff, sizeof flash_memory);
    memset(initrd_memory, 0, sizeof initrd_memory);
    memory_device_open(&flash, "flash bank 1", flash_memory, FLASH_BYTES);
    put_card(true);
    fake_init(&card, volume, VOLUME_SECTORS);
    card.dev.name = "the first card";
    fake_init(&second, volume, VOLUME_SECTORS);
    second.dev.name = "the second card";
    n_attached = 0;
}

static inline void attach(struct block_device *d)
{
    attached[n_attached++] = d;
}

static inline enum err find(const char *name)
{
    struct storage_setup setup = { .platform = &platform, .log = keep_line };

    storage_open(&storage, &setup);
    return storage_find_model(&storage, name, &table, &file);
}

static inline bool says(const char *a, const char *b)
{
    return strstr(storage.error_message, a) != NULL && strstr(storage.error_message, b) != NULL;
}

static inline bool file_is(uint32_t cluster, uint64_t bytes)
{
    return file.bytes == bytes && file_extents(&file)[0].sector == VOLUME_DATA + cluster - 2;
}

#endif
