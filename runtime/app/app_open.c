/* A model is talked to, and exchanged for another one. */
#include <string.h>

#include "runtime/app/app_private.h"
#include "runtime/chat/report.h"
#include "runtime/console/console.h"

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

/* Load what was planned, and begin a conversation with it. Somebody waits since since_ms. */
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
    if (a->setup.front == APP_CONSOLE) {
        report_ready(a->setup.console, &a->target.model, since_ms, start);
    }
    return ERR_OK;
}

static enum err begin(struct app *a, enum app_file which, uint64_t since_ms)
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
        console_log(a->setup.console, "error: %s", a->problem);
    }
    console_log(a->setup.console, "loading is stopped: /model %s loads it again, /models lists all",
                files->model_name(files->context, a->setup.options->load.model));
    return true;
}

enum err app_open(struct app *a)
{
    enum err e = begin(a, APP_MODEL, 0);

    if (e == ERR_OK || goes_on_without(a, e)) {
        return ERR_OK;
    }
    return e;
}

/* ---- another one ---------------------------------------------------------------------------- */

static bool go_back(struct app *a)
{
    enum err e;

    console_log(a->setup.console, "back to the model before");
    e = begin(a, APP_MODEL_BEFORE, console_millis(a->setup.console));
    if (e == ERR_OK || goes_on_without(a, e)) {
        return true;
    }
    console_log(a->setup.console, "error: %s", a->problem);
    return false;
}

/* Whether the name may be one; said where it is none. */
static bool check_name(struct app *a, const char *name)
{
    const struct app_files *files = a->setup.files;

    if (strlen(name) >= OPTIONS_MODEL_BYTES) {
        console_printf(a->setup.console, "error: a name has up to %u bytes\n",
                       OPTIONS_MODEL_BYTES - 1);
        return false;
    }
    if (files->check_model != NULL && files->check_model(files->context, name) != ERR_OK) {
        console_printf(a->setup.console, "error: %s\n", files->problem(files->context));
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
    memcpy(before, o->load.model, sizeof before);
    memcpy(o->load.model, name, strlen(name) + 1);
    e = begin(a, APP_MODEL, console_millis(a->setup.console));
    if (e == ERR_OK || (e == ERR_ABORTED && goes_on_without(a, e))) {
        return true;
    }
    console_log(a->setup.console, "error: %s", a->problem);
    memcpy(o->load.model, before, sizeof before);
    return !had_one || go_back(a);
}
