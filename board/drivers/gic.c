#include "board/drivers/gic.h"

#include "board/drivers/serial.h"
#include "board/isa.h"

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

enum err gic_init(const struct gic *gic)
{
    return gic->version != NULL ? gic->version->init(gic) : ERR_NO_DEVICE;
}

enum err gic_listen(const struct gic *gic, uint64_t affinity)
{
    return gic->version != NULL ? gic->version->listen(gic, affinity) : ERR_NO_DEVICE;
}

void gic_wake_others(const struct gic *gic)
{
    if (gic->version != NULL)
        gic->version->wake_others(gic);
}

void gic_sleep(const struct gic *gic)
{
    core_idle();
    if (gic->version != NULL)
        gic->version->serve(gic);
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

enum err gic_take_input(struct gic *gic, uint32_t line)
{
    enum err e;

    if (gic->version == NULL || line < GIC_FIRST_SHARED)
        return ERR_NO_DEVICE;
    e = gic->version->enable(gic, line, core_hardware_id());
    if (e != ERR_OK)
        return e;
    gic->line = line;
    serial_listen();
    core_interrupts_on(serve, gic);
    return ERR_OK;
}
