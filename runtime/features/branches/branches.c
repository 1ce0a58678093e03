/* The hooks of branches of a conversation at the start and in a turn. */
#include <string.h>

#include "runtime/app/app_private.h"
#include "runtime/console/console.h"
#include "runtime/features/branches/chat_branches.h"
#include "runtime/model/model.h"
#include "runtime/session/session.h"

/* Return the number of sequences that /branch can keep. */
static uint32_t wanted(const struct app *a)
{
    return a->setup.chats ? a->setup.options->load.branches : 0;
}

/* Plan the sequences for branches and for beams, because the session opens all of them at once. */
static void plan(void *state, struct app *a, struct model_setup *setup)
{
    (void)state;
    setup->kept_sequences = chat_kept_sequences(wanted(a), a->setup.options->load.beams);
    setup->line_bytes = chat_branch_bytes();
    setup->kept_bytes = session_sequences_bytes;
}

static void open_lines(void *state, struct app *a)
{
    uint32_t beams = a->setup.options->load.beams;

    (void)state;
    if (!chat_branches_open(&a->chat, wanted(a), beams)) {
        console_log(
            a->setup.console,
            "beams=%u has no effect: beams need keys and values of one type in memory, and no "
            "recurrent layers: change kv= or the model",
            (unsigned)beams);
    }
}

static void reset(void *state, struct chat *c)
{
    memset(state, 0, sizeof(struct chat_branches));
    features_switch(c->features, FEATURE_branches, false);
}

static void change_weights(void *state, struct chat *c)
{
    const struct chat_branches *b = state;

    for (uint32_t i = 0; i < b->n; i++) {
        session_sequence_weights_changed(c->session, &b->list[i]->sequence);
    }
}

/* Keep the previous answer as a branch, but not on a locked line, because this may drop
 * another branch. */
static void retry(void *state, struct chat *c, bool begins)
{
    struct chat_branches *b = state;

    if (begins) {
        b->retried = c->turns.n != 0 && !c->options->line.locked ? chat_branch_retried(c) : NULL;
    } else if (b->retried != NULL) {
        console_printf(c->console, "(the other answer: /switch %s)\n", b->retried);
    }
}

/* Count what somebody keeps with /branch; answers before a /retry are kept without being asked
 * for. */
static unsigned count_kept(void *state, const struct chat *c)
{
    const struct chat_branches *b = state;
    unsigned n = 0;

    (void)c;
    for (uint32_t i = 0; i < b->n; i++) {
        const struct chat_branch *one = b->list[i];

        n += one->name[0] != '\0' && !one->retried && one->sequence.n_ids != 0;
    }
    return n;
}

/* ---- the requests' field `conversation` ---------------------------------------------------- */

static const char *check(void *state, struct chat *c, const char *name)
{
    const struct chat_branches *b = state;

    switch (chat_branch_place(c, name)) {
    case ERR_OK: return NULL;
    case ERR_NO_SPACE:
        return b->n < CHAT_BRANCHES_MOST
                   ? "there is no room for another conversation: /drop NAME frees one, /branches "
                     "lists them, branches=8 makes room for more"
                   : "there is no room for another conversation: /drop NAME frees one, /branches "
                     "lists them";
    default: return "a conversation has a name of up to 23 letters, digits, '-', '_' and '.'";
    }
}

/* Enter a kept branch, or a new empty one. */
static void enter(void *state, struct chat *c, const char *name)
{
    uint32_t pending;

    (void)state;
    if (chat_switch(c, name, &pending) == ERR_NOT_FOUND) {
        (void)chat_branch(c, name);
        chat_clear(c);
    }
}

static const struct feature_field field = { .name = "conversation",
                                            .check = check,
                                            .enter = enter };

const struct feature feature_branches = {
    .name = "branches",
    .state_bytes = sizeof(struct chat_branches),
    .commands = branch_commands,
    .n_commands = BRANCH_COMMANDS,
    .field = &field,
    .planned = plan,
    .loaded = open_lines,
    .reset = reset,
    .weights_changed = change_weights,
    .kept = count_kept,
    .retried = retry,
};
