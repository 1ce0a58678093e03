/* Saves a policy to a file and loads it (saved_chat.h). */
#include "runtime/features/policy/chat_policy.h"

static void count_experience(const void *data, struct saved_counts *now, struct saved_counts *most)
{
    const struct experience *e = data;

    *now = (struct saved_counts){ e->patterns.dim, e->patterns.n, 0 };
    *most = (struct saved_counts){ e->patterns.dim, PATTERNS_MOST, 0 };
}

static uint64_t experience_payload_bytes(const void *data, const struct saved_counts *counts)
{
    return experience_move_bytes(data, counts->examples);
}

static enum err move_experience(void *data, bool loads, saved_move_fn *move, void *context)
{
    return experience_move(data, loads, move, context);
}

static bool has_no_experience(const void *data)
{
    return ((const struct experience *)data)->totals.turns == 0;
}

static bool sound_experience(const void *data, uint32_t vocab)
{
    (void)vocab;
    return experience_is_sound(data);
}

static void clear_experience(void *data)
{
    experience_clear(data);
}

static const struct saved_section experience_section = { "INGOTPOL",
                                                         "/save learn",
                                                         "what was learnt",
                                                         "policy needs",
                                                         count_experience,
                                                         experience_payload_bytes,
                                                         move_experience,
                                                         has_no_experience,
                                                         sound_experience,
                                                         clear_experience,
                                                         NULL };

static struct saved_chat_state state_of(struct chat *c)
{
    return (struct saved_chat_state){ .session = c->session,
                                      .turns = &c->turns,
                                      .kind = SAVED_SECTION,
                                      .section = &experience_section,
                                      .data = &policy_of(c)->experience };
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
