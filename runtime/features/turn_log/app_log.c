/* The log of turns is opened when the first model is loaded, and stays open for later models. */
#include "runtime/features/turn_log/chat_log.h"

#include "runtime/app/app_private.h"
#include "runtime/console/console.h"
#include "runtime/text/format_text.h"

/* Open the log. Returns NULL, or why opening failed. */
static const char *open_log(struct turn_log_state *l, struct app *a)
{
    const struct app_files *files = a->setup.files;
    const struct file *file;

    if (files->find_log == NULL) {
        return "there is no card to write on";
    }
    if (files->find_log(files->context, &file) != ERR_OK) {
        return files->error_message(files->context);
    }
    if (turn_log_open(&l->log, file) != ERR_OK) {
        return l->log.error_message;
    }
    l->files = files;
    l->is_open = true;
    return NULL;
}

static void say_open(const struct turn_log_state *l, struct app *a)
{
    char size[FORMAT_NUMBER_BYTES];
    const struct record_ring *r = &l->log.ring;

    if (a->setup.front != APP_SILENT) {
        console_log(a->setup.console, "turns are logged in %s, %s; last number: %llu",
                    r->file->name, format_bytes(size, r->file->bytes),
                    (unsigned long long)r->sequence);
    }
}

void app_open_log(void *state, struct app *a)
{
    struct turn_log_state *l = state;
    const char *error_message;

    if (a->setup.options->feature.log != LOG_ON) {
        return;
    }
    if (!l->is_open) {
        error_message = open_log(l, a);
        if (error_message != NULL) {
            console_log(a->setup.console, "warning: log=on has no effect: %s", error_message);
            return;
        }
        say_open(l, a);
    }
    features_switch(&a->features, FEATURE_turn_log, true);
}
