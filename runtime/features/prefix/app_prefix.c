/* Loads the prefix of conversations from a file at the start, and saves it on request. */
#include "runtime/features/prefix/app_prefix.h"

#include "runtime/app/app_private.h"
#include "runtime/features/prefix/chat_prefix.h"
#include "runtime/chat/chat_turn.h"
#include "runtime/console/console.h"
#include "runtime/text/format_text.h"

enum { WHOLE_BYTES = 4096 };

/* Return a quarter more than the present prompt takes, so that a longer prompt has room. The size
 * is in whole sectors, so that a copied file has its halves at the same offsets. */
static uint64_t with_room(uint64_t bytes)
{
    return (bytes + bytes / 4 + WHOLE_BYTES - 1) / WHOLE_BYTES * WHOLE_BYTES;
}

enum err app_save_prefix(struct app *a, const struct file **file)
{
    const struct app_files *files = a->setup.files;
    uint64_t bytes = 0;
    enum err e;

    *file = NULL;
    if (files->find_prefix == NULL) {
        return app_fail(a, ERR_UNSUPPORTED, "there is no card to save on");
    }
    if (a->chat.session->n_ids == 0) {
        bytes = chat_prefix_bytes(&a->chat);
    }
    if (bytes != 0) { /* if bytes is 0, chat_prefix_save says why */
        e = files->find_prefix(files->context, with_room(bytes), file);
        if (e != ERR_OK) {
            return app_fail(a, e, files->error_message(files->context));
        }
    }
    e = chat_prefix_save(&a->chat, &a->saved, *file, console_progress_step, a->setup.console);
    console_progress_end(a->setup.console);
    if (!app_end_save(a, e) && e == ERR_OK) {
        return app_fail(a, ERR_IO, files->error_message(files->context));
    }
    return app_fail(a, e, a->saved.error_message);
}

static void log_loaded(struct app *a, const struct file *file)
{
    char size[FORMAT_NUMBER_BYTES];

    console_log(a->setup.console, "system prompt: %u tokens computed already, %s of %s",
                (unsigned)a->chat.opening.prefix.n, format_bytes(size, a->saved.done), file->name);
    if (a->saved.is_older) {
        console_log(a->setup.console,
                    "warning: the newest prefix in %s is damaged: this is the one before it",
                    file->name);
    }
}

static void load_prefix(void *state, struct app *a)
{
    const struct app_files *files = a->setup.files;
    const struct file *file = NULL;
    enum err e;

    (void)state;
    if (files->find_prefix == NULL || !chat_has_template(a->chat.template) ||
        files->find_prefix(files->context, 0, &file) != ERR_OK || file == NULL) {
        return;
    }
    e = chat_prefix_load(&a->chat, &a->saved, file, console_progress_step, a->setup.console);
    console_progress_end(a->setup.console);
    if (a->setup.front == APP_SILENT || e == ERR_NOT_FOUND) {
        return;
    }
    if (e == ERR_OK) {
        log_loaded(a, file);
    } else {
        console_log(a->setup.console, "warning: %s; the system prompt is computed",
                    a->saved.error_message);
    }
}

static void save(void *state, struct app *a)
{
    const struct file *file;
    enum err e = app_save_prefix(a, &file);

    (void)state;
    if (e == ERR_ABORTED) {
        console_printf(a->setup.console, "(stopped: the file is as it was)\n");
    } else if (e != ERR_OK) {
        console_printf(a->setup.console, "error: %s\n", a->error_message);
    } else {
        console_printf(a->setup.console,
                       "(%u tokens that conversations begin with are saved in %s: no start "
                       "computes them again)\n",
                       (unsigned)a->chat.opening.prefix.n, file->name);
    }
}

static bool is_there(void *state, struct app *a)
{
    (void)state;
    (void)a;
    return true;
}

static const struct feature_saved saved = {
    .word = "prefix", .is_there = is_there, .has_any = is_there, .save = save
};

const struct feature feature_prefix = { .name = "prefix", .saved = &saved, .loaded = load_prefix };
