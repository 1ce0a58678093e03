/* Version 2 (IHI 0048). */
#include "board/drivers/irq/core_registers.h"
#include "board/drivers/irq/gic.h"
#include "board/interrupt.h"

enum { DISTRIBUTOR, INTERFACE, N_RANGES, RANGE_BYTES = 0x1000 };

/* Section 4.1.2 (distributor) and 4.1.3 (CPU interface), byte offsets. */
enum {
    GICD_CTLR = 0x000,
    GICD_TYPER = 0x004,
    GICD_ISENABLER0 = 0x100,
    GICD_ICENABLER0 = 0x180,
    GICD_ICPENDR0 = 0x280,
    GICD_ICACTIVER0 = 0x380,
    GICD_IPRIORITYR0 = 0x400,
    GICD_ITARGETSR0 = 0x800,
    GICD_ICFGR0 = 0xc00,
    GICD_SGIR = 0xf00,
    GICD_CPENDSGIR0 = 0xf10,
};
enum { GICC_CTLR = 0x00, GICC_PMR = 0x04, GICC_IAR = 0x0c, GICC_EOIR = 0x10, GICC_APR0 = 0xd0 };

enum {
    TYPER_LINES = 0x1f, /* number of lines in units of 32, minus one */
    SGI_WORDS = 4,
    APR_WORDS = 4,
    SGI_ALL_BUT_SELF = 1 << 24, /* target list filter, section 4.3.15; SGI number 0 */
    IAR_NUMBER = 0x3ff,
    GICC_CTLR_BYPASS = 0xf << 5, /* 4.4.1: disables the bypass signals */
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

/* Clear states that firmware may have left on 32 lines: enabled; pending, from a device that
 * firmware used; and active (taken but not ended), which blocks new interrupts (section 3.2.4). */
static void turn_off(const struct gic *gic, uint32_t first)
{
    *reg(gic, DISTRIBUTOR, GICD_ICENABLER0 + first / 8) = ~0u;
    *reg(gic, DISTRIBUTOR, GICD_ICPENDR0 + first / 8) = ~0u;
    *reg(gic, DISTRIBUTOR, GICD_ICACTIVER0 + first / 8) = ~0u;
}

static enum err gic_v2_init(const struct gic *gic)
{
    uint32_t last = *reg(gic, DISTRIBUTOR, GICD_TYPER) & TYPER_LINES;

    *reg(gic, DISTRIBUTOR, GICD_CTLR) = 0;
    for (uint32_t i = 1; i <= last; i++)
        turn_off(gic, 32 * i);
    *reg(gic, DISTRIBUTOR, GICD_CTLR) = 1;
    return ERR_OK;
}

/* The first 32 lines are the core's own: its timers, which firmware uses, and the wake-ups. The
 * active priorities are cleared, too: an interrupt that firmware took and never ended would hold
 * back all others. An earlier wake-up is lost, which does no harm: the caller has not looked at its
 * word yet. */
static enum err gic_v2_listen(const struct gic *gic, uint64_t affinity)
{
    /* Each core sees its own copy of these registers. The bypass stays as firmware left it, as in
     * Linux (irq-gic.c, GICC_DIS_BYPASS_MASK). */
    uint32_t bypass = *reg(gic, INTERFACE, GICC_CTLR) & GICC_CTLR_BYPASS;

    (void)affinity;
    *reg(gic, INTERFACE, GICC_CTLR) = bypass;
    turn_off(gic, 0);
    for (unsigned i = 0; i < SGI_WORDS; i++)
        *reg(gic, DISTRIBUTOR, GICD_CPENDSGIR0 + 4 * i) = ~0u;
    for (unsigned i = 0; i < APR_WORDS; i++)
        *reg(gic, INTERFACE, GICC_APR0 + 4 * i) = 0;
    *reg(gic, DISTRIBUTOR, GICD_ISENABLER0) = 1u << GIC_WAKE_UP;
    *reg(gic, INTERFACE, GICC_PMR) = 0xff; /* every priority */
    *reg(gic, INTERFACE, GICC_CTLR) = bypass | 1;
    CORE_BARRIER("dsb sy"); /* the caller's first look comes after the clear */
    return ERR_OK;
}

static void gic_v2_wake_others(const struct gic *gic)
{
    CORE_BARRIER("dsb ish"); /* earlier stores must be visible first */
    *reg(gic, DISTRIBUTOR, GICD_SGIR) = SGI_ALL_BUT_SELF;
}

/* A core reads its own bit in the targets of its private interrupts (4.3.12). With a single core,
 * the targets read as 0. */
static enum err gic_v2_enable(const struct gic *gic, uint32_t line, uint64_t affinity)
{
    volatile uint8_t *targets = (volatile uint8_t *)reg(gic, DISTRIBUTOR, GICD_ITARGETSR0);
    volatile uint8_t *priorities = (volatile uint8_t *)reg(gic, DISTRIBUTOR, GICD_IPRIORITYR0);
    volatile uint32_t *config = reg(gic, DISTRIBUTOR, GICD_ICFGR0 + line / 16 * 4);
    volatile uint32_t *enable = reg(gic, DISTRIBUTOR, GICD_ISENABLER0 + line / 32 * 4);

    (void)affinity;
    *config &= ~(2u << line % 16 * 2); /* level-triggered */
    priorities[line] = 0;
    targets[line] = targets[0];
    *enable = 1u << line % 32;
    return err_unless((*enable >> line % 32 & 1) != 0, ERR_UNSUPPORTED);
}

static void gic_v2_disable(const struct gic *gic, uint32_t line, uint64_t affinity)
{
    (void)affinity;
    *reg(gic, DISTRIBUTOR, GICD_ICENABLER0 + line / 32 * 4) = 1u << line % 32;
}

static void gic_v2_serve(const struct gic *gic)
{
    uint32_t taken, line;

    for (unsigned i = 0; i < GIC_MOST_CLAIMS; i++) {
        taken = *reg(gic, INTERFACE, GICC_IAR);
        line = taken & IAR_NUMBER;
        if (line >= GIC_SPECIAL)
            break;
        if (line != GIC_WAKE_UP)
            irq_deliver(line);
        *reg(gic, INTERFACE, GICC_EOIR) = taken;
    }
    CORE_BARRIER("dsb sy"); /* the caller's next look comes after the wake-up is taken */
}

const struct gic_version gic_v2 = {
    .find = gic_v2_find,
    .init = gic_v2_init,
    .listen = gic_v2_listen,
    .wake_others = gic_v2_wake_others,
    .enable = gic_v2_enable,
    .disable = gic_v2_disable,
    .serve = gic_v2_serve,
};
