/* Find models, plan their place in memory, and load them. */

#include "runtime/app/app_private.h"
#include "runtime/chat/report.h"
#include "runtime/console/console.h"
#include "runtime/session/speculative.h"

/* A program sends Ctrl-C to ask whether Ingot is ready (docs/SERIAL.md), so a program's Ctrl-C does
 * not stop loading. On Linux, Ctrl-C ends Ingot while it does not read its console yet. */
static bool show_progress(void *context, const char *label, uint64_t done, uint64_t total)
{
    const struct app *a = context;

    if (a->setup.front != APP_CONSOLE && !a->talks) {
        console_progress(a->setup.console, label, done, total);
        return true;
    }
    return console_progress_step(a->setup.console, label, done, total) ||
           a->setup.options->line.mode == MODE_JSON;
}

static bool asks_for_draft(const struct app *a)
{
    return a->setup.options->load.draft[0] != '\0';
}

/* ---- planning ------------------------------------------------------------------------------- */

/* Return the bytes that features ask for in ARENA_LEARN. */
static size_t learn_bytes(void *features, const struct image *image)
{
    return features_memory(features, image);
}

static struct model_setup target_setup(struct app *a)
{
    const struct options *o = a->setup.options;
    struct speculative_params guessing = options_speculative(o);
    struct model_setup setup = {
        .ram = a->ram,
        .workers = &a->workers,
        .kernels = &a->kernels,
        .signing = a->setup.signing,
        .limits.weights = (size_t)o->load.mem,
        .limits.context = o->load.ctx,
        .limits.usual_context = a->setup.usual_context,
        .limits.chunk = a->setup.chunk,
        .limits.kv = o->load.kv.types,
        .limits.kv_card = o->load.kv.card,
        .rates = a->setup.rates,
        .calibrate = !a->setup.predict,
        .guesses = speculative_room(&guessing),
        .sequences = o->load.together,
        .spare_sequences = a->setup.spare_sequences,
        .sequence_bytes = session_bytes,
        .experts_ahead = o->load.experts == EXPERTS_AHEAD,
        .pins = o->load.pinned,
        .learn_bytes = learn_bytes,
        .learn_context = &a->features,
    };

    if (a->setup.front != APP_SILENT) {
        setup.progress = show_progress;
        setup.progress_context = a;
    }
    return setup;
}

static enum err find_model(struct app *a, enum app_file which, const char *name,
                           const struct file **file)
{
    const struct app_files *files = a->setup.files;
    enum err e = files->find_model(files->context, which, name, file);

    if (e != ERR_OK) {
        return app_fail(a, e, files->error_message(files->context));
    }
    return ERR_OK;
}

const char *app_model_name(const struct app *a)
{
    const struct app_files *files = a->setup.files;

    return files->model_name(files->context, a->setup.options->load.model);
}

enum err app_blame(struct app *a, enum err e, enum option which)
{
    if (e != ERR_ABORTED) {
        a->at_fault = which;
    }
    return e;
}

static enum err find_kv(struct app *a)
{
    const struct app_files *files = a->setup.files;
    enum err e;

    if (!a->target.setup.limits.kv_card) {
        return ERR_OK;
    }
    e = files->find_kv(files->context, &a->target.setup.kv_file);
    if (e != ERR_OK) {
        return app_blame(a, app_fail(a, e, files->error_message(files->context)), OPTION_KV);
    }
    return ERR_OK;
}

static enum err open_model(struct app *a, struct app_model *m)
{
    enum err e;

    m->setup.taken_bytes = a->setup.platform->memory.arena.bytes - m->setup.ram.bytes;
    e = model_open(&m->model, &m->setup);
    console_progress_end(a->setup.console);
    if (e != ERR_OK) {
        return app_fail(a, e, m->model.error_message);
    }
    return ERR_OK;
}

/* Plan the draft, which takes its memory before the target is planned. */
static enum err plan_draft(struct app *a)
{
    const struct file *file;
    enum err e;

    if (!asks_for_draft(a)) {
        return ERR_OK;
    }
    e = find_model(a, APP_DRAFT, a->setup.options->load.draft, &file);
    if (e != ERR_OK) {
        return app_blame(a, e, OPTION_DRAFT);
    }
    a->draft.setup = speculative_draft_setup(&a->target.setup, file);
    e = open_model(a, &a->draft);
    if (e != ERR_OK) {
        return app_blame(a, e, OPTION_DRAFT);
    }
    speculative_leave(&a->target.setup, &a->draft.model);
    a->has_draft = true;
    if (a->setup.front == APP_CONSOLE) {
        report_draft(a->setup.console, &a->draft.model, a->setup.options->load.draft);
    }
    return ERR_OK;
}

/* Return the option to blame for a plan that was refused. */
static enum option word_of_plan(const struct app *a, enum err e)
{
    const struct options_load *o = &a->setup.options->load;
    const struct model *m = &a->target.model;

    if (e == ERR_BAD_ARGUMENT && m->image.header != NULL &&
        o->ctx > m->image.header->params.context) {
        return OPTION_CTX;
    }
    if (e == ERR_BAD_ARGUMENT && (o->kv.types.keys != KV_F16 || o->kv.types.values != KV_F16)) {
        return OPTION_KV;
    }
    if (e != ERR_NO_SPACE) {
        return OPTION_COUNT;
    }
    if (o->kv.card) {
        return OPTION_KV;
    }
    if (o->together > 1) {
        return OPTION_TOGETHER;
    }
    if (m->plan.mem_is_short) {
        return OPTION_MEM;
    }
    return o->ctx != 0 ? OPTION_CTX : OPTION_COUNT;
}

/* Find the saved counts of how often the target's experts were used. */
static void find_use(struct app *a)
{
    const struct app_files *files = a->setup.files;
    const struct file *file;

    a->target.setup.use_file = NULL;
    if (files->find_use != NULL && files->find_use(files->context, 0, &file) == ERR_OK) {
        a->target.setup.use_file = file;
    }
}

static void warn_of_use(struct app *a)
{
    const struct model *m = &a->target.model;

    if (m->use_error != ERR_OK && m->use_error != ERR_NOT_FOUND) {
        console_log(a->setup.console,
                    "warning: %s; the plan assumes that all experts are used equally",
                    m->use.error_message);
    }
}

static enum err plan_target(struct app *a, enum app_file which)
{
    enum err e = find_model(a, which, a->setup.options->load.model, &a->target.setup.file);

    if (e != ERR_OK) {
        return e;
    }
    find_use(a);
    features_planned(&a->features, &a->target.setup);
    e = open_model(a, &a->target);
    if (e != ERR_OK) {
        return app_blame(a, e, word_of_plan(a, e));
    }
    options_take_sampling(a->setup.options, &a->target.model.image.header->sampling);
    warn_of_use(a);
    if (!a->has_draft) {
        return ERR_OK;
    }
    e = speculative_check(&a->draft.model, &a->target.model);
    if (e != ERR_OK) {
        return app_blame(a, app_fail(a, e, a->draft.model.error_message), OPTION_DRAFT);
    }
    return ERR_OK;
}

enum err app_plan_models(struct app *a, enum app_file which)
{
    enum err e;

    a->target.setup = target_setup(a);
    a->has_draft = false;
    a->at_fault = OPTION_COUNT;
    e = find_kv(a);
    if (e != ERR_OK) {
        return e;
    }
    e = plan_draft(a);
    if (e != ERR_OK) {
        return e;
    }
    return plan_target(a, which);
}

enum err app_plan(struct app *a)
{
    return app_plan_models(a, APP_MODEL);
}

/* ---- loading -------------------------------------------------------------------------------- */

static enum err load_model(struct app *a, struct app_model *m)
{
    enum err e = model_load(&m->model, &m->setup);

    console_progress_end(a->setup.console);
    if (e != ERR_OK) {
        return app_fail(a, e, m->model.error_message);
    }
    session_open(&m->session, &m->model, &m->setup);
    return ERR_OK;
}

/* Open the parallel sequences; the first one belongs to the conversation. */
static void open_sequences(struct app *a)
{
    const struct model *m = &a->target.model;

    a->sequences_version++;
    for (uint32_t i = 1; i < m->plan.sequences; i++) {
        session_open(app_sequence(a, i), &a->target.model, &a->target.setup);
        app_sequence(a, i)->hash.on = a->setup.options->show.ids;
    }
}

static void report_plans(struct app *a)
{
    const struct model *m = &a->target.model;

    if (a->setup.front == APP_PROGRAM) {
        report_kernels(a->setup.console, a->cpu_features, a->kernels.ahead);
        if (a->has_draft) {
            report_draft(a->setup.console, &a->draft.model, a->setup.options->load.draft);
        }
    }
    if (a->setup.front == APP_PROGRAM || a->setup.options->show.verbose) {
        report_model(a->setup.console, m, app_model_name(a));
        report_plan(a->setup.console, m);
    } else {
        report_summary(a->setup.console, m, app_model_name(a));
    }
    if (m->signature.signing != NULL) {
        report_signature(a->setup.console, m);
    }
}

enum err app_announce(struct app *a)
{
    if (a->target.model.plan.kv.n_spilled != 0 && a->target.setup.kv_file == NULL) {
        return app_fail(a, ERR_UNSUPPORTED,
                        "keys and values do not fit into memory: name a file for them with "
                        "--kv-file");
    }
    if (a->setup.front != APP_SILENT) {
        report_plans(a);
    }
    return ERR_OK;
}

enum err app_load_models(struct app *a)
{
    enum err e;

    if (a->has_draft) {
        e = load_model(a, &a->draft);
        if (e != ERR_OK) {
            return e;
        }
    }
    e = load_model(a, &a->target);
    if (e != ERR_OK) {
        return e;
    }
    if (a->target.model.measured_late && a->setup.front != APP_SILENT) {
        report_rates(a->setup.console, &a->target.model);
    }
    open_sequences(a);
    return features_ready(&a->features);
}

enum err app_load(struct app *a)
{
    enum err e = app_announce(a);

    if (e != ERR_OK) {
        return e;
    }
    return app_load_models(a);
}
