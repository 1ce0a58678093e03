/* Arm Generic Interrupt Controller version 2 (IHI 0048), for one purpose: to end the WFI of
 * sleeping cores. Interrupts stay masked in the cores; a pending one ends WFI all the same. */
#ifndef INGOT_BOARD_DRIVERS_GIC_V2_H
#define INGOT_BOARD_DRIVERS_GIC_V2_H

#include <stdbool.h>
#include <stdint.h>

#include "board/device_tree.h"
#include "board/err.h"

struct gic_v2 {
    uintptr_t distributor, interface; /* 0: no such controller */
};

enum { GIC_V2_DISTRIBUTOR_BYTES = 0x1000, GIC_V2_INTERFACE_BYTES = 0x1000 };

/* Find the controller; touches no register. ERR_NO_DEVICE: no version 2. */
enum err gic_v2_find(struct gic_v2 *gic, const struct device_tree *tree);

/* Forward interrupts at all: once, registers mapped as device memory. */
void gic_v2_init(const struct gic_v2 *gic);

/* Let wake-ups reach the calling core: once per core, before its first sleep. */
void gic_v2_listen(const struct gic_v2 *gic);

/* Make a wake-up pending at every other core. What was stored before is seen by who wakes. */
void gic_v2_wake_others(const struct gic_v2 *gic);

/* WFI until one is pending, and take it: a wake-up that came since the last sleep ends it at
 * once, so that none is lost. */
void gic_v2_sleep(const struct gic_v2 *gic);

#endif
