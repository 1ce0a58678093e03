#include "board/drivers/bus/virtio.h"

#include <string.h>

#include "board/drivers/dma/dma.h"

enum { RESET_POLLS = 10000000 }; /* most reads of the status register; they take a second or more */

bool virtio_is_there(uintptr_t mmio, uint32_t device_id)
{
    return virtio_read(mmio, VIRTIO_MAGIC) == MAGIC &&
           virtio_read(mmio, VIRTIO_DEVICE_ID) == device_id;
}

bool virtio_stop(uintptr_t mmio)
{
    dma_barrier(); /* earlier writes to memory must come before the reset */
    virtio_write(mmio, VIRTIO_STATUS, 0);
    for (long poll = 0; poll < RESET_POLLS; poll++) {
        if (virtio_read(mmio, VIRTIO_STATUS) == 0) {
            dma_barrier(); /* no later access to the rings may happen before the device has
                              stopped */
            return true;
        }
    }
    return false;
}

bool virtio_begin(uintptr_t mmio)
{
    if (!virtio_stop(mmio))
        return false;
    virtio_write(mmio, VIRTIO_STATUS, STATUS_ACKNOWLEDGE);
    virtio_write(mmio, VIRTIO_STATUS, STATUS_ACKNOWLEDGE | STATUS_DRIVER);
    return true;
}

enum virtio_refusal virtio_negotiate(uintptr_t mmio, uint32_t wanted, uint32_t *taken)
{
    virtio_write(mmio, VIRTIO_DEVICE_FEATURES_SEL, 1);
    if (!(virtio_read(mmio, VIRTIO_DEVICE_FEATURES) & FEATURE_HIGH_VERSION_1))
        return VIRTIO_TOO_OLD;
    virtio_write(mmio, VIRTIO_DEVICE_FEATURES_SEL, 0);
    *taken = virtio_read(mmio, VIRTIO_DEVICE_FEATURES) & wanted;
    virtio_write(mmio, VIRTIO_DRIVER_FEATURES_SEL, 0);
    virtio_write(mmio, VIRTIO_DRIVER_FEATURES, *taken);
    virtio_write(mmio, VIRTIO_DRIVER_FEATURES_SEL, 1);
    virtio_write(mmio, VIRTIO_DRIVER_FEATURES, FEATURE_HIGH_VERSION_1);
    virtio_write(mmio, VIRTIO_STATUS, STATUS_ACKNOWLEDGE | STATUS_DRIVER | STATUS_FEATURES_OK);
    return virtio_read(mmio, VIRTIO_STATUS) & STATUS_FEATURES_OK ? VIRTIO_AGREED : VIRTIO_REFUSED;
}

static void write_address(uintptr_t mmio, unsigned reg, const void *address)
{
    uint64_t value = (uintptr_t)address;

    virtio_write(mmio, reg, (uint32_t)value);
    virtio_write(mmio, reg + 4, (uint32_t)(value >> 32));
}

uint32_t virtq_start(uintptr_t mmio, const struct virtq *q)
{
    uint32_t most, size = q->most;

    virtio_write(mmio, VIRTIO_QUEUE_SEL, q->which);
    most = virtio_read(mmio, VIRTIO_QUEUE_NUM_MAX);
    if (virtio_read(mmio, VIRTIO_QUEUE_READY) != 0 || most < q->least)
        return 0;
    while (size > most)
        size /= 2;
    memset(q->desc, 0, q->most * sizeof *q->desc);
    memset(q->avail, 0, sizeof *q->avail);
    memset(q->used, 0, sizeof *q->used);
    q->avail->flags = AVAIL_NO_INTERRUPT;
    virtio_write(mmio, VIRTIO_QUEUE_NUM, size);
    write_address(mmio, VIRTIO_QUEUE_DESC, q->desc);
    write_address(mmio, VIRTIO_QUEUE_DRIVER, q->avail);
    write_address(mmio, VIRTIO_QUEUE_DEVICE, q->used);
    dma_barrier(); /* the zeroed rings must reach memory before the device reads them */
    virtio_write(mmio, VIRTIO_QUEUE_READY, 1);
    return size;
}

/* Write the entry, then the index; then notify the device, unless it has switched notifications
 * off. */
void virtq_offer(uintptr_t mmio, const struct virtq *q, uint32_t size, uint32_t head)
{
    volatile uint16_t *index = &q->avail->index;
    uint16_t at = *index;

    q->avail->ring[at & (size - 1)] = (uint16_t)head;
    dma_barrier(); /* write buffers, descriptors and entry before the index (2.7.13.3.1) */
    *index = (uint16_t)(at + 1);
    dma_barrier(); /* write the index before used.flags is read (2.7.13.4.1) */
    if (!(*(volatile uint16_t *)&q->used->flags & USED_NO_NOTIFY))
        virtio_write(mmio, VIRTIO_QUEUE_NOTIFY, q->which);
}
