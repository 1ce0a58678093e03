/* Saves lessons to a file and loads them (saved_chat.h). */
#include "runtime/features/lessons/chat_learn.h"
#include "runtime/text/civil_time.h"
#include "runtime/text/format_text.h"

static void count_lessons(const void *data, struct saved_counts *now, struct saved_counts *most)
{
    const struct lessons *l = data;

    *now = (struct saved_counts){ l->dim, l->n, l->n_notes };
    *most = (struct saved_counts){ l->dim, l->room, l->room / LESSONS_NOTE_SHARE };
}

static uint64_t lessons_payload_bytes(const void *data, const struct saved_counts *counts)
{
    return lessons_move_bytes(data, counts->examples, counts->notes);
}

static enum err move_lessons(void *data, bool loads, saved_move_fn *move, void *context)
{
    return lessons_move(data, loads, move, context);
}

/* If the only lesson was undone after a save, the save without lessons replaces it. */
static bool has_no_lessons(const void *data)
{
    const struct lessons *l = data;

    return l->learner.totals.lessons == 0 && !l->in_file;
}

static bool sound_lessons(const void *data, uint32_t vocab)
{
    return lessons_are_sound(data, vocab);
}

static void clear_lessons(void *data)
{
    lessons_clear(data);
}

/* Return true if the room planned at this start is too small for the file. */
static bool lessons_lack_room(const struct saved_counts *counts, const struct saved_counts *most,
                              const char *name, char *text, size_t bytes)
{
    if (counts->dim != most->dim || counts->examples > LESSONS_MOST_ROOM ||
        counts->examples <= most->examples) {
        return false;
    }
    format_text(text, bytes,
                "%s has lessons of %u tokens, and this start has room for %u: give it more memory",
                name, (unsigned)counts->examples, (unsigned)most->examples);
    return true;
}

static const struct saved_section lessons_section = {
    "INGOTLRN",    "/save learn",         "what was learnt", "lessons need",
    count_lessons, lessons_payload_bytes, move_lessons,      has_no_lessons,
    sound_lessons, clear_lessons,         lessons_lack_room
};

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
    enum err e = saved_chat_write(io, file, &state, progress, context);

    lessons_of(c)->lessons.in_file |= e == ERR_OK;
    return e;
}

enum err chat_learn_load(struct chat *c, struct saved_chat *io, const struct file *file,
                         saved_chat_progress_fn *progress, void *context)
{
    struct saved_chat_state state = state_of(c);
    enum err e = saved_chat_read(io, file, &state, progress, context);

    lessons_of(c)->lessons.in_file |= e == ERR_OK;
    lessons_note_old(&lessons_of(c)->lessons);
    if (e == ERR_OK && chat_learn_now(c) >= CIVIL_TIME_FIRST) {
        lessons_correct_clock(&lessons_of(c)->lessons, 0, chat_learn_now(c));
    }
    return e;
}
