#include "runtime/storage/storage_private.h"

#include <string.h>

#include "board/memory_device.h"
#include "board/min_max.h"
#include "flash_image/format/signature.h"
#include "runtime/text/format_text.h"

enum {
    TIMEOUT_SECONDS = 5, /* the longest silence; a healthy card answers within 0.25 s */
};

/* ---- places ---------------------------------------------------------------------------------- */

static const struct place {
    const char *word; /* prefix before a name */
    const char *what;
    unsigned rank; /* the order in which models are looked for */
} places[] = {
    [BLOCK_NVME] = { "nvme:", "NVMe drive", 1 },
    [BLOCK_USB] = { "usb:", "USB drive", 2 },
    [BLOCK_CARD] = { "card:", "card", 3 },
};

enum { RANK_STARTED = 0, RANK_FLASH = 4 };

const char *storage_place(enum block_kind kind)
{
    return places[kind].word;
}

/* Return the place whose prefix a name has, or NULL. */
static const struct place *place_of(const char *name)
{
    for (unsigned i = 0; i < sizeof places / sizeof places[0]; i++) {
        if (strncmp(name, places[i].word, strlen(places[i].word)) == 0) {
            return &places[i];
        }
    }
    return NULL;
}

unsigned storage_rank(const struct block_device *d)
{
    if (storage_is_raw(d)) {
        return RANK_FLASH;
    }
    if (d->started) {
        return RANK_STARTED;
    }
    return places[d->kind].rank;
}

void storage_open(struct storage *s, const struct storage_setup *setup)
{
    const struct memory_range *initrd = &setup->platform->memory.initrd;

    char size[FORMAT_NUMBER_BYTES];

    memset(s, 0, sizeof *s);
    s->setup = *setup;
    /* A model that came with the image is used in place. */
    if (initrd->bytes >= SECTOR_BYTES) {
        memory_device_open(&s->initrd, "initrd", initrd->base, initrd->bytes);
        storage_say(s, "storage: initrd, %s, used in place",
                    format_bytes(size, initrd->bytes / SECTOR_BYTES * SECTOR_BYTES));
    }
    storage_open_devices(s);
}

/* ---- models --------------------------------------------------------------------------------- */

struct file_timeout storage_timeout(const struct storage *s)
{
    const struct platform *platform = s->setup.platform;
    struct file_timeout t = { platform, TIMEOUT_SECONDS * platform->clock.hz };

    return t;
}

bool storage_is_raw(const struct block_device *d)
{
    return d->memory != NULL || d->flash;
}

/* Return the device's first sector, in s->sector unless the device is addressable. Return NULL if
 * the sector cannot be read. */
static const uint8_t *first_sector(struct storage *s, struct block_device *d)
{
    struct file_timeout t = storage_timeout(s);
    struct file_read read;
    struct file file;

    if (d->memory != NULL) {
        return d->memory;
    }
    if (file_open_device(&file, d, SECTOR_BYTES, &t) != ERR_OK ||
        file_read_now(&read, &file, 0, s->sector, SECTOR_BYTES) != ERR_OK) {
        return NULL;
    }
    return s->sector;
}

/* Return the header of a raw .ingot whose first sector can be read, or NULL. */
static const struct ingot_header *raw_header(struct storage *s, struct block_device *d)
{
    const uint8_t *sector = NULL;

    if (storage_is_raw(d)) {
        sector = first_sector(s, d);
    }
    if (sector == NULL || d->n_sectors * SECTOR_BYTES < sizeof(struct ingot_header) ||
        memcmp(sector, INGOT_MAGIC, sizeof INGOT_MAGIC - 1) != 0) {
        return NULL;
    }
    return (const void *)sector;
}

/* Open a raw .ingot. A raw .ingot begins with its magic, and its header gives its length; a
 * signature may follow. */
static enum err open_raw(struct storage *s, struct block_device *device, struct file *out)
{
    const struct ingot_header *h = raw_header(s, device);
    struct file_timeout t = storage_timeout(s);
    uint64_t room = device->n_sectors * SECTOR_BYTES, bytes;

    if (h == NULL && device->reason != NULL) {
        return storage_fail(s, ERR_IO, "%s: %s", device->name, device->reason);
    }
    if (h == NULL) {
        return storage_fail(s, ERR_BAD_MAGIC,
                            "%s holds no .ingot file: write one to its first byte", device->name);
    }
    /* The header is not checked yet, so take no more than the device has. */
    bytes = min_u64(h->file_bytes, room);
    bytes += min_u64(room - bytes, signature_block_bytes(SIGNATURE_MOST_PARTS));
    return file_open_device(out, device, bytes, &t);
}

void storage_know_open(struct storage *s, const struct file *const *files, unsigned n)
{
    s->open = files;
    s->n_open = n;
}

static bool overlap(const struct file *a, const struct file *b)
{
    for (uint32_t i = 0; i < a->n_extents; i++) {
        const struct file_extent *x = &file_extents(a)[i];

        for (uint32_t j = 0; j < b->n_extents; j++) {
            const struct file_extent *y = &file_extents(b)[j];

            if (x->sector < y->sector + y->n_sectors && y->sector < x->sector + x->n_sectors) {
                return true;
            }
        }
    }
    return false;
}

enum err storage_check_apart(struct storage *s, const struct file *f)
{
    for (unsigned i = 0; i < s->n_open; i++) {
        const struct file *other = s->open[i];

        /* If two open files share clusters, writing one would damage the other. */
        if (other != f && other->device == f->device && overlap(f, other)) {
            return storage_fail(
                s, ERR_BAD_FILESYSTEM,
                "%.80s and %.80s, which is in use, have the same clusters, so that nothing is written: load "
                "it anew, or repair the card on a computer with fsck.vfat -a",
                f->name, other->name);
        }
    }
    return ERR_OK;
}

/* Open a model on the mounted card; "" means the first model. */
static enum err open_mounted(struct storage *s, const char *name, const struct file_table *table,
                             struct file *out)
{
    enum err e;

    if (name[0] == '\0') {
        return storage_find_first(s, table, out);
    }
    e = fat32_find_model(&s->fs, name, &s->entry);
    return e == ERR_OK ? fat32_open_file(&s->fs, &s->entry, table, out) : e;
}

static enum err open_on_card(struct storage *s, struct block_device *device, const char *name,
                             const struct file_table *table, struct file *out)
{
    struct file_timeout t = storage_timeout(s);
    enum err e = fat32_mount(&s->fs, device, &t);

    if (e == ERR_OK) {
        e = open_mounted(s, name, table, out);
    }
    /* If the file does not exist, the message explains which file was wanted. */
    if (e == ERR_NOT_FOUND && name[0] != '\0') {
        return storage_fail(s, e, "the %s has no model %.100s; /models lists what it has",
                            places[device->kind].what, name);
    }
    if (e == ERR_NOT_FOUND) {
        return storage_fail(
            s, e,
            "the %s has no model: make an .ingot file with `ingot pack` and copy it into the folder models/",
            places[device->kind].what);
    }
    if (e == ERR_OK || e == ERR_BAD_MAGIC) { /* the message about the file is set already */
        return e;
    }
    return storage_card_error_message(s, device, e);
}

/* Return true if a device may have the model. An empty slot cannot have it, and erased flash counts
 * only if the name is "flash". */
static bool is_candidate(struct storage *s, struct block_device *d, const char *name)
{
    if (d->error_message != NULL) {
        return false;
    }
    if (!storage_is_raw(d)) {
        return strcmp(name, "flash") != 0 && strcmp(name, "initrd") != 0;
    }
    return strcmp(name, "flash") == 0 || (name[0] == '\0' && raw_header(s, d) != NULL);
}

static enum err open_model(struct storage *s, struct block_device *d, const char *name,
                           const struct file_table *table, struct file *out)
{
    if (storage_is_raw(d)) {
        return open_raw(s, d, out);
    }
    return open_on_card(s, d, name, table, out);
}

/* Set the message if no device is a candidate. If the place has a device that cannot be used, the
 * message says why. */
static enum err no_device(struct storage *s, const struct place *place, const char *name)
{
    for (unsigned i = 0; place != NULL && i < s->n_devices; i++) {
        const struct block_device *d = s->devices[i];

        if (d->error_message != NULL && &places[d->kind] == place) {
            return storage_fail(s, ERR_NO_DEVICE, "%s: %s", d->name, d->error_message);
        }
    }
    if (place != NULL) {
        return storage_fail(s, ERR_NO_DEVICE, "there is no %s: attach one, or leave out %s",
                            place->what, place->word);
    }
    return storage_fail(
        s, ERR_NO_DEVICE,
        "no %s found: attach a card made with `make card`, or write an .ingot file to "
        "flash",
        name[0] != '\0' ? name : "card, flash or initrd");
}

/* Put the place before the file's name, so that messages and /model show it. */
static void name_place(const struct place *place, struct file *f)
{
    char name[FILE_NAME_BYTES + sizeof "nvme:"];

    format_text(name, sizeof name, "%s%s", place->word, f->name);
    file_set_name(f, name);
}

/* Open a file of a server on the network, which is a device that holds one .ingot, like flash. */
static enum err open_fetched(struct storage *s, const char *address, struct file *out)
{
    const struct platform_storage *p = &s->setup.platform->storage;
    const char *why = "it needs net=, and an image with a network: make image NETWORK=yes";
    struct block_device *d = NULL;

    if (p->fetch != NULL) {
        d = p->fetch(p->context, address, s->open, s->n_open, &why);
    }
    if (d == NULL) {
        return storage_fail(s, ERR_NO_DEVICE, "%.100s: %s", address, why);
    }
    return open_raw(s, d, out);
}

/* Find the model on all devices in order, or on the devices of one place. */
static enum err find_on_devices(struct storage *s, const struct place *place, const char *name,
                                const struct file_table *table, struct file *out)
{
    enum err e = ERR_NO_DEVICE;

    for (unsigned i = 0; i < s->n_devices && e != ERR_OK; i++) {
        struct block_device *d = s->devices[i];
        /* Try the devices of the named place, or else all that may have it. */
        bool there = place != NULL && d->error_message == NULL && !storage_is_raw(d) &&
                     &places[d->kind] == place;

        if (!there && (place != NULL || !is_candidate(s, d, name))) {
            continue;
        }
        if (e != ERR_NO_DEVICE) {
            storage_say(s, "%s",
                        s->error_message); /* log the previous device's error and go on, because the
                                            * next device may have the model */
        }
        e = open_model(s, d, name, table, out);
    }
    if (e == ERR_NO_DEVICE) {
        return no_device(s, place, name);
    }
    return e;
}

enum err storage_find_model(struct storage *s, const char *name, const struct file_table *table,
                            struct file *out)
{
    const struct place *place = place_of(name);
    enum err e;

    /* The initrd comes first, because it was passed on purpose. */
    if (s->initrd.memory != NULL && (name[0] == '\0' || strcmp(name, "initrd") == 0)) {
        return open_raw(s, &s->initrd, out);
    }
    if (strncmp(name, "http://", 7) == 0 || strncmp(name, "https://", 8) == 0) {
        return open_fetched(s, name, out);
    }
    if (place != NULL) {
        name += strlen(place->word);
    }
    e = find_on_devices(s, place, name, table, out);
    if (e == ERR_OK && place != NULL) {
        name_place(place, out);
    }
    return e;
}

enum err storage_check_model(struct storage *s, const char *name)
{
    struct file found; /* ERR_TOO_FRAGMENTED is fine, because the extents are not needed */
    enum err e = storage_find_model(s, name, NULL, &found);

    /* The model exists, and loading provides a table for its extents. */
    if (e == ERR_TOO_FRAGMENTED) {
        return ERR_OK;
    }
    return e;
}

bool storage_is_initrd(const struct storage *s, const struct file *f)
{
    return f->device == &s->initrd;
}
