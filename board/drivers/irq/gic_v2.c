/* Version 2 (IHI 0048). */
#include "board/drivers/irq/gic.h"
#include "board/interrupt.h"

enum { DISTRIBUTOR, INTERFACE, N_RANGES, RANGE_BYTES = 0x1000 };

/* Section 4.1.2 (distributor) and 4.1.3 (CPU interface), byte offsets. */
enum {
    GICD_CTLR = 0x000,
    GICD_ISENABLER0 = 0x100,
    GICD_IPRIORITYR0 = 0x400,
    GICD_ITARGETSR0 = 0x800,
    GICD_ICFGR0 = 0xc00,
    GICD_SGIR = 0xf00,
};
enum { GICC_CTLR = 0x00, GICC_PMR = 0x04, GICC_IAR = 0x0c, GICC_EOIR = 0x10 };

enum {
    SGI_ENABLE_ALL = 0xffff,
    SGI_ALL_BUT_SELF = 1 << 24, /* target list filter, section 4.3.15; SGI number 0 */
    IAR_NUMBER = 0x3ff,
};

static volatile uint32_t *reg(const struct gic *gic, unsigned range, unsigned offset)
{
    return (volatile uint32_t *)(gic->ranges[range].base + offset);
}

static enum err gic_v2_find(struct gic *gic, const struct device_tree *tree)
{
    static const char *const names[] = { "arm,cortex-a15-gic", "arm,gic-400" };
    struct device_tree_node node;
    uint64_t distributor, interface;

    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        device_tree_begin(&node);
        if (!device_tree_next_compatible(tree, &node, names[i]) ||
            !device_tree_reg(tree, &node, 0, &distributor, NULL) ||
            !device_tree_reg(tree, &node, 1, &interface, NULL))
            continue;
        gic->ranges[DISTRIBUTOR] = (struct gic_range){ (uintptr_t)distributor, RANGE_BYTES };
        gic->ranges[INTERFACE] = (struct gic_range){ (uintptr_t)interface, RANGE_BYTES };
        gic->n_ranges = N_RANGES;
        return ERR_OK;
    }
    return ERR_NO_DEVICE;
}

static enum err gic_v2_init(const struct gic *gic)
{
    *reg(gic, DISTRIBUTOR, GICD_CTLR) = 1;
    return ERR_OK;
}

static enum err gic_v2_listen(const struct gic *gic, uint64_t affinity)
{
    (void)affinity; /* what a core sees of the registers is its own */
    *reg(gic, DISTRIBUTOR, GICD_ISENABLER0) = SGI_ENABLE_ALL;
    *reg(gic, INTERFACE, GICC_PMR) = 0xff; /* every priority */
    *reg(gic, INTERFACE, GICC_CTLR) = 1;
    return ERR_OK;
}

static void gic_v2_wake_others(const struct gic *gic)
{
    __asm__ volatile("dsb ish" ::: "memory"); /* stores first: DDI 0487, DSB */
    *reg(gic, DISTRIBUTOR, GICD_SGIR) = SGI_ALL_BUT_SELF;
}

/* A core reads its own bit in the targets of its private interrupts (4.3.12). One core alone has
 * none to choose from: they read as 0. */
static enum err gic_v2_enable(const struct gic *gic, uint32_t line, uint64_t affinity)
{
    volatile uint8_t *targets = (volatile uint8_t *)reg(gic, DISTRIBUTOR, GICD_ITARGETSR0);
    volatile uint8_t *priorities = (volatile uint8_t *)reg(gic, DISTRIBUTOR, GICD_IPRIORITYR0);
    volatile uint32_t *config = reg(gic, DISTRIBUTOR, GICD_ICFGR0 + line / 16 * 4);
    volatile uint32_t *enable = reg(gic, DISTRIBUTOR, GICD_ISENABLER0 + line / 32 * 4);

    (void)affinity;
    *config &= ~(2u << line % 16 * 2); /* by level */
    priorities[line] = 0;
    targets[line] = targets[0];
    *enable = 1u << line % 32;
    return err_unless((*enable >> line % 32 & 1) != 0, ERR_UNSUPPORTED);
}

static void gic_v2_serve(const struct gic *gic)
{
    uint32_t taken, line;

    for (;;) {
        taken = *reg(gic, INTERFACE, GICC_IAR);
        line = taken & IAR_NUMBER;
        if (line >= GIC_SPECIAL)
            break;
        irq_deliver(line);
        *reg(gic, INTERFACE, GICC_EOIR) = taken;
    }
    __asm__ volatile("dsb sy" ::: "memory"); /* the caller's next look is after the taking */
}

const struct gic_version gic_v2 = {
    .find = gic_v2_find,
    .init = gic_v2_init,
    .listen = gic_v2_listen,
    .wake_others = gic_v2_wake_others,
    .enable = gic_v2_enable,
    .serve = gic_v2_serve,
};
