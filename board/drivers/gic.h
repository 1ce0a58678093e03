/* The Arm interrupt controller, of whichever version the machine has, as a bell: a core sleeps in
 * WFI until another one rings. Interrupts stay masked in the cores (PSTATE.DAIF); a pending one
 * ends WFI all the same. */
#ifndef INGOT_BOARD_DRIVERS_GIC_H
#define INGOT_BOARD_DRIVERS_GIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/device_tree.h"
#include "board/drivers/gic_v2.h"
#include "board/drivers/gic_v3.h"
#include "board/err.h"

enum gic_version { GIC_NONE, GIC_V2, GIC_V3 };

struct gic {
    enum gic_version version;
    struct gic_v2 v2;
    struct gic_v3 v3;
};

/* Find the controller; touches no register of it. version is GIC_NONE unless ERR_OK.
 * ERR_NO_DEVICE: there is none; ERR_UNSUPPORTED: none that can be used. */
enum err gic_find(struct gic *gic, const struct device_tree *tree);

/* Register range `index`, which the board must map as device memory; false: no more. */
bool gic_registers(const struct gic *gic, unsigned index, uintptr_t *base, size_t *bytes);

/* Once, on any core, after mapping. ERR_TIMEOUT: the controller does not answer. */
enum err gic_init(const struct gic *gic);

/* Once on each core, before it wakes others or sleeps; affinity is its MPIDR's. After an error
 * (gic_v3_listen) the core may do neither. */
enum err gic_listen(const struct gic *gic, uint64_t affinity);

/* Wake every other core that listens. What was stored before is seen by who wakes. */
void gic_wake_others(const struct gic *gic);

/* Sleep until woken; returns at once if that happened since the last sleep. Look at the word that
 * is waited for before and after. */
void gic_sleep(const struct gic *gic);

#endif
