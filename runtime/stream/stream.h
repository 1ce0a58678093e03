/* Brings weights from the card to the cores. Pinned segments are read once. Other segments arrive
 * again for every pass, through a ring of slots: DMA fills one slot while the cores compute from
 * the other. The transformer requests each layer in order and does not know where layers come from.
 * The transformer may begin a layer when its first phase has arrived.
 *
 * Core 0 only. A pass is one run through all layers, and through the head if logits are needed.
 * Requests run ahead of the pass, even beyond its end to the first layers of the next pass. */
#ifndef INGOT_RUNTIME_STREAM_H
#define INGOT_RUNTIME_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"
#include "runtime/base/arena.h"
#include "runtime/image/image.h"
#include "runtime/image/signing.h"
#include "runtime/storage/io_core.h"
#include "runtime/storage/file.h"
#include "runtime/stream/plan.h"
#include "runtime/stream/stream_experts.h"

enum { STREAM_ERROR_MESSAGE_BYTES = 320 };

struct workers;

/* Segments are read one after the other. A slot is queued until all requests of the previous
 * segment are sent. */
enum stream_slot_state { STREAM_EMPTY, STREAM_QUEUED, STREAM_LOADING, STREAM_IN_USE };

/* A slot has segment `index` of pass number `pass`. Segments are the streamed layers in order, then
 * the head's tiles. */
struct stream_segment {
    uint32_t pass;
    uint32_t index;
};

struct stream_slot {
    uint8_t *buffer;
    enum stream_slot_state state;
    struct stream_segment segment;
    struct file_read read;
    uint32_t crc; /* CRC of the first crc_bytes of a layer */
    uint64_t crc_bytes;
    bool checked;   /* the CRC covers the whole layer and is right */
    bool stalled;   /* a core has waited for the segment */
    uint64_t begun; /* time when the read began, or 0 if the trace needs none */
};

struct stream_stats {
    uint64_t bytes_loaded;   /* bytes of pinned segments, read once */
    uint64_t bytes_streamed; /* bytes of used segments (layers and tiles), and of the table's
                              * rows */
    uint64_t rows_read;      /* embedding rows for which a group (plan->rows.bytes) was read */
    uint64_t rows_kept;      /* embedding rows that needed no reading */
    uint64_t stalls;         /* number of segments that had not arrived when they were needed */
    uint64_t first_stalls;   /* how many of these were the first after a start or a failure */
    uint64_t stall_ticks;
    uint64_t busy_ticks; /* time in which a segment was arriving */
    uint64_t arrived;    /* bytes that arrived in busy_ticks */
    uint64_t retries;    /* number of requests repeated after an error of the device */
    uint64_t reread;     /* number of segments read again because their CRC did not match */
    uint64_t kv_read;    /* bytes of keys and values that were read, if they spill */
    uint64_t kv_written;
    uint64_t experts_kept;  /* named experts that were in the cache; each counts once a pass */
    uint64_t experts_read;  /* named experts that were not in the cache */
    uint64_t expert_stalls; /* number of experts for which the cores waited */
    uint64_t expert_bytes;  /* bytes of experts that were read, part of bytes_streamed */
    uint64_t experts_ahead; /* experts requested before a router named them, not in experts_read */
    uint64_t ahead_right;   /* number of experts_ahead that a router then named */
};

/* Called when the number of loaded bytes (`done` of `total`) changes. Returns false to stop. Later
 * calls must then return false, too. */
typedef bool stream_progress_fn(void *context, const char *label, uint64_t done, uint64_t total);

/* The state of the segments that pass through the slots. */
struct stream_ring {
    struct stream_slot slots[PLAN_SLOTS]; /* the first plan->memory.n_slots */
    uint16_t layers[INGOT_MAX_LAYERS];    /* the streamed layers in order */
    uint32_t n_layers;                    /* number of streamed layers */
    uint32_t pass;                        /* number of the current pass */
    bool want_head;                       /* the pass ends with the head */
    bool started;                         /* a segment was used since the start or a failure */
    struct stream_segment next;           /* the segment that is requested next */
};

/* The layer in use. */
struct stream_now {
    struct stream_slot *early; /* the layer's slot until the layer is checked, then NULL */
    enum err failure;          /* why the layer failed; only core 0 uses it */
    /* Phase [i] of the layer will not arrive. All cores read the flag after a barrier. Each
     * phase has its own flag, because core 0 may reach the next phase before all cores have read
     * this phase's flag. */
    bool missing[INGOT_PHASES];
};

/* Rows of an embedding that is not in memory. */
struct stream_rows {
    uint8_t *memory;                  /* (plan->rows.n, plan->rows.bytes) the latest groups of
                                       * rows */
    uint64_t offsets[PLAN_MOST_ROWS]; /* file offset of each group, or 0 */
    uint32_t next;                    /* index of the oldest group */
    uint32_t *sums;                   /* (plan_row_groups) CRC-32C of each group, by stream_load */
};

/* The table per layer, whose rows are read for each token before they are used. */
enum stream_table_state { STREAM_TABLE_EMPTY, STREAM_TABLE_ARRIVING, STREAM_TABLE_READY };
struct stream_table_slot {
    enum stream_table_state state;
    uint32_t token;
    uint32_t used;   /* when the token was last requested, by the table's clock */
    uint8_t *buffer; /* (plan->table.bytes) */
    struct file_read read;
};
struct stream_table {
    struct stream_table_slot slots[PLAN_TABLE_ROWS]; /* the first plan->table.n */
    const uint32_t *tokens;                          /* (n) tokens of the current pass */
    uint32_t n;
    uint32_t asked; /* number of tokens whose rows have arrived or are in flight */
    uint32_t clock;
};

/* A head that passes in tiles, and its checksum. */
struct stream_tiles {
    uint32_t crc;        /* CRC of the output matrix's segment so far in this pass */
    uint64_t crc_end;    /* file offset where the bytes of crc end */
    uint32_t crc_before; /* CRC of the resident part */
    uint32_t again;      /* number of times that this pass has read the tiles again */
};

/* Busy times of the card, for the stats. */
struct stream_card {
    struct io_core_watch watch;
    uint64_t polled_at; /* ticks at the last poll if something was arriving, otherwise 0 */
    uint64_t arriving;  /* arrived bytes of transfers in flight, at the last poll */
    uint64_t guest;     /* arrived bytes of the guest's transfers, at the last poll */
    uint64_t moved_at;  /* ticks at which bytes last came or were requested */
};

/* Another user of the device (runtime/stream/kv_pages.h). A guest's transfers are polled together
 * with the stream's. */
struct stream_guest {
    void *context;
    /* Poll the guest's transfers. Return true if bytes are arriving, and add the number that has
     * arrived so far to *bytes. NULL without a guest. */
    bool (*poll)(void *context, uint64_t *bytes);
    void (*reset)(void *context); /* gives up the transfers, and waits for those in flight */
};

struct stream {
    const struct file *file;
    struct image *image;
    const struct plan *plan;
    struct workers *workers;
    const uint8_t *segments[INGOT_MAX_SEGMENTS]; /* address of each segment, NULL if it streams */
    uint8_t *head;                               /* the resident part of a tiled head, the first
                                                  * plan->head.stays bytes of its segment */
    struct stream_ring ring;
    struct stream_now now;
    struct stream_rows rows;
    struct stream_table table;
    struct stream_experts experts;
    struct stream_tiles tiles;
    struct stream_card card;
    struct stream_guest guest;
    const struct signature *signature; /* digests that the weights must have, or NULL */
    uint8_t *spare; /* memory that is free during loading, for parts that do not stay */
    size_t spare_bytes;
    struct stream_stats stats;
    char label[40]; /* label of the progress, such as "loading layer 3" */
    char error_message[STREAM_ERROR_MESSAGE_BYTES]; /* after an error, names file, layer, sector */
};

/* Assign the plan's parts to the arena's regions (the caller has reserved the regions for weights
 * and io). The file, image, plan and workers must outlive the stream. Reads nothing yet. */
void stream_open(struct stream *s, const struct file *file, struct image *image,
                 const struct plan *plan, struct workers *workers, struct arena *arena);

/* Call before stream_load if all segments must have the digests of a signed file, which outlives
 * the stream. Segments that do not stay are then read once, through `spare`, which must be free
 * until stream_load has returned. Later reads are checked only by their CRC. */
void stream_sign(struct stream *s, const struct signature *signature, void *spare,
                 size_t spare_bytes);

/* Read the pinned segments, unless they are used in place, and check every CRC. A streamed
 * embedding is read once for its CRC. progress may be NULL. Errors: ERR_NOT_SIGNED,
 * ERR_BAD_CHECKSUM, ERR_IO, ERR_TIMEOUT, ERR_RANGE, ERR_ABORTED by progress. */
enum err stream_load(struct stream *s, stream_progress_fn *progress, void *context);

/* Begin a pass. Its first requests are sent immediately. */
void stream_begin(struct stream *s, bool want_head);

/* Get the bytes of a layer's segment. Waits for the first `first` bytes or, with UINT64_MAX, for
 * all; checks the bytes if all are there. As soon as the layer is computed, call stream_layer_done,
 * which sends the next request. Errors as stream_load. After an error the stream is reset, and the
 * next pass starts from the beginning. */
enum err stream_layer(struct stream *s, uint32_t layer, uint64_t first, const uint8_t **segment);
void stream_layer_done(struct stream *s, uint32_t layer);

/* While a layer is in use, wait for its phase number `phase`, which ends after the first `bytes`
 * bytes of the segment. An error sets s->now.missing[phase], and stream_layer_check reports
 * it. */
void stream_need(struct stream *s, unsigned phase, uint64_t bytes);

/* Check a layer that was begun before all of it had arrived. Call this before stream_layer_done. If
 * the bytes were wrong and were read again, *again is set, and the layer must be computed again.
 * Errors as stream_layer. */
enum err stream_layer_check(struct stream *s, uint32_t layer, bool *again);

/* Return the address of a resident row of a tiled head. The row is the first of a group, and later
 * resident rows follow it. */
const uint8_t *stream_head_row(const struct stream *s, uint32_t row);

/* Get tile number i of a tiled head: *rows points at row tile->first_row. */
enum err stream_tile(struct stream *s, uint32_t i, struct plan_tile *tile, const uint8_t **rows);
void stream_tile_done(struct stream *s, uint32_t i);

/* After the last tile, compare the checksum of the head. If the checksum was wrong, *again is set,
 * and the tiles are read again from the first. */
enum err stream_head_check(struct stream *s, bool *again);

/* Get the group of rows with a token's embedding. *row is the row's number in the group. */
enum err stream_embedding(struct stream *s, uint32_t token, const uint8_t **group, uint32_t *row);

/* Request the rows of the table per layer for a pass's n tokens, whose ids must stay in place. Then
 * take the rows with stream_table_rows, in order. *rows points at the rows of token number i until
 * the next call. Errors as stream_load. */
void stream_table_ask(struct stream *s, const uint32_t *tokens, uint32_t n);
enum err stream_table_rows(struct stream *s, uint32_t i, const uint8_t **rows);

/* Set the guest; a stream has at most one. Call between passes. */
void stream_take_guest(struct stream *s, const struct stream_guest *guest);

/* Poll all transfers. A poll is cheap and never waits. */
void stream_poll(struct stream *s);

/* Give up the current pass. Waits for transfers in flight, and empties the slots. */
void stream_reset(struct stream *s);

#endif
