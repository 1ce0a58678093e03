#include "host/plan/retyped.h"

#include <stdlib.h>
#include <string.h>

#include "flash_image/pack/pack_types.h"

bool retyped_open(struct retyped *r, const struct image *image)
{
    *r = (struct retyped){ .tensors = calloc(image->header->tensors.count, sizeof *r->tensors),
                           .segments = calloc(INGOT_MAX_SEGMENTS, sizeof *r->segments),
                           .layers = calloc(INGOT_MAX_LAYERS, sizeof *r->layers) };
    return r->tensors != NULL && r->segments != NULL && r->layers != NULL;
}

void retyped_close(struct retyped *r)
{
    free(r->tensors);
    free(r->segments);
    free(r->layers);
}

static uint64_t up(uint64_t n, uint64_t to)
{
    return (n + to - 1) / to * to;
}

/* Set the type that the packer would choose. */
static void set_type(struct ingot_tensor *t, const struct pack_options *o,
                     const struct ingot_params *p)
{
    struct source_params shape = {
        .n_layers = p->n_layers, .n_heads = p->n_heads, .n_kv_heads = p->n_kv_heads, .tied = p->tied
    };
    enum ingot_type type;

    if (!image_role_is_matrix((enum ingot_role)t->role)) {
        return;
    }
    type = pack_type_for_cols(pack_type_asked(o, &shape, (enum ingot_role)t->role, t->layer),
                              t->cols);
    t->type = (uint8_t)type;
    t->interleave = (uint8_t)image_type_interleave(type);
    t->chunk = (uint8_t)image_type_chunk(type);
    t->cols_padded = (uint32_t)up(t->cols, image_type_padding(type));
    t->bytes = image_tensor_bytes(type, t->rows, t->cols);
}

/* Move the ends of phases: a phase that ended at offset `old` now ends at offset `now`. */
static void move_phases(struct ingot_segment *to, const struct ingot_segment *from, uint64_t old,
                        uint64_t now)
{
    for (unsigned i = 0; i < INGOT_PHASES; i++) {
        if (from->phase_end[i] == old) {
            to->phase_end[i] = now;
        }
    }
}

static void set_segments(struct retyped *r, const struct ingot_segment *from)
{
    uint32_t n = image_segment_count(&r->image);
    uint64_t at = r->image.segments[0].offset;

    r->bytes = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct ingot_segment *x = &r->segments[i];

        x->bytes = up(x->bytes, INGOT_PAGE);
        x->offset = at;
        move_phases(x, &from[i], from[i].bytes, x->bytes);
        at += x->bytes;
        r->bytes += x->bytes;
    }
}

/* Place a tensor at the current end of each expert's extent, or of the segment. */
static void place_tensor(struct retyped *r, const struct image *from, uint32_t i)
{
    struct ingot_tensor *t = &r->tensors[i];
    struct ingot_segment *x = &r->segments[t->segment];

    if (image_role_is_expert((enum ingot_role)t->role)) {
        struct ingot_layer *l = &r->layers[t->layer];

        t->offset = up(l->expert_bytes, INGOT_TENSOR_ALIGN);
        l->expert_bytes = t->offset + t->bytes;
        return;
    }
    t->offset = up(x->bytes, INGOT_TENSOR_ALIGN);
    move_phases(x, &from->segments[t->segment], from->tensors[i].offset, t->offset);
    x->bytes = t->offset + t->bytes;
}

/* Place the extents of a layer's experts at the end of its segment. */
static void place_experts(struct retyped *r, const struct image *from)
{
    for (uint32_t i = 0; i < from->header->params.n_layers; i++) {
        struct ingot_layer *l = &r->layers[i];
        struct ingot_segment *x = &r->segments[l->segment];

        if (l->ffn != INGOT_FFN_EXPERTS) {
            continue;
        }
        l->expert_offset = up(x->bytes, INGOT_PAGE);
        l->expert_bytes = up(l->expert_bytes, INGOT_PAGE);
        move_phases(x, &from->segments[l->segment], from->layers[i].expert_offset,
                    l->expert_offset);
        x->bytes = l->expert_offset + l->n_experts * l->expert_bytes;
    }
}

static void clear_sizes(struct retyped *r, const struct image *image)
{
    uint32_t n_layers = image->header->params.n_layers, n_segments = image_segment_count(image);

    memcpy(r->tensors, image->tensors, image->header->tensors.count * sizeof *r->tensors);
    memcpy(r->segments, image->segments, n_segments * sizeof *r->segments);
    memcpy(r->layers, image->layers, n_layers * sizeof *r->layers);
    for (uint32_t i = 0; i < n_segments; i++) {
        r->segments[i].bytes = 0;
    }
    for (uint32_t i = 0; i < n_layers; i++) {
        r->layers[i].expert_bytes = 0;
    }
}

/* Make the tables as the packer would write them. */
void retype(struct retyped *r, const struct image *image, const struct pack_options *o)
{
    const struct ingot_params *p = &image->header->params;

    clear_sizes(r, image);
    for (uint32_t i = 0; i < image->header->tensors.count; i++) {
        struct ingot_tensor *t = &r->tensors[i];

        set_type(t, o, p);
        if (t->role == INGOT_OUTPUT && p->tied) {
            *t = r->tensors[0]; /* the embedding */
            t->role = INGOT_OUTPUT;
        } else {
            place_tensor(r, image, i);
        }
    }
    place_experts(r, image);
    r->image = *image;
    r->image.tensors = r->tensors;
    r->image.segments = r->segments;
    r->image.layers = r->layers;
    set_segments(r, image->segments);
}

uint64_t retyped_file_bytes(const struct retyped *r)
{
    return INGOT_PAGE + image_meta_bytes(r->image.header) + r->bytes;
}
