/* Shared only by the files of the stream and by kv_pages.c. stream.c is the ring;
 * stream_layer.c, stream_head.c, stream_rows.c, stream_load.c and kv_pages.c call it, and
 * stream_error_message.c puts errors into error messages. */
#ifndef INGOT_RUNTIME_STREAM_PRIVATE_H
#define INGOT_RUNTIME_STREAM_PRIVATE_H

#include "runtime/compute/workers.h"
#include "runtime/stream/stream.h"

enum { STREAM_REREADS = 3 }; /* number of times that bytes are read again after a wrong checksum */

/* Set s->error_message to "NAME: PART, sector 1234 of DEVICE: the device failed ...". Returns e.
 * read may be NULL. */
enum err stream_name_part(struct stream *s, const struct file *file, const char *part,
                          const struct file_read *read, enum err e, const char *why);

/* Set s->error_message for a segment of the model. */
enum err stream_name_error_message(struct stream *s, unsigned segment, const struct file_read *read,
                                   enum err e);

/* Set s->error_message for an expert. */
void stream_name_expert(struct stream *s, uint32_t layer, uint32_t expert,
                        const struct file_read *read, enum err e);

/* Return how many bytes of a segment stay or stream as one part, without experts that are in a
 * cache. */
static inline uint64_t stream_segment_bytes(const struct stream *s, uint32_t segment)
{
    const struct ingot_segment *x = &s->image->segments[segment];

    if (x->kind == INGOT_SEGMENT_LAYER) {
        return plan_layer_bytes(s->image, x->layer, s->plan->experts.n_slots != 0);
    }
    return x->bytes;
}

/* Return the CRC of a whole segment. `crc` is the CRC of its stream_segment_bytes(). */
uint32_t stream_layer_crc(const struct stream *s, uint32_t segment, uint32_t crc);

/* Return the segment of the output matrix, which may pass in tiles. */
static inline uint32_t stream_tiles_segment(const struct stream *s)
{
    return image_tensor(s->image, INGOT_OUTPUT, INGOT_NO_LAYER)->segment;
}

/* stream_experts.c: assign memory to the cache of experts. The arena's region of weights must be
 * reserved. */
void stream_experts_open(struct stream *s, struct arena *arena);

/* Return the experts of a layer. */
static inline struct stream_expert *stream_experts_of(const struct stream *s, uint32_t layer)
{
    return s->experts.all + image_layer(s->image, layer)->first_expert;
}

/* stream_experts_slots.c: find a slot of a layer. With `now` the expert is needed first, so other
 * experts of the list may lose their slots. Returns STREAM_NO_SLOT if none is free. */
uint16_t stream_experts_take_slot(struct stream *s, uint32_t layer, bool now);

/* stream_experts_count.c: count a new list of n_tokens tokens. */
void stream_experts_count(struct stream *s, uint32_t n_tokens);

/* Request expert number i of the list. With `now` this expert is needed first, so another expert
 * may lose its slot. Return false if the expert has to wait. */
bool stream_experts_ask_for(struct stream *s, uint32_t i, bool now);
void stream_experts_poll(struct stream *s, bool checks);
bool stream_experts_arrive(const struct stream *s);
void stream_experts_reset(struct stream *s);

/* Return the time in ticks of the platform's clock, the unit of s->stats.stall_ticks and
 * busy_ticks, or 0 without a clock. */
static inline uint64_t stream_ticks(const struct stream *s)
{
    const struct platform *platform = s->file->timeout.platform;

    if (platform == NULL) {
        return 0;
    }
    return platform_ticks(&platform->clock);
}

/* Call when a read is about to begin, to begin the card's busy time. */
void stream_begin_count(struct stream *s);

/* Poll while all cores wait. */
void stream_pump(struct stream *s);

/* If nothing is left to check, sleep until shortly before the next bytes arrive. */
void stream_rest(struct stream *s);

/* Return the slot that has or will have segment `index` of this pass, or NULL. */
struct stream_slot *stream_slot_of(struct stream *s, uint32_t index);

/* Read the slot's segment, from its beginning. If the device refuses the read, its status says so
 * when the segment is needed. */
void stream_start_read(const struct stream *s, struct stream_slot *slot);

/* Wait for the first `bytes` of the slot's transfer. Return ERR_OK or the read's error. */
enum err stream_wait_arrival(struct stream *s, struct stream_slot *slot, uint64_t bytes);

/* Put the error of a segment into an error message and give up the pass. Returns e. */
enum err stream_fail(struct stream *s, unsigned segment, struct stream_slot *slot, enum err e);

/* Call when the slot's segment was used, to free the slot. */
void stream_give_back(struct stream *s, struct stream_slot *slot);

/* Empty the slots, and request this pass's segments from number `index` on. */
void stream_read_again(struct stream *s, uint32_t index);

/* Wait for the table's reads in flight and forget all rows. */
void stream_table_reset(struct stream *s);

/* Begin the checksum of the head's tiles. */
static inline void stream_begin_tiles(struct stream *s)
{
    s->tiles.crc = s->tiles.crc_before;
    s->tiles.crc_end = s->plan->head.base;
}

#endif
