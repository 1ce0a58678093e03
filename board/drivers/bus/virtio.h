/* The part of virtio-mmio version 2 that all its devices share: registers, the steps of a start, and split virtqueues. Devices on PCI
 * have the same registers under these numbers (virtio_pci.h). Sections are
 * those of the VIRTIO 1.2 specification (OASIS, csd01).
 *
 * No cache needs cleaning. The device is a program on the emulator's host, so without
 * VIRTIO_F_ACCESS_PLATFORM it sees memory through coherent caches, as the driver's core does
 * (section 6). Only the order of accesses matters, which dma_barrier ensures. */
#ifndef INGOT_BOARD_DRIVERS_BUS_VIRTIO_H
#define INGOT_BOARD_DRIVERS_BUS_VIRTIO_H

#include <stdbool.h>
#include <stdint.h>

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
       VIRTIO_CONFIG = 0x100, /* the device's own fields */
       VIRTIO_BYTES = 0x200   /* of registers */
};

enum { MAGIC = 0x74726976, VERSION_MODERN = 2 };
enum {
    STATUS_ACKNOWLEDGE = 1,
    STATUS_DRIVER = 2,
    STATUS_DRIVER_OK = 4,
    STATUS_FEATURES_OK = 8,
    STATUS_NEEDS_RESET = 0x40,
    STATUS_FAILED = 0x80
};                                         /* section 2.1 */
enum { FEATURE_HIGH_VERSION_1 = 1u << 0 }; /* bit 32, section 6 */
enum { DESC_NEXT = 1, DESC_WRITE = 2, AVAIL_NO_INTERRUPT = 1, USED_NO_NOTIFY = 1 };

enum { VIRTQ_MOST = 128 }; /* descriptors of a queue, a power of two (section 2.7) */

struct virtq_desc { /* section 2.7.5 */
    uint64_t address;
    uint32_t bytes;
    uint16_t flags;
    uint16_t next;
};

struct virtq_avail { /* section 2.7.6 */
    uint16_t flags;
    uint16_t index;
    uint16_t ring[VIRTQ_MOST];
};

struct virtq_used { /* section 2.7.8 */
    uint16_t flags;
    uint16_t index;
    struct {
        uint32_t id;
        uint32_t bytes;
    } ring[VIRTQ_MOST];
};

/* One queue of a device. The cores' addresses are also the bus addresses (identity map). */
struct virtq {
    struct virtq_desc *desc; /* (most) */
    struct virtq_avail *avail;
    struct virtq_used *used;
    unsigned which; /* the queue's number at the device */
    uint32_t least,
        most; /* fewest and most descriptors that the driver can use: powers of two up to
                 VIRTQ_MOST */
};

/* True if the registers at mmio (mapped, VIRTIO_BYTES) are those of a device of this kind. */
bool virtio_is_there(uintptr_t mmio, uint32_t device_id);

/* Reset the device (section 4.2.3.1.1). Returns true once its transfers have stopped; false if they
 * have not after a second or more. */
bool virtio_stop(uintptr_t mmio);

/* Start, from reset to status bit DRIVER (section 3.1.1). False if the device does not reset. */
bool virtio_begin(uintptr_t mmio);

enum virtio_refusal { VIRTIO_AGREED, VIRTIO_TOO_OLD, VIRTIO_REFUSED };

/* Accept VIRTIO_F_VERSION_1 and those `wanted` features that the device offers; *taken gets these.
 * VIRTIO_TOO_OLD: the device does not offer VERSION_1; VIRTIO_REFUSED: the device rejects features
 * that it offered. Sections 3.1.1 (steps 3 to 6) and 2.2. */
enum virtio_refusal virtio_negotiate(uintptr_t mmio, uint32_t wanted, uint32_t *taken);

/* Zero the queue's rings and give the queue to the device, without interrupts (section 4.2.3.2).
 * Returns the number of descriptors, a power of two; 0 if the device has no such queue, or the
 * queue is too small. */
uint32_t virtq_start(uintptr_t mmio, const struct virtq *q);

/* Give the device the chain that starts at descriptor `head` (section 2.7.13). `size` is what
 * virtq_start returned. */
void virtq_offer(uintptr_t mmio, const struct virtq *q, uint32_t size, uint32_t head);

/* These are in virtio_mmio.c, which a unit test replaces by a simulated device. Fields of the
 * configuration are read in their own width (4.2.2.2). */
uint32_t virtio_read(uintptr_t mmio, unsigned reg);
uint8_t virtio_read_byte(uintptr_t mmio, unsigned reg);
void virtio_write(uintptr_t mmio, unsigned reg, uint32_t value);

/* From now on use these functions for registers whose address is odd; registers of virtio-mmio
 * never have an odd address. */
struct virtio_registers {
    uint32_t (*read)(uintptr_t location, unsigned reg);
    uint8_t (*read_byte)(uintptr_t location, unsigned reg);
    void (*write)(uintptr_t location, unsigned reg, uint32_t value);
};
void virtio_use(const struct virtio_registers *registers);

#endif
