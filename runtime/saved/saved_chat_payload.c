/* Move bytes between memory and one half of the file, one buffer at a time. */
#include <string.h>

#include "board/min_max.h"
#include "runtime/base/crc32c.h"
#include "runtime/saved/saved_chat_private.h"
#include "runtime/text/format_text.h"

struct transfer {
    struct saved_chat *s;
    uint64_t at, end; /* file offsets of the next buffer and of the payload's end */
    size_t n;         /* bytes put into the buffer or, when reading, taken from it */
    size_t filled;    /* when reading: bytes in the buffer */
    uint32_t crc;
    bool writes;
};

static uint64_t payload_at(const struct saved_chat *s, unsigned half)
{
    return half * halves_room(s->halves.file) + SECTOR_BYTES;
}

/* Report that `bytes` more bytes were moved. */
static enum err tell(struct saved_chat *s, const char *label, size_t bytes)
{
    s->done += bytes;
    if (s->progress == NULL || s->progress(s->context, label, s->done, s->total)) {
        return ERR_OK;
    }
    format_text(s->error_message, sizeof s->error_message, "%s", err_text(ERR_ABORTED));
    return ERR_ABORTED;
}

/* ---- checking ------------------------------------------------------------------------------- */

/* Check for offsets beyond the text, which a payload with a right CRC cannot have. */
static bool turns_are_sound(const struct saved_chat_header *h, const struct turn *list)
{
    uint32_t at = 0, text = 0;

    for (uint32_t i = 0; i < h->n_turns; i++) {
        const struct turn *t = &list[i];

        /* Turns follow each other, in tokens and in the text. */
        if (t->start < at || t->reply < t->start || t->reply > h->n_ids || t->text != text ||
            t->bytes > h->text_bytes - text) {
            return false;
        }
        at = t->reply;
        text += t->bytes;
    }
    return text == h->text_bytes;
}

/* Check the ids among the n bytes from byte `at` of the payload on. */
static void look_at_ids(struct saved_chat_contents *c, uint64_t at, const uint8_t *bytes, size_t n)
{
    const struct saved_chat_header *h = c->header;
    uint64_t first = h->n_turns * sizeof(struct turn) + h->text_bytes;
    uint64_t end = min_u64(first + (uint64_t)h->n_ids * sizeof c->id, at + n);

    for (uint64_t i = at > first ? at : first; i < end; i++) {
        /* An id may begin in one buffer and end in the next: its low bytes are kept in c->id. */
        unsigned shift = (unsigned)((i - first) % sizeof c->id) * 8;

        c->id = (shift == 0 ? 0 : c->id) | (uint32_t)bytes[i - at] << shift;
        c->wrong = c->wrong || (shift == 24 && c->id >= c->vocab);
    }
}

_Static_assert(TURNS_MOST * sizeof(struct turn) <= SAVED_CHAT_BUFFER_BYTES,
               "the turns are in the first bufferful");

static void look_at(struct saved_chat_contents *c, uint64_t at, const uint8_t *bytes, size_t n)
{
    if (at == 0) {
        c->wrong = !turns_are_sound(c->header, (const void *)bytes);
    }
    look_at_ids(c, at, bytes, n);
}

struct check {
    struct saved_chat *s;
    const char *label;
    struct saved_chat_contents *contents;
};

static enum err look_at_buffer(void *context, uint64_t at, const uint8_t *bytes, size_t n)
{
    struct check *c = context;
    enum err e = tell(c->s, c->label, (size_t)halves_to_sectors(n));

    if (e == ERR_OK && c->contents != NULL) {
        look_at(c->contents, at, bytes, n);
    }
    return e;
}

enum err saved_chat_check(struct saved_chat *s, unsigned half, const struct saved_chat_header *h,
                          const char *label, struct saved_chat_contents *contents)
{
    struct check check = { s, label, contents };
    uint32_t crc;
    enum err e = halves_pass(&s->halves, half, h->payload_bytes, look_at_buffer, &check, &crc);

    return e == ERR_OK ? err_unless(crc == h->payload_crc, ERR_BAD_CHECKSUM) : e;
}

/* ---- moving --------------------------------------------------------------------------------- */

static enum err move_buffer(struct transfer *t)
{
    struct saved_chat *s = t->s;
    size_t bytes = (size_t)min_u64(t->end - t->at, sizeof s->buffer);
    enum err e;

    if (t->writes) {
        bytes = (size_t)halves_to_sectors(t->n);
        e = halves_write_buffer(&s->halves, t->at, bytes);
    } else if (bytes == 0) { /* the payload's counts need more bytes than it has */
        return ERR_BAD_MODEL;
    } else {
        e = halves_read_buffer(&s->halves, t->at, bytes);
    }
    t->at += bytes;
    t->n = 0;
    t->filled = bytes;
    if (e != ERR_OK) {
        return e;
    }
    return tell(s, t->writes ? "saving" : "loading", bytes);
}

/* Move bytes of memory to the file, or from it. */
static enum err move(void *transfer, void *memory, size_t bytes)
{
    struct transfer *t = transfer;
    uint8_t *from = memory;

    while (bytes > 0) {
        size_t n = min_size(bytes, (t->writes ? sizeof t->s->buffer : t->filled) - t->n);
        uint8_t *place = t->s->buffer + t->n;

        /* The buffer is full (writing) or empty (reading): move it. */
        if (n == 0) {
            enum err e = move_buffer(t);

            if (e != ERR_OK) {
                return e;
            }
            continue;
        }
        if (t->writes) {
            memcpy(place, from, n);
        } else {
            memcpy(from, place, n);
        }
        /* The CRC is of the payload's bytes in order, for reading and writing. */
        t->crc = crc32c(t->crc, place, n);
        t->n += n;
        from += n;
        bytes -= n;
    }
    return ERR_OK;
}

static enum err move_session(struct transfer *t, const struct saved_chat_state *state,
                             const struct saved_chat_header *h)
{
    struct saved_chat *s = t->s;
    struct layer_state_io io = { move, t, !t->writes, false };
    enum err e;

    s->error_message[0] = '\0';
    e = session_move(state->session, h->n_ids, h->n_cached, &io);
    if (e != ERR_OK && s->error_message[0] == '\0') {
        format_text(s->error_message, sizeof s->error_message, "%s", state->session->error_message);
    }
    return e;
}

static enum err move_conversation(struct transfer *t, const struct saved_chat_state *state,
                                  const struct saved_chat_header *h)
{
    struct turns *turns = state->turns;
    enum err e = move(t, turns->list, h->n_turns * sizeof turns->list[0]);

    if (e == ERR_OK) {
        e = move(t, turns->text, h->text_bytes);
    }
    if (e != ERR_OK) {
        return e;
    }
    return move_session(t, state, h);
}

enum err saved_chat_move_payload(struct saved_chat *s, unsigned half,
                                 const struct saved_chat_state *state,
                                 const struct saved_chat_header *h, bool writes, uint32_t *crc)
{
    struct transfer t = { .s = s, .writes = writes, .at = payload_at(s, half) };
    enum err e;

    t.end = t.at + halves_to_sectors(h->payload_bytes);
    if (state->kind == SAVED_SECTION) {
        e = state->section->move_all(state->data, !writes, move, &t);
    } else {
        e = move_conversation(&t, state, h);
    }
    /* The rest of the last sector is filled with zeros. */
    if (e == ERR_OK && writes && t.n > 0) {
        memset(s->buffer + t.n, 0, (size_t)halves_to_sectors(t.n) - t.n);
        e = move_buffer(&t);
    }
    *crc = t.crc;
    return e;
}
