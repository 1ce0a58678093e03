/* The sizes of a cache of experts (plan_experts_slots() in plan_segments.c says how many slots each layer
 * has). */
#include "board/min_max.h"
#include "runtime/stream/plan_private.h"

/* Of all layers; what is known about an expert lies beside its slot. */
static uint64_t cache_bytes(const struct image *image, uint32_t n_slots)
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
    return cache_bytes(image, 1);
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

/* Of a token, whose experts are in their slots as often as any. */
static uint64_t read_bytes(const struct image *image, uint32_t n_slots)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < image->header->params.n_layers; i++) {
        const struct ingot_layer *l = image_layer(image, i);

        if (l->ffn == INGOT_FFN_EXPERTS) {
            bytes += l->n_experts_used * l->expert_bytes *
                     (l->n_experts - plan_experts_slots(image, i, n_slots)) / l->n_experts;
        }
    }
    return bytes;
}

void plan_experts_fit(struct plan *plan, const struct image *image, uint64_t room)
{
    struct plan_experts *e = &plan->experts;

    e->n_slots = 1;
    while (e->n_slots < INGOT_MAX_EXPERTS && cache_bytes(image, e->n_slots + 1) <= room) {
        e->n_slots++;
    }
    for (uint32_t i = 0; i < image->header->params.n_layers; i++) {
        e->n += image_layer(image, i)->n_experts;
    }
    e->bytes = cache_bytes(image, e->n_slots);
    e->read = read_bytes(image, e->n_slots);
    plan->memory.pinned += (size_t)e->bytes;
    plan->layers.read += e->read;
}
