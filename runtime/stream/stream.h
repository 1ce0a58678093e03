/* Weights on their way. Pinned segments are read once. The others arrive anew for every pass, through
 * a ring of slots: while one computes, DMA fills the next. The transformer asks for each layer in
 * order and never learns where it came from; it may begin with a layer's first phase.
 *
 * Core 0 only. A pass is one run through all layers, and through the head when its logits are
 * wanted. Requests run ahead of it, across its end, to the first layers of the next pass. */
#ifndef INGOT_RUNTIME_STREAM_H
#define INGOT_RUNTIME_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"
#include "runtime/base/arena.h"
#include "runtime/image/image.h"
#include "runtime/storage/io_core.h"
#include "runtime/storage/file.h"
#include "runtime/stream/plan.h"

enum { STREAM_PROBLEM_BYTES = 320 };

struct workers;

/* One segment after the other: a slot is queued until all of the segment before it was asked for. */
enum stream_slot_state { STREAM_EMPTY, STREAM_QUEUED, STREAM_LOADING, STREAM_IN_USE };

/* What a slot holds: segment `index` of pass number `pass`; segments are the streamed layers in
 * order, then the head's tiles. */
struct stream_segment {
    uint32_t pass;
    uint32_t index;
};

struct stream_slot {
    uint8_t *buffer;
    enum stream_slot_state state;
    struct stream_segment segment;
    struct file_read read;
    uint32_t crc; /* of the first crc_bytes of a layer */
    uint64_t crc_bytes;
    bool checked;   /* that CRC was the whole layer's, and right */
    bool stalled;   /* somebody waited for it */
    uint64_t begun; /* of the trace; 0: none, or told */
};

struct stream_stats {
    uint64_t bytes_loaded;   /* pinned, read once */
    uint64_t bytes_streamed; /* by segments that were used: layers and tiles */
    uint64_t rows_read;      /* embedding rows, of plan->rows.bytes each */
    uint64_t rows_kept;      /* and those that needed no reading */
    uint64_t stalls;         /* segments that had not arrived when they were wanted */
    uint64_t first_stalls;   /* of these, the first segment after a start or a failure */
    uint64_t stall_ticks;
    uint64_t busy_ticks; /* with a segment arriving */
    uint64_t arrived;    /* bytes of them meanwhile */
    uint64_t retries;    /* requests repeated after an error of the device */
    uint64_t reread;     /* segments read again because their CRC did not match */
    uint64_t kv_read;    /* bytes of keys and values, where they spill */
    uint64_t kv_written;
};

/* done of total bytes, whenever there is something new to show. False: stop; asked again, it says
 * so again. */
typedef bool stream_progress_fn(void *context, const char *label, uint64_t done, uint64_t total);

/* What passes through the slots, and how far. */
struct stream_ring {
    struct stream_slot slots[PLAN_SLOTS]; /* the first plan->memory.n_slots */
    uint16_t layers[INGOT_MAX_LAYERS];    /* the streamed layers in order */
    uint32_t n_layers;                    /* how many */
    uint32_t pass;                        /* the current one */
    bool want_head;                       /* it ends with the head */
    bool started;                         /* a segment has been used since the start or a failure */
    struct stream_segment next;           /* to be requested */
};

/* The layer in use. */
struct stream_now {
    struct stream_slot *early; /* its slot, while it is not checked; else NULL */
    enum err failure;          /* for core 0 */
    bool missing
        [INGOT_PHASES]; /* this phase of it will not come: for all cores, after a barrier; one
                                  each, as core 0 may be at the next before all have looked */
};

/* Rows of an embedding that is not in memory. */
struct stream_rows {
    uint8_t *memory;                  /* (plan->rows.n, plan->rows.bytes) the latest */
    uint64_t offsets[PLAN_MOST_ROWS]; /* where in the file the group of each begins; 0: none */
    uint32_t next;                    /* the oldest */
    uint32_t *sums;                   /* (plan_row_groups) CRC-32C of each, set by stream_load */
};

/* A head that passes in tiles, and its checksum. */
struct stream_tiles {
    uint32_t crc;        /* of the output matrix's segment so far in this pass */
    uint64_t crc_end;    /* file offset up to which */
    uint32_t crc_before; /* of what precedes the matrix in its segment */
    uint32_t again;      /* times that this pass has read them again */
};

/* When the card was at work, for the stats. */
struct stream_card {
    struct io_core_watch watch;
    uint64_t polled_at; /* ticks, while something arrives; else 0 */
    uint64_t arriving;  /* then: bytes of the segments that arrive, so far */
};

/* Somebody else whose transfers share the device, and who is polled with it. */
struct stream_guest {
    void *context;
    /* Keep them moving. True: something arrives; *bytes grows by what has so far. NULL: no guest. */
    bool (*poll)(void *context, uint64_t *bytes);
    void (*reset)(void *context); /* give up, and wait for what is in flight */
};

struct stream {
    const struct file *file;
    struct image *image;
    const struct plan *plan;
    struct workers *workers;
    const uint8_t *segments[INGOT_MAX_SEGMENTS]; /* where each lies; NULL: streamed */
    const uint8_t *output_norm;                  /* kept apart when the head is tiled */
    struct stream_ring ring;
    struct stream_now now;
    struct stream_rows rows;
    struct stream_tiles tiles;
    struct stream_card card;
    struct stream_guest guest;
    struct stream_stats stats;
    char label[40];                     /* of the progress while loading: "loading layer 3" */
    char problem[STREAM_PROBLEM_BYTES]; /* after an error: file, layer and sector */
};

/* Lay the plan into the arena's regions (weights and io are reserved by the caller). The file,
 * image, plan and workers must outlive the stream. Nothing is read yet. */
void stream_open(struct stream *s, const struct file *file, struct image *image,
                 const struct plan *plan, struct workers *workers, struct arena *arena);

/* Read the pinned segments, or check those used in place, and check every CRC; a streamed
 * embedding is read through once for its CRC. progress may be NULL.
 * ERR_BAD_CHECKSUM, ERR_IO, ERR_TIMEOUT, ERR_RANGE, ERR_ABORTED by progress: see s->problem. */
enum err stream_load(struct stream *s, stream_progress_fn *progress, void *context);

/* Begin a pass. Requests go out at once. */
void stream_begin(struct stream *s, bool want_head);

/* The bytes of a layer's segment; waits for the first `first` of them (UINT64_MAX: for all, and
 * checks them). Give it back with stream_layer_done as soon as it is used, which sends the next
 * request. Errors as stream_load; the stream is then reset and the next pass starts afresh. */
enum err stream_layer(struct stream *s, uint32_t layer, uint64_t first, const uint8_t **segment);
void stream_layer_done(struct stream *s, uint32_t layer);

/* While the layer is in use: wait for its phase number `phase`, which ends `bytes` into its segment. An
 * error sets s->now.missing[phase]; stream_layer_check reports it. */
void stream_need(struct stream *s, unsigned phase, uint64_t bytes);

/* Before stream_layer_done, where the layer was begun before it was whole: check it. *again: the bytes
 * were wrong and were read once more; now they are right, so compute the layer again. Errors as
 * above. */
enum err stream_layer_check(struct stream *s, uint32_t layer, bool *again);

/* Tile number i of a tiled head: *rows points at row tile->first_row. */
enum err stream_tile(struct stream *s, uint32_t i, struct plan_tile *tile, const uint8_t **rows);
void stream_tile_done(struct stream *s, uint32_t i);

/* After the last tile: the checksum of the head. *again: it was wrong, and the tiles come again
 * from the first. */
enum err stream_head_check(struct stream *s, bool *again);

/* The group of rows that holds token's embedding; *row is its row in there. */
enum err stream_embedding(struct stream *s, uint32_t token, const uint8_t **group, uint32_t *row);

/* Take a guest, of whom there is one at most. Between passes. */
void stream_take_guest(struct stream *s, const struct stream_guest *guest);

/* Keep transfers moving; cheap, never waits. */
void stream_poll(struct stream *s);

/* Give up the current pass: waits for transfers in flight, empties the slots. */
void stream_reset(struct stream *s);

#endif
