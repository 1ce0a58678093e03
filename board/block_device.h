/* An asynchronous block device: submit, then poll until the request is done.
 * The caller owns the request and its buffer until `done` is set. */
#ifndef INGOT_BOARD_BLOCK_DEVICE_H
#define INGOT_BOARD_BLOCK_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"

/* Sizes of requests and files are counted in these sectors, on every device. If a device's own
 * blocks are larger (block_bytes), its driver serves requests that cover parts of them. */
enum { SECTOR_BYTES = 512 };

struct block_request {
    uint64_t sector;    /* first sector */
    uint32_t n_sectors; /* 1 .. device max_sectors */
    void *buffer;       /* n_sectors * 512 bytes, 16-byte aligned; the device accesses it by DMA */
    bool write;         /* write the buffer to the device, which must be `writable`; false: read */
    enum err status;    /* valid once done: ERR_OK, ERR_IO, ERR_TIMEOUT, ERR_RANGE */
    bool done;          /* set by poll, or by submit if the transfer completes at once */
    uint16_t slot;      /* the driver's own */
};

struct facts;

/* The kind of a device; for flash see the fields `flash` and `memory`. */
enum block_kind { BLOCK_CARD, BLOCK_NVME, BLOCK_USB };

struct block_device {
    const char *name; /* name for messages, such as "virtio-blk at 0xa003e00" */
    /* Why nothing can be read ("there is no card in the slot"), or NULL. If this is set, the fields
     * below are zero, unless the drive was unplugged. */
    const char *error_message;
    const char
        *reason; /* why the last request failed, as the layer below says; NULL: see err_text() */
    /* Set by the owner of open files on the device; while it is set, the device's USB slot takes no
     * other device (usb.h). */
    bool in_use;
    enum block_kind kind;
    uint64_t n_sectors;
    uint64_t dma_end;      /* DMA reaches only CPU addresses below this one. If a buffer is beyond,
                              a core moves the data, or the request fails with ERR_RANGE. 0: no
                              limit */
    uint32_t block_bytes;  /* the device's own sector size, in which partition tables count: a power
                              of two; 0: 512 */
    uint32_t max_sectors;  /* the largest request */
    uint32_t queue_depth;  /* most requests in flight */
    const char *mode;      /* mode of a card's bus, "SDR104" for example; NULL: none */
    unsigned bus_bits;     /* data lines of the bus */
    uint32_t bus_hz;       /* clock of the bus */
    bool writable;         /* it can be written; once `done`, a write survives a power cut */
    bool started;          /* the firmware started Ingot from it, so it is searched first */
    bool flash;            /* it contains one .ingot from its first byte on, and no file system */
    const uint8_t *memory; /* the address where the whole device can be read as memory; NULL: it
                              cannot */

    /* Start a transfer. ERR_UNSUPPORTED: the device cannot be written. ERR_BUSY: queue full, poll
     * first. ERR_RANGE: beyond the device. ERR_IO, ERR_TIMEOUT: the device is dead. Otherwise it
     * returns ERR_OK, and poll sets `done` later. */
    enum err (*submit)(struct block_device *dev, struct block_request *req);

    /* Mark each finished request `done`; never blocks. Returns ERR_TIMEOUT or ERR_IO if the device
     * itself is dead. */
    enum err (*poll)(struct block_device *dev);

    /* Sleep until a finished request waits for poll, but at most this many microseconds;
     * return at once if none is in flight. The member is NULL if nothing would end the sleep. */
    void (*wait)(struct block_device *dev, uint32_t micros);

    /* Stop every transfer and reset the device: each request in flight is marked `done` with
     * ERR_TIMEOUT, and its buffer is the caller's again. Returns ERR_TIMEOUT if the device stays
     * dead. The member is NULL if transfers cannot be stopped. */
    enum err (*reset)(struct block_device *dev);

    /* The number of polls so far, modulo 2^32, if another core polls the device
     * (runtime/storage/io_core.h); the caller measures time-outs in these polls. Any core may call
     * this. If the member is NULL, the caller counts its own polls. */
    uint32_t (*looks)(const struct block_device *dev);

    /* Report facts about the device and its controller. Pass facts_of as `of`, even if another
     * device wraps this one. May be NULL. */
    void (*facts)(const void *of, const struct facts *f);
    const void *facts_of;

    /* The preferred size of a request in sectors, if small requests are slow; 0 if any size is
     * good. */
    uint32_t wanted_sectors;

    /* The number of requests that a read keeps in flight. 0 if the device begins a request only
     * when polled: then two suffice, the current and the next. */
    uint32_t wanted_requests;

    void *driver; /* the driver's own state */
};

/* The error message for a failed request. */
static inline const char *block_device_reason(const struct block_device *dev, enum err e)
{
    return (e == ERR_IO || e == ERR_TIMEOUT) && dev->reason != NULL ? dev->reason : err_text(e);
}

/* The part of a queue that one read may take; the last quarter is left for other reads. */
static inline uint32_t block_device_wanted(uint32_t queue_depth)
{
    return queue_depth - queue_depth / 4;
}

/* The number of sectors in one of the device's own blocks. */
static inline uint32_t block_device_block_sectors(const struct block_device *dev)
{
    return dev->block_bytes > SECTOR_BYTES ? dev->block_bytes / SECTOR_BYTES : 1;
}

/* True if submit takes the request: it is not empty, not too large, and within the device. */
static inline bool block_request_fits(const struct block_device *dev,
                                      const struct block_request *req)
{
    return req->n_sectors != 0 && req->n_sectors <= dev->max_sectors &&
           req->sector < dev->n_sectors && req->n_sectors <= dev->n_sectors - req->sector;
}

/* True if the device's DMA reaches the whole buffer. */
static inline bool block_request_in_reach(const struct block_device *dev,
                                          const struct block_request *req)
{
    uint64_t start = (uintptr_t)req->buffer, bytes = (uint64_t)req->n_sectors * SECTOR_BYTES;

    return dev->dma_end == 0 || (start < dev->dma_end && bytes <= dev->dma_end - start);
}

/* The error with which submit refuses the request, or ERR_OK. */
static inline enum err block_request_check(const struct block_device *dev,
                                           const struct block_request *req)
{
    if (req->write && !dev->writable)
        return ERR_UNSUPPORTED;
    return err_unless(block_request_fits(dev, req), ERR_RANGE);
}

#endif
