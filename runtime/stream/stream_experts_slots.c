/* Chooses which expert of a layer has which slot, and which expert loses its slot. */
#include "board/min_max.h"
#include "runtime/stream/stream_private.h"

/* Return a slot that no expert of the layer has, or the number of slots if none is free. */
static uint32_t free_slot(const struct stream *s, uint32_t layer, uint32_t n_slots)
{
    const struct stream_expert *all = stream_experts_of(s, layer);
    uint8_t taken[INGOT_MAX_EXPERTS / 8] = { 0 };
    uint32_t slot = 0;

    for (uint32_t i = 0; i < image_layer(s->image, layer)->n_experts; i++) {
        if (all[i].slot != STREAM_NO_SLOT) {
            taken[all[i].slot / 8] |= (uint8_t)(1u << all[i].slot % 8);
        }
    }
    while (slot < n_slots && (taken[slot / 8] >> slot % 8 & 1) != 0) {
        slot++;
    }
    return slot;
}

/* Return true if the next layer's router will probably name the expert. */
static bool is_next(const struct stream *s, uint32_t layer, uint32_t expert)
{
    const struct stream_experts *x = &s->experts;

    for (uint32_t i = 0; i < x->next.n && x->next.layer == layer; i++) {
        if (x->next.experts[i] == expert) {
            return true;
        }
    }
    return false;
}

/* Return the expert that loses its slot: the least used expert that has a slot and is not needed.
 * If several are used equally, the highest number loses its slot. Return NULL if all are needed. */
static struct stream_expert *least_used(const struct stream *s, uint32_t layer)
{
    struct stream_expert *all = stream_experts_of(s, layer), *least = NULL;

    for (uint32_t i = 0; i < image_layer(s->image, layer)->n_experts; i++) {
        bool free = all[i].slot != STREAM_NO_SLOT && all[i].listed == STREAM_NOT_LISTED &&
                    all[i].flags == 0 && !is_next(s, layer, i);

        if (free && (least == NULL || all[i].use <= least->use)) {
            least = &all[i];
        }
    }
    return least;
}

/* A chunk may need more experts than there are slots. Then, of the experts that were in the cache
 * before the chunk, the one that is needed last loses its slot, and is read again later. Experts
 * that were read for this chunk have lower numbers, so they keep their slots. Return NULL if all
 * slots wait for reads in flight. */
static struct stream_expert *needed_last(struct stream *s)
{
    struct stream_experts *x = &s->experts;
    struct stream_expert *all = stream_experts_of(s, x->layer);
    uint32_t i = x->n;

    for (uint32_t j = 0; j < image_layer(s->image, x->layer)->n_experts; j++) {
        if ((all[j].flags & STREAM_EXPERT_COMING) != 0) {
            return NULL; /* wait: a read ahead is filling a slot */
        }
    }
    while (i > 0 && x->list[i - 1].state != STREAM_EXPERT_READY) {
        i--;
    }
    if (i == 0) {
        return NULL;
    }
    x->list[i - 1].state = STREAM_EXPERT_MISSING;
    return &all[x->list[i - 1].expert];
}

uint16_t stream_experts_take_slot(struct stream *s, uint32_t layer, bool now)
{
    uint32_t n_slots = plan_experts_slots(s->image, layer, s->plan->experts.n_slots);
    uint32_t slot = free_slot(s, layer, n_slots);
    struct stream_expert *other;

    if (slot < n_slots) {
        return (uint16_t)slot;
    }
    other = least_used(s, layer);
    if (other == NULL && now) {
        other = needed_last(s);
    }
    if (other == NULL) {
        return STREAM_NO_SLOT;
    }
    slot = other->slot;
    other->slot = STREAM_NO_SLOT;
    return (uint16_t)slot;
}

void stream_experts_pin(struct stream *s, uint32_t n)
{
    for (uint32_t layer = 0; layer < s->image->header->params.n_layers; layer++) {
        const struct ingot_layer *l = image_layer(s->image, layer);
        uint32_t slots = plan_experts_slots(s->image, layer, s->plan->experts.n_slots);
        struct stream_expert *all = stream_experts_of(s, layer);

        /* a token's experts must always have room in addition to the pinned experts */
        for (uint32_t k = 0; slots != 0 && k < min_u32(n, slots - l->n_experts_used); k++) {
            struct stream_expert *most = NULL;

            for (uint32_t i = 0; i < l->n_experts; i++) {
                if (all[i].taken != 0 && (all[i].flags & STREAM_EXPERT_PINNED) == 0 &&
                    (most == NULL || all[i].taken > most->taken)) {
                    most = &all[i];
                }
            }
            if (most != NULL) {
                most->flags |= STREAM_EXPERT_PINNED;
            }
        }
    }
}
