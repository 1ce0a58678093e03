/* Buffers for memory that a device's DMA does not reach. Data goes through two buffers within
 * reach, and a core copies each byte once. While the core copies one buffer, the device fills the
 * other. Requests for memory within reach go to the device directly.
 *
 * A bounce is a block device in front of the driver's device; its users see no difference. */
#ifndef INGOT_RUNTIME_BOUNCE_H
#define INGOT_RUNTIME_BOUNCE_H

#include <stdatomic.h>
#include <stdint.h>

#include "board/block_device.h"
#include "board/machine.h"

enum {
    BOUNCE_DEPTH = 8, /* the most requests that can wait for a half */
    BOUNCE_HALVES = 2,
    BOUNCE_HALF_SECTORS = 512, /* 256 KiB, the largest request of file.c */
    BOUNCE_HALF_BYTES = BOUNCE_HALF_SECTORS * SECTOR_BYTES,
    BOUNCE_BYTES = BOUNCE_HALVES * BOUNCE_HALF_BYTES,
    BOUNCE_ALIGN = 64, /* keeps other data out of the buffers' cache lines
                        * (board/drivers/dma/dma.h) */
};

struct bounce_half {
    struct block_request request; /* the device's request, over this half's buffer */
    struct block_request *asked;  /* the caller's request, or NULL if the half is free */
    bool waits;                   /* the device had no room for the request yet */
};

struct bounce {
    struct block_device device; /* the device that all users see */
    struct block_device *inner; /* the driver's device */
    struct bounce_half halves[BOUNCE_HALVES];
    struct block_request *queue[BOUNCE_DEPTH]; /* a ring, in the order of submission */
    unsigned first, n_queued;
    uint8_t *memory;           /* buffer of the first half, then of the second */
    _Atomic uint64_t copied;   /* bytes that were copied */
    _Atomic uint64_t in_reach; /* bytes of requests that were passed on directly */
};

/* Cut a bounce's memory from the front of a range. If the range has too little below `end`, return
 * NULL and leave the range unchanged. */
uint8_t *bounce_take_memory(struct memory_range *range, uint64_t end);

/* Take the place of a driver's device, whose dma_end is not 0. From now on other code uses
 * b->device, which has the same name and size and reaches all of memory. memory: BOUNCE_BYTES,
 * BOUNCE_ALIGN aligned, below inner->dma_end. inner and memory outlive b, which must not move. */
void bounce_open(struct bounce *b, struct block_device *inner, uint8_t *memory);

/* Return the bounce that owns this device, or NULL. */
struct bounce *bounce_of(struct block_device *device);

#endif
