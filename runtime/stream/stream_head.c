/* Gets the tiles of a head in order, and checks their common checksum. */
#include <assert.h>

#include "runtime/compute/workers_crc32c.h"
#include "runtime/stream/stream_private.h"

const uint8_t *stream_head_row(const struct stream *s, uint32_t row)
{
    const struct plan_head *head = &s->plan->head;

    return s->head + image_tensor(s->image, INGOT_OUTPUT, INGOT_NO_LAYER)->offset +
           row / head->group_rows * head->group_bytes;
}

enum err stream_tile(struct stream *s, uint32_t i, struct plan_tile *tile, const uint8_t **rows)
{
    struct stream_slot *slot = stream_slot_of(s, s->ring.n_layers + i);
    uint64_t end;
    enum err e;

    assert(slot != NULL);
    plan_head_tile(s->plan, s->image, i, tile);
    e = stream_wait_arrival(s, slot, tile->bytes);
    slot->state = STREAM_IN_USE;
    s->stats.retries += slot->read.n_retries;
    if (e != ERR_OK) {
        return stream_fail(s, stream_tiles_segment(s), slot, e);
    }
    end = tile->offset + tile->bytes;
    if (i + 1 == s->plan->head.n_tiles) {
        end = s->plan->head.end;
    }
    s->tiles.crc = workers_crc32c(s->workers, s->tiles.crc,
                                  slot->buffer + (s->tiles.crc_end - tile->offset),
                                  (size_t)(end - s->tiles.crc_end));
    s->tiles.crc_end = end;
    *rows = slot->buffer + tile->skip;
    return ERR_OK;
}

void stream_tile_done(struct stream *s, uint32_t i)
{
    stream_give_back(s, stream_slot_of(s, s->ring.n_layers + i));
}

enum err stream_head_check(struct stream *s, bool *again)
{
    enum err e = image_check_segment(s->image, stream_tiles_segment(s), s->tiles.crc);

    *again = e != ERR_OK && s->tiles.again < STREAM_REREADS;
    if (*again) {
        s->tiles.again++;
        s->stats.reread++;
        stream_begin_tiles(s);
        stream_read_again(s, s->ring.n_layers);
        return ERR_OK;
    }
    if (e != ERR_OK) {
        (void)stream_name_error_message(s, stream_tiles_segment(s), NULL, e);
        stream_reset(s);
    }
    return e;
}
