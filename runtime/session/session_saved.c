/* Move a sequence to and from a file: its ids, and the states as far as they are cached. */
#include "runtime/session/session.h"

#include <string.h>

#include "runtime/session/session_private.h"
#include "runtime/session/session_rope.h"
#include "runtime/text/format_text.h"

static enum err count_bytes(void *context, void *memory, size_t bytes)
{
    (void)memory;
    *(uint64_t *)context += bytes;
    return ERR_OK;
}

uint64_t session_move_bytes(const struct session *s, uint32_t n_ids, uint32_t n_cached)
{
    uint64_t bytes = 0;
    struct layer_state_io io = { count_bytes, &bytes, true, true };

    for (uint32_t i = 0; i < s->n_states && n_cached != 0; i++) {
        (void)s->states[i].kind->move(&s->states[i], n_cached, &io);
    }
    return bytes + (uint64_t)n_ids * sizeof *s->ids;
}

enum err session_move(struct session *s, uint32_t n_ids, uint32_t n_cached,
                      const struct layer_state_io *io)
{
    enum err e;

    /* The loaded data replaces everything here. */
    if (io->loads && !io->discards) {
        session_prefix_lose(s);
        session_clear(s);
    } else {
        session_forget_guesses(s);
    }
    s->error_message[0] = '\0';
    s->model->stream.error_message[0] = '\0';
    /* Move the ids first, then each state as far as it is cached. */
    e = io->move(io->context, s->ids, (size_t)n_ids * sizeof *s->ids);
    for (uint32_t i = 0; i < s->n_states && n_cached != 0 && e == ERR_OK; i++) {
        e = s->states[i].kind->move(&s->states[i], n_cached, io);
    }
    if (e != ERR_OK) {
        (void)session_cut_states(s, s->n_cached);
        format_text(s->error_message, sizeof s->error_message, "%s",
                    s->model->stream.error_message);
    }
    return e;
}

enum err session_restore(struct session *s, uint32_t n_ids, uint32_t n_cached)
{
    uint32_t vocab = s->model->image.header->params.vocab;

    /* A file may be damaged: check that no id is beyond the vocabulary. */
    for (uint32_t i = 0; i < n_ids; i++) {
        if (s->ids[i] >= vocab) {
            session_clear(s);
            return ERR_BAD_MODEL;
        }
    }
    s->n_ids = n_ids;
    s->n_cached = n_cached;
    s->n_exact = 0; /* tokens may have been dropped before the sequence was saved */
    s->is_long = session_rope_is_long(s);
    session_prefix_find_again(s);
    return ERR_OK;
}

void session_take_back(struct session *s, const uint32_t *ids, uint32_t n,
                       const struct session_hash *hash)
{
    session_clear(s);
    memcpy(s->ids, ids, n * sizeof *ids);
    s->n_ids = n;
    s->hash = *hash;
}
