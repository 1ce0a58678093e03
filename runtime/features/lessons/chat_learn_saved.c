/* Lessons in a file (saved_chat.h). */
#include "runtime/features/lessons/chat_learn.h"

static void count_lessons(const void *data, struct saved_counts *now, struct saved_counts *most)
{
    const struct lessons *l = data;

    *now = (struct saved_counts){ l->dim, l->n, 0 };
    *most = (struct saved_counts){ l->dim, LESSONS_ROOM, 0 };
}

static uint64_t lessons_payload_bytes(const void *data, const struct saved_counts *counts)
{
    return lessons_move_bytes(data, counts->examples);
}

static enum err move_lessons(void *data, bool loads, saved_move_fn *move, void *context)
{
    return lessons_move(data, loads, move, context);
}

static bool has_no_lessons(const void *data)
{
    return ((const struct lessons *)data)->learner.totals.lessons == 0;
}

static bool sound_lessons(const void *data, uint32_t vocab)
{
    return lessons_are_sound(data, vocab);
}

static void clear_lessons(void *data)
{
    lessons_clear(data);
}

static const struct saved_section lessons_section = { "INGOTLRN",
                                                      "/save learn",
                                                      "what was learnt",
                                                      "lessons need",
                                                      count_lessons,
                                                      lessons_payload_bytes,
                                                      move_lessons,
                                                      has_no_lessons,
                                                      sound_lessons,
                                                      clear_lessons,
                                                      NULL };

static struct saved_chat_state state_of(struct chat *c)
{
    return (struct saved_chat_state){ .session = c->session,
                                      .turns = &c->turns,
                                      .kind = SAVED_SECTION,
                                      .section = &lessons_section,
                                      .data = &lessons_of(c)->lessons };
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
