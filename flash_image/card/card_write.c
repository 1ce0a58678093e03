/* Write a card: the boot records, both FATs, folders, files. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "flash_image/card/card_writer.h"
#include "flash_image/output/output_file.h"

enum { FS_INFO = 1, BACKUP = 6, PIECE = 1 << 20, NUMBERED = 4096 };

/* The card to write. */
struct job {
    const struct card_options *options;
    const struct card_layout *layout;
    struct card_layout boot; /* used only if options->boot is set */
};

#define FAT_END 0x0fffffffu

enum err card_refuse(struct card_writer *w, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(w->report->error_message, sizeof w->report->error_message, format, args);
    va_end(args);
    return ERR_IO;
}

static bool is_zero(const uint8_t *data, size_t bytes)
{
    return bytes == 0 || (data[0] == 0 && memcmp(data, data + 1, bytes - 1) == 0);
}

enum err card_put(struct card_writer *w, uint64_t offset, const void *data, size_t bytes)
{
    const uint8_t *at = data;

    if (is_zero(at, bytes)) {
        return ERR_OK;
    }
    while (bytes > 0) {
        ssize_t n = pwrite(w->fd, at, bytes, (off_t)offset);

        if (n <= 0) {
            return card_refuse(w, "%.500s: %s", w->path, strerror(n < 0 ? errno : ENOSPC));
        }
        at += n;
        offset += (uint64_t)n;
        bytes -= (size_t)n;
    }
    return ERR_OK;
}

static enum err put_sector(struct card_writer *w, uint64_t sector, const uint8_t *data)
{
    return card_put(w, sector * CARD_SECTOR, data, CARD_SECTOR);
}

uint64_t card_cluster_offset(const struct card_layout *l, uint32_t cluster)
{
    return (l->start + l->heap + (uint64_t)(cluster - 2) * l->cluster) * CARD_SECTOR;
}

/* ---- boot records ---------------------------------------------------------------------------- */

/* Make the boot sector (section "Boot Sector and BPB Structure" of the specification). Its boot
 * code is a jump to itself. */
static void boot_sector(const struct card_writer *w, uint8_t *s)
{
    static const uint8_t jump[3] = { 0xeb, 0xfe, 0x90 };
    const struct card_layout *l = w->layout;

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
    card_put_u32(s + 28, (uint32_t)l->start);
    card_put_u32(s + 32, (uint32_t)l->n);
    card_put_u32(s + 36, l->fat);
    card_put_u32(s + 44, 2); /* cluster of the root */
    card_put_u16(s + 48, FS_INFO);
    card_put_u16(s + 50, BACKUP);
    s[64] = 0x80; /* drive */
    s[66] = 0x29; /* the next three fields are valid */
    card_put_u32(s + 67, card_volume_id(w));
    memcpy(s + 71, "INGOT      FAT32   ", 19);
    card_sign(s);
}

static void fs_info(const struct card_layout *l, uint8_t *s)
{
    memset(s, 0, CARD_SECTOR);
    card_put_u32(s, 0x41615252);
    card_put_u32(s + 484, 0x61417272);
    card_put_u32(s + 488, l->n_clusters - l->n_used);
    card_put_u32(s + 492, l->n_used + 2);
    card_sign(s);
}

static enum err put_records(struct card_writer *w)
{
    const struct card_layout *l = w->layout;
    uint8_t boot[CARD_SECTOR], info[CARD_SECTOR];
    enum err e = ERR_OK;

    boot_sector(w, boot);
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

/* Every chain is one run of clusters, so each entry points to the next. */
static enum err put_fats(struct card_writer *w)
{
    const struct card_layout *l = w->layout;
    size_t bytes = ((size_t)l->n_used + 2) * 4;
    uint8_t *fat = calloc(1, bytes);
    enum err e = ERR_OK;

    if (fat == NULL) {
        return card_refuse(w, "out of memory");
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

        e = card_put(w, sector * CARD_SECTOR, fat, bytes);
    }
    free(fat);
    return e;
}

/* ---- folders and files ----------------------------------------------------------------------- */

static enum err put_folder(struct card_writer *w, uint32_t i)
{
    const struct card_entry *entry = &w->card->entries[i];
    size_t bytes = (size_t)entry->n_clusters * w->layout->cluster * CARD_SECTOR;
    uint8_t *data = calloc(1, bytes);
    enum err e;

    if (data == NULL) {
        return card_refuse(w, "out of memory");
    }
    if (w->layout->format == CARD_EXFAT) {
        card_put_exfat_folder(w->card, w->layout, i, w->time, data);
    } else {
        card_put_folder(w->card, i, w->time, data);
    }
    e = card_put(w, card_cluster_offset(w->layout, entry->cluster), data, bytes);
    free(data);
    return e;
}

/* Find the first range between `at` and `end` that is not a hole in the file `from`, and set *until
 * to its end. */
static uint64_t next_data(int from, uint64_t at, uint64_t end, uint64_t *until)
{
    off_t data = lseek(from, (off_t)at, SEEK_DATA);
    off_t hole = data < 0 ? data : lseek(from, data, SEEK_HOLE);

    *until = hole < 0 || (uint64_t)hole > end ? end : (uint64_t)hole;
    if (data < 0) { /* only a hole remains, or the file system does not report holes */
        return errno == ENXIO ? end : at;
    }
    return (uint64_t)data < end ? (uint64_t)data : end;
}

/* Copy bytes of the host's file at path, which is open as `from`, to an offset of the card. */
static enum err copy(struct card_writer *w, const char *path, uint64_t bytes, uint64_t offset,
                     int from)
{
    uint64_t done = 0, until;
    struct stat about;

    if (fstat(from, &about) != 0 || (uint64_t)about.st_size < bytes) {
        return card_refuse(w, "%.500s: became shorter while it was copied", path);
    }
    while ((done = next_data(from, done, bytes, &until)) < bytes) {
        uint64_t left = until - done;
        ssize_t n = pread(from, w->piece, left < PIECE ? (size_t)left : PIECE, (off_t)done);
        enum err e;

        if (n < 0) {
            return card_refuse(w, "%.500s: %s", path, strerror(errno));
        }
        if (n == 0) {
            return card_refuse(w, "%.500s: became shorter while it was copied", path);
        }
        e = card_put(w, offset + done, w->piece, (size_t)n);
        if (e != ERR_OK) {
            return e;
        }
        done += (uint64_t)n;
    }
    return ERR_OK;
}

static enum err copy_file(struct card_writer *w, const char *path, uint64_t bytes, uint64_t offset)
{
    int from = open(path, O_RDONLY | O_CLOEXEC);
    enum err e;

    if (from < 0) {
        return card_refuse(w, "%.500s: %s", path, strerror(errno));
    }
    e = copy(w, path, bytes, offset, from);
    close(from);
    return e;
}

static enum err put_file(struct card_writer *w, const struct card_entry *entry)
{
    if (entry->bytes == 0 || (entry->text == NULL && entry->path == NULL)) {
        return ERR_OK;
    }
    if (entry->text != NULL) {
        return card_put(w, card_cluster_offset(w->layout, entry->cluster), entry->text,
                        entry->bytes);
    }
    return copy_file(w, entry->path, entry->bytes, card_cluster_offset(w->layout, entry->cluster));
}

static enum err put_contents(struct card_writer *w)
{
    enum err e = ERR_OK;

    for (uint32_t i = 0; i < w->card->n && e == ERR_OK; i++) {
        const struct card_entry *entry = &w->card->entries[i];

        e = entry->is_folder ? put_folder(w, i) : put_file(w, entry);
    }
    return e;
}

static enum err put_volume(struct card_writer *w, struct card_image *c, const struct card_layout *l)
{
    enum err e;

    w->card = c;
    w->layout = l;
    if (l->format == CARD_EXFAT) {
        e = card_put_exfat(w);
    } else {
        e = put_records(w);
        if (e == ERR_OK) {
            e = put_fats(w);
        }
    }
    if (e == ERR_OK) {
        e = put_contents(w);
    }
    return e;
}

/* ---- the card's number ----------------------------------------------------------------------- */

static uint64_t mix_bytes(uint64_t hash, const void *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        hash = card_mix(hash, ((const uint8_t *)data)[i]);
    }
    return hash;
}

/* Add the beginning of a file: a model's header holds the checksums of its tables. A file that
 * cannot be read is reported when it is copied. */
static uint64_t mix_file(uint64_t hash, const char *path)
{
    uint8_t start[NUMBERED];
    int from = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = from < 0 ? 0 : pread(from, start, sizeof start, 0);

    if (from >= 0) {
        close(from);
    }
    return mix_bytes(hash, start, n > 0 ? (size_t)n : 0);
}

/* Hash the names, sizes and beginnings of all files. */
static uint64_t mix_contents(uint64_t hash, const struct card_image *c)
{
    for (uint32_t i = 0; i < c->n; i++) {
        const struct card_entry *entry = &c->entries[i];

        hash = card_mix(hash, entry->is_folder ? 0 : entry->bytes);
        hash = mix_bytes(hash, entry->name, strlen(entry->name));
        if (entry->text != NULL) {
            hash = mix_bytes(hash, entry->text, entry->bytes);
        } else if (entry->path != NULL) {
            hash = mix_file(hash, entry->path);
        }
    }
    return hash;
}

static uint64_t number_of(const struct card_writer *w, const struct card_options *o)
{
    uint64_t hash = mix_contents(card_mix(0xcbf29ce484222325, (uint64_t)w->time), w->report);

    return o->boot != NULL ? mix_contents(hash, o->boot) : hash;
}

static enum err put_all(struct card_writer *w, const struct job *j)
{
    const struct card_layout *volumes[CARD_MOST_VOLUMES] = { &j->boot, j->layout };
    unsigned first = j->options->boot == NULL; /* the first volume that exists */
    enum err e;

    w->number = number_of(w, j->options);
    if (ftruncate(w->fd, (off_t)(j->layout->sectors * CARD_SECTOR)) != 0) {
        return card_refuse(w, "%.500s: %s", w->path, strerror(errno));
    }
    e = card_put_table(w, j->options, volumes + first, CARD_MOST_VOLUMES - first,
                       j->layout->sectors);
    if (e == ERR_OK && first == 0) {
        e = put_volume(w, j->options->boot, &j->boot);
    }
    if (e == ERR_OK) {
        e = put_volume(w, w->report, j->layout);
    }
    if (e == ERR_OK && j->options->payload != NULL) {
        e = copy_file(w, j->options->payload->path, j->options->payload->bytes,
                      (j->layout->start + j->layout->n) * CARD_SECTOR);
    }
    return e;
}

/* ---- the image's file ------------------------------------------------------------------------ */

static enum err write_and_keep(struct card_writer *w, const struct job *j,
                               const struct output_wish *wish)
{
    struct output_file out;
    enum err e = output_open(&out, wish, w->report->error_message, sizeof w->report->error_message);

    if (e != ERR_OK) {
        return e;
    }
    w->fd = out.fd;
    e = put_all(w, j);
    if (e != ERR_OK) {
        output_drop(&out);
        return e;
    }
    return output_keep(&out, w->report->error_message, sizeof w->report->error_message);
}

enum err card_image_write(struct card_image *c, const struct card_options *o, const char *out,
                          struct card_layout *layout)
{
    const struct output_wish wish = { .path = out, .instead = "write the image to a card with dd" };
    struct card_writer w = { .report = c, .time = o->time, .efi = o->efi, .path = out };
    struct job job = { .options = o, .layout = layout };
    enum err e = card_lay_out(c, o, layout, &job.boot);

    if (e != ERR_OK) {
        return e;
    }
    w.piece = malloc(PIECE);
    e = w.piece == NULL ? card_refuse(&w, "out of memory") : write_and_keep(&w, &job, &wish);
    free(w.piece);
    return e;
}
