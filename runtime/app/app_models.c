/* Models are found, planned into the memory, loaded and exchanged. */
#include <string.h>

#include "runtime/app/app_private.h"
#include "runtime/chat/report.h"
#include "runtime/console/console.h"
#include "runtime/session/speculative.h"

/* A program asks by Ctrl-C whether we are ready (docs/SERIAL.md): that stops no loading. Before a
 * Linux program looks at its console, Ctrl-C ends it. */
static bool show_progress(void *context, const char *label, uint64_t done, uint64_t total)
{
    const struct app *a = context;

    if (a->setup.front != APP_CONSOLE && !a->talks) {
        console_progress(label, done, total);
        return true;
    }
    return console_progress_step(NULL, label, done, total) || a->setup.options->mode == MODE_JSON;
}

static bool asks_for_draft(const struct app *a)
{
    return a->setup.options->draft[0] != '\0';
}

/* ---- planned -------------------------------------------------------------------------------- */

static struct model_setup target_setup(struct app *a)
{
    const struct options *o = a->setup.options;
    struct speculative_params guessing = options_speculative(o);
    struct model_setup setup = {
        .ram = a->ram,
        .workers = &a->workers,
        .kernels = &a->kernels,
        .weight_limit = (size_t)o->mem,
        .context = o->ctx,
        .chunk = a->setup.chunk,
        .kv_type = (enum kv_type)(o->kv % OPTIONS_KV_CARD),
        .kv_card = o->kv >= OPTIONS_KV_CARD,
        .rates = a->setup.rates,
        .calibrate = !a->setup.predict,
        .guesses = speculative_room(&guessing),
        .session_bytes = session_bytes,
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
        return app_fail(a, e, files->problem(files->context));
    }
    return ERR_OK;
}

static enum err find_kv(struct app *a)
{
    const struct app_files *files = a->setup.files;
    enum err e;

    if (!a->target.setup.kv_card) {
        return ERR_OK;
    }
    e = files->find_kv(files->context, &a->target.setup.kv_file);
    if (e != ERR_OK) {
        return app_fail(a, e, files->problem(files->context));
    }
    return ERR_OK;
}

static enum err open_model(struct app *a, struct app_model *m)
{
    enum err e = model_open(&m->model, &m->setup);

    console_progress_end();
    if (e != ERR_OK) {
        return app_fail(a, e, m->model.problem);
    }
    return ERR_OK;
}

/* The draft takes its place in the memory before the target is planned. */
static enum err plan_draft(struct app *a)
{
    const struct file *file;
    enum err e;

    if (!asks_for_draft(a)) {
        return ERR_OK;
    }
    e = find_model(a, APP_DRAFT, a->setup.options->draft, &file);
    if (e != ERR_OK) {
        return e;
    }
    a->draft.setup = speculative_draft_setup(&a->target.setup, file);
    e = open_model(a, &a->draft);
    if (e != ERR_OK) {
        return e;
    }
    speculative_leave(&a->target.setup, &a->draft.model);
    a->has_draft = true;
    if (a->setup.front == APP_CONSOLE) {
        report_draft(&a->draft.model);
    }
    return ERR_OK;
}

static enum err plan_target(struct app *a, enum app_file which)
{
    enum err e = find_model(a, which, a->setup.options->model, &a->target.setup.file);

    if (e != ERR_OK) {
        return e;
    }
    e = open_model(a, &a->target);
    if (e != ERR_OK || !a->has_draft) {
        return e;
    }
    e = speculative_check(&a->draft.model, &a->target.model);
    if (e != ERR_OK) {
        return app_fail(a, e, a->draft.model.problem);
    }
    return ERR_OK;
}

static enum err plan_models(struct app *a, enum app_file which)
{
    enum err e;

    a->target.setup = target_setup(a);
    a->has_draft = false;
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
    return plan_models(a, APP_MODEL);
}

/* ---- loaded --------------------------------------------------------------------------------- */

static enum err load_model(struct app *a, struct app_model *m)
{
    enum err e = model_load(&m->model, &m->setup);

    console_progress_end();
    if (e != ERR_OK) {
        return app_fail(a, e, m->model.problem);
    }
    session_open(&m->session, &m->model, &m->setup);
    return ERR_OK;
}

static void report_plans(struct app *a)
{
    const struct model *m = &a->target.model;

    if (a->setup.front == APP_PROGRAM) {
        report_kernels(a->features, a->kernels.ahead);
        if (a->has_draft) {
            report_draft(&a->draft.model);
        }
    }
    if (a->setup.front == APP_PROGRAM || a->setup.options->verbose) {
        report_model(m);
        report_plan(m);
    } else {
        report_summary(m);
    }
}

/* What is about to be loaded, as the front wants to know it. */
static enum err announce(struct app *a)
{
    if (a->target.model.plan.kv.n_spilled != 0 && a->target.setup.kv_file == NULL) {
        return app_fail(a, ERR_UNSUPPORTED,
                        "keys and values would spill: name a file for them with --kv-file");
    }
    if (a->setup.front != APP_SILENT) {
        report_plans(a);
    }
    return ERR_OK;
}

static enum err load_models(struct app *a)
{
    enum err e;

    if (a->has_draft) {
        e = load_model(a, &a->draft);
        if (e != ERR_OK) {
            return e;
        }
    }
    return load_model(a, &a->target);
}

enum err app_load(struct app *a)
{
    enum err e = announce(a);

    if (e != ERR_OK) {
        return e;
    }
    return load_models(a);
}

/* ---- talked to ------------------------------------------------------------------------------ */

static enum err choose_chat(struct app *a, const struct ingot_chat **chat)
{
    const struct app_files *files = a->setup.files;
    enum err e;

    *chat = NULL;
    if (files->choose_chat == NULL) {
        return ERR_OK;
    }
    e = files->choose_chat(files->context, &a->target.model, chat);
    if (e != ERR_OK) {
        return app_fail(a, e, files->problem(files->context));
    }
    return ERR_OK;
}

/* Load what was planned, and begin a conversation with it. */
static enum err load_to_talk(struct app *a, const struct ingot_chat *chat)
{
    struct session *draft = NULL;
    uint64_t start = console_millis();
    enum err e = load_models(a);

    if (e != ERR_OK) {
        return e;
    }
    start = console_millis() - start;
    if (a->has_draft) {
        draft = &a->draft.session;
    }
    chat_open(&a->chat, &a->target.session, draft, a->setup.options, chat);
    if (a->setup.front == APP_CONSOLE) {
        report_ready(&a->target.model, start);
    }
    return ERR_OK;
}

static enum err begin(struct app *a, enum app_file which)
{
    const struct ingot_chat *chat;
    enum err e = plan_models(a, which);

    if (e != ERR_OK) {
        return e;
    }
    e = choose_chat(a, &chat);
    if (e != ERR_OK) {
        return e;
    }
    e = announce(a);
    if (e != ERR_OK) {
        return e;
    }
    return load_to_talk(a, chat);
}

/* What the options name is planned and loaded, and talked to. */
static enum err begin_told(struct app *a, enum app_file which)
{
    const struct app_files *files = a->setup.files;
    enum err e;

    if (files->loading != NULL) {
        files->loading(files->context, true);
    }
    e = begin(a, which);
    if (files->loading != NULL) {
        files->loading(files->context, false);
    }
    return e;
}

static bool is_card_trouble(enum err e)
{
    return e == ERR_IO || e == ERR_TIMEOUT || e == ERR_REMOVED || e == ERR_BAD_CHECKSUM;
}

/* Somebody is at the line, or will be. */
static bool can_be_asked(const struct app *a)
{
    return a->talks ||
           (a->setup.front == APP_CONSOLE && !options_given(a->setup.options, OPTION_PROMPT));
}

/* Ctrl-C and a card in trouble leave no model: where somebody is there to ask for one, say how. */
static bool goes_on_without(struct app *a, enum err e)
{
    const struct app_files *files = a->setup.files;

    if (!can_be_asked(a) || (e != ERR_ABORTED && !is_card_trouble(e))) {
        return false;
    }
    if (is_card_trouble(e)) {
        console_log("error: %s", a->problem);
    }
    console_log("loading is stopped: /model %s loads it again, /models lists all",
                files->model_name(files->context, a->setup.options->model));
    return true;
}

enum err app_open(struct app *a)
{
    enum err e = begin_told(a, APP_MODEL);

    if (e == ERR_OK || goes_on_without(a, e)) {
        return ERR_OK;
    }
    return e;
}

/* ---- another one ---------------------------------------------------------------------------- */

static bool go_back(struct app *a)
{
    enum err e;

    console_log("back to the model before");
    e = begin_told(a, APP_MODEL_BEFORE);
    if (e == ERR_OK || goes_on_without(a, e)) {
        return true;
    }
    console_log("error: %s", a->problem);
    return false;
}

/* Whether the name may be one; said where it is none. */
static bool check_name(struct app *a, const char *name)
{
    const struct app_files *files = a->setup.files;

    if (strlen(name) >= OPTIONS_MODEL_BYTES) {
        console_printf("error: a name has up to %u bytes\n", OPTIONS_MODEL_BYTES - 1);
        return false;
    }
    if (files->check_model != NULL && files->check_model(files->context, name) != ERR_OK) {
        console_printf("error: %s\n", files->problem(files->context));
        return false;
    }
    return true;
}

/* Nothing may arrive in what is planned anew. */
static void leave_model(struct app *a)
{
    if (a->chat.session == NULL) {
        return;
    }
    stream_reset(&a->target.model.stream);
    if (a->has_draft) {
        stream_reset(&a->draft.model.stream);
    }
    a->chat.session = NULL;
}

/* The memory starts over. */
bool app_change_model(struct app *a, const char *name)
{
    struct options *o = a->setup.options;
    bool had_one = a->chat.session != NULL;
    char before[OPTIONS_MODEL_BYTES];
    enum err e;

    if (!check_name(a, name)) {
        return true;
    }
    leave_model(a);
    memcpy(before, o->model, sizeof before);
    memcpy(o->model, name, strlen(name) + 1);
    e = begin_told(a, APP_MODEL);
    if (e == ERR_OK || (e == ERR_ABORTED && goes_on_without(a, e))) {
        return true;
    }
    console_log("error: %s", a->problem);
    memcpy(o->model, before, sizeof before);
    return !had_one || go_back(a);
}
