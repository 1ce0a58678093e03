/* A fabric in a file (saved_chat.h). */
#include "runtime/features/fabric/chat_fabric.h"

static struct saved_chat_state state_of(struct chat *c)
{
    return (struct saved_chat_state){ .session = c->session,
                                      .turns = &c->turns,
                                      .kind = SAVED_FABRIC,
                                      .fabric = &fabric_of(c)->fabric };
}

uint64_t chat_fabric_bytes(struct chat *c)
{
    struct saved_chat_state state = state_of(c);

    return saved_chat_most_bytes(&state);
}

enum err chat_fabric_save(struct chat *c, struct saved_chat *io, const struct file *file,
                          saved_chat_progress_fn *progress, void *context)
{
    struct saved_chat_state state = state_of(c);

    fabric_set_clock(&fabric_of(c)->fabric, chat_fabric_now(c));
    return saved_chat_write(io, file, &state, progress, context);
}

/* Its clock goes on from where it was, unless somebody has set this one: then the hours between have gone by. */
static void join_clocks(struct chat *c, uint64_t now)
{
    if (now >= FABRIC_SET_CLOCK && fabric_of(c)->fabric.clock >= FABRIC_SET_CLOCK) {
        fabric_set_clock(&fabric_of(c)->fabric, now);
    } else if (now >= FABRIC_SET_CLOCK) {
        fabric_correct_clock(&fabric_of(c)->fabric, now);
    } else {
        fabric_of(c)->epoch = fabric_of(c)->fabric.clock - (now - fabric_of(c)->epoch);
    }
}

enum err chat_fabric_load(struct chat *c, struct saved_chat *io, const struct file *file,
                          saved_chat_progress_fn *progress, void *context)
{
    struct saved_chat_state state = state_of(c);
    uint64_t now = chat_fabric_now(c);
    enum err e = saved_chat_read(io, file, &state, progress, context);

    if (e == ERR_OK) {
        join_clocks(c, now);
    } else if (io->before == SAVED_CHAT_LOST) {
        fabric_correct_clock(&fabric_of(c)->fabric, now);
    }
    return e;
}
