/* A block device over memory whose order, failures and silence a test chooses. */
#ifndef INGOT_TESTS_UNIT_FAKE_BLOCK_H
#define INGOT_TESTS_UNIT_FAKE_BLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "board/block_device.h"

enum { FAKE_MOST = 64, FAKE_DEPTH = 8, FAKE_WANTED = 4, NO_SECTOR = -1 };

struct fake_block {
    struct block_device dev;
    const uint8_t *data;
    uint8_t *written; /* memory where writes go; with it the device is writable */
    void (*make)(uint64_t sector, uint8_t *out); /* makes contents by rule, instead of data */
    struct block_request *pending[FAKE_MOST];
    unsigned n_pending;
    unsigned most_pending;
    unsigned n_submits;
    unsigned n_reads;
    unsigned n_resets;
    bool newest_first;    /* complete out of order */
    unsigned busy_every;  /* every n-th submit answers ERR_BUSY */
    long fail_sector;     /* requests that hold it fail ... */
    unsigned fail_times;  /* ... so often ... */
    enum err fail_status; /* ... with this */
    long sectors_left;    /* sectors written before the power fails; negative: it stays */
    long reads_left;      /* sectors read before every read fails; negative: all are */
    long silent_after;    /* sectors read before it falls silent; negative: it does not */
    long lost_write;      /* this sector is silently not written ... */
    long wrong_write;     /* ... this one is written with a flipped bit ... */
    long lost_read;       /* ... and of this one nothing arrives in the buffer */
    bool silent;          /* requests never complete; reset ends that if it may */
    bool reset_helps;
};

static inline bool fake_fails(struct fake_block *f, const struct block_request *r)
{
    uint64_t sector = (uint64_t)f->fail_sector; /* NO_SECTOR is beyond every device */

    if (f->fail_times == 0 || sector < r->sector || sector >= r->sector + r->n_sectors)
        return false;
    f->fail_times--;
    return true;
}

/* Moves one sector of a request, at its place in the buffer. */
static inline enum err fake_sector(struct fake_block *f, bool write, uint64_t sector,
                                   uint8_t *buffer)
{
    uint8_t *place = f->written + sector * SECTOR_BYTES;

    if (write) {
        if (f->sectors_left == 0)
            return ERR_IO;
        f->sectors_left -= f->sectors_left > 0;
        if ((long)sector != f->lost_write)
            memcpy(place, buffer, SECTOR_BYTES);
        if ((long)sector == f->wrong_write)
            place[33] ^= 8;
        return ERR_OK;
    }
    if (f->reads_left == 0)
        return ERR_IO;
    f->reads_left -= f->reads_left > 0;
    f->silent_after -= f->silent_after > 0;
    if (f->make != NULL)
        f->make(sector, buffer);
    else if ((long)sector != f->lost_read)
        memcpy(buffer, f->data + sector * SECTOR_BYTES, SECTOR_BYTES);
    return ERR_OK;
}

static inline enum err fake_submit(struct block_device *dev, struct block_request *r)
{
    struct fake_block *f = dev->driver;

    f->n_submits++;
    if (r->write && !dev->writable)
        return ERR_UNSUPPORTED;
    if (r->n_sectors == 0 || r->n_sectors > dev->max_sectors || r->sector > dev->n_sectors ||
        r->n_sectors > dev->n_sectors - r->sector)
        return ERR_RANGE;
    if (f->n_pending == dev->queue_depth)
        return ERR_BUSY;
    if (f->busy_every != 0 && f->n_submits % f->busy_every == 0)
        return ERR_BUSY;
    r->done = false;
    f->pending[f->n_pending++] = r;
    if (f->n_pending > f->most_pending)
        f->most_pending = f->n_pending;
    return ERR_OK;
}

/* Ends one request a poll, so that a test sees reads in progress. */
static inline enum err fake_poll(struct block_device *dev)
{
    struct fake_block *f = dev->driver;
    unsigned at = f->newest_first ? f->n_pending - 1 : 0;
    struct block_request *r;

    f->silent = f->silent || f->silent_after == 0;
    if (f->n_pending == 0 || f->silent)
        return ERR_OK;
    r = f->pending[at];
    memmove(f->pending + at, f->pending + at + 1, (f->n_pending - at - 1) * sizeof f->pending[0]);
    f->n_pending--;
    f->n_reads++;
    r->status = fake_fails(f, r) ? f->fail_status : ERR_OK;
    for (uint32_t i = 0; r->status == ERR_OK && i < r->n_sectors; i++)
        r->status = fake_sector(f, r->write, r->sector + i,
                                (uint8_t *)r->buffer + (size_t)i * SECTOR_BYTES);
    r->done = true;
    return ERR_OK;
}

static inline enum err fake_reset(struct block_device *dev)
{
    struct fake_block *f = dev->driver;

    f->n_resets++;
    for (unsigned i = 0; i < f->n_pending; i++) {
        f->pending[i]->status = ERR_TIMEOUT;
        f->pending[i]->done = true;
    }
    f->n_pending = 0;
    if (f->reset_helps)
        f->silent = false;
    return f->reset_helps ? ERR_OK : ERR_TIMEOUT;
}

static inline void fake_init(struct fake_block *f, const uint8_t *data, uint64_t n_sectors)
{
    memset(f, 0, sizeof *f);
    f->data = data;
    f->fail_sector = NO_SECTOR;
    f->sectors_left = -1;
    f->reads_left = -1;
    f->silent_after = -1;
    f->lost_write = NO_SECTOR;
    f->wrong_write = NO_SECTOR;
    f->lost_read = NO_SECTOR;
    f->fail_status = ERR_IO;
    f->dev.name = "a fake device";
    f->dev.n_sectors = n_sectors;
    f->dev.max_sectors = 64;
    f->dev.queue_depth = FAKE_DEPTH;
    f->dev.wanted_requests = FAKE_WANTED;
    f->dev.submit = fake_submit;
    f->dev.poll = fake_poll;
    f->dev.reset = fake_reset;
    f->dev.driver = f;
}

#endif
