#include "runtime/model/calibrate_compute.h"

#include <string.h>

#include "runtime/compute/workers_crc32c.h"
#include "runtime/model/layer.h"

enum {
    FILL = 0x3c,             /* of weights and keys: any type reads normal numbers */
    REGION_BYTES = 64 << 20, /* more than a cache holds */
    CACHE_LINE = 64,
    CHECKED = 32, /* a part of the bytes too */
    PROBE_TOKENS = 32,
    POSITION = 16,            /* of the token: behind so many others */
    PART = 8,                 /* of the bytes: the weights of a matrix times the tokens */
    MATRIX_HZ = 200,          /* 5 ms of each, ... */
    LEAST_TIMES = 2,          /* ... and the first one warms up */
    LAYERS_HZ = 100,          /* 10 ms in all, */
    WINDOW_NS = 1000000,      /* of layers, and longer where one takes longer; ... */
    WARM_LAYERS = 1,          /* ... before it */
    CHUNK_MOST_NS = 50000000, /* of a layer's matrices for PROBE_TOKENS */
};

struct probe {
    struct engine *e;
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

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void multiply(void *arg, struct workers *workers, unsigned core)
{
    const struct probe *p = arg;
    const struct transformer *t = &p->e->transformer;

    (void)workers;
    layer_multiply(t, core, &p->w, p->rows, p->w.rows, &p->in, t->act.logits, p->w.rows);
}

static uint64_t nanoseconds(uint64_t ticks)
{
    return ticks * 1000000000 / board.ticks_hz();
}

/* Picoseconds per byte of a matrix and token; the least, as whatever comes between takes time. The
 * matrix has the head's shape, or as many of its rows as there are logits for all tokens. */
static uint32_t measure_matrix(struct probe *p, unsigned type, uint32_t n_tokens)
{
    const struct transformer *t = &p->e->transformer;
    uint64_t begin = board.ticks(), best = UINT64_MAX, at = 0, matrix, start, now = begin;

    p->in = (struct linear_input){ t->act.norm, t->act.dim_stride, n_tokens };
    p->w.type = (uint8_t)type;
    p->w.cols = params(t)->dim;
    p->w.cols_padded = (uint32_t)t->act.dim_stride;
    p->w.rows = (uint32_t)least(params(t)->vocab, p->bytes / PART / p->w.cols) / n_tokens /
                ROW_STEP * ROW_STEP;
    matrix = image_tensor_bytes(type, p->w.rows, p->w.cols);
    if (matrix == 0 || matrix > p->bytes) {
        return 0;
    }
    linear_prepare(t->kernels, &t->act, 1u << type, &p->in, 0, n_tokens);
    for (int i = 0; i < LEAST_TIMES || now - begin < board.ticks_hz() / MATRIX_HZ; i++) {
        p->rows = p->weights + at;
        at = p->bytes - at >= 2 * matrix ? at + matrix : 0;
        start = board.ticks();
        workers_run(t->workers, multiply, p);
        now = board.ticks();
        best = least(best, now - start);
    }
    return (uint32_t)(nanoseconds(best) * 1000 / (matrix * n_tokens)) + 1;
}

/* Sums layers up to a window, and says when there were enough. */
static bool between_layers(void *context)
{
    struct probe *p = context;
    const struct transformer *t = &p->e->transformer;
    uint64_t now = board.ticks(), ns = nanoseconds(now - p->window);

    if (p->n_begun++ <= WARM_LAYERS) {
        p->window = now;
        return false;
    }
    p->n_layers++;
    p->matrices += plan_matrices_ns(&p->e->request.rates, t->image, t->layer, 0, UINT64_MAX,
                                    p->n_tokens);
    if (ns >= WINDOW_NS) {
        ns = (ns - least(ns, p->matrices)) / p->n_layers;
        p->sum += ns;
        p->most = ns > p->most ? ns : p->most;
        p->n_windows++;
        p->n_layers = 0;
        p->matrices = 0;
        p->window = now;
    }
    p->window += board.ticks() - now; /* spent here */
    return p->n_windows != 0 && now > p->until;
}

/* Nanoseconds of a layer and token beside its matrices, in whole passes and a part of one: the mean,
 * and what came between in the longest window does not count. */
static uint32_t measure_layers(struct probe *p, uint32_t n_tokens)
{
    static const uint32_t ids[PROBE_TOKENS];

    p->n_tokens = n_tokens;
    p->n_begun = p->n_layers = p->n_windows = 0;
    p->matrices = p->sum = p->most = 0;
    p->until = board.ticks() + board.ticks_hz() / LAYERS_HZ;
    do {
        p->e->kv.length = POSITION;
    } while (transformer_pass(&p->e->transformer, ids, n_tokens, false, between_layers, p) ==
             ERR_OK);
    if (p->n_windows > 1) {
        p->sum = (p->sum - p->most) / (p->n_windows - 1);
    }
    return (uint32_t)(p->sum / n_tokens);
}

/* Where a layer of a chunk takes long, its matrices are most of it. */
static void measure_rest(struct probe *p)
{
    struct plan_rates *rates = &p->e->request.rates;
    const struct image *image = &p->e->image;

    rates->layer = measure_layers(p, 1);
    if (image->header->params.context >= POSITION + PROBE_TOKENS &&
        plan_matrices_ns(rates, image, 0, 0, UINT64_MAX, PROBE_TOKENS) < CHUNK_MOST_NS) {
        rates->layer_prefill = measure_layers(p, PROBE_TOKENS);
    }
}

static void measure_checksum(struct probe *p)
{
    size_t bytes = p->bytes / CHECKED;
    uint64_t start = board.ticks();

    (void)workers_crc32c(p->e->transformer.workers, 0, p->weights, bytes);
    p->e->request.rates.check = (uint32_t)(nanoseconds(board.ticks() - start) * 1000 / bytes);
}

/* Work space, one layer's cache, which stands in for all, and what is left for weights. */
static bool cut_memory(struct probe *p, struct workers *workers, struct arena *arena)
{
    struct engine *e = p->e;
    const struct ingot_header *h = e->image.header;
    struct plan plan = { .chunk = PROBE_TOKENS, .logits_rows = 1 };
    size_t page = kv_cache_page_bytes(&h->params, e->request.kv_type);
    size_t work = page + activations_bytes(&(struct activations_request){
                             &h->params, plan.chunk, image_types(&e->image), plan.logits_rows });
    size_t left = arena_left(arena);

    if (work + ARENA_ALIGN > left) {
        return false;
    }
    (void)arena_reserve(arena, ARENA_SCRATCH, left);
    transformer_open(&e->transformer, &e->image, e->kernels, workers, &e->stream, &e->kv, &plan,
                     arena);
    p->bytes = (size_t)least(least(REGION_BYTES, h->file_bytes), left - work) / CACHE_LINE *
               CACHE_LINE;
    p->weights = (uint8_t *)arena_take(arena, ARENA_SCRATCH, page + p->bytes) + page;
    memset(p->weights - page, FILL, page + p->bytes);
    kv_cache_open(&e->kv, &h->params, KV_TILE, e->request.kv_type, p->weights - page);
    e->kv.layer_bytes = 0;
    e->kv.values = p->weights - page / 2;
    return true;
}

/* The layers of the model that are in the memory, again and again. False: one does not fit, or not
 * the first rows of the embedding. */
static bool place_layers(struct probe *p)
{
    const struct image *image = &p->e->image;
    struct stream *s = &p->e->stream;
    uint64_t at = 0, most;

    s->file = p->e->file;
    s->image = &p->e->image;
    s->plan = &p->e->plan;
    s->workers = p->e->transformer.workers;
    s->segments[image_embedding_segment(image)] = p->weights;
    most = image_tensor(image, INGOT_TOKEN_EMBEDDING, INGOT_NO_LAYER)->offset +
           plan_row_group_bytes(image);
    for (uint32_t i = 0; i < image->header->params.n_layers && most <= p->bytes; i++) {
        uint32_t segment = image_layer_segment(image, i);

        most = image->segments[segment].bytes;
        at = at + most <= p->bytes ? at : 0;
        s->segments[segment] = p->weights + at;
        at += most;
    }
    return most <= p->bytes && image->header->params.context > POSITION;
}

void calibrate_compute(struct engine *e, struct workers *workers, struct memory_range memory)
{
    struct plan_rates *rates = &e->request.rates;
    struct probe p = { .e = e };
    struct arena arena;
    bool placed;

    arena_init(&arena, memory.base, memory.bytes);
    if (!cut_memory(&p, workers, &arena)) {
        return;
    }
    placed = place_layers(&p);
    for (uint32_t i = 0; i < image_tensor_count(&e->image.header->params); i++) {
        const struct ingot_tensor *w = &e->image.tensors[i];

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
