/* The plan's messages tell the user why a model does not fit, or what would be better. */
#include "board/min_max.h"
#include "runtime/stream/plan_private.h"
#include "runtime/text/format_text.h"

enum {
    LEAST_CONTEXT = 128, /* the shortest context that is advised */
    CURE_BYTES = 96,
    KIB = 1024,
};

/* Return the fewest bytes that weights need. A small model may need fewer bytes than two slots. */
static uint64_t least_bytes(const struct plan_weights *w)
{
    uint64_t resident = w->total;

    if (!w->tied) {
        resident = min_u64(resident, w->by_rows);
    }
    resident = min_u64(resident, plan_experts_need(w->image));
    return min_u64(resident, min_u64(w->streamed[PLAN_HEAD_TILED], w->streamed[PLAN_HEAD_WHOLE]));
}

/* Return the first type of the list that saves an eighth of the bytes and with which the weights
 * would fit in `limit`: the fewest bytes that they need are taken to shrink like all weights.
 * INGOT_N_TYPES: there is none. */
static unsigned smaller_type(const struct image *image, const struct plan_weights *w,
                             uint64_t limit)
{
    uint64_t least_kib = least_bytes(w) / KIB;
    static const enum ingot_type types[] = {
#define TYPE_SUITS_CARDS(NAME) INGOT_##NAME,
#include "flash_image/format/types.def"
    };

    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        uint64_t bytes = plan_bytes_as(image, types[i]);

        if (bytes != 0 && bytes < w->total - w->total / 8 &&
            least_kib * (bytes / KIB) <= limit / KIB * (w->total / KIB)) {
            return types[i];
        }
    }
    return INGOT_N_TYPES;
}

/* Return the most exact type of keys and values that is smaller than the requested type and lets
 * weights of `needed` bytes fit. Return "" if no smaller type suffices. */
static const char *fitting_kv(const struct plan *plan, const struct plan_request *r,
                              uint64_t needed, char name[KV_TYPES_NAME_BYTES])
{
    const struct kv_types types[] = { kv_both(KV_F16), kv_both(KV_ROT_Q8) };
    struct kv_layers layers = { r->image->layers, r->image->header->params.n_layers };
    size_t now = kv_cache_bytes(&layers, plan->context, r->limits.kv);

    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        struct plan_request smaller = *r;
        struct plan_layout l;

        /* Compute the layout again with that type, to see if the weights are within their limit. */
        smaller.limits.kv = types[i];
        if (kv_cache_bytes(&layers, plan->context, types[i]) >= now) {
            continue;
        }
        plan_lay_out(&l, plan, &smaller, plan->context);
        if (l.rest < r->arena_bytes && needed <= l.limit) {
            return kv_types_name(types[i], name);
        }
    }
    return "";
}

static void plan_cure(char *cure, size_t bytes, const struct plan *plan,
                      const struct plan_request *r, const struct plan_weights *w,
                      const struct plan_layout *l)
{
    unsigned type = smaller_type(r->image, w, l->limit);
    char name[KV_TYPES_NAME_BYTES];
    const char *kv = fitting_kv(plan, r, least_bytes(w), name);

    if (kv[0] != '\0') {
        format_text(cure, bytes, "use kv=%s, with which context %u fits, or a shorter ctx=", kv,
                    (unsigned)plan->context);
    } else if (type == INGOT_N_TYPES) {
        format_text(cure, bytes, "use a smaller model or a shorter ctx=");
    } else {
        format_text(cure, bytes, "use a smaller type (ingot pack --type %s) or a shorter ctx=",
                    image_type_name(type));
    }
}

void plan_refuse(struct plan *plan, const struct plan_request *r, const struct plan_weights *w,
                 const struct plan_layout *l)
{
    unsigned long least = (unsigned long)((least_bytes(w) + KIB - 1) / KIB);
    unsigned long kv = r->limits.kv_card ? (unsigned long)(plan_page_up(l->kv) / KIB) : 0;
    /* Memory comes in whole pages, so the sum of both numbers is a multiple of a page. */
    uint64_t all = plan_page_up((uint64_t)least * KIB + l->rest + r->taken_bytes);
    char cure[CURE_BYTES];

    /* Without mem= there is more room, so mem= is the obstacle. */
    if (l->rest < r->arena_bytes && l->limit < r->arena_bytes - l->rest) {
        format_text(cure, sizeof cure, "raise mem= to at least %lu KiB%s", least + kv,
                    kv == 0 ? "" : ", for weights, keys and values");
        plan->mem_is_short = true;
    } else {
        plan_cure(cure, sizeof cure, plan, r, w, l);
    }
    format_text(plan->error_message, sizeof plan->error_message,
                "the weights need at least %lu KiB, plus %lu KiB for context %u, tables and work "
                "space, but may take only %lu KiB: %s",
                least, (unsigned long)(all / KIB) - least, (unsigned)plan->context,
                (unsigned long)(l->limit / KIB), cure);
}

/* Return the largest type with which all weights fit, among types that suit any model.
 * INGOT_N_TYPES: none. */
static unsigned fitting_type(const struct image *image, uint64_t limit, uint64_t *bytes)
{
    static const enum ingot_type types[] = {
#define TYPE_SUITS(NAME) INGOT_##NAME,
#include "flash_image/format/types.def"
    };

    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        *bytes = plan_bytes_as(image, types[i]);
        if (*bytes != 0 && *bytes <= limit) {
            return types[i];
        }
    }
    return INGOT_N_TYPES;
}

/* Halve the context until all weights also fit, and return it, or 0 if no context is small
 * enough. */
static uint32_t fitting_context(const struct plan *plan, const struct plan_request *r,
                                const struct plan_weights *w)
{
    if (r->limits.weights != 0) {
        return 0;
    }
    for (uint32_t context = plan->context / 2; context >= LEAST_CONTEXT; context /= 2) {
        struct plan_layout l;

        plan_lay_out(&l, plan, r, context);
        if (l.rest < r->arena_bytes && w->total <= l.limit) {
            return context;
        }
    }
    return 0;
}

void plan_format_more(char *text, size_t room, uint64_t bytes)
{
    unsigned shift = 10;
    char unit = 'K';

    if (bytes > 1u << 20) {
        shift = 20;
        unit = 'M';
    }
    format_text(text, room, "%u %ciB", (unsigned)((bytes + (1u << shift) - 1) >> shift), unit);
}

/* "the weights would fit with 41 MiB more memory, or packed as q4_0 (95.2 MiB), or with kv=rot_q8,
 * or with ctx=1024". */
void plan_advise(struct plan *plan, const struct plan_request *r, const struct plan_weights *w,
                 const struct plan_layout *l)
{
    char more[FORMAT_NUMBER_BYTES], size[FORMAT_NUMBER_BYTES], name[KV_TYPES_NAME_BYTES];
    uint64_t bytes;
    uint32_t context;
    const char *kv;
    unsigned type;
    size_t n;

    if (plan->residency != PLAN_STREAMED || plan->layers.read == 0) {
        return;
    }
    plan_format_more(more, sizeof more, w->total - l->limit);
    n = format_text(plan->advice, sizeof plan->advice, "the weights would fit with %s more memory",
                    more);
    type = fitting_type(r->image, l->limit, &bytes);
    if (type != INGOT_N_TYPES) {
        n += format_text(plan->advice + n, sizeof plan->advice - n, ", or packed as %s (%s)",
                         image_type_name(type), format_bytes(size, bytes));
    }
    kv = fitting_kv(plan, r, w->total, name);
    if (kv[0] != '\0') {
        n += format_text(plan->advice + n, sizeof plan->advice - n, ", or with kv=%s", kv);
    }
    context = fitting_context(plan, r, w);
    if (context != 0) {
        (void)format_text(plan->advice + n, sizeof plan->advice - n, ", or with ctx=%u",
                          (unsigned)context);
    }
    plan_advise_experts(plan, r->image);
}
