/* QEMU's `ramfb`: a display that shows part of our memory, if the command line has -device
 * ramfb. */
#ifndef INGOT_BOARD_DRIVERS_SCREEN_RAMFB_H
#define INGOT_BOARD_DRIVERS_SCREEN_RAMFB_H

#include <stdbool.h>

#include "board/device_tree.h"
#include "board/drivers/screen/fw_cfg.h"
#include "board/machine.h"
#include "board/screen.h"

/* The fields of etc/ramfb that QEMU reads (hw/display/ramfb.c), big-endian. */
struct ramfb_setup {
    uint64_t address;
    uint32_t format, flags, width, height, pitch;
} __attribute__((packed));

/* A function for board.open_screen. The tree, whose blob may be NULL, names the device. */
bool ramfb_open(const struct device_tree *tree, struct board_screen *screen,
                struct memory_range *free);

/* As ramfb_open, for a device that is already open. ERR_NO_SPACE: too little memory is free. */
enum err ramfb_set_up(struct fw_cfg *f, struct board_screen *screen, struct memory_range *free);

#endif
