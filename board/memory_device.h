/* Memory as a block device: flash in place, an initrd, or a mapped file. Reads are copies and
 * complete at once. */
#ifndef INGOT_BOARD_MEMORY_DEVICE_H
#define INGOT_BOARD_MEMORY_DEVICE_H

#include <stdint.h>

#include "board/block_device.h"

/* Make *out a device with the contents of base[0 .. bytes), rounded down to whole sectors. base:
 * 16-byte aligned; name and memory must outlive the device. */
void memory_device_open(struct block_device *out, const char *name, const uint8_t *base,
                        uint64_t bytes);

#endif
