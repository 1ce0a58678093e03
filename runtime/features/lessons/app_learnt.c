/* Lessons saved by an earlier start, for every feature that learns. */
#include "runtime/features/lessons/app_learnt.h"

#include "runtime/app/app_private.h"
#include "runtime/console/console.h"

void app_log_learnt(struct app *a, const struct file *file, unsigned n, const char *what)
{
    if (a->setup.front != APP_SILENT) {
        console_log(a->setup.console, "learnt before: %u %s of %s", n, what, file->name);
    }
    if (a->saved.is_older) {
        console_log(a->setup.console,
                    "warning: what was saved last in %s is damaged: this is what was saved before "
                    "it",
                    file->name);
    }
}

const struct file *app_find_learnt(struct app *a, const char *name)
{
    const struct app_files *files = a->setup.files;
    const struct file *file;

    if (files->find_save == NULL || files->find_save(files->context, name, 0, &file) != ERR_OK) {
        return NULL;
    }
    return file;
}

bool app_was_learnt(struct app *a, enum err e)
{
    console_progress_end(a->setup.console);
    if (e != ERR_OK && e != ERR_NOT_FOUND) {
        console_log(a->setup.console, "warning: %s; earlier lessons are not used",
                    a->saved.error_message);
    }
    return e == ERR_OK;
}

bool app_was_loaded(struct app *a, enum err e)
{
    console_progress_end(a->setup.console);
    if (e == ERR_ABORTED) {
        console_printf(a->setup.console, "(stopped)\n");
    } else if (e != ERR_OK) {
        console_printf(a->setup.console, "error: %s\n", a->saved.error_message);
    }
    if (a->saved.before == SAVED_CHAT_LOST) {
        console_printf(a->setup.console, "(what was learnt before is forgotten)\n");
    }
    return e == ERR_OK;
}
