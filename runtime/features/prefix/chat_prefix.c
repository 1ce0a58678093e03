#include "runtime/features/prefix/chat_prefix.h"

#include <string.h>

#include "board/min_max.h"
#include "runtime/chat/chat_private.h"
#include "runtime/console/console.h"
#include "runtime/text/format_text.h"

/* These first lines begin with different kinds of characters, because the first character may join
 * the template's last token. */
static const char *const first_lines[] = { "a", "A", "1", "?", " a", "\n", "\xc3\xa4" };
enum { N_FIRST_LINES = sizeof first_lines / sizeof first_lines[0] };

/* Return how many tokens of c->opening.ids begin every conversation. */
static uint32_t count_opening(struct chat *c)
{
    uint32_t n = (uint32_t)chat_encode_opening(c);

    for (size_t i = 0; i < N_FIRST_LINES && n != 0; i++) {
        const char *line = first_lines[i];
        uint32_t room, *ids = session_room(c->session, &room), same = 0;
        size_t n_ids;

        if (chat_encode(c, line, strlen(line), true, true, ids, room, &n_ids) != ERR_OK) {
            return 0;
        }
        n = (uint32_t)min_size(n, n_ids);
        while (same < n && ids[same] == c->opening.ids[same]) {
            same++;
        }
        n = same;
    }
    return n;
}

static struct saved_chat_state state_of(struct chat *c)
{
    return (
        struct saved_chat_state){ .session = c->session, .turns = &c->turns, .kind = SAVED_PREFIX };
}

uint64_t chat_prefix_bytes(struct chat *c)
{
    uint32_t n = count_opening(c);

    if (n == 0) {
        return 0;
    }
    return saved_chat_bytes_of(c->session, n);
}

static enum err compute(struct chat *c, uint32_t n)
{
    struct stop stop = { chat_wait_stop, c };
    enum err e;

    if (session_take_prefix(c->session, c->opening.ids, n)) {
        return ERR_OK;
    }
    e = session_put(c->session, c->opening.ids, n);
    if (e != ERR_OK) {
        return e;
    }
    chat_wait_begin(c, "system prompt", n);
    e = session_run(c->session, &stop);
    console_progress_end(c->console);
    if (e == ERR_OK) {
        session_make_prefix(c->session);
    }
    return e;
}

enum err chat_prefix_save(struct chat *c, struct saved_chat *io, const struct file *file,
                          saved_chat_progress_fn *progress, void *context)
{
    struct saved_chat_state state = state_of(c);
    uint32_t n = 0;
    enum err e;

    io->error_message[0] = '\0';
    if (c->session->n_ids == 0) {
        n = count_opening(c);
    }
    if (n == 0) {
        format_text(
            io->error_message, sizeof io->error_message,
            c->session->n_ids != 0
                ? "save the prefix before the first line: /reset, then /save prefix"
                : "conversations begin with nothing that could be saved: /system TEXT gives "
                  "them a system prompt");
        return ERR_BAD_ARGUMENT;
    }
    e = compute(c, n);
    if (e == ERR_OK) {
        e = saved_chat_write(io, file, &state, progress, context);
    } else {
        format_text(io->error_message, sizeof io->error_message, "%s",
                    e == ERR_ABORTED ? err_text(e) : c->session->error_message);
    }
    session_clear(c->session);
    return e;
}

enum err chat_prefix_load(struct chat *c, struct saved_chat *io, const struct file *file,
                          saved_chat_progress_fn *progress, void *context)
{
    struct saved_chat_state state = state_of(c);
    struct session *s = c->session;
    uint32_t n = count_opening(c);
    enum err e = saved_chat_read(io, file, &state, progress, context);

    if (e == ERR_OK && (s->n_ids != n || memcmp(s->ids, c->opening.ids, n * sizeof *s->ids) != 0)) {
        format_text(
            io->error_message, sizeof io->error_message,
            "%s belongs to another system prompt or chat template: /save prefix writes it again",
            file->name);
        e = ERR_BAD_MODEL;
    }
    if (e == ERR_OK) {
        session_make_prefix(s);
    }
    session_clear(s);
    return e;
}
