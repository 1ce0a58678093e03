/* The memory fabric's hooks of a start. */
#include <string.h>

#include "runtime/app/app_private.h"
#include "runtime/console/console.h"
#include "runtime/features/fabric/chat_fabric.h"
#include "runtime/features/lessons/app_learnt.h"
#include "runtime/text/plural.h"

static size_t memory(void *state, const struct app *a, const struct image *image)
{
    bool learns = a->setup.options->load.learn != LEARN_OFF && a->setup.chats;

    struct fabric_state *s = state;
    uint32_t dim = image->header->params.dim;

    s->room = fabric_plan_room(dim, arena_left(&a->target.model.arena));
    return learns ? arena_take_bytes(fabric_bytes(dim, s->room)) : 0;
}

static void see(void *fabric, uint32_t position, const float *hidden)
{
    fabric_see(fabric, position, hidden);
}

static void adapt(void *fabric, float *hidden)
{
    fabric_adapt(fabric, hidden);
}

void chat_fabric_open(struct chat *c)
{
    struct fabric_state *s = fabric_of(c);
    struct model *m = c->session->model;
    uint32_t dim = m->image.header->params.dim;

    if (s->room.notes == 0) { /* the plan has reserved no memory for the fabric */
        s->room = fabric_plan_room(dim, 0);
    }
    fabric_open(&s->fabric, arena_take(&m->arena, ARENA_LEARN, fabric_bytes(dim, s->room)), dim,
                s->room);
    if (s->epoch == 0) { /* nobody has set the clock, but the machine may know the date */
        s->epoch = c->console->platform->clock.date;
    }
    fabric_correct_clock(&s->fabric, chat_fabric_now(c));
    lessons_of(c)->now = chat_fabric_now;
    s->budget = CHAT_FABRIC_BUDGET;
    s->budget_heads = CHAT_FABRIC_HEADS;
    s->watch = (struct hidden_watch){
        .see = see, .sees = &s->fabric.watches, .adapt = adapt, .context = &s->fabric
    };
    transformer_watch(&m->transformer, &s->watch);
    features_switch(c->features, FEATURE_fabric, true);
    features_switch(c->features, FEATURE_memory_tags, true); /* memory tags are on whenever the
                                                              * fabric is */
}

/* Also load the memories of an earlier start if there is a file of memories. */
static void open_fabric(void *state, struct app *a)
{
    struct fabric_state *s = state;
    const struct file *file;

    if (!lessons_of(&a->chat)->learns) {
        return;
    }
    chat_fabric_open(&a->chat);
    file = app_find_learnt(a, "fabric");
    if (file != NULL &&
        app_was_learnt(a, chat_fabric_load(&a->chat, &a->saved, file, console_progress_step,
                                           a->setup.console))) {
        unsigned n = (unsigned)s->fabric.n_notes;

        app_log_learnt(a, file, n, plural(n, "memory", "memories"));
    }
}

static void reset(void *state, struct chat *c)
{
    struct fabric_state *s = state;

    memset(&s->fabric, 0, sizeof s->fabric);
    features_switch(c->features, FEATURE_fabric, false);
}

const struct feature feature_fabric = {
    .name = "fabric",
    .state_bytes = sizeof(struct fabric_state),
    .commands = fabric_commands,
    .n_commands = FABRIC_COMMANDS,
    .saved = &fabric_saved,
    .memory = memory,
    .loaded = open_fabric,
    .reset = reset,
    .told = fabric_told,
    .prompt_built = fabric_turn_built,
    .reply_begins = fabric_reply_begins,
    .reply_ends = fabric_reply_ends,
};
