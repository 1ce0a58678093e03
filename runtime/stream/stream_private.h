/* Shared by the files of the stream and by kv_pages.c alone. stream.c is the ring;
 * stream_layer.c, stream_head.c, stream_rows.c, stream_load.c and kv_pages.c call it, and
 * stream_problem.c puts errors into sentences. */
#ifndef INGOT_RUNTIME_STREAM_PRIVATE_H
#define INGOT_RUNTIME_STREAM_PRIVATE_H

#include "runtime/compute/workers.h"
#include "runtime/stream/stream.h"

enum { STREAM_REREADS = 3 }; /* after a wrong checksum, before it is an error */

/* "NAME: PART, sector 1234 of DEVICE: the device failed ..." into s->problem; returns e.
 * read may be NULL. */
enum err stream_name_part(struct stream *s, const struct file *file, const char *part,
                          const struct file_read *read, enum err e, const char *why);

/* The same of a segment of the model. */
enum err stream_name_problem(struct stream *s, unsigned segment, const struct file_read *read,
                             enum err e);

/* The time by the clock of the file's device, in which stats->stall_ticks and busy_ticks count;
 * 0: it has none. */
static inline uint64_t stream_ticks(const struct stream *s)
{
    const struct platform *platform = s->file->timeout.platform;

    if (platform == NULL) {
        return 0;
    }
    return platform_ticks(&platform->clock);
}

/* A poll while all cores wait. */
void stream_pump(struct stream *s);

/* The slot that holds segment `index` of this pass, or will; NULL: none. */
struct stream_slot *stream_slot_of(struct stream *s, uint32_t index);

/* Read the slot's segment, from its beginning. A refusal stays in the read's status and is seen
 * when the segment is wanted. */
void stream_start_read(const struct stream *s, struct stream_slot *slot);

/* Wait for the first `bytes` of the slot's transfer. Its error, if any, is the read's. */
enum err stream_wait_arrival(struct stream *s, struct stream_slot *slot, uint64_t bytes);

/* Put the error of a segment into a sentence and give up the pass; returns e. */
enum err stream_fail(struct stream *s, unsigned segment, struct stream_slot *slot, enum err e);

/* The slot's segment is used: another may have the slot. */
void stream_give_back(struct stream *s, struct stream_slot *slot);

/* Empty the slots, and ask for this pass's segments from number `index` on. */
void stream_read_again(struct stream *s, uint32_t index);

/* Wait for the table's reads in flight and forget all rows. */
void stream_table_reset(struct stream *s);

/* The checksum of the head's tiles begins. */
static inline void stream_begin_tiles(struct stream *s)
{
    s->tiles.crc = s->tiles.crc_before;
    s->tiles.crc_end = s->plan->head.base;
}

#endif
