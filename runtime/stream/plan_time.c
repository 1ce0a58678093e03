/* The time of a pass, predicted: one slot after the other is filled by the card and emptied by the
 * cores, each as fast as the rates say, with the waits that the ring imposes on both. */
#include <string.h>

#include "runtime/compute/activations.h"
#include "runtime/stream/plan.h"

enum {
    PASSES = 4,                /* the first two fill the ring */
    AHEAD_BYTES = 1024 * 1024, /* requests in flight, which a read of a row waits for */
    LENT_TIE = 32, /* the looks between rows come late, which no rate knows: this part of
                              * the time is for the core that does nothing else */
};

struct timeline {
    const struct plan *plan;
    const struct image *image;
    uint32_t n_tokens;
    uint64_t now;               /* the cores are done with what came so far */
    uint64_t card;              /* and the card */
    uint64_t freed[PLAN_SLOTS]; /* when each slot was */
    uint32_t segment;           /* segments so far: the ring's hand */
};

static uint64_t transfer_ns(const struct timeline *t, uint64_t bytes)
{
    uint64_t rate = t->plan->rates.card / 1000;

    return rate == 0 ? 0 : bytes * 1000000 / rate;
}

static uint64_t compute_ns(const struct plan_rates *r, unsigned type, uint64_t bytes,
                           uint32_t n_tokens)
{
    uint64_t ps = n_tokens == 1 ? r->decode[type] : r->prefill[type] * (uint64_t)n_tokens;

    return bytes * ps / 1000;
}

uint64_t plan_matrices_ns(const struct plan_rates *rates, const struct image *image, uint32_t layer,
                          uint64_t from, uint64_t to, uint32_t n_tokens)
{
    uint64_t ns = 0;

    for (int role = INGOT_ATTN_NORM; role < INGOT_OUTPUT_NORM; role++) {
        const struct ingot_tensor *w = image_tensor(image, (enum ingot_role)role, layer);

        if (w != NULL && image_role_is_matrix((enum ingot_role)role) && w->offset >= from &&
            w->offset < to) {
            ns += compute_ns(rates, w->type, w->bytes, n_tokens);
        }
    }
    return ns;
}

/* All else in a layer comes a quarter at a time. */
static uint64_t phase_ns(const struct timeline *t, uint32_t layer, uint64_t from, uint64_t to)
{
    const struct plan_rates *r = &t->plan->rates;
    uint64_t rest = t->n_tokens == 1 || r->layer_prefill == 0 ? r->layer : r->layer_prefill;

    return plan_matrices_ns(r, t->image, layer, from, to, t->n_tokens) +
           t->n_tokens * rest / PLAN_PHASES;
}

static uint64_t check_ns(const struct timeline *t, uint64_t bytes)
{
    return bytes * t->plan->rates.check / 1000;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The next segment of `bytes` begins to arrive. */
static uint64_t arrive(struct timeline *t, uint64_t bytes)
{
    uint64_t begin = later(t->card, t->freed[t->segment % t->plan->n_slots]);

    t->card = begin + transfer_ns(t, bytes);
    return begin;
}

static void leave(struct timeline *t)
{
    t->freed[t->segment++ % t->plan->n_slots] = t->now;
}

static void run_layer(struct timeline *t, uint32_t layer)
{
    uint32_t segment = image_layer_segment(t->image, layer);
    bool streamed = t->plan->residency == PLAN_STREAMED && !t->plan->pinned[segment];
    uint64_t bytes = t->image->segments[segment].bytes;
    uint64_t begin = streamed ? arrive(t, bytes) : 0;
    uint64_t from = 0, waited = 0;

    for (unsigned phase = 0; phase < PLAN_PHASES; phase++) {
        uint64_t to = plan_phase_end(t->image, layer, phase);
        bool early = t->n_tokens <= ACTIVATIONS_SAVED;

        if (streamed) {
            uint64_t there = later(t->now, early ? begin + transfer_ns(t, to) : t->card);

            waited += there - t->now;
            t->now = there;
        }
        t->now += phase_ns(t, layer, from, to);
        from = to;
    }
    if (streamed) { /* while all wait, core 0 looks at the checksum of what came */
        uint64_t cores = t->plan->rates.cores + (t->plan->rates.cores == 0);

        t->now += (later(check_ns(t, bytes) * cores, waited) - waited) / cores;
        leave(t);
    }
}

static void run_head(struct timeline *t)
{
    const struct ingot_tensor *w = image_tensor(t->image, INGOT_OUTPUT, INGOT_NO_LAYER);

    if (!t->plan->tiled_head) {
        t->now += compute_ns(&t->plan->rates, w->type, w->bytes, 1);
        return;
    }
    for (uint32_t i = 0; i < t->plan->n_tiles; i++) {
        struct plan_tile tile;

        plan_head_tile(t->plan, t->image, i, &tile);
        (void)arrive(t, tile.bytes);
        t->now = later(t->now, t->card) + check_ns(t, tile.bytes) +
                 compute_ns(&t->plan->rates, w->type, tile.bytes, 1);
        leave(t);
    }
}

/* The embedding's rows queue behind what the card is at. */
static void read_rows(struct timeline *t)
{
    uint64_t busy = t->card;
    uint64_t row = transfer_ns(t, t->plan->row_bytes) * t->n_tokens;
    uint64_t wait;

    for (uint32_t i = 0; i < t->plan->n_slots; i++) {
        busy = later(busy, t->freed[(t->segment + i) % t->plan->n_slots]) +
               transfer_ns(t, t->plan->slot_bytes);
    }
    wait = busy > t->now ? busy - t->now : 0;
    t->now += wait < transfer_ns(t, AHEAD_BYTES) ? wait : transfer_ns(t, AHEAD_BYTES);
    t->now += row;
    t->card += row;
}

static uint64_t overlapped_ns(const struct plan *plan, const struct image *image, uint32_t n_tokens)
{
    struct timeline t = { .plan = plan, .image = image, .n_tokens = n_tokens };
    uint64_t half = 0;

    for (int pass = 0; pass < PASSES; pass++) {
        half = pass == PASSES / 2 ? t.now : half;
        if (plan->row_bytes != 0) {
            read_rows(&t);
        }
        for (uint32_t layer = 0; layer < image->header->params.n_layers; layer++) {
            run_layer(&t, layer);
        }
        run_head(&t);
    }
    return (t.now - half) / (PASSES - PASSES / 2);
}

/* What core 0 moves itself is time in which nobody computes: the others wait for its rows. */
static uint64_t in_turn_ns(const struct plan *plan, const struct image *image, uint32_t n_tokens)
{
    uint64_t ns = overlapped_ns(plan, image, n_tokens);
    struct plan at_once = *plan;
    struct timeline card = { .plan = plan };
    uint64_t moved = transfer_ns(&card, plan->layer_read + plan->head_read);

    if (plan->residency != PLAN_STREAMED || plan->rates.io_core == 0) {
        return ns;
    }
    at_once.rates.card = 0;
    return later(ns, overlapped_ns(&at_once, image, n_tokens) + moved * plan->rates.io_core / 100);
}

/* With a core less that computes. */
static uint64_t lent_ns(const struct plan *plan, const struct image *image, uint32_t n_tokens)
{
    struct plan fewer = *plan;

    fewer.rates = *plan->rates.lent;
    fewer.rates.card = plan->rates.card;
    fewer.rates.cores = plan->rates.cores - 1;
    return overlapped_ns(&fewer, image, n_tokens);
}

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
    return *lends ? lent : ns;
}

void plan_predict(struct plan *plan, const struct image *image)
{
    bool known = plan->residency != PLAN_STREAMED || plan->rates.card != 0;
    uint32_t type = image_tensor(image, INGOT_FFN_UP, 0)->type;

    plan->decode_ns = 0;
    plan->prefill_ns = 0;
    if (known && plan->rates.decode[type] != 0) {
        plan->decode_ns = pass_ns(plan, image, 1, &plan->lends_decode);
    }
    if (known && plan->rates.prefill[type] != 0 && plan->chunk > 1) {
        plan->prefill_ns = pass_ns(plan, image, plan->chunk, &plan->lends_prefill);
    }
}
