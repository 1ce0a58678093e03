/* Parallel NOR flash with a Common Flash Interface (JESD68.01), used in place. Two 16-bit chips
 * side by side on a 32-bit bus, as on QEMU's virt machines. Read only. */
#ifndef INGOT_BOARD_DRIVERS_BLOCK_CFI_FLASH_H
#define INGOT_BOARD_DRIVERS_BLOCK_CFI_FLASH_H

#include <stddef.h>
#include <stdint.h>

#include "board/block_device.h"
#include "board/err.h"

struct cfi_flash {
    uintptr_t base;
    uint64_t bytes; /* size of the bank in bytes, as the chips report it */
    char name[40];
};

/* Query the bank at base, whose address window has `bytes` bytes, and fill *out; out->memory is
 * base. The query writes to the window, so it must be mapped writable, and on real hardware as
 * device memory; afterwards it is only read. ERR_NO_DEVICE: the chips do not answer as CFI
 * requires. */
enum err cfi_flash_probe(struct cfi_flash *state, uintptr_t base, size_t bytes,
                         struct block_device *out);

#endif
