#include "boot/talk.h"

#include <string.h>

#include "boot/boot.h"
#include "runtime/chat.h"
#include "runtime/console.h"
#include "runtime/engine.h"
#include "runtime/format_text.h"
#include "runtime/report.h"
#include "runtime/selftest.h"
#include "runtime/speculative.h"
#include "runtime/storage.h"

static struct talk_state {
    struct talk_setup setup;
    struct storage storage;
    struct file draft_file;
    struct file save_file;
    struct engine engine;
    struct engine draft;
    struct chat chat;
    const char *problem;
} state;

static bool fail(const char *problem)
{
    state.problem = problem;
    return false;
}

const char *talk_problem(void)
{
    return state.problem;
}

static void show_progress(void *context, const char *label, uint64_t done, uint64_t total)
{
    (void)context;
    console_progress(label, done, total);
    console_poll();
}

/* ---- a model -------------------------------------------------------------------------------- */

static bool has_draft(void)
{
    return state.setup.options->draft[0] != '\0';
}

/* The draft takes its place in the arena before the model's is planned. */
static bool open_draft(struct engine_setup *setup, struct engine_setup *draft_setup)
{
    if (storage_find_model(&state.storage, state.setup.options->draft) != ERR_OK) {
        return fail(state.storage.problem);
    }
    state.draft_file = state.storage.file;
    *draft_setup = speculative_draft_setup(setup, &state.draft_file);
    if (engine_open(&state.draft, draft_setup) != ERR_OK) {
        return fail(state.draft.problem);
    }
    speculative_leave(setup, &state.draft);
    report_draft(&state.draft);
    return true;
}

static bool load(struct engine *engine, const struct engine_setup *setup)
{
    enum err e = engine_load(engine, setup, show_progress, NULL);

    console_progress_end();
    return e == ERR_OK || fail(engine->problem);
}

static bool plan_models(struct engine_setup *setup, struct engine_setup *draft_setup)
{
    const struct options *o = state.setup.options;

    if (has_draft() && !open_draft(setup, draft_setup)) {
        return false;
    }
    if (storage_find_model(&state.storage, o->model) != ERR_OK) {
        return fail(state.storage.problem);
    }
    if (engine_open(&state.engine, setup) != ERR_OK) {
        return fail(state.engine.problem);
    }
    if (has_draft() && speculative_check(&state.draft, &state.engine) != ERR_OK) {
        return fail(state.draft.problem);
    }
    if (o->verbose) {
        report_model(&state.engine);
        report_plan(&state.engine);
    } else {
        report_summary(&state.engine);
    }
    return true;
}

/* Plan and load what the options name, and begin a conversation with it. */
static bool open_model(void)
{
    struct options *o = state.setup.options;
    struct engine_setup draft_setup = { 0 }, setup = {
        .ram = state.setup.machine->ram[0],
        .file = &state.storage.file,
        .team = state.setup.team,
        .kernels = state.setup.kernels,
        .weight_limit = (size_t)o->mem,
        .context = o->ctx,
        .kv_type = (enum kv_type)o->kv,
        .guesses = speculative_room(o),
        .probe = true,
    };
    uint64_t start, load_millis;

    if (!plan_models(&setup, &draft_setup)) {
        return false;
    }
    start = console_millis();
    if ((has_draft() && !load(&state.draft, &draft_setup)) || !load(&state.engine, &setup)) {
        return false;
    }
    load_millis = console_millis() - start;
    chat_open(&state.chat, &state.engine, has_draft() ? &state.draft : NULL, o, NULL);
    report_ready(&state.engine, load_millis);
    return true;
}

bool talk_open(const struct talk_setup *setup)
{
    state.setup = *setup;
    storage_open(&state.storage, setup->machine);
    return open_model();
}

/* ---- what the conversation may ask for ------------------------------------------------------ */

static void list_models(void)
{
    if (storage_list_models(&state.storage) != ERR_OK) {
        console_printf("error: %s\n", state.storage.problem);
    }
}

/* The arena starts over. A model that cannot be had leaves the one before, loaded again. */
static bool change_model(const char *name)
{
    struct options *o = state.setup.options;
    char before[OPTIONS_MODEL_BYTES];

    memcpy(before, o->model, sizeof before);
    if (strlen(name) >= sizeof o->model) {
        console_printf("error: a name has up to %u bytes\n", OPTIONS_MODEL_BYTES - 1);
        return true;
    }
    stream_reset(&state.engine.stream); /* nothing may arrive in what is planned anew */
    memcpy(o->model, name, strlen(name) + 1);
    if (open_model()) {
        return true;
    }
    console_log("error: %s", state.problem);
    console_log("back to the model before");
    memcpy(o->model, before, sizeof before);
    if (open_model()) {
        return true;
    }
    console_log("error: %s", state.problem);
    return false;
}

/* The files of a card keep their lengths. */
static const struct file *find_save(const char *name, uint64_t bytes, const char **problem)
{
    enum err e = storage_find_save(&state.storage, name, &state.save_file);

    (void)bytes;
    *problem = state.storage.problem;
    return e == ERR_OK ? &state.save_file : NULL;
}

/* In the RAM that the arena has left. */
static void check_kernels(void)
{
    struct arena *a = &state.engine.arena;

    (void)selftest_run(state.setup.kernels, cpu_features_common(state.setup.team->n_cores),
                       board.ticks(), a->base + a->reserved, arena_left(a));
}

static void restart(void)
{
    console_log("restart");
    board.restart();
}

int talk(void)
{
    const struct options *o = state.setup.options;
    struct chat_services services = { list_models, change_model, find_save, check_kernels,
                                      board.restart != NULL ? restart : NULL };
    enum err e = ERR_OK;

    if (options_given(o, OPTION_PROMPT)) {
        e = chat_reply(&state.chat, o->prompt, o->prompt_bytes, true);
    } else {
        if (o->mode != MODE_JSON) {
            console_printf("Type a line and press Enter; Ctrl-C stops a reply, /help lists commands.\n");
        }
        chat_loop(&state.chat, &services);
    }
    report_high_water(&state.engine);
    return e == ERR_OK ? 0 : 1;
}
