/* In the table per layer a token reads only its rows, a few thousand bytes of gigabytes. The reads
 * of a pass are sent before the first row is needed, and the latest rows are kept. Each row has its
 * checksum in the image, so that loading need not read the table. */
#include "board/min_max.h"
#include "runtime/base/crc32c.h"
#include "runtime/stream/stream_private.h"

/* Return the file offset of the whole sectors that hold a token's rows. The rows begin *skip bytes
 * later. */
static uint64_t range_of(const struct stream *s, uint32_t token, size_t *skip, size_t *bytes)
{
    uint64_t first = image_table_row(s->image, token, bytes);
    uint64_t offset = first / SECTOR_BYTES * SECTOR_BYTES;

    *skip = (size_t)(first - offset);
    return offset;
}

static uint32_t segment_of(const struct stream *s)
{
    return image_tensor(s->image, INGOT_PER_LAYER_EMBEDDING, INGOT_NO_LAYER)->segment;
}

static struct stream_table_slot *find_slot(struct stream *s, uint32_t token)
{
    for (uint32_t i = 0; i < s->plan->table.n; i++) {
        struct stream_table_slot *slot = &s->table.slots[i];

        if (slot->state != STREAM_TABLE_EMPTY && slot->token == token) {
            return slot;
        }
    }
    return NULL;
}

/* Return the slot to use next, empty or least recently requested, or NULL if all are in flight. */
static struct stream_table_slot *oldest_slot(struct stream *s)
{
    struct stream_table_slot *oldest = NULL;

    for (uint32_t i = 0; i < s->plan->table.n; i++) {
        struct stream_table_slot *slot = &s->table.slots[i];

        if (slot->state == STREAM_TABLE_EMPTY) {
            return slot;
        }
        /* Compare ages, so that a clock that wraps does no harm. */
        if (slot->state == STREAM_TABLE_READY &&
            (oldest == NULL || s->table.clock - slot->used > s->table.clock - oldest->used)) {
            oldest = slot;
        }
    }
    return oldest;
}

/* Request a token's rows. Return false if there is no slot yet. */
static bool ask(struct stream *s, uint32_t token)
{
    struct stream_table_slot *slot = find_slot(s, token);
    size_t skip, bytes;

    if (slot == NULL) {
        slot = oldest_slot(s);
        if (slot == NULL) {
            return false;
        }
        slot->state = STREAM_TABLE_ARRIVING;
        slot->token = token;
        (void)file_read_start(&slot->read, s->file, range_of(s, token, &skip, &bytes), slot->buffer,
                              s->plan->table.bytes); /* the poll reports an error */
    }
    slot->used = ++s->table.clock;
    return true;
}

/* Request the rows of tokens i and later, but no more than there are slots, because requested rows
 * stay until they are taken. */
static void ask_ahead(struct stream *s, uint32_t i)
{
    struct stream_table *t = &s->table;

    while (t->asked < t->n && t->asked - i < s->plan->table.n && ask(s, t->tokens[t->asked])) {
        t->asked++;
    }
}

void stream_table_ask(struct stream *s, const uint32_t *tokens, uint32_t n)
{
    s->table.tokens = tokens;
    s->table.n = n;
    s->table.asked = 0;
    if (s->segments[segment_of(s)] == NULL) {
        ask_ahead(s, 0);
    }
}

/* Poll all reads, even those of segments. */
static void poll_slots(struct stream *s)
{
    for (uint32_t i = 0; i < s->plan->table.n; i++) {
        if (s->table.slots[i].state == STREAM_TABLE_ARRIVING) {
            (void)file_read_poll(&s->table.slots[i].read);
        }
    }
    stream_pump(s);
}

/* Check a slot's rows after they have arrived, and read them again if they are wrong. */
static enum err check_rows(struct stream *s, struct stream_table_slot *slot)
{
    size_t skip, bytes;
    uint64_t offset = range_of(s, slot->token, &skip, &bytes);
    enum err e = slot->read.status;

    for (int tries = 0; e == ERR_OK; tries++) {
        s->stats.retries += slot->read.n_retries;
        s->stats.bytes_streamed += s->plan->table.bytes;
        if (crc32c(0, slot->buffer + skip, bytes) == image_table_crc(s->image, slot->token)) {
            slot->state = STREAM_TABLE_READY;
            return ERR_OK;
        }
        /* If reading again does not help, the rows are wrong on the card itself. */
        if (tries == STREAM_REREADS) {
            e = ERR_BAD_CHECKSUM;
            return stream_name_error_message(s, segment_of(s), NULL, e);
        }
        s->stats.reread++;
        e = file_read_now(&slot->read, s->file, offset, slot->buffer, s->plan->table.bytes);
    }
    return stream_name_error_message(s, segment_of(s), &slot->read, e);
}

enum err stream_table_rows(struct stream *s, uint32_t i, const uint8_t **rows)
{
    uint32_t token = s->table.tokens[i];
    struct stream_table_slot *slot;
    size_t skip, bytes;
    enum err e;

    if (s->segments[segment_of(s)] != NULL) { /* in place */
        const struct ingot_tensor *t = image_tensor(s->image, INGOT_PER_LAYER_EMBEDDING,
                                                    INGOT_NO_LAYER);

        (void)image_table_row(s->image, 0, &bytes);
        *rows = s->segments[segment_of(s)] + t->offset + token * (uint64_t)bytes;
        return ERR_OK;
    }
    /* Request later tokens before waiting for this one. */
    ask_ahead(s, i);
    slot = find_slot(s, token);
    while (slot->state == STREAM_TABLE_ARRIVING && slot->read.status == ERR_BUSY) {
        poll_slots(s);
    }
    if (slot->state == STREAM_TABLE_ARRIVING) {
        e = check_rows(s, slot);
        if (e != ERR_OK) {
            stream_reset(s);
            return e;
        }
    }
    /* The rows begin somewhere in their first sector. */
    (void)range_of(s, token, &skip, &bytes);
    *rows = slot->buffer + skip;
    return ERR_OK;
}

void stream_table_reset(struct stream *s)
{
    for (uint32_t i = 0; i < s->plan->table.n; i++) {
        struct stream_table_slot *slot = &s->table.slots[i];

        /* The device writes the buffer until the read ends. */
        while (slot->state == STREAM_TABLE_ARRIVING && slot->read.status == ERR_BUSY) {
            (void)file_read_poll(&slot->read);
        }
        slot->state = STREAM_TABLE_EMPTY;
    }
}
