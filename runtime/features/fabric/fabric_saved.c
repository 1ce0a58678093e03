/* /save learn and /load learn keep memories in fabric.sav. */
#include "runtime/app/commands_private.h"
#include "runtime/console/console.h"
#include "runtime/features/fabric/chat_fabric.h"
#include "runtime/features/lessons/app_learnt.h"
#include "runtime/text/plural.h"

static bool is_there(void *state, struct app *a)
{
    (void)state;
    return lessons_of(&a->chat)->learns;
}

static bool has_any(void *state, struct app *a)
{
    (void)a;
    return ((struct fabric_state *)state)->fabric.n_background != 0;
}

static unsigned n_notes(const struct app *a)
{
    return (unsigned)fabric_of(&a->chat)->fabric.n_notes;
}

static void save(void *state, struct app *a)
{
    const struct file *file = commands_find_save(a, "fabric", chat_fabric_bytes(&a->chat));
    enum err e;

    (void)state;
    if (file == NULL) {
        return;
    }
    e = chat_fabric_save(&a->chat, &a->saved, file, console_progress_step, a->setup.console);
    if (commands_was_saved(a, file, e)) {
        console_printf(a->setup.console, "(%u %s saved in %s: learn=on loads %s at the start)\n",
                       n_notes(a), plural(n_notes(a), "memory is", "memories are"), file->name,
                       plural(n_notes(a), "it", "them"));
    }
}

/* The file is missing if nothing was ever remembered. */
static void load(void *state, struct app *a)
{
    const struct app_files *files = a->setup.files;
    const struct file *file;

    (void)state;
    if (files->find_save == NULL ||
        files->find_save(files->context, "fabric", 0, &file) != ERR_OK) {
        return;
    }
    if (app_was_loaded(a, chat_fabric_load(&a->chat, &a->saved, file, console_progress_step,
                                           a->setup.console))) {
        console_printf(a->setup.console, "(%u %s of %s)\n", n_notes(a),
                       plural(n_notes(a), "memory", "memories"), file->name);
    }
}

const struct feature_saved fabric_saved = { .word = LEARNT_WORD,
                                            .off = LEARNT_OFF,
                                            .is_there = is_there,
                                            .has_any = has_any,
                                            .save = save,
                                            .load = load };
