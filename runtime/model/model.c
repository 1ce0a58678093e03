#include "runtime/model/model.h"

#include <assert.h>
#include <string.h>

#include "board/min_max.h"
#include "runtime/model/calibrate_compute.h"
#include "runtime/model/layer_kinds.h"
#include "runtime/model/layer_state.h"
#include "runtime/model/model_private.h"
#include "runtime/stream/calibrate_storage.h"
#include "runtime/text/format_text.h"

/* Return the cache's size, or 0 if planning runs before the workers exist. */
static size_t cache_bytes(const struct workers *workers)
{
    if (workers == NULL || workers->platform == NULL) {
        return 0;
    }
    return workers->platform->cores.cache_bytes;
}

/* A draft has a short chunk, and no more context than its model. */
static void request_plan(struct plan_request *r, struct model *m, const struct model_setup *setup)
{
    const struct ingot_header *h = m->image.header;

    *r = (struct plan_request){ .image = &m->image,
                                .arena_bytes = arena_left(&m->arena),
                                .taken_bytes = setup->taken_bytes + model_bytes(m),
                                .cache_bytes = cache_bytes(setup->workers),
                                .limits = setup->limits,
                                .rates = setup->rates };
    r->in_place = file_memory(m->file, 0, h->file_bytes) != NULL;
    r->work.logits_rows = 1;
    if (setup->guesses == MODEL_GUESSES) {
        r->work.logits_rows += MODEL_MOST_GUESSES;
    }
    if (setup->draft) {
        r->limits.chunk = MODEL_DRAFT_CHUNK;
        r->limits.context = min_u32(r->limits.context, h->params.context);
    }
    r->work.extra_scratch = setup->sequence_bytes(&m->image);
    if (setup->learn_bytes != NULL) {
        r->work.learn_bytes = setup->learn_bytes(setup->learn_context, &m->image);
        if (r->work.learn_bytes != 0) {
            r->work.logits_rows = max_u32(r->work.logits_rows, MODEL_LEARN_ROWS);
        }
    }
    r->work.sequences = setup->sequences;
    r->work.spare_sequences = setup->spare_sequences;
    r->work.kept_sequences = setup->kept_sequences;
    r->work.line_bytes = setup->line_bytes;
    r->work.kept_bytes = setup->kept_bytes;
    r->work.work_bytes = layer_work_bytes(&m->image);
    r->work.states = layer_states_bytes(&m->image);
}

static enum err reserve_all(struct model *m)
{
    const struct plan *p = &m->plan;

    if (arena_reserve(&m->arena, ARENA_WEIGHTS, p->memory.pinned) != ERR_OK ||
        arena_reserve(&m->arena, ARENA_IO, p->memory.io) != ERR_OK ||
        arena_reserve(&m->arena, ARENA_KV, p->memory.kv) != ERR_OK ||
        arena_reserve(&m->arena, ARENA_SCRATCH, p->memory.scratch) != ERR_OK ||
        arena_reserve(&m->arena, ARENA_LEARN, p->memory.learn) != ERR_OK) {
        return model_refuse(m, ERR_NO_SPACE, "");
    }
    return ERR_OK;
}

/* If keys and values spill to a file, check already now that the file is large enough for the
 * plan. */
static enum err check_kv_file(struct model *m, const struct model_setup *setup)
{
    const struct file *f = setup->kv_file;

    if (f == NULL || m->plan.kv.n_spilled == 0) {
        return ERR_OK;
    }
    if (f->bytes < m->plan.kv.card) {
        format_text(m->error_message, sizeof m->error_message,
                    "%.200s is too small for a context of %u: make "
                    "the card with KV=%lu, or choose a shorter ctx=",
                    f->name, (unsigned)m->plan.context, (unsigned long)(m->plan.kv.card >> 20) + 1);
        return ERR_NO_SPACE;
    }
    return ERR_OK;
}

static void lend(struct io_core *c, struct workers *workers)
{
    workers_gather(workers); /* wake a resting core, which may be the last core */
    io_core_start(c, workers->n_cores - 1);
    workers_lend(workers, io_core_serve, io_core_stop, c);
}

void model_lend_core(struct model *m, uint32_t n)
{
    struct io_core *c = m->io_core;
    struct workers *workers = m->transformer.workers;
    bool lends = n > ACTIVATIONS_SAVED ? m->plan.prediction.lends_prefill
                                       : m->plan.prediction.lends_decode;

    if (c == NULL || lends == (c->core != 0)) {
        return;
    }
    if (lends) {
        lend(c, workers);
    } else {
        workers_take_back(workers);
    }
}

/* Measure without the last core. The last core waits meanwhile, as when it serves the card. */
static void measure_lent(struct model *m, const struct model_setup *setup, struct memory_range free)
{
    struct plan_rates *rates = &m->request.rates, all = *rates;
    struct io_core *c = io_core_of(m->file->device);

    if (c == NULL || rates->io_core == 0 || rates->cores == 1) {
        return;
    }
    *rates = (struct plan_rates){ 0 };
    lend(c, setup->workers);
    calibrate_compute(m, setup->workers, free);
    workers_take_back(setup->workers);
    m->lent_rates = *rates;
    *rates = all;
    rates->lent = &m->lent_rates;
}

/* Measure in the arena, which is empty except for the header and tables. */
static void measure(struct model *m, const struct model_setup *setup)
{
    struct memory_range free = { m->arena.base + m->arena.reserved, arena_left(&m->arena) };

    workers_gather(setup->workers);
    m->request.rates.cores = setup->workers->n_cores;
    calibrate_compute(m, setup->workers, free);
    if (m->plan.residency == PLAN_STREAMED || m->plan.kv.n_spilled != 0) {
        calibrate_storage(&m->request.rates, m->file, &setup->workers->platform->clock, free,
                          setup->progress, setup->progress_context);
        measure_lent(m, setup, free);
    }
}

/* Check a signed model before measuring its speed, so that a bad model is refused at once. But if
 * weights stream, measure first, because the plan needs the rates. The rates also tell how long the
 * check takes. */
static bool measures_late(const struct model *m, const struct model_setup *setup)
{
    return setup->signing != NULL && setup->calibrate && !setup->draft &&
           m->plan.residency != PLAN_STREAMED && m->plan.kv.n_spilled == 0;
}

/* Measure in memory that the plan leaves free, if that suffices. The measured passes use
 * m->transformer and m->stream, which are restored afterwards. */
static void measure_late(struct model *m, const struct model_setup *setup)
{
    struct in_use {
        struct transformer transformer;
        struct stream stream;
    } *kept = (struct in_use *)(void *)(m->arena.base + m->arena.reserved);
    size_t bytes = arena_take_bytes(sizeof *kept), left = arena_left(&m->arena);

    if (left < bytes) {
        return;
    }
    kept->transformer = m->transformer;
    kept->stream = m->stream;
    memset(&m->transformer, 0, sizeof m->transformer);
    memset(&m->stream, 0, sizeof m->stream);
    workers_gather(setup->workers);
    m->request.rates.cores = setup->workers->n_cores;
    calibrate_compute(m, setup->workers,
                      (struct memory_range){ m->arena.base + m->arena.reserved + bytes,
                                             left - bytes });
    m->transformer = kept->transformer;
    m->stream = kept->stream;
    m->plan.rates = m->request.rates;
    plan_predict(&m->plan, &m->image);
    m->measured_late = true;
}

enum err model_plan_guesses(struct plan *plan, struct plan_request *r)
{
    uint32_t chunk = plan->chunk, before = r->work.logits_rows;

    r->work.logits_rows = 1 + MODEL_MOST_GUESSES;
    if (plan_make(plan, r) == ERR_OK && plan->chunk >= chunk) {
        return ERR_OK;
    }
    r->work.logits_rows = before;
    return plan_make(plan, r);
}

/* Read the counts of used experts; a file that cannot be read is left out of the plan. */
static void read_use(struct model *m, const struct model_setup *setup)
{
    if (setup->use_file == NULL || image_most_experts(&m->image) == 0) {
        return;
    }
    m->use_error = expert_use_read(&m->use, setup->use_file, &m->image, &m->used, NULL);
    m->request.use = &m->used;
}

/* A first plan tells whether weights stream. The measured rates and room for guesses then need
 * another plan. */
static enum err plan_all(struct model *m, const struct model_setup *setup)
{
    enum err error;

    request_plan(&m->request, m, setup);
    read_use(m, setup);
    error = plan_make(&m->plan, &m->request);
    if (error == ERR_OK && setup->calibrate && !setup->draft && !measures_late(m, setup)) {
        measure(m, setup);
        error = plan_make(&m->plan, &m->request);
    }
    if (error == ERR_OK && setup->guesses == MODEL_GUESSES_IF_STREAMED &&
        m->plan.residency == PLAN_STREAMED) {
        error = model_plan_guesses(&m->plan, &m->request);
    }
    return error;
}

static enum err make_plan(struct model *m, const struct model_setup *setup)
{
    enum err error = plan_all(m, setup);

    if (error != ERR_OK) {
        return model_refuse(m, error, m->plan.error_message);
    }
    if (setup->draft && m->plan.residency == PLAN_STREAMED) {
        return model_refuse(m, ERR_NO_SPACE,
                            "a draft must fit into memory as a whole, and there is not enough: "
                            "choose a smaller one, or a shorter ctx=");
    }
    error = check_kv_file(m, setup);
    if (error != ERR_OK) {
        return error;
    }
    return reserve_all(m);
}

enum err model_open(struct model *m, const struct model_setup *setup)
{
    enum err error;

    if (setup->workers != NULL) {
        workers_take_back(setup->workers); /* take back the core lent for the previous model */
    }
    memset(m, 0, sizeof *m);
    m->file = setup->file;
    m->kernels = setup->kernels;
    arena_init(&m->arena, setup->ram.base, setup->ram.bytes);
    error = model_open_image(m, setup);
    if (error != ERR_OK) {
        return error;
    }
    tokenizer_open(&m->tokenizer, m->image.tokenizer);
    return make_plan(m, setup);
}

size_t model_bytes(const struct model *m)
{
    return m->arena.bytes - arena_left(&m->arena);
}

enum err model_load(struct model *m, const struct model_setup *setup)
{
    const struct plan *p = &m->plan;
    enum err error;

    stream_open(&m->stream, m->file, &m->image, p, setup->workers, &m->arena);
    transformer_open(&m->transformer, &m->image, m->kernels, setup->workers, &m->stream, p,
                     &m->arena);
    if (m->signature.signing != NULL) {
        stream_sign(&m->stream, &m->signature, m->arena.regions[ARENA_KV].base,
                    m->arena.regions[ARENA_KV].bytes);
    }
    error = stream_load(&m->stream, setup->progress, setup->progress_context);
    if (error != ERR_OK) {
        format_text(m->error_message, sizeof m->error_message, "%s", m->stream.error_message);
        return error;
    }
    if (m->request.use != NULL && m->stream.experts.all != NULL) {
        m->use_error = expert_use_read(&m->use, setup->use_file, &m->image, NULL,
                                       m->stream.experts.all);
        stream_experts_pin(&m->stream, setup->pins);
    }
    m->stream.experts.looks_ahead = setup->experts_ahead;
    if (measures_late(m, setup)) {
        measure_late(m, setup);
    }
    if ((p->prediction.lends_decode || p->prediction.lends_prefill) &&
        (p->kv.n_spilled == 0 || setup->kv_file->device == m->file->device)) {
        m->io_core = io_core_of(m->file->device);
    }
    return ERR_OK;
}

uint32_t model_most_guesses(const struct model *m)
{
    return m->request.work.logits_rows > MODEL_LEARN_ROWS
               ? m->plan.logits_rows - 1
               : 0; /* so few rows serve parallel sequences or learning, not guesses */
}

uint64_t model_planned_bytes(const struct model *m)
{
    return m->plan.layers.read + m->plan.head.read + m->plan.table.bytes;
}
