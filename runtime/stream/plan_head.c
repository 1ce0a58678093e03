/* Plans the output matrix in tiles of rows. A part of the matrix may stay in memory. */
#include "board/min_max.h"
#include "runtime/stream/plan_private.h"

/* Return the number of groups in a step, the fewest groups of rows whose bytes are whole sectors.
 * Tiles and the resident part are whole steps, so that more resident rows never lead to more
 * sectors shared by two tiles. */
static uint64_t step_groups(uint64_t group_bytes)
{
    uint64_t step = SECTOR_BYTES;

    /* Each factor of two in a group's bytes halves the step. */
    while (step > 1 && group_bytes % 2 == 0) {
        group_bytes /= 2;
        step /= 2;
    }
    return step;
}

/* Round a number of groups down to whole steps, unless it is less than one step. */
static uint64_t whole_steps(uint64_t groups, uint64_t step)
{
    return groups < step ? groups : groups / step * step;
}

/* Return the number of groups that stay, but never all of them, because then the head would be
 * whole.
 *
 *   page_up(offset + groups * group_bytes) <= before + room
 */
static uint64_t groups_that_stay(const struct plan_head *head, const struct ingot_tensor *t,
                                 const struct plan_weights *w, uint64_t room)
{
    uint64_t step = step_groups(head->group_bytes);
    uint64_t all = (t->rows + head->group_rows - 1) / head->group_rows;
    uint64_t pages = (w->before + room) / INGOT_PAGE * INGOT_PAGE;

    return min_u64((pages - t->offset) / head->group_bytes, all - 1) / step * step;
}

/* Cut the output matrix, after the part that stays, into tiles of whole groups of rows, each at
 * most one slot long.
 *
 *   tile_rows = group_rows * floor((slot - slack) / group_bytes), in whole steps
 *   n_tiles   = ceil(rows that stream / tile_rows)
 *
 * The slack is for sectors at both ends, which a tile shares with its neighbours. A pass reads a
 * sector twice if two tiles share it, so head->read may exceed the matrix a little. */
void plan_tiles(struct plan *plan, const struct plan_weights *w, uint64_t room)
{
    const struct ingot_tensor *t = image_tensor(w->image, INGOT_OUTPUT, INGOT_NO_LAYER);
    const struct ingot_segment *s = &w->image->segments[t->segment];
    struct plan_head *head = &plan->head;
    uint64_t groups, stay;

    *head = (struct plan_head){ .tiled = true,
                                .group_rows = t->interleave,
                                .end = s->offset + s->bytes };
    if (t->interleave == 1) { /* F32 and F16 have no groups, but kernels take 8 rows at a time */
        head->group_rows = 8;
    }
    head->group_bytes = image_type_row_bytes(t->type, t->cols_padded) * (uint64_t)head->group_rows;
    /* Let whole steps stay, so that the first tile begins at a sector. */
    stay = groups_that_stay(head, t, w, room);
    head->first_row = (uint32_t)stay * head->group_rows;
    head->stays = t->offset + stay * head->group_bytes;
    head->base = s->offset + head->stays;
    /* A tile has as many whole steps as a slot has room for. */
    groups = whole_steps((plan->memory.slot - PLAN_TILE_SLACK) / head->group_bytes,
                         step_groups(head->group_bytes));
    head->tile_rows = (uint32_t)min_u64(groups, t->rows) * head->group_rows;
    head->n_tiles = (t->rows - head->first_row + head->tile_rows - 1) / head->tile_rows;
    /* If two tiles share a sector, a pass reads it twice. */
    for (uint32_t i = 0; i < head->n_tiles; i++) {
        struct plan_tile tile;

        plan_head_tile(plan, w->image, i, &tile);
        head->read += tile.bytes;
    }
}

void plan_head_tile(const struct plan *plan, const struct image *image, uint32_t i,
                    struct plan_tile *tile)
{
    const struct plan_head *head = &plan->head;
    uint32_t group = head->group_rows, row = i * head->tile_rows;
    uint64_t first = head->base + row / group * head->group_bytes, last;

    tile->first_row = head->first_row + row;
    tile->n_rows = min_u32(image->header->params.vocab - tile->first_row, head->tile_rows);
    last = first + (tile->n_rows + group - 1) / group * head->group_bytes;
    if (i == head->n_tiles - 1) {
        last = head->end; /* read the padding, too, because the segment's CRC covers it */
    }
    tile->offset = first / SECTOR_BYTES * SECTOR_BYTES;
    tile->skip = (size_t)(first - tile->offset);
    tile->bytes = (size_t)((last + SECTOR_BYTES - 1) / SECTOR_BYTES * SECTOR_BYTES - tile->offset);
}

struct plan_share plan_head_share(const struct plan *plan, uint32_t i)
{
    const struct plan_head *head = &plan->head;
    uint64_t groups = head->first_row / head->group_rows;
    uint32_t first = (uint32_t)(groups * i / head->n_tiles);
    uint32_t end = (uint32_t)(groups * (i + 1) / head->n_tiles);

    return (struct plan_share){ first * head->group_rows, (end - first) * head->group_rows };
}

size_t plan_head_bytes(const struct plan *plan)
{
    return (size_t)plan_page_up(plan->head.stays);
}

unsigned plan_head_percent(const struct plan *plan, const struct image *image)
{
    if (!plan->head.tiled) {
        return 100;
    }
    return (unsigned)(plan->head.first_row * 100ull / image->header->params.vocab);
}
