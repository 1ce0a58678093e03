/* The sizes that decide a plan:
 *
 *   arena = rest + limit,  rest = kv + scratch + a page,  limit for weights and slots
 *
 * Regions begin at pages, so kv and scratch count in whole pages. Segments are whole pages in the
 * file already. */
#include <string.h>

#include "board/min_max.h"
#include "runtime/base/arena.h"
#include "runtime/compute/activations.h"
#include "runtime/stream/kv_pages.h"
#include "runtime/stream/plan_private.h"

/* Bytes of a slot that only holds tiles. Both slots together have room for 1 MiB of requests in
 * flight. */
enum { ALONE_SLOT = 512 * 1024 };

static uint64_t embedding_row_bytes(const struct image *image)
{
    uint64_t offset;
    size_t bytes;

    plan_embedding_range(image, 0, &offset, &bytes);
    return bytes;
}

/* Return the size of all sectors that a token's rows may touch. plan_segments.c computes the size
 * of an embedding row in the same way. */
static uint64_t table_row_bytes(const struct image *image)
{
    size_t bytes;

    (void)image_table_row(image, 0, &bytes);
    return (bytes + 2 * SECTOR_BYTES - 2) / SECTOR_BYTES * SECTOR_BYTES;
}

/* Return the size of the smallest possible tile of the head, which has a few groups of rows. */
static uint64_t least_tile_bytes(const struct image *image)
{
    const struct ingot_tensor *t = image_tensor(image, INGOT_OUTPUT, INGOT_NO_LAYER);

    return plan_page_up(image_type_row_bytes(t->type, t->cols_padded) * 8u + PLAN_TILE_SLACK);
}

/* Compute the bytes for streaming with no layer pinned, and with all layers pinned:
 *
 *                    tied                                  untied
 *   head whole       slots + head's page + embedding       slots + head + row
 *   head in tiles    slots + head's page + row             slots + norm + row
 *   tiles alone      the same, and all layers              the same, and all layers
 *
 * A tied embedding is the output matrix. The final norm lies in the head's segment, which is only a
 * page if the embedding is tied. If an untied head passes in tiles, the norm stays (stream_load.c).
 * "Row" includes the checksums of all groups of rows. */
static void weigh_streamed(struct plan_weights *w)
{
    uint64_t embedding = w->image->segments[image_embedding_segment(w->image)].bytes;
    uint64_t head = w->image->segments[image_head_segment(w->image)].bytes;
    uint64_t rows = w->row + w->row_sums;

    /* Add the slots and the parts that stay in each form. */
    w->streamed[PLAN_HEAD_WHOLE] = PLAN_SLOTS * w->slot[PLAN_HEAD_WHOLE] + head;
    w->streamed[PLAN_HEAD_TILED] = PLAN_SLOTS * w->slot[PLAN_HEAD_TILED] + rows + w->before;
    if (w->tied) {
        w->streamed[PLAN_HEAD_WHOLE] += embedding;
        w->streamed[PLAN_HEAD_TILED] += head;
    } else {
        w->streamed[PLAN_HEAD_WHOLE] += rows;
    }
    /* If only tiles stream, all layers stay, and the slots are as small as a tile. */
    w->streamed[PLAN_HEAD_ALONE] = w->streamed[PLAN_HEAD_TILED] + w->layers -
                                   PLAN_SLOTS *
                                       (w->slot[PLAN_HEAD_TILED] - w->slot[PLAN_HEAD_ALONE]);
}

uint64_t plan_segment_bytes(const struct plan_weights *w, uint32_t segment)
{
    const struct ingot_segment *s = &w->image->segments[segment];

    if (s->kind == INGOT_SEGMENT_LAYER) {
        return plan_layer_bytes(w->image, s->layer, w->cached);
    }
    return s->bytes;
}

void plan_weigh(struct plan_weights *w, const struct image *image, bool cached)
{
    memset(w, 0, sizeof *w);
    w->cached = cached;
    w->image = image;
    w->n_layers = image->header->params.n_layers;
    w->tied = image->header->params.tied != 0;
    /* Add all segments except the table per layer, which stays on the card. */
    for (uint32_t i = 0; i < image_segment_count(image); i++) {
        const struct ingot_segment *s = &image->segments[i];

        if (s->kind == INGOT_SEGMENT_TABLE) {
            w->table = s->bytes;
            w->table_row = table_row_bytes(image);
            continue;
        }
        w->total += plan_segment_bytes(w, i);
        if (s->kind == INGOT_SEGMENT_LAYER) {
            w->layers += plan_segment_bytes(w, i);
            w->largest_layer = max_u64(w->largest_layer, plan_segment_bytes(w, i));
        }
    }
    /* The file has one checksum for the whole embedding, but a group of rows needs its own. */
    w->row = embedding_row_bytes(image);
    w->row_sums = plan_row_groups(image) * sizeof(uint32_t);
    w->by_rows = w->total - image->segments[image_embedding_segment(image)].bytes + w->row +
                 w->row_sums;
    /* If the head is in tiles, the part before its matrix (the norm) stays. */
    w->before = plan_page_up(image_tensor(image, INGOT_OUTPUT, INGOT_NO_LAYER)->offset);
    /* A slot holds the largest piece that streams through it. */
    w->slot[PLAN_HEAD_WHOLE] = w->largest_layer;
    w->slot[PLAN_HEAD_TILED] = max_u64(least_tile_bytes(image), w->largest_layer);
    w->slot[PLAN_HEAD_ALONE] = min_u64(w->slot[PLAN_HEAD_TILED],
                                       max_u64(least_tile_bytes(image), ALONE_SLOT));
    weigh_streamed(w);
}

static struct activations_request activations_of(const struct plan *plan,
                                                 const struct plan_request *r)
{
    return (struct activations_request){ &r->image->header->params, plan->chunk,
                                         image_types(r->image),     plan->logits_rows,
                                         r->work.work_bytes,        image_most_experts(r->image),
                                         image_inner_dim(r->image), image_queries(r->image) };
}

size_t plan_input_bytes(const struct plan *plan, const struct plan_request *r)
{
    struct activations_request a = activations_of(plan, r);

    return activations_input_bytes(&a);
}

/* Return how many bytes a chunk's activations, the ids of the whole context, and sessions' work
 * space need. */
static uint64_t scratch_bytes(const struct plan *plan, const struct plan_request *r,
                              uint32_t context)
{
    struct activations_request a = activations_of(plan, r);

    return activations_bytes(&a) +
           plan->sequences *
               (arena_take_bytes(context * sizeof(uint32_t)) + r->work.extra_scratch) +
           r->work.kept_sequences * (uint64_t)r->work.line_bytes +
           (r->work.kept_sequences != 0 ? r->work.kept_bytes(context, r->work.kept_sequences) : 0);
}

/* Return a - b, or 0 if b is larger. */
static uint64_t less(uint64_t a, uint64_t b)
{
    return max_u64(a, b) - b;
}

/* Return how many bytes the kept rows of the table need. */
static uint64_t table_memory(const struct image *image)
{
    if (image->header->params.per_layer_dim == 0) {
        return 0;
    }
    return PLAN_TABLE_ROWS * table_row_bytes(image);
}

void plan_lay_out(struct plan_layout *l, const struct plan *plan, const struct plan_request *r,
                  uint32_t context)
{
    /* Compute the regions whose sizes are known before weights are placed. */
    l->kv = plan->sequences *
            (kv_pages_memory_bytes(r->image, context, r->limits.kv, plan->kv.n_spilled) +
             r->work.states);
    l->scratch = scratch_bytes(plan, r, context);
    l->learn = 0;
    if (r->work.learn_bytes != 0) { /* lessons also keep the conversation's ids */
        l->learn = r->work.learn_bytes + arena_take_bytes(context * sizeof(uint32_t));
    }
    /* Each region ends at a page. */
    l->rest = plan_page_up(l->kv) + plan_page_up(l->scratch) + plan_page_up(l->learn) +
              plan_page_up(table_memory(r->image)) + INGOT_PAGE;
    /* Leave all other memory to weights, up to mem=. */
    l->limit = less(r->arena_bytes, l->rest);
    if (r->limits.weights == 0) {
        return;
    }
    if (r->limits.kv_card) { /* with kv=card, mem= also limits keys and values */
        l->limit = min_u64(l->limit, less(r->limits.weights, plan_page_up(l->kv)));
    } else {
        l->limit = min_u64(l->limit, r->limits.weights);
    }
}
