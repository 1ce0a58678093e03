/* Talk to a model, and replace it with another model. */
#include <assert.h>
#include <string.h>

#include "runtime/app/app_private.h"
#include "runtime/chat/report.h"
#include "runtime/console/console.h"
#include "runtime/text/format_text.h"

enum { LISTED_MODELS = 12 /* few enough to fit a screen */ };

/* ---- conversation --------------------------------------------------------------------------- */

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
        return app_fail(a, e, files->error_message(files->context));
    }
    return ERR_OK;
}

/* Load the planned model, and begin a conversation with it. The caller has been waiting
 * since since_ms. */
static enum err load_to_talk(struct app *a, const struct ingot_chat *chat, uint64_t since_ms)
{
    struct session *draft = NULL;
    uint64_t start = console_millis(a->setup.console);
    enum err e = app_load_models(a);

    if (e != ERR_OK) {
        return e;
    }
    start = console_millis(a->setup.console) - start;
    if (a->has_draft) {
        draft = &a->draft.session;
    }
    chat_open(&a->chat, a->setup.console, &a->target.session, draft, a->setup.options, chat);
    a->chat.name = app_model_name(a);
    features_loaded(&a->features);
    if (a->setup.front == APP_CONSOLE) {
        report_ready(a->setup.console, &a->target.model, since_ms, start);
    }
    return ERR_OK;
}

enum err app_begin(struct app *a, enum app_file which, uint64_t since_ms)
{
    const struct ingot_chat *chat;
    enum err e = app_plan_models(a, which);

    if (e != ERR_OK) {
        return e;
    }
    e = choose_chat(a, &chat);
    if (e != ERR_OK) {
        return e;
    }
    e = app_announce(a);
    if (e != ERR_OK) {
        return e;
    }
    return load_to_talk(a, chat, since_ms);
}

/* ---- without a model ------------------------------------------------------------------------ */

static bool is_card_trouble(enum err e)
{
    return e == ERR_IO || e == ERR_TIMEOUT || e == ERR_REMOVED || e == ERR_BAD_CHECKSUM;
}

/* Return true if a person is at the line, or will be. */
static bool can_be_asked(const struct app *a)
{
    return a->talks ||
           (a->setup.front == APP_CONSOLE && !options_given(a->setup.options, OPTION_PROMPT));
}

struct listing {
    struct console *console;
    unsigned n;
};

static void log_model(void *context, const char *name, uint64_t bytes)
{
    struct listing *l = context;
    char size[FORMAT_NUMBER_BYTES];

    if (l->n++ < LISTED_MODELS) {
        console_log(l->console, "  %.80s, %s", name, format_bytes(size, bytes));
    }
}

/* List the models that /model would find, and return their number. */
static unsigned list_models(struct app *a)
{
    const struct app_files *files = a->setup.files;
    struct listing l = { a->setup.console, 0 };

    if (files->list_models != NULL) {
        (void)files->list_models(files->context, log_model, &l); /* reason already printed */
    }
    if (l.n > LISTED_MODELS) {
        console_log(a->setup.console, "  and %u more", l.n - LISTED_MODELS);
    }
    return l.n;
}

/* Log the error (unless loading was stopped), then log how to load a model. */
static void go_on_without(struct app *a, enum err e)
{
    const char *none = "", *name = app_model_name(a);

    if (e != ERR_ABORTED) {
        console_log(a->setup.console, "error: %s", a->error_message);
    }
    if (e == ERR_ABORTED || is_card_trouble(e)) {
        console_log(a->setup.console,
                    "loading is stopped: /model %s loads it again, /models lists all", name);
        return;
    }
    if (list_models(a) == 0) {
        none = " once there is one";
    }
    console_log(a->setup.console, "no model is loaded: /model NAME loads one%s", none);
}

enum err app_open(struct app *a)
{
    enum err e;

    features_start(&a->features);
    app_open_lock(a);
    e = app_obey_options(a);

    if (e != ERR_OK && can_be_asked(a)) {
        go_on_without(a, e);
        return ERR_OK;
    }
    return e;
}

/* ---- another model -------------------------------------------------------------------------- */

static void go_back(struct app *a)
{
    enum err e;

    console_log(a->setup.console, "back to the previous model, in a new conversation");
    e = app_begin(a, APP_MODEL_BEFORE, console_millis(a->setup.console));
    if (e != ERR_OK) {
        go_on_without(a, e);
    }
}

bool app_check_model(struct app *a, const char *name)
{
    const struct app_files *files = a->setup.files;

    if (strlen(name) >= OPTIONS_MODEL_BYTES) {
        console_printf(a->setup.console, "error: a name has up to %u bytes\n",
                       OPTIONS_MODEL_BYTES - 1);
        return false;
    }
    if (files->check_model != NULL && files->check_model(files->context, name) != ERR_OK) {
        console_printf(a->setup.console, "error: %s\n", files->error_message(files->context));
        return false;
    }
    return true;
}

/* Close the model. First end the model's reads, because its memory is about to be planned anew. */
static void leave_model(struct app *a)
{
    if (a->chat.session == NULL) {
        return;
    }
    stream_reset(&a->target.model.stream);
    if (a->has_draft) {
        stream_reset(&a->draft.model.stream);
    }
    chat_close(&a->chat);
}

/* Plan the memory anew and load the other model. why (APP_WHY_BYTES, or NULL) gets a copy of the
 * error message, which reloading the old model overwrites. */
static enum err change_model(struct app *a, const char *name, char *why)
{
    struct options *o = a->setup.options;
    bool had_one = a->chat.session != NULL;
    char before[OPTIONS_MODEL_BYTES];
    enum err e;

    assert(strlen(name) < OPTIONS_MODEL_BYTES);
    leave_model(a);
    memcpy(before, o->load.model, sizeof before);
    memcpy(o->load.model, name, strlen(name) + 1);
    e = app_begin(a, APP_MODEL, console_millis(a->setup.console));
    a->receive.replaced_model = a->receive.replaced_model && e != ERR_OK;
    if (e == ERR_OK) {
        return e;
    }
    if (why != NULL) {
        format_text(why, APP_WHY_BYTES, "%s",
                    e == ERR_ABORTED ? "stopped by somebody at the serial line" : a->error_message);
    }
    if (e == ERR_ABORTED || !had_one) {
        go_on_without(a, e);
    } else {
        console_log(a->setup.console, "error: %s", a->error_message);
    }
    if (e != ERR_ABORTED) {
        memcpy(o->load.model, before, sizeof before);
    }
    if (e != ERR_ABORTED && had_one) {
        go_back(a);
    }
    return e;
}

void app_change_model(struct app *a, const char *name)
{
    (void)change_model(a, name, NULL);
}

/* Opening the conversation again resets the console's line and the chat's state, so both are
 * restored. */
enum err app_change_model_aside(struct app *a, const char *name, char why[APP_WHY_BYTES])
{
    static char typed[CHAT_LINE_BYTES];
    const struct app_files *files = a->setup.files;
    const struct chat_commands *commands = a->chat.commands;
    bool is_shown = a->chat.wait.is_shown;
    enum err e;

    if (name[0] == '\0' || strlen(name) >= OPTIONS_MODEL_BYTES) {
        format_text(why, APP_WHY_BYTES, "a model's name has 1 to %u bytes",
                    OPTIONS_MODEL_BYTES - 1);
        return ERR_NOT_FOUND;
    }
    e = files->check_model != NULL ? files->check_model(files->context, name) : ERR_OK;
    if (e != ERR_OK) {
        format_text(why, APP_WHY_BYTES, "%s", files->error_message(files->context));
        return ERR_NOT_FOUND;
    }
    memcpy(typed, a->chat.line, sizeof typed);
    e = change_model(a, name, why);
    memcpy(a->chat.line, typed, sizeof typed);
    a->chat.commands = commands;
    a->chat.wait.is_shown = is_shown;
    return e;
}
