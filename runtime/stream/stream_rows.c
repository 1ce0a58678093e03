/* Reads and checks rows of an embedding that is not in memory, for each token. The latest rows are
 * kept. */
#include "runtime/base/crc32c.h"
#include "runtime/stream/stream_private.h"

/* Read [offset, offset + bytes) to `at`. Group number `group` begins at `at` + skip. */
static enum err read_row(struct stream *s, uint64_t offset, size_t bytes, uint8_t *at,
                         uint32_t group, size_t skip)
{
    struct file_read read;
    enum err e;

    for (int tries = 0; tries <= STREAM_REREADS; tries++) {
        s->stats.reread += tries != 0;
        e = file_read_now(&read, s->file, offset, at, bytes);
        s->stats.retries += read.n_retries;
        if (e != ERR_OK) {
            return stream_name_error_message(s, image_embedding_segment(s->image), &read, e);
        }
        if (crc32c(0, at + skip, plan_row_group_bytes(s->image)) == s->rows.sums[group]) {
            return ERR_OK;
        }
    }
    return stream_name_error_message(s, image_embedding_segment(s->image), NULL, ERR_BAD_CHECKSUM);
}

/* Find group number `group` in memory, or read it. The group begins `skip` bytes after `offset` of
 * the file. If the result is NULL, *e is the error. */
static const uint8_t *find_row(struct stream *s, uint64_t offset, size_t bytes, uint32_t group,
                               size_t skip, enum err *e)
{
    uint8_t *at;

    for (uint32_t i = 0; i < s->plan->rows.n; i++) {
        if (s->rows.offsets[i] == offset + skip) {
            s->stats.rows_kept++;
            return s->rows.memory + i * bytes;
        }
    }
    /* Replace the oldest group, whose offset is not valid during the read. */
    at = s->rows.memory + s->rows.next * bytes;
    s->rows.offsets[s->rows.next] = 0;
    *e = read_row(s, offset, bytes, at, group, skip);
    if (*e != ERR_OK) {
        stream_reset(s);
        return NULL;
    }
    s->stats.rows_read++;
    s->rows.offsets[s->rows.next] = offset + skip;
    s->rows.next = (s->rows.next + 1) % s->plan->rows.n;
    return at;
}

enum err stream_embedding(struct stream *s, uint32_t token, const uint8_t **group, uint32_t *row)
{
    const struct ingot_tensor *t = image_tensor(s->image, INGOT_TOKEN_EMBEDDING, INGOT_NO_LAYER);
    uint64_t first = t->offset +
                     token / t->interleave *
                         (image_type_row_bytes(t->type, t->cols_padded) * (uint64_t)t->interleave);
    const uint8_t *at;
    uint64_t offset;
    size_t bytes, skip;
    enum err e = ERR_OK;

    *row = token % t->interleave;
    /* If the whole embedding is in memory, use it. */
    if (s->segments[t->segment] != NULL) {
        *group = s->segments[t->segment] + first;
        return ERR_OK;
    }
    /* If the head is tied and has this row in memory, use it. */
    if (t->segment == stream_tiles_segment(s) && token < s->plan->head.first_row) {
        s->stats.rows_kept++;
        *group = s->head + first;
        return ERR_OK;
    }
    /* Otherwise read from the card, in whole sectors around the group. */
    plan_embedding_range(s->image, token, &offset, &bytes);
    skip = (size_t)(s->image->segments[t->segment].offset + first - offset);
    at = find_row(s, offset, bytes, token / t->interleave, skip, &e);
    if (at == NULL) {
        return e;
    }
    *group = at + skip;
    return ERR_OK;
}
