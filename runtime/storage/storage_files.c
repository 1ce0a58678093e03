/* Finds files of drives and cards by folder: models to list, adapters, saves, and files reserved
 * for keys and values. */
#include "runtime/storage/storage_private.h"

#include <string.h>

#include "runtime/text/format_text.h"
#include "runtime/text/utf8.h"

enum { MIB = 1 << 20 };

/* How a file is used. A file to be written must be proved to share no clusters. */
enum file_use { FILE_READ, FILE_WRITTEN };

static enum file_use use_of(uint64_t bytes)
{
    return bytes == 0 ? FILE_READ : FILE_WRITTEN;
}

struct block_device *storage_mount_next(struct storage *s, unsigned *i)
{
    struct file_timeout t = storage_timeout(s);

    while (*i < s->n_devices) {
        struct block_device *d = s->devices[(*i)++];
        enum err e;

        /* Skip unusable devices, and devices that hold a raw file. */
        if (d->error_message != NULL || storage_is_raw(d)) {
            continue;
        }
        e = fat32_mount(&s->fs, d, &t);
        if (e == ERR_OK) {
            return d;
        }
        (void)storage_card_error_message(s, d, e);
    }
    return NULL;
}

/* Return how many devices have a file system, and set s->error_message if that is 0. */
static unsigned count_mounted(struct storage *s)
{
    unsigned i = 0, n = 0;

    (void)storage_fail(s, ERR_NO_DEVICE, "there is no card");
    while (storage_mount_next(s, &i) != NULL) {
        n++;
    }
    return n;
}

/* Visit the models of the mounted device. */
static enum err visit_models(struct storage *s, const char *place, storage_visit_fn *visit,
                             void *context)
{
    char name[FAT32_NAME_BYTES + sizeof "nvme:"], after[FAT32_NAME_BYTES] = "";
    enum err e;

    while ((e = fat32_image_after(&s->fs, "models", after, &s->entry)) == ERR_OK) {
        memcpy(after, s->entry.name, sizeof after);
        format_text(name, sizeof name, "%s%s", place, after);
        visit(context, name, s->entry.bytes);
    }
    return e == ERR_NOT_FOUND ? ERR_OK : e;
}

enum err storage_list_models(struct storage *s, storage_visit_fn *visit, void *context)
{
    unsigned n = count_mounted(s);
    enum err last = n > 0 ? ERR_OK : ERR_NO_DEVICE;
    struct block_device *d;

    for (unsigned i = 0; n > 0 && (d = storage_mount_next(s, &i)) != NULL;) {
        /* A single card needs no prefix before its names. */
        bool says_place = n > 1 || d->kind != BLOCK_CARD;
        enum err e = visit_models(s, says_place ? storage_place(d->kind) : "", visit, context);

        if (e != ERR_OK) {
            last = storage_card_error_message(s, d, e);
        }
    }
    return last;
}

enum err storage_list_device(struct storage *s, const struct block_device *device,
                             storage_visit_fn *visit, void *context)
{
    struct file_timeout t = storage_timeout(s);
    struct block_device *d = NULL;
    enum err e;

    /* Find the device's front, a bounce or io_core. */
    for (unsigned i = 0; i < s->n_devices; i++) {
        if (s->found[i] == device) {
            d = s->fronted[i];
        }
    }
    if (d == NULL) {
        return storage_fail(s, ERR_NO_DEVICE, "there are too many devices for %s", device->name);
    }
    e = fat32_mount(&s->fs, d, &t);
    if (e == ERR_OK) {
        e = visit_models(s, storage_place(d->kind), visit, context);
    }
    return e == ERR_OK ? e : storage_card_error_message(s, d, e);
}

const char storage_name_rule[] = "a name has up to 40 letters, digits, - and _ of ASCII";

bool storage_is_plain_name(const char *name)
{
    for (const char *c = name; *c != '\0'; c++) {
        bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                      (*c >= '0' && *c <= '9') || *c == '-' || *c == '_';

        if (!letter || c - name >= 40) {
            return false;
        }
    }
    return name[0] != '\0';
}

/* Find a file on the first device that has it. The caller explains ERR_NOT_FOUND. */
static enum err find_reserved(struct storage *s, const char *path, enum file_use use,
                              const struct file_table *table, struct file *out)
{
    enum err first = ERR_NO_DEVICE;
    struct block_device *d;

    (void)storage_fail(s, first, "there is no card");
    for (unsigned i = 0; (d = storage_mount_next(s, &i)) != NULL;) {
        enum err e = fat32_find(&s->fs, path, &s->entry);

        if (e == ERR_OK) {
            e = fat32_open_file(&s->fs, &s->entry, table, out);
        }
        /* Never write into clusters that another file also has. */
        if (e == ERR_OK && use == FILE_WRITTEN) {
            e = fat32_prove_file(&s->proof, &s->fs, &s->entry, out);
        }
        if (e == ERR_OK) {
            file_set_name(out, path);
            return use == FILE_WRITTEN ? storage_check_apart(s, out) : e;
        }
        /* Keep the message of the first real error. */
        if (e != ERR_NOT_FOUND || first == ERR_NO_DEVICE) {
            first = storage_card_error_message(s, d, e);
        }
    }
    return first;
}

enum err storage_find_adapter(struct storage *s, const char *name, const struct file_table *table,
                              struct file *out)
{
    char path[64];
    enum err e;

    if (!storage_is_plain_name(name)) {
        return storage_fail(s, ERR_BAD_ARGUMENT, "%s", storage_name_rule);
    }
    format_text(path, sizeof path, "adapters/%s.ingot", name);
    e = find_reserved(s, path, FILE_READ, table, out);
    if (e == ERR_NOT_FOUND) {
        return storage_fail(s, e,
                            "the card has no %s: `ingot adapter` makes one, /adapters lists them",
                            path);
    }
    return e;
}

/* Read a small file completely. If there is no file, the message ends with `maker`, which says how
 * to make one. */
static enum err read_whole(struct storage *s, const char *path, const char *maker,
                           const struct file_table *table, struct storage_memory *memory)
{
    struct file_read read;
    struct file file;
    enum err e = find_reserved(s, path, FILE_READ, table, &file);

    if (e == ERR_NOT_FOUND) {
        return storage_fail(s, e, "the card has no %s%s", path, maker);
    }
    if (e != ERR_OK) {
        return e;
    }
    if (file.bytes > memory->room) {
        return storage_fail(s, ERR_TOO_LONG, "%s is longer than the %lu bytes that it may have",
                            path, (unsigned long)memory->room);
    }
    memory->bytes = (size_t)file.bytes;
    /* Read whole sectors, for which the memory has room. */
    e = file_read_now(&read, &file, 0, memory->at, (memory->bytes + 511) / 512 * 512);
    return e == ERR_OK ? e
                       : storage_fail(s, e, "sector %lu of %s: %s",
                                      (unsigned long)read.failed_sector, path, err_text(e));
}

enum err storage_read_grammar(struct storage *s, const char *name, const struct file_table *table,
                              struct storage_memory *memory)
{
    char path[64];

    if (!storage_is_plain_name(name)) {
        return storage_fail(s, ERR_BAD_ARGUMENT, "%s; choices look like yes|no", storage_name_rule);
    }
    format_text(path, sizeof path, "grammars/%s.grammar", name);
    return read_whole(s, path, ": `ingot grammar` makes one", table, memory);
}

/* Read the text FOLDER/NAME.txt. rule is the message for a name that is not allowed. */
static enum err read_text(struct storage *s, const char *folder, const char *name, const char *rule,
                          const struct file_table *table, struct storage_memory *memory)
{
    char path[64];
    enum err e;

    if (!storage_is_plain_name(name)) {
        return storage_fail(s, ERR_BAD_ARGUMENT, "%s%s", storage_name_rule, rule);
    }
    format_text(path, sizeof path, "%s/%s.txt", folder, name);
    e = read_whole(s, path, "", table, memory);
    if (e == ERR_OK && utf16_has_mark(memory->at, memory->bytes)) {
        return storage_fail(s, ERR_BAD_ARGUMENT, "%s %s", path, utf16_cure);
    }
    return e;
}

enum err storage_read_preset(struct storage *s, const char *name, const struct file_table *table,
                             struct storage_memory *memory)
{
    return read_text(s, "presets", name, "", table, memory);
}

enum err storage_read_actions(struct storage *s, const char *name, const struct file_table *table,
                              struct storage_memory *memory)
{
    return read_text(s, "actions", name, "; lines look like \"pulse light ms 1..5000\"", table,
                     memory);
}

enum err storage_list_adapters(struct storage *s, storage_visit_fn *visit, void *context)
{
    enum err last = ERR_NO_DEVICE;
    struct block_device *d;

    (void)storage_fail(s, last, "there is no card");
    for (unsigned i = 0; (d = storage_mount_next(s, &i)) != NULL;) {
        char after[FAT32_NAME_BYTES] = "";
        enum err e;

        /* Visit one adapter after another in the order of names. */
        while ((e = fat32_image_after(&s->fs, "adapters", after, &s->entry)) == ERR_OK) {
            memcpy(after, s->entry.name, sizeof after);
            visit(context, s->entry.name, s->entry.bytes);
        }
        last = e == ERR_NOT_FOUND ? ERR_OK : storage_card_error_message(s, d, e);
    }
    return last;
}

enum err storage_find_kv(struct storage *s, const struct file_table *table, struct file *out)
{
    enum err e = find_reserved(s, "ingot.kv", FILE_WRITTEN, table, out);

    if (e == ERR_NOT_FOUND) {
        return storage_fail(
            s, e,
            "the card has no ingot.kv: make it with `make card KV=MiB`, or copy a file of "
            "zeros there");
    }
    if (e == ERR_OK && !out->device->writable) {
        return storage_fail(s, ERR_UNSUPPORTED, "%s is read-only: leave out kv=card",
                            out->device->name);
    }
    return e;
}

enum err storage_find_prefix(struct storage *s, uint64_t bytes, const struct file_table *table,
                             struct file *out)
{
    static const char none[] = "the card has no ingot.prefix: `make card SYSTEM=TEXT` makes it";
    enum err e = find_reserved(s, "ingot.prefix", use_of(bytes), table, out);

    return e == ERR_NOT_FOUND ? storage_fail(s, e, none) : e;
}

enum err storage_find_use(struct storage *s, const char *model, uint64_t bytes, struct file *out)
{
    const char *slash = strrchr(model, '/');
    const char *name = slash == NULL ? model : slash + 1;
    const char *end = strrchr(name, '.');
    char path[FAT32_NAME_BYTES + 16];
    enum err e;

    /* The file is next to the model, with another ending. */
    format_text(path, sizeof path, "models/%.*s.use",
                end == NULL ? (int)strlen(name) : (int)(end - name), name);
    e = find_reserved(s, path, use_of(bytes), NULL, out);
    if (e == ERR_NOT_FOUND) {
        return storage_fail(
            s, e,
            "the card has no %.200s: `make card` with this model makes one, or copy "
            "64 KiB of zeros there",
            path);
    }
    return e;
}

enum err storage_find_log(struct storage *s, struct file *out)
{
    enum err e = find_reserved(s, "ingot.log", FILE_WRITTEN, NULL, out);

    if (e == ERR_NOT_FOUND) {
        return storage_fail(s, e,
                            "the card has no ingot.log: `make card LOG=4` makes a card with one of "
                            "4 MiB, or copy a file of zeros there");
    }
    return e;
}

enum err storage_find_kept(struct storage *s, struct file *out)
{
    enum err e = find_reserved(s, "ingot.kept", FILE_WRITTEN, NULL, out);

    if (e == ERR_NOT_FOUND) {
        return storage_fail(s, e,
                            "the card has no ingot.kept: `make card KEPT=64` makes a card with one "
                            "of 64 MiB, or copy a file of zeros there");
    }
    if (e == ERR_OK && !out->device->writable) {
        return storage_fail(s, ERR_UNSUPPORTED, "%s is read-only", out->device->name);
    }
    return e;
}

enum err storage_check_place(struct storage *s, const struct file *f)
{
    struct file_timeout t = storage_timeout(s);
    struct file now;
    enum err e = fat32_mount(&s->fs, f->device, &t);

    if (e == ERR_OK) {
        e = fat32_find(&s->fs, f->name, &s->entry);
    }
    if (e == ERR_OK) {
        e = fat32_open_file(&s->fs, &s->entry, NULL, &now);
    }
    if (e == ERR_OK && now.bytes == f->bytes && now.n_extents == f->n_extents &&
        memcmp(now.few, file_extents(f), now.n_extents * sizeof now.few[0]) == 0) {
        return ERR_OK;
    }
    if (e == ERR_OK || e == ERR_NOT_FOUND || e == ERR_TOO_FRAGMENTED) {
        return storage_fail(s, ERR_NOT_FOUND,
                            "%s is no longer where it was: the card was changed on a computer, and "
                            "nothing is written there until the board starts again",
                            f->name);
    }
    return storage_card_error_message(s, f->device, e);
}

/* A text that names the conversations for which a card has files. */
struct saves {
    char names[128]; /* the names, each followed by a comma */
    size_t n;        /* bytes of the names */
    uint64_t bytes;  /* size of the largest file */
};

static bool is_save(const struct fat32_entry *entry, size_t stem)
{
    static const char suffix[] = ".sav";
    const char *end = entry->name + stem;

    for (size_t i = 0; i < sizeof suffix; i++) {
        bool upper = end[i] >= 'A' && end[i] <= 'Z';

        if ((upper ? end[i] - 'A' + 'a' : end[i]) != suffix[i]) {
            return false;
        }
    }
    return !entry->is_directory;
}

/* Add a save's name, or dots if it does not fit. */
static void add_save(struct saves *v, const char *name, uint64_t bytes)
{
    static const char dots[] = "...,";
    size_t room = sizeof v->names - sizeof dots + 1;

    v->bytes = v->bytes > bytes ? v->bytes : bytes;
    if (v->n + strlen(name) + 2 <= room) {
        v->n += format_text(v->names + v->n, room - v->n, "%s,", name);
    } else if (v->n < 4 || strcmp(v->names + v->n - 4, dots) != 0) {
        v->n += format_text(v->names + v->n, sizeof v->names - v->n, "%s", dots);
    }
}

/* List the saves of the first drive or card that has any. An error ends the list. */
static void list_saves(struct storage *s, struct saves *v)
{
    *v = (struct saves){ .n = 0 };
    for (unsigned i = 0; v->n == 0 && storage_mount_next(s, &i) != NULL;) {
        struct fat32_directory dir;
        enum err e = fat32_open_directory(&s->fs, "saves", &dir);

        while (e == ERR_OK && (e = fat32_next_entry(&dir, &s->entry)) == ERR_OK) {
            char *end = strrchr(s->entry.name, '.');

            if (end == NULL || !is_save(&s->entry, (size_t)(end - s->entry.name))) {
                continue;
            }
            /* Cut the name's ending, as /save takes no ending. */
            *end = '\0';
            if (storage_is_plain_name(s->entry.name)) {
                add_save(v, s->entry.name, s->entry.bytes);
            }
        }
    }
}

/* Give the command that makes a card with a file for this many bytes. A new card has only the files
 * that the command names, all of one size, so the command also names this card's saves. */
static enum err no_save(struct storage *s, const char *path, const char *name, uint64_t bytes)
{
    unsigned mib = (unsigned)((bytes + MIB - 1) / MIB), most;
    const char *board = s->setup.platform->name;
    bool is_default = strcmp(name, "chat") == 0;
    struct saves v;

    if (bytes == 0) {
        return storage_fail(s, ERR_NOT_FOUND, "the card has no %s: nothing was saved as %s", path,
                            name);
    }
    /* The new card must reserve the files that this card reserves. */
    list_saves(s, &v);
    if (v.n == 0 && !is_default) {
        add_save(&v, "chat", 0);
    }
    most = (unsigned)((v.bytes + MIB - 1) / MIB);
    return storage_fail(
        s, ERR_NOT_FOUND,
        "the card has no %s: `make card BOARD=%s SAVE=%u%s%s%s` makes a card with it, or copy "
        "a file of %u MiB of zeros there",
        path, board, mib > most ? mib : most, v.n == 0 ? "" : " NAMES=", v.names,
        v.n == 0 ? "" : name, mib);
}

enum err storage_find_save(struct storage *s, const char *name, uint64_t bytes,
                           const struct file_table *table, struct file *out)
{
    char path[64];
    enum err e;

    if (!storage_is_plain_name(name)) {
        return storage_fail(s, ERR_BAD_ARGUMENT, "%s", storage_name_rule);
    }
    format_text(path, sizeof path, "saves/%s.sav", name);
    e = find_reserved(s, path, use_of(bytes), table, out);
    if (e == ERR_NOT_FOUND) {
        return no_save(s, path, name, bytes);
    }
    return e;
}
