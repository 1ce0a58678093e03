/* Finds the model of a card if no model is named: the first by name. A file that is not a model, or
 * only the beginning of one, does not hide a model after it. */
#include "runtime/storage/storage_private.h"

#include <string.h>

#include "flash_image/format/format.h"
#include "runtime/storage/fat32_volume.h"
#include "runtime/storage/file_mark.h"
#include "runtime/text/format_text.h"

enum {
    LOGGED_MODELS = 4,  /* the most models logged at the start, so that they fit the first screen */
    NAMED_FILES = 4,    /* the most other files logged at the start */
    MOST_READS = 16384, /* the most reads from the card to check the kinds of
                         * files */
};

/* Kinds about which the reader of models has the better message if a card has no model. */
static const struct file_mark unknown = { "", "not an .ingot file", "make one with `ingot pack`" };
static const struct file_mark cut = { "", "cut short", "copy it again" };

/* Return the kind of file with this beginning, or NULL for a model. */
static const struct file_mark *kind_of(const uint8_t *begin)
{
    const struct file_mark *mark = file_mark_find(begin);

    if (memcmp(begin, INGOT_MAGIC, FILE_MARK_BYTES) == 0) {
        return NULL;
    }
    return mark != NULL ? mark : &unknown;
}

/* Return true if a model's header says that its file is longer, as after a copy that was
 * interrupted. */
static bool is_cut(const uint8_t *begin, const struct file *f)
{
    uint64_t bytes;

    memcpy(&bytes, begin + offsetof(struct ingot_header, file_bytes), sizeof bytes);
    return bytes > f->bytes;
}

/* Return the kind of a file, or NULL for a model. A file whose first sector cannot be read is taken
 * for a model, because the reader of models then names the file and the missing part. */
static const struct file_mark *look_at(struct storage *s, const struct file *f)
{
    uint64_t half = f->bytes / 2 / SECTOR_BYTES * SECTOR_BYTES;
    const struct file_mark *kind;
    struct file_read read;

    if (f->bytes < FILE_MARK_BYTES) {
        return &unknown;
    }
    if (file_read_now(&read, f, 0, s->sector, SECTOR_BYTES) != ERR_OK) {
        return NULL;
    }
    /* The first save of a file goes to its second half. */
    if (s->sector[0] == 0 && half != 0 &&
        (file_read_now(&read, f, half, s->sector, SECTOR_BYTES) != ERR_OK ||
         memcmp(s->sector, "INGOT", 5) != 0 || kind_of(s->sector) == NULL)) {
        return &unknown;
    }
    kind = kind_of(s->sector);
    return kind == NULL && is_cut(s->sector, f) ? &cut : kind;
}

static void log_models(struct storage *s, unsigned n)
{
    char size[FORMAT_NUMBER_BYTES], after[FAT32_NAME_BYTES] = "";

    for (unsigned i = 0; n > 1 && i < LOGGED_MODELS &&
                         fat32_image_after(&s->fs, "models", after, &s->entry) == ERR_OK;
         i++) {
        memcpy(after, s->entry.name, sizeof after);
        storage_say(s, "  models/%.80s, %s", after, format_bytes(size, s->entry.bytes));
    }
    if (n > LOGGED_MODELS) {
        storage_say(s, "  and %u more: /models lists them", n - LOGGED_MODELS);
    }
}

/* Models of other programs. */
static const struct {
    const char *end, *what, *source;
} others[] = {
    { ".gguf", "a GGUF file", "it" },
    { ".safetensors", "a safetensors file", "its whole folder" },
};

/* Return true if a name ends with `end`, in either case. */
static bool ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);

    return n > m && fat32_names_equal(name + n - m, m, end, m);
}

/* Return the index in others[] of a file's kind, or -1. */
static int other_of(const struct fat32_entry *entry)
{
    for (int i = 0; i < (int)(sizeof others / sizeof others[0]); i++) {
        if (!entry->is_directory && !fat32_is_apple_double(entry->name) &&
            ends_with(entry->name, others[i].end)) {
            return i;
        }
    }
    return -1;
}

/* Log files of a folder that are models for other programs. Returns true if there is such a file;
 * s->error_message is about the first. */
static bool name_others(struct storage *s, const char *folder)
{
    struct fat32_directory dir;
    enum err e = fat32_open_directory(&s->fs, folder, &dir);
    unsigned n = 0;

    while (e == ERR_OK && n < NAMED_FILES && (e = fat32_next_entry(&dir, &s->entry)) == ERR_OK) {
        int kind = other_of(&s->entry);

        if (kind < 0) {
            continue;
        }
        if (n++ == 0) {
            (void)
                storage_fail(s, ERR_NOT_FOUND,
                             "%s%s%.80s is %s, which a board does not read: make an .ingot file of "
                             "%s with `ingot pack` and copy that to models/",
                             folder, folder[0] == '\0' ? "" : "/", s->entry.name, others[kind].what,
                             others[kind].source);
            storage_say(s, "storage: %s", s->error_message);
        }
    }
    return n != 0;
}

/* If no file of the card is a whole model, say what the first file is. For an unknown kind, and for
 * a model that is cut short, the reader of models gives the message. */
static enum err none_is(struct storage *s, const struct file_mark *kind,
                        const struct file_table *table, struct file *out)
{
    enum err e = fat32_image_after(&s->fs, "models", "", &s->entry);

    if (e == ERR_OK && kind != &unknown && kind != &cut) {
        return storage_fail(s, ERR_BAD_MAGIC, "models/%.80s is %s: %s", s->entry.name, kind->what,
                            kind->cure);
    }
    return e == ERR_OK ? fat32_open_file(&s->fs, &s->entry, table, out) : e;
}

/* Open the next model after a name. */
static enum err open_after(struct storage *s, const char *after, const struct file_table *table,
                           struct file *out)
{
    enum err e = fat32_image_after(&s->fs, "models", after, &s->entry);

    return e == ERR_OK ? fat32_open_file(&s->fs, &s->entry, table, out) : e;
}

enum err storage_find_first(struct storage *s, const struct file_table *table, struct file *out)
{
    const struct file_mark *kind = NULL, *first = NULL;
    char after[FAT32_NAME_BYTES] = "";
    unsigned n = 0;
    uint32_t last_read;
    enum err e = fat32_count_models(&s->fs, &n);

    if (e != ERR_OK) {
        return e;
    }
    log_models(s, n);
    if ((name_others(s, "models") || (n == 0 && name_others(s, ""))) && n == 0) {
        return ERR_BAD_MAGIC;
    }
    last_read = s->fs.n_reads + MOST_READS;
    for (unsigned i = 0; i < n && s->fs.n_reads < last_read; i++) {
        e = open_after(s, after, table, out);
        if (e == ERR_OK) {
            memcpy(after, s->entry.name, sizeof after);
            kind = look_at(s, out);
        }
        if (e != ERR_OK || kind == NULL) {
            return e;
        }
        first = i == 0 ? kind : first;
        if (i < NAMED_FILES && n > 1) {
            storage_say(s, "storage: models/%.80s is %s and is ignored: %s", after, kind->what,
                        kind->cure);
        }
    }
    return n == 0 ? ERR_NOT_FOUND : none_is(s, first, table, out);
}
