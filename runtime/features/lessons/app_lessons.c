/* Learning, and what was saved of it by an earlier start. */
#include "runtime/app/app_private.h"
#include "runtime/features/fabric/chat_fabric.h"
#include "runtime/features/lessons/chat_learn.h"
#include "runtime/features/policy/chat_policy.h"
#include "runtime/console/console.h"
#include "runtime/text/plural.h"

static void log_loaded(struct app *a, const struct file *file, unsigned n, const char *what)
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

/* NULL: there is none. */
static const struct file *find(struct app *a, const char *name)
{
    const struct app_files *files = a->setup.files;
    const struct file *file;

    if (files->find_save == NULL || files->find_save(files->context, name, 0, &file) != ERR_OK) {
        return NULL;
    }
    return file;
}

/* True: it was loaded. */
static bool was_loaded(struct app *a, enum err e)
{
    console_progress_end(a->setup.console);
    if (e != ERR_OK && e != ERR_NOT_FOUND) {
        console_log(a->setup.console, "warning: %s; nothing learnt before is at work",
                    a->saved.problem);
    }
    return e == ERR_OK;
}

static void load_lessons(struct app *a)
{
    const struct file *file = find(a, "learn");

    if (file != NULL && was_loaded(a, chat_learn_load(&a->chat, &a->saved, file,
                                                      console_progress_step, a->setup.console))) {
        unsigned n = (unsigned)a->chat.lessons.learner.totals.lessons;

        log_loaded(a, file, n, plural(n, "lesson", "lessons"));
    }
}

static void load_fabric(struct app *a)
{
    const struct file *file = find(a, "fabric");

    if (file != NULL && was_loaded(a, chat_fabric_load(&a->chat, &a->saved, file,
                                                       console_progress_step, a->setup.console))) {
        unsigned n = (unsigned)a->chat.fabric.n_notes;

        log_loaded(a, file, n, plural(n, "memory", "memories"));
    }
}

void app_open_policy(struct app *a)
{
    const struct file *file;

    if (!a->target.setup.watches) {
        return;
    }
    chat_policy_open(&a->chat);
    file = find(a, "policy");
    if (file != NULL && was_loaded(a, chat_policy_load(&a->chat, &a->saved, file,
                                                       console_progress_step, a->setup.console))) {
        unsigned n = (unsigned)a->chat.policy.experience.totals.turns;

        log_loaded(a, file, n, plural(n, "turn", "turns"));
    }
}

void app_open_lessons(struct app *a)
{
    if (!a->target.setup.learns) {
        return;
    }
    if (chat_learn_open(&a->chat)) {
        load_lessons(a);
        load_fabric(a);
        return;
    }
    console_log(a->setup.console,
                "learn=on has no effect: the model's head is streamed, and a lesson needs it in "
                "memory: more mem=, or a smaller model");
}
