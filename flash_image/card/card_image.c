/* The contents of a card: folders and files by name. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "flash_image/card/card_image.h"

__attribute__((format(printf, 3, 4))) static enum err refuse(struct card_image *c, enum err e,
                                                             const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(c->error_message, sizeof c->error_message, format, args);
    va_end(args);
    return e;
}

static void *need_memory(void *p)
{
    if (p == NULL) {
        fputs("ingot: out of memory\n", stderr);
        exit(1);
    }
    return p;
}

static struct card_entry *append(struct card_image *c)
{
    if (c->n == c->room) {
        c->room = 2 * c->room + 16;
        c->entries = need_memory(realloc(c->entries, c->room * sizeof *c->entries));
    }
    memset(&c->entries[c->n], 0, sizeof *c->entries);
    return &c->entries[c->n++];
}

void card_image_open(struct card_image *c, enum card_format format)
{
    struct card_entry *root;

    memset(c, 0, sizeof *c);
    c->format = format;
    root = append(c);
    root->name = need_memory(strdup(""));
    root->is_folder = true;
}

void card_image_close(struct card_image *c)
{
    for (uint32_t i = 0; i < c->n; i++) {
        free(c->entries[i].name);
        free(c->entries[i].path);
        free(c->entries[i].text);
    }
    free(c->entries);
    memset(c, 0, sizeof *c);
}

/* Return the number of the entry with this name in a folder, or 0, the root's number, if there is
 * none. */
static uint32_t find(const struct card_image *c, uint32_t folder, const char *name)
{
    for (uint32_t i = 1; i < c->n; i++) {
        if (c->entries[i].folder == folder && card_names_equal(c->entries[i].name, name)) {
            return i;
        }
    }
    return 0;
}

/* Add an entry that owns `name`: the card frees it. */
static enum err add_entry(struct card_image *c, uint32_t folder, const char *name, size_t bytes,
                          uint32_t *number)
{
    struct card_entry *e = append(c);
    const char *why;

    *number = c->n - 1;
    e->name = need_memory(strndup(name, bytes));
    e->folder = folder;
    why = card_name_error_message(e->name);
    if (why != NULL) {
        return refuse(c, ERR_BAD_ARGUMENT, "'%.300s' is not a name for a card: %s", e->name, why);
    }
    card_name_entry(c, *number);
    return ERR_OK;
}

/* Create the missing folders of a path, then an entry for its last part. */
static enum err add_path(struct card_image *c, const char *path, uint32_t *number)
{
    uint32_t folder = 0;
    const char *slash;

    while ((slash = strchr(path, '/')) != NULL) {
        char *part = need_memory(strndup(path, (size_t)(slash - path)));
        uint32_t next = find(c, folder, part);
        enum err e = ERR_OK;

        if (next == 0) {
            e = add_entry(c, folder, part, strlen(part), &next);
            c->entries[next].is_folder = true;
        } else if (!c->entries[next].is_folder) {
            e = refuse(c, ERR_BAD_ARGUMENT,
                       "%.300s would be both a file and a folder on the "
                       "card",
                       part);
        }
        free(part);
        if (e != ERR_OK) {
            return e;
        }
        folder = next;
        path = slash + 1;
    }
    if (find(c, folder, path) != 0) {
        return refuse(c, ERR_BAD_ARGUMENT, "two files on the card are called %.300s", path);
    }
    return add_entry(c, folder, path, strlen(path), number);
}

static enum err add(struct card_image *c, const char *name, uint64_t bytes, uint32_t *number)
{
    enum err e = add_path(c, name, number);

    if (e == ERR_OK && c->format == CARD_FAT32 && bytes > CARD_MOST_FILE_BYTES) {
        return refuse(c, ERR_NO_SPACE,
                      "%.300s is too long: a file on FAT32 must be shorter than 4 GiB", name);
    }
    if (e == ERR_OK) {
        c->entries[*number].bytes = bytes;
    }
    return e;
}

enum err card_add_file(struct card_image *c, const char *name, const char *path)
{
    struct stat about;
    uint32_t i;
    enum err e;

    if (stat(path, &about) != 0) {
        return refuse(c, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "%.300s: %s", path,
                      strerror(errno));
    }
    if (!S_ISREG(about.st_mode)) {
        return refuse(c, ERR_IO, "%.300s: is not a file", path);
    }
    e = add(c, name, (uint64_t)about.st_size, &i);
    if (e == ERR_OK) {
        c->entries[i].path = need_memory(strdup(path));
    }
    return e;
}

enum err card_add_text(struct card_image *c, const char *name, const char *text, size_t bytes)
{
    uint32_t i;
    enum err e = add(c, name, bytes, &i);

    if (e == ERR_OK) {
        c->entries[i].text = need_memory(malloc(bytes + 1));
        memcpy(c->entries[i].text, text, bytes);
    }
    return e;
}

enum err card_add_room(struct card_image *c, const char *name, uint64_t bytes)
{
    uint32_t i;

    return add(c, name, bytes, &i);
}
