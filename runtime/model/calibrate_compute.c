#include "runtime/model/calibrate_compute.h"

#include <string.h>

#include "board/min_max.h"
#include "runtime/compute/workers_crc32c.h"
#include "runtime/model/layer.h"
#include "runtime/model/layer_kinds.h"
#include "runtime/model/state_kv.h"

enum {
    FILL = 0x3c,             /* value of each byte of weights and keys, a normal number in any
                              * type */
    REGION_BYTES = 64 << 20, /* bytes of weights to read in turn, more than a cache holds */
    CACHE_LINE = 64,
    CHECKED = 32, /* the checksum is measured over 1/32 of the bytes */
    PROBE_TOKENS = 32,
    POSITION = 16,            /* position of the measured tokens */
    PART = 8,                 /* the weights of a matrix, times the tokens, are at most 1/8 of the
                               * bytes */
    MATRIX_HZ = 200,          /* measure each matrix for 5 ms */
    MATRIX_MOST_HZ = 66,      /* measure up to 15 ms if other programs disturb it */
    LEAST_TIMES = 2,          /* measure at least twice; the first time warms up */
    LAYERS_HZ = 100,          /* measure layers for 10 ms in total */
    LAYERS_MOST_HZ = 33,      /* measure up to 30 ms if other programs disturb it */
    WINDOW_NS = 1000000,      /* length of a window, which has at least one layer */
    WARM_LAYERS = 1,          /* number of layers before the first window */
    MOST_WINDOWS = 128,       /* more windows than can fit into the time */
    AGREE_PART = 8,           /* two times agree if they differ by less than 1 / 8 */
    DOUBT_TIMES = 4,          /* after this many times without two that agree, assume that other
                               * programs run */
    CHUNK_MOST_NS = 50000000, /* measure a chunk only if a layer's matrices take less than this */
};

/* The two shortest times. Other programs only add time, so if these two times agree, no other
 * program was running. */
struct least {
    uint64_t first, second;
    uint32_t n;
};

/* Mean nanoseconds of a layer in a window, and of its work outside the matrices. */
struct window {
    uint64_t layer, rest;
};

struct calibration {
    const struct platform_clock *clock;
    struct model *m;
    struct kv_cache *kv;        /* the cache of one layer, which all layers share; too large for a
                                 * stack */
    struct layer_state *states; /* see layer_kinds.h */
    uint8_t *weights;
    size_t bytes;

    struct ingot_tensor w;
    struct linear_input in;
    const uint8_t *rows;

    uint32_t n_tokens; /* tokens of a pass */
    uint32_t n_begun;  /* layers */
    uint32_t n_layers; /* number of layers in the current window */
    uint64_t window;   /* ticks at which the window began */
    uint64_t matrices; /* predicted nanoseconds of the window's matrices */
    uint64_t begun;    /* ticks */
    struct least least;
    uint32_t n_windows;
    struct window windows[MOST_WINDOWS];
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

static void least_take(struct least *l, uint64_t time)
{
    if (l->n == 0 || time < l->first) {
        l->second = l->first;
        l->first = time;
    } else if (l->n == 1 || time < l->second) {
        l->second = time;
    }
    l->n++;
}

static bool least_agrees(const struct least *l)
{
    return l->n > 1 && l->second - l->first <= l->first / AGREE_PART;
}

/* Record whether the measured rates may be far too low. The printed prediction then says so. */
static void note_doubt(struct calibration *p, const struct least *l)
{
    p->m->request.rates.disturbed |= l->n >= DOUBT_TIMES && !least_agrees(l);
}

/* Return true if the measurement may end after `ticks`; it always ends after 1 / `most_hz`
 * seconds. */
static bool is_enough(const struct calibration *p, const struct least *l, uint64_t ticks,
                      uint32_t least_hz, uint32_t most_hz)
{
    return ticks >= p->clock->hz / least_hz && (least_agrees(l) || ticks >= p->clock->hz / most_hz);
}

/* Return how many picoseconds a byte of a matrix takes for one token, by the shortest measurement.
 * The matrix has the head's shape, or fewer rows if there is less room for logits. */
static uint32_t measure_matrix(struct calibration *p, unsigned type, uint32_t n_tokens)
{
    const struct transformer *t = &p->m->transformer;
    uint64_t begin = platform_ticks(p->clock), at = 0, matrix, start, now = begin;
    struct least least = { 0 };

    p->in = (struct linear_input){ t->act.norm, t->act.dim_stride, n_tokens, 0 };
    p->w.type = (uint8_t)type;
    p->w.cols = params(t)->dim;
    p->w.cols_padded = (uint32_t)t->act.dim_stride;
    /* Use the head's shape, as far as the memory and the room for logits allow. */
    p->w.rows = (uint32_t)min_u64(params(t)->vocab, p->bytes / PART / p->w.cols) / n_tokens /
                ROW_STEP * ROW_STEP;
    matrix = image_tensor_bytes(type, p->w.rows, p->w.cols);
    if (matrix == 0 || matrix > p->bytes) {
        return 0;
    }
    linear_prepare(t->kernels, &t->act, 1u << type, &p->in, 0, n_tokens);
    /* Use other weights each time, so that no cache has them, as in a pass. */
    while (least.n < LEAST_TIMES || !is_enough(p, &least, now - begin, MATRIX_HZ, MATRIX_MOST_HZ)) {
        p->rows = p->weights + at;
        at += matrix;
        if (p->bytes - at < matrix) {
            at = 0;
        }
        start = platform_ticks(p->clock);
        workers_run(t->workers, multiply, p);
        now = platform_ticks(p->clock);
        least_take(&least, now - start);
    }
    note_doubt(p, &least);
    return (uint32_t)(nanoseconds(p, least.first) * 1000 / (matrix * n_tokens)) + 1;
}

static void end_window(struct calibration *p, uint64_t ns)
{
    struct window *w = &p->windows[p->n_windows++];

    w->layer = ns / p->n_layers;
    w->rest = (ns - min_u64(ns, p->matrices)) / p->n_layers;
    least_take(&p->least, w->layer);
    p->n_layers = 0;
    p->matrices = 0;
}

/* Called between two layers. Counts the layer in the window, and ends the window if it is long
 * enough. Returns true after enough windows. */
static bool between_layers(void *context)
{
    struct calibration *p = context;
    const struct transformer *t = &p->m->transformer;
    uint64_t now = platform_ticks(p->clock), ns = nanoseconds(p, now - p->window);

    /* The first layers fill caches and wake cores, so they are not counted. */
    if (p->n_begun++ <= WARM_LAYERS) {
        p->window = now;
        return false;
    }
    p->n_layers++;
    p->matrices += plan_matrices_ns(&p->m->request.rates, t->image, t->layer, 0, UINT64_MAX,
                                    p->n_tokens);
    /* A window of this length is long enough for the clock's resolution, and short enough that many
     * windows fit between disturbances. */
    if (ns >= WINDOW_NS) {
        end_window(p, ns);
        p->window = now;
    }
    p->window += platform_ticks(p->clock) - now; /* leave out the time spent here */
    return p->n_windows == MOST_WINDOWS ||
           (p->n_windows != 0 &&
            is_enough(p, &p->least, now - p->begun, LAYERS_HZ, LAYERS_MOST_HZ));
}

/* Return the mean time outside matrices in windows that no other program disturbed. */
static uint64_t undisturbed_rest(const struct calibration *p)
{
    uint64_t sum = 0, n = 0;

    for (uint32_t i = 0; i < p->n_windows; i++) {
        if (p->windows[i].layer - p->least.first <= p->least.first / AGREE_PART) {
            sum += p->windows[i].rest;
            n++;
        }
    }
    return n == 0 ? 0 : sum / n;
}

/* Return how many nanoseconds a layer takes for one token outside the layer's matrices. The last of
 * the measured passes may be incomplete. */
static uint32_t measure_layers(struct calibration *p, uint32_t n_tokens)
{
    static const uint32_t ids[PROBE_TOKENS];
    struct transformer_part part = { 0, n_tokens, POSITION, p->states, NULL, false, 0 };
    struct transformer_pass pass = { ids, n_tokens, &part, 1, false };
    struct stop stop = { between_layers, p };

    p->n_tokens = n_tokens;
    p->n_begun = p->n_layers = p->n_windows = 0;
    p->least = (struct least){ 0 };
    p->matrices = 0;
    p->begun = platform_ticks(p->clock);
    while (transformer_pass(&p->m->transformer, &pass, &stop) == ERR_OK) {
    }
    note_doubt(p, &p->least);
    return (uint32_t)(undisturbed_rest(p) / n_tokens);
}

/* If a layer takes long for a chunk, most of the time is in matrices, so skip the chunk. */
static void measure_rest(struct calibration *p)
{
    struct plan_rates *rates = &p->m->request.rates;
    const struct image *image = &p->m->image;

    /* Measure decoding, then a chunk of a prompt, whose tokens have other costs. */
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

/* Return an earlier state of the same shape, which can stand in for state i. Without one, return
 * i. */
static uint32_t stand_in(const struct image *image, uint32_t i)
{
    const struct ingot_layer *l = image_layer(image, layer_state_layer(image, i));

    for (uint32_t j = 0; j < i; j++) {
        const struct ingot_layer *o = image_layer(image, layer_state_layer(image, j));

        if (layer_state_kind(image, j) == layer_state_kind(image, i) &&
            o->conv_taps == l->conv_taps && o->n_groups == l->n_groups &&
            o->inner_heads == l->inner_heads && o->state_dim == l->state_dim &&
            o->inner_dim == l->inner_dim) {
            return j;
        }
    }
    return i;
}

static size_t own_states_bytes(const struct image *image)
{
    size_t bytes = 0;

    for (uint32_t i = 0; i < layer_state_count(image); i++) {
        if (stand_in(image, i) == i) {
            bytes += arena_take_bytes(layer_state_bytes(image, i));
        }
    }
    return bytes;
}

/* Layers of one shape share a state, because its contents do not matter here. */
static void open_states(struct calibration *p, struct arena *arena)
{
    const struct image *image = &p->m->image;

    for (uint32_t i = 0; i < layer_state_count(image); i++) {
        uint32_t like = stand_in(image, i), layer = layer_state_layer(image, i);
        size_t bytes = layer_state_bytes(image, i);
        struct layer_state *st = &p->states[i];

        *st = (struct layer_state){ layer_state_kind(image, i), layer, p->kv };
        if (bytes != 0 && like != i) {
            st->self = p->states[like].self;
        } else if (bytes != 0) {
            st->self = arena_take(arena, ARENA_SCRATCH, bytes);
            memset(st->self, 0, bytes);
            st->kind->open(st, image_layer(image, layer));
        }
    }
}

/* Divide the memory into work space, one layer's cache that all layers share, and
 * weights. */
static bool cut_memory(struct calibration *p, struct workers *workers, struct arena *arena)
{
    struct model *m = p->m;
    const struct ingot_header *h = m->image.header;
    struct plan plan = { .context = KV_TILE, .chunk = PROBE_TOKENS, .logits_rows = 1 };
    size_t states = layer_state_count(&m->image) * sizeof *p->states;
    struct kv_layers layers = { m->image.layers, h->params.n_layers };
    size_t page = kv_cache_largest_page(&layers, m->request.limits.kv);
    size_t work = page + arena_take_bytes(sizeof *p->kv) + arena_take_bytes(states) +
                  own_states_bytes(&m->image) +
                  activations_bytes(&(struct activations_request){
                      &h->params, plan.chunk, image_types(&m->image), plan.logits_rows,
                      layer_work_bytes(&m->image), image_most_experts(&m->image),
                      image_inner_dim(&m->image), image_queries(&m->image) });
    size_t left = arena_left(arena);

    if (work + ARENA_ALIGN > left) {
        return false;
    }
    (void)arena_reserve(arena, ARENA_SCRATCH, left);
    transformer_open(&m->transformer, &m->image, m->kernels, workers, &m->stream, &plan, arena);
    p->kv = arena_take(arena, ARENA_SCRATCH, sizeof *p->kv);
    p->states = arena_take(arena, ARENA_SCRATCH, states);
    p->bytes = (size_t)min_u64(min_u64(REGION_BYTES, h->file_bytes), left - work) / CACHE_LINE *
               CACHE_LINE;
    p->weights = (uint8_t *)arena_take(arena, ARENA_SCRATCH, page + p->bytes) + page;
    memset(p->weights - page, FILL, page + p->bytes);
    kv_cache_open(p->kv, &layers, KV_TILE, m->request.limits.kv, p->weights - page);
    for (uint32_t i = 0; i < h->params.n_layers; i++) {
        p->kv->layers[i].place = p->weights - page;
    }
    open_states(p, arena);
    return true;
}

/* Place the layers that fit into the memory; passes run them repeatedly. Return false if there is
 * no room for one layer, or for the first rows of the embedding. */
static bool place_layers(struct calibration *p)
{
    const struct image *image = &p->m->image;
    struct stream *s = &p->m->stream;
    uint64_t at = 0, most;

    s->file = p->m->file;
    s->image = &p->m->image;
    s->plan = &p->m->plan;
    s->workers = p->m->transformer.workers;
    for (uint32_t i = 0; i < image_front_segments(&image->header->params); i++) {
        s->segments[i] = p->weights; /* the embedding and other front segments share bytes */
    }
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
