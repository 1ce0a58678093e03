/* Versions 3 and 4 (IHI 0069). */
#include "board/drivers/irq/gic.h"

#include <stdbool.h>

#include "board/drivers/irq/core_registers.h"
#include "board/interrupt.h"
#include "board/left_out.h"

enum { DISTRIBUTOR, FIRST_REGION, DISTRIBUTOR_BYTES = 0x10000 }; /* ranges */

/* Byte offsets of the distributor's registers (section 12.9). */
enum {
    GICD_CTLR = 0x0000,
    GICD_TYPER = 0x0004,
    GICD_IROUTER0 = 0x6000,
};

/* Byte offsets in the redistributor (section 12.11); its second frame, for SGIs and PPIs, starts at
 * 0x10000. */
enum {
    GICR_CTLR = 0x0000,
    GICR_TYPER = 0x0008,
    GICR_WAKER = 0x0014,
    GICR_LINES = 0x10000,
};

/* Byte offsets that are the same in the distributor and, for the first 32 lines, in the second
 * frame. */
enum {
    IGROUPR0 = 0x0080,
    ISENABLER0 = 0x0100,
    ICENABLER0 = 0x0180,
    ICPENDR0 = 0x0280,
    ICACTIVER0 = 0x0380,
    IPRIORITYR0 = 0x0400,
    ICFGR0 = 0x0c00,
    IGRPMODR0 = 0x0d00,
};

/* GICD_CTLR: the groups that bits 1 and 2 enable depend on the security state of the access; the
 * accessor's own group 1 is always among them. */
#define CTLR_GROUP_1 (1u << 1 | 1u << 2)
#define CTLR_ARE (1u << 4) /* affinity routing for the security state of the access */
#define CTLR_DS (1u << 6)  /* 1: one security state; 0: this is the non-secure state of two */
#define CTLR_RWP (1u << 31)

#define TYPER_LINES 0x1fu /* number of lines in units of 32, minus one */
#define GICR_CTLR_RWP (1u << 3)
#define TYPER_VLPIS (1u << 1) /* the redistributor has the two frames of version 4 */
#define TYPER_LAST (1u << 4)
#define WAKER_SLEEP (1u << 1)  /* ProcessorSleep */
#define WAKER_ASLEEP (1u << 2) /* ChildrenAsleep */

enum { CTLR_PRIORITY_SHIFT = 8 /* of ICC_CTLR_EL1 */ };
enum { FIRST_BEYOND = 1024 /* the first interrupt number after the special ones */ };
enum { FRAMES_V3 = 0x20000, FRAMES_V4 = 0x40000, POLLS = 1000000, SELF_POLLS = 10000 };

#define SGI_ALL_BUT_SELF (UINT64_C(1) << 40) /* ICC_SGI1R_EL1.IRM; SGI number 0 */
#define AFFINITY_MASK UINT64_C(0xff00ffffff)

static volatile uint32_t *reg(uintptr_t base, unsigned offset)
{
    return (volatile uint32_t *)(base + offset);
}

/* Wait until no bit of mask is set. */
static enum err wait_clear(volatile uint32_t *at, uint32_t mask)
{
    for (unsigned i = 0; i < POLLS; i++)
        if ((*at & mask) == 0)
            return ERR_OK;
    return ERR_TIMEOUT;
}

static enum err gic_v3_find(struct gic *gic, const struct device_tree *tree)
{
    struct device_tree_node node;
    uint64_t base, bytes, regions = 1, stride = 0;
    unsigned i;

    device_tree_begin(&node);
    if (!device_tree_next_compatible(tree, &node, "arm,gic-v3"))
        return ERR_NO_DEVICE;
    /* ID_AA64PFR0_EL1.GIC: without it the ICC registers are undefined (DDI 0487). */
    if ((READ_SYSTEM(id_aa64pfr0_el1) >> 24 & 15) == 0)
        return ERR_UNSUPPORTED;
    (void)device_tree_number(tree, &node, "#redistributor-regions", &regions);
    (void)device_tree_number(tree, &node, "redistributor-stride", &stride);
    if (!device_tree_reg(tree, &node, 0, &base, NULL) || stride % FRAMES_V3 != 0)
        return ERR_UNSUPPORTED;
    gic->ranges[DISTRIBUTOR] = (struct gic_range){ (uintptr_t)base, DISTRIBUTOR_BYTES };
    gic->stride = (size_t)stride;
    for (i = 0; i < regions && FIRST_REGION + i < GIC_MAX_RANGES &&
                device_tree_reg(tree, &node, 1 + i, &base, &bytes);
         i++)
        gic->ranges[FIRST_REGION + i] = (struct gic_range){ (uintptr_t)base, (size_t)bytes };
    gic->n_ranges = FIRST_REGION + i;
    if (i == GIC_MAX_RANGES - FIRST_REGION && regions > i)
        left_out_note(LEFT_OUT_REGIONS, (uint32_t)regions - i, 0);
    return err_unless(i != 0, ERR_UNSUPPORTED);
}

/* Clear states that firmware may have left on 32 lines: enabled; pending, from a device that
 * firmware used; and active (taken but not ended), which blocks new interrupts. `base` is the
 * distributor or a redistributor, whose RWP says when the first write has taken effect (12.9,
 * GICD_ICENABLER). */
static enum err turn_off(uintptr_t base, uint32_t first, volatile uint32_t *ctlr, uint32_t rwp)
{
    *reg(base, ICENABLER0 + first / 8) = ~0u;
    if (wait_clear(ctlr, rwp) != ERR_OK)
        return ERR_TIMEOUT;
    *reg(base, ICPENDR0 + first / 8) = ~0u;
    *reg(base, ICACTIVER0 + first / 8) = ~0u;
    return ERR_OK;
}

static enum err gic_v3_init(const struct gic *gic)
{
    uintptr_t base = gic->ranges[DISTRIBUTOR].base;
    volatile uint32_t *ctlr = reg(base, GICD_CTLR);
    uint32_t last = *reg(base, GICD_TYPER) & TYPER_LINES;

    /* Affinity routing may change only while all groups are disabled (12.9, GICD_CTLR). */
    if ((*ctlr & CTLR_ARE) == 0) {
        *ctlr = 0;
        if (wait_clear(ctlr, CTLR_RWP) != ERR_OK)
            return ERR_TIMEOUT;
        *ctlr = CTLR_ARE;
        if (wait_clear(ctlr, CTLR_RWP) != ERR_OK)
            return ERR_TIMEOUT;
    }
    for (uint32_t i = 1; i <= last; i++)
        if (turn_off(base, 32 * i, ctlr, CTLR_RWP) != ERR_OK)
            return ERR_TIMEOUT;
    *ctlr = *ctlr | CTLR_ARE | CTLR_GROUP_1;
    return wait_clear(ctlr, CTLR_RWP);
}

static size_t redistributor_bytes(const struct gic *gic, uint32_t typer)
{
    if (gic->stride != 0)
        return gic->stride;
    if (typer & TYPER_VLPIS)
        return FRAMES_V4;
    return FRAMES_V3;
}

/* The redistributor with this affinity (12.11, GICR_TYPER); 0 if there is none. */
static uintptr_t find_redistributor(const struct gic *gic, uint32_t affinity)
{
    for (unsigned i = FIRST_REGION; i < gic->n_ranges; i++) {
        const struct gic_range *region = &gic->ranges[i];
        size_t at = 0, step = FRAMES_V3;
        bool last = false;

        while (!last && region->bytes - at >= step) {
            uintptr_t base = region->base + at;
            uint32_t typer = *reg(base, GICR_TYPER);

            if (*reg(base, GICR_TYPER + 4) == affinity)
                return base;
            step = redistributor_bytes(gic, typer);
            last = (typer & TYPER_LAST) != 0 || step > region->bytes - at;
            if (!last)
                at += step;
        }
    }
    return 0;
}

/* Use group 1 of our security state. In the secure state this means IGROUPR 0, IGRPMODR 1; in the
 * non-secure state firmware has chosen, and both registers ignore writes (12.11). */
static void choose_group(volatile uint32_t *group, volatile uint32_t *modifier, uint32_t bit,
                         bool single_state)
{
    if (single_state) {
        *group |= bit;
    } else {
        *group &= ~bit;
        *modifier |= bit;
    }
}

/* Only SGI 0 stays on: the core's timers, which firmware uses, are off. An earlier wake-up is
 * lost, which does no harm: the caller has not looked at its word yet. */
static enum err enable_sgi(uintptr_t redistributor, bool single_state)
{
    uintptr_t lines = redistributor + GICR_LINES;

    if (turn_off(lines, 0, reg(redistributor, GICR_CTLR), GICR_CTLR_RWP) != ERR_OK)
        return ERR_TIMEOUT;
    choose_group(reg(lines, IGROUPR0), reg(lines, IGRPMODR0), 1u << GIC_WAKE_UP, single_state);
    *reg(lines, IPRIORITYR0) &= ~0xffu; /* the highest priority that we may use */
    *reg(lines, ISENABLER0) = 1u << GIC_WAKE_UP;
    return ERR_OK;
}

/* Clear active priorities: an interrupt that firmware took and never ended would hold back others.
 * A core with 6 or 7 bits of priority has more of these registers (12.2, ICC_AP1R<n>_EL1); PRIbits
 * is the number of bits minus one. */
static void forget_running(void)
{
    uint64_t bits = (READ_SYSTEM(icc_ctlr_el1) >> CTLR_PRIORITY_SHIFT & 7) + 1;

    WRITE_SYSTEM(icc_ap1r0_el1, 0);
    if (bits >= 6)
        WRITE_SYSTEM(icc_ap1r1_el1, 0);
    if (bits >= 7) {
        WRITE_SYSTEM(icc_ap1r2_el1, 0);
        WRITE_SYSTEM(icc_ap1r3_el1, 0);
    }
}

/* SRE selects system registers instead of memory; CTLR bit 1 (EOImode) must be 0, or ending an
 * interrupt would take two steps (section 12.2). */
static enum err enable_interface(void)
{
    WRITE_SYSTEM(icc_sre_el1, READ_SYSTEM(icc_sre_el1) | 1);
    CORE_BARRIER("isb");
    if ((READ_SYSTEM(icc_sre_el1) & 1) == 0)
        return ERR_UNSUPPORTED;
    forget_running();
    WRITE_SYSTEM(icc_pmr_el1, 0xff); /* every priority */
    WRITE_SYSTEM(icc_ctlr_el1, READ_SYSTEM(icc_ctlr_el1) & ~UINT64_C(2));
    WRITE_SYSTEM(icc_igrpen1_el1, 1);
    CORE_BARRIER("isb");
    return ERR_OK;
}

/* Take a pending interrupt. The DSB makes the acknowledgement take effect before all later accesses
 * (12.2, ICC_IAR1_EL1). Numbers above the special ones (1020 to 1023, see 2.2.1) are LPIs and
 * extended lines that firmware left on. Nobody serves them, but they must be ended, or their
 * priority would hold back all others. */
static bool take(void)
{
    uint64_t taken = READ_SYSTEM(icc_iar1_el1), line = taken & 0xffffff;

    CORE_BARRIER("dsb sy");
    if (line >= GIC_SPECIAL && line < FIRST_BEYOND)
        return false;
    if (line < GIC_SPECIAL && line != GIC_WAKE_UP)
        irq_deliver((uint32_t)line);
    WRITE_SYSTEM(icc_eoir1_el1, taken);
    CORE_BARRIER("isb");
    return true;
}

/* Send a wake-up to this core. If it does not arrive, because firmware has set up the controller
 * differently, cores can still wait in another way. */
static enum err try_self(uint64_t affinity)
{
    uint64_t target = UINT64_C(1) << (affinity & 15) | (affinity & 0xf0) << (44 - 4) |
                      (affinity >> 8 & 0xff) << 16 | (affinity >> 16 & 0xff) << 32 |
                      (affinity >> 32 & 0xff) << 48;

    WRITE_SYSTEM(icc_sgi1r_el1, target);
    CORE_BARRIER("isb");
    for (unsigned i = 0; i < SELF_POLLS; i++)
        if (take())
            return ERR_OK;
    return ERR_TIMEOUT;
}

/* Convert an affinity to the form of GICR_TYPER: 8 bits per level, without MPIDR's gap. */
static uint32_t affinity_name(uint64_t affinity)
{
    return (uint32_t)((affinity >> 32 & 0xff) << 24 | (affinity & 0xffffff));
}

static enum err gic_v3_listen(const struct gic *gic, uint64_t affinity)
{
    uintptr_t redistributor = find_redistributor(gic, affinity_name(affinity));
    volatile uint32_t *ctlr = reg(gic->ranges[DISTRIBUTOR].base, GICD_CTLR);
    enum err e;

    if (redistributor == 0)
        return ERR_NO_DEVICE;
    *reg(redistributor, GICR_WAKER) &= ~WAKER_SLEEP;
    e = wait_clear(reg(redistributor, GICR_WAKER), WAKER_ASLEEP);
    if (e == ERR_OK)
        e = enable_sgi(redistributor, (*ctlr & CTLR_DS) != 0);
    if (e == ERR_OK)
        e = enable_interface();
    if (e != ERR_OK)
        return e;
    return try_self(affinity);
}

static void gic_v3_wake_others(const struct gic *gic)
{
    (void)gic;               /* cores wake others by system registers */
    CORE_BARRIER("dsb ish"); /* a register write may overtake stores, so wait for them */
    WRITE_SYSTEM(icc_sgi1r_el1, SGI_ALL_BUT_SELF);
    CORE_BARRIER("isb");
}

/* The address of a line's registers; a core's own lines are in its redistributor. */
static uintptr_t lines_of(const struct gic *gic, uint32_t line, uint64_t affinity)
{
    if (line >= GIC_FIRST_SHARED)
        return gic->ranges[DISTRIBUTOR].base;
    return find_redistributor(gic, affinity_name(affinity)) + GICR_LINES;
}

/* IROUTER names one core by its affinity (12.9). */
static enum err gic_v3_enable(const struct gic *gic, uint32_t line, uint64_t affinity)
{
    uintptr_t distributor = gic->ranges[DISTRIBUTOR].base, base = lines_of(gic, line, affinity);
    bool single_state = (*reg(distributor, GICD_CTLR) & CTLR_DS) != 0;
    volatile uint32_t *enable = reg(base, ISENABLER0 + line / 32 * 4);

    choose_group(reg(base, IGROUPR0 + line / 32 * 4), reg(base, IGRPMODR0 + line / 32 * 4),
                 1u << line % 32, single_state);
    *reg(base, ICFGR0 + line / 16 * 4) &= ~(2u << line % 16 * 2); /* level-triggered */
    ((volatile uint8_t *)reg(base, IPRIORITYR0))[line] = 0;
    if (line >= GIC_FIRST_SHARED)
        *(volatile uint64_t *)(distributor + GICD_IROUTER0 + line * UINT64_C(8)) = affinity &
                                                                                   AFFINITY_MASK;
    *enable = 1u << line % 32;
    if ((*enable >> line % 32 & 1) == 0)
        return ERR_UNSUPPORTED;
    return wait_clear(reg(distributor, GICD_CTLR), CTLR_RWP);
}

/* Do not wait for RWP of the redistributor: if the line is taken once more, it is disabled
 * again. */
static void gic_v3_disable(const struct gic *gic, uint32_t line, uint64_t affinity)
{
    uintptr_t base = lines_of(gic, line, affinity);

    *reg(base, ICENABLER0 + line / 32 * 4) = 1u << line % 32;
    if (line >= GIC_FIRST_SHARED)
        (void)wait_clear(reg(base, GICD_CTLR), CTLR_RWP);
}

static void gic_v3_serve(const struct gic *gic)
{
    (void)gic; /* the core's own registers suffice */
    for (unsigned i = 0; i < GIC_MOST_CLAIMS && take(); i++)
        continue;
}

const struct gic_version gic_v3 = {
    .find = gic_v3_find,
    .init = gic_v3_init,
    .listen = gic_v3_listen,
    .wake_others = gic_v3_wake_others,
    .enable = gic_v3_enable,
    .disable = gic_v3_disable,
    .serve = gic_v3_serve,
};
