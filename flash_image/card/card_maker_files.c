/* The files of a board's maker. They are in a folder (the mounted bootfs of a Raspberry Pi OS card,
 * or a clone of the firmware repository), or in a zip archive as downloaded. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "flash_image/card/card_board.h"

/* boot/overlays/x of a clone is two folders deep. The depth is limited in case the user gives a
 * wrong folder. */
enum { DEEPEST = 2, MOST_FILES = 100000 };

static void *need_memory(void *p)
{
    if (p == NULL) {
        fputs("ingot: out of memory\n", stderr);
        exit(1);
    }
    return p;
}

static struct card_maker_file *append(struct card_maker_files *f, const char *name, size_t bytes)
{
    if (f->n == f->room) {
        f->room = 2 * f->room + 64;
        f->files = need_memory(realloc(f->files, f->room * sizeof *f->files));
    }
    f->files[f->n] = (struct card_maker_file){ .name = need_memory(strndup(name, bytes)) };
    return &f->files[f->n++];
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct card_maker_file *)a)->name,
                  ((const struct card_maker_file *)b)->name);
}

static bool is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* List the folder PATH/below; `below` is "" or ends in a slash. Append its subfolders to `later`,
 * with a slash. A folder that cannot be read counts as empty. */
static void list_folder(struct card_maker_files *f, const char *below,
                        struct card_maker_files *later)
{
    char path[CARD_PATH_BYTES], name[CARD_PATH_BYTES];
    const struct dirent *entry;
    DIR *opened;

    snprintf(path, sizeof path, "%s/%s", f->path, below);
    opened = opendir(path);
    while (opened != NULL && f->n < MOST_FILES && (entry = readdir(opened)) != NULL) {
        struct stat about;
        int n = snprintf(name, sizeof name, "%s%s", below, entry->d_name);

        if (!is_visible(entry) || n < 0 || (size_t)n + 1 >= sizeof name ||
            (size_t)snprintf(path, sizeof path, "%s/%s", f->path, name) >= sizeof path ||
            stat(path, &about) != 0) {
            continue;
        }
        if (S_ISREG(about.st_mode)) {
            (void)append(f, name, (size_t)n);
        } else if (S_ISDIR(about.st_mode) && later != NULL) {
            name[n] = '/';
            (void)append(later, name, (size_t)n + 1);
        }
    }
    if (opened != NULL) {
        closedir(opened);
    }
}

static void free_files(struct card_maker_files *f)
{
    for (uint32_t i = 0; i < f->n; i++) {
        free(f->files[i].name);
    }
    free(f->files);
    f->files = NULL;
    f->n = f->room = 0;
}

static void list_folders(struct card_maker_files *f)
{
    struct card_maker_files now = { 0 }, later = { 0 };

    (void)append(&now, "", 0);
    for (int deep = 0; deep <= DEEPEST; deep++) {
        for (uint32_t i = 0; i < now.n; i++) {
            list_folder(f, now.files[i].name, deep < DEEPEST ? &later : NULL);
        }
        free_files(&now);
        now = later;
        later = (struct card_maker_files){ 0 };
    }
    free_files(&now);
}

static enum err list_archive(struct card_maker_files *f, char *error_message, size_t bytes)
{
    struct card_zip_entry e;
    const char *why = card_zip_open(&f->zip, f->map.data, f->map.bytes);

    while (why == NULL && card_zip_next(&f->zip, &e)) {
        bool is_file = e.name_bytes > 0 && e.name[e.name_bytes - 1] != '/' &&
                       memchr(e.name, '\0', e.name_bytes) == NULL;

        if (is_file) {
            append(f, e.name, e.name_bytes)->entry = e;
        }
    }
    if (why == NULL && f->zip.next != f->zip.end) {
        why = "the archive's directory is damaged";
    }
    if (why != NULL) {
        snprintf(error_message, bytes, "%.400s: %s", f->path, why);
        return ERR_BAD_HEADER;
    }
    return ERR_OK;
}

static enum err open_archive(struct card_maker_files *f, char *error_message, size_t bytes)
{
    char why[256];
    enum err e = mapping_open(&f->map, f->path, why, sizeof why);

    if (e != ERR_OK) {
        snprintf(error_message, bytes, "%.400s: %s", f->path, why);
        return e;
    }
    if (!card_zip_is_one(f->map.data, f->map.bytes)) {
        snprintf(
            error_message, bytes,
            "%.400s is neither a folder nor a zip archive: --firmware takes the mounted bootfs of a Raspberry Pi OS "
            "card, a folder, or the zip of github.com/raspberrypi/firmware",
            f->path);
        return ERR_BAD_ARGUMENT;
    }
    return list_archive(f, error_message, bytes);
}

enum err card_maker_open(struct card_maker_files *f, const char *path, char *error_message,
                         size_t error_message_bytes)
{
    struct stat about;
    enum err e = ERR_OK;

    *f = (struct card_maker_files){ .path = path };
    if (stat(path, &about) != 0) {
        snprintf(error_message, error_message_bytes, "%.500s: %s", path, strerror(errno));
        return ERR_NOT_FOUND;
    }
    if (S_ISDIR(about.st_mode)) {
        list_folders(f);
    } else {
        e = open_archive(f, error_message, error_message_bytes);
    }
    if (f->n != 0) {
        qsort(f->files, f->n, sizeof *f->files, by_name);
    }
    return e;
}

void card_maker_close(struct card_maker_files *f)
{
    free_files(f);
    unmap_file(&f->map);
}

enum err card_maker_add(const struct card_maker_files *f, const struct card_maker_file *file,
                        struct card_image *c, const char *name)
{
    char path[CARD_PATH_BYTES + 512];
    const char *why = "it is too long for a firmware file";
    uint8_t *bytes;
    enum err e = ERR_BAD_CHECKSUM;

    if (f->map.data == NULL) {
        snprintf(path, sizeof path, "%s/%s", f->path, file->name);
        return card_add_file(c, name, path);
    }
    if (file->entry.bytes <= CARD_ZIP_MOST_BYTES) {
        bytes = need_memory(malloc((size_t)file->entry.bytes + 1));
        why = card_zip_read(&f->zip, &file->entry, bytes);
        if (why == NULL) {
            e = card_add_text(c, name, (const char *)bytes, (size_t)file->entry.bytes);
        }
        free(bytes);
    }
    if (why != NULL) {
        snprintf(c->error_message, sizeof c->error_message, "%.300s: %.200s: %s", f->path,
                 file->name, why);
    }
    return e;
}
