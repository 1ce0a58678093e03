/* The headers of the file, and its sizes. */
#include <string.h>

#include "runtime/saved/saved_chat_private.h"
#include "runtime/saved/saved_section.h"
#include "runtime/session/session_rope.h"
#include "runtime/text/format_text.h"

enum { MAGIC_BYTES = 8 };

static const char *magic_of(enum saved_kind kind, const struct saved_section *section)
{
    switch (kind) {
    case SAVED_CHAT: return "INGOTSAV";
    case SAVED_PREFIX: return "INGOTPRE";
    case SAVED_SECTION: break;
    }
    return section->magic;
}

const char *saved_chat_magic(const struct saved_chat *s)
{
    return magic_of(s->kind, s->section);
}

/* ---- sizes ---------------------------------------------------------------------------------- */

uint64_t saved_chat_payload_bytes(const struct saved_chat_state *state,
                                  const struct saved_chat_header *h)
{
    if (state->kind == SAVED_SECTION) {
        return saved_section_bytes(state, h);
    }
    return (uint64_t)h->n_turns * sizeof(struct turn) + h->text_bytes +
           session_move_bytes(state->session, h->n_ids, h->n_cached);
}

static void describe_chat(const struct saved_chat_state *state, struct saved_chat_header *h)
{
    h->kv_keys = state->session->kv.types.keys;
    h->kv_values = state->session->kv.types.values;
    h->kv_warm = state->session->kv.types.warm;
    h->kv_cold = state->session->kv.types.cold;
    h->kv_hot_tiles = state->session->kv.types.hot_tiles;
    h->kv_warm_tiles = state->session->kv.types.warm_tiles;
    h->n_cached = state->session->n_cached;
    h->n_ids = state->session->n_ids;
    h->reply_start = state->reply_start;
    h->started = state->started;
    h->n_turns = state->turns->n;
    h->text_bytes = state->turns->text_bytes;
}

uint32_t saved_chat_model_crc(const struct session *session, enum saved_kind kind)
{
    uint32_t crc = session_model_crc(session);

    /* Keys are stored rotated, so conversations also depend on the rotation; sections do not. */
    return kind == SAVED_SECTION ? crc : crc ^ session_rope_crc(session);
}

void saved_chat_describe(const struct saved_chat_state *state, struct saved_chat_header *h)
{
    memset(h, 0, sizeof *h);
    memcpy(h->magic, magic_of(state->kind, state->section), MAGIC_BYTES);
    h->version = SAVED_CHAT_VERSION;
    h->model_crc = saved_chat_model_crc(state->session, state->kind);
    if (state->kind == SAVED_SECTION) {
        saved_section_describe(state, h);
    } else {
        describe_chat(state, h);
    }
    h->payload_bytes = saved_chat_payload_bytes(state, h);
}

uint64_t saved_chat_bytes(const struct saved_chat_state *state)
{
    struct saved_chat_header h;

    saved_chat_describe(state, &h);
    return 2 * (SECTOR_BYTES + halves_to_sectors(h.payload_bytes));
}

uint64_t saved_chat_least_bytes(const struct saved_chat_state *state)
{
    struct saved_chat_header h;

    saved_chat_describe(state, &h);
    /* A conversation can be saved without states, which can be computed again from the tokens. */
    if (state->kind == SAVED_CHAT) {
        h.n_cached = 0;
        h.payload_bytes = saved_chat_payload_bytes(state, &h);
    }
    return 2 * (SECTOR_BYTES + halves_to_sectors(h.payload_bytes));
}

uint64_t saved_chat_bytes_of(const struct session *session, uint32_t n_ids)
{
    return 2 * (SECTOR_BYTES + halves_to_sectors(session_move_bytes(session, n_ids, n_ids)));
}

uint64_t saved_chat_most_bytes(const struct saved_chat_state *state)
{
    uint32_t context = state->session->context;
    struct saved_chat_header h = {
        .n_cached = context, .n_ids = context, .n_turns = TURNS_MOST, .text_bytes = TURNS_TEXT_BYTES
    };

    if (state->kind == SAVED_SECTION) {
        saved_section_describe_most(state, &h);
    }
    return 2 * (SECTOR_BYTES + halves_to_sectors(saved_chat_payload_bytes(state, &h)));
}

/* ---- an operation --------------------------------------------------------------------------- */

void saved_chat_begin(struct saved_chat *s, const struct file *file,
                      const struct saved_chat_state *state, saved_chat_progress_fn *progress,
                      void *context)
{
    halves_begin(&s->halves, file, s->buffer, sizeof s->buffer, s->error_message,
                 sizeof s->error_message);
    s->kind = state->kind;
    s->section = state->section;
    s->progress = progress;
    s->context = context;
    s->done = 0;
    s->total = 0;
    s->before = SAVED_CHAT_GOES_ON;
    s->is_older = false;
    s->n_kept = 0;
}

void saved_chat_expect(struct saved_chat *s, const struct saved_chat_header *h)
{
    s->total += halves_to_sectors(h->payload_bytes);
}

const char *saved_chat_command(const struct saved_chat *s)
{
    if (s->kind == SAVED_SECTION) {
        return s->section->command;
    }
    return s->kind == SAVED_PREFIX ? "/save prefix" : "/save";
}

/* ---- headers -------------------------------------------------------------------------------- */

const struct saved_chat_header *saved_chat_header_of(const struct saved_chat *s, unsigned half)
{
    return (const void *)&s->halves.h[half];
}

enum err saved_chat_read_headers(struct saved_chat *s)
{
    struct halves *v = &s->halves;
    enum err e = halves_read(v, saved_chat_magic(s));

    /* The file was longer when it was written. */
    for (unsigned half = 0; half < 2; half++) {
        const struct saved_chat_header *h = saved_chat_header_of(s, half);

        if (v->valid[half] && (h->payload_bytes > halves_room(v->file) - SECTOR_BYTES ||
                               h->file_bytes > v->file->bytes)) {
            halves_drop(v, half);
            v->is_cut = true;
        }
    }
    return e;
}
