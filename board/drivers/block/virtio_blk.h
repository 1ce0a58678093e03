/* virtio-blk over virtio-mmio version 2 (VIRTIO 1.2 sections 4.2, 5.2). The driver polls one split
 * virtqueue; DMA goes straight into the caller's buffer. The device must be cache coherent. */
#ifndef INGOT_BOARD_DRIVERS_BLOCK_VIRTIO_BLK_H
#define INGOT_BOARD_DRIVERS_BLOCK_VIRTIO_BLK_H

#include <stdbool.h>
#include <stdint.h>

#include "board/block_device.h"
#include "board/drivers/bus/virtio.h"
#include "board/err.h"

enum {
    VIRTIO_BLK_DEPTH = 32,         /* most requests in flight */
    VIRTIO_BLK_QUEUE = VIRTQ_MOST, /* descriptors */
    VIRTIO_BLK_MAX_SECTORS = 2048, /* 1 MiB a request */
};

struct virtio_blk_header { /* section 5.2.6 */
    uint32_t type;
    uint32_t reserved;
    uint64_t sector;
};

/* All state of one device; zeroed by probe. The cores' addresses are also the bus addresses
 * (identity map), so the state may be in any RAM. */
struct virtio_blk {
    _Alignas(64) struct virtq_desc desc[VIRTIO_BLK_QUEUE];
    _Alignas(64) struct virtq_avail avail;
    _Alignas(64) struct virtq_used used;
    _Alignas(64) struct virtio_blk_header headers[VIRTIO_BLK_DEPTH];
    _Alignas(64) uint8_t status[VIRTIO_BLK_DEPTH];
    _Alignas(64) struct block_request *requests[VIRTIO_BLK_DEPTH]; /* NULL: the slot is free */
    uintptr_t mmio;
    uint32_t depth;         /* number of slots in use by this device, <= VIRTIO_BLK_DEPTH */
    uint32_t slot_descs;    /* number of descriptors in each slot */
    uint32_t segment_bytes; /* largest data descriptor */
    uint32_t queue_size;
    uint32_t in_flight;
    uint32_t most_in_flight; /* most requests in flight so far, for statistics and tests */
    uint32_t idle_polls;     /* since the last answer */
    uint16_t used_seen;
    bool dead;
    bool read_only;
    const char *why; /* error message if probe refused an existing device, else NULL */
    char name[40];
};

/* True if the registers at mmio (mapped, 0x200 bytes) are those of a virtio-blk device. */
bool virtio_blk_is_there(uintptr_t mmio);

/* Set up the device with registers at mmio (mapped, 0x200 bytes) and fill *out. ERR_NO_DEVICE: the
 * slot is empty or has another kind of device. ERR_UNSUPPORTED: a legacy device, or one with large
 * sectors; state->why says what to do. ERR_IO, ERR_TIMEOUT: the device refused the set-up. */
enum err virtio_blk_probe(struct virtio_blk *state, uintptr_t mmio, struct block_device *out);

#endif
