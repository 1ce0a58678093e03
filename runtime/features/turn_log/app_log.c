/* The log of turns: opened with the first model, and kept for the others. */
#include "runtime/app/app_private.h"
#include "runtime/console/console.h"
#include "runtime/text/format_text.h"

/* NULL: it is open; else why not. */
static const char *open_log(struct app *a)
{
    const struct app_files *files = a->setup.files;
    const struct file *file;

    if (files->find_log == NULL) {
        return "there is no card to write on";
    }
    if (files->find_log(files->context, &file) != ERR_OK) {
        return files->problem(files->context);
    }
    if (turn_log_open(&a->log, file) != ERR_OK) {
        return a->log.problem;
    }
    a->logs = true;
    return NULL;
}

static void say_open(struct app *a)
{
    char size[FORMAT_NUMBER_BYTES];
    const struct record_ring *r = &a->log.ring;

    if (a->setup.front != APP_SILENT) {
        console_log(a->setup.console, "turns are logged in %s, %s, after number %llu",
                    r->file->name, format_bytes(size, r->file->bytes),
                    (unsigned long long)r->sequence);
    }
}

void app_open_log(struct app *a)
{
    const char *problem;

    if (a->setup.options->feature.log != LOG_ON) {
        return;
    }
    if (!a->logs) {
        problem = open_log(a);
        if (problem != NULL) {
            console_log(a->setup.console, "warning: log=on has no effect: %s", problem);
            return;
        }
        say_open(a);
    }
    a->chat.log = &a->log;
    a->chat.adapted = a->adapted;
}
