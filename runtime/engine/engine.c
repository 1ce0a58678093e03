#include "runtime/engine/engine.h"

#include <assert.h>
#include <string.h>

#include "runtime/model/calibrate_compute.h"
#include "runtime/session/sampler.h"
#include "runtime/stream/calibrate_storage.h"
#include "runtime/text/format_text.h"

static enum err refuse(struct engine *e, enum err error, const char *sentence)
{
    format_text(e->problem, sizeof e->problem, "%.100s: %.280s", e->file->name,
                sentence[0] != '\0' ? sentence : err_text(error));
    return error;
}

static enum err read_tables(struct file_read *read, const struct engine *e,
                            const struct engine_setup *setup, uint64_t offset, void *buffer,
                            size_t bytes)
{
    bool stopped = false;
    enum err error;

    (void)file_read_start(read, e->file, offset, buffer, bytes); /* a refusal shows in the poll */
    do {
        error = file_read_poll(read);
        if (setup->progress != NULL &&
            !setup->progress(setup->progress_context, "reading the tables", read->bytes_done,
                             bytes)) {
            stopped = true;
            file_read_stop(read);
        }
    } while (error == ERR_BUSY);
    return stopped ? ERR_ABORTED : error;
}

/* [offset, offset + bytes) of the file: where it lies, or read into ARENA_META. */
static enum err fetch(struct engine *e, const struct engine_setup *setup, uint64_t offset,
                      size_t bytes, const void **out)
{
    const void *at = file_memory(e->file, offset, bytes);
    struct file_read *read = &e->stream.slots[0].read; /* the stream is opened later */
    char sentence[200] = "";
    void *copy;
    enum err error;

    if (at != NULL) {
        *out = at;
        return ERR_OK;
    }
    copy = arena_take(&e->arena, ARENA_META, bytes);
    error = read_tables(read, e, setup, offset, copy, bytes);
    *out = copy;
    if (error == ERR_IO || error == ERR_TIMEOUT) {
        format_text(sentence, sizeof sentence, "header and tables, sector %lu of %s: %s",
                    (unsigned long)read->failed_sector, e->file->device->name, err_text(error));
    }
    return error == ERR_OK ? ERR_OK : refuse(e, error, sentence);
}

/* The header lies at the arena's start, the tables right behind it: one region, whose size is
 * known only once the header is read, so it is cut twice with the same beginning. */
static enum err open_image(struct engine *e, const struct engine_setup *setup)
{
    const void *at;
    uint64_t meta_bytes;
    enum err error;

    if (e->file->bytes < INGOT_PAGE) {
        return refuse(e, ERR_TRUNCATED, "");
    }
    if (arena_reserve(&e->arena, ARENA_META, INGOT_PAGE) != ERR_OK) {
        return refuse(e, ERR_NO_SPACE, "");
    }
    error = fetch(e, setup, 0, INGOT_PAGE, &at);
    if (error == ERR_OK) {
        error = image_check_header(&e->image, at, e->file->bytes);
        if (error != ERR_OK) {
            return refuse(e, error, e->image.problem);
        }
        meta_bytes = image_meta_bytes(e->image.header);
        arena_reset(&e->arena);
        if (meta_bytes + INGOT_PAGE > arena_left(&e->arena) ||
            arena_reserve(&e->arena, ARENA_META, (size_t)meta_bytes + INGOT_PAGE) != ERR_OK) {
            return refuse(e, ERR_NO_SPACE, "");
        }
        if (file_memory(e->file, 0, INGOT_PAGE) == NULL) {
            (void)arena_take(&e->arena, ARENA_META, INGOT_PAGE);
        }
        error = fetch(e, setup, INGOT_PAGE, (size_t)meta_bytes, &at);
    }
    if (error != ERR_OK) {
        return error;
    }
    error = image_check_meta(&e->image, at);
    return error == ERR_OK ? ERR_OK : refuse(e, error, e->image.problem);
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* A draft borrows the work space of the model it guesses for, and has nothing to tokenize. */
static void request_plan(struct plan_request *r, struct engine *e, const struct engine_setup *setup)
{
    const struct ingot_header *h = e->image.header;
    uint32_t most = h->params.context;

    e->scratch_bytes = larger(tokenizer_scratch_bytes(ENGINE_TEXT_BYTES),
                              sampler_scratch_bytes(h->params.vocab));
    *r = (struct plan_request){ .image = &e->image,
                                .arena_bytes = arena_left(&e->arena),
                                .weight_limit = setup->weight_limit,
                                .context = setup->context,
                                .chunk = setup->chunk,
                                .kv_type = setup->kv_type,
                                .kv_card = setup->kv_card,
                                .rates = setup->rates };
    r->in_place = file_memory(e->file, 0, h->file_bytes) != NULL;
    r->logits_rows = setup->guesses == ENGINE_GUESSES ? 1 + ENGINE_MOST_GUESSES : 1;
    if (setup->draft) {
        e->scratch_bytes = 0;
        r->chunk = ENGINE_DRAFT_CHUNK;
        r->context = r->context < most ? r->context : most;
    }
    r->extra_scratch = arena_take_bytes(e->scratch_bytes);
}

static enum err reserve_all(struct engine *e)
{
    const struct plan *p = &e->plan;
    enum err error = arena_reserve(&e->arena, ARENA_WEIGHTS, p->pinned_bytes);

    error = error == ERR_OK ? arena_reserve(&e->arena, ARENA_IO, p->io_bytes) : error;
    error = error == ERR_OK ? arena_reserve(&e->arena, ARENA_KV, p->kv_bytes) : error;
    error = error == ERR_OK ? arena_reserve(&e->arena, ARENA_SCRATCH, p->scratch_bytes) : error;
    return error == ERR_OK ? ERR_OK : refuse(e, error, "");
}

/* A file that is there is held against the plan; the bytes are there before it is asked for. */
static enum err check_kv_file(struct engine *e, const struct engine_setup *setup)
{
    const struct file *f = setup->kv_file;

    if (f == NULL || e->plan.n_spilled == 0) {
        return ERR_OK;
    }
    if (f->bytes < e->plan.kv_card_bytes) {
        format_text(e->problem, sizeof e->problem,
                    "%.200s is too small for a context of %u: make "
                    "the card with KV=%lu, or choose a shorter ctx=",
                    f->name, (unsigned)e->plan.context,
                    (unsigned long)(e->plan.kv_card_bytes >> 20) + 1);
        return ERR_NO_SPACE;
    }
    return ERR_OK;
}

static void lend(struct io_core *c, struct workers *workers)
{
    io_core_start(c, workers->n_cores - 1);
    workers_lend(workers, io_core_serve, io_core_stop, c);
}

/* In a pass over n tokens the last core computes, or moves what the card sends. */
static void lend_core(struct engine *e, uint32_t n)
{
    struct io_core *c = e->io_core;
    struct workers *workers = e->transformer.workers;
    bool lends = n > ACTIVATIONS_SAVED ? e->plan.lends_prefill : e->plan.lends_decode;

    if (c == NULL || lends == (c->core != 0)) {
        return;
    }
    if (lends) {
        lend(c, workers);
    } else {
        workers_take_back(workers);
    }
}

/* Without the last core, which waits for requests meanwhile as it would serve the card. */
static void measure_lent(struct engine *e, const struct engine_setup *setup,
                         struct memory_range free)
{
    struct plan_rates *rates = &e->request.rates, all = *rates;
    struct io_core *c = io_core_of(e->file->device);

    if (c == NULL || rates->io_core == 0 || rates->cores == 1) {
        return;
    }
    *rates = (struct plan_rates){ 0 };
    lend(c, setup->workers);
    calibrate_compute(e, setup->workers, free);
    workers_take_back(setup->workers);
    e->lent_rates = *rates;
    *rates = all;
    rates->lent = &e->lent_rates;
}

/* In the arena, which is empty but for the header and tables. */
static void measure(struct engine *e, const struct engine_setup *setup)
{
    struct memory_range free = { e->arena.base + e->arena.reserved, arena_left(&e->arena) };

    e->request.rates.cores = setup->workers->n_cores;
    calibrate_compute(e, setup->workers, free);
    if (e->plan.residency == PLAN_STREAMED || e->plan.n_spilled != 0) {
        calibrate_storage(&e->request.rates, e->file, &setup->workers->platform->clock, free,
                          setup->progress, setup->progress_context);
        measure_lent(e, setup, free);
    }
}

/* Whether weights stream is known after a plan; the card's rate and what is predicted from it, and
 * room for guesses, then ask for another. Where there is none, or only in place of a part of the
 * chunk, it goes without guesses. */
static enum err make_plan(struct engine *e, const struct engine_setup *setup)
{
    struct plan_request *request = &e->request;
    enum err error;

    request_plan(request, e, setup);
    error = plan_make(&e->plan, request);
    if (error == ERR_OK && setup->probe && !setup->draft) {
        measure(e, setup);
        error = plan_make(&e->plan, request);
    }
    if (error == ERR_OK && setup->guesses == ENGINE_GUESSES_IF_STREAMED &&
        e->plan.residency == PLAN_STREAMED) {
        uint32_t chunk = e->plan.chunk;

        request->logits_rows = 1 + ENGINE_MOST_GUESSES;
        if (plan_make(&e->plan, request) != ERR_OK || e->plan.chunk < chunk) {
            request->logits_rows = 1;
            error = plan_make(&e->plan, request);
        }
    }
    if (error != ERR_OK) {
        return refuse(e, error, e->plan.problem);
    }
    if (setup->draft && e->plan.residency == PLAN_STREAMED) {
        return refuse(e, ERR_NO_SPACE,
                      "a draft must lie in memory whole, and there is not enough: "
                      "choose a smaller one, or a shorter ctx=");
    }
    error = check_kv_file(e, setup);
    return error == ERR_OK ? reserve_all(e) : error;
}

enum err engine_open(struct engine *e, const struct engine_setup *setup)
{
    enum err error;

    if (setup->workers != NULL) {
        workers_take_back(setup->workers); /* from the engine before */
    }
    memset(e, 0, sizeof *e);
    e->hashes = true;
    e->file = setup->file;
    e->kernels = setup->kernels;
    arena_init(&e->arena, setup->ram.base, setup->ram.bytes);
    error = open_image(e, setup);
    if (error != ERR_OK) {
        return error;
    }
    tokenizer_open(&e->tokenizer, e->image.tokenizer);
    return make_plan(e, setup);
}

size_t engine_bytes(const struct engine *e)
{
    return e->arena.bytes - arena_left(&e->arena);
}

enum err engine_load(struct engine *e, const struct engine_setup *setup)
{
    const struct ingot_params *p = &e->image.header->params;
    enum err error;

    stream_open(&e->stream, e->file, &e->image, &e->plan, setup->workers, &e->arena);
    kv_cache_open(&e->kv, p, e->plan.context, setup->kv_type,
                  arena_take(&e->arena, ARENA_KV, e->plan.n_spilled != 0 ? 0 : e->plan.kv_bytes));
    if (e->plan.n_spilled != 0) {
        assert(setup->kv_file != NULL);
        kv_pages_open(&e->pages, &e->kv, p, e->plan.n_spilled, setup->kv_file, &e->stream,
                      &e->arena);
    }
    transformer_open(&e->transformer, &e->image, e->kernels, setup->workers, &e->stream, &e->kv,
                     &e->plan, &e->arena);
    e->ids = arena_take(&e->arena, ARENA_SCRATCH, e->plan.context * sizeof(uint32_t));
    e->scratch = arena_take(&e->arena, ARENA_SCRATCH, e->scratch_bytes);
    error = stream_load(&e->stream, setup->progress, setup->progress_context);
    if (error != ERR_OK) {
        format_text(e->problem, sizeof e->problem, "%s", e->stream.problem);
        return error;
    }
    if ((e->plan.lends_decode || e->plan.lends_prefill) &&
        (e->plan.n_spilled == 0 || setup->kv_file->device == e->file->device)) {
        e->io_core = io_core_of(e->file->device);
    }
    engine_clear(e);
    return ERR_OK;
}

void engine_clear(struct engine *e)
{
    e->kv.length = 0;
    e->n_ahead = 0;
    e->logits = NULL;
    e->logits_hash = 0xcbf29ce484222325u;
    e->n_hashed = 0;
}

static void hash_logits(struct engine *e)
{
    const uint8_t *bytes = (const uint8_t *)e->logits;
    size_t n = e->image.header->params.vocab * sizeof(float);

    if (!e->hashes || e->n_hashed == ENGINE_HASHED_ROWS) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        e->logits_hash = (e->logits_hash ^ bytes[i]) * 0x100000001b3u;
    }
    e->n_hashed++;
}

static enum err stream_failed(struct engine *e, enum err error)
{
    e->logits = NULL;
    if (error != ERR_ABORTED) {
        format_text(e->problem, sizeof e->problem, "%s", e->stream.problem);
    }
    return error;
}

static enum err check_room(struct engine *e, size_t n)
{
    if (n > e->kv.context - e->kv.length) {
        format_text(e->problem, sizeof e->problem,
                    "the text has %lu tokens and the context has room for %u of %u: shorten it, "
                    "or raise ctx=",
                    (unsigned long)n, (unsigned)(e->kv.context - e->kv.length),
                    (unsigned)e->kv.context);
        return ERR_TOO_LONG;
    }
    return ERR_OK;
}

enum err engine_append(struct engine *e, const uint32_t *ids, size_t n, bool (*should_stop)(void *),
                       void *context)
{
    enum err error = check_room(e, n);

    if (error != ERR_OK) {
        return error;
    }
    if (n == 0) {
        return refuse(e, ERR_BAD_ARGUMENT, "an empty text, and the model has no BOS to begin with");
    }
    e->n_ahead = 0;
    for (size_t at = 0; at < n;) {
        uint32_t m = n - at < e->plan.chunk ? (uint32_t)(n - at) : e->plan.chunk;
        bool last = at + m == n;

        memmove(e->ids + e->kv.length, ids + at, m * sizeof *ids); /* often there already */
        lend_core(e, m);
        error = transformer_pass(&e->transformer, ids + at, m, last, should_stop, context);
        if (error != ERR_OK) {
            return stream_failed(e, error);
        }
        at += m;
        if (last) {
            error = transformer_logits(&e->transformer, m - 1, 1, &e->logits);
        }
        if (error != ERR_OK) {
            e->kv.length -= m; /* without its logits the last chunk is of no use */
            return stream_failed(e, error);
        }
    }
    hash_logits(e);
    return ERR_OK;
}

uint32_t engine_most_guesses(const struct engine *e)
{
    return e->plan.logits_rows - 1;
}

enum err engine_append_guesses(struct engine *e, uint32_t n, bool (*should_stop)(void *),
                               void *context)
{
    uint32_t at = e->kv.length;
    enum err error = check_room(e, n + 1);

    assert(n <= engine_most_guesses(e));
    e->n_ahead = 0;
    if (error != ERR_OK) {
        return error;
    }
    lend_core(e, n + 1);
    error = transformer_pass(&e->transformer, e->ids + at, n + 1, true, should_stop, context);
    error = error == ERR_OK ? transformer_logits(&e->transformer, 0, n + 1, &e->logits) : error;
    e->kv.length = e->kv.length < at ? e->kv.length : at; /* what lies behind the length is written
                                                           * again, or taken */
    if (error != ERR_OK) {
        return stream_failed(e, error);
    }
    e->kv.length++;
    e->n_ahead = n;
    hash_logits(e);
    return ERR_OK;
}

bool engine_was_guessed(struct engine *e, uint32_t id)
{
    bool right = e->n_ahead != 0 && e->ids[e->kv.length] == id;

    e->n_ahead = right ? e->n_ahead : 0;
    e->ids[e->kv.length] = id;
    return right;
}

void engine_take_guess(struct engine *e)
{
    assert(e->n_ahead != 0);
    e->n_ahead--;
    e->kv.length++;
    e->logits += e->transformer.act.logits_stride;
    hash_logits(e);
}

enum err engine_append_visit(struct engine *e, const uint32_t *ids, size_t n,
                             engine_visit_fn *visit, void *context)
{
    uint32_t chunk = e->plan.tiled_head ? 1 : e->plan.chunk;
    enum err error = check_room(e, n);

    e->n_ahead = 0;
    for (size_t at = 0; at < n && error == ERR_OK;) {
        uint32_t m = n - at < chunk ? (uint32_t)(n - at) : chunk;
        uint32_t position = e->kv.length;

        memcpy(e->ids + position, ids + at, m * sizeof *ids);
        lend_core(e, m);
        error = transformer_pass(&e->transformer, ids + at, m, true, NULL, NULL);
        for (uint32_t i = 0; i < m && error == ERR_OK; i++) {
            error = transformer_logits(&e->transformer, i, 1, &e->logits);
            if (error == ERR_OK) {
                hash_logits(e);
                visit(context, position + i, e->logits);
            }
        }
        if (error != ERR_OK) {
            return stream_failed(e, error);
        }
        at += m;
    }
    return error;
}

uint64_t engine_planned_bytes(const struct engine *e)
{
    return e->plan.layer_read + e->plan.head_read;
}
