#include "runtime/stream/plan.h"

#include <string.h>

#include "board/block_device.h"
#include "board/min_max.h"
#include "runtime/base/arena.h"
#include "runtime/compute/activations.h"
#include "runtime/stream/kv_pages.h"
#include "runtime/text/format_text.h"

/* A tile is read from the sector before it to the sector after, the last one with the padding
 * of its segment. */
enum { TILE_SLACK = 2 * SECTOR_BYTES + INGOT_PAGE };

enum { FASTER_PERCENT = 3 }; /* that a plan must be, to be taken for what is predicted */

/* Sizes of outside data meet here: everything is 64 bits wide and the reader bounds each
 * dimension, so no product below can wrap. */

struct weights {
    const struct image *image;
    uint32_t n_layers;
    uint64_t total; /* all segments */
    uint64_t largest_layer;
    uint64_t embedding; /* bytes of its segment */
    uint64_t head;
    bool tied;
};

static uint64_t page_up(uint64_t n)
{
    return (n + INGOT_PAGE - 1) / INGOT_PAGE * INGOT_PAGE;
}

static void weigh(struct weights *w, const struct image *image)
{
    memset(w, 0, sizeof *w);
    w->image = image;
    w->n_layers = image->header->params.n_layers;
    w->tied = image->header->params.tied != 0;
    w->embedding = image->segments[image_embedding_segment(image)].bytes;
    w->head = image->segments[image_head_segment(image)].bytes;
    for (uint32_t i = 0; i < image_segment_count(image); i++) {
        const struct ingot_segment *s = &image->segments[i];

        w->total += s->bytes;
        if (s->kind == INGOT_SEGMENT_LAYER) {
            w->largest_layer = max_u64(w->largest_layer, s->bytes);
        }
    }
}

static size_t embedding_row_bytes(const struct image *image)
{
    uint64_t offset;
    size_t bytes;

    plan_embedding_range(image, 0, &offset, &bytes);
    return bytes;
}

/* The file has one checksum for the whole embedding; a group of rows needs its own. */
static size_t row_sums_bytes(const struct image *image)
{
    return plan_row_groups(image) * sizeof(uint32_t);
}

/* Cut the output matrix into tiles of at most slot_bytes, whole groups of rows. */
static void plan_tiles(struct plan *plan, const struct weights *w)
{
    const struct ingot_tensor *t = image_tensor(w->image, INGOT_OUTPUT, INGOT_NO_LAYER);
    uint64_t groups;
    struct plan_tile tile;

    plan->tiled_head = true;
    plan->tile_base = w->image->segments[t->segment].offset + t->offset;
    plan->tile_end = w->image->segments[t->segment].offset + w->image->segments[t->segment].bytes;
    plan->group_rows = t->interleave == 1 ? 8 : t->interleave;
    plan->group_bytes = image_type_row_bytes(t->type, t->cols_padded) * (uint64_t)plan->group_rows;
    groups = (plan->slot_bytes - TILE_SLACK) / plan->group_bytes;
    plan->tile_rows = (uint32_t)(groups > t->rows ? t->rows : groups) * plan->group_rows;
    plan->n_tiles = (t->rows + plan->tile_rows - 1) / plan->tile_rows;
    for (uint32_t i = 0; i < plan->n_tiles; i++) {
        plan_head_tile(plan, w->image, i, &tile);
        plan->head_read += tile.bytes;
    }
}

/* The least slot: the largest layer, and a few groups of the head when it is tiled. */
static uint64_t slot_bytes(const struct weights *w, bool tiled)
{
    const struct ingot_tensor *t = image_tensor(w->image, INGOT_OUTPUT, INGOT_NO_LAYER);
    uint64_t group = image_type_row_bytes(t->type, t->cols_padded) * 8u;
    uint64_t tile = page_up(group + TILE_SLACK);

    return tiled && tile > w->largest_layer ? tile : w->largest_layer;
}

/* Which layer streams as number i of n, spread evenly over the pass: while what lies between them
 * computes, the next one arrives, so no two transfers need to hide behind one layer. A pinned head
 * counts as the layers that it is as large as, as far as the last layer is not passed. */
static uint64_t streamed_place(const struct plan *plan, const struct weights *w, uint64_t i,
                               uint64_t n)
{
    const struct ingot_tensor *head = image_tensor(w->image, INGOT_OUTPUT, INGOT_NO_LAYER);
    uint64_t layers = w->n_layers * w->largest_layer;
    uint64_t pass = layers + (plan->tiled_head ? 0 : head->bytes);

    if ((n - 1) * pass > (layers - w->largest_layer) * n) {
        return i * (w->n_layers - 1) / (n - 1);
    }
    return i * pass / (n * w->largest_layer);
}

static void pin_layers(struct plan *plan, const struct weights *w, uint32_t pinned)
{
    uint32_t n = w->n_layers - pinned, found = 0;

    for (uint32_t i = 0; i < w->n_layers; i++) {
        bool pin = found == n || i < streamed_place(plan, w, found, n);
        uint32_t segment = image_layer_segment(w->image, i);
        uint64_t bytes = w->image->segments[segment].bytes;

        plan->pinned[segment] = pin;
        found += pin ? 0 : 1;
        if (pin) {
            plan->pinned_bytes += (size_t)bytes;
        } else {
            plan->layer_read += bytes;
        }
    }
    plan->n_pinned_layers = pinned;
    plan->n_streamed_layers = n;
}

static void pin_segment(struct plan *plan, const struct weights *w, uint32_t segment)
{
    plan->pinned[segment] = true;
    plan->pinned_bytes += (size_t)w->image->segments[segment].bytes;
}

/* Everything in memory but, where the room ends just there, an untied embedding. */
static bool try_resident(struct plan *plan, const struct weights *w, uint64_t limit)
{
    uint64_t by_rows = w->total - w->embedding + embedding_row_bytes(w->image) +
                       row_sums_bytes(w->image);

    if (w->total > limit && (w->tied || by_rows > limit)) {
        return false;
    }
    plan->residency = w->total <= limit ? PLAN_RESIDENT : PLAN_STREAMED;
    pin_layers(plan, w, w->n_layers);
    pin_segment(plan, w, image_head_segment(w->image));
    if (w->total <= limit) {
        pin_segment(plan, w, image_embedding_segment(w->image));
    } else {
        plan->row_bytes = embedding_row_bytes(w->image);
    }
    return true;
}

size_t plan_output_norm_bytes(const struct image *image)
{
    const struct ingot_tensor *norm = image_tensor(image, INGOT_OUTPUT_NORM, INGOT_NO_LAYER);
    const struct ingot_tensor *head = image_tensor(image, INGOT_OUTPUT, INGOT_NO_LAYER);

    return (size_t)(head->offset - norm->offset);
}

/* The final norm of an untied head in tiles. */
static uint64_t norm_bytes(const struct weights *w)
{
    return page_up(plan_output_norm_bytes(w->image));
}

/* What streaming takes with no layer pinned. The final norm lies in the head's segment: tied,
 * that is a page; an untied head in tiles keeps only the norm (see stream_load.c). */
static uint64_t streamed_bytes(const struct weights *w, bool tiled)
{
    uint64_t row = embedding_row_bytes(w->image) + row_sums_bytes(w->image);
    uint64_t slots = PLAN_SLOTS * slot_bytes(w, tiled);

    if (w->tied) {
        return slots + w->head + (tiled ? row : w->embedding);
    }
    return slots + row + (tiled ? norm_bytes(w) : w->head);
}

/* The slots, the head or its norm, then as many layers as fit. Every streamed byte costs the same
 * per token, so bytes alone decide what is pinned. */
static void stream_with(struct plan *plan, const struct weights *w, uint64_t limit, bool tiled)
{
    uint64_t room = (limit - streamed_bytes(w, tiled)) / w->largest_layer;

    plan->residency = PLAN_STREAMED;
    plan->n_slots = PLAN_SLOTS;
    plan->slot_bytes = (size_t)slot_bytes(w, tiled);
    plan->row_bytes = tiled || !w->tied ? embedding_row_bytes(w->image) : 0;
    if (tiled) {
        plan_tiles(plan, w);
    }
    if (w->tied || !tiled) {
        pin_segment(plan, w, image_head_segment(w->image));
    } else {
        plan->pinned_bytes += (size_t)norm_bytes(w);
    }
    if (w->tied && !tiled) {
        pin_segment(plan, w, image_embedding_segment(w->image));
    }
    pin_layers(plan, w, room < w->n_layers - 1 ? (uint32_t)room : w->n_layers - 1);
}

/* For a token, by more than what the rates may be wrong, and a prompt is not much slower. */
static bool is_faster(const struct plan *other, const struct plan *than)
{
    return than->decode_ns != 0 &&
           other->decode_ns * (100 + FASTER_PERCENT) < than->decode_ns * 100 &&
           other->prefill_ns * 100 <= than->prefill_ns * (100 + FASTER_PERCENT);
}

/* A pinned head spares its tiles, and the card runs ahead while it is computed. Where that takes
 * longer than the slots take to fill, the card waits: then the head in tiles, and layers in its
 * place, may be faster. */
static bool try_streamed(struct plan *plan, const struct weights *w, uint64_t limit)
{
    struct plan tiled = *plan;
    bool fits = streamed_bytes(w, false) <= limit;

    if (streamed_bytes(w, true) > limit && !fits) {
        return false;
    }
    if (fits) {
        stream_with(plan, w, limit, false);
        plan_predict(plan, w->image);
    }
    if (streamed_bytes(w, true) <= limit) {
        stream_with(&tiled, w, limit, true);
        plan_predict(&tiled, w->image);
        *plan = !fits || is_faster(&tiled, plan) ? tiled : *plan;
    }
    return true;
}

/* What is left keeps more than the one embedding row that a token needs. */
static void keep_rows(struct plan *plan, const struct image *image, uint64_t limit)
{
    uint64_t used = plan->pinned_bytes + (uint64_t)plan->n_slots * plan->slot_bytes;
    uint64_t rows;

    if (plan->row_bytes == 0) {
        return;
    }
    plan->row_sums_bytes = row_sums_bytes(image);
    used += plan->row_sums_bytes;
    rows = (limit - used) / plan->row_bytes;
    plan->n_rows = rows < PLAN_MOST_ROWS ? (uint32_t)rows : PLAN_MOST_ROWS;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Small models may take less whole than in two slots. */
static uint64_t least_bytes(const struct weights *w)
{
    uint64_t resident = w->total;

    if (!w->tied) {
        resident = smaller(resident, w->total - w->embedding + embedding_row_bytes(w->image) +
                                         row_sums_bytes(w->image));
    }
    return smaller(resident, smaller(streamed_bytes(w, true), streamed_bytes(w, false)));
}

static void refuse(struct plan *plan, const struct plan_request *r, const struct weights *w,
                   uint64_t rest, uint64_t limit)
{
    const char *cure = rest < r->arena_bytes && limit < r->arena_bytes - rest
                           ? "raise mem= to at least that"
                           : "use a smaller type (ingot pack --type q4_0) or a shorter ctx=";

    format_text(plan->problem, sizeof plan->problem,
                "the weights need at least %lu KiB beside %lu KiB for context %u and work space, "
                "and may take %lu KiB: %s",
                (unsigned long)((least_bytes(w) + 1023) / 1024),
                (unsigned long)((rest + 1023) / 1024), (unsigned)plan->context,
                (unsigned long)(limit / 1024), cure);
}

static enum err choose_context(struct plan *plan, const struct plan_request *r)
{
    uint32_t most = r->image->header->params.context;

    plan->context = r->context;
    if (r->context == 0) {
        plan->context = most < PLAN_DEFAULT_CONTEXT ? most : PLAN_DEFAULT_CONTEXT;
    }
    if (plan->context > most) {
        format_text(plan->problem, sizeof plan->problem,
                    "ctx=%u is more than the %u tokens the model was trained for: lower ctx=",
                    (unsigned)r->context, (unsigned)most);
        return ERR_BAD_ARGUMENT;
    }
    if (r->kv_type == KV_Q8 && r->image->header->params.head_dim % 32 != 0) {
        format_text(plan->problem, sizeof plan->problem,
                    "kv=q8 needs heads of a multiple of 32 dimensions and this model has %u: use "
                    "kv=f16",
                    (unsigned)r->image->header->params.head_dim);
        return ERR_BAD_ARGUMENT;
    }
    plan->chunk = r->chunk != 0 ? r->chunk : PLAN_DEFAULT_CHUNK;
    plan->chunk = plan->chunk < plan->context ? plan->chunk : plan->context;
    plan->logits_rows = r->logits_rows < plan->chunk ? r->logits_rows : plan->chunk;
    plan->logits_rows = plan->logits_rows == 0 ? 1 : plan->logits_rows;
    return ERR_OK;
}

static uint64_t scratch_bytes(const struct plan *plan, const struct plan_request *r,
                              uint32_t context)
{
    struct activations_request a = { &r->image->header->params, plan->chunk, image_types(r->image),
                                     plan->logits_rows };

    return activations_bytes(&a) + arena_take_bytes(context * sizeof(uint32_t)) + r->extra_scratch;
}

static uint64_t kv_bytes(const struct plan *plan, const struct plan_request *r, uint32_t context)
{
    return kv_pages_memory_bytes(&r->image->header->params, context, r->kv_type, plan->n_spilled);
}

/* Keys and values, work space, and the pages that regions are rounded to. */
static uint64_t rest_bytes(const struct plan *plan, const struct plan_request *r, uint32_t context)
{
    return page_up(kv_bytes(plan, r, context)) + page_up(scratch_bytes(plan, r, context)) +
           INGOT_PAGE;
}

/* "resident with 41.0 MiB more, as q4_0 or with ctx=1024". */
static void advise(struct plan *plan, const struct plan_request *r, const struct weights *w,
                   uint64_t limit)
{
    static const enum ingot_type types[] = { INGOT_Q8_0, INGOT_Q4_0 };
    char more[FORMAT_NUMBER_BYTES];
    size_t n;

    if (plan->residency != PLAN_STREAMED || plan->layer_read == 0) {
        return;
    }
    n = format_text(plan->advice, sizeof plan->advice, "resident with %s more",
                    format_bytes(more, w->total - limit));
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        uint64_t bytes = plan_bytes_as(r->image, types[i]);

        if (bytes != 0 && bytes <= limit) {
            n += format_text(plan->advice + n, sizeof plan->advice - n, ", as %s",
                             image_type_name(types[i]));
            break;
        }
    }
    for (uint32_t context = plan->context / 2; context >= 128; context /= 2) {
        uint64_t rest = rest_bytes(plan, r, context);

        if (r->weight_limit == 0 && rest < r->arena_bytes && w->total <= r->arena_bytes - rest) {
            (void)format_text(plan->advice + n, sizeof plan->advice - n, ", with ctx=%u",
                              (unsigned)context);
            return;
        }
    }
}

/* For weights and what streams them; with kv=card mem= is for keys and values too. */
static uint64_t weight_limit(const struct plan *plan, const struct plan_request *r)
{
    uint64_t rest = rest_bytes(plan, r, plan->context);
    uint64_t kv = r->kv_card ? page_up(kv_bytes(plan, r, plan->context)) : 0;
    uint64_t limit = rest < r->arena_bytes ? r->arena_bytes - rest : 0;
    uint64_t own = r->weight_limit > kv ? r->weight_limit - kv : 0;

    return r->weight_limit != 0 ? smaller(limit, own) : limit;
}

/* What weights leave takes layers of keys and values back from the card. */
static void keep_kv(struct plan *plan, const struct plan_request *r)
{
    const struct ingot_params *p = &r->image->header->params;
    uint64_t room = weight_limit(plan, r) - plan->pinned_bytes - plan->io_bytes, layer;
    uint32_t spilled = plan->n_spilled;

    if (spilled != 0) {
        layer = kv_pages_memory_bytes(p, plan->context, r->kv_type, spilled - 1) -
                kv_bytes(plan, r, plan->context);
        plan->n_spilled -= (uint32_t)smaller(room / page_up(layer), spilled - KV_PAGES_LEAST);
    }
    plan->kv_bytes = kv_bytes(plan, r, plan->context);
    plan->kv_card_bytes = kv_pages_file_bytes(p, plan->context, r->kv_type, plan->n_spilled);
    plan->kv_card_read = kv_pages_read_bytes(p, plan->context, r->kv_type, plan->n_spilled);
}

static enum err plan_with_kv(struct plan *plan, const struct plan_request *r,
                             const struct weights *w)
{
    uint64_t rest = rest_bytes(plan, r, plan->context);
    uint64_t limit = weight_limit(plan, r);

    plan->rates = r->rates;
    plan->kv_type = r->kv_type;
    plan->scratch_bytes = scratch_bytes(plan, r, plan->context);
    if (r->in_place && r->weight_limit == 0 && rest <= r->arena_bytes + INGOT_PAGE) {
        plan->residency = PLAN_IN_PLACE;
        plan->n_pinned_layers = w->n_layers;
        plan_predict(plan, w->image);
        return ERR_OK;
    }
    if (!try_resident(plan, w, limit) && !try_streamed(plan, w, limit)) {
        refuse(plan, r, w, rest, limit);
        return ERR_NO_SPACE;
    }
    keep_rows(plan, w->image, limit);
    plan_predict(plan, w->image);
    plan->io_bytes = plan->n_slots * plan->slot_bytes + plan->n_rows * plan->row_bytes +
                     plan->row_sums_bytes;
    advise(plan, r, w, limit);
    return ERR_OK;
}

/* Keys and values spill where that makes room that is missing. A byte of weights that stays spares
 * one in every token, a byte of theirs only when the context is full: so weights come first. */
static enum err plan_with_chunk(struct plan *plan, const struct plan_request *r,
                                const struct weights *w)
{
    struct plan spilled = *plan;
    uint64_t all = kv_bytes(plan, r, plan->context);
    enum err e = plan_with_kv(plan, r, w);

    spilled.n_spilled = w->n_layers;
    if (r->kv_card && w->n_layers >= KV_PAGES_LEAST && kv_bytes(&spilled, r, plan->context) < all &&
        (e != ERR_OK || plan->residency == PLAN_STREAMED) &&
        plan_with_kv(&spilled, r, w) == ERR_OK) {
        *plan = spilled;
        e = ERR_OK;
    }
    if (e == ERR_OK) {
        keep_kv(plan, r);
    }
    return e;
}

/* Half the chunk, and half of that, where it is in the way: of running at all, and of having
 * every weight in memory, which is worth more. */
static enum err shrink_chunk(struct plan *plan, const struct plan_request *r,
                             const struct weights *w, const struct plan *start, enum err e)
{
    struct plan other;

    for (uint32_t chunk = plan->chunk / 2; chunk >= PLAN_LEAST_CHUNK; chunk /= 2) {
        enum err found;

        other = *start;
        other.chunk = chunk;
        found = plan_with_chunk(&other, r, w);
        if (found == ERR_OK && (e != ERR_OK || other.residency != PLAN_STREAMED)) {
            *plan = other;
            return ERR_OK;
        }
    }
    return e;
}

enum err plan_make(struct plan *plan, const struct plan_request *r)
{
    struct weights w;
    struct plan start;
    enum err e;

    memset(plan, 0, sizeof *plan);
    weigh(&w, r->image);
    if (choose_context(plan, r) != ERR_OK) {
        return ERR_BAD_ARGUMENT;
    }
    start = *plan;
    e = plan_with_chunk(plan, r, &w);
    if (r->chunk != 0 || (e == ERR_OK && plan->residency != PLAN_STREAMED)) {
        return e;
    }
    return shrink_chunk(plan, r, &w, &start, e);
}

const char *plan_residency_text(enum plan_residency r)
{
    static const char *const text[] = { "resident", "in place", "streamed" };

    return text[r];
}
