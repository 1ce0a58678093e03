#include "board/drivers/irq/gic.h"

#include "board/board.h"
#include "board/drivers/serial/serial.h"
#include "board/isa.h"

static struct gic_bell {
    struct gic *gic;               /* NULL: none that can be used */
    bool listens[BOARD_MAX_CORES]; /* a member is written by its core */
    atomic_bool deaf;              /* some core does not listen: nobody sleeps in WFI */
} bell;

enum err gic_find(struct gic *gic, const struct device_tree *tree)
{
    static const struct gic_version *const versions[] = { &gic_v2, &gic_v3 };
    enum err e = ERR_NO_DEVICE;

    gic->version = NULL;
    for (unsigned i = 0; i < sizeof versions / sizeof versions[0]; i++) {
        e = versions[i]->find(gic, tree);
        if (e != ERR_OK)
            continue;
        gic->version = versions[i];
        return ERR_OK;
    }
    return e;
}

enum err gic_init(struct gic *gic)
{
    enum err e = gic->version != NULL ? ERR_OK : ERR_NO_DEVICE;

    for (unsigned i = 0; e == ERR_OK && i < gic->n_ranges; i++)
        e = mmu_map(gic->ranges[i].base, gic->ranges[i].bytes, MAP_DEVICE);
    if (e == ERR_OK)
        e = gic->version->init(gic);
    if (e == ERR_OK)
        bell.gic = gic;
    return e;
}

void gic_listen(void)
{
    bool listens = bell.gic != NULL &&
                   bell.gic->version->listen(bell.gic, core_hardware_id()) == ERR_OK;

    bell.listens[core_number()] = listens;
    if (!listens)
        atomic_store(&bell.deaf, true);
}

/* QEMU's WFE does not sleep: with fewer processors than cores, waiting cores would take the time
 * of those that work. WFI does, where a GIC can end it. */
void gic_wait(const _Atomic uint32_t *word, uint32_t old)
{
    bool on = core_interrupts_mask();

    if (atomic_load(&bell.deaf)) {
        core_wait(word, old);
    } else if (atomic_load(word) == old) { /* a change after this look ends the sleep at once */
        core_idle();
        bell.gic->version->serve(bell.gic);
    }
    core_interrupts_restore(on);
}

/* Both: a core may sleep in WFI from before another one turned out deaf, which waits by WFE. */
void gic_wake(const _Atomic uint32_t *word)
{
    core_wake(word);
    if (bell.listens[core_number()])
        bell.gic->version->wake_others(bell.gic);
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
    return cells[0] == SHARED && cells[1] < GIC_MAX_SHARED ? GIC_FIRST_SHARED + cells[1] : 0;
}

static void serve(void *context)
{
    const struct gic *gic = context;

    gic->version->serve(gic);
}

enum err gic_take_input(uint32_t line)
{
    struct gic *gic = bell.gic;
    enum err e;

    if (!bell.listens[0] || line < GIC_FIRST_SHARED)
        return ERR_NO_DEVICE;
    e = gic->version->enable(gic, line, core_hardware_id());
    if (e != ERR_OK)
        return e;
    gic->line = line;
    serial_listen();
    core_interrupts_on(serve, gic);
    return ERR_OK;
}
