/* virtio-net over virtio-mmio version 2 (VIRTIO 1.2, sections 4.2 and 5.1): one queue in each
 * direction, which is polled. Frames are copied, so the device never reads or writes other memory.
 * The device must be cache coherent. */
#ifndef INGOT_BOARD_DRIVERS_NET_VIRTIO_NET_H
#define INGOT_BOARD_DRIVERS_NET_VIRTIO_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/drivers/bus/virtio.h"
#include "board/err.h"

enum {
    VIRTIO_NET_SLOTS = 16,          /* buffers in each direction: a power of two */
    VIRTIO_NET_HEADER_BYTES = 12,   /* section 5.1.6 */
    VIRTIO_NET_FRAME_BYTES = 1514,  /* without the checksum */
    VIRTIO_NET_BUFFER_BYTES = 1536, /* room for a header and a frame */
};

/* Descriptor n belongs to buffers[n]. */
struct virtio_net_queue {
    _Alignas(64) struct virtq_desc desc[VIRTIO_NET_SLOTS];
    _Alignas(64) struct virtq_avail avail;
    _Alignas(64) struct virtq_used used;
    _Alignas(64) uint8_t buffers[VIRTIO_NET_SLOTS][VIRTIO_NET_BUFFER_BYTES];
    uint32_t size;      /* descriptors in use, at most VIRTIO_NET_SLOTS */
    uint16_t used_seen; /* number of elements of the used ring that were consumed */
    uint32_t owned;     /* bit n: the device owns buffer n */
};

/* All state of one device; zeroed by open. The cores' addresses are also the bus addresses
 * (identity map). */
struct virtio_net {
    struct virtio_net_queue receives, sends;
    uintptr_t mmio;
    bool works;      /* false before open, and after the device has broken the protocol */
    bool has_status; /* the device reports whether a cable is connected */
    uint32_t n_lost; /* frames that were broken, or that did not fit the send queue */
};

/* Set up the device whose registers start at mmio (mapped, 0x200 bytes) and read its address. Sets
 * *why to an error message if the device exists but cannot be used. ERR_NO_DEVICE: the slot is
 * empty or has another kind of device. */
enum err virtio_net_open(struct virtio_net *v, uintptr_t mmio, uint8_t address[6],
                         const char **why);

bool virtio_net_is_up(const struct virtio_net *v);

/* As in runtime/base/platform.h. */
bool virtio_net_send(struct virtio_net *v, const uint8_t *frame, size_t bytes);
size_t virtio_net_receive(struct virtio_net *v, uint8_t *to, size_t room);

#endif
