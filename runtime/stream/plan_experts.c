/* Computes sizes of a cache of experts. (plan_experts_slots() in plan_segments.c says how many
 * slots each layer has.) */
#include "board/min_max.h"
#include "runtime/stream/plan_private.h"

uint64_t plan_experts_bytes(const struct image *image, uint32_t n_slots)
{
    uint64_t bytes = 0, n = 0;

    for (uint32_t i = 0; i < image->header->params.n_layers; i++) {
        const struct ingot_layer *l = image_layer(image, i);

        bytes += plan_experts_slots(image, i, n_slots) * l->expert_bytes;
        n += l->n_experts;
    }
    return bytes + plan_page_up(n * PLAN_EXPERT_BYTES);
}

uint64_t plan_experts_least(const struct image *image)
{
    return plan_experts_bytes(image, 1);
}

uint64_t plan_experts_need(const struct image *image)
{
    struct plan_weights w;

    if (image_most_experts(image) == 0) {
        return UINT64_MAX;
    }
    plan_weigh(&w, image, true);
    return min_u64(w.streamed[PLAN_HEAD_TILED], w.streamed[PLAN_HEAD_WHOLE]) +
           plan_experts_least(image) + 1;
}

/* If the use is unknown, all n experts of a layer are equally likely, so (n - slots) / n of a
 * token's experts are missing. */
uint64_t plan_experts_missing(const struct plan_use *use, const struct image *image, uint32_t layer,
                              uint32_t n_slots)
{
    const struct ingot_layer *l = image_layer(image, layer);
    uint32_t slots = plan_experts_slots(image, layer, n_slots);
    uint64_t beyond = 0;

    if (slots == 0 || slots == l->n_experts) {
        return 0;
    }
    /* Return the average number of a token's experts that are not in a slot, times 2^16. */
    if (use == NULL) {
        return ((uint64_t)l->n_experts_used << 16) * (l->n_experts - slots) / l->n_experts;
    }
    /* Slots hold the most used experts; the others are read. */
    for (uint32_t i = slots; i < l->n_experts; i++) {
        beyond += use->found[i];
    }
    return ((beyond << 16) / use->total) * l->n_experts_used;
}

uint64_t plan_experts_read(const struct plan_use *use, const struct image *image, uint32_t n_slots)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < image->header->params.n_layers; i++) {
        bytes += image_layer(image, i)->expert_bytes *
                     plan_experts_missing(use, image, i, n_slots) >>
                 16;
    }
    return bytes;
}

void plan_experts_fit(struct plan *plan, const struct image *image, uint64_t room)
{
    struct plan_experts *e = &plan->experts;

    e->n_slots = 1;
    /* Bytes grow with each slot, so the last step that fits is the largest cache. */
    while (e->n_slots < INGOT_MAX_EXPERTS && plan_experts_bytes(image, e->n_slots + 1) <= room) {
        e->n_slots++;
    }
    for (uint32_t i = 0; i < image->header->params.n_layers; i++) {
        e->n += image_layer(image, i)->n_experts;
    }
    e->bytes = plan_experts_bytes(image, e->n_slots);
    e->read = plan_experts_read(e->use, image, e->n_slots);
    plan->memory.pinned += (size_t)e->bytes;
    plan->layers.read += e->read;
}
