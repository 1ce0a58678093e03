/* Predicts the time of a pass. The card fills one slot after the other and the cores empty them,
 * each as fast as the rates say, with the waits that the ring imposes on both:
 *
 *   the card begins segment s      at max(card, freed[s % slots])
 *   its first b bytes are there    at begin + b / rate
 *   the cores compute a phase      from max(now, its bytes are there)
 *   the slot is free               when the segment's last phase is computed
 *
 * Times are nanoseconds since the first pass began. PASSES passes are simulated; the first half
 * fills the ring, and the mean of the others is the prediction. */
#include <string.h>

#include "board/min_max.h"
#include "runtime/compute/activations.h"
#include "runtime/stream/plan.h"

enum {
    PASSES = 4,                /* number of passes to simulate; the first two fill the ring */
    AHEAD_BYTES = 1024 * 1024, /* the most bytes in flight for which a read of a row waits */
    LENT_TIE = 32, /* choose a core only for the card even if this is slower by 1/32, because the
                    * rates do not show that polls between rows come late */
};

struct timeline {
    const struct plan *plan;
    const struct image *image;
    uint32_t n_tokens;
    uint32_t last_written;      /* last layer that writes a state; then only one token of a chunk
                                 * continues */
    uint64_t now;               /* time at which the cores are done with all segments so far */
    uint64_t card;              /* time at which the card has read all segments so far */
    uint64_t freed[PLAN_SLOTS]; /* time at which the cores are done with each slot */
    uint32_t segment;           /* number of segments so far, which gives the ring's position */
};

/* Return the nanoseconds of a transfer, computed in steps that stay within 64 bits up to 18 TB.
 * Return 0 if there is no card, or if its rate is below 1000 bytes a second. */
static uint64_t transfer_ns(const struct timeline *t, uint64_t bytes)
{
    uint64_t rate = t->plan->rates.card / 1000;

    if (rate == 0) {
        return 0;
    }
    return bytes * 1000000 / rate;
}

/* Return the time of a matrix of `bytes` bytes. Rates are picoseconds a byte and
 * token. */
static uint64_t compute_ns(const struct plan_rates *r, unsigned type, uint64_t bytes,
                           uint32_t n_tokens)
{
    /* The decode rate is for one token; the prefill rate is for each token of a chunk. */
    if (n_tokens == 1) {
        return bytes * r->decode[type] / 1000;
    }
    return bytes * (r->prefill[type] * (uint64_t)n_tokens) / 1000;
}

uint64_t plan_matrices_ns(const struct plan_rates *rates, const struct image *image, uint32_t layer,
                          uint64_t from, uint64_t to, uint32_t n_tokens)
{
    const struct ingot_layer *l = image_layer(image, layer);
    uint64_t ns = 0;

    for (uint32_t i = 0; i < l->n_tensors; i++) {
        const struct ingot_tensor *w = &image->tensors[l->first_tensor + i];

        bool expert = image_role_is_expert((enum ingot_role)w->role);
        uint64_t at = w->offset + (expert ? l->expert_offset : 0);

        if (image_role_is_matrix((enum ingot_role)w->role) && at >= from && at < to) {
            ns += compute_ns(rates, w->type, w->bytes * (expert ? l->n_experts_used : 1), n_tokens);
        }
    }
    return ns;
}

static bool leaves_out(const struct timeline *t)
{
    return t->n_tokens > ACTIVATIONS_SAVED;
}

/* Return the time of a chunk in the last layer that writes a state: the time of the matrices for
 * keys and values or, if the mixer is not only attention, of the whole mixer. The rest of the layer
 * is only for the one token that continues. */
static uint64_t narrow_matrices_ns(const struct timeline *t, uint32_t layer, uint64_t from,
                                   uint64_t to)
{
    const struct ingot_layer *l = image_layer(t->image, layer);
    bool has_keys = l->mixer == INGOT_MIXER_ATTENTION && l->parallel == INGOT_MIXER_NONE;
    uint64_t ns = 0;

    for (uint32_t i = 0; i < l->n_tensors; i++) {
        const struct ingot_tensor *w = &t->image->tensors[l->first_tensor + i];
        bool is_key = w->role == INGOT_ATTN_K || w->role == INGOT_ATTN_V;
        bool is_mixer = w->role < INGOT_FFN_NORM;

        if (w->offset >= from && w->offset < to && (has_keys ? is_key : is_mixer) &&
            image_role_is_matrix((enum ingot_role)w->role)) {
            ns += compute_ns(&t->plan->rates, w->type, w->bytes, t->n_tokens);
        }
    }
    return ns;
}

/* Return the time of a phase: that of its matrices, and a quarter of the layer's other work (norms,
 * rope, attention, barriers), which is only measured for a whole layer. */
static uint64_t phase_ns(const struct timeline *t, uint32_t layer, uint64_t from, uint64_t to)
{
    const struct plan_rates *r = &t->plan->rates;
    uint64_t rest = r->layer;

    /* A prompt's other work has its own rate if it was measured. */
    if (t->n_tokens != 1 && r->layer_prefill != 0) {
        rest = r->layer_prefill;
    }
    /* After the last state only one token of the chunk continues, which is too little to count. */
    if (leaves_out(t) && layer > t->last_written) {
        return 0;
    }
    /* At the last state all tokens need keys and values, which is half of the other work. */
    if (leaves_out(t) && layer == t->last_written) {
        return narrow_matrices_ns(t, layer, from, to) + t->n_tokens * rest / INGOT_PHASES / 2;
    }
    return plan_matrices_ns(r, t->image, layer, from, to, t->n_tokens) +
           t->n_tokens * rest / INGOT_PHASES;
}

static uint64_t check_ns(const struct timeline *t, uint64_t bytes)
{
    return bytes * t->plan->rates.check / 1000;
}

/* Let the card read the next segment of `bytes`. Return when the read begins, which is when the
 * previous segment is read and a slot is free. */
static uint64_t arrive(struct timeline *t, uint64_t bytes)
{
    uint64_t begin = max_u64(t->card, t->freed[t->segment % t->plan->memory.n_slots]);

    t->card = begin + transfer_ns(t, bytes);
    return begin;
}

/* Free the segment's slot, because the cores are done with it. */
static void leave(struct timeline *t)
{
    t->freed[t->segment++ % t->plan->memory.n_slots] = t->now;
}

/* Return when cores may begin to compute the first `to` bytes of a layer whose transfer began at
 * `begin`. */
static uint64_t arrival(const struct timeline *t, uint64_t begin, uint64_t to)
{
    /* With few tokens, a phase begins when its own bytes are there. */
    if (t->n_tokens <= ACTIVATIONS_SAVED) {
        return begin + transfer_ns(t, to);
    }
    return t->card;
}

/* Return where a phase ends in the bytes of the layer, without experts that are in a cache. */
static uint64_t phase_end(const struct timeline *t, uint32_t layer, unsigned phase)
{
    return min_u64(image_phase_end(t->image, layer, phase),
                   plan_layer_bytes(t->image, layer, t->plan->experts.n_slots != 0));
}

/* Return how many of a layer's experts the tokens take, times 2^32. If all are used equally, a
 * token leaves an expert out with probability 1 - used / n, and several tokens with a power of
 * this. */
static uint64_t experts_taken(const struct ingot_layer *l, uint32_t n_tokens)
{
    uint64_t left = (uint64_t)l->n_experts << 32;

    for (uint32_t i = 0; i < n_tokens; i++) {
        left = left / l->n_experts * (l->n_experts - l->n_experts_used);
    }
    return ((uint64_t)l->n_experts << 32) - left;
}

/* Return the probability, times 2^16, that a cache has all of a token's n experts. On average it
 * lacks `missing` / 2^16 of them, independently of each other. */
static uint64_t chance_of_all(uint64_t missing, uint32_t n)
{
    uint64_t there = (1u << 16) - min_u64(missing / n, 1u << 16), all = 1u << 16;

    for (uint32_t i = 0; i < n; i++) {
        all = all * there >> 16;
    }
    return all;
}

/* Return the time from the router to the end of the experts. Experts in the cache are computed
 * while the others arrive, and each of the others once it is there. If an expert takes `one` to
 * compute and `read` to read, this is
 *
 *   max(computing, missing * read + one, read + missing * one)
 */
static uint64_t experts_ns(const struct timeline *t, uint64_t ns, uint64_t taken, uint64_t missing,
                           uint64_t expert_bytes)
{
    uint64_t one = (ns << 16) / taken, all_read = transfer_ns(t, missing * expert_bytes >> 16);
    uint64_t read = min_u64(transfer_ns(t, expert_bytes), all_read); /* a chunk may lack less than
                                                                      * one expert */
    uint64_t behind = max_u64(t->card, t->now) - t->now;

    return max_u64(ns, behind + max_u64(all_read + one, read + (missing * one >> 16)));
}

/* Add the time of experts. Some of a chunk's experts are always missing. A single token may have
 * all its experts in the cache, and then does not wait. So only the tokens that wait cause the
 * average number of missing experts. */
static void run_experts(struct timeline *t, uint32_t layer)
{
    const struct ingot_layer *l = image_layer(t->image, layer);
    uint32_t slots = plan_experts_slots(t->image, layer, t->plan->experts.n_slots);
    uint32_t n_tokens = leaves_out(t) && layer >= t->last_written ? 1 : t->n_tokens;
    uint64_t missing, taken, ns, all = 0, some;

    if (slots == 0) {
        return;
    }
    /* For one token, the counted uses tell how often a cache lacks an expert. */
    if (n_tokens == 1) {
        missing = plan_experts_missing(t->plan->experts.use, t->image, layer, slots);
        taken = (uint64_t)l->n_experts_used << 16;
        all = chance_of_all(missing, l->n_experts_used);
    } else { /* many tokens take nearly all experts, whatever the counted uses are */
        taken = experts_taken(l, n_tokens) >> 16;
        missing = taken * (l->n_experts - slots) / l->n_experts;
    }
    ns = plan_matrices_ns(&t->plan->rates, t->image, layer, l->expert_offset, UINT64_MAX, n_tokens);
    /* If no expert is missing, only computing takes time. */
    if (missing == 0 || all == 1u << 16) {
        t->now += ns;
        return;
    }
    /* Otherwise take the mean time of tokens that wait and tokens that do not. */
    some = experts_ns(t, ns, taken, (missing << 16) / ((1u << 16) - all), l->expert_bytes);
    t->card = max_u64(t->card, t->now) + transfer_ns(t, (missing * l->expert_bytes) >> 16);
    t->now += (ns * all + some * ((1u << 16) - all)) >> 16;
}

/* Run a layer in memory, which waits for nothing. */
static void run_pinned(struct timeline *t, uint32_t layer)
{
    uint64_t from = 0;

    for (unsigned phase = 0; phase < INGOT_PHASES; phase++) {
        uint64_t to = phase_end(t, layer, phase);

        t->now += phase_ns(t, layer, from, to);
        from = to;
    }
}

/* Run a layer from the card. Each phase waits for its bytes. While all cores wait, core 0 computes
 * the checksum of arrived bytes; all cores compute the rest at the end. check_ns is the time with
 * all cores, so core 0 alone takes `cores` times as long:
 *
 *   rest = max(check * cores - waited, 0) / cores
 */
static void run_streamed(struct timeline *t, uint32_t layer, uint64_t bytes)
{
    uint64_t cores = max_u64(t->plan->rates.cores, 1);
    uint64_t begin = arrive(t, bytes), from = 0, waited = 0;

    for (unsigned phase = 0; phase < INGOT_PHASES; phase++) {
        uint64_t to = phase_end(t, layer, phase);
        /* A phase begins when its bytes have arrived and the previous phase has ended. */
        uint64_t there = max_u64(t->now, arrival(t, begin, to));

        waited += there - t->now;
        t->now = there + phase_ns(t, layer, from, to);
        from = to;
    }
    /* All cores now check the bytes that core 0 could not check while it waited. */
    t->now += (max_u64(check_ns(t, bytes) * cores, waited) - waited) / cores;
    leave(t);
}

static void run_layer(struct timeline *t, uint32_t layer)
{
    uint32_t segment = image_layer_segment(t->image, layer);

    if (t->plan->residency == PLAN_STREAMED && !t->plan->pinned[segment]) {
        run_streamed(t, layer, plan_layer_bytes(t->image, layer, t->plan->experts.n_slots != 0));
    } else {
        run_pinned(t, layer);
    }
    run_experts(t, layer);
}

static uint64_t share_bytes(const struct plan *plan, uint32_t tile)
{
    return plan_head_share(plan, tile).n_rows / plan->head.group_rows * plan->head.group_bytes;
}

/* Run the head for one token, even after a chunk. The resident part is computed in shares between
 * the tiles. A tile must be complete, because all cores check it before they multiply. */
static void run_head(struct timeline *t)
{
    const struct ingot_tensor *w = image_tensor(t->image, INGOT_OUTPUT, INGOT_NO_LAYER);

    /* A head that is not in tiles is computed as one product. */
    if (!t->plan->head.tiled) {
        t->now += compute_ns(&t->plan->rates, w->type, w->bytes, 1);
        return;
    }
    for (uint32_t i = 0; i < t->plan->head.n_tiles; i++) {
        struct plan_tile tile;

        /* The resident share is computed while the tile is arriving. */
        t->now += compute_ns(&t->plan->rates, w->type, share_bytes(t->plan, i), 1);
        plan_head_tile(t->plan, t->image, i, &tile);
        (void)arrive(t, tile.bytes);
        t->now = max_u64(t->now, t->card) + check_ns(t, tile.bytes) +
                 compute_ns(&t->plan->rates, w->type, tile.bytes, 1);
        leave(t);
    }
}

/* At the start of a pass, read a row of the embedding, and of the table per layer, for each token.
 * The card is still busy with the ring's segments, so requests in flight, at most AHEAD_BYTES, come
 * first. */
static void read_rows(struct timeline *t)
{
    uint64_t busy = t->card;
    uint64_t row = transfer_ns(t, t->plan->rows.bytes + t->plan->table.bytes) * t->n_tokens;
    uint64_t wait;

    for (uint32_t i = 0; i < t->plan->memory.n_slots; i++) {
        busy = max_u64(busy, t->freed[(t->segment + i) % t->plan->memory.n_slots]) +
               transfer_ns(t, t->plan->memory.slot);
    }
    wait = max_u64(busy, t->now) - t->now;
    t->now += min_u64(wait, transfer_ns(t, AHEAD_BYTES));
    t->now += row;
    t->card += row;
}

/* Return the time of a pass if the card needs no core. */
static uint64_t overlapped_ns(const struct plan *plan, const struct image *image, uint32_t n_tokens)
{
    struct timeline t = { .plan = plan,
                          .image = image,
                          .n_tokens = n_tokens,
                          .last_written = image_last_written(image) };
    uint64_t half = 0;

    for (int pass = 0; pass < PASSES; pass++) {
        if (pass == PASSES / 2) {
            half = t.now;
        }
        if (plan->rows.bytes + plan->table.bytes != 0) {
            read_rows(&t);
        }
        for (uint32_t layer = 0; layer < image->header->params.n_layers; layer++) {
            run_layer(&t, layer);
        }
        run_head(&t);
    }
    return (t.now - half) / (PASSES - PASSES / 2);
}

/* Return the time if core 0 moves the bytes. No core computes meanwhile, because the others wait
 * for core 0's rows. So the time is computing (with an infinitely fast card) plus moving:
 *
 *   computing + bytes / rate * io_core %            and never less than the overlapped time
 */
static uint64_t in_turn_ns(const struct plan *plan, const struct image *image, uint32_t n_tokens)
{
    uint64_t ns = overlapped_ns(plan, image, n_tokens);
    struct plan at_once = *plan;
    struct timeline card = { .plan = plan };
    uint64_t moved = transfer_ns(&card, plan->layers.read + plan->head.read);

    if (plan->residency != PLAN_STREAMED || plan->rates.io_core == 0) {
        return ns;
    }
    at_once.rates.card = 0;
    return max_u64(ns,
                   overlapped_ns(&at_once, image, n_tokens) + moved * plan->rates.io_core / 100);
}

/* Return the time if the last core moves the bytes and one core less computes, with the rates
 * measured without that core. */
static uint64_t lent_ns(const struct plan *plan, const struct image *image, uint32_t n_tokens)
{
    struct plan fewer = *plan;

    fewer.rates = *plan->rates.lent;
    fewer.rates.card = plan->rates.card;
    fewer.rates.cores = plan->rates.cores - 1;
    return overlapped_ns(&fewer, image, n_tokens);
}

/* Return the time of a pass in the faster way. *lends is set if the last core moves the bytes. */
static uint64_t pass_ns(const struct plan *plan, const struct image *image, uint32_t n_tokens,
                        bool *lends)
{
    const struct plan_rates *r = &plan->rates;
    uint64_t ns = in_turn_ns(plan, image, n_tokens);
    uint64_t lent = UINT64_MAX;

    if (r->lent != NULL && r->io_core != 0 && plan->residency == PLAN_STREAMED) {
        lent = lent_ns(plan, image, n_tokens);
    }
    *lends = lent <= ns + ns / LENT_TIE;
    if (*lends) {
        return lent;
    }
    return ns;
}

void plan_predict(struct plan *plan, const struct image *image)
{
    bool known = plan->residency != PLAN_STREAMED || plan->rates.card != 0;
    uint32_t type = image_main_type(image);

    plan->prediction.decode_ns = 0;
    plan->prediction.prefill_ns = 0;
    if (known && plan->rates.decode[type] != 0) {
        plan->prediction.decode_ns = pass_ns(plan, image, 1, &plan->prediction.lends_decode);
    }
    if (known && plan->rates.prefill[type] != 0 && plan->chunk > 1) {
        plan->prediction.prefill_ns = pass_ns(plan, image, plan->chunk,
                                              &plan->prediction.lends_prefill);
    }
}
