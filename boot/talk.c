#include "boot/talk.h"

#include <string.h>

#include "runtime/chat/chat.h"
#include "runtime/chat/report.h"
#include "runtime/console/console.h"
#include "runtime/model/model.h"
#include "runtime/session/session.h"
#include "runtime/session/speculative.h"
#include "runtime/storage/storage.h"
#include "runtime/text/format_text.h"

/* The files that are in use at a time, each with a table of its extents. */
enum { MODEL, DRAFT, SAVE, KV, N_FILES };

static struct talk_state {
    struct talk_setup setup;
    struct storage storage;
    struct file files[N_FILES];
    struct file_table tables[N_FILES];
    struct memory_range ram; /* after the tables */
    struct model model;
    struct session session;
    struct model draft;
    struct session draft_session;
    struct chat chat;
    const char *problem;
} state;

static enum err fail(enum err e, const char *problem)
{
    state.problem = problem;
    return e;
}

const char *talk_problem(void)
{
    return state.problem;
}

/* A program asks by Ctrl-C whether we are ready (docs/SERIAL.md): that stops no loading. */
static bool show_progress(void *context, const char *label, uint64_t done, uint64_t total)
{
    return console_progress_step(context, label, done, total) ||
           state.setup.options->mode == MODE_JSON;
}

/* ---- a model -------------------------------------------------------------------------------- */

static bool has_draft(void)
{
    return state.setup.options->draft[0] != '\0';
}

/* The draft takes its place in the arena before the model's is planned. */
static enum err open_draft(struct model_setup *setup, struct model_setup *draft_setup)
{
    enum err e = storage_find_model(&state.storage, state.setup.options->draft,
                                    &state.tables[DRAFT], &state.files[DRAFT]);

    if (e != ERR_OK) {
        return fail(e, state.storage.problem);
    }
    *draft_setup = speculative_draft_setup(setup, &state.files[DRAFT]);
    e = model_open(&state.draft, draft_setup);
    console_progress_end();
    if (e != ERR_OK) {
        return fail(e, state.draft.problem);
    }
    speculative_leave(setup, &state.draft);
    report_draft(&state.draft);
    return ERR_OK;
}

static enum err load(struct model *model, struct session *session, const struct model_setup *setup)
{
    enum err e = model_load(model, setup);

    console_progress_end();
    if (e != ERR_OK) {
        return fail(e, model->problem);
    }
    session_open(session, model, setup);
    return ERR_OK;
}

static enum err plan_models(struct model_setup *setup, struct model_setup *draft_setup)
{
    const struct options *o = state.setup.options;
    enum err e = ERR_OK;

    if (setup->kv_card) {
        e = storage_find_kv(&state.storage, &state.tables[KV], &state.files[KV]);
    }
    if (e != ERR_OK) {
        return fail(e, state.storage.problem);
    }
    e = has_draft() ? open_draft(setup, draft_setup) : ERR_OK;
    if (e != ERR_OK) {
        return e;
    }
    e = storage_find_model(&state.storage, o->model, &state.tables[MODEL], &state.files[MODEL]);
    if (e != ERR_OK) {
        return fail(e, state.storage.problem);
    }
    e = model_open(&state.model, setup);
    console_progress_end();
    if (e != ERR_OK) {
        return fail(e, state.model.problem);
    }
    e = has_draft() ? speculative_check(&state.draft, &state.model) : ERR_OK;
    if (e != ERR_OK) {
        return fail(e, state.draft.problem);
    }
    if (o->verbose) {
        report_model(&state.model);
        report_plan(&state.model);
    } else {
        report_summary(&state.model);
    }
    return ERR_OK;
}

/* Plan and load what the options name, and begin a conversation with it. Errors: state.problem. */
static enum err open_model(void)
{
    struct options *o = state.setup.options;
    struct speculative_params guessing = options_speculative(o);
    struct model_setup draft_setup = { 0 }, setup = {
        .ram = state.ram,
        .file = &state.files[MODEL],
        .workers = state.setup.workers,
        .kernels = state.setup.kernels,
        .weight_limit = (size_t)o->mem,
        .context = o->ctx,
        .kv_type = (enum kv_type)(o->kv % OPTIONS_KV_CARD),
        .kv_card = o->kv >= OPTIONS_KV_CARD,
        .kv_file = &state.files[KV],
        .guesses = speculative_room(&guessing),
        .session_bytes = session_bytes,
        .calibrate = true,
        .progress = show_progress,
    };
    uint64_t start, load_millis;
    enum err e = plan_models(&setup, &draft_setup);

    start = console_millis();
    e = e == ERR_OK && has_draft() ? load(&state.draft, &state.draft_session, &draft_setup) : e;
    e = e == ERR_OK ? load(&state.model, &state.session, &setup) : e;
    if (e != ERR_OK) {
        return e;
    }
    load_millis = console_millis() - start;
    chat_open(&state.chat, &state.session, has_draft() ? &state.draft_session : NULL, o, NULL);
    report_ready(&state.model, load_millis);
    return ERR_OK;
}

/* What /model calls the file that was found last. */
static const char *model_name(void)
{
    const struct file *f = &state.files[MODEL];
    const char *asked = state.setup.options->model;

    if (asked[0] != '\0') {
        return asked;
    }
    if (f->device == NULL) {
        return "NAME";
    }
    if (storage_is_initrd(&state.storage, f)) {
        return "initrd";
    }
    if (f->device->memory != NULL || f->device->flash) {
        return "flash";
    }
    return f->name;
}

/* Ctrl-C and a card in trouble leave no model: where somebody is there to ask for one, say how. */
static bool goes_on_without(enum err e)
{
    bool card = e == ERR_IO || e == ERR_TIMEOUT || e == ERR_REMOVED || e == ERR_BAD_CHECKSUM;

    if (options_given(state.setup.options, OPTION_PROMPT) || (e != ERR_ABORTED && !card)) {
        return false;
    }
    if (card) {
        console_log("error: %s", state.problem);
    }
    console_log("loading is stopped: /model %s loads it again, /models lists all", model_name());
    return true;
}

static void log_line(void *context, const char *line)
{
    (void)context;
    console_log("%s", line);
}

bool talk_open(const struct talk_setup *setup)
{
    struct storage_setup storage = { .platform = setup->platform,
                                     .pio = setup->options->pio,
                                     .trace = setup->workers->trace,
                                     .log = log_line };
    enum err e = ERR_OK;

    state.setup = *setup;
    state.ram = setup->platform->memory.arena;
    for (int i = 0; i < N_FILES && e == ERR_OK; i++) {
        e = file_table_take(&state.tables[i], &state.ram, FILE_MAX_EXTENTS);
    }
    if (e != ERR_OK) {
        (void)fail(e, err_text(e));
        return false;
    }
    storage_open(&state.storage, &storage);
    e = open_model();
    return e == ERR_OK || goes_on_without(e);
}

/* ---- what the conversation may ask for ------------------------------------------------------ */

static void print_model(void *context, const char *name, uint64_t bytes)
{
    char size[FORMAT_NUMBER_BYTES];

    (void)context;
    console_printf("  %-40s %s\n", name, format_bytes(size, bytes));
}

static void list_models(void)
{
    if (storage_list_models(&state.storage, print_model, NULL) != ERR_OK) {
        console_printf("error: %s\n", state.storage.problem);
    }
}

/* The arena starts over. A model that cannot be had leaves the one before, loaded again. */
static bool change_model(const char *name)
{
    struct options *o = state.setup.options;
    bool had_one = state.chat.session != NULL;
    char before[OPTIONS_MODEL_BYTES];
    enum err e;

    memcpy(before, o->model, sizeof before);
    if (strlen(name) >= sizeof o->model) {
        console_printf("error: a name has up to %u bytes\n", OPTIONS_MODEL_BYTES - 1);
        return true;
    }
    if (had_one) {
        stream_reset(&state.model.stream); /* nothing may arrive in what is planned anew */
    }
    state.chat.session = NULL;
    memcpy(o->model, name, strlen(name) + 1);
    e = open_model();
    if (e == ERR_OK || (e == ERR_ABORTED && goes_on_without(e))) {
        return true;
    }
    console_log("error: %s", state.problem);
    memcpy(o->model, before, sizeof before);
    if (!had_one) {
        return true;
    }
    console_log("back to the model before");
    e = open_model();
    if (e == ERR_OK || goes_on_without(e)) {
        return true;
    }
    console_log("error: %s", state.problem);
    return false;
}

/* The files of a card keep their lengths. */
static const struct file *find_save(const char *name, uint64_t bytes, const char **problem)
{
    enum err e = storage_find_save(&state.storage, name, &state.tables[SAVE], &state.files[SAVE]);

    (void)bytes;
    *problem = state.storage.problem;
    return e == ERR_OK ? &state.files[SAVE] : NULL;
}

/* In the RAM that the arena has left. */
static void check_kernels(void)
{
    const struct platform *platform = state.setup.platform;
    const struct platform_cores *cores = &platform->cores;
    struct arena *a = &state.model.arena;
    struct memory_range free = { a->base + a->reserved, arena_left(a) };

    (void)report_selftest(state.setup.kernels,
                          cores->features(cores->context, state.setup.workers->n_cores),
                          platform_ticks(&platform->clock), free);
}

static void restart(void)
{
    const struct platform_power *power = &state.setup.platform->power;

    console_log("restart");
    power->restart(power->context);
}

int talk(void)
{
    const struct options *o = state.setup.options;
    struct chat_services services = { list_models, change_model, find_save, check_kernels,
                                      state.setup.platform->power.restart != NULL ? restart
                                                                                  : NULL };
    enum err e = ERR_OK;

    state.chat.talks = true; /* waits show how long they take */
    if (options_given(o, OPTION_PROMPT)) {
        e = chat_reply(&state.chat, o->prompt, o->prompt_bytes, true);
    } else {
        if (o->mode != MODE_JSON && state.chat.session != NULL) {
            console_printf("Type a line and press Enter; Ctrl-C stops a reply, /help lists "
                           "commands.\n");
        }
        chat_loop(&state.chat, &services);
    }
    report_high_water(&state.model);
    return e == ERR_OK ? 0 : 1;
}
