#include "runtime/storage/file.h"

#include <string.h>

#include "board/min_max.h"

enum {
    REQUEST_SECTORS = 512, /* 256 KiB, large for a card, but bytes_done still grows in small
                            * steps */
    LEAST_REQUESTS = 4,    /* the fewest requests of a read, so that data are checked while the rest
                            * arrives */
    FEW_IN_FLIGHT = 2,     /* requests in flight, the current and the next, if the device has no
                            * preference */
    PART_SECTORS = 128,    /* requests of a short read are multiples of 64 KiB */
    BACKOFF_POLLS = 1000,  /* polls before the first retry; each later retry waits this many
                            * more */
    SILENCE_STEPS = 8,     /* a gap between two polls counts as at most 1 / 8 of the limit */
    LEAST_LOOKS = 8192,    /* another core must poll this often before the device counts as silent;
                            * a full queue needs half as many polls if each poll moves one block */
    UNSEEN_LIMITS = 16,    /* after this many times the limit, the device counts as silent even if
                            * the other core never polls */
    TABLE_ALIGN = 64,
};

static uint64_t file_end(const struct file *f)
{
    return (f->bytes + SECTOR_BYTES - 1) / SECTOR_BYTES * SECTOR_BYTES;
}

/* Find *extent and *sector of file sector `at`. Beyond the end, *extent is n_extents. */
static void file_seek(const struct file *f, uint64_t at, uint32_t *extent, uint64_t *sector)
{
    uint32_t i = 0;

    while (i < f->n_extents && at >= file_extents(f)[i].n_sectors)
        at -= file_extents(f)[i++].n_sectors;
    *extent = i;
    *sector = at;
}

static struct file_slot *file_slot(struct file_read *r, uint32_t nth)
{
    return &r->slots[(r->first + nth) % FILE_READ_DEPTH];
}

static void file_fail(struct file_read *r, enum err e, uint64_t sector)
{
    if (r->failure != ERR_OK)
        return; /* the first failure determines the place in the message */
    r->failure = e;
    r->failed_sector = sector;
}

/* Return how often another core has polled the device so far. */
static uint32_t file_looks(const struct file_read *r)
{
    const struct block_device *dev = r->file->device;

    if (dev->looks == NULL)
        return 0;
    return dev->looks(dev);
}

static void file_end_silence(struct file_read *r)
{
    r->silent_ticks = 0;
    r->looks = file_looks(r);
}

/* After a request failed or could not be submitted, try again later, or give up. */
static void file_slot_retry(struct file_read *r, struct file_slot *slot, enum err e)
{
    bool passing = e == ERR_IO || e == ERR_TIMEOUT;

    if (!passing || slot->tries == FILE_READ_RETRIES) {
        slot->state = FILE_SLOT_FREE;
        file_fail(r, e, slot->request.sector);
        return;
    }
    slot->tries++;
    r->n_retries++;
    slot->backoff = (uint16_t)(BACKOFF_POLLS * slot->tries);
    slot->state = FILE_SLOT_WAITING;
}

static void file_slot_submit(struct file_read *r, struct file_slot *slot)
{
    struct block_device *dev = r->file->device;
    enum err e;

    if (slot->backoff > 0) {
        slot->backoff--;
        file_end_silence(r); /* do not count this wait as silence of the device; the number of
                              * retries limits it */
        return;
    }
    slot->request.done = false;
    e = dev->submit(dev, &slot->request);
    if (e == ERR_BUSY)
        return; /* the request still waits, because other reads fill the queue */
    slot->state = FILE_SLOT_IN_FLIGHT;
    file_end_silence(r);
    if (e != ERR_OK)
        file_slot_retry(r, slot, e);
}

static void file_slot_settle(struct file_read *r, struct file_slot *slot)
{
    if (slot->state != FILE_SLOT_IN_FLIGHT || !slot->request.done)
        return;
    file_end_silence(r);
    if (slot->request.status == ERR_OK)
        slot->state = FILE_SLOT_DONE;
    else
        file_slot_retry(r, slot, slot->request.status);
}

static void file_retire(struct file_read *r)
{
    while (r->n_slots > 0 && file_slot(r, 0)->state == FILE_SLOT_DONE) {
        r->bytes_done += (uint64_t)file_slot(r, 0)->request.n_sectors * SECTOR_BYTES;
        file_slot(r, 0)->state = FILE_SLOT_FREE;
        r->first = (r->first + 1) % FILE_READ_DEPTH;
        r->n_slots--;
    }
}

/* Return how many requests may be in flight. */
static uint32_t file_depth(const struct file_read *r)
{
    uint32_t wanted = r->file->device->wanted_requests;

    if (wanted == 0)
        return FEW_IN_FLIGHT;
    return min_u32(wanted, FILE_READ_DEPTH);
}

/* Return the size of a request: what the device prefers, but less for a short read. */
static uint32_t file_request_sectors(const struct file_read *r)
{
    const struct block_device *dev = r->file->device;
    uint64_t parts = r->bytes / SECTOR_BYTES + LEAST_REQUESTS * PART_SECTORS - 1;
    uint32_t wanted = (uint32_t)min_u64(dev->wanted_sectors,
                                        parts / (LEAST_REQUESTS * PART_SECTORS) * PART_SECTORS);

    return min_u32(dev->max_sectors, max_u32(wanted, REQUEST_SECTORS));
}

/* Make the next request, inside one extent and no larger than the device takes. */
static void file_issue_one(struct file_read *r)
{
    const struct file *f = r->file;
    const struct file_extent *x = &file_extents(f)[r->extent];
    struct file_slot *slot = file_slot(r, r->n_slots);
    uint64_t sectors = (r->bytes - r->bytes_issued) / SECTOR_BYTES;

    sectors = min_u64(sectors, x->n_sectors - r->extent_sector);
    sectors = min_u64(sectors, file_request_sectors(r));
    memset(slot, 0, sizeof *slot);
    slot->request.sector = x->sector + r->extent_sector;
    slot->request.n_sectors = (uint32_t)sectors;
    slot->request.buffer = r->buffer + r->bytes_issued;
    slot->request.write = r->write;
    slot->state = FILE_SLOT_WAITING;
    r->n_slots++;
    r->bytes_issued += sectors * SECTOR_BYTES;
    r->extent_sector += sectors;
    if (r->extent_sector == x->n_sectors) {
        r->extent++;
        r->extent_sector = 0;
    }
    file_slot_submit(r, slot);
}

static void file_issue(struct file_read *r)
{
    while (r->failure == ERR_OK && r->n_slots < file_depth(r) && r->bytes_issued < r->bytes) {
        if (r->extent >= r->file->n_extents) {
            file_fail(r, ERR_RANGE, 0); /* the extents do not cover the file */
            return;
        }
        file_issue_one(r);
        /* If a request waits for the queue or for a retry, more requests would wait, too. */
        if (file_slot(r, r->n_slots - 1)->state == FILE_SLOT_WAITING)
            return;
    }
}

/* Return true if there was no answer for too long. A caller may compute for a while between two
 * polls, so a single gap counts only up to a limit. If another core polls the device, its polls
 * must also be enough, because in an emulator that core's thread may have stood still for
 * seconds. */
static bool file_is_silent_too_long(struct file_read *r)
{
    const struct file_timeout *timeout = &r->file->timeout;
    uint64_t now, gap;

    if (timeout->platform == NULL)
        return false;
    now = platform_ticks(&timeout->platform->clock);
    gap = now - r->polled_at;
    r->polled_at = now;
    if (gap > timeout->limit_ticks / SILENCE_STEPS)
        gap = timeout->limit_ticks / SILENCE_STEPS + 1;
    r->silent_ticks += gap;
    if (r->silent_ticks <= timeout->limit_ticks)
        return false;
    return r->file->device->looks == NULL || file_looks(r) - r->looks >= LEAST_LOOKS ||
           r->silent_ticks > UNSEEN_LIMITS * timeout->limit_ticks;
}

/* Take the buffers back from a device that does not answer. After a reset the requests come back
 * as ERR_TIMEOUT and are tried again. A device that has no reset will not answer any more. */
static void file_time_out(struct file_read *r)
{
    struct block_device *dev = r->file->device;

    file_end_silence(r);
    r->n_timeouts++;
    if (dev->reset != NULL)
        (void)dev->reset(dev); /* a device that stays dead fails the next submit */
    if (dev->reset != NULL && r->n_timeouts <= FILE_READ_RETRIES)
        return;
    file_fail(r, ERR_TIMEOUT, file_slot(r, 0)->request.sector);
    r->n_slots = 0;
}

/* Return true if no request is in flight. Until then the device may write to buffers. */
static bool file_is_drained(struct file_read *r)
{
    for (uint32_t i = 0; i < r->n_slots; i++) {
        if (file_slot(r, i)->state == FILE_SLOT_IN_FLIGHT)
            return false;
    }
    return true;
}

static void file_show_activity(const struct file *f, bool active)
{
    if (f->timeout.platform != NULL)
        platform_show_activity(&f->timeout.platform->pins, active);
}

static void file_feed_watchdog(const struct file *f)
{
    if (f->timeout.platform != NULL)
        platform_alive(&f->timeout.platform->power);
}

static void file_conclude(struct file_read *r)
{
    uint64_t end = r->offset + r->bytes;

    if (r->failure != ERR_OK) {
        if (file_is_drained(r))
            r->status = r->failure;
        return;
    }
    if (r->bytes_done < r->bytes)
        return;
    if (end > r->file->bytes && !r->write)
        memset(r->buffer + r->bytes - (end - r->file->bytes), 0, (size_t)(end - r->file->bytes));
    r->status = ERR_OK;
}

enum err file_read_poll(struct file_read *r)
{
    struct block_device *dev = r->file->device;

    if (r->status != ERR_BUSY)
        return r->status;
    file_feed_watchdog(r->file);
    (void)dev->poll(dev); /* a dead device has marked its requests done */
    for (uint32_t i = 0; i < r->n_slots; i++) {
        struct file_slot *slot = file_slot(r, i);
        file_slot_settle(r, slot);
        if (slot->state == FILE_SLOT_WAITING && r->failure == ERR_OK)
            file_slot_submit(r, slot);
    }
    for (uint32_t i = 0; i < r->n_slots; i++) /* a device may complete a request inside submit */
        file_slot_settle(r, file_slot(r, i));
    file_retire(r);
    file_issue(r);
    if (r->n_slots > 0 && file_is_silent_too_long(r))
        file_time_out(r);
    file_conclude(r);
    if (r->status != ERR_BUSY)
        file_show_activity(r->file, false);
    return r->status;
}

uint64_t file_read_awaited(const struct file_read *r)
{
    const struct file_slot *slot = &r->slots[r->first];

    if (r->n_slots == 0 || slot->state != FILE_SLOT_IN_FLIGHT)
        return 0;
    return (uint64_t)slot->request.n_sectors * SECTOR_BYTES;
}

void file_read_stop(struct file_read *r)
{
    if (r->status == ERR_BUSY)
        file_fail(r, ERR_ABORTED, 0);
}

static enum err file_start(struct file_read *r, const struct file *f, uint64_t offset, void *buffer,
                           size_t bytes, bool write)
{
    uint64_t end = file_end(f);

    memset(r, 0, sizeof *r);
    r->write = write;
    r->file = f;
    r->status = ERR_RANGE; /* if the start fails, polls return its error, too */
    if (offset % SECTOR_BYTES != 0 || bytes % SECTOR_BYTES != 0)
        return ERR_RANGE;
    if (offset > end || bytes > end - offset)
        return ERR_RANGE;
    r->buffer = buffer;
    r->offset = offset;
    r->bytes = bytes;
    r->failure = ERR_OK;
    r->status = bytes > 0 ? ERR_BUSY : ERR_OK;
    if (bytes > 0)
        file_show_activity(f, true);
    if (f->timeout.platform != NULL)
        r->polled_at = platform_ticks(&f->timeout.platform->clock);
    file_seek(f, offset / SECTOR_BYTES, &r->extent, &r->extent_sector);
    file_issue(r);
    return ERR_OK;
}

enum err file_read_start(struct file_read *r, const struct file *f, uint64_t offset, void *buffer,
                         size_t bytes)
{
    return file_start(r, f, offset, buffer, bytes, false);
}

enum err file_write_start(struct file_read *r, const struct file *f, uint64_t offset,
                          const void *buffer, size_t bytes)
{
    if (!f->device->writable)
        return ERR_UNSUPPORTED;
    return file_start(r, f, offset, (void *)(uintptr_t)buffer, bytes, true); /* a write only reads
                                                                              * this buffer */
}

static enum err file_wait(struct file_read *r)
{
    enum err e;

    do
        e = file_read_poll(r);
    while (e == ERR_BUSY);
    return e;
}

enum err file_write_now(struct file_read *r, const struct file *f, uint64_t offset,
                        const void *buffer, size_t bytes)
{
    enum err e = file_write_start(r, f, offset, buffer, bytes);

    if (e != ERR_OK)
        return e;
    return file_wait(r);
}

enum err file_read_now(struct file_read *r, const struct file *f, uint64_t offset, void *buffer,
                       size_t bytes)
{
    enum err e = file_read_start(r, f, offset, buffer, bytes);

    if (e != ERR_OK)
        return e;
    return file_wait(r);
}

const uint8_t *file_memory(const struct file *f, uint64_t offset, uint64_t bytes)
{
    const struct file_extent *x;
    uint32_t extent;
    uint64_t sector, left;

    if (f->device->memory == NULL || offset > f->bytes || bytes > f->bytes - offset)
        return NULL;
    file_seek(f, offset / SECTOR_BYTES, &extent, &sector);
    if (extent == f->n_extents)
        return NULL;
    x = &file_extents(f)[extent];
    left = (x->n_sectors - sector) * SECTOR_BYTES - offset % SECTOR_BYTES;
    if (bytes > left)
        return NULL;
    return f->device->memory + (x->sector + sector) * SECTOR_BYTES + offset % SECTOR_BYTES;
}

enum err file_table_take(struct file_table *table, struct memory_range *memory, uint32_t most)
{
    size_t skip = (size_t)(-(uintptr_t)memory->base % TABLE_ALIGN);
    size_t bytes = most * sizeof(struct file_extent);

    if (memory->bytes < skip || memory->bytes - skip < bytes)
        return ERR_NO_SPACE;
    table->extents = (void *)(memory->base + skip);
    table->most = most;
    memory->base += skip + bytes;
    memory->bytes -= skip + bytes;
    return ERR_OK;
}

void file_set_name(struct file *f, const char *name)
{
    size_t bytes = strlen(name);

    if (bytes >= sizeof f->name) {
        bytes = sizeof f->name - 1;
        while (bytes > 0 && ((unsigned char)name[bytes] & 0xc0) == 0x80)
            bytes--; /* go back to the start of a UTF-8 character */
    }
    memcpy(f->name, name, bytes);
    f->name[bytes] = '\0';
}

enum err file_open_device(struct file *f, struct block_device *device, uint64_t bytes,
                          const struct file_timeout *timeout)
{
    memset(f, 0, sizeof *f);
    if (device->n_sectors == 0)
        return ERR_NO_DEVICE;
    if (device->n_sectors > UINT64_MAX / SECTOR_BYTES || bytes > device->n_sectors * SECTOR_BYTES)
        return ERR_RANGE;
    f->device = device;
    f->bytes = bytes > 0 ? bytes : device->n_sectors * SECTOR_BYTES;
    if (timeout != NULL)
        f->timeout = *timeout;
    file_set_name(f, device->name);
    f->n_extents = 1;
    f->few[0].n_sectors = file_end(f) / SECTOR_BYTES;
    return ERR_OK;
}

uint64_t file_sector(const struct file *f, uint64_t offset)
{
    const struct file_extent *e = file_extents(f);
    uint64_t sector = offset / SECTOR_BYTES;

    while (sector >= e->n_sectors && e < file_extents(f) + f->n_extents - 1) {
        sector -= e->n_sectors;
        e++;
    }
    return e->sector + sector;
}
