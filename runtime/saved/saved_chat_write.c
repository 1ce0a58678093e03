/* Save a conversation over the half that is not the newest valid one, then read it back. */
#include <string.h>

#include "runtime/saved/saved_chat_private.h"
#include "runtime/session/session_rope.h"
#include "runtime/text/format_text.h"

enum { MIB = 1 << 20 };

/* Return true if there is nothing to save. A prefix is never empty. */
static bool is_empty(const struct saved_chat_state *state)
{
    if (state->kind == SAVED_SECTION) {
        return state->section->has_nothing(state->data);
    }
    return state->session->n_ids == 0;
}

static enum err check_room(struct saved_chat *s, const struct saved_chat_state *state)
{
    const char *needs = state->kind == SAVED_SECTION ? state->section->needs : "conversation needs";
    char needed[FORMAT_NUMBER_BYTES], room[FORMAT_NUMBER_BYTES];
    uint64_t bytes = saved_chat_least_bytes(state);
    uint64_t most_mib = (saved_chat_most_bytes(state) + MIB - 1) / MIB;

    if (!s->halves.file->device->writable) {
        format_text(s->error_message, sizeof s->error_message,
                    "%s cannot be written: saves go to a card", s->halves.file->device->name);
        return ERR_UNSUPPORTED;
    }
    if (is_empty(state)) {
        format_text(s->error_message, sizeof s->error_message,
                    "there is nothing to save: nothing has been %s yet",
                    state->kind == SAVED_CHAT ? "said" : "learnt");
        return ERR_BAD_ARGUMENT;
    }
    /* The file needs two halves, so that the last good save stays while the next one is written. */
    if (bytes / 2 > halves_room(s->halves.file) && state->kind == SAVED_PREFIX) {
        format_text(
            s->error_message, sizeof s->error_message,
            "the system prompt's state needs %s and %s has %s: `make card SYSTEM=TEXT` makes room "
            "for the state of TEXT",
            format_bytes(needed, bytes), s->halves.file->name,
            format_bytes(room, s->halves.file->bytes));
        return ERR_NO_SPACE;
    }
    if (bytes / 2 > halves_room(s->halves.file)) {
        format_text(s->error_message, sizeof s->error_message,
                    "the %s %s and %s has %s: `make card SAVE=%u` makes room for the whole %s",
                    needs, format_bytes(needed, bytes), s->halves.file->name,
                    format_bytes(room, s->halves.file->bytes), (unsigned)most_mib,
                    state->kind == SAVED_CHAT ? "context" : "of it");
        return ERR_NO_SPACE;
    }
    return ERR_OK;
}

/* Return how many tokens' states are saved if there is room for the states of n tokens. If the
 * states of all cached tokens fit, all are saved. Otherwise n are saved, or none if states cannot
 * be cut (recurrent layers, tiers by age, pages on a card, LongRoPE). */
static uint32_t states_apart(const struct session *s, uint32_t n)
{
    bool whole = s->kv.types.hot_tiles != 0 || s->kv.pages != NULL || s->long_context != 0;

    /* States with marks can be cut only at a mark. */
    for (uint32_t i = 0; i < s->n_states && !whole; i++) {
        whole = s->states[i].kind->mark != NULL;
    }
    if (n >= s->n_cached) {
        return s->n_cached;
    }
    return whole ? 0 : n;
}

/* Save the states of as many tokens as a half has room for. The tokens themselves always fit. */
static void fit_states(struct saved_chat *s, const struct saved_chat_state *state,
                       struct saved_chat_header *h)
{
    uint64_t room = halves_room(s->halves.file) - SECTOR_BYTES;
    uint32_t fits = 0, too_many = h->n_cached + 1;

    /* Use bisection, because states come in tiles, so the size is not linear in the tokens. */
    while (state->kind == SAVED_CHAT && too_many - fits > 1) {
        uint32_t middle = fits + (too_many - fits) / 2;

        h->n_cached = states_apart(state->session, middle);
        if (halves_to_sectors(saved_chat_payload_bytes(state, h)) <= room) {
            fits = middle;
        } else {
            too_many = middle;
        }
    }
    if (state->kind == SAVED_CHAT) {
        h->n_cached = states_apart(state->session, fits);
        h->payload_bytes = saved_chat_payload_bytes(state, h);
    }
    s->n_kept = h->n_cached;
}

/* Check whether a half is complete (halves_check_fn). */
static enum err check_half(void *context, unsigned half)
{
    struct saved_chat *s = context;
    const struct saved_chat_header *h = saved_chat_header_of(s, half);

    /* The form of another version's payload is unknown, so the half stays. */
    if (h->version != SAVED_CHAT_VERSION) {
        return ERR_OK;
    }
    saved_chat_expect(s, h);
    return saved_chat_check(s, half, h, "reading the last save", NULL);
}

static enum err write_payload(struct saved_chat *s, unsigned half,
                              const struct saved_chat_state *state, struct saved_chat_header *h)
{
    enum err e = saved_chat_move_payload(s, half, state, h, true, &h->payload_crc);

    if (e != ERR_OK) {
        return e;
    }
    /* Read the payload back before the header is written; until then the old half counts. */
    return halves_not_kept(&s->halves, saved_chat_check(s, half, h, "reading it back", NULL));
}

/* Return true if this prefix is the first in its file. The prefix's header then shows if the file
 * is cut off later. */
static bool begins_file(const struct saved_chat *s)
{
    const struct halves *v = &s->halves;

    return s->kind == SAVED_PREFIX && !v->valid[0] && !v->valid[1] && !v->unreadable[0];
}

enum err saved_chat_write(struct saved_chat *s, const struct file *file,
                          const struct saved_chat_state *state, saved_chat_progress_fn *progress,
                          void *context)
{
    struct saved_chat_header new;
    unsigned kept;
    enum err e;

    saved_chat_begin(s, file, state, progress, context);
    e = check_room(s, state);
    if (e == ERR_OK) {
        e = saved_chat_read_headers(s);
    }
    if (e != ERR_OK) {
        return e;
    }
    /* First drop guessed tokens from the states, and settle the keys' kind of rotation. */
    session_forget_guesses(state->session);
    session_rope_settle(state->session);
    saved_chat_describe(state, &new);
    fit_states(s, state, &new);
    saved_chat_expect(s, &new); /* the bytes are written, then read */
    saved_chat_expect(s, &new);
    /* Write the payload first and the header last, into the half that may be overwritten. */
    e = halves_choose_kept(&s->halves, check_half, s, &kept);
    if (e == ERR_OK && begins_file(s)) {
        kept = 1;
    }
    if (e == ERR_OK) {
        new.sequence = halves_next_sequence(&s->halves);
        new.file_bytes = file->bytes;
        e = write_payload(s, 1 - kept, state, &new);
    }
    if (e != ERR_OK) {
        return e;
    }
    return halves_write_header(&s->halves, 1 - kept, &new);
}
