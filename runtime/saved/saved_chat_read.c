/* Load a conversation. The file is checked before the current conversation is dropped. */
#include <string.h>

#include "board/min_max.h"
#include "runtime/saved/saved_chat_private.h"
#include "runtime/storage/file_mark.h"
#include "runtime/text/format_text.h"
#include "runtime/text/plural.h"

static enum err contradiction(struct saved_chat *s)
{
    format_text(s->error_message, sizeof s->error_message, "%s contradicts itself: save again",
                s->halves.file->name);
    return ERR_BAD_MODEL;
}

static enum err check_section(struct saved_chat *s, const struct saved_chat_header *h,
                              const struct saved_chat_state *state)
{
    if (saved_section_fits(state, h)) {
        return ERR_OK;
    }
    return saved_section_lacks_room(state, h, s->halves.file->name, s->error_message,
                                    sizeof s->error_message)
               ? ERR_BAD_MODEL
               : contradiction(s);
}

/* Check that the state can take the data that the header describes. */
static enum err check_fit(struct saved_chat *s, const struct saved_chat_header *h,
                          const struct saved_chat_state *state)
{
    const struct session *session = state->session;
    const struct kv_types types = { (uint8_t)min_u32(h->kv_keys, KV_N_NUMBERS),
                                    (uint8_t)min_u32(h->kv_values, KV_N_NUMBERS),
                                    h->kv_warm,
                                    h->kv_cold,
                                    h->kv_hot_tiles,
                                    h->kv_warm_tiles };
    char *error_message = s->error_message;
    size_t room = sizeof s->error_message;

    if (h->version != SAVED_CHAT_VERSION) {
        format_text(error_message, room,
                    "%s was written by another version of Ingot (%u): save again",
                    s->halves.file->name, (unsigned)h->version);
        return ERR_BAD_MODEL;
    }
    /* Keys and values of other weights would be noise to this model. */
    if (h->model_crc != saved_chat_model_crc(session, s->kind) && s->kind == SAVED_PREFIX) {
        format_text(error_message, room,
                    "%s belongs to another model or adapter: /save prefix writes it again",
                    s->halves.file->name);
        return ERR_BAD_MODEL;
    }
    if (h->model_crc != saved_chat_model_crc(session, s->kind)) {
        format_text(error_message, room,
                    "%s belongs to another model or adapter: /model NAME or /adapter NAME loads it",
                    s->halves.file->name);
        return ERR_BAD_MODEL;
    }
    if (s->kind == SAVED_SECTION) {
        return check_section(s, h, state);
    }
    if (!kv_types_equal(types, session->kv.types)) {
        char name[KV_TYPES_NAME_BYTES];

        format_text(error_message, room, "%s was saved with kv=%s: start with that",
                    s->halves.file->name, kv_types_name(types, name));
        return ERR_BAD_MODEL;
    }
    if (h->n_ids > session->context) {
        format_text(error_message, room,
                    "%s has %u %s, but the context has %u: start with a larger ctx=",
                    s->halves.file->name, (unsigned)h->n_ids,
                    plural((unsigned)h->n_ids, "token", "tokens"), (unsigned)session->context);
        return ERR_BAD_MODEL;
    }
    /* The header's CRC is right, so errors here are faults of the program that wrote the file. */
    if (h->n_cached > h->n_ids || h->reply_start > h->n_ids || h->started > 1 ||
        h->n_turns > TURNS_MOST || h->text_bytes > TURNS_TEXT_BYTES ||
        h->payload_bytes != saved_chat_payload_bytes(state, h)) {
        return contradiction(s);
    }
    return ERR_OK;
}

static enum err damaged(struct saved_chat *s)
{
    format_text(s->error_message, sizeof s->error_message,
                "%s is damaged: what was saved there is lost, %s writes it anew",
                s->halves.file->name, saved_chat_command(s));
    return ERR_BAD_CHECKSUM;
}

/* Read and check a half completely, without changing the state. */
static enum err check_half(struct saved_chat *s, unsigned half, const struct saved_chat_header *h,
                           const struct saved_chat_state *state)
{
    struct saved_chat_contents contents = {
        .header = h, .vocab = state->session->model->image.header->params.vocab
    };
    enum err e = check_fit(s, h, state);

    if (e != ERR_OK) {
        return e;
    }
    /* The progress of a second half continues after the first one. */
    s->total = s->done;
    saved_chat_expect(s, h); /* the bytes are read twice: for the CRC, and into the state */
    saved_chat_expect(s, h);
    e = saved_chat_check(s, half, h, "checking", s->kind == SAVED_CHAT ? &contents : NULL);
    if (e == ERR_BAD_CHECKSUM) {
        return damaged(s);
    }
    if (e == ERR_OK && contents.wrong) {
        return contradiction(s);
    }
    return e;
}

static const char *what_belongs_here(const struct saved_chat *s)
{
    switch (s->kind) {
    case SAVED_CHAT: return "a conversation";
    case SAVED_PREFIX: return "the system prompt's state";
    case SAVED_SECTION: break;
    }
    return s->section->what;
}

static enum err empty(struct saved_chat *s)
{
    format_text(s->error_message, sizeof s->error_message, "%s is empty: %s writes %s into it",
                s->halves.file->name, saved_chat_command(s), what_belongs_here(s));
    return ERR_NOT_FOUND;
}

/* Neither half is a save of this kind: the file may be something else, or damaged. */
static enum err say_what_it_is(struct saved_chat *s)
{
    const struct half_header *h = s->halves.h;
    const struct file_mark *mark = file_mark_find(h[0].magic);

    if (mark == NULL) { /* the first save of a file goes to its second half */
        mark = file_mark_find(h[1].magic);
    }
    if (mark == NULL) {
        return empty(s);
    }
    if (memcmp(mark->magic, saved_chat_magic(s), FILE_MARK_BYTES) == 0) {
        return damaged(s);
    }
    format_text(s->error_message, sizeof s->error_message,
                "%s is %s, not %s: %s; or %s overwrites it", s->halves.file->name, mark->what,
                what_belongs_here(s), mark->cure, saved_chat_command(s));
    return ERR_BAD_MODEL;
}

/* Check that a half has a valid header. After ERR_IO the message is already set. */
static enum err find_half(struct saved_chat *s)
{
    enum err e = halves_find(&s->halves);

    if (e != ERR_NOT_FOUND) {
        return e;
    }
    if (s->halves.is_cut) {
        format_text(
            s->error_message, sizeof s->error_message,
            "%s is cut off: it has %llu bytes, fewer than what was saved there: copy it whole; "
            "%s overwrites it if it is large enough",
            s->halves.file->name, (unsigned long long)s->halves.file->bytes, saved_chat_command(s));
        return ERR_BAD_CHECKSUM;
    }
    return say_what_it_is(s);
}

/* Choose the newest valid half of those that have a header. */
static enum err choose_half(struct saved_chat *s, const struct saved_chat_state *state,
                            unsigned *half)
{
    const struct halves *halves = &s->halves;
    unsigned first = halves->newest, other = 1 - first;
    enum err e;

    *half = first;
    /* The half that could not be read may have been the newer one. */
    s->is_older = halves->unreadable[other];
    e = check_half(s, first, saved_chat_header_of(s, first), state);
    if (halves_error_is_local(e) &&
        halves->valid[other]) { /* the power failed during the save, or the card lost bytes */
        *half = other;
        s->is_older = true;
        e = check_half(s, other, saved_chat_header_of(s, other), state);
    }
    if (e == ERR_OK && s->kind == SAVED_CHAT && saved_chat_header_of(s, *half)->n_ids == 0) {
        e = empty(s);
    }
    return e;
}

/* ---- into the state ------------------------------------------------------------------------- */

/* The parts of the running conversation that are needed to compute it again. They are in the work
 * space of session and sampler, which are idle meanwhile. */
struct kept {
    struct turns *turns; /* NULL: there is no room */
    uint32_t *ids;
    uint32_t n_ids;
    struct session_hash hash;
};

static struct kept keep(const struct saved_chat_state *state)
{
    const struct session *session = state->session;
    struct kept k = { .n_ids = session->n_ids, .hash = session->hash };

    /* Compare twice, so that no sum can overflow. */
    if (session->scratch.bytes / sizeof *k.ids < session->n_ids ||
        session->scratch.bytes - session->n_ids * sizeof *k.ids < sizeof *k.turns) {
        return k;
    }
    k.turns = session->scratch.memory;
    k.ids = (void *)(k.turns + 1);
    *k.turns = *state->turns;
    memcpy(k.ids, session->ids, k.n_ids * sizeof *k.ids);
    return k;
}

static void take_back(struct saved_chat *s, struct saved_chat_state *state, const struct kept *k)
{
    /* The states were overwritten and the tokens were not kept, so the conversation must become
     * empty. */
    if (k->turns == NULL) {
        session_clear(state->session);
        state->turns->n = 0;
        state->turns->text_bytes = 0;
        s->before = SAVED_CHAT_LOST;
        return;
    }
    /* The tokens have no states now; the next prompt computes them again. */
    *state->turns = *k->turns;
    session_take_back(state->session, k->ids, k->n_ids, &k->hash);
    s->before = SAVED_CHAT_PENDING;
}

static enum err load_half(struct saved_chat *s, unsigned half, const struct saved_chat_header *h,
                          struct saved_chat_state *state)
{
    uint32_t crc;
    enum err e = saved_chat_move_payload(s, half, state, h, false, &crc);

    if (e != ERR_OK) {
        return e;
    }
    /* The CRC is checked here, too, because a card may return other bytes than before, and a prefix
     * is read only once. */
    if (crc != h->payload_crc) {
        return damaged(s);
    }
    if (session_restore(state->session, h->n_ids, h->n_cached) != ERR_OK) {
        return contradiction(s);
    }
    state->reply_start = h->reply_start;
    state->started = h->started != 0;
    state->turns->n = h->n_turns;
    state->turns->text_bytes = h->text_bytes;
    turns_forget_said(state->turns); /* nobody knows who wrote the file */
    turns_forget_logged(state->turns);
    return ERR_OK;
}

/* ---- a section ------------------------------------------------------------------------------- */

static bool is_sound(const struct saved_chat_state *state)
{
    return state->section->is_sound(state->data, state->session->model->image.header->params.vocab);
}

/* Replace the present state. If loading fails, everything is dropped, because a partly loaded state
 * is useless. */
static enum err load_section(struct saved_chat *s, unsigned half, const struct saved_chat_header *h,
                             struct saved_chat_state *state)
{
    uint32_t crc;
    enum err e = saved_chat_move_payload(s, half, state, h, false, &crc);

    /* Check the counts first, then the CRC, then the section's own rules; each check relies on the
     * one before. */
    if (e == ERR_BAD_MODEL || (e == ERR_OK && !saved_section_agrees(state, h))) {
        e = contradiction(s);
    } else if (e == ERR_OK && crc != h->payload_crc) {
        e = damaged(s);
    } else if (e == ERR_OK && !is_sound(state)) {
        e = contradiction(s);
    }
    if (e == ERR_OK) {
        return ERR_OK;
    }
    state->section->clear_all(state->data);
    s->before = SAVED_CHAT_LOST;
    return e;
}

/* ---- a prefix ------------------------------------------------------------------------------- */

/* Load a prefix into the session, which is empty. */
static enum err load_prefix(struct saved_chat *s, unsigned half, const struct saved_chat_header *h,
                            struct saved_chat_state *state)
{
    enum err e = check_fit(s, h, state);

    if (e != ERR_OK) {
        return e;
    }
    /* A prefix has tokens and all of their states, but no turns. */
    if (h->n_turns != 0 || h->text_bytes != 0 || h->started != 0 || h->n_ids == 0 ||
        h->n_cached != h->n_ids) {
        return contradiction(s);
    }
    s->total = s->done;
    saved_chat_expect(s, h);
    e = load_half(s, half, h, state);
    if (e != ERR_OK) {
        session_clear(state->session);
    }
    return e;
}

static enum err load_newest_prefix(struct saved_chat *s, struct saved_chat_state *state)
{
    const struct halves *halves = &s->halves;
    unsigned first = halves->newest, other = 1 - first;
    enum err e = load_prefix(s, first, saved_chat_header_of(s, first), state);

    s->is_older = halves->unreadable[other];
    if (halves_error_is_local(e) && halves->valid[other]) {
        s->is_older = true;
        e = load_prefix(s, other, saved_chat_header_of(s, other), state);
    }
    return e;
}

enum err saved_chat_read(struct saved_chat *s, const struct file *file,
                         struct saved_chat_state *state, saved_chat_progress_fn *progress,
                         void *context)
{
    struct kept kept;
    unsigned half;
    enum err e;

    saved_chat_begin(s, file, state, progress, context);
    e = saved_chat_read_headers(s);
    if (e == ERR_OK) {
        e = find_half(s);
    }
    /* A prefix is read once, not twice, because nothing is lost if the load fails halfway. */
    if (e == ERR_OK && s->kind == SAVED_PREFIX) {
        return load_newest_prefix(s, state);
    }
    if (e == ERR_OK) {
        e = choose_half(s, state, &half);
    }
    if (e != ERR_OK) {
        return e;
    }
    if (s->kind == SAVED_SECTION) {
        return load_section(s, half, saved_chat_header_of(s, half), state);
    }
    /* From now on the running conversation is overwritten. */
    kept = keep(state);
    e = load_half(s, half, saved_chat_header_of(s, half), state);
    if (e != ERR_OK) {
        take_back(s, state, &kept);
    }
    return e;
}
