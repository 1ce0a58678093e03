/* Decides which segments stay in memory, which stream, and in which form, for a chunk and a context
 * that plan_shape.c chooses. The segments' sizes are computed once (plan_private.h).
 *
 *   keys and   all in memory, or (kv=card) as many layers as weights leave room for
 *   values
 *   weights    in place, resident, with a cache of experts, streamed with a whole head, or streamed
 *              with a head in tiles: the first of these that fits, or the faster of the last two
 */
#include "runtime/stream/plan.h"

#include <string.h>

#include "board/min_max.h"
#include "runtime/stream/kv_pages.h"
#include "runtime/stream/kv_spread.h"
#include "runtime/stream/plan_private.h"

enum {
    FASTER_PERCENT = 3, /* another plan must be this much faster, because rates are accurate only to
                         * a few percent */
    REGAIN_TOKENS = 16, /* the gain of this many reply tokens may outweigh a slower prompt */
    HEAD_PARTS = 4,     /* the room for head and layers has 4 parts; the head is tried with 0 to 4
                         * of them */
};

/* ---- what stays ----------------------------------------------------------------------------- */

static void pin_segment(struct plan *plan, const struct plan_weights *w, uint32_t segment)
{
    plan->pinned[segment] = true;
    plan->memory.pinned += (size_t)plan_segment_bytes(w, segment);
}

/* Return the layer that streams as number i of n. Streamed layers are spread evenly over the pass.
 * While the layers between two of them compute, the next streamed layer arrives, so that no layer
 * has to cover two transfers. A pinned head counts like layers of as many bytes.
 *
 * In bytes of the largest layer, the pass is L layers and the head long:
 *
 *   place(i) = i * (L + head) / n                   n equal steps over the pass
 *
 * The last place, i = n - 1, must be a layer, so that (n - 1) (L + head) / n <= L - 1. If the head
 * is too large for that, n - 1 equal steps go from the first layer to the last:
 *
 *   place(i) = i * (L - 1) / (n - 1)
 */
static uint64_t streamed_place(const struct plan_weights *w, uint64_t head, uint64_t i, uint64_t n)
{
    uint64_t layers = w->n_layers * w->largest_layer, pass = layers + head;

    if ((n - 1) * pass > (layers - w->largest_layer) * n) {
        return i * (w->n_layers - 1) / (n - 1);
    }
    return i * pass / (n * w->largest_layer);
}

/* Pin `pinned` of the layers; the others stream. head has the head's bytes if it is pinned. */
static void pin_layers(struct plan *plan, const struct plan_weights *w, uint32_t pinned,
                       uint64_t head)
{
    uint32_t n = w->n_layers - pinned, found = 0;

    for (uint32_t i = 0; i < w->n_layers; i++) {
        uint32_t segment = image_layer_segment(w->image, i);

        /* The card reads a streamed layer while the pinned layers before it compute. */
        if (found == n || i < streamed_place(w, head, found, n)) {
            pin_segment(plan, w, segment);
        } else {
            plan->layers.read += plan_segment_bytes(w, segment);
            found++;
        }
    }
    plan->layers.n_pinned = pinned;
    plan->layers.n_streamed = n;
}

/* Try to keep everything in memory, except an untied embedding if only the embedding lacks
 * room. A token reads one row of an embedding, which costs nearly nothing, while every other byte
 * is read in every pass. A tied embedding is also the output matrix. */
static bool try_resident(struct plan *plan, const struct plan_weights *w, uint64_t limit)
{
    bool whole = w->total <= limit;

    if (!whole && (w->tied || w->by_rows > limit)) {
        return false;
    }
    pin_layers(plan, w, w->n_layers, 0);
    pin_segment(plan, w, image_head_segment(w->image));
    if (whole) {
        plan->residency = PLAN_RESIDENT;
        pin_segment(plan, w, image_embedding_segment(w->image));
    } else {
        plan->residency = PLAN_STREAMED;
        plan->rows.bytes = (size_t)w->row;
    }
    return true;
}

/* Place the slots, the head, then as many layers as fit. Every streamed byte costs the same per
 * token, so only bytes decide which segments are pinned:
 *
 *   limit >= streamed[form] + pinned layers * largest layer
 *
 * With a whole head at least one layer streams; otherwise the weights would be resident. */
static void stream_whole(struct plan *plan, const struct plan_weights *w, uint64_t limit)
{
    uint64_t room = (limit - w->streamed[PLAN_HEAD_WHOLE]) / w->largest_layer;

    plan->memory.slot = (size_t)w->slot[PLAN_HEAD_WHOLE];
    if (!w->tied) {
        plan->rows.bytes = (size_t)w->row;
    } else {
        pin_segment(plan, w, image_embedding_segment(w->image));
    }
    pin_segment(plan, w, image_head_segment(w->image));
    pin_layers(plan, w, (uint32_t)min_u64(room, w->n_layers - 1),
               image_tensor(w->image, INGOT_OUTPUT, INGOT_NO_LAYER)->bytes);
}

/* Stream with a head in tiles. The head's first rows stay in memory. They get `parts` / HEAD_PARTS
 * of the room that head and layers share, and what the layers leave of the rest. A tied embedding
 * is then not in memory either. */
static void stream_tiled(struct plan *plan, const struct plan_weights *w, uint64_t limit,
                         enum plan_head_form form, uint64_t parts)
{
    uint64_t matrix = image_tensor(w->image, INGOT_OUTPUT, INGOT_NO_LAYER)->bytes;
    uint64_t room = limit - w->streamed[form], head = min_u64(room / HEAD_PARTS * parts, matrix);
    uint32_t layers = w->n_layers;
    uint64_t used;

    plan->memory.slot = (size_t)w->slot[form];
    plan->rows.bytes = (size_t)w->row;
    if (w->tied) {
        pin_segment(plan, w, image_head_segment(w->image));
    }
    if (form == PLAN_HEAD_TILED) {
        layers = (uint32_t)min_u64((room - head) / w->largest_layer, w->n_layers);
    }
    pin_layers(plan, w, layers, 0);
    used = plan->memory.pinned + w->before + PLAN_SLOTS * plan->memory.slot + w->row_sums +
           PLAN_MOST_ROWS * w->row;
    plan_tiles(plan, w, max_u64(limit, used) - used);
    plan->memory.pinned += plan_head_bytes(plan);
}

/* Return true if a token is faster by more than the error of the rates, and if either a chunk of a
 * prompt takes only a little longer or a short reply saves the extra time. */
static bool is_faster(const struct plan_prediction *other, const struct plan_prediction *than)
{
    if (than->decode_ns == 0 ||
        other->decode_ns * (100 + FASTER_PERCENT) >= than->decode_ns * 100) {
        return false;
    }
    /* A prompt may take a little more time, or as much as a reply of REGAIN_TOKENS saves. */
    return other->prefill_ns * 100 <= than->prefill_ns * (100 + FASTER_PERCENT) ||
           other->prefill_ns - than->prefill_ns <=
               REGAIN_TOKENS * (than->decode_ns - other->decode_ns);
}

/* Plan a way to stream, and predict the times of passes. */
static void stream_with(struct plan *plan, const struct plan_weights *w, uint64_t limit,
                        enum plan_head_form form, uint64_t parts)
{
    plan->residency = PLAN_STREAMED;
    plan->memory.n_slots = PLAN_SLOTS;
    if (form == PLAN_HEAD_WHOLE) {
        stream_whole(plan, w, limit);
    } else {
        stream_tiled(plan, w, limit, form, parts);
    }
    plan_predict(plan, w->image);
}

/* Try another way to stream, and take it if it is faster. */
static void try_faster(struct plan *plan, const struct plan *start, const struct plan_weights *w,
                       uint64_t limit, enum plan_head_form form, uint64_t parts)
{
    struct plan other = *start;

    if (w->streamed[form] > limit) {
        return;
    }
    stream_with(&other, w, limit, form, parts);
    if (is_faster(&other.prediction, &plan->prediction)) {
        *plan = other;
    }
}

/* Compare the times of several ways to stream. A pinned head need not be read, and the card runs
 * ahead while it is computed. If computing it takes longer than filling the slots, the card waits,
 * and pinning a part of the head and more layers may be faster. If all layers stay, smaller slots
 * suffice. Without rates, a head that fits stays whole. */
static bool try_streamed(struct plan *plan, const struct plan_weights *w, uint64_t limit)
{
    const struct plan start = *plan;
    bool whole = w->streamed[PLAN_HEAD_WHOLE] <= limit;

    if (!whole && w->streamed[PLAN_HEAD_TILED] > limit) {
        return false;
    }
    stream_with(plan, w, limit, whole ? PLAN_HEAD_WHOLE : PLAN_HEAD_TILED, 0);
    if (plan->prediction.decode_ns == 0) {
        return true;
    }
    for (uint64_t parts = 0; parts <= HEAD_PARTS; parts++) {
        try_faster(plan, &start, w, limit, PLAN_HEAD_TILED, parts);
    }
    try_faster(plan, &start, w, limit, PLAN_HEAD_ALONE, 0);
    return true;
}

/* Use the rest of the memory for more rows of the embedding than a token needs. (try_streamed and
 * try_resident have counted one row, so n is at least 1.) */
static void keep_rows(struct plan *plan, const struct plan_weights *w, uint64_t limit)
{
    const struct plan_memory *m = &plan->memory;
    uint64_t used = m->pinned + (uint64_t)m->n_slots * m->slot + w->row_sums;

    if (plan->rows.bytes == 0) {
        return;
    }
    plan->rows.sums = (size_t)w->row_sums;
    plan->rows.n = (uint32_t)min_u64((limit - used) / plan->rows.bytes, PLAN_MOST_ROWS);
}

/* ---- experts -------------------------------------------------------------------------------- */

/* Try to keep the bytes that a token always needs. An untied embedding is read by rows, so that all
 * room goes to layers. */
static bool try_dense(struct plan *plan, const struct plan_weights *w, uint64_t limit)
{
    if (!w->tied && w->by_rows < w->total) {
        limit = min_u64(limit, w->total - 1);
    }
    return try_resident(plan, w, limit) || try_streamed(plan, w, limit);
}

/* Try a cache of experts. A token takes only a few of a layer's experts, so everything else
 * gets memory first, and the rest of the memory keeps the most used experts. If not even the
 * experts of one token fit, whole layers stream. */
static bool try_experts(struct plan *plan, const struct image *image, uint64_t limit)
{
    uint64_t least = plan_experts_least(image);
    struct plan_weights w;
    struct plan other = *plan;

    if (image_most_experts(image) == 0 || limit <= least) {
        return false;
    }
    plan_weigh(&w, image, true);
    other.experts.n_slots = 1; /* begin with the smallest cache */
    if (!try_dense(&other, &w, limit - least)) {
        return false;
    }
    keep_rows(&other, &w, limit - least);
    *plan = other;
    plan->residency = PLAN_STREAMED;
    plan_experts_fit(plan, image,
                     limit - plan->memory.pinned - plan->memory.n_slots * plan->memory.slot -
                         plan->rows.n * plan->rows.bytes - plan->rows.sums);
    return true;
}

static bool try_all(struct plan *plan, const struct plan_weights *w, uint64_t limit)
{
    bool resident = try_resident(plan, w, limit);

    if (!resident && try_experts(plan, w->image, limit)) {
        return true;
    }
    if (!resident && !try_streamed(plan, w, limit)) {
        return false;
    }
    keep_rows(plan, w, limit);
    return true;
}

/* ---- candidates ----------------------------------------------------------------------------- */

/* Plan one candidate, whose chunk and number of spilled layers are in *plan. **l gets the sizes
 * that were used. */
static enum err plan_candidate(struct plan *plan, const struct plan_request *r,
                               const struct plan_weights *w, struct plan_layout *l)
{
    struct plan_memory *m = &plan->memory;

    plan_lay_out(l, plan, r, plan->context);
    plan->rates = r->rates;
    if (r->use != NULL && r->use->total != 0) {
        plan->experts.use = r->use;
    }
    plan->kv.types = r->limits.kv;
    plan->kv.states = r->work.states;
    m->scratch = (size_t)l->scratch;
    m->learn = (size_t)l->learn;
    m->kv = (size_t)l->kv;
    if (r->in_place && r->limits.weights == 0 && l->rest <= r->arena_bytes + INGOT_PAGE) {
        plan->residency = PLAN_IN_PLACE;
        plan->layers.n_pinned = w->n_layers;
        plan_predict(plan, w->image);
        return ERR_OK;
    }
    if (!try_all(plan, w, l->limit)) {
        plan_refuse(plan, r, w, l);
        return ERR_NO_SPACE;
    }
    if (w->table != 0) {
        plan->table = (struct plan_table){ PLAN_TABLE_ROWS, (size_t)w->table_row, w->table };
    }
    plan_predict(plan, w->image);
    m->io = m->n_slots * m->slot + plan->rows.n * plan->rows.bytes + plan->rows.sums +
            plan->table.n * plan->table.bytes;
    plan_advise(plan, r, w, l);
    return ERR_OK;
}

/* Take layers of keys and values back from the card, one after another, into memory that weights
 * leave free. */
static void keep_kv(struct plan *plan, const struct plan_request *r, const struct plan_layout *l)
{
    struct plan_kv *kv = &plan->kv;
    uint64_t room = plan_page_up(l->kv) + l->limit - plan->memory.pinned - plan->memory.io;

    for (uint32_t n = kv->n_spilled; n >= KV_PAGES_LEAST; n--) {
        uint64_t bytes = kv_pages_memory_bytes(r->image, plan->context, r->limits.kv, n) +
                         kv->states;

        if (plan_page_up(bytes) <= room) { /* the weights fit if all layers spill */
            kv->n_spilled = n;
            plan->memory.kv = (size_t)bytes;
        }
    }
    kv->card = kv_pages_file_bytes(r->image, plan->context, r->limits.kv, kv->n_spilled);
    kv->card_read = kv_pages_read_bytes(r->image, plan->context, r->limits.kv, kv->n_spilled);
}

/* Let every layer spill, then give leftover memory back to layers. If the candidate does not fit,
 * only the error message of *plan changes; if it saves nothing compared with a cache of kv_bytes,
 * nothing does. */
static bool try_spilled(struct plan *plan, const struct plan_request *r,
                        const struct plan_weights *w, const struct plan *start, uint64_t kv_bytes)
{
    struct plan spilled = *start;
    struct plan_layout l;
    enum err e;

    if (!r->limits.kv_card || plan->sequences != 1 || kv_spread_most(r->image) < KV_PAGES_LEAST) {
        return false;
    }
    spilled.kv.n_spilled = kv_spread_most(r->image);
    e = plan_candidate(&spilled, r, w, &l);
    if (l.kv >= kv_bytes) {
        return false;
    }
    if (e != ERR_OK) { /* this plan needs the least memory, so its message names the right size */
        memcpy(plan->error_message, spilled.error_message, sizeof plan->error_message);
        return false;
    }
    keep_kv(&spilled, r, &l);
    *plan = spilled;
    return true;
}

/* Let keys and values spill if weights lack room. Weights come first: a byte of weights in memory
 * saves reading for every token, but a byte of keys and values saves it only when the context is
 * full. */
enum err plan_with_chunk(struct plan *plan, const struct plan_request *r,
                         const struct plan_weights *w)
{
    struct plan start = *plan;
    struct plan_layout l;
    enum err e = plan_candidate(plan, r, w, &l);

    if (e == ERR_OK && plan->residency != PLAN_STREAMED) {
        return ERR_OK;
    }
    if (try_spilled(plan, r, w, &start, l.kv)) {
        return ERR_OK;
    }
    return e;
}

const char *plan_residency_text(enum plan_residency r)
{
    static const char *const text[] = { "resident", "in place", "streamed" };

    return text[r];
}
