#include "runtime/storage/storage.h"

#include <string.h>

#include "board/memory_device.h"
#include "flash_image/format.h"
#include "runtime/console/console.h"
#include "runtime/text/format_text.h"

enum {
    TIMEOUT_SECONDS = 5, /* of silence; a healthy card answers within 0.25 s */
    LOGGED_MODELS = 4,   /* at start, so that they fit the first screen */
};

static void log_device(const struct block_device *d)
{
    char size[FORMAT_NUMBER_BYTES];

    if (d->problem != NULL) {
        console_log("storage: %s: %s", d->name, d->problem);
        return;
    }
    console_log("storage: %s, %s%s", d->name, format_bytes(size, d->n_sectors * SECTOR_BYTES),
                d->memory != NULL ? ", used in place" : "");
}

void storage_open(struct storage *s, const struct machine *machine)
{
    memset(s, 0, sizeof *s);
    if (machine->initrd.bytes >= SECTOR_BYTES) {
        memory_device_open(&s->initrd, "initrd", machine->initrd.base, machine->initrd.bytes);
        log_device(&s->initrd);
    }
    s->n_devices = board.find_storage(s->devices);
    for (unsigned i = 0; i < s->n_devices; i++) {
        log_device(s->devices[i]);
    }
}

static struct file_timeout timeout(void)
{
    struct file_timeout t = { board.ticks, TIMEOUT_SECONDS * board.ticks_hz() };

    return t;
}

/* What is not addressable is read, to s->sector. NULL: it cannot be. */
static const uint8_t *first_sector(struct storage *s, struct block_device *d)
{
    struct file_timeout t = timeout();
    struct file_read read;
    enum err e;

    if (d->memory != NULL) {
        return d->memory;
    }
    e = file_open_device(&s->file, d, SECTOR_BYTES, &t);
    if (e == ERR_OK) {
        e = file_read_start(&read, &s->file, 0, s->sector, SECTOR_BYTES);
    }
    while (e == ERR_OK || e == ERR_BUSY) {
        e = file_read_poll(&read);
        if (e == ERR_OK) {
            return s->sector;
        }
    }
    return NULL;
}

/* The header of a raw .ingot, of which the first sector can be read; NULL: none is there. */
static const struct ingot_header *raw_header(struct storage *s, struct block_device *d)
{
    const uint8_t *sector = d->memory != NULL || d->flash ? first_sector(s, d) : NULL;

    if (sector == NULL || d->n_sectors * SECTOR_BYTES < sizeof(struct ingot_header) ||
        memcmp(sector, INGOT_MAGIC, sizeof INGOT_MAGIC - 1) != 0) {
        return NULL;
    }
    return (const void *)sector;
}

/* A raw .ingot begins with its magic; its header says how long it is. */
static enum err open_raw(struct storage *s, struct block_device *device)
{
    const struct ingot_header *h = raw_header(s, device);
    struct file_timeout t = timeout();
    uint64_t device_bytes = device->n_sectors * SECTOR_BYTES;

    if (h == NULL) {
        format_text(s->problem, sizeof s->problem,
                    "%s holds no .ingot file: write one to its first byte", device->name);
        return ERR_BAD_MAGIC;
    }
    return file_open_device(&s->file, device,
                            h->file_bytes < device_bytes ? h->file_bytes : device_bytes, &t);
}

static enum err card_problem(struct storage *s, const struct block_device *device, enum err e)
{
    format_text(s->problem, sizeof s->problem, "%s: %s%s%s", device->name,
                s->fs.why != NULL ? s->fs.why : "", s->fs.why != NULL ? ": " : "", err_text(e));
    return e;
}

static void log_models(struct storage *s, unsigned n)
{
    char size[FORMAT_NUMBER_BYTES];

    for (unsigned i = 0; i < n && n > 1 && i < LOGGED_MODELS; i++) {
        if (fat32_get_model(&s->fs, i, &s->entry) == ERR_OK) {
            console_log("  models/%.80s, %s", s->entry.name, format_bytes(size, s->entry.bytes));
        }
    }
    if (n > LOGGED_MODELS) {
        console_log("  and %u more: /models lists them", n - LOGGED_MODELS);
    }
}

static enum err open_on_card(struct storage *s, struct block_device *device, const char *name)
{
    struct file_timeout t = timeout();
    enum err e = fat32_mount(&s->fs, device, &t);
    unsigned n = 0;

    if (e == ERR_OK && name[0] != '\0') {
        e = fat32_find_model(&s->fs, name, &s->entry);
    } else if (e == ERR_OK) {
        e = fat32_count_models(&s->fs, &n);
        if (e == ERR_OK) {
            log_models(s, n);
            e = fat32_get_model(&s->fs, 0, &s->entry);
        }
    }
    if (e == ERR_NOT_FOUND) {
        format_text(s->problem, sizeof s->problem,
                    "the card has no model%s%.100s: put an .ingot file into its folder models/",
                    name[0] != '\0' ? " " : "", name);
        return e;
    }
    e = e == ERR_OK ? fat32_open_file(&s->fs, &s->entry, &s->file) : e;
    return e == ERR_OK ? ERR_OK : card_problem(s, device, e);
}

/* Erased flash is no flash, unless it was asked for by name, and an empty slot no card. */
static bool is_candidate(struct storage *s, struct block_device *d, const char *name)
{
    if (d->problem != NULL) {
        return false;
    }
    if (d->memory == NULL && !d->flash) {
        return strcmp(name, "flash") != 0 && strcmp(name, "initrd") != 0;
    }
    return strcmp(name, "flash") == 0 || (name[0] == '\0' && raw_header(s, d) != NULL);
}

enum err storage_find_model(struct storage *s, const char *name)
{
    enum err e = ERR_NO_DEVICE;

    if (s->initrd.memory != NULL && (name[0] == '\0' || strcmp(name, "initrd") == 0)) {
        return open_raw(s, &s->initrd);
    }
    for (unsigned i = 0; i < s->n_devices && e != ERR_OK; i++) {
        struct block_device *d = s->devices[i];

        if (!is_candidate(s, d, name)) {
            continue;
        }
        if (e != ERR_NO_DEVICE) {
            console_log("%s", s->problem); /* of the device before: the next one may have it */
        }
        e = d->memory != NULL || d->flash ? open_raw(s, d) : open_on_card(s, d, name);
    }
    if (e == ERR_NO_DEVICE) {
        format_text(s->problem, sizeof s->problem,
                    "no %s found: attach a card made with `make card`, or write an .ingot file to "
                    "flash",
                    name[0] != '\0' ? name : "card, flash or initrd");
    }
    return e;
}

/* The first device with a file system, mounted; NULL: s->problem. */
static struct block_device *mount_card(struct storage *s)
{
    struct file_timeout t = timeout();
    struct block_device *found = NULL;

    format_text(s->problem, sizeof s->problem, "there is no card");
    for (unsigned i = 0; i < s->n_devices && found == NULL; i++) {
        struct block_device *d = s->devices[i];
        enum err e;

        if (d->problem != NULL || d->memory != NULL || d->flash) {
            continue;
        }
        e = fat32_mount(&s->fs, d, &t);
        if (e == ERR_OK) {
            found = d;
        } else {
            (void)card_problem(s, d, e);
        }
    }
    return found;
}

enum err storage_list_models(struct storage *s)
{
    struct block_device *card = mount_card(s);
    char size[FORMAT_NUMBER_BYTES];
    unsigned n = 0;
    enum err e;

    if (card == NULL) {
        return ERR_NO_DEVICE;
    }
    e = fat32_count_models(&s->fs, &n);
    for (unsigned i = 0; e == ERR_OK && i < n; i++) {
        e = fat32_get_model(&s->fs, i, &s->entry);
        if (e == ERR_OK) {
            console_printf("  %-40s %s\n", s->entry.name, format_bytes(size, s->entry.bytes));
        }
    }
    return e == ERR_OK ? ERR_OK : card_problem(s, card, e);
}

const char storage_name_rule[] = "a name has up to 40 letters, digits, - and _ of ASCII";

bool storage_is_plain_name(const char *name)
{
    for (const char *c = name; *c != '\0'; c++) {
        bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                      (*c >= '0' && *c <= '9') || *c == '-' || *c == '_';

        if (!letter || c - name > 40) {
            return false;
        }
    }
    return name[0] != '\0';
}

/* A file that is there to be written, made with the card's `variable`. */
static enum err find_reserved(struct storage *s, const char *path, const char *variable,
                              struct file *out)
{
    struct block_device *card = mount_card(s);
    enum err e;

    if (card == NULL) {
        return ERR_NO_DEVICE;
    }
    e = fat32_find(&s->fs, path, &s->entry);
    if (e == ERR_NOT_FOUND) {
        format_text(s->problem, sizeof s->problem,
                    "the card has no %s: make it with `make card %s=MiB`, or copy a file of "
                    "zeros there",
                    path, variable);
        return e;
    }
    e = e == ERR_OK ? fat32_open_file(&s->fs, &s->entry, out) : e;
    if (e != ERR_OK) {
        return card_problem(s, card, e);
    }
    file_set_name(out, path);
    return ERR_OK;
}

enum err storage_find_kv(struct storage *s, struct file *out)
{
    enum err e = find_reserved(s, "ingot.kv", "KV", out);

    if (e == ERR_OK && !out->device->writable) {
        format_text(s->problem, sizeof s->problem, "%s takes no writes: leave kv=card away",
                    out->device->name);
        e = ERR_UNSUPPORTED;
    }
    return e;
}

enum err storage_find_save(struct storage *s, const char *name, struct file *out)
{
    char path[64];

    if (!storage_is_plain_name(name)) {
        format_text(s->problem, sizeof s->problem, "%s", storage_name_rule);
        return ERR_BAD_ARGUMENT;
    }
    format_text(path, sizeof path, "saves/%s.sav", name);
    return find_reserved(s, path, "SAVE", out);
}
