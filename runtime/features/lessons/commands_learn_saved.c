/* /save learn and /load learn: lessons in learn.sav, memories in fabric.sav, what turns have shown in policy.sav. */
#include "runtime/app/commands_private.h"
#include "runtime/features/fabric/chat_fabric.h"
#include "runtime/features/lessons/chat_learn.h"
#include "runtime/features/policy/chat_policy.h"
#include "runtime/console/console.h"
#include "runtime/text/plural.h"

/* False: said why. */
static bool learns_anything(struct app *a)
{
    if (!a->chat.learns && !a->chat.policy.is_open) {
        console_printf(a->setup.console,
                       "error: nothing is learnt at this start: learn=on or policy=on, at the "
                       "start, lets it\n");
        return false;
    }
    return true;
}

static unsigned n_lessons(const struct app *a)
{
    return (unsigned)a->chat.lessons.learner.totals.lessons;
}

static unsigned n_turns(const struct app *a)
{
    return (unsigned)a->chat.policy.experience.totals.turns;
}

static void save_lessons(struct app *a)
{
    const struct file *file = commands_find_save(a, "learn", chat_learn_bytes(&a->chat));
    enum err e;

    if (file == NULL) {
        return;
    }
    e = chat_learn_save(&a->chat, &a->saved, file, console_progress_step, a->setup.console);
    if (commands_was_saved(a, file, e)) {
        console_printf(a->setup.console, "(%u %s saved in %s: learn=on loads it at the start)\n",
                       n_lessons(a), plural(n_lessons(a), "lesson is", "lessons are"), file->name);
    }
}

static void save_policy(struct app *a)
{
    const struct file *file = commands_find_save(a, "policy", chat_policy_bytes(&a->chat));
    enum err e;

    if (file == NULL) {
        return;
    }
    e = chat_policy_save(&a->chat, &a->saved, file, console_progress_step, a->setup.console);
    if (commands_was_saved(a, file, e)) {
        console_printf(a->setup.console,
                       "(what %u %s shown is saved in %s: policy=on loads it at the start)\n",
                       n_turns(a), plural(n_turns(a), "turn has", "turns have"), file->name);
    }
}

static unsigned n_notes(const struct app *a)
{
    return (unsigned)a->chat.fabric.n_notes;
}

static void save_fabric(struct app *a)
{
    const struct file *file = commands_find_save(a, "fabric", chat_fabric_bytes(&a->chat));
    enum err e;

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

enum command_result command_save_learn(struct app *a)
{
    bool remembers = a->chat.learns && a->chat.fabric.n_background != 0;

    if (!learns_anything(a)) {
        return COMMAND_DONE;
    }

    if (a->chat.learns && (n_lessons(a) != 0 || (!remembers && !a->chat.policy.is_open))) {
        save_lessons(a);
    }
    if (remembers) {
        save_fabric(a);
    }
    if (a->chat.policy.is_open) {
        save_policy(a);
    }
    return COMMAND_DONE;
}

/* True: it was loaded; else said why not. */
static bool was_loaded(struct app *a, enum err e)
{
    console_progress_end(a->setup.console);
    if (e == ERR_ABORTED) {
        console_printf(a->setup.console, "(stopped)\n");
    } else if (e != ERR_OK) {
        console_printf(a->setup.console, "error: %s\n", a->saved.problem);
    }
    if (a->saved.before == SAVED_CHAT_LOST) {
        console_printf(a->setup.console, "(what was learnt before is forgotten)\n");
    }
    return e == ERR_OK;
}

static void load_lessons(struct app *a)
{
    const struct file *file = commands_find_save(a, "learn", 0);

    if (file != NULL && was_loaded(a, chat_learn_load(&a->chat, &a->saved, file,
                                                      console_progress_step, a->setup.console))) {
        console_printf(a->setup.console, "(%u %s of %s)\n", n_lessons(a),
                       plural(n_lessons(a), "lesson", "lessons"), file->name);
    }
}

static void load_policy(struct app *a)
{
    const struct file *file = commands_find_save(a, "policy", 0);

    if (file != NULL && was_loaded(a, chat_policy_load(&a->chat, &a->saved, file,
                                                       console_progress_step, a->setup.console))) {
        console_printf(a->setup.console, "(what %u %s shown, of %s)\n", n_turns(a),
                       plural(n_turns(a), "turn has", "turns have"), file->name);
    }
}

/* Where nothing was ever remembered there need be no file. */
static void load_fabric(struct app *a)
{
    const struct app_files *files = a->setup.files;
    const struct file *file;

    if (files->find_save == NULL ||
        files->find_save(files->context, "fabric", 0, &file) != ERR_OK) {
        return;
    }
    if (was_loaded(a, chat_fabric_load(&a->chat, &a->saved, file, console_progress_step,
                                       a->setup.console))) {
        console_printf(a->setup.console, "(%u %s of %s)\n", n_notes(a),
                       plural(n_notes(a), "memory", "memories"), file->name);
    }
}

enum command_result command_load_learn(struct app *a)
{
    if (!learns_anything(a)) {
        return COMMAND_DONE;
    }
    if (a->chat.learns) {
        load_lessons(a);
        load_fabric(a);
    }
    if (a->chat.policy.is_open) {
        load_policy(a);
    }
    return COMMAND_DONE;
}
