#include "runtime/model/calibrate_compute.h"

#include <string.h>

#include "board/min_max.h"
#include "runtime/compute/workers_crc32c.h"
#include "runtime/model/layer.h"
#include "runtime/model/layer_kinds.h"
#include "runtime/model/state_kv.h"

enum {
    FILL = 0x3c,             /* of weights and keys: any type reads normal numbers */
    REGION_BYTES = 64 << 20, /* more than a cache holds */
    CACHE_LINE = 64,
    CHECKED = 32, /* a part of the bytes too */
    PROBE_TOKENS = 32,
    POSITION = 16,            /* of the token: the number of others before it */
    PART = 8,                 /* of the bytes: the weights of a matrix times the tokens */
    MATRIX_HZ = 200,          /* 5 ms of each, ... */
    LEAST_TIMES = 2,          /* ... and the first one warms up */
    LAYERS_HZ = 100,          /* 10 ms in all, */
    WINDOW_NS = 1000000,      /* of layers, and longer where one takes longer; ... */
    WARM_LAYERS = 1,          /* ... before it */
    CHUNK_MOST_NS = 50000000, /* of a layer's matrices for PROBE_TOKENS */
};

struct calibration {
    const struct platform_clock *clock;
    struct model *m;
    struct kv_cache kv;         /* of one layer, for all */
    struct layer_state *states; /* (n_layers) */
    uint8_t *weights;
    size_t bytes;

    struct ingot_tensor w;
    struct linear_input in;
    const uint8_t *rows;

    uint32_t n_tokens; /* of a pass */
    uint32_t n_begun;  /* layers */
    uint32_t n_layers; /* of the window, which began at ... */
    uint64_t window;   /* ... these ticks */
    uint64_t matrices; /* nanoseconds of theirs, predicted */
    uint64_t until;    /* ticks */
    uint32_t n_windows;
    uint64_t sum, most; /* nanoseconds of a layer in them, without its matrices */
};

static void multiply(void *arg, struct workers *workers, unsigned core)
{
    const struct calibration *p = arg;
    const struct transformer *t = &p->m->transformer;

    (void)workers;
    layer_multiply(t, core, &p->w, p->rows, p->w.rows, &p->in, t->act.logits, p->w.rows);
}

static uint64_t nanoseconds(const struct calibration *p, uint64_t ticks)
{
    return ticks * 1000000000 / p->clock->hz;
}

/* Picoseconds per byte of a matrix and token. The least of all turns counts, as interruptions
 * add time. The matrix has the head's shape, or as many of its rows as there are logits for all
 * tokens. */
static uint32_t measure_matrix(struct calibration *p, unsigned type, uint32_t n_tokens)
{
    const struct transformer *t = &p->m->transformer;
    uint64_t begin = platform_ticks(p->clock), best = UINT64_MAX, at = 0, matrix, start,
             now = begin;

    p->in = (struct linear_input){ t->act.norm, t->act.dim_stride, n_tokens };
    p->w.type = (uint8_t)type;
    p->w.cols = params(t)->dim;
    p->w.cols_padded = (uint32_t)t->act.dim_stride;
    p->w.rows = (uint32_t)min_u64(params(t)->vocab, p->bytes / PART / p->w.cols) / n_tokens /
                ROW_STEP * ROW_STEP;
    matrix = image_tensor_bytes(type, p->w.rows, p->w.cols);
    if (matrix == 0 || matrix > p->bytes) {
        return 0;
    }
    linear_prepare(t->kernels, &t->act, 1u << type, &p->in, 0, n_tokens);
    for (int i = 0; i < LEAST_TIMES || now - begin < p->clock->hz / MATRIX_HZ; i++) {
        p->rows = p->weights + at;
        at += matrix;
        if (p->bytes - at < matrix) {
            at = 0;
        }
        start = platform_ticks(p->clock);
        workers_run(t->workers, multiply, p);
        now = platform_ticks(p->clock);
        best = min_u64(best, now - start);
    }
    return (uint32_t)(nanoseconds(p, best) * 1000 / (matrix * n_tokens)) + 1;
}

/* Sums layers up to a window, and says when there were enough. */
static bool between_layers(void *context)
{
    struct calibration *p = context;
    const struct transformer *t = &p->m->transformer;
    uint64_t now = platform_ticks(p->clock), ns = nanoseconds(p, now - p->window);

    if (p->n_begun++ <= WARM_LAYERS) {
        p->window = now;
        return false;
    }
    p->n_layers++;
    p->matrices += plan_matrices_ns(&p->m->request.rates, t->image, t->layer, 0, UINT64_MAX,
                                    p->n_tokens);
    if (ns >= WINDOW_NS) {
        ns = (ns - min_u64(ns, p->matrices)) / p->n_layers;
        p->sum += ns;
        p->most = max_u64(p->most, ns);
        p->n_windows++;
        p->n_layers = 0;
        p->matrices = 0;
        p->window = now;
    }
    p->window += platform_ticks(p->clock) - now; /* spent here */
    return p->n_windows != 0 && now > p->until;
}

/* Nanoseconds of a layer and token beside its matrices, over whole passes and a part of one: the
 * mean. The longest window does not count, as it may hold an interruption. */
static uint32_t measure_layers(struct calibration *p, uint32_t n_tokens)
{
    static const uint32_t ids[PROBE_TOKENS];
    struct transformer_pass pass = { ids, n_tokens, POSITION, p->states, false };
    struct stop stop = { between_layers, p };

    p->n_tokens = n_tokens;
    p->n_begun = p->n_layers = p->n_windows = 0;
    p->matrices = p->sum = p->most = 0;
    p->until = platform_ticks(p->clock) + p->clock->hz / LAYERS_HZ;
    while (transformer_pass(&p->m->transformer, &pass, &stop) == ERR_OK) {
    }
    if (p->n_windows > 1) {
        p->sum = (p->sum - p->most) / (p->n_windows - 1);
    }
    return (uint32_t)(p->sum / n_tokens);
}

/* Where a layer of a chunk takes long, its matrices are most of it. */
static void measure_rest(struct calibration *p)
{
    struct plan_rates *rates = &p->m->request.rates;
    const struct image *image = &p->m->image;

    rates->layer = measure_layers(p, 1);
    if (image->header->params.context >= POSITION + PROBE_TOKENS &&
        plan_matrices_ns(rates, image, 0, 0, UINT64_MAX, PROBE_TOKENS) < CHUNK_MOST_NS) {
        rates->layer_prefill = measure_layers(p, PROBE_TOKENS);
    }
}

static void measure_checksum(struct calibration *p)
{
    size_t bytes = p->bytes / CHECKED;
    uint64_t start = platform_ticks(p->clock);

    (void)workers_crc32c(p->m->transformer.workers, 0, p->weights, bytes);
    p->m->request.rates.check = (uint32_t)(nanoseconds(p, platform_ticks(p->clock) - start) * 1000 /
                                           bytes);
}

/* Work space; one layer's cache, which stands in for all; and the rest of the memory for
 * weights. */
static bool cut_memory(struct calibration *p, struct workers *workers, struct arena *arena)
{
    struct model *m = p->m;
    const struct ingot_header *h = m->image.header;
    struct plan plan = { .context = KV_TILE, .chunk = PROBE_TOKENS, .logits_rows = 1 };
    size_t states = h->params.n_layers * sizeof *p->states;
    size_t page = kv_cache_page_bytes(&h->params, m->request.limits.kv_type);
    size_t work = page + arena_take_bytes(states) +
                  activations_bytes(&(struct activations_request){
                      &h->params, plan.chunk, image_types(&m->image), plan.logits_rows,
                      layer_work_bytes(&m->image) });
    size_t left = arena_left(arena);

    if (work + ARENA_ALIGN > left) {
        return false;
    }
    (void)arena_reserve(arena, ARENA_SCRATCH, left);
    transformer_open(&m->transformer, &m->image, m->kernels, workers, &m->stream, &plan, arena);
    p->states = arena_take(arena, ARENA_SCRATCH, states);
    p->bytes = (size_t)min_u64(min_u64(REGION_BYTES, h->file_bytes), left - work) / CACHE_LINE *
               CACHE_LINE;
    p->weights = (uint8_t *)arena_take(arena, ARENA_SCRATCH, page + p->bytes) + page;
    memset(p->weights - page, FILL, page + p->bytes);
    kv_cache_open(&p->kv, &h->params, KV_TILE, m->request.limits.kv_type, p->weights - page);
    p->kv.layer_bytes = 0;
    p->kv.values = p->weights - page / 2;
    for (uint32_t i = 0; i < h->params.n_layers; i++) {
        p->states[i] = (struct layer_state){ &state_kv, i, &p->kv };
    }
    return true;
}

/* Run the layers that are in the memory, again and again. False: there is no room for one layer,
 * or for the first rows of the embedding. */
static bool place_layers(struct calibration *p)
{
    const struct image *image = &p->m->image;
    struct stream *s = &p->m->stream;
    uint64_t at = 0, most;

    s->file = p->m->file;
    s->image = &p->m->image;
    s->plan = &p->m->plan;
    s->workers = p->m->transformer.workers;
    s->segments[image_embedding_segment(image)] = p->weights;
    most = image_tensor(image, INGOT_TOKEN_EMBEDDING, INGOT_NO_LAYER)->offset +
           plan_row_group_bytes(image);
    for (uint32_t i = 0; i < image->header->params.n_layers && most <= p->bytes; i++) {
        uint32_t segment = image_layer_segment(image, i);

        most = image->segments[segment].bytes;
        if (at + most > p->bytes) {
            at = 0;
        }
        s->segments[segment] = p->weights + at;
        at += most;
    }
    return most <= p->bytes && image->header->params.context > POSITION;
}

void calibrate_compute(struct model *m, struct workers *workers, struct memory_range memory)
{
    struct plan_rates *rates = &m->request.rates;
    struct calibration p = { .clock = &workers->platform->clock, .m = m };
    struct arena arena;
    bool placed;

    arena_init(&arena, memory.base, memory.bytes);
    if (!cut_memory(&p, workers, &arena)) {
        return;
    }
    placed = place_layers(&p);
    for (uint32_t i = 0; i < m->image.header->tensors.count; i++) {
        const struct ingot_tensor *w = &m->image.tensors[i];

        if (rates->decode[w->type] == 0 && image_role_is_matrix((enum ingot_role)w->role)) {
            rates->decode[w->type] = measure_matrix(&p, w->type, 1);
            rates->prefill[w->type] = measure_matrix(&p, w->type, PROBE_TOKENS);
        }
    }
    if (placed) {
        measure_rest(&p);
    }
    measure_checksum(&p);
}
