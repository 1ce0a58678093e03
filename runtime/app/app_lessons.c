/* Learning, and lessons that were saved by an earlier start. */
#include "runtime/app/app_private.h"
#include "runtime/chat/chat_learn.h"
#include "runtime/console/console.h"
#include "runtime/text/plural.h"

static void log_loaded(struct app *a, const struct file *file)
{
    unsigned n = (unsigned)a->chat.lessons.learner.totals.lessons;

    if (a->setup.front != APP_SILENT) {
        console_log(a->setup.console, "learnt before: %u %s of %s", n,
                    plural(n, "lesson", "lessons"), file->name);
    }
    if (a->saved.is_older) {
        console_log(a->setup.console,
                    "warning: the newest lessons in %s are damaged: these are those before them",
                    file->name);
    }
}

static void load_lessons(struct app *a)
{
    const struct app_files *files = a->setup.files;
    const struct file *file;
    enum err e;

    if (files->find_save == NULL || files->find_save(files->context, "learn", 0, &file) != ERR_OK) {
        return;
    }
    e = chat_learn_load(&a->chat, &a->saved, file, console_progress_step, a->setup.console);
    console_progress_end(a->setup.console);
    if (e == ERR_OK) {
        log_loaded(a, file);
    } else if (e != ERR_NOT_FOUND) {
        console_log(a->setup.console, "warning: %s; nothing learnt before is at work",
                    a->saved.problem);
    }
}

void app_open_lessons(struct app *a)
{
    if (!a->target.setup.learns) {
        return;
    }
    if (chat_learn_open(&a->chat)) {
        load_lessons(a);
        return;
    }
    console_log(a->setup.console,
                "learn=on has no effect: the model's head is streamed, and a lesson needs it in "
                "memory: more mem=, or a smaller model");
}
