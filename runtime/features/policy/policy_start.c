/* Open the policy at a start, with policy=, and load the experience of earlier starts if there
 * is a file. */
#include "runtime/app/app_private.h"
#include "runtime/console/console.h"
#include "runtime/features/lessons/app_learnt.h"
#include "runtime/features/policy/chat_policy.h"
#include "runtime/text/plural.h"

static bool wanted(const struct app *a)
{
    return a->setup.options->load.policy != POLICY_OFF && a->setup.chats;
}

size_t policy_memory(void *state, const struct app *a, const struct image *image)
{
    (void)state;
    return wanted(a) ? arena_take_bytes(experience_bytes(image->header->params.dim)) : 0;
}

void policy_loaded(void *state, struct app *a)
{
    struct chat_policy *p = state;
    const struct file *file;

    if (!wanted(a)) {
        return;
    }
    chat_policy_open(&a->chat);
    file = app_find_learnt(a, "policy");
    if (file != NULL &&
        app_was_learnt(a, chat_policy_load(&a->chat, &a->saved, file, console_progress_step,
                                           a->setup.console))) {
        unsigned n = (unsigned)p->experience.totals.turns;

        app_log_learnt(a, file, n, plural(n, "turn", "turns"));
    }
}
