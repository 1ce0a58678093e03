#include "board/drivers/gic.h"

enum err gic_find(struct gic *gic, const struct device_tree *tree)
{
    enum err e = gic_v2_find(&gic->v2, tree);

    gic->version = e == ERR_OK ? GIC_V2 : GIC_NONE;
    if (e == ERR_OK)
        return ERR_OK;
    e = gic_v3_find(&gic->v3, tree);
    gic->version = e == ERR_OK ? GIC_V3 : GIC_NONE;
    return e;
}

bool gic_registers(const struct gic *gic, unsigned index, uintptr_t *base, size_t *bytes)
{
    if (gic->version == GIC_V2 && index < 2) {
        *base = index == 0 ? gic->v2.distributor : gic->v2.interface;
        *bytes = index == 0 ? GIC_V2_DISTRIBUTOR_BYTES : GIC_V2_INTERFACE_BYTES;
        return true;
    }
    if (gic->version == GIC_V3 && index <= gic->v3.n_regions) {
        *base = index == 0 ? gic->v3.distributor : gic->v3.regions[index - 1].base;
        *bytes = index == 0 ? GIC_V3_DISTRIBUTOR_BYTES : gic->v3.regions[index - 1].bytes;
        return true;
    }
    return false;
}

enum err gic_init(const struct gic *gic)
{
    if (gic->version == GIC_V3)
        return gic_v3_init(&gic->v3);
    if (gic->version == GIC_V2)
        gic_v2_init(&gic->v2);
    return gic->version == GIC_V2 ? ERR_OK : ERR_NO_DEVICE;
}

enum err gic_listen(const struct gic *gic, uint64_t affinity)
{
    if (gic->version == GIC_V3)
        return gic_v3_listen(&gic->v3, affinity);
    if (gic->version == GIC_V2)
        gic_v2_listen(&gic->v2);
    return gic->version == GIC_V2 ? ERR_OK : ERR_NO_DEVICE;
}

void gic_wake_others(const struct gic *gic)
{
    if (gic->version == GIC_V3)
        gic_v3_wake_others();
    else if (gic->version == GIC_V2)
        gic_v2_wake_others(&gic->v2);
}

void gic_sleep(const struct gic *gic)
{
    if (gic->version == GIC_V3)
        gic_v3_sleep();
    else if (gic->version == GIC_V2)
        gic_v2_sleep(&gic->v2);
}
