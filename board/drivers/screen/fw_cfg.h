/* Files that QEMU passes to a machine's firmware, accessed through fw_cfg's DMA interface (QEMU,
 * docs/specs/fw_cfg). The interface sees memory as the cores do. */
#ifndef INGOT_BOARD_DRIVERS_SCREEN_FW_CFG_H
#define INGOT_BOARD_DRIVERS_SCREEN_FW_CFG_H

#include <stddef.h>
#include <stdint.h>

#include "board/err.h"

enum { FW_CFG_BYTES = 0x18, FW_CFG_MAX_FILES = 256 };

struct fw_cfg {
    uintptr_t mmio;
    /* The request, which the device reads and answers; big-endian. */
    volatile struct fw_cfg_access {
        uint32_t control, bytes;
        uint64_t address;
    } access;
};

struct fw_cfg_file {
    uint16_t key;
    uint32_t bytes;
};

/* Open the device; its registers at mmio are mapped as device memory. ERR_NO_DEVICE: there is no
 * such device, or it has no DMA. */
enum err fw_cfg_open(struct fw_cfg *f, uintptr_t mmio);

/* Find a file. ERR_NOT_FOUND; ERR_TIMEOUT: no answer; ERR_IO: the device reports an error;
 * ERR_RANGE: there are more than FW_CFG_MAX_FILES files. */
enum err fw_cfg_find(struct fw_cfg *f, const char *name, struct fw_cfg_file *file);

/* Write a file from its beginning. Errors: as above; ERR_RANGE: the file is shorter. */
enum err fw_cfg_write(struct fw_cfg *f, const struct fw_cfg_file *file, const void *data,
                      size_t bytes);

/* ---- functions of fw_cfg_mmio.c, which a test replaces  ---- */

/* Read the value of the DMA register. */
uint64_t fw_cfg_mmio_magic(const struct fw_cfg *f);
/* Make the device read f->access. */
void fw_cfg_mmio_start(const struct fw_cfg *f);

#endif
