/* Makes files on a card while the machine runs. */
#include "runtime/storage/storage_new.h"

#include <string.h>

#include "runtime/storage/storage_private.h"
#include "runtime/text/format_text.h"

/* A card's folders, and the endings of their files' names. */
static const struct {
    const char *folder, *end;
} kinds[] = {
    { "models", ".ingot" },
    { "adapters", ".ingot" },
    { "grammars", ".grammar" },
    { "presets", ".txt" },
};

static bool ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);

    return n > m && strcmp(name + n - m, end) == 0;
}

const char *storage_new_folder(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (ends_with(name, kinds[i].end)) {
            return kinds[i].folder;
        }
    }
    return NULL;
}

/* Split a path into folder and name, if a file may be made there. */
static bool split(const char *path, struct storage_new *new)
{
    const char *slash = strchr(path, '/');
    size_t folder = slash == NULL ? 0 : (size_t)(slash - path);

    if (slash == NULL || folder >= sizeof new->folder || strlen(slash + 1) >= sizeof new->name) {
        return false;
    }
    memcpy(new->folder, path, folder);
    new->folder[folder] = '\0';
    memcpy(new->name, slash + 1, strlen(slash + 1) + 1);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(new->folder, kinds[i].folder) == 0) {
            return ends_with(new->name, kinds[i].end) && fat32_is_new_name(new->name);
        }
    }
    return false;
}

/* Reserve room on the mounted card. The file's extents are at the table's front. The proof uses the
 * rest of the table, now and when the file is published. */
static enum err reserve(struct storage *s, struct storage_new *new, uint64_t bytes,
                        const struct file_table *table)
{
    enum err e = fat32_reserve(&s->fs, bytes, table, &new->file);

    new->rest = (struct file_table){ table->extents + new->file.n_extents,
                                     table->most - new->file.n_extents };
    return e == ERR_OK ? fat32_prove_new(&s->proof, &s->fs, new->folder, new->name, &new->rest) : e;
}

enum err storage_new_open(struct storage *s, const char *path, uint64_t bytes,
                          const struct file_table *table, struct storage_new *new)
{
    enum err e = ERR_NO_DEVICE;
    struct block_device *d;

    memset(new, 0, sizeof *new);
    if (!split(path, new)) {
        return storage_fail(s, ERR_BAD_ARGUMENT,
                            "a card takes models/NAME.ingot, adapters/NAME.ingot, "
                            "grammars/NAME.grammar and presets/NAME.txt, of letters, digits, -, _ "
                            "and . of ASCII");
    }
    (void)storage_fail(s, e, "there is no card");
    for (unsigned i = 0; e != ERR_OK && (d = storage_mount_next(s, &i)) != NULL;) {
        e = reserve(s, new, bytes, table);
        new->device = d;
        if (e != ERR_OK) {
            (void)storage_card_error_message(s, d, e);
        }
    }
    file_set_name(&new->file, path);
    return e == ERR_OK ? storage_check_apart(s, &new->file) : e;
}

enum err storage_new_publish(struct storage *s, const struct storage_new *new)
{
    struct file_timeout t = storage_timeout(s);
    enum err e = fat32_mount(&s->fs, new->device, &t);

    /* A transfer takes minutes. Meanwhile the card may have been exchanged, or changed
     * elsewhere. */
    if (e == ERR_OK) {
        e = fat32_prove_new(&s->proof, &s->fs, new->folder, new->name, &new->rest);
    }
    if (e == ERR_OK) {
        e = fat32_publish(&s->fs, new->folder, new->name, &new->file);
    }
    return e == ERR_OK ? e : storage_card_error_message(s, new->device, e);
}
