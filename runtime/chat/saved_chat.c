#include "runtime/chat/saved_chat.h"

#include <string.h>

#include "runtime/base/crc32c.h"
#include "runtime/text/format_text.h"

enum { SAVED_CHAT_VERSION = 3 };

static const char magic[8] = "INGOTSAV";

/* Bytes on their way between memory and one half of the file, a bufferful at a time. */
struct transfer {
    struct saved_chat *s;
    uint64_t at, end; /* file offsets: of the next bufferful, of the payload's last sector */
    size_t n;         /* bytes in the buffer; when reading: taken of it */
    size_t filled;    /* when reading: bytes in the buffer */
    uint32_t crc;
    bool writes, keeps; /* keeps false: read for the CRC alone */
    saved_chat_progress_fn *progress;
    void *context;
    uint64_t start;          /* of the payload */
    unsigned pass, n_passes; /* of n over all of it: the progress tells of them together */
};

static uint64_t to_sectors(uint64_t bytes)
{
    return (bytes + SECTOR_BYTES - 1) / SECTOR_BYTES * SECTOR_BYTES;
}

/* Of what h describes. */
static uint64_t payload_bytes(const struct saved_chat_state *state,
                              const struct saved_chat_header *h)
{
    return (uint64_t)h->n_turns * sizeof(struct turn) + h->text_bytes +
           session_move_bytes(state->session, h->n_ids, h->n_cached);
}

static uint64_t half_bytes(const struct file *file)
{
    return file->bytes / 2 / SECTOR_BYTES * SECTOR_BYTES;
}

/* All but what the payload's bytes say and the file's past. */
static void describe(const struct saved_chat_state *state, struct saved_chat_header *h)
{
    memset(h, 0, sizeof *h);
    memcpy(h->magic, magic, sizeof magic);
    h->version = SAVED_CHAT_VERSION;
    h->model_crc = state->session->model->image.header->header_crc32c;
    h->kv_type = state->session->kv.type;
    h->n_cached = state->session->n_cached;
    h->n_ids = state->session->n_ids;
    h->reply_start = state->reply_start;
    h->started = state->started;
    h->n_turns = state->turns->n;
    h->text_bytes = state->turns->text_bytes;
    h->payload_bytes = payload_bytes(state, h);
}

uint64_t saved_chat_bytes(const struct saved_chat_state *state)
{
    struct saved_chat_header h;

    describe(state, &h);
    return 2 * (SECTOR_BYTES + to_sectors(h.payload_bytes));
}

uint64_t saved_chat_most_bytes(const struct saved_chat_state *state)
{
    uint32_t context = state->session->context;
    struct saved_chat_header h = {
        .n_cached = context, .n_ids = context, .n_turns = TURNS_MOST, .text_bytes = TURNS_TEXT_BYTES
    };

    return 2 * (SECTOR_BYTES + to_sectors(payload_bytes(state, &h)));
}

static enum err io_problem(struct saved_chat *s, enum err e, bool writes)
{
    if (e != ERR_OK) {
        format_text(s->problem, sizeof s->problem, "%s: cannot %s at sector %llu of %s: %s",
                    s->file->name, writes ? "write" : "read",
                    (unsigned long long)s->io.failed_sector, s->file->device->name, err_text(e));
    }
    return e;
}

static enum err move_buffer(struct transfer *t)
{
    struct saved_chat *s = t->s;
    uint64_t left = t->end - t->at;
    size_t bytes = t->writes                 ? (size_t)to_sectors(t->n)
                   : left < sizeof s->buffer ? (size_t)left
                                             : sizeof s->buffer;
    enum err e = t->writes ? file_write_now(&s->io, s->file, t->at, s->buffer, bytes)
                           : file_read_now(&s->io, s->file, t->at, s->buffer, bytes);

    t->at += bytes;
    t->n = 0;
    t->filled = bytes;
    if (e == ERR_OK && t->progress != NULL &&
        !t->progress(t->context, t->writes ? "saving" : "loading",
                     t->at - t->start + t->pass * (t->end - t->start),
                     t->n_passes * (t->end - t->start))) {
        format_text(s->problem, sizeof s->problem, "%s", err_text(ERR_ABORTED));
        return ERR_ABORTED;
    }
    return io_problem(s, e, t->writes);
}

/* Pass bytes of memory on to the file, or the other way round. */
static enum err move(void *transfer, void *memory, size_t bytes)
{
    struct transfer *t = transfer;
    uint8_t *from = memory;

    while (bytes > 0) {
        size_t room = (t->writes ? sizeof t->s->buffer : t->filled) - t->n;
        size_t n = bytes < room ? bytes : room;
        uint8_t *place = t->s->buffer + t->n;

        if (n == 0) {
            enum err e = move_buffer(t);

            if (e != ERR_OK) {
                return e;
            }
            continue;
        }
        if (t->writes) {
            memcpy(place, from, n);
        } else if (t->keeps) {
            memcpy(from, place, n);
        }
        t->crc = crc32c(t->crc, place, n);
        t->n += n;
        from += n;
        bytes -= n;
    }
    return ERR_OK;
}

/* What is only read through for its CRC leaves the session alone. */
static enum err move_session(struct transfer *t, const struct saved_chat_state *state,
                             const struct saved_chat_header *h)
{
    struct layer_state_io io = { move, t, !t->writes, !t->writes && !t->keeps };
    enum err e;

    t->s->problem[0] = '\0';
    e = session_move(state->session, h->n_ids, h->n_cached, &io);
    if (e != ERR_OK && t->s->problem[0] == '\0') {
        format_text(t->s->problem, sizeof t->s->problem, "%s", state->session->problem);
    }
    return e;
}

static enum err move_payload(struct transfer *t, const struct saved_chat_state *state,
                             const struct saved_chat_header *h)
{
    struct turns *turns = state->turns;
    enum err e = move(t, turns->list, h->n_turns * sizeof turns->list[0]);

    if (e == ERR_OK) {
        e = move(t, turns->text, h->text_bytes);
    }
    if (e == ERR_OK) {
        e = move_session(t, state, h);
    }
    if (e == ERR_OK && t->writes && t->n > 0) {
        memset(t->s->buffer + t->n, 0, (size_t)to_sectors(t->n) - t->n);
        e = move_buffer(t);
    }
    return e;
}

/* ---- headers ---- */

static uint32_t header_crc(const struct saved_chat_header *h)
{
    struct saved_chat_header copy = *h;

    copy.header_crc = 0;
    return crc32c(0, &copy, sizeof copy);
}

/* Read the header of a half; false: none that is whole. */
static bool read_header(struct saved_chat *s, unsigned half, struct saved_chat_header *h,
                        enum err *e)
{
    uint64_t room = half_bytes(s->file);

    *e = ERR_OK;
    if (room < 2 * SECTOR_BYTES) {
        return false;
    }
    *e = io_problem(s, file_read_now(&s->io, s->file, half * room, &s->header, SECTOR_BYTES),
                    false);
    if (*e != ERR_OK) {
        return false;
    }
    *h = s->header;
    return memcmp(h->magic, magic, sizeof magic) == 0 && h->header_crc == header_crc(h) &&
           h->payload_bytes <= room - SECTOR_BYTES;
}

/* The sequence numbers of both halves, 0 where there is no header. */
static enum err read_headers(struct saved_chat *s, struct saved_chat_header h[2], bool valid[2])
{
    for (unsigned half = 0; half < 2; half++) {
        enum err e;

        valid[half] = read_header(s, half, &h[half], &e);
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

static struct transfer transfer_of(struct saved_chat *s, unsigned half, uint64_t bytes, bool writes)
{
    struct transfer t = { .s = s, .writes = writes, .keeps = true, .n_passes = 1 };

    t.at = half * half_bytes(s->file) + SECTOR_BYTES;
    t.start = t.at;
    t.end = t.at + to_sectors(bytes);
    return t;
}

/* ---- saving ---- */

static enum err check_room(struct saved_chat *s, const struct saved_chat_state *state)
{
    char needed[FORMAT_NUMBER_BYTES], room[FORMAT_NUMBER_BYTES];
    uint64_t bytes = saved_chat_bytes(state);

    if (!s->file->device->writable) {
        format_text(s->problem, sizeof s->problem,
                    "%s takes no writes: a conversation is saved on "
                    "a card",
                    s->file->device->name);
        return ERR_UNSUPPORTED;
    }
    if (bytes / 2 > half_bytes(s->file)) {
        format_text(s->problem, sizeof s->problem,
                    "the conversation needs %s and %s has %s: make "
                    "the card with a larger SAVE=",
                    format_bytes(needed, bytes), s->file->name, format_bytes(room, s->file->bytes));
        return ERR_NO_SPACE;
    }
    return ERR_OK;
}

static enum err write_header(struct saved_chat *s, unsigned half, const struct saved_chat_header *h)
{
    s->header = *h;
    s->header.header_crc = header_crc(&s->header);
    return io_problem(s,
                      file_write_now(&s->io, s->file, half * half_bytes(s->file), &s->header,
                                     SECTOR_BYTES),
                      true);
}

enum err saved_chat_write(struct saved_chat *s, const struct file *file,
                          const struct saved_chat_state *state, saved_chat_progress_fn *progress,
                          void *context)
{
    struct saved_chat_header new, h[2];
    bool valid[2];
    unsigned newest;
    struct transfer t;
    enum err e;

    s->file = file;
    e = check_room(s, state);
    if (e == ERR_OK) {
        e = read_headers(s, h, valid);
    }
    if (e != ERR_OK) {
        return e;
    }
    newest = valid[1] && (!valid[0] || h[1].sequence > h[0].sequence) ? 1 : 0;
    describe(state, &new);
    t = transfer_of(s, 1 - newest, new.payload_bytes, true);
    t.progress = progress;
    t.context = context;
    e = move_payload(&t, state, &new);
    if (e != ERR_OK) {
        return e;
    }
    new.payload_crc = t.crc;
    new.sequence = valid[newest] ? h[newest].sequence + 1 : 1;
    return write_header(s, 1 - newest, &new);
}

/* ---- loading ---- */

static enum err contradiction(struct saved_chat *s)
{
    format_text(s->problem, sizeof s->problem, "%s contradicts itself: save anew", s->file->name);
    return ERR_BAD_MODEL;
}

/* Whether the state can take what the header describes. */
static enum err check_fit(struct saved_chat *s, const struct saved_chat_header *h,
                          const struct saved_chat_state *state)
{
    const struct session *session = state->session;
    char *problem = s->problem;
    size_t room = sizeof s->problem;

    if (h->version != SAVED_CHAT_VERSION) {
        format_text(problem, room, "%s was written by another version of Ingot (%u): save anew",
                    s->file->name, (unsigned)h->version);
        return ERR_BAD_MODEL;
    }
    if (h->model_crc != session->model->image.header->header_crc32c) {
        format_text(problem, room, "%s belongs to another model: /model NAME loads it",
                    s->file->name);
        return ERR_BAD_MODEL;
    }
    if (h->kv_type != (uint32_t)session->kv.type) {
        format_text(problem, room, "%s was saved with kv=%s: start with that", s->file->name,
                    kv_type_name((enum kv_type)h->kv_type));
        return ERR_BAD_MODEL;
    }
    if (h->n_ids > session->context) {
        format_text(problem, room,
                    "%s has %u tokens and the context %u: start with a larger ctx=", s->file->name,
                    (unsigned)h->n_ids, (unsigned)session->context);
        return ERR_BAD_MODEL;
    }
    if (h->n_cached > h->n_ids || h->reply_start > h->n_ids || h->started > 1 ||
        h->n_turns > TURNS_MOST || h->text_bytes > TURNS_TEXT_BYTES ||
        h->payload_bytes != payload_bytes(state, h)) {
        return contradiction(s);
    }
    return ERR_OK;
}

static enum err read_payload(struct saved_chat *s, unsigned half, const struct saved_chat_header *h,
                             const struct saved_chat_state *state, bool keeps,
                             saved_chat_progress_fn *progress, void *context)
{
    struct transfer t = transfer_of(s, half, h->payload_bytes, false);
    enum err e;

    t.keeps = keeps;
    t.pass = keeps;
    t.n_passes = 2;
    t.progress = progress;
    t.context = context;
    e = move_payload(&t, state, h);
    if (e == ERR_OK && t.crc != h->payload_crc) {
        format_text(s->problem, sizeof s->problem,
                    "%s is damaged: the conversation is lost, save "
                    "a new one",
                    s->file->name);
        return ERR_BAD_CHECKSUM;
    }
    return e;
}

/* What cannot come of a payload whose CRC is right, but would be read beyond the text. */
static bool turns_are_sound(const struct saved_chat_header *h, const struct saved_chat_state *state)
{
    uint32_t at = 0, text = 0;

    for (uint32_t i = 0; i < h->n_turns; i++) {
        const struct turn *t = &state->turns->list[i];

        if (t->start < at || t->reply < t->start || t->reply > h->n_ids || t->text != text ||
            t->bytes > h->text_bytes - text) {
            return false;
        }
        at = t->reply;
        text += t->bytes;
    }
    return text == h->text_bytes;
}

/* Read through for its CRC, then into session and turns. */
static enum err load_half(struct saved_chat *s, unsigned half, const struct saved_chat_header *h,
                          struct saved_chat_state *state, saved_chat_progress_fn *progress,
                          void *context)
{
    enum err e = check_fit(s, h, state);

    if (e == ERR_OK) {
        e = read_payload(s, half, h, state, false, progress, context);
    }
    if (e != ERR_OK) {
        return e;
    }
    state->turns->n = 0;
    state->turns->text_bytes = 0;
    e = read_payload(s, half, h, state, true, progress, context);
    if (e != ERR_OK) {
        return e;
    }
    if (!turns_are_sound(h, state) ||
        session_restore(state->session, h->n_ids, h->n_cached) != ERR_OK) {
        return contradiction(s);
    }
    state->reply_start = h->reply_start;
    state->started = h->started != 0;
    state->turns->n = h->n_turns;
    state->turns->text_bytes = h->text_bytes;
    return ERR_OK;
}

enum err saved_chat_read(struct saved_chat *s, const struct file *file,
                         struct saved_chat_state *state, saved_chat_progress_fn *progress,
                         void *context)
{
    struct saved_chat_header h[2];
    bool valid[2];
    unsigned first;
    enum err e;

    s->file = file;
    e = read_headers(s, h, valid);
    if (e != ERR_OK) {
        return e;
    }
    if (!valid[0] && !valid[1]) {
        format_text(s->problem, sizeof s->problem, "nothing is saved in %s yet: /save does it",
                    file->name);
        return ERR_NOT_FOUND;
    }
    first = valid[1] && (!valid[0] || h[1].sequence > h[0].sequence) ? 1 : 0;
    e = load_half(s, first, &h[first], state, progress, context);
    if (e == ERR_BAD_CHECKSUM && valid[1 - first]) { /* power went while it was being replaced */
        e = load_half(s, 1 - first, &h[1 - first], state, progress, context);
    }
    return e;
}
