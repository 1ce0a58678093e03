/* The Arm interrupt controller, of whichever version the machine has: as a bell, a core sleeps in
 * WFI until another one rings; and for one device, whose interrupt core 0 takes. While a core
 * sleeps interrupts are masked (PSTATE.DAIF); a pending one ends WFI all the same. */
#ifndef INGOT_BOARD_DRIVERS_GIC_H
#define INGOT_BOARD_DRIVERS_GIC_H

#include <stddef.h>
#include <stdint.h>

#include "board/device_tree.h"
#include "board/err.h"

enum { GIC_MAX_RANGES = 5 };

struct gic {
    const struct gic_version *version; /* NULL: none that can be used */
    /* Registers, which the board maps as device memory between gic_find and gic_init: the
     * distributor, then version 2's CPU interface or version 3's regions of redistributors. */
    struct gic_range {
        uintptr_t base;
        size_t bytes;
    } ranges[GIC_MAX_RANGES];
    unsigned n_ranges;
    size_t stride; /* version 3: between redistributors; 0: as each one says */
    uint32_t line; /* INTID of the console's UART; 0: none */
};

/* Find the controller; touches no register of it. version is NULL unless ERR_OK. ERR_NO_DEVICE:
 * there is none; ERR_UNSUPPORTED: its description is incomplete, or the cores have no registers
 * for it. */
enum err gic_find(struct gic *gic, const struct device_tree *tree);

/* Forward interrupts at all: once, on any core, after mapping. ERR_TIMEOUT: the controller does not
 * answer. */
enum err gic_init(const struct gic *gic);

/* Let wake-ups reach the calling core, whose MPIDR affinity that is (Aff3 in bits 39 to 32): once
 * on each, before it wakes others or sleeps; after an error it may do neither. ERR_NO_DEVICE: no
 * controller, or no redistributor for this core; ERR_TIMEOUT: the redistributor, or a wake-up
 * that the core sent itself, does not come; ERR_UNSUPPORTED: firmware keeps the controller for
 * itself. */
enum err gic_listen(const struct gic *gic, uint64_t affinity);

/* Make a wake-up pending at every other core that listens. What was stored before is seen by who
 * wakes. */
void gic_wake_others(const struct gic *gic);

/* WFI until a wake-up or an interrupt is pending, and serve it. On a core that takes interrupts:
 * with them masked. A wake-up that came since the last sleep, or since they were masked, ends this
 * one at once, so that none is lost. Look at the word that is waited for before and after. */
void gic_sleep(const struct gic *gic);

/* The INTID of a device's first interrupt, 0 where its node has none that is shared by the cores
 * (devicetree bindings, interrupt-controller/arm,gic.yaml: type, number, flags). */
uint32_t gic_device_line(const struct device_tree *tree, const struct device_tree_node *node);

/* Have core 0, which calls and listens, take the interrupt of the console's UART, at a level, by
 * serial.h; that line is open. ERR_NO_DEVICE: no controller, or no interrupt that cores share;
 * ERR_UNSUPPORTED: firmware keeps it for itself. */
enum err gic_take_input(struct gic *gic, uint32_t line);

/* ---- for gic.c: the functions above, as one version does them ------------------------------- */

struct gic_version {
    enum err (*find)(struct gic *gic, const struct device_tree *tree);
    enum err (*init)(const struct gic *gic);
    enum err (*listen)(const struct gic *gic, uint64_t affinity);
    void (*wake_others)(const struct gic *gic);
    enum err (*enable)(const struct gic *gic, uint32_t line, uint64_t affinity);
    void (*serve)(const struct gic *gic); /* take what is pending for the calling core */
};

enum { GIC_FIRST_SHARED = 32, GIC_MAX_SHARED = 988, GIC_SPECIAL = 1020 }; /* INTIDs; both manuals 2.2 */

extern const struct gic_version gic_v2, gic_v3;

#endif
