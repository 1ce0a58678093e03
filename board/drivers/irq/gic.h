/* The Arm interrupt controller, in any of its versions 2 to 4. The controller wakes cores, which
 * sleep in WFI until another core sends them an interrupt, and delivers device interrupts to core 0
 * (board/interrupt.h). Interrupts are masked (PSTATE.DAIF) while a core sleeps; a pending interrupt
 * still ends WFI. */
#ifndef INGOT_BOARD_DRIVERS_IRQ_GIC_H
#define INGOT_BOARD_DRIVERS_IRQ_GIC_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "board/device_tree.h"
#include "board/err.h"

enum { GIC_MAX_RANGES = 5 };

struct gic {
    const struct gic_version *version; /* NULL: no usable controller */
    /* Registers: the distributor, then version 2's CPU interface or version 3's regions of
     * redistributors. */
    struct gic_range {
        uintptr_t base;
        size_t bytes;
    } ranges[GIC_MAX_RANGES];
    unsigned n_ranges;
    size_t stride; /* version 3: distance between redistributors; 0 if each reports its own */
};

/* Initializes a struct gic of version 2 for a board that knows the addresses. */
#define GIC_400(distributor, interface) \
    { \
        .version = &gic_v2, .ranges = { { distributor, 0x1000 }, { interface, 0x1000 } }, \
        .n_ranges = 2 \
    }

/* Find the controller without touching its registers. gic->version is NULL unless the function
 * returns ERR_OK. ERR_NO_DEVICE: there is no controller; ERR_UNSUPPORTED: its description is
 * incomplete, or the cores have no registers for it. */
enum err gic_find(struct gic *gic, const struct device_tree *tree);

/* Map the registers, turn off what firmware left on, and start forwarding interrupts. Call once, on
 * core 0. From now on irq_take uses the controller, so *gic must stay valid. ERR_NO_DEVICE: version
 * is NULL; ERR_TIMEOUT: the controller does not answer; or an error of mmu_map. */
enum err gic_init(struct gic *gic);

/* Let wake-ups reach the calling core. Call it once on each core, before the core waits or wakes
 * others. If one core cannot receive wake-ups (no controller, or firmware keeps it for itself), all
 * cores wait by WFE from then on. */
void gic_listen(void);

/* Functions for board.wait and board.wake. gic_wait sleeps in WFI and serves interrupts; a wake-up
 * that arrives after the caller has checked its word ends the sleep at once, so none is lost. After
 * gic_wake, the cores that wake see all stores made before the call. */
void gic_wait(const _Atomic uint32_t *word, uint32_t old);
void gic_wake(const _Atomic uint32_t *word);

/* The line (INTID) of a device's first interrupt; 0 if its node has no interrupt that cores share
 * (devicetree bindings, interrupt-controller/arm,gic.yaml: type, number, flags). */
uint32_t gic_device_line(const struct device_tree *tree, const struct device_tree_node *node);

/* ---- the functions above for one version; only gic.c uses them ------------------------------- */

struct gic_version {
    enum err (*find)(struct gic *gic, const struct device_tree *tree);
    enum err (*init)(const struct gic *gic);
    /* Set up the calling core, whose MPIDR affinity is given (Aff3 in bits 39 to 32).
     * ERR_NO_DEVICE: the core has no redistributor; ERR_TIMEOUT: the redistributor does not answer,
     * or a wake-up that the core sent itself does not arrive; ERR_UNSUPPORTED: firmware keeps the
     * controller for itself. */
    enum err (*listen)(const struct gic *gic, uint64_t affinity);
    void (*wake_others)(const struct gic *gic);
    enum err (*enable)(const struct gic *gic, uint32_t line, uint64_t affinity);
    void (*disable)(const struct gic *gic, uint32_t line, uint64_t affinity);
    void (*serve)(const struct gic *gic); /* serve the pending interrupts of the calling core */
};

/* INTIDs: section 2.2 of both manuals. The timer's number is Arm's recommendation, which all our
 * machines follow (BSA, DEN 0094, "PPI assignments"). */
enum {
    GIC_WAKE_UP = 0,
    GIC_VIRTUAL_TIMER = 27,
    GIC_FIRST_SHARED = 32,
    GIC_MAX_SHARED = 988,
    GIC_SPECIAL = 1020,
    GIC_MOST_CLAIMS = 64, /* most lines served at a time; a line that is still pending causes
                             another interrupt */
};

extern const struct gic_version gic_v2, gic_v3;

#endif
