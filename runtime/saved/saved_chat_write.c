/* Save a conversation: over the half that is not the newest valid one, then read it back. */
#include <string.h>

#include "runtime/saved/saved_chat_private.h"
#include "runtime/session/session_rope.h"
#include "runtime/text/format_text.h"

enum { MIB = 1 << 20 };

/* A prefix never is. */
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

    if (!s->file->device->writable) {
        format_text(s->error_message, sizeof s->error_message,
                    "%s cannot be written: saves go to a card", s->file->device->name);
        return ERR_UNSUPPORTED;
    }
    if (is_empty(state)) {
        format_text(s->error_message, sizeof s->error_message,
                    "nothing has been %s yet that could be saved",
                    state->kind == SAVED_CHAT ? "said" : "learnt");
        return ERR_BAD_ARGUMENT;
    }
    /* Two halves: the last good save stays while the next is written. */
    if (bytes / 2 > saved_chat_half_bytes(s->file) && state->kind == SAVED_PREFIX) {
        format_text(
            s->error_message, sizeof s->error_message,
            "the system prompt's state needs %s and %s has %s: `make card SYSTEM=` makes room "
            "for the prompt that it is given",
            format_bytes(needed, bytes), s->file->name, format_bytes(room, s->file->bytes));
        return ERR_NO_SPACE;
    }
    if (bytes / 2 > saved_chat_half_bytes(s->file)) {
        format_text(s->error_message, sizeof s->error_message,
                    "the %s %s and %s has %s: `make card SAVE=%u` makes room for the whole %s",
                    needs, format_bytes(needed, bytes), s->file->name,
                    format_bytes(room, s->file->bytes), (unsigned)most_mib,
                    state->kind == SAVED_CHAT ? "context" : "of it");
        return ERR_NO_SPACE;
    }
    return ERR_OK;
}

/* How many of the first n tokens have states that can be saved without those after them: n, or 0
 * if the states always cover all tokens (recurrent layers, tiers by age, pages on a card,
 * LongRoPE). */
static uint32_t states_apart(const struct session *s, uint32_t n)
{
    bool whole = s->kv.types.hot_tiles != 0 || s->kv.pages != NULL || s->long_context != 0;

    /* A kind of state with marks cannot be cut at any token. */
    for (uint32_t i = 0; i < s->n_states && !whole; i++) {
        whole = s->states[i].kind->mark != NULL;
    }
    if (n >= s->n_cached) {
        return s->n_cached;
    }
    return whole ? 0 : n;
}

/* Keep the states of as many tokens as a half has room for: with all states, or with none, the
 * tokens themselves always fit. */
static void fit_states(struct saved_chat *s, const struct saved_chat_state *state,
                       struct saved_chat_header *h)
{
    uint64_t room = saved_chat_half_bytes(s->file) - SECTOR_BYTES;
    uint32_t fits = 0, too_many = h->n_cached + 1;

    /* Bisection: the size is not linear in the tokens, since states come in tiles. */
    while (state->kind == SAVED_CHAT && too_many - fits > 1) {
        uint32_t middle = fits + (too_many - fits) / 2;

        h->n_cached = states_apart(state->session, middle);
        if (saved_chat_to_sectors(saved_chat_payload_bytes(state, h)) <= room) {
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

/* How much would be lost with a half. */
enum worth {
    WORTH_NOTHING, /* blank, or damaged */
    WORTH_UNKNOWN, /* the card does not return it, this time */
    WORTH_ALL,     /* it was read completely; or it has another version, which is not our concern */
};

/* Errors of the card, ERR_ABORTED. */
static enum err weigh_half(struct saved_chat *s, const struct saved_chat_halves *halves,
                           unsigned half, enum worth *worth)
{
    const struct saved_chat_header *h = &halves->h[half];
    enum err e = ERR_OK;

    *worth = halves->unreadable[half] ? WORTH_UNKNOWN : WORTH_NOTHING;
    if (!halves->valid[half]) {
        return ERR_OK;
    }
    /* A payload of another version has a form that is not known here. */
    if (h->version == SAVED_CHAT_VERSION) {
        saved_chat_expect(s, h);
        e = saved_chat_check(s, half, h, "reading the last save", NULL);
    }
    if (e == ERR_OK) {
        *worth = WORTH_ALL;
    } else if (e == ERR_IO) {
        *worth = WORTH_UNKNOWN;
    }
    if (saved_chat_is_local(e)) {
        return ERR_OK;
    }
    return e;
}

/* Keep the newest valid half, not the one whose header says that it is newer: otherwise the next
 * save would overwrite the only good one. If the card returns neither, neither is touched:
 * ERR_IO. */
static enum err choose_kept(struct saved_chat *s, const struct saved_chat_halves *halves,
                            unsigned *kept)
{
    unsigned newest = halves->newest, other = 1 - newest;
    enum worth worth[2];
    enum err e = weigh_half(s, halves, newest, &worth[newest]);

    *kept = newest;
    /* The newest is whole: the older half may be overwritten unread. */
    if (e != ERR_OK || worth[newest] == WORTH_ALL) {
        return e;
    }
    e = weigh_half(s, halves, other, &worth[other]);
    if (worth[other] > worth[newest]) {
        *kept = other;
    }
    /* Either could be the only good save. */
    if (e == ERR_OK && worth[newest] == WORTH_UNKNOWN && worth[other] == WORTH_UNKNOWN) {
        e = ERR_IO;
    }
    return e;
}

static uint64_t next_sequence(const struct saved_chat_halves *halves)
{
    if (!halves->valid[halves->newest]) {
        return 1;
    }
    return halves->h[halves->newest].sequence + 1;
}

/* The card returns other bytes than it was given. */
static enum err not_kept(struct saved_chat *s, enum err e)
{
    if (e == ERR_BAD_CHECKSUM) {
        format_text(s->error_message, sizeof s->error_message,
                    "%s: %s returned other bytes than were written: try again, or take another "
                    "card; what was saved before is still there",
                    s->file->name, s->file->device->name);
    }
    return e;
}

static enum err write_payload(struct saved_chat *s, unsigned half,
                              const struct saved_chat_state *state, struct saved_chat_header *h)
{
    enum err e = saved_chat_move_payload(s, half, state, h, true, &h->payload_crc);

    if (e != ERR_OK) {
        return e;
    }
    /* Read it back before the header names it: until then the old half counts. */
    return not_kept(s, saved_chat_check(s, half, h, "reading it back", NULL));
}

static enum err write_header(struct saved_chat *s, unsigned half, const struct saved_chat_header *h)
{
    uint64_t at = half * saved_chat_half_bytes(s->file);
    enum err e;

    /* A header that is written only in part fails its CRC, and the other half stays the newest. */
    s->header = *h;
    s->header.header_crc = saved_chat_header_crc(&s->header);
    e = saved_chat_io_error_message(s,
                                    file_write_now(&s->io, s->file, at, &s->header, SECTOR_BYTES),
                                    true);
    if (e != ERR_OK) {
        return e;
    }
    memset(s->buffer, 0, SECTOR_BYTES); /* no header, in case nothing arrives */
    e = saved_chat_io_error_message(s, file_read_now(&s->io, s->file, at, s->buffer, SECTOR_BYTES),
                                    false);
    if (e == ERR_OK && memcmp(s->buffer, &s->header, SECTOR_BYTES) != 0) {
        e = ERR_BAD_CHECKSUM;
    }
    return not_kept(s, e);
}

enum err saved_chat_write(struct saved_chat *s, const struct file *file,
                          const struct saved_chat_state *state, saved_chat_progress_fn *progress,
                          void *context)
{
    struct saved_chat_halves halves;
    struct saved_chat_header new;
    unsigned kept;
    enum err e;

    saved_chat_begin(s, file, state, progress, context);
    e = check_room(s, state);
    if (e == ERR_OK) {
        e = saved_chat_read_halves(s, &halves);
    }
    if (e != ERR_OK) {
        return e;
    }
    /* Settle what the states are of: no guessed tokens, and one kind of rotation. */
    session_forget_guesses(state->session);
    session_rope_settle(state->session);
    saved_chat_describe(state, &new);
    fit_states(s, state, &new);
    saved_chat_expect(s, &new); /* bytes to write, and to read */
    saved_chat_expect(s, &new);
    /* The payload first and the header last, into the half that may be lost. */
    e = choose_kept(s, &halves, &kept);
    if (e == ERR_OK) {
        new.sequence = next_sequence(&halves);
        e = write_payload(s, 1 - kept, state, &new);
    }
    if (e != ERR_OK) {
        return e;
    }
    return write_header(s, 1 - kept, &new);
}
