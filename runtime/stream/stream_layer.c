/* Waits for layers in order, checks them, and frees their slots. */
#include <assert.h>

#include "board/min_max.h"
#include "runtime/compute/workers_crc32c.h"
#include "runtime/stream/stream_private.h"

enum { WORKERS_STEP = 1024 * 1024 }; /* number of bytes that the workers check between two polls */

/* Check the bytes that core 0 had no time to check. */
static void check_rest(struct stream *s, struct stream_slot *slot)
{
    while (slot->crc_bytes < slot->read.bytes) {
        uint64_t n = min_u64(slot->read.bytes - slot->crc_bytes, WORKERS_STEP);

        slot->crc = workers_crc32c(s->workers, slot->crc, slot->buffer + slot->crc_bytes,
                                   (size_t)n);
        slot->crc_bytes += n;
        stream_poll(s);
    }
}

/* Check a layer. Reading again repairs a bit that flipped in the transfer, but not a bit on the
 * card. */
static enum err check_layer(struct stream *s, struct stream_slot *slot, unsigned segment)
{
    for (int tries = 0;; tries++) {
        s->stats.retries += slot->read.n_retries;
        if (slot->read.status != ERR_OK) {
            return slot->read.status;
        }
        /* All cores sum the bytes that the polls have not summed yet. */
        check_rest(s, slot);
        if (image_check_segment(s->image, segment, stream_layer_crc(s, segment, slot->crc)) ==
            ERR_OK) {
            slot->checked = true;
            return ERR_OK;
        }
        if (tries == STREAM_REREADS) {
            return ERR_BAD_CHECKSUM;
        }
        s->stats.reread++;
        stream_start_read(s, slot);
        while (file_read_poll(&slot->read) == ERR_BUSY) {
        }
    }
}

static struct stream_slot *slot_of_layer(struct stream *s, uint32_t layer)
{
    struct stream_slot *slot;
    uint32_t index = 0;

    while (s->ring.layers[index] != layer) {
        index++;
    }
    slot = stream_slot_of(s, index);
    assert(slot != NULL);
    return slot;
}

enum err stream_layer(struct stream *s, uint32_t layer, uint64_t first, const uint8_t **segment)
{
    uint32_t i = image_layer_segment(s->image, layer);
    struct stream_slot *slot;
    enum err e;

    if (s->segments[i] != NULL) {
        *segment = s->segments[i];
        return ERR_OK;
    }
    /* Wait until enough bytes are there to begin; stream_need waits for the rest. */
    slot = slot_of_layer(s, layer);
    e = stream_wait_arrival(s, slot, min_u64(first, stream_segment_bytes(s, i)));
    slot->state = STREAM_IN_USE;
    s->now.early = slot;
    /* If all of the layer has arrived, check it now, so that no result has to be undone later. */
    if (e == ERR_OK && slot->read.status == ERR_OK) {
        e = check_layer(s, slot, i);
        s->now.early = NULL;
    }
    if (e != ERR_OK) {
        return stream_fail(s, i, slot, e);
    }
    *segment = slot->buffer;
    return ERR_OK;
}

void stream_need(struct stream *s, unsigned phase, uint64_t bytes)
{
    if (s->now.early != NULL && s->now.failure == ERR_OK) {
        s->now.failure = stream_wait_arrival(s, s->now.early,
                                             min_u64(bytes, s->now.early->read.bytes));
        s->now.missing[phase] = s->now.failure != ERR_OK;
    }
}

enum err stream_layer_check(struct stream *s, uint32_t layer, bool *again)
{
    uint32_t segment = image_layer_segment(s->image, layer);
    struct stream_slot *slot = s->now.early;
    uint64_t reread = s->stats.reread;
    enum err e = s->now.failure;

    *again = false;
    if (s->experts.failure != ERR_OK) { /* stream_name_expert has set the error message */
        e = s->experts.failure;
        stream_reset(s);
        return e;
    }
    /* Without `early` the layer was checked before it was used. */
    if (slot == NULL) {
        return ERR_OK;
    }
    if (e == ERR_OK) {
        e = stream_wait_arrival(s, slot, slot->read.bytes);
    }
    if (e == ERR_OK) {
        e = check_layer(s, slot, segment);
    }
    /* The layer's bytes were used before they were checked. If they were read again, the layer must
     * be computed again. */
    s->now.early = NULL;
    if (e != ERR_OK) {
        return stream_fail(s, segment, slot, e);
    }
    *again = s->stats.reread != reread;
    return ERR_OK;
}

void stream_layer_done(struct stream *s, uint32_t layer)
{
    if (s->segments[image_layer_segment(s->image, layer)] == NULL) {
        stream_give_back(s, slot_of_layer(s, layer));
    }
}
