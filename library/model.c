/* A model in the caller's memory: first the handle, then the arena. */
#include "library/library.h"

#include <string.h>

#include "runtime/chat/chat_turn.h"
#include "runtime/text/format_text.h"

_Static_assert((int)INGOT_KV_F16 == (int)KV_F16 && (int)INGOT_KV_Q8 == (int)KV_Q8 &&
                   (int)INGOT_KV_F32 == (int)KV_F32,
               "enum ingot_kv is enum kv_type");
_Static_assert((int)INGOT_RESIDENT == (int)PLAN_RESIDENT &&
                   (int)INGOT_IN_PLACE == (int)PLAN_IN_PLACE &&
                   (int)INGOT_STREAMED == (int)PLAN_STREAMED,
               "enum ingot_residency is enum plan_residency");
_Static_assert((int)INGOT_MOST_TEXT == (int)SESSION_TEXT_BYTES,
               "both limits of texts are the same");

enum {
    HANDLE_ALIGN = 64,
    LEAST_FILE_BYTES = 4096,
    KNOWN_CPU = 2 * INGOT_CPU_ZVKNHA - 1, /* all bits of features */
};

static size_t round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

/* ---- arguments ------------------------------------------------------------------------------ */

static bool good_source(const struct ingot_source *s)
{
    if (s->bytes < LEAST_FILE_BYTES) {
        return false;
    }
    if (s->data != NULL) {
        return (uintptr_t)s->data % INGOT_DATA_ALIGN == 0;
    }
    return s->read != NULL;
}

static bool good_cores(const struct ingot_cores *c)
{
    if (c->n <= 1) {
        return true;
    }
    return c->n <= INGOT_MOST_CORES && c->start != NULL && c->wait != NULL && c->wake != NULL;
}

static bool good_cpu(uint32_t cpu)
{
    return cpu == INGOT_CPU_DETECT || cpu == INGOT_CPU_PORTABLE ||
           (cpu & ~(uint32_t)KNOWN_CPU) == 0;
}

static bool good_setup(const struct ingot_setup *s)
{
    if (s == NULL || s->memory == NULL || s->clock.ticks == NULL || s->clock.hz == 0) {
        return false;
    }
    if ((unsigned)s->kv > INGOT_KV_F32 || s->weight_bytes > SIZE_MAX ||
        s->sessions > INGOT_MOST_SESSIONS) {
        return false;
    }
    return good_source(&s->source) && good_cores(&s->cores) && good_cpu(s->cpu);
}

/* ---- opening -------------------------------------------------------------------------------- */

/* These functions return the offset in the caller's memory of the handle, and of the arena. */
static size_t handle_skip(const struct ingot_setup *s)
{
    return (size_t)(-(uintptr_t)s->memory & (HANDLE_ALIGN - 1));
}

static size_t handle_end(const struct ingot_setup *s)
{
    return handle_skip(s) + round_up(sizeof(struct ingot_model), HANDLE_ALIGN);
}

static void set_up(struct ingot_model *m)
{
    const struct ingot_setup *s = &m->setup;

    m->model_setup = (struct model_setup){
        .ram = { (uint8_t *)s->memory + handle_end(s), s->memory_bytes - handle_end(s) },
        .file = &m->file,
        .workers = &m->workers,
        .kernels = &m->kernels,
        .limits.weights = (size_t)s->weight_bytes,
        .limits.context = s->context,
        .limits.kv = kv_both((enum kv_type)s->kv),
        .guesses = MODEL_GUESSES_IF_STREAMED,
        .sequences = s->sessions,
        .progress = s->progress,
        .progress_context = s->progress_context,
        .sequence_bytes = session_bytes,
    };
}

static enum ingot_error open_file(struct ingot_model *m)
{
    const char *name = m->setup.source.name;
    enum err e = file_open_device(&m->file, &m->device, 0, NULL);

    if (name == NULL) {
        name = "model";
    }
    file_set_name(&m->file, name);
    return library_failed(m, e, "");
}

/* Do everything up to model_open, whose error is *e. */
static enum ingot_error begin(const struct ingot_setup *setup, struct ingot_model **model,
                              enum err *e)
{
    struct ingot_model *m;
    enum ingot_error error;

    if (setup->memory_bytes <= handle_end(setup)) {
        return INGOT_NO_MEMORY;
    }
    m = (struct ingot_model *)((uint8_t *)setup->memory + handle_skip(setup));
    memset(m, 0, sizeof *m);
    m->setup = *setup;
    m->stage = LIBRARY_FAILED;
    m->busy = true;
    *model = m;
    library_open_machine(m);
    library_choose_kernels(m);
    set_up(m);
    error = open_file(m);
    if (error == INGOT_OK) {
        *e = model_open(&m->model, &m->model_setup);
        error = library_failed(m, *e, m->model.error_message);
    }
    m->busy = false;
    return error;
}

enum ingot_error ingot_open(const struct ingot_setup *setup, struct ingot_model **model)
{
    enum ingot_error error;
    enum err e;

    if (model == NULL) {
        return INGOT_BAD_ARGUMENT;
    }
    *model = NULL;
    if (!good_setup(setup)) {
        return INGOT_BAD_ARGUMENT;
    }
    error = begin(setup, model, &e);
    if (error == INGOT_OK) {
        (*model)->stage = LIBRARY_OPEN;
    }
    return error;
}

/* ---- how much memory ------------------------------------------------------------------------ */

static size_t planned_bytes(const struct plan *p)
{
    return round_up(p->memory.pinned, ARENA_ALIGN) + round_up(p->memory.io, ARENA_ALIGN) +
           round_up(p->memory.kv, ARENA_ALIGN) + round_up(p->memory.scratch, ARENA_ALIGN) +
           round_up(p->memory.learn, ARENA_ALIGN);
}

/* Find the smallest sufficient arena by bisection; `enough` bytes are known to suffice. */
static size_t least_arena(struct model *m, size_t enough)
{
    size_t too_little = 0;

    while (enough - too_little > ARENA_ALIGN) {
        size_t middle = too_little + (enough - too_little) / 2;

        m->request.arena_bytes = middle;
        if (plan_make(&m->plan, &m->request) == ERR_OK) {
            enough = middle;
        } else {
            too_little = middle;
        }
    }
    return round_up(enough, ARENA_ALIGN);
}

static enum ingot_error measure(struct ingot_model *m, struct ingot_memory *needed)
{
    struct model *model = &m->model;
    size_t others = handle_end(&m->setup) + ARENA_ALIGN + model->arena.regions[ARENA_META].bytes;
    enum err e;

    model->request.arena_bytes = SIZE_MAX / 4;
    e = plan_make(&model->plan, &model->request);
    if (e != ERR_OK) {
        return library_failed(m, e, model->plan.error_message);
    }
    needed->all = planned_bytes(&model->plan);
    needed->least = others + least_arena(model, needed->all);
    needed->all += others;
    return INGOT_OK;
}

enum ingot_error ingot_memory_needed(const struct ingot_setup *setup, struct ingot_memory *needed)
{
    struct ingot_model *m = NULL;
    enum ingot_error error;
    enum err e = ERR_OK;

    if (needed == NULL || !good_setup(setup)) {
        return INGOT_BAD_ARGUMENT;
    }
    *needed = (struct ingot_memory){ 0, 0 };
    error = begin(setup, &m, &e);
    if (m == NULL) {
        return error;
    }
    if (error == INGOT_OK || (e == ERR_NO_SPACE && m->model.request.image != NULL)) {
        error = measure(
            m, needed); /* the tables fit the memory, so it is not an error here if the rest does
                         * not fit */
    }
    m->stage = LIBRARY_CLOSED;
    return error;
}

/* ---- loading and closing -------------------------------------------------------------------- */

static void log_ready(const struct ingot_model *m)
{
    const struct plan *p = &m->model.plan;

    library_log(m, "Ingot " INGOT_VERSION_TEXT ": kernels %s, cores %u of %u", m->kernels_text,
                m->workers.n_cores, m->platform.cores.n);
    library_log(m, "%.100s: %s, context %u, %lu of %lu bytes of memory", m->file.name,
                plan_residency_text(p->residency), (unsigned)p->context,
                (unsigned long)(handle_end(&m->setup) + model_bytes(&m->model)),
                (unsigned long)m->setup.memory_bytes);
}

enum ingot_error ingot_load(struct ingot_model *m)
{
    enum ingot_error error = library_check(m, LIBRARY_OPEN);

    if (error != INGOT_OK) {
        return error;
    }
    if (m->stage != LIBRARY_OPEN) {
        return library_refuse(m, INGOT_WRONG_ORDER, "the model is loaded already");
    }
    m->busy = true;
    m->stage = LIBRARY_FAILED;
    workers_start(&m->workers, &m->platform, m->platform.cores.n);
    error = library_failed(m, model_load(&m->model, &m->model_setup), m->model.error_message);
    if (error == INGOT_OK) {
        m->stage = LIBRARY_LOADED;
        log_ready(m);
    }
    m->busy = false;
    return error;
}

enum ingot_error ingot_close(struct ingot_model *m)
{
    enum ingot_error error = library_check(m, LIBRARY_FAILED);

    if (error != INGOT_OK) {
        return error;
    }
    if (m->workers.n_cores > 1) {
        workers_stop(&m->workers);
    }
    m->stage = LIBRARY_CLOSED;
    for (uint32_t i = 0; i < INGOT_MOST_SESSIONS; i++) {
        m->sessions[i].model = NULL;
    }
    return INGOT_OK;
}

/* ---- what it is ----------------------------------------------------------------------------- */

enum ingot_error ingot_model_describe(const struct ingot_model *m, struct ingot_model_info *info)
{
    const struct image *image;

    if (m == NULL || info == NULL) {
        return INGOT_BAD_ARGUMENT;
    }
    if (m->stage < LIBRARY_OPEN) {
        return INGOT_WRONG_ORDER;
    }
    image = &m->model.image;
    *info = (struct ingot_model_info){
        .family = image_family_name(image->header->params.family),
        .n_layers = image->header->params.n_layers,
        .dim = image->header->params.dim,
        .vocab = image->header->params.vocab,
        .model_context = image->header->params.context,
        .context = m->model.plan.context,
        .has_template = chat_has_template(image->chat),
        .residency = (enum ingot_residency)m->model.plan.residency,
        .bytes_a_token = model_planned_bytes(&m->model),
        .memory_bytes = handle_end(&m->setup) + model_bytes(&m->model),
        .n_cores = m->workers.n_cores,
        .kernels = m->kernels_text,
    };
    return INGOT_OK;
}
