/* Fields and bits of a virtio block device. Sections are those of the VIRTIO 1.2 specification. */
#ifndef INGOT_BOARD_DRIVERS_BLOCK_VIRTIO_REGISTERS_H
#define INGOT_BOARD_DRIVERS_BLOCK_VIRTIO_REGISTERS_H

#include "board/drivers/bus/virtio.h"

enum { DEVICE_BLOCK = 2 };
enum { /* section 5.2.4 */
       VIRTIO_CAPACITY = VIRTIO_CONFIG,
       VIRTIO_SIZE_MAX = VIRTIO_CONFIG + 0x8,
       VIRTIO_SEG_MAX = VIRTIO_CONFIG + 0xc
};
enum { FEATURE_SIZE_MAX = 1u << 1, FEATURE_SEG_MAX = 1u << 2, FEATURE_RO = 1u << 5 }; /* 5.2.3 */
enum { REQUEST_IN = 0, REQUEST_OUT = 1, REQUEST_OK = 0 };

#endif
