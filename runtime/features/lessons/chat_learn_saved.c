/* Lessons in a file (saved_chat.h). */
#include "runtime/features/lessons/chat_learn.h"

static struct saved_chat_state state_of(struct chat *c)
{
    return (struct saved_chat_state){ .session = c->session,
                                      .turns = &c->turns,
                                      .kind = SAVED_LESSONS,
                                      .lessons = &lessons_of(c)->lessons };
}

uint64_t chat_learn_bytes(struct chat *c)
{
    struct saved_chat_state state = state_of(c);

    return saved_chat_most_bytes(&state);
}

enum err chat_learn_save(struct chat *c, struct saved_chat *io, const struct file *file,
                         saved_chat_progress_fn *progress, void *context)
{
    struct saved_chat_state state = state_of(c);

    return saved_chat_write(io, file, &state, progress, context);
}

enum err chat_learn_load(struct chat *c, struct saved_chat *io, const struct file *file,
                         saved_chat_progress_fn *progress, void *context)
{
    struct saved_chat_state state = state_of(c);

    return saved_chat_read(io, file, &state, progress, context);
}
