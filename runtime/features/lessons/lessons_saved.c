/* /save learn, /load learn and /undo learn keep lessons in learn.sav. */
#include "runtime/app/commands_private.h"
#include "runtime/console/console.h"
#include "runtime/features/lessons/app_learnt.h"
#include "runtime/features/lessons/chat_learn.h"
#include "runtime/text/plural.h"

static bool is_there(void *state, struct app *a)
{
    (void)a;
    return ((struct lessons_state *)state)->learns;
}

static unsigned n_lessons(const struct app *a)
{
    return (unsigned)lessons_of(&a->chat)->lessons.learner.totals.lessons;
}

static bool has_any(void *state, struct app *a)
{
    return n_lessons(a) != 0 || ((struct lessons_state *)state)->lessons.in_file;
}

static void save(void *state, struct app *a)
{
    const struct file *file = commands_find_save(a, "learn", chat_learn_bytes(&a->chat));
    enum err e;

    (void)state;
    if (file == NULL) {
        return;
    }
    e = chat_learn_save(&a->chat, &a->saved, file, console_progress_step, a->setup.console);
    if (commands_was_saved(a, file, e)) {
        console_printf(a->setup.console, "(%u %s saved in %s: learn=on loads it at the start)\n",
                       n_lessons(a), plural(n_lessons(a), "lesson is", "lessons are"), file->name);
    }
}

static void load(void *state, struct app *a)
{
    const struct file *file = commands_find_save(a, "learn", 0);

    (void)state;
    if (file != NULL &&
        app_was_loaded(a, chat_learn_load(&a->chat, &a->saved, file, console_progress_step,
                                          a->setup.console))) {
        console_printf(a->setup.console, "(%u %s of %s)\n", n_lessons(a),
                       plural(n_lessons(a), "lesson", "lessons"), file->name);
    }
}

static void undo(void *state, struct app *a)
{
    struct lessons_state *l = state;

    if (!l->learns) {
        console_printf(a->setup.console, "error: learning is off: start with learn=on\n");
    } else if (lessons_undo(&l->lessons)) {
        console_printf(a->setup.console, "(the last lesson is forgotten)\n");
    } else {
        console_printf(a->setup.console, "error: there is no lesson to take back\n");
    }
}

const struct feature_saved lessons_saved = { .word = LEARNT_WORD,
                                             .off = LEARNT_OFF,
                                             .is_there = is_there,
                                             .has_any = has_any,
                                             .save = save,
                                             .load = load,
                                             .undo = undo };
