/* Keeps the platform's devices, at the start and later: orders them, logs them, and puts bounces
 * and io_cores in front of them. */
#include "runtime/storage/storage_private.h"

#include <string.h>

#include "runtime/text/format_text.h"

static void log_device(struct storage *s, const struct block_device *d)
{
    char size[FORMAT_NUMBER_BYTES];

    if (d->error_message != NULL) {
        storage_say(s, "storage: %s: %s", d->name, d->error_message);
        return;
    }
    format_bytes(size, d->n_sectors * SECTOR_BYTES);
    if (d->mode != NULL)
        storage_say(s, "storage: %s, %s, %s, %u bit%s at %u MHz", d->name, size, d->mode,
                    d->bus_bits, d->bus_bits == 1 ? "" : "s", (unsigned)(d->bus_hz / 1000000));
    else
        storage_say(s, "storage: %s, %s%s", d->name, size,
                    d->memory != NULL ? ", used in place" : "");
}

/* ---- memory that DMA does not reach --------- ----------------------------------------------- */

/* Take memory that DMA reaches, from RAM outside the arena. If there is none, take it from the
 * memory of models, but only during the start. */
static uint8_t *take_in_reach(struct storage *s, uint64_t end)
{
    uint8_t *taken = NULL;

    for (unsigned i = 0; i < BOARD_MAX_RAM - 1 && taken == NULL; i++) {
        taken = bounce_take_memory(&s->spare[i], end);
    }
    if (taken == NULL && !s->is_open) {
        taken = bounce_take_memory(s->setup.memory, end);
    }
    return taken;
}

/* Return true if models may be in memory that the device's DMA does not reach. */
static bool needs_bounce(const struct storage *s, const struct block_device *d)
{
    const struct memory_range *m = s->setup.memory;

    return d->error_message == NULL && d->memory == NULL && d->dma_end != 0 && m != NULL &&
           (uintptr_t)m->base + m->bytes > d->dma_end;
}

/* Put a bounce in front of d if d needs one, and return the device that other code shall use. The
 * slot keeps the bounce's memory. */
static struct block_device *open_bounce(struct storage *s, struct bounce *b, struct block_device *d)
{
    uint8_t *memory = b->memory;

    if (!needs_bounce(s, d)) {
        return d;
    }
    if (memory == NULL) {
        memory = take_in_reach(s, d->dma_end);
    }
    if (memory == NULL) {
        storage_say(s,
                    "storage: its DMA ends at 0x%llx, and no memory below is free: data beyond "
                    "that address goes without DMA",
                    (unsigned long long)d->dma_end);
        return d;
    }
    bounce_open(b, d, memory);
    storage_say(
        s,
        "storage: its DMA ends at 0x%llx: what lies beyond goes through %u x %u KiB at 0x%llx, each byte "
        "copied once",
        (unsigned long long)d->dma_end, BOUNCE_HALVES, BOUNCE_HALF_BYTES / 1024,
        (unsigned long long)(uintptr_t)memory);
    return &b->device;
}

struct bounce *storage_bounce(struct block_device *device)
{
    struct io_core *c = io_core_of(device);

    if (c != NULL) {
        return bounce_of(c->inner);
    }
    return bounce_of(device);
}

/* ---- at the start ---------------------------------------------------------------------------- */

/* Return true if a core moves the device's data. Drives have their own DMA, and only core 0 may
 * poll a USB drive, because core 0 reads the keyboard from the same controller. */
static bool needs_cpu(const struct storage_setup *setup, const struct block_device *d)
{
    const struct platform_storage *storage = &setup->platform->storage;

    return storage->needs_cpu && (storage->use_pio == NULL || setup->pio) &&
           d->kind == BLOCK_CARD && d->memory == NULL;
}

/* Put the fronts that device number i needs (a bounce, an io_core) in front of the driver's
 * device. */
static void put_fronts(struct storage *s, unsigned i)
{
    struct block_device *d = open_bounce(s, &s->bounces[i], s->found[i]);

    s->fronted[i] = d;
    if (needs_cpu(&s->setup, d) && d->error_message == NULL) {
        io_core_open(&s->fronts[i], d, &s->setup.platform->cores, s->setup.trace);
        s->fronted[i] = &s->fronts[i].device;
    }
}

/* Sort the devices. Devices of equal rank keep the order in which the board found them. */
static void put_in_order(struct storage *s)
{
    for (unsigned i = 0; i < s->n_devices; i++) {
        unsigned at = i;

        for (; at > 0 && storage_rank(s->devices[at - 1]) > storage_rank(s->fronted[i]); at--) {
            s->devices[at] = s->devices[at - 1];
        }
        s->devices[at] = s->fronted[i];
    }
}

void storage_open_devices(struct storage *s)
{
    const struct platform *platform = s->setup.platform;

    if (platform->storage.find == NULL) {
        return;
    }
    memcpy(s->spare, platform->memory.spare, sizeof s->spare);
    s->n_devices = platform->storage.find(platform->storage.context, s->found);
    memcpy(s->fronted, s->found, sizeof s->fronted);
    put_in_order(s);
    memcpy(s->found, s->devices, sizeof s->found);
    for (unsigned i = 0; i < s->n_devices; i++) {
        log_device(s, s->found[i]);
        put_fronts(s, i);
    }
    put_in_order(s);
    s->is_open = true;
}

/* ---- later ----------------------------------------------------------------------------------- */

/* Tell the driver which devices are in use, so that it does not reuse their slots. */
static void mark_used(struct storage *s, const struct file *const *files, unsigned n)
{
    for (unsigned i = 0; i < s->n_devices; i++) {
        s->found[i]->in_use = false;
        for (unsigned f = 0; f < n; f++) {
            s->found[i]->in_use |= files[f]->device == s->fronted[i];
        }
    }
}

/* Return the index of a known device, or n_devices for an unknown one. */
static unsigned number_of(const struct storage *s, const struct block_device *d)
{
    unsigned i = 0;

    while (i < s->n_devices && s->found[i] != d) {
        i++;
    }
    return i;
}

static void say_model(void *context, const char *name, uint64_t bytes)
{
    char size[FORMAT_NUMBER_BYTES];

    storage_say(context, "  %.80s, %s", name, format_bytes(size, bytes));
}

/* Take a device that is new or has changed contents. */
static void take_device(struct storage *s, struct block_device *d)
{
    unsigned i = number_of(s, d);
    bool is_new = i == s->n_devices;

    if (is_new && (i == BOARD_MAX_BLOCK || d->n_sectors == 0)) {
        return; /* only log the device, because it cannot be used */
    }
    s->found[i] = d;
    s->n_devices += is_new;
    if (d->in_use || d->error_message != NULL) {
        s->fronted[i] = is_new ? d : s->fronted[i];
        s->fronted[i]->error_message = d->error_message; /* keep the front, because it may have
                                                          * requests in flight */
    } else {
        put_fronts(s, i);
    }
    put_in_order(s);
}

bool storage_look(struct storage *s, const struct file *const *files, unsigned n)
{
    const struct platform_storage *p = &s->setup.platform->storage;
    struct block_device *d;

    if (p->look == NULL) {
        return false;
    }
    mark_used(s, files, n);
    d = p->look(p->context);
    if (d == NULL) {
        return false;
    }
    log_device(s, d);
    take_device(s, d);
    if (d->error_message == NULL && storage_list_device(s, d, say_model, s) != ERR_OK) {
        storage_say(s, "%s", s->error_message);
    }
    return true;
}
