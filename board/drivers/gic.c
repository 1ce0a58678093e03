#include "board/drivers/gic.h"

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
    if (gic->version != NULL)
        gic->version->sleep(gic);
}
