/* The hooks of lessons that run at a start. */
#include <string.h>

#include "runtime/app/app_private.h"
#include "runtime/console/console.h"
#include "runtime/features/lessons/app_learnt.h"
#include "runtime/features/lessons/chat_learn.h"
#include "runtime/text/plural.h"

static bool wanted(const struct app *a)
{
    return a->setup.options->load.learn != LEARN_OFF && a->setup.chats;
}

static size_t memory(void *state, const struct app *a, const struct image *image)
{
    uint32_t cols = image_tensor(image, INGOT_OUTPUT, INGOT_NO_LAYER)->cols_padded;
    uint32_t dim = image->header->params.dim;
    struct lessons_state *l = state;

    l->room = lessons_plan_room(dim, arena_left(&a->target.model.arena));
    return wanted(a) ? arena_take_bytes(lessons_bytes(dim, cols, l->room)) : 0;
}

/* Open lessons with learn=on, and load the lessons of an earlier start if there is a file. */
static void open_lessons(void *state, struct app *a)
{
    struct lessons_state *l = state;
    const struct file *file;

    if (!wanted(a)) {
        return;
    }
    if (!chat_learn_open(&a->chat)) {
        console_log(
            a->setup.console,
            "learn=on has no effect: the model's head is streamed, and a lesson needs it in "
            "memory: raise mem= or use a smaller model");
        return;
    }
    file = app_find_learnt(a, "learn");
    if (file != NULL &&
        app_was_learnt(a, chat_learn_load(&a->chat, &a->saved, file, console_progress_step,
                                          a->setup.console))) {
        unsigned n = (unsigned)l->lessons.learner.totals.lessons;

        app_log_learnt(a, file, n, plural(n, "lesson", "lessons"));
    }
}

static void reset(void *state, struct chat *c)
{
    uint32_t room = ((struct lessons_state *)state)->room; /* keep the room that the plan gave */

    memset(state, 0, sizeof(struct lessons_state));
    ((struct lessons_state *)state)->room = room;
    features_switch(c->features, FEATURE_lessons, false);
}

static void begin_turn(void *state, struct feature_turn *t)
{
    struct lessons_state *l = state;

    (void)t;
    l->told_to_go = 0;
    lessons_reply_begins(&l->lessons);
}

static void end_reply(void *state, struct feature_turn *t, enum err error)
{
    (void)error;
    if (!t->looks_back) {
        lessons_reply_ends(&((struct lessons_state *)state)->lessons);
    }
}

const struct feature feature_lessons = {
    .name = "lessons",
    .state_bytes = sizeof(struct lessons_state),
    .commands = lesson_commands,
    .n_commands = LESSON_COMMANDS,
    .saved = &lessons_saved,
    .memory = memory,
    .loaded = open_lessons,
    .reset = reset,
    .prompt_built = begin_turn,
    .reply_ends = end_reply,
};
