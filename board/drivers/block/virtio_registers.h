/* Registers and bits of a virtio-mmio block device, and the only two ways to its registers. Sections
 * are those of the VIRTIO 1.2 specification. */
#ifndef INGOT_BOARD_DRIVERS_BLOCK_VIRTIO_REGISTERS_H
#define INGOT_BOARD_DRIVERS_BLOCK_VIRTIO_REGISTERS_H

#include "board/drivers/block/virtio_blk.h"

enum { /* section 4.2.2, table 4.1 */
       VIRTIO_MAGIC = 0x000,
       VIRTIO_VERSION = 0x004,
       VIRTIO_DEVICE_ID = 0x008,
       VIRTIO_DEVICE_FEATURES = 0x010,
       VIRTIO_DEVICE_FEATURES_SEL = 0x014,
       VIRTIO_DRIVER_FEATURES = 0x020,
       VIRTIO_DRIVER_FEATURES_SEL = 0x024,
       VIRTIO_QUEUE_SEL = 0x030,
       VIRTIO_QUEUE_NUM_MAX = 0x034,
       VIRTIO_QUEUE_NUM = 0x038,
       VIRTIO_QUEUE_READY = 0x044,
       VIRTIO_QUEUE_NOTIFY = 0x050,
       VIRTIO_STATUS = 0x070,
       VIRTIO_QUEUE_DESC = 0x080,
       VIRTIO_QUEUE_DRIVER = 0x090,
       VIRTIO_QUEUE_DEVICE = 0x0a0,
       VIRTIO_CONFIG_GENERATION = 0x0fc,
       VIRTIO_CAPACITY = 0x100, /* section 5.2.4 */
       VIRTIO_SIZE_MAX = 0x108,
       VIRTIO_SEG_MAX = 0x10c,
};

enum { MAGIC = 0x74726976, DEVICE_BLOCK = 2, VERSION_MODERN = 2 };
enum {
    STATUS_ACKNOWLEDGE = 1,
    STATUS_DRIVER = 2,
    STATUS_DRIVER_OK = 4,
    STATUS_FEATURES_OK = 8,
    STATUS_NEEDS_RESET = 0x40,
    STATUS_FAILED = 0x80
}; /* section 2.1 */
enum { FEATURE_SIZE_MAX = 1u << 1, FEATURE_SEG_MAX = 1u << 2, FEATURE_RO = 1u << 5 }; /* 5.2.3 */
enum { FEATURE_HIGH_VERSION_1 = 1u << 0 }; /* bit 32, section 6 */
enum { DESC_NEXT = 1, DESC_WRITE = 2, AVAIL_NO_INTERRUPT = 1, USED_NO_NOTIFY = 1 };
enum { REQUEST_IN = 0, REQUEST_OUT = 1, REQUEST_OK = 0 };

/* virtio_mmio.c, in whose place a unit test has a device. */
uint32_t virtio_read(const struct virtio_blk *v, unsigned reg);
void virtio_write(const struct virtio_blk *v, unsigned reg, uint32_t value);

#endif
