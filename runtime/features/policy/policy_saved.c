/* /save learn and /load learn keep the policy's experience in policy.sav. */
#include "runtime/app/commands_private.h"
#include "runtime/console/console.h"
#include "runtime/features/lessons/app_learnt.h"
#include "runtime/features/policy/chat_policy.h"
#include "runtime/text/plural.h"

static bool is_there(void *state, struct app *a)
{
    (void)a;
    return ((struct chat_policy *)state)->is_open;
}

static bool has_any(void *state, struct app *a)
{
    (void)state;
    (void)a;
    return true; /* chat_policy_save says why not */
}

static unsigned n_turns(const struct app *a)
{
    return (unsigned)policy_of(&a->chat)->experience.totals.turns;
}

static void save(void *state, struct app *a)
{
    const struct file *file = commands_find_save(a, "policy", chat_policy_bytes(&a->chat));
    enum err e;

    (void)state;
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

static void load(void *state, struct app *a)
{
    const struct file *file = commands_find_save(a, "policy", 0);

    (void)state;
    if (file != NULL &&
        app_was_loaded(a, chat_policy_load(&a->chat, &a->saved, file, console_progress_step,
                                           a->setup.console))) {
        console_printf(a->setup.console, "(what %u %s shown, of %s)\n", n_turns(a),
                       plural(n_turns(a), "turn has", "turns have"), file->name);
    }
}

const struct feature_saved policy_saved = { .word = LEARNT_WORD,
                                            .off = LEARNT_OFF,
                                            .is_there = is_there,
                                            .has_any = has_any,
                                            .save = save,
                                            .load = load };
