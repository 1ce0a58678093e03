/* The parts of a model that stream under a limit, and a sector of each. */
#ifndef INGOT_TESTS_UNIT_PLACES_RIG_H
#define INGOT_TESTS_UNIT_PLACES_RIG_H

#include "tests/unit/rig_expected.h"

/* A place that streams: the part's name and a sector of it. */
struct place {
    char name[32];
    long sector;
    bool row;   /* of the embedding */
    bool flips; /* the bit that rig.h flips there is in use */
};

static inline unsigned streamed_places(struct place *places)
{
    const struct session *s = &rig.session;
    uint32_t n = s->model->image.header->params.n_layers;
    unsigned count = 0;

    for (uint32_t i = 0; i < n + 2; i++) {
        struct place *p = &places[count];
        bool tiles = s->model->plan.head.tiled &&
                     i == (s->model->image.header->params.tied ? 0 : n + 1);

        image_segment_name(&s->model->image, i, p->name, sizeof p->name);
        p->row = i == 0 && !tiles;
        if (p->row && !s->model->plan.pinned[0]) {
            const struct ingot_tensor *t = &s->model->image.tensors[0];
            size_t group = plan_row_group_bytes(&s->model->image);
            uint64_t first = s->model->image.segments[0].offset + t->offset +
                             ids[2] / t->interleave * (uint64_t)group;
            uint64_t flip = (first + SECTOR_BYTES - 1 - RIG_FLIPPED_BYTE) / SECTOR_BYTES;

            p->flips = flip * SECTOR_BYTES + RIG_FLIPPED_BYTE < first + group;
            p->sector = (long)(p->flips ? flip : first / SECTOR_BYTES);
            count++;
        } else if (!s->model->plan.pinned[i]) {
            const struct ingot_segment *x = &s->model->image.segments[i];
            uint64_t first = tiles ? s->model->plan.head.base
                                   : x->offset; /* what stays is before it */
            uint64_t middle = first + (x->offset + x->bytes - first) / 2;

            p->sector = (long)(middle / SECTOR_BYTES);
            p->flips = true;
            count++;
        }
    }
    return count;
}

#endif
