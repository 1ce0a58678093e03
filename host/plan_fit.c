#include "host/plan_fit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flash_image/pack/pack_types.h"
#include "runtime/text/format_text.h"

/* By descending quality. What has three bits and less is taken only where nothing else is resident. */
static const struct offer {
    const char *name; /* as of --type */
    bool few;         /* loses so much that speed alone is no reason */
    uint32_t family;  /* of the models that it is for; 0: all */
} offers[] = {
    { "f16", false, 0 },
    { "q8_0", false, 0 },
    { "q6_k", false, 0 },
    { "q5_k", false, 0 },
    { "q4_k", false, 0 },
    { "q4_0", false, 0 },
    { "iq4_nl", false, 0 },
    { "fig4", false, 0 },
    { "tq2_0", false, INGOT_BITNET }, /* its weights have three values */
    { "q3_k", true, 0 },
    { "q2_k", true, 0 },
};

struct retyped {
    struct image image;
    struct ingot_tensor *tensors;
    struct ingot_segment *segments;
    struct ingot_layer *layers;
    uint64_t bytes; /* of all segments */
};

static uint64_t up(uint64_t n, uint64_t to)
{
    return (n + to - 1) / to * to;
}

/* The packer's choice. */
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

/* Where a phase ended at the tensor that lay at `old`, it ends at `now`. */
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

/* Behind what the segment has: in the extent of each expert, or in the segment itself. */
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

/* The extents of a layer's experts end its segment. */
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

/* The tables as the packer would write them. */
static void retype(struct retyped *r, const struct image *image, const struct pack_options *o)
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

static void print_row(const char *name, uint64_t bytes, const struct plan *plan)
{
    char size[FORMAT_NUMBER_BYTES], read[FORMAT_NUMBER_BYTES], rate[FORMAT_NUMBER_BYTES];

    printf("  %-6s %10s  %s", name, format_bytes(size, bytes),
           plan_residency_text(plan->residency));
    if (plan->residency == PLAN_STREAMED) {
        printf(", %s read per token", format_bytes(read, plan->layers.read + plan->head.read));
    }
    if (plan->prediction.decode_ns != 0) {
        printf(", decode %s tok/s predicted",
               format_ratio(rate, 1000000000u, plan->prediction.decode_ns, 3));
    }
    putchar('\n');
}

/* The best of the offers so far, and how the model as it is would do. */
struct fit {
    const struct offer *chosen; /* NULL: none fits */
    struct plan best, own;
    bool own_fits;
};

static bool is_better(const struct fit *f, const struct offer *offer, const struct plan *plan)
{
    if (f->chosen == NULL || f->best.residency != PLAN_STREAMED) {
        return f->chosen == NULL;
    }
    if (plan->residency != PLAN_STREAMED) {
        return true;
    }
    return !offer->few &&
           plan->layers.read + plan->head.read < f->best.layers.read + f->best.head.read;
}

/* Less would not be gained by any of them that is worth its loss. */
static bool is_kept(const struct fit *f)
{
    bool resident = f->own_fits && f->own.residency != PLAN_STREAMED;

    if (f->chosen->few && f->best.residency != PLAN_STREAMED) {
        return resident;
    }
    return f->own_fits && f->best.residency == PLAN_STREAMED &&
           (resident ||
            f->own.layers.read + f->own.head.read <= f->best.layers.read + f->best.head.read);
}

static void print_choice(const struct fit *f)
{
    const char *why = ": the best in memory";

    if (f->chosen == NULL) {
        return;
    }
    if (is_kept(f)) {
        puts("keep it as it is");
        return;
    }
    if (f->best.residency == PLAN_STREAMED) {
        why = ": it reads the least";
    } else if (f->chosen->few) {
        why = ": nothing larger fits; ingot pack --report tells what it loses";
    }
    printf("take --type %s%s\n", f->chosen->name, why);
}

static void try_offer(struct fit *f, struct retyped *r, const struct model *m,
                      const struct offer *offer)
{
    struct plan_request request = m->request;
    struct pack_options options = { 0 };
    struct plan plan;

    if ((offer->family != 0 && offer->family != m->image.header->params.family) ||
        !pack_parse_type(offer->name, &options)) {
        return;
    }
    retype(r, &m->image, &options);
    request.image = &r->image;
    if (plan_make(&plan, &request) != ERR_OK) {
        printf("  %-6s does not fit\n", offer->name);
        return;
    }
    print_row(offer->name, r->bytes, &plan);
    if (is_better(f, offer, &plan)) {
        f->best = plan;
        f->chosen = offer;
    }
}

bool plan_fit_print(const struct model *m)
{
    const struct image *image = &m->image;
    struct retyped r = { .tensors = calloc(image->header->tensors.count, sizeof *r.tensors),
                         .segments = calloc(INGOT_MAX_SEGMENTS, sizeof *r.segments),
                         .layers = calloc(INGOT_MAX_LAYERS, sizeof *r.layers) };
    struct fit fit = { .chosen = NULL };
    bool good = r.tensors != NULL && r.segments != NULL && r.layers != NULL;

    if (good) {
        fit.own_fits = plan_make(&fit.own, &m->request) == ERR_OK;
        puts("the same model in other types:");
        for (size_t i = 0; i < sizeof offers / sizeof offers[0]; i++) {
            try_offer(&fit, &r, m, &offers[i]);
        }
        print_choice(&fit);
    } else {
        fprintf(stderr, "ingot: out of memory\n");
    }
    free(r.tensors);
    free(r.segments);
    free(r.layers);
    return good;
}
