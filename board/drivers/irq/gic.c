#include "board/drivers/irq/gic.h"

#include "board/board.h"
#include "board/interrupt.h"
#include "board/isa.h"

static struct gic_machine {
    struct gic *gic;               /* NULL if there is no usable GIC */
    bool listens[BOARD_MAX_CORES]; /* each core writes its own entry */
    atomic_bool deaf;              /* a core gets no wake-ups, so no core sleeps in WFI */
} gic_machine;

enum err gic_find(struct gic *gic, const struct device_tree *tree)
{
    static const struct gic_version *const versions[] = { &gic_v2, &gic_v3 };
    enum err e = ERR_NO_DEVICE;

    gic->version = NULL;
    /* A tree describes only one version. */
    for (unsigned i = 0; i < sizeof versions / sizeof versions[0]; i++) {
        e = versions[i]->find(gic, tree);
        if (e != ERR_OK)
            continue;
        gic->version = versions[i];
        return ERR_OK;
    }
    return e;
}

static enum err gic_enable(void *state, uint32_t line)
{
    const struct gic *gic = state;

    if (!gic_machine.listens[0] || (line < GIC_FIRST_SHARED && line != GIC_VIRTUAL_TIMER))
        return ERR_NO_DEVICE;
    return gic->version->enable(gic, line, core_hardware_id());
}

static void gic_disable(void *state, uint32_t line)
{
    const struct gic *gic = state;

    gic->version->disable(gic, line, core_hardware_id());
}

static void gic_serve(void *state)
{
    const struct gic *gic = state;

    gic->version->serve(gic);
}

static const struct irq_controller gic_controller = {
    .enable = gic_enable,
    .disable = gic_disable,
    .serve = gic_serve,
    .timer_line = GIC_VIRTUAL_TIMER,
};

enum err gic_init(struct gic *gic)
{
    enum err e;

    if (gic->version == NULL)
        return ERR_NO_DEVICE;
    for (unsigned i = 0; i < gic->n_ranges; i++) {
        e = mmu_map(gic->ranges[i].base, gic->ranges[i].bytes, MAP_DEVICE);
        if (e != ERR_OK)
            return e;
    }
    e = gic->version->init(gic);
    if (e != ERR_OK)
        return e;
    gic_machine.gic = gic;
    irq_attach(&gic_controller, gic);
    return ERR_OK;
}

void gic_listen(void)
{
    bool listens = gic_machine.gic != NULL &&
                   gic_machine.gic->version->listen(gic_machine.gic, core_hardware_id()) == ERR_OK;

    /* Each core has an interface of its own and sets it up itself. */
    gic_machine.listens[core_number()] = listens;
    if (!listens)
        atomic_store(&gic_machine.deaf, true);
}

/* QEMU's WFE does not sleep: with fewer processors than cores, waiting cores would take time
 * from working ones. WFI sleeps, if a GIC can end it. */
void gic_wait(const _Atomic uint32_t *word, uint32_t old)
{
    bool on = core_interrupts_mask();

    if (atomic_load(&gic_machine.deaf)) {
        core_wait(word, old);
    } else if (atomic_load(word) == old) { /* a change after this look ends the sleep at once */
        core_idle();
        gic_machine.gic->version->serve(gic_machine.gic);
    }
    core_interrupts_restore(on);
}

/* Wake both from WFE and from WFI: if a core turns out to get no wake-ups, all cores wait by WFE
 * from then on, but some may already be in WFI. */
void gic_wake(const _Atomic uint32_t *word)
{
    core_wake(word);
    if (gic_machine.listens[core_number()])
        gic_machine.gic->version->wake_others(gic_machine.gic);
}

uint32_t gic_device_line(const struct device_tree *tree, const struct device_tree_node *node)
{
    enum { CELLS = 3, CELL_BYTES = 4, SHARED = 0 };
    uint32_t bytes, cells[CELLS] = { 1 };
    const uint8_t *value = device_tree_property(tree, node, "interrupts", &bytes);

    if (value == NULL || bytes < CELLS * CELL_BYTES)
        return 0;
    for (unsigned i = 0; i < CELLS * CELL_BYTES; i++)
        cells[i / CELL_BYTES] = cells[i / CELL_BYTES] << 8 | value[i];
    if (cells[0] != SHARED || cells[1] >= GIC_MAX_SHARED)
        return 0;
    return GIC_FIRST_SHARED + cells[1];
}
