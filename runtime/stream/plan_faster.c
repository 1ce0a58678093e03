/* Advice for a model whose experts are in a cache. More memory for the cache would help, or experts
 * of fewer bits, because more of these fit and each takes less time to read. */
#include <string.h>

#include "board/min_max.h"
#include "runtime/stream/plan_private.h"
#include "runtime/text/format_text.h"

enum {
    WORTH_PERCENT = 10, /* do not mention smaller gains, because rates are accurate only to a few
                         * percent */
    NS = 1000000000,
};

/* Return a token's time with this many slots. */
static uint64_t decode_ns(const struct plan *plan, const struct image *image, uint32_t n_slots)
{
    struct plan other = *plan;

    other.experts.n_slots = n_slots;
    other.layers.read += plan_experts_read(plan->experts.use, image, n_slots) - plan->experts.read;
    plan_predict(&other, image);
    return other.prediction.decode_ns;
}

/* Return the fewest slots with which a token takes at most `ns`; `most` slots are enough. */
static uint32_t fewest_slots(const struct plan *plan, const struct image *image, uint64_t ns,
                             uint32_t most)
{
    uint32_t low = plan->experts.n_slots, high = most;

    /* Use bisection, because more slots never make a token slower. */
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;

        if (decode_ns(plan, image, middle) <= ns) {
            high = middle;
        } else {
            low = middle;
        }
    }
    return high;
}

/* Return the type of the experts' matrices, or INGOT_N_TYPES if there are no experts, or if not all
 * matrices can have `type`. */
static unsigned expert_type(const struct image *image, unsigned type)
{
    unsigned found = INGOT_N_TYPES;

    for (uint32_t i = 0; i < image->header->tensors.count; i++) {
        const struct ingot_tensor *t = &image->tensors[i];

        if (!image_role_is_expert((enum ingot_role)t->role) ||
            !image_role_is_matrix((enum ingot_role)t->role)) {
            continue;
        }
        if (!image_type_takes(type, t->cols)) {
            return INGOT_N_TYPES;
        }
        found = t->type;
    }
    return found;
}

/* Return true if `type` is at least an eighth smaller than the current type. *now and *then become
 * the bytes of 256 weights in both types. */
static bool is_smaller(const struct image *image, unsigned type, uint64_t *now, uint64_t *then)
{
    unsigned current = expert_type(image, type);

    if (current == INGOT_N_TYPES) {
        return false;
    }
    *now = image_type_row_bytes(current, 256);
    *then = image_type_row_bytes(type, 256);
    return *then != 0 && *then <= *now - *now / 8;
}

/* Return a token's time if experts have `then` bytes instead of `now`, in the same memory. Fewer
 * bytes save reading time, but no more than the time spent waiting. */
static uint64_t retyped_ns(const struct plan *plan, const struct image *image, uint32_t most,
                           uint64_t now, uint64_t then)
{
    const struct plan_experts *e = &plan->experts;
    /* More of the smaller experts fit in the same memory. */
    uint32_t n_slots = (uint32_t)min_u64(e->n_slots * now / then, most);
    uint64_t read = plan_experts_read(e->use, image, n_slots) * then / now;
    /* Each missing expert has fewer bytes to read. */
    uint64_t saved = (e->read - min_u64(read, e->read)) * (NS / 1000) /
                     (plan->rates.card / 1000 + 1);
    uint64_t least = decode_ns(plan, image, most);

    return max_u64(plan->prediction.decode_ns - min_u64(saved, plan->prediction.decode_ns), least);
}

static uint32_t most_slots(const struct image *image)
{
    uint32_t most = 0;

    for (uint32_t i = 0; i < image->header->params.n_layers; i++) {
        most = max_u32(most, image_layer(image, i)->n_experts);
    }
    return most;
}

/* Add advice such as "; 1.7 times as fast with 2150 MiB more memory, or with experts as q4_0". */
void plan_advise_experts(struct plan *plan, const struct image *image)
{
    static const enum ingot_type types[] = {
#define TYPE_SUITS_EXPERTS(NAME) INGOT_##NAME,
#include "flash_image/format/types.def"
    };
    uint64_t before = plan->prediction.decode_ns, after = 0, now, then;
    uint32_t most = most_slots(image), slots;
    char more[FORMAT_NUMBER_BYTES], gain[FORMAT_NUMBER_BYTES];
    unsigned type = INGOT_N_TYPES;
    size_t n = strlen(plan->advice);

    if (plan->experts.n_slots == 0 || plan->experts.n_slots >= most || before == 0 ||
        plan->rates.card == 0) {
        return;
    }
    /* Take the first type that saves at least an eighth. */
    for (size_t i = 0; i < sizeof types / sizeof types[0] && type == INGOT_N_TYPES; i++) {
        if (is_smaller(image, types[i], &now, &then)) {
            type = types[i];
            after = retyped_ns(plan, image, most, now, then);
        }
    }
    /* Without such a type, aim at 1.5 times the speed, or at the speed with all experts in
     * memory. */
    if (type == INGOT_N_TYPES) {
        after = max_u64(before * 2 / 3, decode_ns(plan, image, most));
    }
    if (after == 0 || before * 100 < after * (100 + WORTH_PERCENT)) {
        return;
    }
    /* Find the fewest slots that reach this time, and the memory for the slots. */
    slots = fewest_slots(plan, image, after, most);
    if (type == INGOT_N_TYPES) {
        after = decode_ns(plan, image, slots);
    }
    plan_format_more(more, sizeof more, plan_experts_bytes(image, slots) - plan->experts.bytes);
    n += format_text(plan->advice + n, sizeof plan->advice - n,
                     "; %s times as fast with %s more memory", format_ratio(gain, before, after, 1),
                     more);
    if (type != INGOT_N_TYPES) {
        (void)format_text(plan->advice + n, sizeof plan->advice - n, ", or with experts as %s",
                          image_type_name(type));
    }
}
