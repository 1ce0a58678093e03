/* Shared only by the files of the planner: plan_layout.c computes sizes, plan_shape.c and plan.c
 * decide by these sizes, and plan_advice.c suggests changes. */
#ifndef INGOT_RUNTIME_PLAN_PRIVATE_H
#define INGOT_RUNTIME_PLAN_PRIVATE_H

#include "board/block_device.h"
#include "runtime/stream/plan.h"

/* A tile is read in whole sectors, so it takes parts of the sectors before and after; the last
 * tile also takes the padding of its segment. */
enum { PLAN_TILE_SLACK = 2 * SECTOR_BYTES + INGOT_PAGE };

/* The head is whole in memory, streams in tiles like layers, or in tiles while all layers stay. */
enum plan_head_form { PLAN_HEAD_WHOLE, PLAN_HEAD_TILED, PLAN_HEAD_ALONE, PLAN_HEAD_FORMS };

/* Sizes of a model's weights, in bytes, computed once. Everything is 64 bits wide and the reader
 * bounds each dimension, so no product of them wraps. */
struct plan_weights {
    const struct image *image;
    uint32_t n_layers;
    bool tied;
    bool cached;            /* experts are in a cache: sizes of layers do not include them */
    uint64_t total;         /* all segments */
    uint64_t by_rows;       /* the same, if an untied embedding is read by rows */
    uint64_t layers;        /* the segments of all layers */
    uint64_t largest_layer; /* the largest layer's segment */
    uint64_t row, row_sums; /* one embedding row as it is read; and checksums of all its groups */
    uint64_t table;         /* the table per layer, which is in none of the sums above */
    uint64_t table_row;     /* the table's rows of a token, as they are read */
    uint64_t before;        /* the part before the output matrix in its segment, whole pages: it
                             * stays if the matrix passes in tiles */
    /* By the form of the head: the smallest slot, and the fewest bytes. */
    uint64_t slot[PLAN_HEAD_FORMS];
    uint64_t streamed[PLAN_HEAD_FORMS];
};

/* The regions of one candidate: a context, a chunk, and a number of layers whose keys and values
 * spill. Bytes. */
struct plan_layout {
    uint64_t kv;      /* region kv */
    uint64_t scratch; /* region scratch */
    uint64_t learn;   /* region learn */
    uint64_t rest;    /* kv, scratch and learn in whole pages, and a page for rounding */
    uint64_t limit;   /* memory for weights and for streaming them */
};

void plan_weigh(struct plan_weights *w, const struct image *image, bool cached);

/* Bytes of a segment; if w->cached, a layer's without its experts. */
uint64_t plan_segment_bytes(const struct plan_weights *w, uint32_t segment);

/* plan_head.c: set plan->head to tiles, with as many resident rows as fit in `room` bytes
 * after w->before. */
void plan_tiles(struct plan *plan, const struct plan_weights *w, uint64_t room);

/* plan_experts.c: bytes of the smallest cache of experts, and of all weights with it;
 * UINT64_MAX: the model has none. */
uint64_t plan_experts_least(const struct image *image);
uint64_t plan_experts_need(const struct image *image);

/* Bytes of a cache with this many slots for each layer, with a struct stream_expert for each
 * expert. */
uint64_t plan_experts_bytes(const struct image *image, uint32_t n_slots);

/* plan_faster.c: add advice that would make a plan with a cache of experts faster. */
void plan_advise_experts(struct plan *plan, const struct image *image);

/* Write a size in whole KiB or MiB, rounded up, so that it suffices. */
void plan_format_more(char *text, size_t room, uint64_t bytes);

/* Bytes of experts that are read for a token with this many slots. */
uint64_t plan_experts_read(const struct plan_use *use, const struct image *image, uint32_t n_slots);

/* Fill plan->experts with as many slots as `room` bytes hold; room is at least the smallest
 * cache. */
void plan_experts_fit(struct plan *plan, const struct image *image, uint64_t room);

/* Bytes of a token's widest input of a matrix. */
size_t plan_input_bytes(const struct plan *plan, const struct plan_request *r);

/* Compute the layout for plan->chunk, logits_rows and kv.n_spilled, with this context. */
void plan_lay_out(struct plan_layout *l, const struct plan *plan, const struct plan_request *r,
                  uint32_t context);

/* Set plan->error_message: the weights do not fit. */
void plan_refuse(struct plan *plan, const struct plan_request *r, const struct plan_weights *w,
                 const struct plan_layout *l);

/* Set plan->advice: what would make a streamed model resident. */
void plan_advise(struct plan *plan, const struct plan_request *r, const struct plan_weights *w,
                 const struct plan_layout *l);

/* plan.c: place weights, keys and values for the context, chunk and sequences of *plan, where all
 * else is zero. ERR_NO_SPACE: they do not fit; plan->error_message says by how much. */
enum err plan_with_chunk(struct plan *plan, const struct plan_request *r,
                         const struct plan_weights *w);

static inline uint64_t plan_page_up(uint64_t n)
{
    return (n + INGOT_PAGE - 1) / INGOT_PAGE * INGOT_PAGE;
}

#endif
