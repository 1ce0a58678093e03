/* A policy in a file (saved_chat.h). */
#include "runtime/features/policy/chat_policy.h"

static struct saved_chat_state state_of(struct chat *c)
{
    return (struct saved_chat_state){ .session = c->session,
                                      .turns = &c->turns,
                                      .kind = SAVED_POLICY,
                                      .experience = &policy_of(c)->experience };
}

uint64_t chat_policy_bytes(struct chat *c)
{
    struct saved_chat_state state = state_of(c);

    return saved_chat_most_bytes(&state);
}

enum err chat_policy_save(struct chat *c, struct saved_chat *io, const struct file *file,
                          saved_chat_progress_fn *progress, void *context)
{
    struct saved_chat_state state = state_of(c);

    experience_settle(&policy_of(c)->experience);
    return saved_chat_write(io, file, &state, progress, context);
}

enum err chat_policy_load(struct chat *c, struct saved_chat *io, const struct file *file,
                          saved_chat_progress_fn *progress, void *context)
{
    struct saved_chat_state state = state_of(c);

    return saved_chat_read(io, file, &state, progress, context);
}
