/* Shared only by the files of the planner: plan_layout.c computes sizes, plan_shape.c and plan.c
 * decide by these sizes, and plan_advice.c suggests changes. */
#ifndef INGOT_RUNTIME_PLAN_PRIVATE_H
#define INGOT_RUNTIME_PLAN_PRIVATE_H

#include "board/block_device.h"
#include "runtime/stream/plan.h"

/* A tile is read in whole sectors, so its first and last sector have other bytes, too. The last
 * tile also has the padding of its segment. */
enum { PLAN_TILE_SLACK = 2 * SECTOR_BYTES + INGOT_PAGE };

/* The head stays whole in memory, streams in tiles while some layers stream, too, or streams in
 * tiles while all layers are resident. */
enum plan_head_form { PLAN_HEAD_WHOLE, PLAN_HEAD_TILED, PLAN_HEAD_ALONE, PLAN_HEAD_FORMS };

/* Sizes of a model's weights, in bytes, computed once. All sizes have 64 bits and the image reader
 * limits each dimension, so no product overflows. */
struct plan_weights {
    const struct image *image;
    uint32_t n_layers;
    bool tied;
    bool cached;            /* a cache has the experts, so sizes of layers do not include them */
    uint64_t total;         /* all segments */
    uint64_t by_rows;       /* the total if an untied embedding is read by rows */
    uint64_t layers;        /* the segments of all layers */
    uint64_t largest_layer; /* the largest layer's segment */
    uint64_t row, row_sums; /* an embedding row as it is read; checksums of all groups of rows */
    uint64_t table;         /* the table per layer, which the totals above leave out */
    uint64_t table_row;     /* a token's rows of the table, as they are read */
    uint64_t before;        /* whole pages before the output matrix in its segment, which stay if
                             * the matrix passes in tiles */
    /* The smallest slot, and the least memory with which weights can stream, for each form of the
     * head. */
    uint64_t slot[PLAN_HEAD_FORMS];
    uint64_t streamed[PLAN_HEAD_FORMS];
};

/* The bytes of the regions for a candidate, which is a context, a chunk, and a number of layers
 * whose keys and values spill. */
struct plan_layout {
    uint64_t kv;      /* region kv */
    uint64_t scratch; /* region scratch */
    uint64_t learn;   /* region learn */
    uint64_t rest;    /* whole pages for kv, scratch, learn, table rows and rounding */
    uint64_t limit;   /* memory for weights and for streaming them */
};

void plan_weigh(struct plan_weights *w, const struct image *image, bool cached);

/* Return the bytes of a segment. If w->cached, a layer's bytes do not include its experts. */
uint64_t plan_segment_bytes(const struct plan_weights *w, uint32_t segment);

/* plan_head.c: set plan->head to tiles, with as many resident rows as fit in `room` bytes
 * after w->before. */
void plan_tiles(struct plan *plan, const struct plan_weights *w, uint64_t room);

/* plan_experts.c: return the bytes of the smallest cache of experts, and of all weights with it, or
 * UINT64_MAX without experts. */
uint64_t plan_experts_least(const struct image *image);
uint64_t plan_experts_need(const struct image *image);

/* Return the bytes of a cache in which each layer has this many slots, including a struct
 * stream_expert for each expert. */
uint64_t plan_experts_bytes(const struct image *image, uint32_t n_slots);

/* plan_faster.c: add advice that would make a plan with a cache of experts faster. */
void plan_advise_experts(struct plan *plan, const struct image *image);

/* Write a size in whole KiB or MiB, rounded up, so that it suffices. */
void plan_format_more(char *text, size_t room, uint64_t bytes);

/* Return how many bytes of experts a token reads on average, with this many slots. */
uint64_t plan_experts_read(const struct plan_use *use, const struct image *image, uint32_t n_slots);

/* Fill plan->experts with as many slots as `room` bytes hold. room has at least the smallest
 * cache. */
void plan_experts_fit(struct plan *plan, const struct image *image, uint64_t room);

/* Return the bytes of a token's input of a matrix, for the matrix with the widest input. */
size_t plan_input_bytes(const struct plan *plan, const struct plan_request *r);

/* Compute the layout for plan->chunk, logits_rows and kv.n_spilled, with this context. */
void plan_lay_out(struct plan_layout *l, const struct plan *plan, const struct plan_request *r,
                  uint32_t context);

/* Set plan->error_message, because the weights do not fit. */
void plan_refuse(struct plan *plan, const struct plan_request *r, const struct plan_weights *w,
                 const struct plan_layout *l);

/* Set plan->advice to what would make a streamed model resident. */
void plan_advise(struct plan *plan, const struct plan_request *r, const struct plan_weights *w,
                 const struct plan_layout *l);

/* plan.c: place weights, keys and values for the context, chunk and sequences of *plan; its other
 * members are zero. ERR_NO_SPACE: they do not fit, as plan->error_message says. */
enum err plan_with_chunk(struct plan *plan, const struct plan_request *r,
                         const struct plan_weights *w);

static inline uint64_t plan_page_up(uint64_t n)
{
    return (n + INGOT_PAGE - 1) / INGOT_PAGE * INGOT_PAGE;
}

#endif
