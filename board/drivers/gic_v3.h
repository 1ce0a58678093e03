/* Arm Generic Interrupt Controller versions 3 and 4 (IHI 0069), for one purpose: to end the WFI
 * of sleeping cores, as gic_v2.h does with version 2. */
#ifndef INGOT_BOARD_DRIVERS_GIC_V3_H
#define INGOT_BOARD_DRIVERS_GIC_V3_H

#include <stddef.h>
#include <stdint.h>

#include "board/device_tree.h"
#include "board/err.h"

enum { GIC_V3_DISTRIBUTOR_BYTES = 0x10000, GIC_V3_MAX_REGIONS = 4 };

struct gic_v3 {
    uintptr_t distributor;
    struct {
        uintptr_t base;
        size_t bytes;
    } regions[GIC_V3_MAX_REGIONS]; /* of redistributors, one redistributor a core */
    unsigned n_regions;
    size_t stride; /* between redistributors; 0: as each one says */
};

/* Find the controller; touches no register of it. ERR_NO_DEVICE: no version 3; ERR_UNSUPPORTED:
 * its description is incomplete, or the cores have no registers for it. */
enum err gic_v3_find(struct gic_v3 *gic, const struct device_tree *tree);

/* Forward interrupts at all: once, registers mapped as device memory. ERR_TIMEOUT. */
enum err gic_v3_init(const struct gic_v3 *gic);

/* Let wake-ups reach the calling core, whose MPIDR affinity that is (Aff3 in bits 39 to 32), and
 * try one on itself: once per core, before it wakes others or sleeps. ERR_NO_DEVICE: it has no
 * redistributor; ERR_TIMEOUT: the redistributor, or the wake-up, does not come; ERR_UNSUPPORTED:
 * firmware keeps the controller for itself. */
enum err gic_v3_listen(const struct gic_v3 *gic, uint64_t affinity);

/* Make a wake-up pending at every other core. What was stored before is seen by who wakes. */
void gic_v3_wake_others(void);

/* WFI until one is pending, and take it: a wake-up that came since the last sleep ends it at
 * once, so that none is lost. */
void gic_v3_sleep(void);

#endif
