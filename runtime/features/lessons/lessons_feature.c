/* Lessons: the hooks of a start. */
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

    (void)state;
    return wanted(a) ? arena_take_bytes(lessons_bytes(image->header->params.dim, cols)) : 0;
}

/* learn=on, and the lessons of an earlier start from their file, if there is one. */
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
            "memory: more mem=, or a smaller model");
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
    memset(state, 0, sizeof(struct lessons_state));
    features_switch(c->features, FEATURE_lessons, false);
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
};
