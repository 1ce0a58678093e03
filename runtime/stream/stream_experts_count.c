/* Counts how many hits a cache of another size would have had. The rule by which experts lose their
 * slots puts all of a layer's experts in an order that does not depend on the number of slots: a
 * cache of n slots has the first n experts. So the place of a token's expert tells which caches
 * have it, and from the counts of places one run gives the hit rate of every size.
 *
 * A used expert moves to the front, and the expert that was there moves back. At each later place,
 * up to the used expert's old place, the expert that a cache would drop first moves back (Mattson's
 * stack algorithm). */
#include "runtime/stream/stream_private.h"

enum { MOST_COUNTED = 1u << 30 };

/* Return true if a cache would keep expert a rather than b. */
static bool is_kept(const struct stream_expert *all, uint16_t a, uint16_t b)
{
    bool a_needed = all[a].listed != STREAM_NOT_LISTED,
         b_needed = all[b].listed != STREAM_NOT_LISTED;

    if (a_needed != b_needed) {
        return a_needed;
    }
    if (all[a].use != all[b].use) {
        return all[a].use > all[b].use;
    }
    return a < b;
}

static uint32_t place_of(const struct stream_expert *all, uint16_t expert)
{
    uint32_t place = 0;

    while (all[place].order != expert) {
        place++;
    }
    return place;
}

static void move_to_front(struct stream_expert *all, uint16_t expert)
{
    uint16_t carried = expert;
    uint32_t end = place_of(all, expert);

    for (uint32_t i = 0; i < end; i++) {
        uint16_t here = all[i].order;

        if (i == 0 || is_kept(all, carried, here)) {
            all[i].order = carried;
            carried = here;
        }
    }
    all[end].order = carried;
}

/* Halve all counts, so that none overflows and old uses count less. */
static void halve(struct stream_expert *all, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        all[i].taken /= 2;
        all[i].found /= 2;
    }
}

void stream_experts_count(struct stream *s, uint32_t n_tokens)
{
    const struct stream_experts *x = &s->experts;
    const struct ingot_layer *l = image_layer(s->image, x->layer);
    struct stream_expert *all = x->all + l->first_expert;

    for (uint32_t i = 0; i < x->n; i++) {
        uint16_t expert = x->list[i].expert;

        if (n_tokens == 1 && all[expert].taken != 0) { /* at an expert's first use no cache has
                                                        * it */
            all[place_of(all, expert)].found++;
        }
    }
    for (uint32_t i = 0; i < x->n; i++) {
        uint16_t expert = x->list[i].expert;

        all[expert].taken += x->counts[expert];
        if (all[expert].taken >= MOST_COUNTED) {
            halve(all, l->n_experts);
        }
        move_to_front(all, expert);
    }
}
