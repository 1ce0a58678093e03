/* Saves a fabric to a file and loads it (saved_chat.h). */
#include "runtime/features/fabric/chat_fabric.h"
#include "runtime/text/format_text.h"

static void count_fabric(const void *data, struct saved_counts *now, struct saved_counts *most)
{
    const struct fabric *f = data;

    *now = (struct saved_counts){ f->dim, f->n_examples, f->n_notes };
    *most = (struct saved_counts){ f->dim, f->room.examples, f->room.notes };
}

static uint64_t fabric_payload_bytes(const void *data, const struct saved_counts *counts)
{
    return fabric_move_bytes(data, counts->notes, counts->examples);
}

static enum err move_fabric(void *data, bool loads, saved_move_fn *move, void *context)
{
    return fabric_move(data, loads, move, context);
}

/* Return true if there were never any notes. A fabric whose notes were all forgotten is saved. */
static bool has_no_fabric(const void *data)
{
    return ((const struct fabric *)data)->n_background == 0;
}

static bool sound_fabric(const void *data, uint32_t vocab)
{
    return fabric_is_sound(data, vocab);
}

static void clear_fabric(void *data)
{
    fabric_clear(data);
}

/* Return true if the room planned at this start is too small for the file. */
static bool fabric_lacks_room(const struct saved_counts *counts, const struct saved_counts *most,
                              const char *name, char *text, size_t bytes)
{
    if (counts->dim != most->dim || counts->notes > FABRIC_MOST_NOTES ||
        counts->examples > FABRIC_MOST_EXAMPLES ||
        (counts->notes <= most->notes && counts->examples <= most->examples)) {
        return false;
    }
    format_text(text, bytes,
                "%s has %u memories with %u tokens of answers, and this start has room for %u with "
                "%u: give it more memory",
                name, (unsigned)counts->notes, (unsigned)counts->examples, (unsigned)most->notes,
                (unsigned)most->examples);
    return true;
}

static const struct saved_section fabric_section = {
    "INGOTFAB",   "/save learn",        "what is remembered", "memories need",
    count_fabric, fabric_payload_bytes, move_fabric,          has_no_fabric,
    sound_fabric, clear_fabric,         fabric_lacks_room
};

static struct saved_chat_state state_of(struct chat *c)
{
    return (struct saved_chat_state){ .session = c->session,
                                      .turns = &c->turns,
                                      .kind = SAVED_SECTION,
                                      .section = &fabric_section,
                                      .data = &fabric_of(c)->fabric };
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

/* The saved clock continues. But if both clocks show the date, use the present clock, because the
 * time between them has passed. Lessons, which are loaded before, have no clock of their own. */
static void join_clocks(struct chat *c, uint64_t now)
{
    uint64_t saved = fabric_of(c)->fabric.clock;

    if (now >= FABRIC_SET_CLOCK && fabric_of(c)->fabric.clock >= FABRIC_SET_CLOCK) {
        fabric_set_clock(&fabric_of(c)->fabric, now);
    } else if (now >= FABRIC_SET_CLOCK) {
        fabric_correct_clock(&fabric_of(c)->fabric, now);
    } else {
        fabric_of(c)->epoch = fabric_of(c)->fabric.clock - (now - fabric_of(c)->epoch);
    }
    if (saved >= FABRIC_SET_CLOCK && now < FABRIC_SET_CLOCK) {
        lessons_correct_clock(&lessons_of(c)->lessons, now, saved);
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
