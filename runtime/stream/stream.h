/* Weights on their way: pinned extents are read once, the others arrive for every pass through
 * a ring of slots, the next ones by DMA while this one computes. The transformer asks for each
 * layer in order, may begin with its first piece, and never learns where it came from.
 *
 * Core 0 only. A pass is one run through all layers, and through the head when its logits are
 * wanted; the requests run ahead across the pass's end to the first layers of the next. */
#ifndef INGOT_RUNTIME_STREAM_H
#define INGOT_RUNTIME_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"
#include "runtime/arena.h"
#include "runtime/image/image.h"
#include "runtime/storage/card_core.h"
#include "runtime/storage/file.h"
#include "runtime/stream/plan.h"

enum { STREAM_PROBLEM_BYTES = 320 };

struct kv_pages;
struct team;

/* One unit after the other: a slot is queued until all of the unit before it was asked for. */
enum stream_slot_state { STREAM_EMPTY, STREAM_QUEUED, STREAM_LOADING, STREAM_IN_USE };

/* What a slot holds: unit `index` of pass number `pass`; units are the streamed layers in
 * order, then the head's tiles. */
struct stream_unit {
    uint32_t pass;
    uint32_t index;
};

struct stream_slot {
    uint8_t *buffer;
    enum stream_slot_state state;
    struct stream_unit unit;
    struct file_read read;
    uint32_t crc; /* of the first crc_bytes of a layer */
    uint64_t crc_bytes;
    bool checked;   /* that CRC was the whole layer's, and right */
    bool stalled;   /* somebody waited for it */
    uint64_t begun; /* of the trace; 0: none, or told */
};

struct stream_figures {
    uint64_t bytes_loaded;   /* pinned, read once */
    uint64_t bytes_streamed; /* by units that were used: layers and tiles */
    uint64_t rows_read;      /* embedding rows, of plan->row_bytes each */
    uint64_t rows_kept;      /* and those that needed no reading */
    uint64_t stalls;         /* units that had not arrived when they were wanted */
    uint64_t first_stalls;   /* of these, the first unit after a start or a failure */
    uint64_t stall_ticks;
    uint64_t busy_ticks; /* with a unit arriving */
    uint64_t arrived;    /* bytes of them meanwhile */
    uint64_t retries;    /* requests repeated after an error of the device */
    uint64_t reread;     /* units read again because their CRC did not match */
    uint64_t kv_read;    /* bytes of keys and values, where they spill */
    uint64_t kv_written;
};

/* done of total bytes, whenever there is something new to show. False: stop; asked again, it says
 * so again. */
typedef bool stream_progress_fn(void *context, const char *label, uint64_t done, uint64_t total);

struct stream {
    const struct file *file;
    struct image *image;
    const struct plan *plan;
    struct team *team;
    const uint8_t *extents[INGOT_MAX_LAYERS + 2]; /* where each lies; NULL: streamed */
    uint16_t layers[INGOT_MAX_LAYERS];            /* the streamed layers in order */
    uint32_t n_layers;                            /* how many */
    const uint8_t *output_norm;                   /* kept apart when the head is tiled */
    struct stream_slot slots[PLAN_SLOTS];         /* the first plan->n_slots */
    uint8_t *rows; /* (plan->n_rows, plan->row_bytes) embedding rows, the latest */
    uint64_t row_offsets[PLAN_MOST_ROWS]; /* where in the file its group begins; 0: none */
    uint32_t next_row;                    /* the oldest */
    uint32_t *row_sums;        /* (plan_row_groups) CRC-32C of each, set by stream_load */
    struct stream_slot *early; /* of the layer in use, while it is not checked; else NULL */
    enum err failure;          /* of the layer in use; for core 0 */
    bool missing[PLAN_PIECES]; /* this piece of it will not come: for all cores, behind a barrier;
                                  one each, as core 0 may be at the next before all have looked */
    uint32_t pass;             /* the current one */
    bool want_head;            /* it ends with the head */
    bool started;              /* a unit has been used since the start or a failure */
    struct stream_unit next;   /* to be requested */
    uint32_t tile_crc;         /* of the output matrix's extent so far in this pass */
    uint64_t tile_crc_end;     /* file offset up to which */
    uint32_t tile_crc_before;  /* of what precedes the matrix in its extent */
    uint32_t tiles_again;      /* times that this pass has read them again */
    struct kv_pages *pages;    /* beside the weights, where keys and values spill; else NULL */
    struct card_core_watch watch;
    uint64_t polled_at;      /* ticks, while something arrives; else 0 */
    uint64_t arriving_bytes; /* then: of the units that arrive, so far */
    char label[40];          /* of the progress while loading: "loading layer 3" */
    struct stream_figures figures;
    char problem[STREAM_PROBLEM_BYTES]; /* after an error: file, layer and sector */
};

/* Lay the plan into the arena's regions (weights and io are reserved by the caller). The file,
 * image, plan and team must outlive the stream. Nothing is read yet. */
void stream_open(struct stream *s, const struct file *file, struct image *image,
                 const struct plan *plan, struct team *team, struct arena *arena);

/* Read the pinned extents, or check those used in place, and check every CRC; a streamed
 * embedding is read through once for its CRC. progress may be NULL.
 * ERR_BAD_CHECKSUM, ERR_IO, ERR_TIMEOUT, ERR_RANGE, ERR_ABORTED by progress: see s->problem. */
enum err stream_load(struct stream *s, stream_progress_fn *progress, void *context);

/* Begin a pass. Requests go out at once. */
void stream_begin(struct stream *s, bool want_head);

/* The bytes of a layer's extent; waits for the first `first` of them (UINT64_MAX: for all, and
 * checks them). Give it back with stream_layer_done as soon as it is used, which sends the next
 * request. Errors as stream_load; the stream is then reset and the next pass starts afresh. */
enum err stream_layer(struct stream *s, uint32_t layer, uint64_t first, const uint8_t **extent);
void stream_layer_done(struct stream *s, uint32_t layer);

/* While the layer is in use: wait until piece number `piece` is there, its first `bytes`. An error
 * sets s->missing[piece] and is stream_layer_check's to report. */
void stream_need(struct stream *s, unsigned piece, uint64_t bytes);

/* Before stream_layer_done, where the layer was begun before it was whole: its checksum. *again:
 * what arrived at first was wrong and now is right: compute it once more. Errors as above. */
enum err stream_layer_check(struct stream *s, uint32_t layer, bool *again);

/* Tile number i of a tiled head: *rows points at row tile->first_row. */
enum err stream_tile(struct stream *s, uint32_t i, struct plan_tile *tile, const uint8_t **rows);
void stream_tile_done(struct stream *s, uint32_t i);

/* After the last tile: the checksum of the head. *again: it was wrong, and the tiles come again
 * from the first. */
enum err stream_head_check(struct stream *s, bool *again);

/* The group of rows that holds token's embedding; *row is its row in there. */
enum err stream_embedding(struct stream *s, uint32_t token, const uint8_t **group, uint32_t *row);

/* Keep transfers moving; cheap, never waits. */
void stream_poll(struct stream *s);

/* Give up the current pass: waits for transfers in flight, empties the slots. */
void stream_reset(struct stream *s);

#endif
