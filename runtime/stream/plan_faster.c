/* Ways to make a model faster whose experts are in a cache: more memory for the cache, or
 * experts of fewer bits, of which more fit and each takes less time to read. */
#include <string.h>

#include "board/min_max.h"
#include "runtime/stream/plan_private.h"
#include "runtime/text/format_text.h"

enum {
    WORTH_PERCENT = 10, /* less is not worth mentioning: rates are accurate to a few percent */
    NS = 1000000000,
};

/* A token's time with so many slots. */
static uint64_t decode_ns(const struct plan *plan, const struct image *image, uint32_t n_slots)
{
    struct plan other = *plan;

    other.experts.n_slots = n_slots;
    other.layers.read += plan_experts_read(plan->experts.use, image, n_slots) - plan->experts.read;
    plan_predict(&other, image);
    return other.prediction.decode_ns;
}

/* The fewest slots with which a token takes at most `ns`; with `most` slots it does. */
static uint32_t fewest_slots(const struct plan *plan, const struct image *image, uint64_t ns,
                             uint32_t most)
{
    uint32_t low = plan->experts.n_slots, high = most;

    /* Bisection: more slots never make a token slower. */
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

/* The type of the experts' matrices; INGOT_N_TYPES: there are none, or not all can have `type`. */
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

/* Bytes of 256 weights in both types, if the second one is at least an eighth smaller. */
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

/* A token's time with experts of `then` bytes in place of `now` in the same memory. Reads that
 * are no longer needed save time, but no more than the waiting. */
static uint64_t retyped_ns(const struct plan *plan, const struct image *image, uint32_t most,
                           uint64_t now, uint64_t then)
{
    const struct plan_experts *e = &plan->experts;
    /* Smaller experts: more of them in the same memory, ... */
    uint32_t n_slots = (uint32_t)min_u64(e->n_slots * now / then, most);
    uint64_t read = plan_experts_read(e->use, image, n_slots) * then / now;
    /* ... and fewer bytes to read for each that is missing. */
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

/* "; 1.7 times as fast with 2150 MiB more memory, or with experts as q4_0" */
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
    /* The first type that saves an eighth at least. */
    for (size_t i = 0; i < sizeof types / sizeof types[0] && type == INGOT_N_TYPES; i++) {
        if (is_smaller(image, types[i], &now, &then)) {
            type = types[i];
            after = retyped_ns(plan, image, most, now, then);
        }
    }
    /* None: aim at one and a half times the speed, or at what a whole cache gives. */
    if (type == INGOT_N_TYPES) {
        after = max_u64(before * 2 / 3, decode_ns(plan, image, most));
    }
    if (after == 0 || before * 100 < after * (100 + WORTH_PERCENT)) {
        return;
    }
    /* The fewest slots that reach that time, and what they cost. */
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
