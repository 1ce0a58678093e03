/* Write a card: the boot records, both FATs, folders, files. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "flash_image/card/card_image.h"

enum { VOLUME_ID = 0x1a607001, FS_INFO = 1, BACKUP = 6, PIECE = 1 << 20 };
#define FAT_END 0x0fffffffu

struct writer {
    struct card_image *card;
    const struct card_layout *layout;
    int64_t time;
    const char *path; /* of the image */
    int fd;
    uint8_t *piece; /* PIECE bytes */
};

__attribute__((format(printf, 2, 3))) static enum err refuse(struct writer *w, const char *format,
                                                             ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(w->card->problem, sizeof w->card->problem, format, args);
    va_end(args);
    return ERR_IO;
}

static bool is_zero(const uint8_t *data, size_t bytes)
{
    return bytes == 0 || (data[0] == 0 && memcmp(data, data + 1, bytes - 1) == 0);
}

/* Bytes at an offset of the card; zeros stay a hole. */
static enum err put(struct writer *w, uint64_t offset, const void *data, size_t bytes)
{
    const uint8_t *at = data;

    if (is_zero(at, bytes)) {
        return ERR_OK;
    }
    while (bytes > 0) {
        ssize_t n = pwrite(w->fd, at, bytes, (off_t)offset);

        if (n <= 0) {
            return refuse(w, "%.500s: %s", w->path, strerror(n < 0 ? errno : ENOSPC));
        }
        at += n;
        offset += (uint64_t)n;
        bytes -= (size_t)n;
    }
    return ERR_OK;
}

static enum err put_sector(struct writer *w, uint32_t sector, const uint8_t *data)
{
    return put(w, (uint64_t)sector * CARD_SECTOR, data, CARD_SECTOR);
}

static uint64_t cluster_offset(const struct card_layout *l, uint32_t cluster)
{
    uint64_t sector = (uint64_t)l->start + l->reserved + 2ull * l->fat;

    return (sector + (uint64_t)(cluster - 2) * l->cluster) * CARD_SECTOR;
}

/* ---- boot records ---------------------------------------------------------------------------- */

static void sign(uint8_t *sector)
{
    sector[510] = 0x55;
    sector[511] = 0xaa;
}

/* One entry of type 0x0C (FAT32, LBA), whose CHS fields say "see LBA". */
static enum err put_mbr(struct writer *w)
{
    static const uint8_t entry[8] = { 0x00, 0xfe, 0xff, 0xff, 0x0c, 0xfe, 0xff, 0xff };
    uint8_t sector[CARD_SECTOR] = { 0 };

    card_put_u32(sector + 440, VOLUME_ID);
    memcpy(sector + 446, entry, sizeof entry);
    card_put_u32(sector + 454, w->layout->start);
    card_put_u32(sector + 458, w->layout->n);
    sign(sector);
    return put_sector(w, 0, sector);
}

/* "Boot Sector and BPB Structure"; the code is a jump to itself. */
static void boot_sector(const struct card_layout *l, uint8_t *s)
{
    static const uint8_t jump[3] = { 0xeb, 0xfe, 0x90 };

    memset(s, 0, CARD_SECTOR);
    memcpy(s, jump, sizeof jump);
    memcpy(s + 3, "INGOT   ", 8);
    card_put_u16(s + 11, CARD_SECTOR);
    s[13] = (uint8_t)l->cluster;
    card_put_u16(s + 14, l->reserved);
    s[16] = 2;    /* FATs */
    s[21] = 0xf8; /* a fixed disk */
    card_put_u16(s + 24, 63);
    card_put_u16(s + 26, 255);
    card_put_u32(s + 28, l->start);
    card_put_u32(s + 32, l->n);
    card_put_u32(s + 36, l->fat);
    card_put_u32(s + 44, 2); /* cluster of the root */
    card_put_u16(s + 48, FS_INFO);
    card_put_u16(s + 50, BACKUP);
    s[64] = 0x80; /* drive */
    s[66] = 0x29; /* the three that follow are there */
    card_put_u32(s + 67, VOLUME_ID);
    memcpy(s + 71, "INGOT      FAT32   ", 19);
    sign(s);
}

static void fs_info(const struct card_layout *l, uint8_t *s)
{
    memset(s, 0, CARD_SECTOR);
    card_put_u32(s, 0x41615252);
    card_put_u32(s + 484, 0x61417272);
    card_put_u32(s + 488, l->n_clusters - l->n_used);
    card_put_u32(s + 492, l->n_used + 2);
    sign(s);
}

static enum err put_records(struct writer *w)
{
    const struct card_layout *l = w->layout;
    uint8_t boot[CARD_SECTOR], info[CARD_SECTOR];
    enum err e = put_mbr(w);

    boot_sector(l, boot);
    fs_info(l, info);
    for (uint32_t copy = 0; copy <= BACKUP && e == ERR_OK; copy += BACKUP) {
        e = put_sector(w, l->start + copy, boot);
        if (e == ERR_OK) {
            e = put_sector(w, l->start + copy + FS_INFO, info);
        }
    }
    return e;
}

/* ---- the FATs -------------------------------------------------------------------------------- */

/* Every chain is one run of clusters: each points to the next. */
static enum err put_fats(struct writer *w)
{
    const struct card_layout *l = w->layout;
    size_t bytes = ((size_t)l->n_used + 2) * 4;
    uint8_t *fat = calloc(1, bytes);
    enum err e = ERR_OK;

    if (fat == NULL) {
        return refuse(w, "out of memory");
    }
    card_put_u32(fat, 0x0ffffff8);
    card_put_u32(fat + 4, FAT_END);
    for (uint32_t i = 0; i < w->card->n; i++) {
        const struct card_entry *entry = &w->card->entries[i];

        for (uint32_t k = 0; k < entry->n_clusters; k++) {
            uint32_t cluster = entry->cluster + k;

            card_put_u32(fat + (size_t)cluster * 4,
                         k + 1 == entry->n_clusters ? FAT_END : cluster + 1);
        }
    }
    for (uint32_t copy = 0; copy < 2 && e == ERR_OK; copy++) {
        uint64_t sector = (uint64_t)l->start + l->reserved + (uint64_t)copy * l->fat;

        e = put(w, sector * CARD_SECTOR, fat, bytes);
    }
    free(fat);
    return e;
}

/* ---- folders and files ----------------------------------------------------------------------- */

static enum err put_folder(struct writer *w, uint32_t i)
{
    const struct card_entry *entry = &w->card->entries[i];
    size_t bytes = (size_t)entry->n_clusters * w->layout->cluster * CARD_SECTOR;
    uint8_t *data = calloc(1, bytes);
    enum err e;

    if (data == NULL) {
        return refuse(w, "out of memory");
    }
    card_put_folder(w->card, i, w->time, data);
    e = put(w, cluster_offset(w->layout, entry->cluster), data, bytes);
    free(data);
    return e;
}

/* entry->bytes of the host's file that is open as `from`. */
static enum err copy(struct writer *w, const struct card_entry *entry, int from)
{
    uint64_t offset = cluster_offset(w->layout, entry->cluster);
    uint64_t done = 0;

    while (done < entry->bytes) {
        uint64_t left = entry->bytes - done;
        ssize_t n = read(from, w->piece, left < PIECE ? (size_t)left : PIECE);
        enum err e;

        if (n < 0) {
            return refuse(w, "%.500s: %s", entry->path, strerror(errno));
        }
        if (n == 0) {
            return refuse(w, "%.500s: became shorter while it was copied", entry->path);
        }
        e = put(w, offset + done, w->piece, (size_t)n);
        if (e != ERR_OK) {
            return e;
        }
        done += (uint64_t)n;
    }
    return ERR_OK;
}

static enum err put_file(struct writer *w, const struct card_entry *entry)
{
    enum err e;
    int from;

    if (entry->bytes == 0 || (entry->text == NULL && entry->path == NULL)) {
        return ERR_OK;
    }
    if (entry->text != NULL) {
        return put(w, cluster_offset(w->layout, entry->cluster), entry->text, entry->bytes);
    }
    from = open(entry->path, O_RDONLY | O_CLOEXEC);
    if (from < 0) {
        return refuse(w, "%.500s: %s", entry->path, strerror(errno));
    }
    e = copy(w, entry, from);
    close(from);
    return e;
}

static enum err put_contents(struct writer *w)
{
    enum err e = ERR_OK;

    for (uint32_t i = 0; i < w->card->n && e == ERR_OK; i++) {
        const struct card_entry *entry = &w->card->entries[i];

        e = entry->is_folder ? put_folder(w, i) : put_file(w, entry);
    }
    return e;
}

static enum err put_all(struct writer *w)
{
    enum err e;

    if (ftruncate(w->fd, (off_t)(w->layout->sectors * CARD_SECTOR)) != 0) {
        return refuse(w, "%.500s: %s", w->path, strerror(errno));
    }
    e = put_records(w);
    if (e == ERR_OK) {
        e = put_fats(w);
    }
    if (e == ERR_OK) {
        e = put_contents(w);
    }
    return e;
}

/* ---- the image's file ------------------------------------------------------------------------ */

/* Write `part`, and call it `out` when it is whole. */
static enum err write_and_rename(struct writer *w, const char *part, const char *out)
{
    enum err e;

    w->fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (w->fd < 0) {
        return refuse(w, "%.500s: %s", part, strerror(errno));
    }
    e = put_all(w);
    if (close(w->fd) != 0 && e == ERR_OK) {
        e = refuse(w, "%.500s: %s", part, strerror(errno));
    }
    if (e == ERR_OK && rename(part, out) != 0) {
        e = refuse(w, "%.500s: %s", out, strerror(errno));
    }
    if (e != ERR_OK) {
        unlink(part);
    }
    return e;
}

enum err card_image_write(struct card_image *c, const struct card_options *o, const char *out,
                          struct card_layout *layout)
{
    struct writer w = { .card = c, .layout = layout, .time = o->time, .path = out };
    size_t bytes = strlen(out) + sizeof ".part";
    struct stat about;
    char *part;
    enum err e = card_lay_out(c, o, layout);

    if (e != ERR_OK) {
        return e;
    }
    if (stat(out, &about) == 0 && !S_ISREG(about.st_mode)) {
        return refuse(&w, "%.500s: is no file; write the image to a card with dd", out);
    }
    part = malloc(bytes);
    w.piece = malloc(PIECE);
    if (part == NULL || w.piece == NULL) {
        e = refuse(&w, "out of memory");
    } else {
        snprintf(part, bytes, "%s.part", out);
        e = write_and_rename(&w, part, out);
    }
    free(w.piece);
    free(part);
    return e;
}
